"""How far one protected unit can move a measure, read off the facts of the relation it is taken over.

The bound rests on one picture: the *share* of a unit is the interval of what all its rows together can add to one
cell. Adding or removing the unit moves a cell by at most the share's largest absolute value. Replacing it by another
moves the same cell by at most the share's width, or, when its rows may change cell, takes from one cell and adds to
another. Proof: docs/proofs/calculus.md; for margins docs/proofs/marginals.md
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from math import prod
from typing import Final

from discreet.cards import Card
from discreet.catalogue import Phrase, say, say_count
from discreet.errors import QueryRefused
from discreet.guarantees import Neighbours
from discreet.sql.algebra import (
    Extreme,
    Key,
    Marginal,
    Measure,
    Plan,
    Quantile,
    Residual,
    Rows,
    Total,
    Trimmed,
    Units,
    Value,
    reduced,
    scans,
)
from discreet.sql.calculus import Facts, Interval, Span, ends_of, facts_of, span_of

__all__ = ["TRIMMED_ONLY", "Sensitivities", "Sensitivity", "sensitivities"]

TRIMMED_ONLY: Final = Phrase(
    "TRIMMED_AVG is read only for custodians' comparisons under the strategy `smooth` (discreet sensitivity "
    "--custodian). Ask for MEDIAN, or for AVG(CLAMP(column, low, high))."
)


@dataclass(frozen=True, slots=True)
class Sensitivity:
    """The most that the cells of a measure move in sum, and in sum of squares, between neighbours; and why.

    For quantiles and extremes it bounds the scores of the candidates, added up over all cells.
    """

    l1: Fraction
    squared_l2: Fraction
    derivation: str


@dataclass(frozen=True, slots=True)
class Sensitivities:
    """One sensitivity for all cells; or, when `key` names a public key, one for each of its cells.

    A unit has rows in one cell of a public key only, so each of its cells may be noised for itself.
    """

    key: int | None
    each: tuple[Sensitivity, ...]

    @property
    def largest(self) -> Sensitivity:
        """What holds for all cells."""
        widest = max(self.each, key=lambda item: item.l1)
        return replace(widest, squared_l2=max(item.squared_l2 for item in self.each))


def sensitivities(
    plan: Plan, measure: Measure, cards: Mapping[str, Card], *, facts: Facts | None = None
) -> Sensitivities:
    """How far one unit can move a measure of the plan under the population's neighbour relation.

    A margin moves as the plan of its kept keys does, and its slicing key is counted among those. Whoever asks about
    many measures gives the facts of the plan's relation, so that they are worked out once.
    """
    if isinstance(measure, Trimmed):
        raise QueryRefused(str(TRIMMED_ONLY), part="TRIMMED_AVG")
    if facts is None:
        facts = facts_of(plan.source, cards)
    if isinstance(measure, Marginal):
        return sensitivities(reduced(plan, measure), measure.of, cards, facts=facts)
    if isinstance(measure, Residual):
        return _residual(plan, measure, cards, facts)
    if isinstance(measure, Total) and not all(cards[scan.dataset].exact_public for scan in scans(plan.source)):
        facts = _hiding_sizes(facts, measure)
    neighbours = cards[plan.dataset].neighbours
    index = _slicing_key(plan.keys, facts)
    if index is None:
        return Sensitivities(None, (_sensitivity(plan, measure, facts, neighbours),))
    key = plan.keys[index]
    each = [_sensitivity(plan, measure, facts.given(key.field.column, cell), neighbours) for cell in key.cells or ()]
    if len({(item.l1, item.squared_l2) for item in each}) == 1:
        return Sensitivities(None, (each[0],))
    return Sensitivities(index, tuple(each))


def _hiding_sizes(facts: Facts, measure: Total) -> Facts:
    """A sum is moved by its values as if whoever adds to it could also be absent.

    Else it would tell how many do, for which the card admits no exact answer: SUM(1000000 + x) is a million times that
    number. A sum that nobody can move stays one, and is refused as the number itself is.
    """
    low, high = ends_of(span_of(measure.value, facts))
    return replace(facts, steady=facts.steady and low == high)


def _slicing_key(keys: Iterable[Key], facts: Facts) -> int | None:
    """The key, if any, whose cells have weight caps of their own."""
    by = {span.caps.by for span in facts.spans.values() if span.caps is not None}
    return next((index for index, key in enumerate(keys) if key.cells is not None and key.field.column in by), None)


def _sensitivity(
    plan: Plan, measure: Rows | Units | Total | Quantile | Extreme, facts: Facts, neighbours: Neighbours
) -> Sensitivity:
    moving = not all(facts.spans[key.field.column].public for key in plan.keys)
    match measure:
        case Quantile(value, rank):
            _require_bounds(value, facts)
            return _score(max(rank, 1 - rank), facts.rows, neighbours, moving)
        case Extreme(value, _):
            _require_bounds(value, facts)
            return _score(Fraction(1), facts.rows, neighbours, moving)
        case Units():
            return _units(plan, facts, neighbours, moving)
        case Rows(value):
            certain = value is None or _certain(span_of(value, facts), facts)
            return _moved(facts, (1, 1), certain, neighbours, moving, _unit_counts(facts.rows))
        case Total(value):
            _require_bounds(value, facts)
            span = span_of(value, facts)
            low, high = ends_of(span)
            unit = _unit_adds(facts.rows, low, high)
            return _moved(facts, (low, high), _certain(span, facts), neighbours, moving, unit)


def _certain(span: Span, facts: Facts) -> bool:
    """Whether a unit that has rows here is sure to add to the measure, or sure not to.

    A unit that is sure not to adds 0 in every neighbouring data set, so it moves less than one that is sure to.
    """
    return not span.nullable or (span.settled and facts.rows == 1)


def _residual(plan: Plan, measure: Residual, cards: Mapping[str, Card], facts: Facts) -> Sensitivities:
    """Each unit moved by a margin moves its residuals along every line it lies on.

    A move whose absolute values add up to l1 moves them by at most l1 times what a single unit in one cell does; where
    a unit only ever adds, or only ever takes, leaving one cell for another moves less than that. Proof:
    docs/proofs/marginals.md
    """
    margin = reduced(plan, measure)
    base = sensitivities(margin, measure.of, cards, facts=facts)
    spread = [len(plan.keys[index].cells or ()) for index in measure.kept if index not in measure.whole]
    each = base.each if base.key is not None and measure.kept[base.key] in measure.whole else (base.largest,)
    span = None if isinstance(measure.of, Rows) else span_of(measure.of.value, facts)
    one_sided = span is None or ends_of(span)[0] >= 0 or ends_of(span)[1] <= 0
    moving = not all(facts.spans[key.field.column].public for key in margin.keys)
    changes = cards[plan.dataset].neighbours is Neighbours.REPLACE_ONE and moving
    alone = Fraction(prod(size * (size - 1) for size in spread))
    found = []
    for item in each:
        squared = item.l1**2 * alone
        if changes and one_sided:  # l1 is twice what one unit adds to a cell
            squared = min(squared, (item.l1 / 2) ** 2 * _exchanged(spread, apart=bool(measure.whole)))
        l1 = item.l1 * prod(2 * (size - 1) for size in spread)
        derivation = say_count(
            "{derivation}; taken along {count:,} line of cells",
            "{derivation}; taken along {count:,} lines of cells",
            len(spread),
            derivation=item.derivation,
        )
        found.append(_bound(l1, squared, derivation))
    return Sensitivities(base.key if len(found) > 1 else None, tuple(found))


def _exchanged(sizes: list[int], *, apart: bool) -> Fraction:
    """The most that the squares of the residuals move when a unit leaves one cell and enters another, or only comes.

    The residual of a unit in a cell has as inner product with that of another, along a line of m cells, m(m-1) where
    they agree and -m where they do not; `apart`, when they may differ in a key that has no lines, it is 0.
    """
    alone = prod(size * (size - 1) for size in sizes)
    together = [alone, *((0,) if apart else ())]
    for agree in product((True, False), repeat=len(sizes)):
        if any(not same and size == 1 for same, size in zip(agree, sizes, strict=True)):
            continue
        together.append(prod(size * (size - 1) if same else -size for same, size in zip(agree, sizes, strict=True)))
    return Fraction(max(alone, *(2 * alone - 2 * inner for inner in together)))


def _moved(facts: Facts, row: Interval, certain: bool, neighbours: Neighbours, moving: bool, unit: str) -> Sensitivity:
    """Counts and sums: the share of a unit, and what its coming, going or changing does to the cells.

    `unit` says what a unit has and adds.
    """
    k = facts.rows
    low, high = min(row[0], k * row[0]), max(row[1], k * row[1])
    if not (certain and facts.steady):
        low, high = min(low, 0), max(high, 0)
    reach, width = max(abs(low), abs(high)), high - low
    if neighbours is Neighbours.ADD_REMOVE:
        return _bound(reach, reach**2, say("{unit}: adding or removing it moves {moved:,}", unit=unit, moved=reach))
    if not moving and width:
        why = say("{unit}, and its group is public: replacing it moves {moved:,}", unit=unit, moved=width)
        return _bound(width, width**2, why)
    if not moving:
        why = say("{unit}, and whether and where it counts is public: replacing it moves {moved:,}", unit=unit, moved=0)
        return _bound(0, 0, why)
    squared = max(2 * reach**2, width**2)
    why = say("{unit}, and may leave one cell for another: replacing it moves {moved:,}", unit=unit, moved=2 * reach)
    return _bound(2 * reach, squared, why)


def _unit_counts(rows: int) -> str:
    return say_count(
        "a unit has at most {count:,} row here and each counts 1",
        "a unit has at most {count:,} rows here and each counts 1",
        rows,
    )


def _unit_adds(rows: int, low: int, high: int) -> str:
    return say_count(
        "a unit has at most {count:,} row here and each adds between {low:,} and {high:,}",
        "a unit has at most {count:,} rows here and each adds between {low:,} and {high:,}",
        rows,
        low=low,
        high=high,
    )


def _units(plan: Plan, facts: Facts, neighbours: Neighbours, moving: bool) -> Sensitivity:
    """A unit counts once per cell: as often as it has rows, or as there are cells that it can choose between."""
    free = [key for key in plan.keys if not facts.spans[key.field.column].public]
    cells = facts.rows * 2 if any(key.cells is None for key in free) else prod(len(key.cells or ()) for key in free)
    reached = min(facts.rows, cells)
    unit = say_count(
        "a unit counts once in at most {count:,} cell", "a unit counts once in at most {count:,} cells", reached
    )
    if neighbours is Neighbours.ADD_REMOVE:
        return _bound(reached, reached, say("{unit}: adding or removing it moves {moved:,}", unit=unit, moved=reached))
    if not moving:
        width = 0 if facts.steady else 1
        return _bound(
            width, width, say("{unit}, which is public: replacing it moves {moved:,}", unit=unit, moved=width)
        )
    changed = min(2 * reached, cells)
    why = say("{unit}, and may enter as many others: replacing it moves {moved:,}", unit=unit, moved=changed)
    return _bound(changed, changed, why)


def _score(step: Fraction, k: int, neighbours: Neighbours, moving: bool) -> Sensitivity:
    """Scores of candidates: one row that comes or goes moves each by at most `step`, one that changes by at most 1."""
    if neighbours is Neighbours.ADD_REMOVE:
        total = k * step
        why = say_count(
            "a unit has at most {count:,} row here; each that comes or goes moves a score by at most {step}: scores "
            "move by {moved}",
            "a unit has at most {count:,} rows here; each that comes or goes moves a score by at most {step}: scores "
            "move by {moved}",
            k,
            step=step,
            moved=total,
        )
    elif moving:
        total = 2 * k * step
        why = say_count(
            "a unit has at most {count:,} row here; each may leave one cell and enter another, moving a score of each "
            "by at most {step}: scores move by {moved}",
            "a unit has at most {count:,} rows here; each may leave one cell and enter another, moving a score of each "
            "by at most {step}: scores move by {moved}",
            k,
            step=step,
            moved=total,
        )
    else:
        total = Fraction(k)
        why = say_count(
            "a unit has at most {count:,} row here; each that changes moves a score by at most 1: scores move by "
            "{moved}",
            "a unit has at most {count:,} rows here; each that changes moves a score by at most 1: scores move by "
            "{moved}",
            k,
            moved=total,
        )
    return _bound(total, total**2, why)


def _bound(l1: int | Fraction, squared_l2: int | Fraction, derivation: str) -> Sensitivity:
    return Sensitivity(Fraction(l1), Fraction(squared_l2), derivation)


def _require_bounds(value: Value, facts: Facts) -> None:
    span = span_of(value, facts)
    if span.bounded:
        return
    names = ", ".join(say("'{name}'", name=name) for _, name in sorted(span.lineage))
    raise QueryRefused(
        say(
            "what is summed or ranked needs bounds, and the card gives none for {names}. Add `bounds: [low, "
            "high]` to the column in the card, or write CLAMP(column, low, high) in the statement.",
            names=names,
        ),
        part="bounds",
    )
