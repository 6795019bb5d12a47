"""SQL text to a plan: `SELECT keys, COUNT(*) FROM dataset [WHERE …] [GROUP BY keys]`.

Refusals are decided from the text and the card alone. Every part of the parsed statement must be one we know; what is
not on the list is refused by name, never ignored.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from discreet.data.card import Card, Column, Kind
from discreet.errors import QueryRefused, UnknownName
from discreet.plan.nodes import And, CountPlan, IsNull, Key, Not, Or, Predicate
from discreet.plan.values import Constant, compare, domain, one_of

__all__ = ["LONGEST_TEXT", "MOST_CELLS", "plan_question"]

LONGEST_TEXT: Final = 10_000
DEEPEST_NESTING: Final = 50
MOST_NODES: Final = 2_000
MOST_CELLS: Final = 1_000_000

_FORM: Final = "Ask: SELECT [columns,] COUNT(*) FROM dataset [WHERE …] [GROUP BY columns]."
_COMPARISONS: Final[Mapping[type[exp.Expression], str]] = {
    exp.EQ: "=",
    exp.NEQ: "<>",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.GT: ">",
    exp.GTE: ">=",
}
_MIRRORED: Final = {"=": "=", "<>": "<>", "<": ">", "<=": ">=", ">": "<", ">=": "<="}


def plan_question(sql: str, find_card: Callable[[str], Card]) -> CountPlan:
    """The plan of a statement. `find_card` gives a dataset's card or raises UnknownName."""
    select = _parse(sql)
    _only(select, "expressions", "from_", "where", "group")
    table, alias = _table(select)
    card = find_card(table)
    scope = _Scope(card, frozenset({table, alias}))
    keys = _keys(select, scope)
    where = select.args.get("where")
    plan = CountPlan(
        dataset=card.dataset,
        rows_per_unit=card.unit.rows,
        keys=keys,
        where=scope.predicate(where.this) if where is not None else None,
        outputs=_outputs(select, scope, keys),
    )
    if plan.cell_count > MOST_CELLS:
        raise QueryRefused(
            f"the answer would have {plan.cell_count:,} cells; at most {MOST_CELLS:,} are answered at once. "
            "Group by fewer columns.",
            cells=plan.cell_count,
        )
    return plan


def _parse(sql: str) -> exp.Select:
    if len(sql) > LONGEST_TEXT:
        raise QueryRefused(f"the statement has {len(sql):,} characters; at most {LONGEST_TEXT:,} are read.")
    depth = deepest = 0
    for character in sql:
        depth += (character == "(") - (character == ")")
        deepest = max(deepest, depth)
    if deepest > DEEPEST_NESTING:
        raise QueryRefused(f"parentheses nest deeper than {DEEPEST_NESTING}. Write the condition more plainly.")
    try:
        statements = [statement for statement in sqlglot.parse(sql, dialect="postgres") if statement is not None]
    except (SqlglotError, RecursionError):
        raise QueryRefused(f"the statement is not SQL that can be read. {_FORM}") from None
    if len(statements) != 1:
        raise QueryRefused(f"one statement is answered at a time; {len(statements)} came. {_FORM}")
    statement = statements[0]
    if not isinstance(statement, exp.Select):
        raise QueryRefused(f"only SELECT is answered; {statement.key.upper()} came. {_FORM}")
    if sum(1 for _ in statement.walk()) > MOST_NODES:
        raise QueryRefused(f"the statement has more than {MOST_NODES:,} parts. Ask something simpler.")
    return statement


def _only(node: exp.Expression, *allowed: str) -> None:
    """Refuse a node that carries anything but the named parts."""
    for name, value in node.args.items():
        if name not in allowed and value not in (None, False, []):
            part = name.strip("_").replace("_", " ").upper()
            raise QueryRefused(f"{node.key.upper()} with {part} is not answered. {_FORM}", part=part)


def _table(select: exp.Select) -> tuple[str, str]:
    source = select.args.get("from_")
    if source is None:
        raise QueryRefused(f"the statement names no dataset. {_FORM}")
    table = source.this
    if not isinstance(table, exp.Table) or not isinstance(table.this, exp.Identifier):
        raise QueryRefused(f"FROM takes the name of one dataset. {_FORM}")
    _only(table, "this", "alias")
    alias = table.args.get("alias")
    if alias is not None:
        _only(alias, "this")
    name = _identifier(table.this)
    return name, _identifier(alias.this) if alias is not None else name


def _identifier(node: exp.Expression) -> str:
    if not isinstance(node, exp.Identifier):
        raise QueryRefused(f"a plain name is needed where {node.key.upper()} stands. {_FORM}")
    name = str(node.this)
    return name if node.args.get("quoted") else name.lower()


