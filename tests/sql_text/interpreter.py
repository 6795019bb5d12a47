"""What a statement means, from its model alone: exact numbers over the rows of one unit at a time.

Values are real numbers as exact fractions, codes of categories and texts as they are, and None for NULL. Conditions are
True, False or None, which is SQL's unknown. Nothing here knows a plan or a name.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Final

from discreet.cards.card import Card, Column, ColumnKind
from tests.sql_text.model import (
    Abs,
    Absent,
    Among,
    Arith,
    Between,
    Both,
    Clamped,
    Code,
    CodeOrder,
    Col,
    Compare,
    Condition,
    Const,
    Derived,
    Either,
    Expr,
    Filtered,
    FirstOf,
    Joined,
    Leaf,
    LookedUp,
    Negated,
    OutAbs,
    OutArith,
    OutPick,
    Output,
    PerUnit,
    Pick,
    Question,
    Relation,
    Scanned,
    Searched,
    ShownKey,
    Simple,
    UnitColumn,
)
from tests.sql_text.populations import PUBLIC, Owned, StoredRow

__all__ = ["Cell", "Exact", "Interpreter", "Seen", "leaves_of"]

Exact = int | Fraction
Value = Exact | str | None
Row = Mapping[int, Value]
Truth = bool | None
Cell = tuple[Value, ...]

Seen = Mapping[Cell, Sequence[Sequence[tuple[Exact, Exact]]]]
"""For every cell that a unit has rows in, and every aggregate of the statement: what each row adds, and its weight.

