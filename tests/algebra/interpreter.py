"""The meaning of a plan, written out slowly in Python: what every engine must equal and the calculus must bound.

Tables hold prepared rows: dictionaries of whole numbers, texts and None by the names of a card, with the unit's id and
`ord`. Above a scan columns have identities. Conditions are True, False or None, which is SQL's unknown. Every value on
the way must stay within 2^62, as the calculus promises.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import product

from discreet.cards.card import Card
from discreet.engines.engine import Cell, Histogram, Measured
from discreet.sql.algebra import (
    Absolute,
    And,
    Case,
    Clamp,
    Coalesce,
    Condition,
    Derive,
    Extreme,
    Field,
    Filter,
    Greatest,
    Identity,
    IsNull,
    Join,
    KeyJoin,
    Largest,
    Least,
    Lookup,
    Marginal,
    Measure,
    Not,
    Nothing,
    OneOf,
    Or,
    PerUnit,
    Plan,
    Plus,
    Quantile,
    Relation,
    Residual,
    Rows,
    Scan,
    Smallest,
    Tally,
    TextIn,
    Times,
    Total,
    Trimmed,
    UnitAggregate,
    Units,
    UnitTotal,
    Value,
    Whole,
    Within,
    measured_of,
)

__all__ = ["Aggregate", "Datum", "Prepared", "Row", "Tables", "evaluate", "grouped", "holds", "measure", "rows_of"]

Datum = int | str | None
Prepared = Mapping[str, Datum]
"""A row of a dataset, by the names of its card."""
Row = Mapping[Identity, Datum]
"""A row of a relation."""
Tables = Mapping[str, Sequence[Prepared]]
Owned = tuple[Datum, Row]
"""A row and the unit it belongs to."""
Aggregate = int | Histogram

WIDEST = 1 << 62


def measure(plan: Plan, tables: Tables, cards: Mapping[str, Card]) -> Measured:
    """Every measure of every cell, in the order that engines keep."""
    found = grouped(plan, tables, cards)
    if plan.open:
        cells = sorted(found, key=_in_order)
    else:
        cells = list(product(*(key.cells or () for key in plan.keys)))
        assert set(found) <= set(cells), "a row lies outside the listed cells of a key"
    nothing = [_aggregate(one, []) for one in plan.measures]
    columns = [[found.get(cell, nothing)[place] for cell in cells] for place in range(len(plan.measures))]
    for place, one in enumerate(plan.measures):
        if isinstance(one, Marginal | Residual):
            numbers = {cell: value for cell, value in zip(cells, columns[place], strict=True) if isinstance(value, int)}
            columns[place] = list(margin_of(plan, one, numbers).values())
    return Measured(tuple(columns), tuple(cells) if plan.open else None)  # type: ignore[arg-type]


def grouped(plan: Plan, tables: Tables, cards: Mapping[str, Card]) -> dict[Cell, list[Aggregate]]:
    """The measures of the cells that have rows, by cell."""
    cells: dict[Cell, list[Owned]] = {}
    for unit, row in rows_of(plan.source, tables, cards):
        cells.setdefault(tuple(row[key.field.column] for key in plan.keys), []).append((unit, row))
    return {cell: [_aggregate(one, rows) for one in plan.measures] for cell, rows in cells.items()}


def margin_of(plan: Plan, measure: Marginal | Residual, numbers: Mapping[Cell, int]) -> dict[Cell, int]:
    """A margin, or the residual of one, from the numbers of the cells, line by line."""
    sizes = [plan.keys[place].cells or () for place in measure.kept]
    found: dict[Cell, int] = dict.fromkeys(product(*sizes), 0)
    for cell, number in numbers.items():
        found[tuple(cell[place] for place in measure.kept)] += number
    if isinstance(measure, Residual):
        for axis, place in enumerate(measure.kept):
            if place in measure.whole:
                continue
            before = dict(found)
            for cell in found:
                line = [before[(*cell[:axis], other, *cell[axis + 1 :])] for other in sizes[axis]]
                found[cell] = len(line) * before[cell] - sum(line)
    return found


def _in_order(cell: Cell) -> list[tuple[bool, Datum]]:
    return [(part is None, 0 if part is None else part) for part in cell]


def _aggregate(measure: Measure, rows: list[Owned]) -> Aggregate:
    """One measure of one cell; of a margin, what its cells are."""
    match measured_of(measure):
        case Units():
            return len({unit for unit, _ in rows})
        case Rows(value):
            return len(rows if value is None else _present(value, rows))
        case Total(value):
            return sum(_whole(part) for part in _present(value, rows))
        case Quantile(value, _, candidates) | Extreme(value, _, candidates):
            ranked = value if candidates is None else Clamp(value, *candidates)
            return _histogram(ranked, rows)
        case Trimmed(value, _):
            return _histogram(value, rows)


def _histogram(value: Value, rows: list[Owned]) -> Histogram:
    return sorted(Counter(_whole(part) for part in _present(value, rows)).items())


def _present(value: Value, rows: Iterable[Owned]) -> list[Datum]:
    found = (evaluate(value, row) for _, row in rows)
    return [part for part in found if part is not None]


# --- relations ------------------------------------------------------------------------------------------------------


def rows_of(relation: Relation, tables: Tables, cards: Mapping[str, Card]) -> list[Owned]:
    """The rows of a relation, each with its unit."""
    match relation:
        case Scan(dataset):
            return _scan(relation, tables[dataset], cards[dataset].unit.column)
        case Filter(source, where):
            return [(unit, row) for unit, row in rows_of(source, tables, cards) if holds(where, row) is True]
        case Derive(source, columns):
            below = rows_of(source, tables, cards)
            return [(unit, {column: evaluate(value, row) for column, value in columns}) for unit, row in below]
        case PerUnit(source, columns):
            return _per_unit(rows_of(source, tables, cards), columns)
        case Join(left, right):
            others = rows_of(right, tables, cards)
            return [
                (unit, {**row, **other})
                for unit, row in rows_of(left, tables, cards)
                for owner, other in others
                if owner == unit
            ]
        case Lookup(source, key, columns, entries):
            table = {entry[0]: dict(zip(columns, entry[1:], strict=True)) for entry in entries if entry[0] is not None}
            found = [(unit, row, evaluate(key, row)) for unit, row in rows_of(source, tables, cards)]
            return [(unit, {**row, **table[at]}) for unit, row, at in found if isinstance(at, int) and at in table]
        case KeyJoin(left, right, left_key, right_key):
            others = [(row[right_key.column], row) for _, row in rows_of(right, tables, cards)]
            return [
                (None, {**row, **other})  # a pair is of no one unit
                for _, row in rows_of(left, tables, cards)
                for at, other in others
                if at is not None and at == row[left_key.column]
            ]


def _scan(scan: Scan, table: Sequence[Prepared], unit: str) -> list[Owned]:
    kept = [row for row in table if _whole(row["ord"]) <= scan.rows]
    return [(row[unit], {column: row[name] for column, name in scan.columns}) for row in kept]


def _per_unit(below: list[Owned], columns: tuple[tuple[Identity, UnitAggregate], ...]) -> list[Owned]:
    units: dict[Datum, list[Owned]] = {}
    for unit, row in below:
        units.setdefault(unit, []).append((unit, row))
    return [(unit, {column: _unit_value(part, rows) for column, part in columns}) for unit, rows in units.items()]


def _unit_value(aggregate: UnitAggregate, rows: list[Owned]) -> int | None:
    if isinstance(aggregate, Tally):
        return len(rows if aggregate.value is None else _present(aggregate.value, rows))
    present = [_whole(part) for part in _present(aggregate.value, rows)]
    if not present:
        return None
    match aggregate:
        case UnitTotal():
            _held(sum(map(abs, present)))
            return _held(sum(present))
        case Smallest():
            return min(present)
        case Largest():
            return max(present)


# --- values ---------------------------------------------------------------------------------------------------------


def evaluate(value: Value, row: Row) -> Datum:
    """A value on a row; a text only where it is a text column as it stands."""
    match value:
        case Field(column):
            return row[column]
        case Whole(number):
            return _held(number)
        case Nothing():
            return None
        case Case(branches, otherwise):
            taken = next((then for condition, then in branches if holds(condition, row) is True), otherwise)
            return evaluate(taken, row)
        case Coalesce(values):
            return next((part for part in (evaluate(one, row) for one in values) if part is not None), None)
        case Least(values):
            return min(_numbers(values, row), default=None)
        case Greatest(values):
            return max(_numbers(values, row), default=None)
        case Plus(terms):
            parts = _numbers(terms, row)
            return _held(_sum(parts)) if len(parts) == len(terms) else None
        case Times(left, right):
            parts = _numbers((left, right), row)
            return _held(parts[0] * parts[1]) if len(parts) == 2 else None
        case Absolute(inner):
            return next((abs(part) for part in _numbers((inner,), row)), None)
        case Clamp(inner, low, high):
            return next((min(max(part, low), high) for part in _numbers((inner,), row)), None)


def _numbers(values: tuple[Value, ...], row: Row) -> list[int]:
    """The values that are there."""
    return [_whole(part) for part in (evaluate(value, row) for value in values) if part is not None]


def _sum(parts: list[int]) -> int:
    """From left to right, as engines add."""
    total = 0
    for part in parts:
        total = _held(total + part)
    return total


def _whole(part: Datum) -> int:
    assert isinstance(part, int), "a text stands where a whole number is needed"
    return part


def _held(number: int) -> int:
    assert -WIDEST <= number <= WIDEST, "a value left the range that the calculus promises"
    return number


# --- conditions -----------------------------------------------------------------------------------------------------


def holds(condition: Condition, row: Row) -> bool | None:
    """True, False, or None where SQL does not know."""
    match condition:
        case OneOf(value, values):
            found = evaluate(value, row)
            return None if found is None else found in values
        case TextIn(field, texts):
            found = evaluate(field, row)
            return None if found is None else found in texts
        case Within(value, low, high):
            found = evaluate(value, row)
            if found is None:
                return None
            return (low is None or low <= _whole(found)) and (high is None or _whole(found) <= high)
        case IsNull(value):
            return evaluate(value, row) is None
        case Not(operand):
            known = holds(operand, row)
            return None if known is None else not known
        case And(operands):
            return _all_of([holds(operand, row) for operand in operands])
        case Or(operands):
            known = _all_of([_opposite(holds(operand, row)) for operand in operands])
            return _opposite(known)


def _all_of(known: list[bool | None]) -> bool | None:
    """AND: false beats unknown, unknown beats true."""
    if False in known:
        return False
    return None if None in known else True


def _opposite(known: bool | None) -> bool | None:
    return None if known is None else not known
