"""A statement in SQL to a plan: FROM and WHERE, keys, outputs, and which cells are shown in which order.

Refusals are decided from the text, the cards and public tables alone.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Final

from sqlglot import exp

from discreet.cards import Card
from discreet.catalogue import say
from discreet.errors import QueryRefused
from discreet.sql.algebra import (
    And,
    Condition,
    IsNull,
    KeyJoin,
    Not,
    OneOf,
    Plan,
    Rows,
    Within,
)
from discreet.sql.outputs import (
    All,
    Any,
    Comparison,
    KeyAmong,
    KeyShown,
    Negation,
    Noted,
    Order,
    Output,
    Presentation,
    Selection,
    ShownColumn,
)
from discreet.sql.reader.aggregates import default_name, takes_variance
from discreet.sql.reader.from_clause import Catalogue, FromTables, is_aggregate
from discreet.sql.reader.grouping import MOST_CELLS, Grouping
from discreet.sql.reader.key_joins import restrict_count
from discreet.sql.reader.parsing import FORM, alias_name, chain, literal, only, parse, refuse
from discreet.sql.reader.scopes import Scope
from discreet.sql.reader.slips import read_mended
from discreet.sql.reader.typed_values import Domain, Typed
from discreet.sql.statement import MeasureFace, Statement

__all__ = ["read_statement"]

_PARTS: Final = ("expressions", "from_", "joins", "where", "group", "having", "order", "limit", "offset", "with_")
_SIGNS: Final[Mapping[type[exp.Expression], str]] = {
    exp.EQ: "=",
    exp.NEQ: "<>",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.GT: ">",
    exp.GTE: ">=",
}


def read_statement(
    sql: str, catalogue: Catalogue, *, admit: frozenset[str] = frozenset()
) -> tuple[Statement, dict[str, Card]]:
    """The statement as planned, and the cards of its datasets by name.

    Columns with private bounds are clamped to all that a search looks at; `bounds` clamps them to what it found.
    `admit` names strategies for whose comparison more is read than is answered: `elastic` for a count over a join on a
    key, `smooth` for a trimmed mean.
    """
    return read_mended(sql, lambda text: _read_statement(text, catalogue, admit=admit))


def _read_statement(sql: str, catalogue: Catalogue, *, admit: frozenset[str]) -> tuple[Statement, dict[str, Card]]:
    select = parse(sql)
    only(select, *_PARTS)
    tables = FromTables(catalogue, admit=admit)
    below = tables.read(select, {})
    if isinstance(below.relation, KeyJoin):
        pairs = _count_of_pairs(select, Scope(below.tables), below.relation, tables.cards)
        return replace(pairs, names=tables.identities.names), tables.cards
    # a variance takes its sum around the middle, and a mean beside it reads the same one
    typical = not takes_variance(select)
    grouping = Grouping(below, tables.cards, tables.identities, admit=admit, typical=typical)
    return _Reader(select, grouping).read(), tables.cards


def _count_of_pairs(select: exp.Select, scope: Scope, join: KeyJoin, cards: dict[str, Card]) -> Statement:
    """The statement of a count over a join on a key, which has no sensitivity here."""
    plan = Plan(restrict_count(select, scope, join, cards), (), (Rows(None),))
    item = _item(select.expressions[0], 1)
    column = ShownColumn(item.alias or default_name(item.node, 1), Noted(0, Fraction(1)))
    face = MeasureFace(item.node.sql(), Fraction(1))
    return Statement(plan, Presentation((column,), None, (), None, 0), (), (face,))


@dataclass(frozen=True, slots=True)
class _Item:
    """One column of SELECT: its node, its alias, and its place among the keys when it is one."""

    node: exp.Expression
    alias: str | None
    place: int


class _Reader:
    def __init__(self, select: exp.Select, grouping: Grouping) -> None:
        self._select = select
        self._grouping = grouping
        self._scope = grouping.scope
        self._aggregates = grouping.aggregates
        self._items = [_item(node, index) for index, node in enumerate(select.expressions, start=1)]
        self._keys: Sequence[Typed] = grouping.keys
        self._read_keys()

    def read(self) -> Statement:
        columns = self._columns()
        having, order = self._having(), self._order(columns)
        limit, offset = self._bound("limit"), self._bound("offset") or 0
        if not self._grouping.measures.readings:
            raise QueryRefused(say("the statement asks for no aggregate, such as COUNT(*). {form}", form=FORM))
        return self._grouping.plan(Presentation(columns, having, order, limit, offset))

    # --- keys -------------------------------------------------------------------------------------------------------

    def _read_keys(self) -> None:
        group = self._select.args.get("group")
        if group is None:
            return
        only(group, "expressions")
        for node in group.expressions:
            self._group_by(node)

    def _group_by(self, node: exp.Expression) -> None:
        """A key: a column, an expression, or the name or number of a column of SELECT."""
        name = None
        given, named = literal(node), self._by_alias(node)
        if given is not None and given.number is not None and not given.quoted:
            node = self._selected(given.number).node
        elif named is not None and named.alias is not None and not self._scope.knows(named.alias):
            node, name = named.node, named.alias
        if any(is_aggregate(part) for part in node.walk()):
            raise QueryRefused(say("an aggregate cannot stand in GROUP BY."))
        self._grouping.group_by(self._scope.value(node), name)

    def _selected(self, number: Fraction) -> _Item:
        if number.denominator != 1 or not 1 <= number <= len(self._items):
            raise QueryRefused(say("there is no column {number} in SELECT.", number=str(number)))
        return self._items[int(number) - 1]

    # --- outputs ----------------------------------------------------------------------------------------------------

    def _columns(self) -> tuple[ShownColumn, ...]:
        columns: list[ShownColumn] = []
        for item in self._items:
            shows = self._shows(item.node)
            if item.alias is not None:
                name = item.alias
            elif isinstance(shows, KeyShown):
                name = self._keys[shows.key].text
            else:
                name = _free(default_name(item.node, item.place), {column.name for column in columns})
            columns.append(ShownColumn(name, shows))
        if len({column.name for column in columns}) < len(columns):
            raise QueryRefused(say("two columns of the answer have the same name. Give one an alias with AS."))
        return tuple(columns)

    def _shows(self, node: exp.Expression) -> KeyShown | Output:
        """A key as it is, or an output; a multiple of a key is neither."""
        index = self._key_place(node)
        if index is not None and self._scope.value(node).step == self._keys[index].step:
            return KeyShown(index)
        return self._aggregates.output(node)

    def _key_place(self, node: exp.Expression) -> int | None:
        """Which key a node is, or is a multiple of; None for what is neither."""
        if any(is_aggregate(part) for part in node.walk()) or literal(node) is not None:
            return None
        value = self._scope.value(node).value
        return next((index for index, key in enumerate(self._keys) if key.value == value), None)

    def _having(self) -> Selection | None:
        clause = self._select.args.get("having")
        return self._selection(clause.this) if clause is not None else None

    def _selection(self, node: exp.Expression) -> Selection:
        match node:
            case exp.Paren():
                return self._selection(node.this)
            case exp.And() | exp.Or():
                operands = tuple(self._selection(part) for part in chain(node))
                return All(operands) if isinstance(node, exp.And) else Any(operands)
            case exp.Not():
                return Negation(self._selection(node.this))
            case exp.Between() if not self._is_key(node.this):
                only(node, "this", "low", "high")
                low, high = self._noisy(node.args["low"]), self._noisy(node.args["high"])
                inner = self._noisy(node.this)
                return All((Comparison(">=", inner, low), Comparison("<=", inner, high)))
        sign = _SIGNS.get(type(node))
        if isinstance(node, exp.In | exp.Is) or self._is_key(node.this):
            return self._key_selection(self._scope.condition(node))
        if sign is None:
            raise refuse(node, "HAVING")
        only(node, "this", "expression")
        return Comparison(sign, self._noisy(node.this), self._noisy(node.expression))  # type: ignore[arg-type]

    def _is_key(self, node: object) -> bool:
        return isinstance(node, exp.Column) and self._by_alias(node) is None and self._key_place(node) is not None

    def _key_selection(self, condition: Condition) -> Selection:
        """A condition on keys, as the cells for which it is true."""
        match condition:
            case Not(operand):
                return Negation(self._key_selection(operand))
            case And(operands):
                return All(tuple(self._key_selection(operand) for operand in operands))
            case OneOf(value, _) | Within(value, _, _) | IsNull(value):
                index = next((index for index, key in enumerate(self._keys) if key.value == value), None)
                domain = self._keys[index].domain if index is not None else None
                if index is not None and domain is not None:
                    return KeyAmong(index, _cells(condition, domain))
        raise QueryRefused(say("HAVING works on noisy outputs and on listed keys; choose other rows with WHERE."))

    def _noisy(self, node: exp.Expression) -> Output:
        """An output by its name or anew."""
        named = self._by_alias(node)
        if named is not None:
            node = named.node
        shows = self._shows(node)
        if isinstance(shows, KeyShown):
            raise QueryRefused(say("HAVING compares a key with constants, as in HAVING province <> 24."), part="HAVING")
        return shows

    def _by_alias(self, node: exp.Expression) -> _Item | None:
        if not isinstance(node, exp.Column) or node.args.get("table") is not None:
            return None
        name = unicodedata.normalize("NFC", str(node.this.this))
        wanted = name if node.this.args.get("quoted") else name.lower()
        return next((item for item in self._items if item.alias == wanted), None)

    def _order(self, columns: Sequence[ShownColumn]) -> tuple[Order, ...]:
        clause = self._select.args.get("order")
        if clause is None:
            return ()
        only(clause, "expressions")
        return tuple(self._ordered(node, columns) for node in clause.expressions)

    def _ordered(self, node: exp.Expression, columns: Sequence[ShownColumn]) -> Order:
        only(node, "this", "desc", "nulls_first")
        descending, first = bool(node.args.get("desc")), bool(node.args.get("nulls_first"))
        given, named = literal(node.this), self._by_alias(node.this)
        if given is not None and given.number is not None:
            return Order(columns[self._selected(given.number).place - 1].shows, descending, first)
        by = named.node if named is not None else node.this
        default = [
            column for column in columns if isinstance(by, exp.Column) and column.name == str(by.this.this).lower()
        ]
        index = None if default else self._key_place(by)
        shown = default[0].shows if default else KeyShown(index) if index is not None else self._shows(by)
        return Order(shown, descending, first)

    def _bound(self, name: str) -> int | None:
        clause = self._select.args.get(name)
        if clause is None:
            return None
        only(clause, "expression")
        given = literal(clause.expression)
        number = given.number if given is not None and not given.quoted else None
        if number is None or number.denominator != 1 or not 0 <= number <= MOST_CELLS:
            raise QueryRefused(say("{clause} takes a whole number.", clause=name.upper()))
        return int(number)


def _cells(condition: OneOf | Within | IsNull, domain: Domain) -> tuple[int | None, ...]:
    match condition:
        case OneOf(_, values):
            return values
        case IsNull(_):
            return (None,)
    low = domain.low if condition.low is None else max(condition.low, domain.low)
    high = domain.high if condition.high is None else min(condition.high, domain.high)
    return tuple(range(low, high + 1))


def _item(node: exp.Expression, index: int) -> _Item:
    if isinstance(node, exp.Star):
        raise QueryRefused(say("SELECT * would show single rows. {form}", form=FORM), part="*")
    if isinstance(node, exp.Alias):
        only(node, "this", "alias")
        return _Item(node.this, alias_name(node.args["alias"]), index)
    return _Item(node, None, index)


def _free(name: str, taken: set[str]) -> str:
    """The name, or the name with the first free number behind it."""
    number, free = 1, name
    while free in taken:
        number += 1
        free = f"{name}_{number}"
    return free
