"""Names of a statement and the expressions over them: columns, constants, arithmetic, CASE, conditions.

A `Scope` holds the tables that FROM brought together; it turns the row-level part of a statement into values and
conditions of the algebra. What it does not know it refuses by name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from sqlglot import exp

from discreet.cards import unknown_code
from discreet.catalogue import Phrase, say, say_list
from discreet.errors import QueryRefused, UnknownName
from discreet.sql.algebra import (
    Absolute,
    And,
    Case,
    Clamp,
    Coalesce,
    Condition,
    Field,
    Greatest,
    IsNull,
    Least,
    Not,
    Nothing,
    OneOf,
    Or,
    TextIn,
    Value,
    Whole,
)
from discreet.sql.reader.parsing import Literal, chain, identifier, literal, only, refuse
from discreet.sql.reader.typed_values import (
    Domain,
    Typed,
    ValueSort,
    add,
    common,
    compare_numbers,
    constant,
    multiply,
    negate,
    require_number,
    scale,
)

__all__ = ["Scope", "ScopedTable", "among", "call_name"]

_SIGNS: Final[Mapping[type[exp.Expression], str]] = {
    exp.EQ: "=",
    exp.NEQ: "<>",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.GT: ">",
    exp.GTE: ">=",
}
_MIRRORED: Final = {"=": "=", "<>": "<>", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
_HOLDS: Final[Mapping[str, Callable[[Fraction, Fraction], bool]]] = {
    "<": lambda code, bound: code < bound,
    "<=": lambda code, bound: code <= bound,
    ">": lambda code, bound: code > bound,
    ">=": lambda code, bound: code >= bound,
}


@dataclass(frozen=True, slots=True)
class ScopedTable:
    """A table of FROM under the name by which the statement calls it. Columns are known by lower-case names."""

    name: str
    columns: Mapping[str, Typed]
    weights: tuple[Typed, ...] = ()


def call_name(node: exp.Expression) -> str:
    """The name of a function as the statement writes it, in capitals."""
    return str(node.this).upper() if isinstance(node, exp.Anonymous) else node.key.upper()


class Scope:
    """The tables of one FROM. `aggregate` reads aggregates where the place allows them (a table by unit)."""

    def __init__(
        self, tables: Sequence[ScopedTable], aggregate: Callable[[exp.Expression], Typed | None] = lambda _: None
    ) -> None:
        self.tables = tuple(tables)
        self._aggregate = aggregate

    # --- names ------------------------------------------------------------------------------------------------------

    def column(self, node: exp.Expression) -> Typed:
        """The column that a node names."""
        if not isinstance(node, exp.Column):
            raise QueryRefused(say("the name of a column is needed where {given} stands.", given=call_name(node)))
        only(node, "this", "table")
        qualifier = node.args.get("table")
        return self.find(identifier(node.this), identifier(qualifier).lower() if qualifier is not None else None)

    def find(self, name: str, table: str | None = None) -> Typed:
        tables = [known for known in self.tables if table in (None, known.name)]
        if not tables:
            raise UnknownName(
                sort=Phrase("table"),
                name=table or "",
                where=say("the statement"),
                known=[known.name for known in self.tables],
            )
        found = [known.columns[name.lower()] for known in tables if name.lower() in known.columns]
        if len({typed.value for typed in found}) > 1:
            raise QueryRefused(
                say(
                    "'{name}' is a column of several tables here; write which one, as in {table}.{name}.",
                    name=name,
                    table=tables[0].name,
                )
            )
        if not found:
            where = say_list([say("'{name}'", name=known.name) for known in tables], either=True)
            raise UnknownName(
                sort=Phrase("column"), name=name, where=where, known=[n for t in tables for n in t.columns]
            )
        return found[0]

    def knows(self, name: str) -> bool:
        return any(name.lower() in table.columns for table in self.tables)

    # --- values -----------------------------------------------------------------------------------------------------

    def value(self, node: exp.Expression | None) -> Typed:
        """The value of an expression on one row."""
        if node is None:
            raise QueryRefused(say("a function of the statement lacks its argument."))
        known = self._aggregate(node)
        if known is not None:
            return known
        constant_here = literal(node)
        if constant_here is not None:
            return self._constant(constant_here)
        match node:
            case exp.Paren():
                only(node, "this")
                return self.value(node.this)
            case exp.Column():
                return self.column(node)
            case exp.Null():
                return Typed(Nothing(), ValueSort.NOTHING, "NULL")
        return self._computed(node, node.sql())

    def _computed(self, node: exp.Expression, text: str) -> Typed:
        """The value of an operator or function; `text` is how messages call it."""
        match node:
            case exp.Neg():
                return negate(self.number(node.this, "-"), text)
            case exp.Add() | exp.Sub():
                return add(list(self._terms(node)), text)
            case exp.Mul():
                only(node, "this", "expression")
                return multiply(self.number(node.this, "*"), self.number(node.expression, "*"), text)
            case exp.Div():
                return self._divide(node, text)
            case exp.Abs():
                only(node, "this")
                inner = self.number(node.this, "ABS")
                return Typed(Absolute(inner.value), ValueSort.NUMBER, text, step=inner.step)
            case exp.Least() | exp.Greatest() | exp.Coalesce():
                return self._choose(node, text)
            case exp.Case():
                return self._case(node, text)
        if call_name(node) == "CLAMP":
            return self._clamp(node, text)
        raise refuse(node, say("an expression"))

    def counted(self, node: exp.Expression | None) -> Value | None:
        """What COUNT looks for on a row; None where it is on every one: the unit's id, a constant."""
        typed = self.value(node)
        if typed.sort is ValueSort.ID:
            _visible(typed)
        return None if typed.sort is ValueSort.UNIT or typed.fixed is not None else typed.value

    def number(self, node: exp.Expression, where: str) -> Typed:
        return require_number(self.value(node), where)

    def _constant(self, given: Literal) -> Typed:
        number = given.number if not given.quoted else None
        if number is not None:
            return constant(number, given.text)
        if not given.quoted:
            raise QueryRefused(say("a number of the statement is too long or not a plain decimal."))
        return Typed(
            Whole(0), ValueSort.CATEGORY, given.text, codes=(given.plain,), domain=Domain(0, 0, nullable=False)
        )

    def _terms(self, node: exp.Expression) -> list[Typed]:
        """The terms of a chain of + and -, without recursion along the chain."""
        terms: list[Typed] = []
        waiting = [(node, False)]
        while waiting:
            part, minus = waiting.pop()
            if isinstance(part, exp.Add | exp.Sub):
                only(part, "this", "expression")
                flip = isinstance(part, exp.Sub)
                waiting += [(part.args["expression"], minus != flip), (part.this, minus)]
            else:
                term = self.number(part, say("+ or -"))
                terms.append(negate(term, "") if minus else term)
        return terms

    def _divide(self, node: exp.Expression, text: str) -> Typed:
        only(node, "this", "expression", "typed", "safe")
        above, below = self.number(node.this, "/"), self.number(node.expression, "/")
        if below.fixed is None:
            raise QueryRefused(
                say(
                    "division inside an expression is by a constant only, because a column can be 0. Divide the "
                    "aggregates instead, as in SUM(a) / SUM(b)."
                )
            )
        if below.fixed == 0:
            raise QueryRefused(say("the statement divides by 0."))
        return scale(above, 1 / below.fixed, text)

    def _choose(self, node: exp.Expression, text: str) -> Typed:
        only(node, "this", "expressions", "ignore_nulls")
        parts = [self.number(part, call_name(node)) for part in (node.this, *node.expressions)]
        if len(parts) == 1:
            return parts[0]
        values, step = common(parts)
        chosen = tuple(values)
        made: Value = Coalesce(chosen)
        if not isinstance(node, exp.Coalesce):
            made = Least(chosen) if isinstance(node, exp.Least) else Greatest(chosen)
        return Typed(made, ValueSort.NUMBER, text, step=step)

    def _clamp(self, node: exp.Expression, text: str) -> Typed:
        if len(node.expressions) != 3:
            raise QueryRefused(say("CLAMP takes three arguments, as in CLAMP(income, 0, 100000)."))
        inner = self.number(node.expressions[0], "CLAMP")
        low, high = (self.number(side, "CLAMP").fixed for side in node.expressions[1:])
        if low is None or high is None or low > high:
            raise QueryRefused(say("CLAMP takes two constants, the lower first, as in CLAMP(income, 0, 100000)."))
        values, step = common([inner, constant(low, ""), constant(high, "")])
        return Typed(Clamp(values[0], int(low / step), int(high / step)), ValueSort.NUMBER, text, step=step)

    def _case(self, node: exp.Expression, text: str) -> Typed:
        only(node, "this", "ifs", "default")
        conditions = []
        for branch in node.args["ifs"]:
            only(branch, "this", "true")
            subject = node.args.get("this")
            equal = branch.this if subject is None else exp.EQ(this=subject.copy(), expression=branch.this.copy())
            conditions.append(self.condition(equal))
        default = node.args.get("default")
        results = [self.value(branch.args["true"]) for branch in node.args["ifs"]]
        results.append(self.value(default) if default is not None else Typed(Nothing(), ValueSort.NOTHING, "NULL"))
        if any(result.sort is ValueSort.CATEGORY for result in results):
            return _listed(conditions, results, text)
        values, step = common([require_number(result, "CASE") for result in results])
        case = Case(tuple(zip(conditions, values[:-1], strict=True)), values[-1])
        return Typed(case, ValueSort.NUMBER, text, step=step)

    # --- conditions -------------------------------------------------------------------------------------------------

    def condition(self, node: exp.Expression) -> Condition:
        """A condition on one row."""
        match node:
            case exp.Paren():
                only(node, "this")
                return self.condition(node.this)
            case exp.And() | exp.Or():
                only(node, "this", "expression")
                operands = tuple(self.condition(part) for part in chain(node))
                return And(operands) if isinstance(node, exp.And) else Or(operands)
            case exp.Not():
                only(node, "this")
                return Not(self.condition(node.this))
            case exp.In():
                only(node, "this", "expressions")
                return among(self.value(node.this), [_required(value) for value in node.expressions])
            case exp.Between():
                only(node, "this", "low", "high")
                low, high = node.args["low"], node.args["high"]
                return And((self._compare(node.this, ">=", low), self._compare(node.this, "<=", high)))
            case exp.Is() if isinstance(node.expression, exp.Null):
                only(node, "this", "expression", "negate")
                absent = IsNull(_visible(self.value(node.this)).value)
                return Not(absent) if node.args.get("negate") else absent
        sign = _SIGNS.get(type(node))
        if sign is None:
            raise refuse(node, say("a condition"))
        only(node, "this", "expression")
        return self._compare(node.this, sign, node.expression)

    def _compare(self, left: exp.Expression, sign: str, right: exp.Expression) -> Condition:
        if sign == "<>":
            return Not(self._compare(left, "=", right))
        if literal(left) is not None and literal(right) is None:
            return self._compare(right, _MIRRORED[sign], left)
        typed, given = _visible(self.value(left)), literal(right)
        if typed.sort in {ValueSort.CATEGORY, ValueSort.TEXT}:
            if given is None:
                raise QueryRefused(
                    say("{value} is compared with a constant only, as in {value} = '1'.", value=typed.text)
                )
            if sign == "=":
                return among(typed, [given])
            return _ordered_codes(typed, sign, given)
        other = _number_like(typed, given) if given is not None else self.number(right, sign)
        return compare_numbers(require_number(typed, sign), sign, require_number(other, sign))


