"""Neighbours searched by an adversary: how far can one unit move what a plan measures?

One unit of the population comes or goes (add-remove), or changes everything that is confidential of it (replace-one),
in all datasets at once. Where it is not public who is in a dataset of public size, another may stand in for the unit
there: the dataset has as many units, and for what joins it to others the unit is gone. A pair of neighbours is climbed
from many starts: extreme values, NULLs, values on both sides of every constant of the plan, rows that leave a group or
a filter, more rows than count. How far a pair is apart is told as a share of the derived bound: 1 reaches it, more
than 1 refutes the calculus.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import chain
from random import Random
from typing import Final

from discreet.cards.card import Card, ColumnKind, Membership, SizeRule
from discreet.engines.engine import Cell, Histogram
from discreet.guarantees.types import Neighbours
from discreet.sql.algebra import (
    Clamp,
    Extreme,
    Lookup,
    Marginal,
    OneOf,
    Plan,
    Quantile,
    Residual,
    TextIn,
    Whole,
    Within,
    fields_in,
    reduced,
    scans,
    walk,
)
from discreet.sql.calculus import facts_of, span_of
from discreet.sql.sensitivity import Sensitivities, sensitivities
from tests.algebra.interpreter import Aggregate, Datum, Prepared, Tables, grouped, margin_of
from tests.algebra.populations import Cards, cut_weight, extremes, present_columns

__all__ = ["Found", "Pair", "distance", "neighbouring_tables", "place_of", "reach", "search"]

RANK: Final = 10
"""How many values an extreme may leave above it; public, and the bound holds for any."""

HOPELESS: Final = Fraction(10**9)
"""The share of a bound of 0 that was passed."""

PROTECTED: Final[Mapping[str, Datum]] = {"integer": 10**6, "text": "the protected unit"}

STANDS_IN: Final = " stands in"
BEYOND: Final = 10**7
"""Numbers of those who stand in for the protected unit; another in each dataset."""

Absent = Mapping[str, frozenset[str]]

Seen = Mapping[Cell, list[Aggregate]]
Number = int | Fraction


@dataclass(frozen=True, slots=True)
class State:
    """The rows of the protected unit by dataset, in their order, without id.

    In the datasets of `elsewhere` somebody else has them, who is in no other.
    """

    rows: Mapping[str, tuple[Prepared, ...]]
    elsewhere: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Pair:
    """What is public of the unit, and its rows in two neighbouring populations.

    `absent` are the columns of a dataset in which, as everybody knows, the unit has no value.
    """

    public: Mapping[str, Mapping[str, Datum]]
    first: State
    second: State
    absent: Absent


@dataclass(frozen=True, slots=True)
class Found:
    """The pair that moves a measure most: by how much, and which shares of the derived bounds that is."""

    pair: Pair
    l1: Fraction
    squared_l2: Fraction
    share_l1: Fraction
    share_l2: Fraction

    def __str__(self) -> str:
        return (
            f"l1 moved {self.l1} ({self.share_l1} of the bound), l2² {self.squared_l2} ({self.share_l2}): {self.pair}"
        )


def search(random: Random, plan: Plan, place: int, cards: Cards, others: Tables, *, steps: int, starts: int) -> Found:
    """The worst pair found for the measure at `place`; `others` are the rows of everybody else."""
    adversary = _Adversary(random, plan, place, cards, others)
    best = adversary.climb(steps, squared=False)
    for start in range(1, starts):
        best = _worse(best, adversary.climb(steps, squared=start % 2 == 1))
    return best


def reach(random: Random, plan: Plan, place: int, cards: Cards, others: Tables, *, steps: int, starts: int) -> Found:
    """The same, content as soon as both bounds are reached."""
    adversary = _Adversary(random, plan, place, cards, others)
    best = adversary.climb(steps, squared=False)
    for start in range(1, starts):
        if min(best.share_l1, best.share_l2) >= 1:
            break
        best = _worse(best, adversary.climb(steps, squared=start % 2 == 1))
    return best


def _worse(one: Found, other: Found) -> Found:
    """The larger of both shares; the pair is that of the larger sum."""
    ahead = other if other.share_l1 + other.share_l2 > one.share_l1 + one.share_l2 else one
    return replace(
        ahead,
        l1=max(one.l1, other.l1),
        squared_l2=max(one.squared_l2, other.squared_l2),
        share_l1=max(one.share_l1, other.share_l1),
        share_l2=max(one.share_l2, other.share_l2),
    )


def neighbouring_tables(pair: Pair, cards: Cards, others: Tables) -> tuple[Tables, Tables]:
    """Both populations as prepared rows, everybody else included."""
    return _tables(pair.first, cards, others), _tables(pair.second, cards, others)


def _tables(state: State, cards: Cards, others: Tables) -> Tables:
    owners = {name: _owner(card, name in state.elsewhere, place) for place, (name, card) in enumerate(cards.items())}
    return {
        name: [*others.get(name, ()), *_owned(state.rows.get(name, ()), card, owners[name])]
        for name, card in cards.items()
    }


def _owner(card: Card, elsewhere: bool, place: int) -> Datum:
    if not elsewhere:
        return PROTECTED[card.unit_type]
    return BEYOND + place if card.unit_type == "integer" else f"{card.dataset}{STANDS_IN}"


def place_of(unit: Datum) -> Datum:
    """The protected unit, for whoever stands in for it in a dataset; others are themselves."""
    if isinstance(unit, int):
        return PROTECTED["integer"] if unit >= BEYOND else unit
    return PROTECTED["text"] if unit is not None and unit.endswith(STANDS_IN) else unit


def _owned(rows: tuple[Prepared, ...], card: Card, unit: Datum) -> Iterator[Prepared]:
    return ({card.unit.column: unit, **row, "ord": order} for order, row in enumerate(rows, start=1))


# --- how far two populations are apart ------------------------------------------------------------------------------


def distance(plan: Plan, place: int, bound: Sensitivities, first: Seen, second: Seen, ends: tuple[int, int]) -> Found:
    """How far a measure moved. Where each cell of a public key has a bound of its own, the shares add up."""
    slices: dict[int, tuple[Number, Number]] = {}
    measure = plan.measures[place]
    apart = {cell: _cell_distance(plan, place, first.get(cell), second.get(cell), ends) for cell in {**first, **second}}
    if isinstance(measure, Marginal | Residual):
        apart = {cell: abs(moved) for cell, moved in margin_of(plan, measure, apart).items()}  # type: ignore[arg-type]
    keys = reduced(plan, measure).keys
    for cell, moved in apart.items():
        at = 0 if bound.key is None else (keys[bound.key].cells or ()).index(cell[bound.key])
        l1, squared = slices.get(at, (0, 0))
        slices[at] = l1 + moved, squared + moved**2
    scored = isinstance(plan.measures[place], Quantile | Extreme)
    moves = {at: (l1, l1**2 if scored else squared) for at, (l1, squared) in slices.items()}
    return Found(
        pair=Pair({}, State({}), State({}), {}),
        l1=Fraction(sum(l1 for l1, _ in moves.values())),
        squared_l2=Fraction(sum(squared for _, squared in moves.values())),
        share_l1=Fraction(sum(_share(l1, bound.each[at].l1) for at, (l1, _) in moves.items())),
        share_l2=Fraction(sum(_share(squared, bound.each[at].squared_l2) for at, (_, squared) in moves.items())),
    )


def _share(moved: Number, bound: Fraction) -> Number:
    if not moved:
        return 0
    return moved / bound if bound else HOPELESS


def _cell_distance(
    plan: Plan, place: int, first: list[Aggregate] | None, second: list[Aggregate] | None, ends: tuple[int, int]
) -> Number:
    measure = plan.measures[place]
    one, two = (None if seen is None else seen[place] for seen in (first, second))
    if isinstance(measure, Quantile | Extreme):
        return _score_distance(measure, _histogram(one), _histogram(two), ends)
    moved = _number(one) - _number(two)
    return moved if isinstance(measure, Marginal | Residual) else abs(moved)


def _number(aggregate: Aggregate | None) -> int:
    assert aggregate is None or isinstance(aggregate, int)
    return aggregate or 0


def _histogram(aggregate: Aggregate | None) -> Histogram:
    assert not isinstance(aggregate, int)
    return aggregate or ()


def _score_distance(measure: Quantile | Extreme, one: Histogram, two: Histogram, ends: tuple[int, int]) -> Fraction:
    """The most that the score of one candidate moves. Scores change at values only, so their surroundings suffice."""
    low, high = ends
    near = {number + by for number, _ in chain(one, two) for by in (-1, 0, 1)} | {low, high}
    rank = measure.rank if isinstance(measure, Quantile) else Fraction(1)
    moves = (abs(_score(measure, rank, one, at) - _score(measure, rank, two, at)) for at in near if low <= at <= high)
    return Fraction(max(moves), rank.denominator)


def _score(measure: Quantile | Extreme, rank: Fraction, histogram: Histogram, at: int) -> int:
    """The score of a candidate, in parts of the rank's denominator."""
    below = sum(rows for value, rows in histogram if value < at)
    above = sum(rows for value, rows in histogram if value > at)
    if isinstance(measure, Extreme):
        return -abs((above if measure.largest else below) - RANK)
    total = sum(rows for _, rows in histogram)
    share, whole = rank.numerator, rank.denominator
    return -max(0, whole * below - share * total, whole * above - (whole - share) * total)


