"""Constants of a question, turned into the integers that the prepared data hold.

Categories compare by their code, as number or text; numbers compare exactly, by fractions of the column's step.
"""

from __future__ import annotations

import math
import operator
import re
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from discreet.data.card import Column, Kind
from discreet.errors import QueryRefused, UnknownName
from discreet.plan.nodes import Not, OneOf, Predicate, TextIn, Within

__all__ = ["Constant", "compare", "domain", "one_of"]

_NUMBER: Final = re.compile(r"-?(\d{1,30}(\.\d{0,30})?|\.\d{1,30})([eE][+-]?\d{1,2})?", re.ASCII)
_MOST_KEYS: Final = 1_000_000
_ORDERINGS: Final[Mapping[str, Callable[[Fraction, Fraction], bool]]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


@dataclass(frozen=True, slots=True)
class Constant:
    """A literal as written; `quoted` when it stood in quotation marks."""

    text: str
    quoted: bool

    def number(self, column: Column) -> Fraction:
        if not _NUMBER.fullmatch(self.text.strip()):
            raise QueryRefused(f"'{column.name}' is a number; compare it with one, as in {column.name} > 10.")
        return Fraction(self.text.strip())


def domain(column: Column) -> tuple[int, ...]:
    """Every stored value a key can take, in card order."""
    if column.kind is Kind.CATEGORY:
        return tuple(range(len(column.categories)))
    if column.kind is Kind.INTEGER and column.bounds is not None:
        if column.high_units - column.low_units < _MOST_KEYS:
            return tuple(range(column.low_units, column.high_units + 1))
        raise QueryRefused(f"'{column.name}' can take more than {_MOST_KEYS:,} values; group by a coarser column.")
    need = "has no declared bounds" if column.kind is Kind.INTEGER else f"is of kind {column.kind}"
    raise QueryRefused(
        f"GROUP BY needs a column whose values are listed in the card; '{column.name}' {need}. "
        "Group by a category, or by an integer with bounds."
    )


def one_of(column: Column, constants: list[Constant]) -> Predicate:
    """column IN (constants)."""
    if column.kind is Kind.TEXT:
        return TextIn(column.name, tuple(sorted({_plain(constant) for constant in constants})))
    if column.kind is Kind.CATEGORY:
        return OneOf(column.name, tuple(sorted({_position(column, constant) for constant in constants})))
    units = {constant.number(column) / _step(column) for constant in constants}
    return OneOf(column.name, tuple(sorted(unit.numerator for unit in units if unit.denominator == 1)))


def compare(column: Column, sign: str, constant: Constant) -> Predicate:
    """column <sign> constant."""
    if sign == "=":
        return one_of(column, [constant])
    if sign == "<>":
        return Not(one_of(column, [constant]))
    if column.kind is Kind.TEXT:
        raise QueryRefused(f"'{column.name}' is open text; it can be compared with = and <> only.")
    if column.kind is Kind.CATEGORY:
        return _compare_codes(column, sign, constant)
    return _bounded(column.name, sign, constant.number(column) / _step(column))


def _bounded(name: str, sign: str, bound: Fraction) -> Within:
    match sign:
        case "<":
            return Within(name, None, math.ceil(bound) - 1)
        case "<=":
            return Within(name, None, math.floor(bound))
        case ">":
            return Within(name, math.floor(bound) + 1, None)
        case _:
            return Within(name, math.ceil(bound), None)


def _compare_codes(column: Column, sign: str, constant: Constant) -> OneOf:
    codes = [category.code for category in column.categories]
    if not all(_NUMBER.fullmatch(code) for code in codes):
        raise QueryRefused(f"the codes of '{column.name}' are not all numbers; compare it with =, <> or IN.")
    holds, bound = _ORDERINGS[sign], constant.number(column)
    return OneOf(column.name, tuple(place for place, code in enumerate(codes) if holds(Fraction(code), bound)))


def _position(column: Column, constant: Constant) -> int:
    """The place of a code in the card; 1, '1' and 1.0 name the code 1."""
    wanted = _plain(constant)
    place = column.position(wanted)
    if place is None:
        codes = [category.code for category in column.categories]
        raise UnknownName(sort="code", name=wanted, where=f"the categories of '{column.name}'", known=codes)
    return place


def _plain(constant: Constant) -> str:
    return unicodedata.normalize("NFC", constant.text.strip())


def _step(column: Column) -> Fraction:
    return Fraction(column.step) if column.step is not None else Fraction(1)