def among(typed: Typed, given: Sequence[Literal]) -> Condition:
    """value IN (constants), also for one constant."""
    _visible(typed)
    if typed.sort is ValueSort.TEXT:
        assert isinstance(typed.value, Field)
        return TextIn(typed.value, tuple(sorted({constant.plain for constant in given})))
    if typed.sort is ValueSort.CATEGORY:
        return OneOf(typed.value, tuple(sorted({_position(typed, constant) for constant in given})))
    require_number(typed, "IN")
    steps = {number / typed.step for constant in given for number in [_number_like(typed, constant).fixed or 0]}
    return OneOf(typed.value, tuple(sorted(int(step) for step in steps if Fraction(step).denominator == 1)))


def _number_like(typed: Typed, given: Literal) -> Typed:
    number = given.number
    if number is None:
        raise QueryRefused(say("{value} is a number; compare it with one, as in {value} > 10.", value=typed.text))
    return constant(number, given.text)


def _visible(typed: Typed) -> Typed:
    if typed.identifies:
        raise QueryRefused(
            say("'{column}' identifies the protected unit; it cannot be asked about.", column=typed.text)
            if typed.sort is ValueSort.UNIT
            else say("'{column}' identifies people; it cannot be asked about.", column=typed.text)
        )
    return typed


