"""A statement as the fuzz means it: columns are numbers nobody can name, and every node knows how it reads in SQL.

A column has a mark, unique within its statement; its name is only the text by which SQL refers to it. So whatever names
do to the planner, what a statement means here cannot change.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

__all__ = [
    "Abs",
    "Absent",
    "Aggregate",
    "Among",
    "Arith",
    "Between",
    "Both",
    "Clamped",
    "Code",
    "CodeOrder",
    "Col",
    "Compare",
    "Condition",
    "Const",
    "Derived",
    "Either",
    "Expr",
    "Filtered",
    "FirstOf",
    "Joined",
    "Leaf",
    "LookedUp",
    "Negated",
    "OutAbs",
    "OutArith",
    "OutConst",
    "OutPick",
    "Output",
    "PerUnit",
    "Pick",
    "Question",
    "Relation",
    "Scanned",
    "Searched",
    "ShownKey",
    "Simple",
    "UnitColumn",
    "condition_sql",
    "number_text",
    "output_sql",
    "value_sql",
]

Sign = Literal["+", "-", "*", "/"]

# --- values -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Col:
    """A column, and the words by which this place of the statement calls it."""

    mark: int
    text: str


@dataclass(frozen=True, slots=True)
class Const:
    value: Fraction


@dataclass(frozen=True, slots=True)
class Code:
    """A quoted text: a code of a category, an open text, or the result of a CASE."""

    code: str
    bare: bool = False


@dataclass(frozen=True, slots=True)
class Arith:
    sign: Sign
    left: Expr
    right: Expr


@dataclass(frozen=True, slots=True)
class Abs:
    value: Expr


@dataclass(frozen=True, slots=True)
class Pick:
    least: bool
    values: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class FirstOf:
    """COALESCE."""

    values: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Clamped:
    value: Expr
    low: Fraction
    high: Fraction


@dataclass(frozen=True, slots=True)
class Searched:
    """CASE WHEN condition THEN …; without `otherwise` the rest is NULL."""

    branches: tuple[tuple[Condition, Expr], ...]
    otherwise: Expr | None


@dataclass(frozen=True, slots=True)
class Simple:
    """CASE subject WHEN constant THEN …"""

    subject: Expr
    branches: tuple[tuple[Const | Code, Expr], ...]
    otherwise: Expr | None


Expr = Col | Const | Code | Arith | Abs | Pick | FirstOf | Clamped | Searched | Simple

# --- conditions -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Compare:
    sign: str
    left: Expr
    right: Expr


@dataclass(frozen=True, slots=True)
class CodeOrder:
    """A category whose codes are numbers, compared with one."""

    sign: str
    value: Expr
    bound: Fraction


@dataclass(frozen=True, slots=True)
class Among:
    value: Expr
    listed: tuple[Const | Code, ...]
    negated: bool


@dataclass(frozen=True, slots=True)
class Between:
    value: Expr
    low: Fraction
    high: Fraction


@dataclass(frozen=True, slots=True)
class Absent:
    value: Expr
    negated: bool


@dataclass(frozen=True, slots=True)
class Negated:
    operand: Condition


@dataclass(frozen=True, slots=True)
class Both:
    operands: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class Either:
    operands: tuple[Condition, ...]


Condition = Compare | CodeOrder | Among | Between | Absent | Negated | Both | Either

# --- relations --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Scanned:
    """A dataset: the names of its card's columns, each with its mark."""

    dataset: str
    columns: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class Filtered:
    source: Relation
    where: Condition


@dataclass(frozen=True, slots=True)
class Derived:
    source: Relation
    columns: tuple[tuple[int, Expr], ...]


@dataclass(frozen=True, slots=True)
class UnitColumn:
    """COUNT(*) when `value` is None; `public` is a column that is the same on all rows of a unit."""

    mark: int
    aggregate: Literal["COUNT", "SUM", "MIN", "MAX", "public"]
    value: Expr | None


@dataclass(frozen=True, slots=True)
class PerUnit:
    source: Relation
    columns: tuple[UnitColumn, ...]


@dataclass(frozen=True, slots=True)
class Joined:
    left: Relation
    right: Relation


@dataclass(frozen=True, slots=True)
class LookedUp:
    """Rows with what the public table has for their key; `columns` are names of the table, `own` marks its key."""

    source: Relation
    table: str
    key: Col
    own: int
    columns: tuple[tuple[str, int], ...]


Relation = Scanned | Filtered | Derived | PerUnit | Joined | LookedUp

# --- what is asked ----------------------------------------------------------------------------------------------

Aggregate = Literal["ROWS", "COUNT", "UNITS", "SUM", "AVG", "WAVG", "VAR", "STDDEV", "MEDIAN", "QUANTILE", "MIN", "MAX"]


@dataclass(frozen=True, slots=True)
class Leaf:
    """One aggregate; `words` is the function as written, `unit` the text of the unit's column for COUNT(DISTINCT …)."""

    aggregate: Aggregate
    value: Expr | None
    words: str
    weight: Col | None = None
    rank: Fraction | None = None
    unit: str = ""


