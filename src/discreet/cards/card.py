"""The dataset card: what the custodian declares about a dataset before a row of it is used.

Everything here is public: names, labels, bounds, categories, unit, budget. The types check themselves when
built and say every rule they break, not only the first; `read_card` and `parse_card` make them from YAML.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from functools import cached_property
from typing import Final

from discreet.cards.columns import (
    CardFault,
    Category,
    Column,
    ColumnKind,
    Labels,
    PublicTotals,
    WeightRule,
    as_written,
)
from discreet.catalogue import Phrase, say
from discreet.errors import UnknownName, nearest
from discreet.guarantees import Budget, Neighbours, PopulationTerms, Unit
from discreet.guarantees import text as plain_text
from discreet.paths import AnyPath, as_path
from discreet.present import Listed

__all__ = [
    "ALLOWED_RELEASES",
    "Card",
    "CardFault",
    "Category",
    "Column",
    "ColumnKind",
    "Labels",
    "Membership",
    "PublicTotals",
    "SizeRule",
    "WeightRule",
    "membership_problems",
    "parse_card",
    "presence_problems",
    "read_card",
    "size_problems",
    "totals_problems",
    "unit_problems",
    "weight_problems",
]

ALLOWED_RELEASES: Final = ("bootstrap", "generated")

Problems = Iterator[tuple[str, str]]


class SizeRule(StrEnum):
    """Whether the number of units may be known to all."""

    PRIVATE = "private"
    PUBLIC = "public"


class Membership(StrEnum):
    """Whether it may be known to all who has rows in the dataset."""

    CONFIDENTIAL = "confidential"
    PUBLIC = "public"


class Accounting(StrEnum):
    """What the custodian means to spend: may a table leave less for later pure questions than its epsilon would?"""

    EPSILON = "epsilon"
    RHO = "rho"


@dataclass(frozen=True, repr=False)
class Card(Listed):
    """One dataset as its custodian declares it. `text` is the card as it was written."""

    dataset: str
    title: Labels
    population: str
    unit: Unit
    neighbours: Neighbours
    budget: Budget
    columns: tuple[Column, ...]
    description: Labels | None = None
    size: SizeRule = SizeRule.PRIVATE
    rows_at_most: int | None = None
    membership: Membership = Membership.CONFIDENTIAL
    weight: WeightRule | None = None
    totals: tuple[PublicTotals, ...] = ()
    accounting: Accounting = Accounting.EPSILON
    allow: frozenset[str] = frozenset()
    exact_public: bool = False
    file: str = field(default="", compare=False)
    text: str = field(default="", compare=False, repr=False)

    def __post_init__(self) -> None:
        known = {column.name: column for column in self.columns}
        problems = [
            *unit_problems(self.unit, known),
            *size_problems(self.size, self.neighbours),
            *membership_problems(self.membership, self.size),
            *presence_problems(self.size, known),
        ]
        if self.weight is not None:
            problems += weight_problems(self.weight, known)
        problems += (("totals", text) for _, text in totals_problems(self.totals, self.weight, known))
        if not self.allow <= frozenset(ALLOWED_RELEASES):
            problems.append(("allow", say("allow holds only {names}", names=", ".join(ALLOWED_RELEASES))))
        if len({name.lower() for name in known}) != len(self.columns):
            problems.append(("columns", say("column names must differ, whatever their case")))
        if problems:
            raise CardFault(problems)

    @property
    def rows(self) -> list[dict[str, str | bool | None]]:
        """Its columns: what each is, its label and what it may hold. Never anything from the rows of the data."""
        return [
            {
                "column": item.name,
                "kind": str(item.kind),
                "label": item.label.en,
                "categories": ", ".join(category.code for category in item.categories) or None,
                "bounds": None if item.bounds is None else " to ".join(map(plain_text, item.bounds)),
                "public": item.public,
            }
            for item in self.columns
        ]

    def heading(self) -> str:
        return f"Card of {self.dataset}: {len(self.columns)} columns; population {self.population}; unit {self.unit}"

    @cached_property
    def _by_name(self) -> Mapping[str, Column]:
        return {column.name: column for column in self.columns}

    def column(self, name: str) -> Column:
        """The column of that name, or UnknownName with the nearest one."""
        result = self._by_name.get(name)
        if result is None:
            raise UnknownName(
                sort=Phrase("Column"), name=name, where=Phrase("'{name}'", name=self.dataset), known=self._by_name
            )
        return result

    @property
    def unit_type(self) -> str:
        """How the unit's ids are compared: 'integer' or 'text'; 'row' where every row is its own."""
        return self.column(self.unit.column).type or ""

    def is_weight(self, column: Column) -> bool:
        """Whether a column is the survey weight, or the same weight listed again without its cap."""
        if self.weight is None:
            return False
        return column.name == self.weight.column or column.source == self.column(self.weight.column).source

    @property
    def full_weight(self) -> Column | None:
        """The weight listed again, within its own bounds and without the cap; None where there is none."""
        every = (column for column in self.columns if self.is_weight(column) and column.bounds is not None)
        return next((column for column in every if self.weight and column.name != self.weight.column), None)

    @property
    def cut_by(self) -> str | None:
        """By whose categories it is told what a cap cuts: the column of the caps, else of the totals."""
        by = (self.weight.by if self.weight else None, *(item.by for item in self.totals))
        return next((name for name in by if name is not None), None)

    @property
    def from_rows(self) -> tuple[str, ...]:
        """Columns whose bounds or categories were read from the rows: what uses them is unproven."""
        return tuple(column.name for column in self.columns if column.from_rows)

    def terms(self) -> PopulationTerms:
        """What this card fixes for its population, or must agree with."""
        return PopulationTerms(
            population=self.population,
            budget=self.budget,
            neighbours=self.neighbours,
            unit_column=self.unit.column,
            unit_type=self.unit_type,
        )


