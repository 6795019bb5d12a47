"""Neighbouring populations searched against what the product derives for a statement.

The rows of one unit are drawn at extreme values, at the constants of the statement and at NULL, several times over. Any
two of these states, with everybody else as they are, are neighbours under replace-one; under add-remove each is a
neighbour of the population without the unit.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import combinations
from random import Random
from typing import Final

from discreet.cards.card import Card, Column, ColumnKind, SizeRule
from discreet.release.measurement.pricing import MeasurePrice
from discreet.sql.algebra import Extreme, Quantile
from discreet.sql.sensitivity import Sensitivities
from discreet.sql.statement import Statement
from tests.sql_text.comparison import Mismatch, Probe, real_side
from tests.sql_text.interpreter import Cell, Exact, Seen
from tests.sql_text.model import Question
from tests.sql_text.populations import Datum, Owned, Population, StoredRow, cut_weight, extremes, knows_members
from tests.sql_text.populations import population as find_population

__all__ = ["require_bounds", "states_of"]

NONE: Final = 0
NOTHING: Final[dict[Cell, Exact]] = {}
NOBODY: Final[dict[Cell, Counter[Exact]]] = {}
RANK: Final = 10
"""How many values an extreme may leave beyond it: public, and bounds hold for any."""


# --- states of one unit -------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Unit:
    """What stays the same of a unit: its public values, where it is present, where it has no value."""

    public: Mapping[str, StoredRow]
    present: frozenset[str]
    absent: frozenset[tuple[str, str]]


def states_of(random: Random, population: Population, question: Question, unit: Datum, count: int) -> list[Owned]:
    """States of a unit that are neighbours of each other; the one it has in the population is not among them.

    Whether it is in all the datasets that a statement joins is confidential, unless their cards say otherwise: also
    where sizes are public, its rows in one of them may belong to another id.
    """
    cards = {name: population.cards[name] for name in question.datasets}
    profile = population.profile[unit] if random.random() < 0.5 else _drawn_profile(random, cards)
    same = _Unit(
        public=profile,
        present=frozenset(name for name in cards if random.random() < 0.93),
        absent=frozenset(
            (name, column.name)
            for name, card in cards.items()
            for column in card.columns
            if _presence_is_public(card, column) and random.random() < 0.3
        ),
    )
    tempting = {name: _temptations(population.number, name, question) for name in cards}
    return [_state(random, population, cards, same, tempting, place) for place in range(count)]


def _drawn_profile(random: Random, cards: Mapping[str, Card]) -> dict[str, StoredRow]:
    return {
        name: {column.name: random.choice(extremes(column)) for column in card.columns if column.public}
        for name, card in cards.items()
    }


def _presence_is_public(card: Card, column: Column) -> bool:
    return column.public_presence and card.size is SizeRule.PUBLIC and card.unit.rows == 1


@cache
def _grids(population: int, dataset: str) -> tuple[tuple[Column, tuple[Datum, ...], Fraction, int, int], ...]:
    """Every column but ids: its extremes, its step and its ends."""
    card = find_population(population).cards[dataset]
    return tuple(
        (column, extremes(column), Fraction(column.step or 1), *_ends(column))
        for column in card.columns
        if column.kind is not ColumnKind.ID
    )


def _ends(column: Column) -> tuple[int, int]:
    if column.kind is ColumnKind.TEXT:
        return 0, 0
    return (
        (0, len(column.categories) - 1) if column.kind is ColumnKind.CATEGORY else (column.low_units, column.high_units)
    )


def _temptations(population: int, dataset: str, question: Question) -> dict[str, tuple[Datum, ...]]:
    """For each column its extremes and what lies beside the constants of the statement."""
    found: dict[str, tuple[Datum, ...]] = {}
    for column, values, step, low, high in _grids(population, dataset):
        tempting = values
        if column.kind is ColumnKind.TEXT:
            tempting = (*values, *question.texts)
        elif column.kind is not ColumnKind.CATEGORY:
            near = {int(constant / step) + by for constant in question.constants for by in (-1, 0, 1)}
            tempting = (*values, *sorted(one for one in near if low <= one <= high))
        found[column.name] = tempting
    return found


def _state(
    random: Random,
    population: Population,
    cards: Mapping[str, Card],
    same: _Unit,
    tempting: Mapping[str, Mapping[str, tuple[Datum, ...]]],
    place: int,
) -> Owned:
    """One state: the first at the upper ends, the second at the lower ones, the rest at random."""
    mood = ("high", "low")[place] if place < 2 else random.choice(("any", "any", "any", "high", "low"))
    lost = random.choice(list(cards)) if len(cards) > 1 and random.random() < 0.4 else None
    state: dict[str, tuple[StoredRow, ...]] = {}
    for name, card in cards.items():
        fixed = card.size is SizeRule.PUBLIC
        hidden = name == lost and not knows_members(card)
        if hidden or (fixed and name not in same.present):
            state[name] = ()
            continue
        most = card.unit.rows
        rows = random.choice((1, most, most, most + 1) if fixed else (0, 1, most, most, most, most, most + 1))
        free = not population.replacing
        drawn = [
            _row(random, population.number, card, same, tempting[name], mood, free=free and not at)
            for at in range(rows)
        ]
        if random.random() < 0.5 or free:
            drawn = drawn[:1] * rows
        state[name] = tuple(drawn)
    return state


def _row(
    random: Random,
    number: int,
    card: Card,
    same: _Unit,
    tempting: Mapping[str, tuple[Datum, ...]],
    mood: str,
    *,
    free: bool,
) -> StoredRow:
    """A row of a unit; `free` where even what is public may be drawn anew, as the unit itself comes or goes."""
    row: dict[str, Datum] = {}
    for column, _, _, low, high in _grids(number, card.dataset):
        if column.public and not free:
            row[column.name] = same.public[card.dataset][column.name]
            continue
        values = tempting[column.name]
        if _presence_is_public(card, column):
            missing = (card.dataset, column.name) in same.absent
            values = (None,) if missing else tuple(value for value in values if value is not None)
        if mood == "any" or column.kind is ColumnKind.TEXT or len(values) == 1 or random.random() < 0.3:
            row[column.name] = random.choice(values)
        else:
            row[column.name] = high if mood == "high" else low
    return cut_weight(card, row)


# --- what they move -------------------------------------------------------------------------------------------------


def require_bounds(
    statement: Statement,
    probe: Probe,
    bounds: MeasurePrice,
    states: Sequence[Seen],
    others: Sequence[Seen],
    middle: Fraction,
    *,
    replacing: bool,
) -> None:
    """Mismatch where some two neighbours are further apart than derived, or a value is no candidate."""
    if probe.chosen:
        _require_candidates(probe, bounds, [*states, *others])
        around = _merged(probe.histograms(one) for one in others)
        ranked = [probe.histograms(state) for state in states]
        for one, two in combinations(ranked, 2) if replacing else ((state, NOBODY) for state in ranked):
            _require_scores(statement, probe, bounds, one, two, around)
        return
    numbers = [probe.numbers(state, middle) for state in states]
    for first, second in combinations(numbers, 2) if replacing else ((state, NOTHING) for state in numbers):
        moved = {cell: _apart(first.get(cell, NONE), second.get(cell, NONE)) for cell in {*first, *second}}
        _require_moves(statement, probe, bounds.sensitivities, {cell: by for cell, by in moved.items() if by})


def _apart(one: Exact, other: Exact) -> Exact:
    return one - other if one > other else other - one


def _require_candidates(probe: Probe, bounds: MeasurePrice, seen: Sequence[Seen]) -> None:
    assert bounds.candidates is not None
    low, high = bounds.candidates
    for one in seen:
        for cell, histogram in probe.histograms(one).items():
            for value in histogram:
                if value.denominator != 1 or not low <= value <= high:
                    raise Mismatch(f"measure {probe.place} has the value {value} in {cell}, outside {low} to {high}")


def _require_moves(
    statement: Statement, probe: Probe, bound: Sensitivities, moved: Mapping[Cell, Exact], *, scores: bool = False
) -> None:
    """Shares of the bound, slice by slice of a public key where each has one of its own, add up to 1 at most."""
    if any(number.denominator != 1 for number in moved.values()) and not scores:
        raise Mismatch(f"measure {probe.place} moves by parts of a step: {dict(moved)}")
    side = None if bound.key is None else real_side(statement, bound.key)
    slices: dict[int, list[Exact]] = {}
    for cell, number in moved.items():
        if side is not None and bound.key is not None and cell[bound.key] not in side:
            raise Mismatch(f"the cell {cell} is not among those of the answer")
        at = 0 if side is None or bound.key is None else side.index(cell[bound.key])
        slices.setdefault(at, []).append(number)
    if len(slices) == 1 and _within(*slices.items(), bound=bound, scores=scores):
        return  # the usual case, without a division
    l1 = sum((_share(sum(parts, NONE), bound.each[at].l1) for at, parts in slices.items()), NONE)
    squares = {at: sum(parts) ** 2 if scores else sum(part**2 for part in parts) for at, parts in slices.items()}
    squared = sum((_share(Fraction(part), bound.each[at].squared_l2) for at, part in squares.items()), NONE)
    if max(l1, squared) > 1:
        shares = f"{float(l1):g} of the bound, {float(squared):g} of its square"
        raise Mismatch(f"measure {probe.place} moves by {_told(moved)}: {shares}")


def _within(slice_: tuple[int, list[Exact]], *, bound: Sensitivities, scores: bool) -> bool:
    at, parts = slice_
    total = sum(parts)
    squared = total**2 if scores else sum(part**2 for part in parts)
    return total <= bound.each[at].l1 and squared <= bound.each[at].squared_l2


def _told(moved: Mapping[Cell, Exact]) -> str:
    return ", ".join(f"{by} in {tuple(map(str, cell))}" for cell, by in moved.items())


def _share(moved: Exact, bound: Fraction) -> Fraction:
    if not moved:
        return Fraction(0)
    return Fraction(moved) / bound if bound else Fraction(10**9)


def _require_scores(
    statement: Statement,
    probe: Probe,
    bounds: MeasurePrice,
    first: Mapping[Cell, Counter[Exact]],
    second: Mapping[Cell, Counter[Exact]],
    around: Mapping[Cell, Counter[Exact]],
) -> None:
    measure = statement.plan.measures[probe.place]
    assert isinstance(measure, Quantile | Extreme)
    assert bounds.candidates is not None
    moved = {}
    for cell in {*first, *second}:
        one, two = first.get(cell, Counter()), second.get(cell, Counter())
        if one != two:
            others = around.get(cell, Counter())
            moved[cell] = _score_move(measure, one + others, two + others, {*one, *two, *bounds.candidates}, bounds)
    _require_moves(statement, probe, bounds.sensitivities, moved, scores=True)


def _score_move(
    measure: Quantile | Extreme,
    one: Counter[Exact],
    two: Counter[Exact],
    near: set[Exact],
    bounds: MeasurePrice,
) -> Fraction:
    """The most that the score of one candidate moves: scores change beside values only."""
    assert bounds.candidates is not None
    low, high = bounds.candidates
    candidates = {at for value in near for at in (value - 1, value, value + 1) if low <= at <= high}
    return max((abs(_score(measure, one, at) - _score(measure, two, at)) for at in candidates), default=Fraction(0))


def _score(measure: Quantile | Extreme, histogram: Counter[Exact], at: Exact) -> Fraction:
    below = sum(rows for value, rows in histogram.items() if value < at)
    above = sum(rows for value, rows in histogram.items() if value > at)
    if isinstance(measure, Extreme):
        return -Fraction(abs((above if measure.largest else below) - RANK))
    total = sum(histogram.values())
    return -max(Fraction(0), below - measure.rank * total, above - (1 - measure.rank) * total)


def _merged(parts: Iterator[dict[Cell, Counter[Exact]]]) -> dict[Cell, Counter[Exact]]:
    whole: dict[Cell, Counter[Exact]] = {}
    for part in parts:
        for cell, histogram in part.items():
            whole.setdefault(cell, Counter()).update(histogram)
    return whole