@dataclass(frozen=True, slots=True)
class OutConst:
    value: Fraction


@dataclass(frozen=True, slots=True)
class OutArith:
    sign: Sign
    left: Output
    right: Output


@dataclass(frozen=True, slots=True)
class OutAbs:
    value: Output


@dataclass(frozen=True, slots=True)
class OutPick:
    least: bool
    values: tuple[Output, ...]


Output = Leaf | OutConst | OutArith | OutAbs | OutPick


@dataclass(frozen=True, slots=True)
class ShownKey:
    """The key at this place among the columns of SELECT."""

    place: int


@dataclass(frozen=True, slots=True)
class Question:
    """A statement: its text, what it means, and what the fuzz wants to know of it.

    `having` and `order` are the outputs that HAVING compares and ORDER BY sorts by, in the order written. `wild` says
    that some name is none that a product may be asked to accept: it holds more than letters, digits and underscores.
    `theme` is what its names are out for (`names.Namer`).
    """

    seed: int
    population: int
    sql: str
    relation: Relation
    keys: tuple[Expr, ...]
    columns: tuple[ShownKey | Output, ...]
    having: tuple[Output, ...]
    order: tuple[Output, ...]
    datasets: tuple[str, ...]
    constants: tuple[Fraction, ...]
    texts: tuple[str, ...]
    operators: frozenset[str]
    wild: bool
    theme: str


# --- SQL ------------------------------------------------------------------------------------------------------------


def number_text(value: Fraction) -> str:
    """A constant as a plain decimal; below zero in parentheses, so that no two signs make a comment."""
    negative, value = value < 0, abs(value)
    whole, rest = divmod(value, 1)
    text = str(whole)
    if rest:
        digits = str(int(rest * 10**6)).rjust(6, "0").rstrip("0")
        text = f"{whole}.{digits}"
    return f"(-{text})" if negative else text


def _code_text(code: Code) -> str:
    return code.code if code.bare else "'" + code.code.replace("'", "''") + "'"


def value_sql(expr: Expr) -> str:
    match expr:
        case Col(_, text):
            return text
        case Const(value):
            return number_text(value)
        case Code():
            return _code_text(expr)
        case Arith(sign, left, right):
            return f"({value_sql(left)} {sign} {value_sql(right)})"
        case Abs(value):
            return f"ABS({value_sql(value)})"
        case Pick(least, values):
            return f"{'LEAST' if least else 'GREATEST'}({', '.join(map(value_sql, values))})"
        case FirstOf(values):
            return f"COALESCE({', '.join(map(value_sql, values))})"
        case Clamped(value, low, high):
            return f"CLAMP({value_sql(value)}, {number_text(low)}, {number_text(high)})"
        case Searched(branches, otherwise):
            whens = " ".join(f"WHEN {condition_sql(when)} THEN {value_sql(then)}" for when, then in branches)
            return f"CASE {whens}{_else(otherwise)} END"
        case Simple(subject, cases, otherwise):
            whens = " ".join(f"WHEN {value_sql(when)} THEN {value_sql(then)}" for when, then in cases)
            return f"CASE {value_sql(subject)} {whens}{_else(otherwise)} END"


def _else(otherwise: Expr | None) -> str:
    return "" if otherwise is None else f" ELSE {value_sql(otherwise)}"


def condition_sql(condition: Condition) -> str:
    match condition:
        case Compare(sign, left, right):
            return f"{value_sql(left)} {sign} {value_sql(right)}"
        case CodeOrder(sign, value, bound):
            return f"{value_sql(value)} {sign} {number_text(bound)}"
        case Among(value, listed, negated):
            return f"{value_sql(value)} {'NOT ' if negated else ''}IN ({', '.join(map(value_sql, listed))})"
        case Between(value, low, high):
            return f"{value_sql(value)} BETWEEN {number_text(low)} AND {number_text(high)}"
        case Absent(value, negated):
            return f"{value_sql(value)} IS {'NOT ' if negated else ''}NULL"
        case Negated(operand):
            return f"NOT ({condition_sql(operand)})"
        case Both(operands):
            return " AND ".join(f"({condition_sql(operand)})" for operand in operands)
        case Either(operands):
            return " OR ".join(f"({condition_sql(operand)})" for operand in operands)


def output_sql(output: Output) -> str:
    match output:
        case Leaf("ROWS"):
            return "COUNT(*)"
        case Leaf("UNITS"):
            return f"COUNT(DISTINCT {output.unit})"
        case Leaf("QUANTILE", value, words) if value is not None and output.rank is not None:
            return f"{words}({value_sql(value)}, {number_text(output.rank)})"
        case Leaf(_, value, words) if value is not None:
            return f"{words}({value_sql(value)})"
        case OutConst(value):
            return number_text(value)
        case OutArith(sign, left, right):
            return f"({output_sql(left)} {sign} {output_sql(right)})"
        case OutAbs(value):
            return f"ABS({output_sql(value)})"
        case OutPick(least, values):
            return f"{'LEAST' if least else 'GREATEST'}({', '.join(map(output_sql, values))})"
    raise AssertionError("every aggregate but these has a value")