def _required(node: exp.Expression) -> Literal:
    given = literal(node)
    if given is None:
        raise QueryRefused(say("a number or a quoted text is needed where {given} stands.", given=call_name(node)))
    return given


def _position(typed: Typed, given: Literal) -> int:
    """The place of a code in its list; 1, '1' and 1.0 name the code 1."""
    position = typed.position(given.plain)
    if position is None:
        raise _unknown_code(typed, given.plain)
    return position


def _unknown_code(typed: Typed, given: str) -> UnknownName:
    where = say("the categories of '{column}'", column=typed.text)
    return unknown_code(given, typed.codes, typed.labels, where=where)


def _ordered_codes(typed: Typed, sign: str, given: Literal) -> Condition:
    if typed.sort is ValueSort.TEXT:
        raise QueryRefused(say("'{column}' is open text; it can be compared with = and <> only.", column=typed.text))
    codes = [Literal(code, quoted=False).number for code in typed.codes]
    bound = given.number
    if bound is None or any(code is None for code in codes):
        raise QueryRefused(
            say("the codes of '{column}' are not all numbers; compare it with =, <> or IN.", column=typed.text)
        )
    holds = _HOLDS[sign]
    return OneOf(
        typed.value, tuple(index for index, code in enumerate(codes) if code is not None and holds(code, bound))
    )


def _listed(conditions: list[Condition], results: list[Typed], text: str) -> Typed:
    """A CASE whose results are quoted texts is a category of its own, with them as its codes."""
    if any(result.sort is not ValueSort.NOTHING and not _quoted(result) for result in results):
        raise QueryRefused(say("the results of a CASE are all numbers or all quoted texts."))
    codes = tuple(dict.fromkeys(result.codes[0] for result in results if result.codes))
    values: list[Value] = [Whole(codes.index(result.codes[0])) if result.codes else Nothing() for result in results]
    case = Case(tuple(zip(conditions, values[:-1], strict=True)), values[-1])
    nullable = any(not result.codes for result in results)
    return Typed(case, ValueSort.CATEGORY, text, codes=codes, domain=Domain(0, len(codes) - 1, nullable=nullable))


def _quoted(result: Typed) -> bool:
    return result.sort is ValueSort.CATEGORY and isinstance(result.value, Whole)
