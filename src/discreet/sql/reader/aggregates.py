"""SELECT, HAVING and ORDER BY over aggregates: which aggregates are asked for, and what is shown of them."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Final, Literal, cast

from sqlglot import exp

from discreet.catalogue import say
from discreet.errors import QueryRefused
from discreet.sql.algebra import Field, Identity, Measure, Rows, Units
from discreet.sql.outputs import Arithmetic, Constant, Magnitude, Output, Pick, fixed_value
from discreet.sql.reader.from_clause import is_aggregate
from discreet.sql.reader.measures import SPREADS, Measures
from discreet.sql.reader.parsing import literal, only, refuse
from discreet.sql.reader.scopes import Scope, call_name
from discreet.sql.reader.typed_values import Typed, ValueSort, require_number
from discreet.sql.sensitivity import TRIMMED_ONLY
from discreet.sql.statement import WrittenAggregate, WrittenCount

__all__ = ["Aggregates", "default_name", "takes_variance"]

_SIGNS: Final[Mapping[type[exp.Expression], str]] = {exp.Add: "+", exp.Sub: "-", exp.Mul: "*", exp.Div: "/"}
_OF_NUMBERS: Final = frozenset({*SPREADS, "AVG", "WAVG", "SUM", "MIN", "MAX", "MEDIAN", "QUANTILE", "TRIMMED_AVG"})
_NAMES: Final = {"VARIANCE": "var", "STDDEVSAMP": "stddev"}

Sign = Literal["+", "-", "*", "/"]


def default_name(node: exp.Expression, index: int) -> str:
    """The name of an output without alias: count, sum_height, avg_height, …; column_2 for arithmetic."""
    if not is_aggregate(node):
        return f"column_{index}"
    name = _NAMES.get(call_name(node), call_name(node).lower())
    inner = node.expressions[0] if isinstance(node, exp.Anonymous) and node.expressions else node.this
    if isinstance(inner, exp.Distinct):
        return f"{name}_units"
    return f"{name}_{str(inner.this.this).lower()}" if isinstance(inner, exp.Column) else name


def takes_variance(node: exp.Expression) -> bool:
    """Whether a variance or a standard deviation is anywhere in a statement."""
    return any(
        isinstance(part, exp.Expression) and is_aggregate(part) and call_name(part) in SPREADS for part in node.walk()
    )


class Aggregates:
    """Reads aggregates, and outputs over them, and takes up the measures they need."""

    def __init__(
        self, scope: Scope, measures: Measures, *, admit: frozenset[str], usual: Mapping[Identity, Fraction]
    ) -> None:
        self._scope = scope
        self._measures = measures
        self._admit = admit
        self._usual = usual

    # --- outputs ----------------------------------------------------------------------------------------------------

    def output(self, node: exp.Expression) -> Output:
        """An aggregate, a constant, or arithmetic on them."""
        given = literal(node)
        if given is not None:
            if given.quoted or given.number is None:
                raise QueryRefused(
                    say("an output is an aggregate, a key, or arithmetic on aggregates; received a text.")
                )
            return Constant(given.number)
        if is_aggregate(node):
            return self._aggregate(node)
        match node:
            case exp.Paren():
                only(node, "this")
                return self.output(node.this)
            case exp.Neg():
                return Arithmetic("-", Constant(Fraction(0)), self.output(node.this))
            case exp.Add() | exp.Sub() | exp.Mul() | exp.Div():
                only(node, "this", "expression", "typed", "safe")
                sign = cast(Sign, _SIGNS[type(node)])
                left, right = self.output(node.this), self.output(node.expression)
                if sign == "/" and fixed_value(right) == 0:
                    raise QueryRefused(say("the statement divides by 0."))
                return Arithmetic(sign, left, right)
            case exp.Abs():
                only(node, "this")
                return Magnitude(self.output(node.this))
            case exp.Least() | exp.Greatest():
                only(node, "this", "expressions", "ignore_nulls")
                parts = tuple(self.output(part) for part in (node.this, *node.expressions))
                return Pick(isinstance(node, exp.Least), parts)
            case exp.Column():
                name = self._scope.column(node).text
                raise QueryRefused(
                    say("'{name}' is selected but not in GROUP BY; single rows are never shown.", name=name)
                )
        raise refuse(node, say("an output"))

    def _aggregate(self, node: exp.Expression) -> Output:
        name, text = call_name(node), node.sql()
        if isinstance(node, exp.Count):
            return self.count(self._count(node), text)
        if name not in _OF_NUMBERS:
            raise refuse(node, say("an output"))
        share = self._share(node)
        return self.take(name, self._argument(node), text, share)

    def _share(self, node: exp.Expression) -> Fraction | None:
        """The rank of a quantile, or what a trimmed mean leaves out at each end."""
        name = call_name(node)
        if name == "QUANTILE":
            given, most, example = literal(node.args["quantile"]), Fraction(1), "QUANTILE(age, 0.9)"
        elif name == "TRIMMED_AVG":
            if "smooth" not in self._admit:
                raise QueryRefused(str(TRIMMED_ONLY), part="TRIMMED_AVG")
            given = literal(node.expressions[1]) if len(node.expressions) == 2 else None
            most, example = Fraction(1, 2), "TRIMMED_AVG(age, 0.1)"
        else:
            return None
        share = given.number if given is not None and not given.quoted else None
        if share is None or not 0 < share < most:
            raise QueryRefused(
                say(
                    "{name} takes a share between 0 and {most:g}, as in {example}.",
                    name=name,
                    most=float(most),
                    example=example,
                )
            )
        return share

    def _argument(self, node: exp.Expression) -> Typed:
        """The number that an aggregate takes."""
        name = call_name(node)
        if isinstance(node, exp.Anonymous):
            if len(node.expressions) != 1 + (name == "TRIMMED_AVG"):
                raise QueryRefused(say("{name} takes one expression.", name=name))
            inner = node.expressions[0]
        else:
            only(node, "this", "quantile")
            inner = node.this
        if isinstance(inner, exp.Distinct):
            raise QueryRefused(
                say("DISTINCT is answered for the unit alone, as COUNT(DISTINCT person_id)."), part="DISTINCT"
            )
        if any(is_aggregate(part) for part in inner.walk()):
            raise QueryRefused(say("an aggregate cannot stand inside another."))
        return self._scope.value(inner)

    # --- aggregates -------------------------------------------------------------------------------------------------

    def count(self, counted: Measure, text: str) -> Output:
        """A count of rows or units."""
        return self._measures.take(WrittenCount(counted, text))

    def take(self, name: str, value: Typed, text: str, share: Fraction | None = None) -> Output:
        """The aggregate of that name of a number; `share` is the rank of a quantile, the cut of a trimmed mean."""
        written = require_number(value, name)
        if written.sort is ValueSort.NOTHING:
            raise QueryRefused(say("{name}(NULL) is always NULL.", name=name))
        weight = self._weight() if name == "WAVG" else None
        usual = self._usual.get(written.value.column) if isinstance(written.value, Field) else None
        return self._measures.take(WrittenAggregate(name, text, written, share, weight, usual))

    def _count(self, node: exp.Expression) -> Measure:
        only(node, "this", "big_int")
        inner = node.this
        if isinstance(inner, exp.Star):
            return Rows(None)
        if isinstance(inner, exp.Distinct):
            only(inner, "expressions")
            if len(inner.expressions) == 1 and self._scope.value(inner.expressions[0]).sort is ValueSort.UNIT:
                return Units()
            raise QueryRefused(
                say(
                    "COUNT(DISTINCT …) is answered for the unit alone: how many values a column takes is decided by "
                    "rare rows. GROUP BY the column instead."
                ),
                part="DISTINCT",
            )
        return Rows(self._scope.counted(inner))

    def _weight(self) -> Typed:
        weights = {weight.value: weight for table in self._scope.tables for weight in table.weights}
        if len(weights) != 1:
            raise QueryRefused(
                say(
                    "WAVG needs the survey weight, and several tables here have a weight. Write SUM(w * x) / SUM(w) "
                    "instead."
                )
                if weights
                else say(
                    "WAVG needs the survey weight, and no table here has a weight in its card. Write SUM(w * x) / "
                    "SUM(w) instead."
                )
            )
        return next(iter(weights.values()))