def unit_problems(unit: Unit, columns: Mapping[str, Column | None]) -> Problems:
    """The unit is a declared column of kind id. A column that could not be read is known by name only."""
    column = unit.column
    if column not in columns:
        yield "unit.column", _tell_absent(Phrase("unit column '{name}'", name=column), column, columns)
        return
    declared = columns[column]
    if declared is not None and declared.kind is not ColumnKind.ID:
        yield (
            "unit.column",
            say("unit column '{name}' must be of kind id; it is of kind {kind}", name=column, kind=declared.kind),
        )
    if declared is not None and declared.type == "row" and unit.rows != 1:
        yield (
            "unit.rows",
            say("where every row is a unit of its own (type: row of column '{name}'), rows must be 1", name=column),
        )
    for name, other in columns.items():
        if other is not None and other.type == "row" and name != column:
            yield (
                f"columns.{name}.type",
                say("type: row is for the unit's column, '{unit}'; leave out column '{name}'", unit=column, name=name),
            )


def size_problems(size: SizeRule, neighbours: Neighbours) -> Problems:
    """Adding a unit changes the size, so a public size needs neighbours of one size."""
    if size is SizeRule.PUBLIC and neighbours is not Neighbours.REPLACE_ONE:
        yield "size", say("size: public is allowed only with neighbours: replace-one")


def membership_problems(membership: Membership, size: SizeRule) -> Problems:
    """Whoever knows who is there knows how many there are."""
    if membership is Membership.PUBLIC and size is not SizeRule.PUBLIC:
        yield "membership", say("membership: public needs size: public")


def presence_problems(size: SizeRule, columns: Mapping[str, Column | None]) -> Problems:
    """Which rows have a value can be no secret only where which rows there are is none."""
    for name, column in columns.items():
        if column is not None and column.public_presence and size is not SizeRule.PUBLIC:
            problem = say("presence: public of column '{name}' needs size: public", name=name)
            yield f"columns.{name}.presence", problem


def weight_problems(weight: WeightRule, columns: Mapping[str, Column | None]) -> Problems:
    """The weight is a bounded number, caps lie on its grid, caps by column cover every public category."""
    name = weight.column
    if name not in columns:
        yield "weight.column", _tell_absent(Phrase("weight column '{name}'", name=name), name, columns)
    if weight.by is not None:
        yield from _cap_problems(weight, columns)
    declared = columns.get(name)
    if declared is None:
        return
    if declared.kind not in {ColumnKind.INTEGER, ColumnKind.NUMBER} or declared.bounds is None or declared.step is None:
        yield "weight.column", say("weight column '{name}' must be a number or integer with bounds", name=name)
        return
    low, high = declared.bounds
    if low < 0:
        yield "weight.column", say("weight column '{name}' must have bounds from 0 upwards", name=name)
    for cap in weight.every_cap:
        if Fraction(cap) % Fraction(declared.step):
            yield "weight.cap", say("cap {cap} is not a multiple of the weight's step", cap=as_written(cap))
        if cap > high:
            facts = {"cap": as_written(cap), "high": as_written(high)}
            yield "weight.cap", say("cap {cap} is above the weight's upper bound {high}", **facts)


