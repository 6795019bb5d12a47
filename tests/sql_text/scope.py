"""What a place of a statement can name, and random expressions over it that are likely to be answered."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from random import Random
from typing import Final, Literal

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
    Either,
    Expr,
    FirstOf,
    Negated,
    Pick,
    Searched,
    Simple,
)
from tests.sql_text.names import needs_quotes, quoted
from tests.sql_text.populations import TEXTS

__all__ = ["Expressions", "Number", "Visible", "visible_number"]

Sort = Literal["number", "category", "text", "unit"]
WIDEST: Final = 2**50
SIGNS: Final = ("=", "<>", "<", "<=", ">", ">=")


@dataclass(frozen=True, slots=True)
class Visible:
    """A column that a statement can name here. `table` is the text of its table's name, None where it has none."""

    mark: int
    name: str
    table: str | None
    sort: Sort
    low: Fraction = Fraction(0)
    high: Fraction = Fraction(0)
    step: Fraction = Fraction(1)
    codes: tuple[str, ...] = ()
    bounded: bool = True
    public: bool = False
    fine: bool = False
    weight: bool = False
    hostile: bool = False

    @property
    def values(self) -> int:
        """How many different values it can have; for keys."""
        return len(self.codes) if self.sort == "category" else int((self.high - self.low) / self.step) + 1


@dataclass(frozen=True, slots=True)
class Number:
    """A number as an expression: between which values it lies, and on which grid."""

    expr: Expr
    low: Fraction
    high: Fraction
    step: Fraction
    bounded: bool

    @property
    def reach(self) -> Fraction:
        return max(abs(self.low), abs(self.high)) / self.step


def visible_number(number: Number, mark: int, name: str, table: str | None) -> Visible:
    """An expression of a derived table as a column of it."""
    return Visible(mark, name, table, "number", number.low, number.high, number.step, bounded=number.bounded)


