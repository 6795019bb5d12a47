"""The columns of a card: kinds, labels, categories, bounds on a grid, and the rule of the weight."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import Final

from discreet.catalogue import say
from discreet.guarantees import text
from discreet.results import Labels

__all__ = [
    "FITTING",
    "LARGEST_UNITS",
    "NAME_PATTERN",
    "CardFault",
    "Category",
    "Column",
    "ColumnKind",
    "Labels",
    "PublicTotals",
    "WeightRule",
    "as_written",
    "canonical_code",
    "edge_fault",
    "fine_step",
    "is_reserved",
    "is_well_named",
]

# Sums of 10^9 rows then stay far inside 128 bits on every engine, single values inside a float's integers.
LARGEST_UNITS: Final = 10**15

_FINE: Final = 10**6
_MOST_PLACES: Final = 9
NAME_PATTERN: Final = "[A-Za-z_][A-Za-z0-9_]{0,62}"
_NAME: Final = re.compile(NAME_PATTERN, re.ASCII)
_RESERVED: Final = "ord"
_RESERVED_PREFIX: Final = "_discreet"
_WHOLE: Final = re.compile(r"\+?(-?\d+)(?:\.0*)?", re.ASCII)
_STORAGE: Final = ((8, "int8"), (16, "int16"), (32, "int32"), (64, "int64"))


class CardFault(ValueError):
    """Rules that a part of the card breaks, each with the key at fault."""

    def __init__(self, problems: Iterable[tuple[str, str]]) -> None:
        self.problems = tuple(problems)
        super().__init__("; ".join(problem for _, problem in self.problems))


class ColumnKind(StrEnum):
    """What a column holds."""

    ID = "id"
    CATEGORY = "category"
    INTEGER = "integer"
    NUMBER = "number"
    TEXT = "text"


@dataclass(frozen=True, slots=True)
class Category:
    """One code of a closed list, as text, and its label."""

    code: str
    label: Labels


def canonical_code(value: str) -> str:
    """The form in which codes are compared: '10', '+10' and '10.0' are one code, '010' is another."""
    whole = _WHOLE.fullmatch(value)
    return whole.group(1) if whole else value


def as_written(amount: Decimal) -> str:
    """A number as a card has it, whatever the language of the message: with a point, as it is to be typed."""
    return str(text(amount))


def is_well_named(name: str) -> bool:
    """Whether a column may have this name: letters, digits and underscores, at most 63, no digit first."""
    return _NAME.fullmatch(name) is not None


def is_reserved(name: str) -> bool:
    """Whether a name is kept for Discreet's own columns."""
    return name.lower() == _RESERVED or name.lower().startswith(_RESERVED_PREFIX)


def fine_step(low: Decimal, high: Decimal) -> Decimal:
    """The grid of a number whose card names none: a power of ten that suits both bounds, a million steps or more.

    It follows from the bounds alone, so it says nothing about the rows; no finer than the nine decimals of a card.
    """
    places = max(0, *(-int(bound.normalize().as_tuple().exponent) for bound in (low, high)))
    while places < _MOST_PLACES and (high - low).scaleb(places) < _FINE:
        places += 1
    return Decimal(1).scaleb(-places)


@dataclass(frozen=True, slots=True)
class Column:
    """One column. Numbers live on the grid of `step`: what is stored and summed are whole steps.

    `private_bounds`: each question finds the bounds for itself, and pays for it. `public_presence`: which rows have a
    value is no secret. `complete`: every row should have one, so no key is listed for those without; nothing else is
    concluded from it. `references`: the dataset and column that this one's values point at. `typical`: a usual value,
    known from elsewhere, about which means are centred. `precision`: the half-width that readers of a mean need.
    """

    name: str
    kind: ColumnKind
    label: Labels
    source: str = ""
    type: str | None = None
    public: bool = False
    categories: tuple[Category, ...] = ()
    bounds: tuple[Decimal, Decimal] | None = None
    step: Decimal | None = None
    missing: tuple[str, ...] = ()
    from_rows: bool = False
    edges: tuple[Decimal, ...] = ()
    private_bounds: bool = False
    public_presence: bool = False
    complete: bool = False
    references: tuple[str, str] | None = None
    typical: Decimal | None = None
    precision: Decimal | None = None

    def __post_init__(self) -> None:
        if self.kind is ColumnKind.INTEGER and self.step is None:
            object.__setattr__(self, "step", Decimal(1))
        if self.kind is ColumnKind.NUMBER and self.step is None and self.bounds is not None:
            object.__setattr__(self, "step", fine_step(*self.bounds))
        if not self.source:
            object.__setattr__(self, "source", self.name)
        problems = list(_column_problems(self))
        if problems:
            raise CardFault(problems)

    @property
    def numeric(self) -> bool:
        return self.kind in {ColumnKind.INTEGER, ColumnKind.NUMBER}

    @property
    def low_units(self) -> int:
        """The lower bound in steps."""
        return self._units(0)

    @property
    def high_units(self) -> int:
        """The upper bound in steps."""
        return self._units(1)

    @property
    def storage(self) -> str:
        """The smallest signed integer type that holds every prepared value, or 'text'."""
        if self.kind is ColumnKind.TEXT or self.type == "text":
            return "text"
        if self.kind is ColumnKind.ID:
            return "int64"
        if self.kind is ColumnKind.CATEGORY:
            return _smallest(0, len(self.categories) - 1)
        return _smallest(self.low_units, self.high_units)

    def in_steps(self, amount: Decimal) -> int:
        """An amount in whole steps of the column, cut towards 0."""
        return _in_steps(amount, self.step or Decimal(1))

    def position(self, code: str) -> int | None:
        """Where a code stands in the list, counted from 0, or None."""
        wanted = canonical_code(code)
        codes = (canonical_code(category.code) for category in self.categories)
        return next((index for index, code in enumerate(codes) if code == wanted), None)

    def _units(self, side: int) -> int:
        if self.step is None:
            raise ValueError(f"column '{self.name}' has no grid")
        if self.bounds is None:
            widest = min(LARGEST_UNITS, _in_steps(Decimal(LARGEST_UNITS), self.step))
            return -widest if side == 0 else widest
        return _in_steps(self.bounds[side], self.step)


