"""What the product measures for a statement, tied to what the statement means.

A `Probe` says of one measure of the plan which aggregate of the statement it belongs to, and which whole number (or
histogram) rows of that aggregate must give. Probes are read off `statement.presentation`, never off names of the plan.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

from discreet.cards.card import Card
from discreet.engines.engine import Measured
from discreet.sql.algebra import Extreme, Filter, Quantile, Rows, Total, Units, fields_in
from discreet.sql.outputs import Arithmetic, Comparison, Constant, KeyShown, Magnitude, Mean, Noted, Pick, Spread
from discreet.sql.outputs import Output as Shown
from discreet.sql.statement import KeyFace, Statement
from tests.sql_text.interpreter import Cell, Exact, Seen
from tests.sql_text.model import Leaf, OutAbs, OutArith, OutConst, OutPick, Output, Question, ShownKey
from tests.sql_text.populations import Owned

__all__ = [
    "Mismatch",
    "Probe",
    "compare",
    "keep_complete",
    "probes_of",
    "real_cells",
    "real_side",
    "require_listed",
    "units_probe",
]

Pairs = Sequence[tuple[Exact, Exact]]


class Mismatch(Exception):
    """The product and the interpreter mean different things; the words say what differs."""


@dataclass(frozen=True, slots=True)
class Probe:
    """A measure by its place in the plan: `of` gives what the rows of the aggregate at `leaf` add to it, in steps.

    `chosen` measures are chosen from a histogram, so what they add are the single values. The middle that a VAR is
    taken around is not written anywhere: `centred` says to which power it enters, once `middle` is known.
    """

    place: int
    leaf: int
    step: Fraction
    of: Callable[[Pairs], Fraction]
    chosen: bool = False
    centred: int = 0

    def numbers(self, seen: Seen, middle: Fraction = Fraction(0)) -> dict[Cell, Exact]:
        """What a unit adds to each cell, in whole steps."""
        if self.centred:
            return {cell: _plain(self._about(leaves[self.leaf], middle)) for cell, leaves in seen.items()}
        return {cell: _plain(self.of(leaves[self.leaf]) / self.step) for cell, leaves in seen.items()}

    def _about(self, pairs: Pairs, middle: Fraction) -> Fraction:
        return sum((Fraction(value - middle) ** self.centred for value, _ in pairs), Fraction(0)) / self.step

    def histograms(self, seen: Seen) -> dict[Cell, Counter[Exact]]:
        return {
            cell: Counter(_plain(Fraction(value) / self.step) for value, _ in leaves[self.leaf])
            for cell, leaves in seen.items()
        }


def _plain(number: Fraction) -> Exact:
    """A whole number as an integer, which compares and hashes many times faster."""
    return number.numerator if number.denominator == 1 else number


# --- which measure is which aggregate ---------------------------------------------------------------------------


def probes_of(question: Question, statement: Statement) -> tuple[Probe, ...]:
    """Every measure that some output of the statement reads; Mismatch where outputs are not what was asked."""
    columns = [column.shows for column in statement.presentation.columns]
    if len(columns) != len(question.columns):
        raise Mismatch(f"{len(question.columns)} columns were asked for, {len(columns)} are shown")
    pairs: list[tuple[Output, Shown]] = []
    for asked, shown in zip(question.columns, columns, strict=True):
        if isinstance(asked, ShownKey) or isinstance(shown, KeyShown):
            if not (isinstance(asked, ShownKey) and isinstance(shown, KeyShown) and asked.place == shown.key):
                raise Mismatch(f"{asked} was asked for, {shown} is shown")
            continue
        pairs.append((asked, shown))
    pairs += _selected(question, statement)
    leaves = iter(range(10**6))
    return tuple(probe for asked, shown in pairs for probe in _probes(asked, shown, statement, leaves))


def _selected(question: Question, statement: Statement) -> Iterator[tuple[Output, Shown]]:
    """What HAVING compares and ORDER BY sorts by."""
    for asked in question.having:
        having = statement.presentation.having
        if not isinstance(having, Comparison):
            raise Mismatch(f"HAVING became {having}")
        yield asked, having.left
    for asked, order in zip(question.order, statement.presentation.order, strict=True):
        if isinstance(order.by, KeyShown):
            raise Mismatch("ORDER BY an aggregate became a key")
        yield asked, order.by


def _probes(asked: Output, shown: Shown, statement: Statement, leaves: Iterator[int]) -> Iterator[Probe]:
    match asked, shown:
        case OutConst(value), Constant(other) if value == other:
            return
        case OutAbs(inner), Magnitude(other_inner):
            yield from _probes(inner, other_inner, statement, leaves)
        case OutArith(sign, left, right), Arithmetic(other_sign, other_left, other_right) if sign == other_sign:
            yield from _probes(left, other_left, statement, leaves)
            yield from _probes(right, other_right, statement, leaves)
        case OutPick(least, values), Pick(other_least, others) if least == other_least and len(values) == len(others):
            for one, two in zip(values, others, strict=True):
                yield from _probes(one, two, statement, leaves)
        case Leaf(), Noted() | Mean() | Spread():
            yield from _leaf_probes(asked, shown, statement, next(leaves))
        case _:
            raise Mismatch(f"{asked} became {shown}")


def _leaf_probes(leaf: Leaf, shown: Noted | Mean | Spread, statement: Statement, at: int) -> Iterator[Probe]:
    kind = leaf.aggregate
    match shown:
        case Noted(place, step):
            chosen = kind in {"MEDIAN", "QUANTILE", "MIN", "MAX"}
            _require_measure(leaf, statement.plan.measures[place])
            yield Probe(place, at, step, _sum_of_values, chosen=chosen)
        case Mean() if kind in {"AVG", "WAVG"}:
            yield Probe(shown.size, at, shown.size_step, _sum_of_weights)
            yield Probe(shown.total, at, shown.total_step, _weighted(shown.centre))
        case Spread() if kind in {"VAR", "STDDEV"}:
            yield Probe(shown.size, at, Fraction(1), _sum_of_weights)
            yield Probe(shown.total, at, shown.step, _sum_of_values, centred=1)
            yield Probe(shown.squares, at, shown.step**2, _sum_of_values, centred=2)
        case _:
            raise Mismatch(f"{kind} became {shown}")


def _require_measure(leaf: Leaf, measure: object) -> None:
    """The sort of measure that an aggregate must become."""
    fits = {
        "ROWS": (Rows, Units),  # where every unit has one row, counting rows counts units
        "COUNT": (Rows, Units),
        "UNITS": (Units, Rows),
        "SUM": (Total,),
        "MEDIAN": (Quantile,),
        "QUANTILE": (Quantile,),
        "MIN": (Extreme,),
        "MAX": (Extreme,),
    }
    if not isinstance(measure, fits.get(leaf.aggregate, ())):
        raise Mismatch(f"{leaf.aggregate} became {measure}")
    if isinstance(measure, Quantile) and measure.rank != (leaf.rank or Fraction(1, 2)):
        raise Mismatch(f"the rank {leaf.rank} became {measure.rank}")
    if isinstance(measure, Extreme) and measure.largest != (leaf.aggregate == "MAX"):
        raise Mismatch(f"{leaf.aggregate} became the other end")


def units_probe(statement: Statement, leaf: int) -> Probe | None:
    """The count of units that open keys are chosen by; `leaf` is where a COUNT(DISTINCT unit) was added."""
    place = next((at for at, measure in enumerate(statement.plan.measures) if isinstance(measure, Units)), None)
    return None if place is None else Probe(place, leaf, Fraction(1), _sum_of_values)


def _sum_of_values(pairs: Pairs) -> Fraction:
    return Fraction(sum(value for value, _ in pairs))


def _sum_of_weights(pairs: Pairs) -> Fraction:
    return Fraction(sum(weight for _, weight in pairs))


def _weighted(centre: Fraction) -> Callable[[Pairs], Fraction]:
    return lambda pairs: sum((weight * (value - centre) for value, weight in pairs), Fraction(0))


# --- cells ------------------------------------------------------------------------------------------------------


def real_cells(statement: Statement, measured: Measured) -> list[Cell]:
    """The cells of an answer in its order, in codes, numbers and texts instead of whole steps."""
    faces = statement.keys
    if measured.keys is not None:
        return [tuple(map(_real, faces, cell)) for cell in measured.keys]
    return list(product(*(real_side(statement, place) for place in range(len(faces)))))


def real_side(statement: Statement, place: int) -> list[Fraction | int | str | None]:
    """The listed cells of one key."""
    return [_real(statement.keys[place], cell) for cell in statement.plan.keys[place].cells or ()]


def _real(face: KeyFace, cell: int | str | None) -> Fraction | int | str | None:
    if cell is None or isinstance(cell, str):
        return cell
    if face.codes:
        return face.codes[cell]
    return cell if face.step is None else cell * face.step


# --- the engine against the interpreter -------------------------------------------------------------------------


def compare(
    probe: Probe, cells: Sequence[Cell], measured: Measured, seen: Sequence[Seen], middles: dict[int, Fraction]
) -> None:
    """Mismatch unless the engine's numbers are those of the units together.

    `middles` gets the middle that the VAR of an aggregate is taken around, where some row tells it.
    """
    column = measured.columns[probe.place]
    if probe.chosen:
        _compare_histograms(probe, cells, column, seen)
        return
    if probe.centred == 1:
        _find_middle(probe, cells, column, seen, middles)
    middle = middles.get(probe.leaf, Fraction(0))
    expected: dict[Cell, Exact] = {}
    for one in seen:
        for cell, number in probe.numbers(one, middle).items():
            expected[cell] = expected.get(cell, 0) + number
    for cell, found in zip(cells, column, strict=True):
        if found != expected.get(cell, 0):
            raise Mismatch(f"measure {probe.place} is {found} in {cell}, and {expected.get(cell, 0)} is meant")


def require_listed(cells: Sequence[Cell], seen: Sequence[Seen]) -> None:
    """Mismatch unless the answer has a cell for every cell that some unit has rows in."""
    unlisted = {cell for one in seen for cell in one} - {*cells}
    if unlisted:
        raise Mismatch(f"the cells {unlisted} are not among those of the answer")


def keep_complete(statement: Statement, cards: Mapping[str, Card], owned: Owned, seen: Seen) -> Seen:
    """What a unit is seen with, without the NULL keys that a card's word leaves out.

    Mismatch where the unit has all that is called complete, so that nothing may be left out of it.
    """
    source = statement.plan.source
    named = set(fields_in(source.where)) if isinstance(source, Filter) and source.by_card else set()
    places = [place for place, key in enumerate(statement.plan.keys) if key.field.column in named]
    kept = {cell: leaves for cell, leaves in seen.items() if all(cell[place] is not None for place in places)}
    complete = {name: [column.name for column in card.columns if column.complete] for name, card in cards.items()}
    broken = any(row[column] is None for name, rows in owned.items() for row in rows for column in complete[name])
    if len(kept) < len(seen) and not broken:
        raise Mismatch("rows are left out that have all that the cards call complete")
    return kept


def _find_middle(
    probe: Probe, cells: Sequence[Cell], column: Sequence[object], seen: Sequence[Seen], middles: dict[int, Fraction]
) -> None:
    """From the first cell with a value: a sum about the middle, with the sum and the count of the values, tells it."""
    for cell, number in zip(cells, column, strict=True):
        values = [Fraction(value) for one in seen if cell in one for value, _ in one[cell][probe.leaf]]
        if values:
            assert isinstance(number, int)
            middles[probe.leaf] = (sum(values) - number * probe.step) / len(values)
            return


def _compare_histograms(probe: Probe, cells: Sequence[Cell], column: Sequence[object], seen: Sequence[Seen]) -> None:
    expected: dict[Cell, Counter[Exact]] = {}
    for one in seen:
        for cell, histogram in probe.histograms(one).items():
            expected.setdefault(cell, Counter()).update(histogram)
    for cell, found in zip(cells, column, strict=True):
        assert isinstance(found, Sequence)
        meant = sorted(expected.get(cell, Counter()).items())
        if [tuple(pair) for pair in found] != meant:
            raise Mismatch(f"measure {probe.place} ranks {list(found)[:6]} in {cell}, and {meant[:6]} are meant")