def _cap_problems(weight: WeightRule, columns: Mapping[str, Column | None]) -> Problems:
    by = weight.by or ""
    called = Phrase("cap column '{name}'", name=by)
    yield from _public_column_problems(called, by, columns, at="weight.cap.by")
    yield from _listing_problems(Phrase("caps"), by, [code for code, _ in weight.caps], columns, at="weight.cap.values")


def totals_problems(
    totals: Sequence[PublicTotals], weight: WeightRule | None, columns: Mapping[str, Column | None]
) -> Iterator[tuple[int, str]]:
    """Totals are of a weight, by public categories that are all listed, once each, and agree on the grand total."""
    if totals and weight is None:
        yield 0, say("totals are what the weights of everybody add up to: declare `weight` too")
    seen: set[str | None] = set()
    for index, item in enumerate(totals):
        if item.by in seen:
            by = item.by
            twice = say("totals by '{by}' are given twice", by=by) if by else say("the grand total is given twice")
            yield index, twice
        seen.add(item.by)
        if item.total != totals[0].total:
            yield (
                index,
                say(
                    "totals must agree on the grand total; received {one} and {other}",
                    one=as_written(totals[0].total),
                    other=as_written(item.total),
                ),
            )
        if item.by is not None:
            codes = [code for code, _ in item.values]
            called = Phrase("totals column '{name}'", name=item.by)
            for _, text in _public_column_problems(called, item.by, columns, at=""):
                yield index, text
            for _, text in _listing_problems(Phrase("totals"), item.by, codes, columns, at=""):
                yield index, text


def _public_column_problems(called: Phrase, by: str, columns: Mapping[str, Column | None], *, at: str) -> Problems:
    if by not in columns:
        yield at, _tell_absent(called, by, columns)
        return
    declared = columns[by]
    if declared is not None and (declared.kind is not ColumnKind.CATEGORY or not declared.public):
        yield at, say("{column} must be a public category column", column=called)


def _listing_problems(
    what: Phrase, by: str, given: list[str], columns: Mapping[str, Column | None], *, at: str
) -> Problems:
    """Every category of a public column has its entry, and nothing else has."""
    declared = columns.get(by)
    if declared is None or declared.kind is not ColumnKind.CATEGORY or not declared.public:
        return
    codes = [category.code for category in declared.categories]
    if absent := [code for code in codes if code not in given]:
        yield at, say("{what} are missing for {codes} of '{by}'", what=what, codes=_listed(absent), by=by)
    if unknown := [code for code in given if code not in codes]:
        facts = {"what": what, "codes": _listed(unknown), "by": by}
        yield at, say("{what} are given for {codes}, not among the categories of '{by}'", **facts)


def _tell_absent(column: Phrase, name: str, columns: Iterable[str]) -> str:
    guess = nearest(name, columns)
    if guess:
        return say("{column} is not among the columns; did you mean '{guess}'?", column=column, guess=guess)
    return say("{column} is not among the columns", column=column)


def _listed(codes: list[str]) -> str:
    shown = ", ".join(say("'{name}'", name=code) for code in codes[:5])
    return shown if len(codes) <= 5 else say("{codes} and {more} more", codes=shown, more=len(codes) - 5)


def read_card(path: AnyPath) -> Card:
    """The card in a file, or CardInvalid listing every problem (CardUndecided: only decisions are open)."""
    from discreet.cards.card_reader import read_card_file

    return read_card_file(as_path(path, "card"))


def parse_card(text: str, *, file: str) -> Card:
    """The card in a text; `file` is the name that messages show."""
    from discreet.cards.card_reader import parse_card_text

    return parse_card_text(text, file=file)