@lru_cache(maxsize=4096)
def _in_steps(amount: Decimal, step: Decimal) -> int:
    """Every question asks for the bounds of every column, often."""
    return int(Fraction(amount) / Fraction(step))


@dataclass(frozen=True, slots=True)
class WeightRule:
    """The survey weight and how far one row's may reach: one cap, or one per category of a public column."""

    column: str
    cap: Decimal | None = None
    by: str | None = None
    caps: tuple[tuple[str, Decimal], ...] = ()

    def __post_init__(self) -> None:
        if (self.cap is None) == (self.by is None) or (self.by is None) != (not self.caps):
            raise CardFault([("weight.cap", say("a weight has one cap, or caps by a column"))])
        if any(cap <= 0 for cap in self.every_cap):
            raise CardFault([("weight.cap", say("a cap must be positive"))])

    @property
    def every_cap(self) -> tuple[Decimal, ...]:
        return (self.cap,) if self.cap is not None else tuple(cap for _, cap in self.caps)

    @property
    def largest(self) -> Decimal:
        """The cap that holds for every row: the sensitivity wherever the plan does not fix the category."""
        return max(self.every_cap)

    def cap_for(self, code: str | None) -> Decimal:
        """The cap of a category; rows without one fall under the largest."""
        if self.by is None or code is None:
            return self.largest
        return dict(self.caps)[code]


@dataclass(frozen=True, slots=True)
class PublicTotals:
    """What the weights of everybody add up to, by a public column or in all, as published elsewhere (`source`)."""

    source: Labels
    by: str | None = None
    values: tuple[tuple[str, Decimal], ...] = ()
    whole: Decimal | None = None

    def __post_init__(self) -> None:
        if (self.by is None) == (self.whole is None) or (self.by is None) == bool(self.values):
            raise CardFault([("values", say("totals must be one number, or numbers by a column"))])
        if any(total < 0 for total in self.every_total) or not self.total:
            raise CardFault([("values", say("totals must be 0 or more, and not all of them 0"))])

    @property
    def every_total(self) -> tuple[Decimal, ...]:
        return tuple(total for _, total in self.values) if self.whole is None else (self.whole,)

    @property
    def total(self) -> Decimal:
        """The grand total."""
        return sum(self.every_total, Decimal(0))


def edge_fault(column: Column, edges: Sequence[Decimal]) -> str | None:
    """What is wrong with the edges of a column's bands, or None: they rise, lie on its grid and span its bounds."""
    if column.bounds is None or column.step is None:
        return say("need bounds in the card")
    if len(edges) < 2 or any(left >= right for left, right in pairwise(edges)):
        return say("must be two or more numbers in increasing order")
    if any(Fraction(edge) % Fraction(column.step) for edge in edges):
        return say("must be multiples of its step {step}", step=as_written(column.step))
    low, high = column.bounds
    if edges[0] > low or edges[-1] < high:
        bounds = {"low": as_written(low), "high": as_written(high)}
        return say("must begin at or below {low} and end at or above {high}, its bounds", **bounds)
    if edges[1] <= low or edges[-2] > high:
        return say("must leave no band outside its bounds")
    return None


def _smallest(low: int, high: int) -> str:
    return next(name for bits, name in _STORAGE if -(2 ** (bits - 1)) <= low and high < 2 ** (bits - 1))


_BOUNDED: Final = ("bounds", "edges", "provenance", "presence", "complete", "typical", "precision")

# Which keys go with which kind; `label`, `source` and `missing` go with all.
FITTING: Final = {
    ColumnKind.ID: frozenset({"type"}),
    ColumnKind.CATEGORY: frozenset({"public", "categories", "provenance", "presence", "complete", "references"}),
    ColumnKind.INTEGER: frozenset({"public", "step", "references", *_BOUNDED}),
    ColumnKind.NUMBER: frozenset({"step", *_BOUNDED}),
    ColumnKind.TEXT: frozenset({"complete", "references"}),
}