def _keys(select: exp.Select, scope: _Scope) -> tuple[Key, ...]:
    group = select.args.get("group")
    if group is None:
        return ()
    _only(group, "expressions")
    columns = [scope.column(node) for node in group.expressions]
    names = [column.name for column in columns]
    if len(set(names)) < len(names):
        raise QueryRefused("a column stands twice in GROUP BY.")
    return tuple(Key(column.name, domain(column)) for column in columns)


def _outputs(select: exp.Select, scope: _Scope, keys: tuple[Key, ...]) -> tuple[tuple[str | None, str], ...]:
    outputs: list[tuple[str | None, str]] = []
    grouped = {key.column for key in keys}
    for node in select.expressions:
        inner, name = node, None
        if isinstance(node, exp.Alias):
            _only(node, "this", "alias")
            inner, name = node.this, _identifier(node.args["alias"])
        if isinstance(inner, exp.Count):
            _only(inner, "this", "big_int")
            if not isinstance(inner.this, exp.Star):
                raise QueryRefused(f"COUNT takes *, as in COUNT(*). {_FORM}")
            outputs.append((None, name or "count"))
        else:
            column = scope.column(inner)
            if column.name not in grouped:
                raise QueryRefused(f"'{column.name}' is selected but not in GROUP BY; single rows are never shown.")
            outputs.append((column.name, name or column.name))
    if sum(1 for source, _ in outputs if source is None) != 1:
        raise QueryRefused(f"the statement needs COUNT(*), once. {_FORM}")
    if len({name for _, name in outputs}) < len(outputs):
        raise QueryRefused("two columns of the answer have the same name. Give one an alias with AS.")
    return tuple(outputs)


class _Scope:
    """Names of one dataset as a statement may use them, and the predicates over them."""

    def __init__(self, card: Card, tables: frozenset[str]) -> None:
        self._card = card
        self._tables = tables
        self._columns = {column.name.lower(): column for column in card.columns}

    def column(self, node: exp.Expression) -> Column:
        if not isinstance(node, exp.Column):
            raise QueryRefused(f"the name of a column is needed where {node.key.upper()} stands. {_FORM}")
        _only(node, "this", "table")
        table = node.args.get("table")
        if table is not None and _identifier(table) not in self._tables:
            raise UnknownName(sort="table", name=_identifier(table), where="the statement", known=self._tables)
        name = _identifier(node.this)
        column = self._columns.get(name.lower())
        if column is None:
            known = [declared.name for declared in self._card.columns]
            raise UnknownName(sort="column", name=name, where=f"'{self._card.dataset}'", known=known)
        if column.kind is Kind.ID:
            raise QueryRefused(f"'{column.name}' identifies the protected unit; it cannot be asked about.")
        return column

    def predicate(self, node: exp.Expression) -> Predicate:
        match node:
            case exp.Paren():
                _only(node, "this")
                return self.predicate(node.this)
            case exp.And() | exp.Or():
                _only(node, "this", "expression")
                operands = tuple(self.predicate(operand) for operand in _flat(node))
                return And(operands) if isinstance(node, exp.And) else Or(operands)
            case exp.Not():
                _only(node, "this")
                return Not(self.predicate(node.this))
            case exp.In():
                _only(node, "this", "expressions")
                constants = [_constant(value) for value in node.expressions]
                return one_of(self.column(node.this), constants)
            case exp.Between():
                _only(node, "this", "low", "high")
                column = self.column(node.this)
                low, high = _constant(node.args["low"]), _constant(node.args["high"])
                return And((compare(column, ">=", low), compare(column, "<=", high)))
            case exp.Is() if isinstance(node.expression, exp.Null):
                _only(node, "this", "expression", "negate")
                absent = IsNull(self.column(node.this).name)
                return Not(absent) if node.args.get("negate") else absent
        return self._comparison(node)

    def _comparison(self, node: exp.Expression) -> Predicate:
        sign = _COMPARISONS.get(type(node))
        if sign is None:
            raise QueryRefused(f"{node.key.upper()} is not answered in WHERE. {_FORM}", part=node.key.upper())
        _only(node, "this", "expression")
        if isinstance(node.this, exp.Column):
            return compare(self.column(node.this), sign, _constant(node.expression))
        return compare(self.column(node.expression), _MIRRORED[sign], _constant(node.this))


def _flat(node: exp.Expression) -> Iterator[exp.Expression]:
    """The operands of a chain of ANDs or ORs, however they are nested, without recursion."""
    waiting = [node]
    while waiting:
        part = waiting.pop()
        if type(part) is type(node):
            waiting += [part.args["expression"], part.this]
        else:
            yield part


def _constant(node: exp.Expression) -> Constant:
    negative = isinstance(node, exp.Neg)
    literal = node.this if negative else node
    if not isinstance(literal, exp.Literal) or (negative and literal.is_string):
        raise QueryRefused(f"a number or a quoted text is needed where {node.key.upper()} stands. {_FORM}")
    return Constant(text=("-" if negative else "") + str(literal.this), quoted=bool(literal.is_string))