A row whose value is NULL adds nothing; counts add 1, and a count of units adds 1 for all rows together. After the
statement's own aggregates comes a count of units.
"""

Compute = Callable[[Row], Value]
Test = Callable[[Row], Truth]

_HOLDS: Final[Mapping[str, Callable[[Any, Any], bool]]] = {
    "=": operator.eq,
    "<>": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_ARITHMETIC: Final[Mapping[str, Callable[[Fraction, Fraction], Exact]]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": lambda left, right: Fraction(left) / right,
}


# --- values -----------------------------------------------------------------------------------------------------


def compute(expr: Expr) -> Compute:
    """The value of an expression on a row."""
    match expr:
        case Col(mark, _):
            return lambda row: row[mark]
        case Const(number):
            return lambda row: number
        case Code(code):
            return lambda row: code
        case Arith(sign, left, right):
            return _arithmetic(sign, compute(left), compute(right))
        case Abs(value):
            return _strict(compute(value), abs)
        case Pick(least, values):
            return _picked(list(map(compute, values)), min if least else max)
        case FirstOf(values):
            parts = list(map(compute, values))
            return lambda row: next((found for part in parts if (found := part(row)) is not None), None)
        case Clamped(value, low, high):
            return _strict(compute(value), lambda number: min(max(number, low), high))
        case Searched(branches, otherwise):
            return _case([(test(when), compute(then)) for when, then in branches], otherwise)
        case Simple(subject, cases, otherwise):
            return _case([(test(Compare("=", subject, when)), compute(then)) for when, then in cases], otherwise)


def _strict(inner: Compute, act: Callable[[Fraction], Exact]) -> Compute:
    def run(row: Row) -> Value:
        found = inner(row)
        return None if found is None else act(_number(found))

    return run


def _arithmetic(sign: str, left: Compute, right: Compute) -> Compute:
    act = _ARITHMETIC[sign]

    def run(row: Row) -> Value:
        one, two = left(row), right(row)
        return None if one is None or two is None else act(_number(one), _number(two))

    return run


def _picked(parts: list[Compute], choose: Callable[[list[Fraction]], Fraction]) -> Compute:
    def run(row: Row) -> Value:
        found = [_number(value) for part in parts if (value := part(row)) is not None]
        return choose(found) if found else None

    return run


def _case(branches: list[tuple[Test, Compute]], otherwise: Expr | None) -> Compute:
    rest: Compute = compute(otherwise) if otherwise is not None else lambda row: None

    def run(row: Row) -> Value:
        for when, then in branches:
            if when(row):
                return then(row)
        return rest(row)

    return run


def _number(value: Value) -> Fraction:
    assert isinstance(value, int | Fraction)
    return value  # type: ignore[return-value]


# --- conditions -------------------------------------------------------------------------------------------------


def test(condition: Condition) -> Test:
    """Whether a condition holds on a row."""
    match condition:
        case Compare(sign, left, right):
            return _compared(_HOLDS[sign], compute(left), compute(right))
        case CodeOrder(sign, value, bound):
            holds, inner = _HOLDS[sign], compute(value)
            return lambda row: None if (code := inner(row)) is None else holds(Fraction(str(code)), bound)
        case Among(value, listed, negated):
            return _among(
                compute(value), {one.value if isinstance(one, Const) else one.code for one in listed}, negated
            )
        case Between(value, low, high):
            inner = compute(value)
            return lambda row: None if (found := inner(row)) is None else low <= _number(found) <= high
        case Absent(value, negated):
            inner = compute(value)
            return lambda row: (inner(row) is None) != negated
        case Negated(operand):
            inner_test = test(operand)
            return lambda row: None if (found := inner_test(row)) is None else not found
        case Both(operands):
            return _joined(list(map(test, operands)), decisive=False)
        case Either(operands):
            return _joined(list(map(test, operands)), decisive=True)


def _compared(holds: Callable[[Any, Any], bool], left: Compute, right: Compute) -> Test:
    def run(row: Row) -> Truth:
        one, two = left(row), right(row)
        return None if one is None or two is None else holds(one, two)

    return run


def _among(inner: Compute, listed: set[Fraction | str], negated: bool) -> Test:
    return lambda row: None if (found := inner(row)) is None else (found in listed) != negated


def _joined(parts: list[Test], *, decisive: bool) -> Test:
    """AND and OR: one decisive operand settles it, else one unknown leaves it unknown."""

    def run(row: Row) -> Truth:
        found = [part(row) for part in parts]
        if decisive in found:
            return decisive
        return None if None in found else not decisive

    return run


# --- rows of one unit -------------------------------------------------------------------------------------------

Gather = Callable[[Owned], list[dict[int, Value]]]


def gather(relation: Relation, cards: Mapping[str, Card]) -> Gather:
    """The rows that one unit has in a relation."""
    match relation:
        case Scanned(dataset, columns):
            return _scanned(cards[dataset], columns)
        case Filtered(source, where):
            inner, holds = gather(source, cards), test(where)
            return lambda owned: [row for row in inner(owned) if holds(row)]
        case Derived(source, columns):
            below, parts = gather(source, cards), [(mark, compute(expr)) for mark, expr in columns]
            return lambda owned: [{mark: part(row) for mark, part in parts} for row in below(owned)]
        case PerUnit(source, columns):
            return _per_unit(gather(source, cards), columns)
        case Joined(left, right):
            one, two = gather(left, cards), gather(right, cards)
            return lambda owned: [{**mine, **theirs} for mine in one(owned) for theirs in two(owned)]
        case LookedUp():
            return _looked_up(gather(relation.source, cards), relation)


def _scanned(card: Card, columns: tuple[tuple[str, int], ...]) -> Gather:
    most, dataset = card.unit.rows, card.dataset
    known = [(name, mark, real_value(card.column(name))) for name, mark in columns]
    unit = card.unit.column

    def run(owned: Owned) -> list[dict[int, Value]]:
        return [
            {mark: "the unit" if name == unit else real(row[name]) for name, mark, real in known}
            for row in owned[dataset][:most]
        ]

    return run


def real_value(column: Column) -> Callable[[int | str | None], Value]:
    """A stored value as it is in the world: a number, a code, a text."""
    if column.kind is ColumnKind.CATEGORY:
        codes = [category.code for category in column.categories]
        return lambda stored: codes[stored] if isinstance(stored, int) else None
    if column.kind is ColumnKind.NUMBER:
        step = Fraction(column.step or 1)
        return lambda stored: stored * step if isinstance(stored, int) else None
    return lambda stored: stored


def _per_unit(below: Gather, columns: tuple[UnitColumn, ...]) -> Gather:
    parts = [
        (column.mark, column.aggregate, compute(column.value) if column.value is not None else None)
        for column in columns
    ]

    def run(owned: Owned) -> list[dict[int, Value]]:
        rows = below(owned)
        return [{mark: _unit_value(how, part, rows) for mark, how, part in parts}] if rows else []

    return run


def _unit_value(how: str, part: Compute | None, rows: list[dict[int, Value]]) -> Value:
    if part is None:
        return len(rows)
    if how == "public":
        return part(rows[0])
    found = [value for row in rows if (value := part(row)) is not None]
    if how == "COUNT":
        return len(found)
    if not found:
        return None
    numbers = list(map(_number, found))
    return sum(numbers) if how == "SUM" else min(numbers) if how == "MIN" else max(numbers)


def _looked_up(below: Gather, lookup: LookedUp) -> Gather:
    table, key = PUBLIC[lookup.table], compute(lookup.key)
    names = [column.name for column in table.columns]
    entries: dict[Value, dict[int, Value]] = {}
    for stored in table.rows:
        real = {
            column.name: _public_value(column.text(value), column.kind) if value is not None else None
            for column, value in zip(table.columns, stored, strict=True)
        }
        entries[real[table.key]] = {mark: real[name] for name, mark in lookup.columns}
    assert all(name in names for name, _ in lookup.columns)

    def run(owned: Owned) -> list[dict[int, Value]]:
        found = []
        for row in below(owned):
            value = key(row)
            if value is not None and value in entries:
                found.append({**row, lookup.own: value, **entries[value]})
        return found

    return run


def _public_value(text: str, kind: ColumnKind) -> Value:
    return text if kind is ColumnKind.CATEGORY else Fraction(text)


# --- aggregates -------------------------------------------------------------------------------------------------


def leaves_of(question: Question) -> tuple[Leaf, ...]:
    """The aggregates of a statement, in the order in which they are written."""
    shown = [output for output in question.columns if not isinstance(output, ShownKey)]
    return tuple(leaf for output in (*shown, *question.having, *question.order) for leaf in _leaves(output))


def _leaves(output: Output) -> Iterable[Leaf]:
    match output:
        case Leaf():
            yield output
        case OutArith(_, left, right):
            yield from (*_leaves(left), *_leaves(right))
        case OutAbs(value):
            yield from _leaves(value)
        case OutPick(_, values):
            for value in values:
                yield from _leaves(value)


@dataclass(frozen=True, slots=True)
class Interpreter:
    """A statement ready to be worked out on the rows of any unit."""

    question: Question
    cards: Mapping[str, Card]
    _rows: Gather = field(init=False)
    _keys: tuple[Compute, ...] = field(init=False)
    _leaves: tuple[Callable[[list[dict[int, Value]]], list[tuple[Exact, Exact]]], ...] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_rows", gather(self.question.relation, self.cards))
        object.__setattr__(self, "_keys", tuple(map(compute, self.question.keys)))
        everybody = Leaf("UNITS", None, "COUNT")
        object.__setattr__(self, "_leaves", tuple(map(_added, (*leaves_of(self.question), everybody))))

    def seen(self, owned: Mapping[str, tuple[StoredRow, ...]]) -> Seen:
        """What one unit adds, cell by cell."""
        cells: dict[Cell, list[dict[int, Value]]] = {}
        for row in self._rows(owned):
            cells.setdefault(tuple(key(row) for key in self._keys), []).append(row)
        return {cell: [leaf(rows) for leaf in self._leaves] for cell, rows in cells.items()}


def _added(leaf: Leaf) -> Callable[[list[dict[int, Value]]], list[tuple[Exact, Exact]]]:
    """What rows of one cell add to an aggregate: (value, weight), the weight 1 where there is none."""
    if leaf.aggregate == "UNITS":
        return lambda rows: [(1, 1)]
    if leaf.value is None:
        return lambda rows: [(1, 1)] * len(rows)
    value = compute(leaf.value)
    if leaf.aggregate == "COUNT":
        return lambda rows: [(1, 1) for row in rows if value(row) is not None]
    weight: Compute = compute(leaf.weight) if leaf.weight is not None else lambda row: 1

    def run(rows: list[dict[int, Value]]) -> list[tuple[Exact, Exact]]:
        pairs = ((value(row), weight(row)) for row in rows)
        return [(_number(one), _number(two)) for one, two in pairs if one is not None and two is not None]

    return run