def _column_problems(column: Column) -> Iterator[tuple[str, str]]:
    name = column.name
    if not is_well_named(name):
        yield (
            "",
            say("column name '{name}' must be letters, digits and underscores, at most 63, no digit first", name=name),
        )
    if is_reserved(name):
        yield (
            "",
            say("column name '{name}' is reserved; rename it and give the file's name as source: {name}", name=name),
        )
    given = {
        "type": column.type is not None,
        "public": column.public,
        "categories": bool(column.categories),
        "bounds": column.bounds is not None or column.private_bounds,
        "step": column.step is not None,
        "edges": bool(column.edges),
        "provenance": column.from_rows,
        "presence": column.public_presence,
        "complete": column.complete,
        "references": column.references is not None,
        "typical": column.typical is not None,
        "precision": column.precision is not None,
    }
    for key in (key for key, present in given.items() if present and key not in FITTING[column.kind]):
        yield key, say("'{key}' does not go with kind {kind} (column '{name}')", key=key, kind=column.kind, name=name)
    if column.from_rows and not column.categories and column.bounds is None:
        yield "provenance", say("provenance of column '{name}' needs bounds or categories", name=name)
    if column.kind is ColumnKind.ID and column.type not in {"integer", "text", "row"}:
        yield "type", say("id column '{name}' needs type: integer, type: text or type: row", name=name)
    if column.type == "row":
        if column.source != name:
            yield (
                "source",
                say("'source' does not go with type row (column '{name}'): rows are numbered as they come", name=name),
            )
        if column.missing:
            yield (
                "missing",
                say("'missing' does not go with type row (column '{name}'): every row has its number", name=name),
            )
    if column.kind is ColumnKind.CATEGORY:
        yield from _category_problems(column)
    if column.numeric:
        yield from _grid_problems(column)


def _category_problems(column: Column) -> Iterator[tuple[str, str]]:
    if not column.categories:
        yield "categories", say("category column '{name}' needs its categories", name=column.name)
    seen: dict[str, str] = {}
    for category in column.categories:
        code = canonical_code(category.code)
        if code in seen:
            yield (
                "categories",
                say(
                    "codes '{one}' and '{other}' of column '{name}' are the same code",
                    one=seen[code],
                    other=category.code,
                    name=column.name,
                ),
            )
        seen.setdefault(code, category.code)
    for code in column.missing:
        if canonical_code(code) in seen:
            yield (
                "missing",
                say("code '{code}' of column '{name}' is both a category and missing", code=code, name=column.name),
            )


def _grid_problems(column: Column) -> Iterator[tuple[str, str]]:
    name, step = column.name, column.step
    if step is None:
        yield "step", say("number column '{name}' needs bounds, or a step such as step: 0.01", name=name)
        return
    if step <= 0:
        yield "step", say("step of column '{name}' must be positive; received {step}", name=name, step=as_written(step))
        return
    if column.precision is not None and column.precision <= 0:
        given = as_written(column.precision)
        yield (
            "precision",
            say("precision of column '{name}' must be positive; received {given}", name=name, given=given),
        )
    if column.typical is not None and column.bounds is None:
        yield "typical", say("typical of column '{name}' needs bounds", name=name)
    if column.kind is ColumnKind.INTEGER and step % 1:
        given = as_written(step)
        yield (
            "step",
            say("step of integer column '{name}' must be a whole number; received {step}", name=name, step=given),
        )
    if column.bounds is None:
        if column.public:
            yield "public", say("public integer column '{name}' needs bounds", name=name)
        if column.edges:
            yield "edges", say("edges of column '{name}' need bounds", name=name)
        return
    low, high = column.bounds
    bounds = f"[{text(low)}, {text(high)}]"
    if low >= high:
        yield (
            "bounds",
            say(
                "bounds of column '{name}' must be [low, high] with low < high; received {bounds}",
                name=name,
                bounds=bounds,
            ),
        )
    if column.typical is not None and not low <= column.typical <= high:
        yield (
            "typical",
            say(
                "typical of column '{name}' must lie within its bounds {bounds}; received {given}",
                name=name,
                bounds=bounds,
                given=as_written(column.typical),
            ),
        )
    if column.edges and (fault := edge_fault(column, column.edges)):
        yield "edges", say("edges of column '{name}' {fault}", name=name, fault=fault)
    for bound in (low, high):
        facts = {"bound": as_written(bound), "name": name}
        if Fraction(bound) % Fraction(step):
            yield "bounds", say("bound {bound} of column '{name}' is not a multiple of its step", **facts)
        elif abs(Fraction(bound) / Fraction(step)) > LARGEST_UNITS:
            yield "bounds", say("bound {bound} of column '{name}' is more than 10^15 steps from 0", **facts)