class Expressions:
    """Draws expressions for one statement and notes the constants and operators that it used."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.constants: set[Fraction] = set()
        self.texts: set[str] = set()
        self.operators: set[str] = set()

    def chance(self, share: float) -> bool:
        return self.random.random() < share

    def used(self, *operators: str) -> None:
        self.operators.update(operators)

    # --- names --------------------------------------------------------------------------------------------------

    def usable(self, scope: Sequence[Visible], *sorts: Sort) -> list[Visible]:
        """The columns that can be named without doubt."""
        return [one for one in scope if one.sort in sorts and (one.table is not None or not _twins(one, scope))]

    def ref(self, one: Visible, scope: Sequence[Visible], *, qualified: bool | None = None) -> Col:
        """A column by its name, with its table where others have the same name; now and then elsewhere."""
        must = _twins(one, scope) if qualified is None else qualified
        name = self.name(one.name)
        if one.table is not None and (must or (qualified is None and self.chance(0.35))):
            return Col(one.mark, f"{one.table}.{name}")
        return Col(one.mark, name)

    def name(self, name: str) -> str:
        if needs_quotes(name) or self.chance(0.2):
            return quoted(name)
        return self.random.choice((name, name, name.upper()))

    def preferred(self, among: Sequence[Visible]) -> Visible:
        """One of them, rather one with a hostile name."""
        hostile = [one for one in among if one.hostile]
        return self.random.choice(hostile if hostile and self.chance(0.6) else among)

    # --- constants ------------------------------------------------------------------------------------------------

    def constant(self, number: Number | Visible) -> Fraction:
        """A constant near what the number can be: its ends, zero, something between, beside the grid."""
        low, high, step = number.low, number.high, number.step
        middle = low + int((high - low) / step / 2) * step
        beside = middle + step / 2 if step.denominator < 1000 else middle
        drawn = self.random.choice((low, high, middle, Fraction(0), low + step, high - step, beside, Fraction(1)))
        if drawn.denominator > 1000 or abs(drawn) > 10**9:
            drawn = Fraction(self.random.choice((0, 5, 1000)))
        drawn = Fraction(int(drawn * 1000), 1000)
        self.constants.add(drawn)
        return drawn

    def factor(self) -> Fraction:
        return self.random.choice((Fraction(2), Fraction(3), Fraction(-1), Fraction(1, 2), Fraction(-5), Fraction(4)))

    # --- numbers --------------------------------------------------------------------------------------------------

    def column(self, scope: Sequence[Visible], *, bounded: bool) -> Number | None:
        found = [one for one in self.usable(scope, "number") if one.bounded or not bounded]
        if not found:
            return None
        one = self.preferred(found)
        return Number(self.ref(one, scope), one.low, one.high, one.step, one.bounded)

    def number(self, scope: Sequence[Visible], depth: int, *, bounded: bool) -> Number | None:
        """A number over the columns; None where there is no column to start from."""
        base = self.column(scope, bounded=bounded and not self.chance(0.1))
        if base is None:
            return None
        made = base
        for _ in range(self.random.choice((0, 0, 1, 1, 2)) if depth else 0):
            made = self._step(made, scope, depth - 1)
        if bounded and not made.bounded:
            made = self._clamped(made)
        return made

    def _step(self, base: Number, scope: Sequence[Visible], depth: int) -> Number:
        sort = self.random.randrange(10)
        if sort < 2:
            return self._shifted(base)
        if sort < 4:
            return self._scaled(base)
        if sort == 4:
            return self._combined(base, scope)
        if sort == 5:
            return self._absolute(base)
        if sort == 6:
            return self._picked(base, scope)
        if sort == 7:
            return self._coalesced(base, scope)
        if sort == 8:
            return self._clamped(base)
        return self._cased(base, scope, depth)

    def _shifted(self, base: Number) -> Number:
        by = self.constant(base)
        sign: Literal["+", "-"] = "+" if self.chance(0.5) else "-"
        self.used(sign)
        amount = by if sign == "+" else -by
        step = _common(base.step, by)
        if self.chance(0.2):
            expr: Expr = Arith(sign, Const(by), base.expr)
            low, high = (by + base.low, by + base.high) if sign == "+" else (by - base.high, by - base.low)
            return replace(base, expr=expr, low=low, high=high, step=step)
        expr = Arith(sign, base.expr, Const(by))
        return replace(base, expr=expr, low=base.low + amount, high=base.high + amount, step=step)

    def _scaled(self, base: Number) -> Number:
        by = self.factor()
        self.constants.add(by)
        if self.chance(0.4):
            self.used("/")
            expr: Expr = Arith("/", base.expr, Const(by))
            by = 1 / by
        else:
            self.used("*")
            expr = Arith("*", *self._either_way(base.expr, Const(by)))
        ends = sorted((base.low * by, base.high * by))
        return replace(base, expr=expr, low=ends[0], high=ends[1], step=base.step * abs(by))

    def _either_way(self, one: Expr, other: Expr) -> tuple[Expr, Expr]:
        return (one, other) if self.chance(0.5) else (other, one)

    def _combined(self, base: Number, scope: Sequence[Visible]) -> Number:
        """Two columns added, subtracted or multiplied."""
        other = self.column(scope, bounded=base.bounded)
        if other is None or base.reach * other.reach > WIDEST:
            return self._shifted(base)
        sign: Literal["+", "-", "*"] = self.random.choice(("+", "-", "*"))
        self.used(sign, "columns combined")
        bounded = base.bounded and other.bounded
        expr = Arith(sign, base.expr, other.expr)
        if sign == "*":
            corners = [one * two for one in (base.low, base.high) for two in (other.low, other.high)]
            return Number(expr, min(corners), max(corners), base.step * other.step, bounded)
        step = _common(base.step, other.step)
        if sign == "+":
            return Number(expr, base.low + other.low, base.high + other.high, step, bounded)
        return Number(expr, base.low - other.high, base.high - other.low, step, bounded)

    def _absolute(self, base: Number) -> Number:
        self.used("ABS")
        return replace(base, expr=Abs(base.expr), low=Fraction(0), high=max(abs(base.low), abs(base.high)))

    def _picked(self, base: Number, scope: Sequence[Visible]) -> Number:
        least = self.chance(0.5)
        self.used("LEAST" if least else "GREATEST")
        return self._hull(base, scope, lambda parts: Pick(least, parts))

    def _coalesced(self, base: Number, scope: Sequence[Visible]) -> Number:
        self.used("COALESCE")
        return self._hull(base, scope, FirstOf)

    def _hull(self, base: Number, scope: Sequence[Visible], make: object) -> Number:
        """A choice between the number and a constant or another column."""
        assert callable(make)
        other = self.column(scope, bounded=base.bounded) if self.chance(0.5) else None
        if other is None:
            by = self.constant(base)
            other = Number(Const(by), by, by, _common(base.step, by), True)
        parts = self._either_way(base.expr, other.expr) if self.chance(0.3) else (base.expr, other.expr)
        made: Expr = make(parts)
        step = _common(base.step, other.step)
        bounded = base.bounded and other.bounded
        return Number(made, min(base.low, other.low), max(base.high, other.high), step, bounded)

    def _clamped(self, base: Number) -> Number:
        self.used("CLAMP")
        low, high = sorted((self.constant(base), self.constant(base)))
        if low == high:
            high += 1
        step = _common(_common(base.step, low), high)
        return Number(Clamped(base.expr, low, high), low, high, step, True)

    def _cased(self, base: Number, scope: Sequence[Visible], depth: int) -> Number:
        by = self.constant(base)
        otherwise = Const(by) if self.chance(0.6) else None
        step = _common(base.step, by)
        low, high = min(base.low, by), max(base.high, by)
        cats = self.usable(scope, "category")
        if cats and self.chance(0.4):
            self.used("simple CASE")
            one = self.preferred(cats)
            expr: Expr = Simple(self.ref(one, scope), ((self.code(one), base.expr),), otherwise)
        else:
            condition = self.condition(scope, depth)
            if condition is None:
                return base
            self.used("CASE")
            expr = Searched(((condition, base.expr),), otherwise)
        return Number(expr, low, high, step, base.bounded)

    # --- categories -----------------------------------------------------------------------------------------------

    def code(self, one: Visible) -> Code:
        """A code of a category; numbers now and then without quotes."""
        code = self.random.choice(one.codes)
        return Code(code, bare=code.isdigit() and not code.startswith("0") and self.chance(0.5))

    def category(self, scope: Sequence[Visible], depth: int) -> tuple[Expr, tuple[str, ...]] | None:
        """A CASE whose results are texts, and its codes in the order in which they are written."""
        words = self.random.sample(("big", "small", "24", "10", "flu"), 3)
        otherwise = Code(words[1]) if self.chance(0.7) else None
        cats = self.usable(scope, "category")
        if cats and self.chance(0.5):
            self.used("simple CASE")
            one = self.preferred(cats)
            chosen = {code.code: code for code in (self.code(one), self.code(one))}
            branches = tuple(
                (code, Code(word)) for code, word in zip(chosen.values(), (words[0], words[2]), strict=False)
            )
            codes = [word.code for _, word in branches]
            return Simple(self.ref(one, scope), branches, otherwise), _listed(codes, otherwise)
        condition = self.condition(scope, depth)
        if condition is None:
            return None
        self.used("CASE")
        return Searched(((condition, Code(words[0])),), otherwise), _listed([words[0]], otherwise)

    # --- conditions -------------------------------------------------------------------------------------------------

    def condition(self, scope: Sequence[Visible], depth: int) -> Condition | None:
        """A condition over the columns; None where there is none to ask about."""
        if depth > 0 and self.chance(0.3):
            one, two = self.condition(scope, depth - 1), self.condition(scope, depth - 1)
            if one is None or two is None:
                return None
            conjunction = self.chance(0.5)
            self.used("AND" if conjunction else "OR")
            return Both((one, two)) if conjunction else Either((one, two))
        if depth > 0 and self.chance(0.12):
            inner = self.condition(scope, depth - 1)
            self.used("NOT")
            return None if inner is None else Negated(inner)
        return self._simple_condition(scope, depth)

    def _simple_condition(self, scope: Sequence[Visible], depth: int) -> Condition | None:
        found = self.usable(scope, "number", "category", "text")
        if not found:
            return None
        one = self.preferred(found)
        if self.chance(0.08):
            self.used("IS NULL")
            return Absent(self.ref(one, scope), self.chance(0.5))
        if one.sort == "text":
            return self._about_text(one, scope)
        if one.sort == "category":
            return self._about_category(one, scope)
        return self._about_number(one, scope, depth)

    def _about_text(self, one: Visible, scope: Sequence[Visible]) -> Condition:
        self.used("text")
        words = tuple(self.random.sample(TEXTS, 2))
        self.texts.update(words)
        if self.chance(0.5):
            self.used("IN")
            return Among(self.ref(one, scope), tuple(map(Code, words)), self.chance(0.4))
        return Compare(self.random.choice(("=", "<>")), self.ref(one, scope), Code(words[0]))

    def _about_category(self, one: Visible, scope: Sequence[Visible]) -> Condition:
        col = self.ref(one, scope)
        sort = self.random.random()
        if sort < 0.3:
            self.used("IN")
            return Among(col, tuple({self.code(one), self.code(one)}), self.chance(0.4))
        if sort < 0.75 and all(code.isdigit() for code in one.codes):
            self.used("codes compared")
            bound = Fraction(self.random.choice(one.codes))
            return CodeOrder(self.random.choice(("<", "<=", ">", ">=")), col, bound)
        self.used("comparison")
        return Compare(self.random.choice(("=", "=", "<>")), *self._mirrored(col, self.code(one)))

    def _mirrored(self, col: Expr, constant: Expr) -> tuple[Expr, Expr]:
        return (col, constant) if self.chance(0.85) else (constant, col)

    def _about_number(self, one: Visible, scope: Sequence[Visible], depth: int) -> Condition:
        number = Number(self.ref(one, scope), one.low, one.high, one.step, one.bounded)
        if depth > 0 and self.chance(0.25):
            number = self._step(number, scope, depth - 1)
        sort = self.random.random()
        if sort < 0.15:
            self.used("IN")
            listed = tuple(Const(value) for value in {self.constant(number), self.constant(number)})
            return Among(number.expr, listed, self.chance(0.4))
        if sort < 0.3:
            self.used("BETWEEN")
            low, high = sorted((self.constant(number), self.constant(number)))
            return Between(number.expr, low, high)
        sign = self.random.choice(SIGNS)
        other = self.column(scope, bounded=False) if sort < 0.5 else None
        if other is not None:
            self.used("columns compared")
            return Compare(sign, number.expr, other.expr)
        self.used("comparison")
        return Compare(sign, *self._mirrored(number.expr, Const(self.constant(number))))


def _twins(one: Visible, scope: Sequence[Visible]) -> bool:
    return sum(other.name == one.name for other in scope) > 1


def _listed(codes: list[str], otherwise: Code | None) -> tuple[str, ...]:
    return tuple(dict.fromkeys([*codes, *([] if otherwise is None else [otherwise.code])]))


def _common(step: Fraction, other: Fraction) -> Fraction:
    """A grid on which both lie."""
    from math import gcd, lcm

    if other == 0:
        return step
    below = lcm(step.denominator, other.denominator)
    return Fraction(gcd(int(step * below), int(abs(other) * below)), below)
