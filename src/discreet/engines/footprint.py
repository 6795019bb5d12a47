"""The most that DuckDB may have to hold at once for a plan, in memory and on disk, from public sizes alone.

Grouping, joining and counting different units hold their rows until the last has come. Every row that they can meet is
counted as held, by the rows that cards state, as wide as `_ROW` and `_COLUMN` say. Rows of up to ten million units took
between a quarter and two thirds of that (docs/operations.md). What streams is not counted.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from math import prod
from typing import TYPE_CHECKING, Final

from discreet.engines.rendering import one_row_each
from discreet.sql import (
    Derive,
    Extreme,
    Field,
    Filter,
    Identity,
    Join,
    KeyJoin,
    Lookup,
    PerUnit,
    Plan,
    Quantile,
    Relation,
    Scan,
    Units,
    Value,
    columns_of,
    measured_of,
    scans,
)

if TYPE_CHECKING:
    from discreet.cards import Card, Column

__all__ = ["most_bytes"]

_ROW: Final = 40
_COLUMN: Final = 24
_TEXT: Final = 64
_FEW_GROUPS: Final = 10_000
"""So many groups stay in each thread's own small table; beyond, a row may be held although its group is known."""
_COPIES: Final = 4


def most_bytes(plan: Plan, cards: Mapping[str, Card]) -> int | None:
    """Bytes that the plan's engine may hold at most; None where a card does not state its rows."""
    if any(cards[scan.dataset].rows_at_most is None for scan in scans(plan.source)):
        return None
    return _Footprint(plan, cards).whole()


class _Footprint:
    def __init__(self, plan: Plan, cards: Mapping[str, Card]) -> None:
        self._plan = plan
        self._cards = cards
        self._columns = {
            identity: cards[scan.dataset].column(name) for scan in scans(plan.source) for identity, name in scan.columns
        }
        texts = any(cards[scan.dataset].unit_type == "text" for scan in scans(plan.source))
        self._unit = _COLUMN + (_TEXT if texts else 0)

    def whole(self) -> int:
        """Statements run one after the other, but the sum is simpler and no smaller."""
        source = self._plan.source
        rows = self._rows(source)
        measures = list(map(measured_of, self._plan.measures))
        keys = [self._values(key.field) for key in self._plan.keys]
        wide = _ROW + sum(_COLUMN + (_TEXT if key.cells is None else 0) for key in self._plan.keys)
        held = self._held(source)
        if keys:
            held += _grouped(rows, keys) * (wide + _COLUMN * len(measures))
        if any(isinstance(measure, Units) for measure in measures) and not one_row_each(source):
            held += rows * (wide + self._unit)
        for measure in measures:
            if isinstance(measure, Quantile | Extreme):
                held += _grouped(rows, [*keys, self._candidates(measure)]) * (wide + 2 * _COLUMN)
        return held

    def _rows(self, relation: Relation) -> int:
        """The most rows that a relation can have."""
        match relation:
            case Scan(dataset):
                return self._cards[dataset].rows_at_most or 0
            case Join(left, right):
                return min(
                    self._rows(left) * self._rows_of_a_unit(right), self._rows(right) * self._rows_of_a_unit(left)
                )
            case KeyJoin(left, right):
                return self._rows(left) * self._rows(right)
            case Filter(source) | Derive(source) | PerUnit(source) | Lookup(source):
                return self._rows(source)

    def _rows_of_a_unit(self, relation: Relation) -> int:
        match relation:
            case Scan(_, rows):
                return rows
            case PerUnit():
                return 1
            case Join(left, right) | KeyJoin(left, right):
                return self._rows_of_a_unit(left) * self._rows_of_a_unit(right)
            case Filter(source) | Derive(source) | Lookup(source):
                return self._rows_of_a_unit(source)

    def _held(self, relation: Relation) -> int:
        """What the relation and those below it hold."""
        match relation:
            case Scan():
                return 0
            case PerUnit(source, columns):
                return self._held(source) + self._rows(source) * (_ROW + self._unit + _COLUMN * len(columns))
            case Join(left, right) | KeyJoin(left, right):
                sides = (self._rows(side) * (_ROW + self._unit + self._width(side)) for side in (left, right))
                return self._held(left) + self._held(right) + sum(sides)
            case Filter(source) | Derive(source) | Lookup(source):
                return self._held(source)

    def _width(self, relation: Relation) -> int:
        texts = sum(self._is_text(column) for column in columns_of(relation))
        return _COLUMN * len(columns_of(relation)) + _TEXT * texts

    def _is_text(self, column: Identity) -> bool:
        return column in self._columns and self._columns[column].storage == "text"

    def _candidates(self, measure: Quantile | Extreme) -> int | None:
        if measure.candidates is not None:
            first, last = measure.candidates
            return max(1, last - first + 1)
        return self._values(measure.value)

    def _values(self, value: Value) -> int | None:
        """How many values there can be, NULL among them; None where the card does not say."""
        if not isinstance(value, Field) or value.column not in self._columns:
            return None
        return _range(self._columns[value.column])


def _range(column: Column) -> int | None:
    if column.categories:
        return len(column.categories) + 1
    if column.bounds is None or column.step is None:
        return None
    low, high = column.bounds
    return int((Fraction(high) - Fraction(low)) / Fraction(column.step)) + 2


def _grouped(rows: int, values: list[int | None]) -> int:
    """How many rows a grouping holds at most."""
    known = [count for count in values if count is not None]
    groups = prod(known)
    return min(rows, _COPIES * groups) if len(known) == len(values) and groups <= _FEW_GROUPS else rows