# --- the search -----------------------------------------------------------------------------------------------------


class _Adversary:
    """Climbs pairs of neighbours for one measure of a plan."""

    def __init__(self, random: Random, plan: Plan, place: int, cards: Cards, others: Tables) -> None:
        self.random = random
        self.plan = replace(plan, measures=(plan.measures[place],))
        self.bound = sensitivities(plan, plan.measures[place], cards)
        names = dict.fromkeys(scan.dataset for scan in scans(plan.source))
        self.cards = {name: cards[name] for name in names}
        self.replacing = cards[plan.dataset].neighbours is Neighbours.REPLACE_ONE
        self.unknown = [name for name, card in self.cards.items() if self.replacing and _may_be_elsewhere(card)]
        if len(self.cards) == 1:
            self.unknown = []  # whoever has the rows, they are there
        self.tempting = {name: _temptations(plan, card) for name, card in self.cards.items()}
        self.settled = {
            name: [at for at in self.tempting[name] if at in present_columns(card) and not card.column(at).public]
            for name, card in self.cards.items()
        }
        measure = plan.measures[place]
        scored = isinstance(measure, Quantile | Extreme)
        # Counts and sums of the others cancel out; scores depend on everybody.
        self.others: Tables = others if scored else {}
        self.memory: dict[int, tuple[State, Seen]] = {}
        self.ends = (0, 0)
        if isinstance(measure, Quantile | Extreme):
            span = span_of(measure.value, facts_of(plan.source, cards))
            self.ends = measure.candidates or (span.low or 0, span.high or 0)

    def climb(self, steps: int, *, squared: bool) -> Found:
        """From the best of a few random pairs, by small changes that never bring it closer together."""
        starts = [self.look(self.fresh_pair()) for _ in range(1 + steps // 8)]

        def goal(found: Found) -> Fraction:
            return found.share_l2 if squared else found.share_l1

        best = max(starts, key=goal)
        for _ in range(steps):
            found = self.look(self.changed(best.pair))
            if goal(found) >= goal(best):
                best = found
        return best

    def look(self, pair: Pair) -> Found:
        first, second = self.observe(pair.first), self.observe(pair.second)
        return replace(distance(self.plan, 0, self.bound, first, second, self.ends), pair=pair)

    def observe(self, state: State) -> Seen:
        """What is measured; remembered, as most changes touch one of the two states only."""
        if id(state) not in self.memory:
            self.memory[id(state)] = state, grouped(self.plan, _tables(state, self.cards, self.others), self.cards)
        return self.memory[id(state)][1]

    def fresh_pair(self) -> Pair:
        public = {
            name: {
                at: self.random.choice(values) for at, values in tempting.items() if self.cards[name].column(at).public
            }
            for name, tempting in self.tempting.items()
        }
        # Under a public size a unit, or who stands in for it, is in a dataset of both neighbours, or of neither.
        missing = {name for name in self.cards if self.random.random() < 0.1}
        gone = State(dict.fromkeys(self.cards, ()))
        absent = {
            name: frozenset(at for at in settled if self.random.random() < 0.3)
            for name, settled in self.settled.items()
        }
        first = self.fresh_state(public, absent, missing)
        second = self.fresh_state(public, absent, missing) if self.replacing else gone
        return Pair(public, first, second, absent)

    def fresh_state(self, public: Mapping[str, Mapping[str, Datum]], absent: Absent, missing: set[str]) -> State:
        state: dict[str, tuple[Prepared, ...]] = {}
        for name, card in self.cards.items():
            count = 0 if name in missing else self.size(card)
            rows = [self.fresh_row(name, public[name], absent[name]) for _ in range(count)]
            state[name] = tuple(rows[:1] * len(rows) if self.random.random() < 0.6 else rows)
        return State(state, frozenset(name for name in self.unknown if self.random.random() < 0.2))

    def size(self, card: Card) -> int:
        most = card.unit.rows
        sizes = (1, most, most, most, most + 2) if card.size is SizeRule.PUBLIC else (0, 1, most, most, most, most + 2)
        return self.random.choice(sizes)

    def fresh_row(self, name: str, public: Mapping[str, Datum], absent: frozenset[str]) -> Prepared:
        card = self.cards[name]
        row = {column.name: None for column in card.columns if column.kind is not ColumnKind.ID}
        drawn = {at: public[at] if at in public else self.fresh_value(name, at, absent) for at in self.tempting[name]}
        return cut_weight(card, {**row, **drawn})

    def fresh_value(self, name: str, at: str, absent: frozenset[str]) -> Datum:
        """A confidential value; whether there is one is not always the unit's to choose."""
        values = self.tempting[name][at]
        if at in self.settled[name]:
            values = (None,) if at in absent else tuple(value for value in values if value is not None)
        return self.random.choice(values)

    def changed(self, pair: Pair) -> Pair:
        """One small change: of what is public in both, or of one of the two."""
        if self.unknown and self.random.random() < 0.1:
            name = self.random.choice(self.unknown)
            if self.random.random() < 0.5:
                return replace(pair, second=_exchanged(pair.second, name))
            return replace(pair, first=_exchanged(pair.first, name))
        name = self.random.choice(list(self.cards))
        if self.settled[name] and self.random.random() < 0.15:
            return self.with_presence(pair, name, self.random.choice(self.settled[name]))
        if pair.public[name] and self.random.random() < 0.15:
            at = self.random.choice(list(pair.public[name]))
            value = self.random.choice(self.tempting[name][at])
            public = {**pair.public, name: {**pair.public[name], at: value}}
            first, second = (self.with_value(state, name, at, value) for state in (pair.first, pair.second))
            return replace(pair, public=public, first=first, second=second)
        if self.replacing and self.random.random() < 0.5:
            return replace(pair, second=self.changed_state(pair.second, name, pair.public[name], pair.absent[name]))
        return replace(pair, first=self.changed_state(pair.first, name, pair.public[name], pair.absent[name]))

    def with_presence(self, pair: Pair, name: str, at: str) -> Pair:
        """The unit has a value in both populations where it had none, or the other way round."""
        absent = pair.absent[name] ^ {at}
        first, second = (
            self.with_value(state, name, at, self.fresh_value(name, at, absent)) for state in (pair.first, pair.second)
        )
        return replace(pair, first=first, second=second, absent={**pair.absent, name: absent})

    def with_value(self, state: State, name: str, at: str, value: Datum) -> State:
        return _with_rows(state, name, [cut_weight(self.cards[name], {**row, at: value}) for row in state.rows[name]])

    def changed_state(self, state: State, name: str, public: Mapping[str, Datum], absent: frozenset[str]) -> State:
        rows, card = list(state.rows[name]), self.cards[name]
        if not rows and card.size is SizeRule.PUBLIC:
            return state
        free = [at for at in self.tempting[name] if at not in public]
        move = self.random.randrange(6)
        if not rows or move == 0 or not free:
            size = self.size(card)
            rows = [*rows, *(self.fresh_row(name, public, absent) for _ in range(size - len(rows)))][:size]
        elif move == 1:
            rows = [rows[self.random.randrange(len(rows))]] * len(rows)
        elif move == 2:
            rows[self.random.randrange(len(rows))] = self.fresh_row(name, public, absent)
        else:
            at = self.random.choice(free)
            value = self.fresh_value(name, at, absent)
            if move < 5:
                return self.with_value(state, name, at, value)
            place = self.random.randrange(len(rows))
            rows[place] = cut_weight(card, {**rows[place], at: value})
        return _with_rows(state, name, rows)


def _may_be_elsewhere(card: Card) -> bool:
    """Whether another may have a unit's place in a dataset; where its size is private, it may have no rows instead."""
    return card.size is SizeRule.PUBLIC and card.membership is Membership.CONFIDENTIAL


def _with_rows(state: State, name: str, rows: Iterable[Prepared]) -> State:
    return replace(state, rows={**state.rows, name: tuple(rows)})


def _exchanged(state: State, name: str) -> State:
    return replace(state, elsewhere=state.elsewhere ^ {name})


def _temptations(plan: Plan, card: Card) -> dict[str, tuple[Datum, ...]]:
    """For every card column that the plan reads: its extremes, and values beside the constants of the plan."""
    identities = set(fields_in(plan))
    own = [scan for scan in scans(plan.source) if scan.dataset == card.dataset]
    read = {name for scan in own for column, name in scan.columns if column in identities}
    numbers = {number + by for number in _constants(plan) for by in (-1, 0, 1)}
    texts = {text for node in walk(plan) if isinstance(node, TextIn) for text in node.values}
    tempting: dict[str, tuple[Datum, ...]] = {}
    for column in card.columns:
        if column.kind is ColumnKind.ID or column.name not in read:
            continue
        ends = extremes(card, column)
        if column.kind is ColumnKind.TEXT:
            tempting[column.name] = (*ends[:7], *sorted(texts), None)
        elif column.kind is ColumnKind.CATEGORY:
            tempting[column.name] = ends
        else:
            low, high = column.low_units, column.high_units
            tempting[column.name] = (*ends, *(None, low, high) * 2, *sorted(at for at in numbers if low <= at <= high))
    return tempting


def _constants(plan: Plan) -> Iterator[int]:
    for node in walk(plan):
        match node:
            case Whole(value):
                yield value
            case Clamp(_, low, high) | Within(_, low, high):
                yield from (end for end in (low, high) if end is not None)
            case OneOf(_, values):
                yield from values
            case Lookup(_, _, _, entries):
                yield from (entry[0] for entry in entries if entry[0] is not None)
