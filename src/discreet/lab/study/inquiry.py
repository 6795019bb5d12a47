"""A study's questions as the product is asked them: statements in SQL over the study's card.

What a question costs, which noise it gets and what is shown of it then follow from its statement, as they do for a
release. A study says for itself whom neighbours differ in and what is public: its strata and static columns are, and
what it protects is not, whatever the card says.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from discreet.cards import Card, Column, ColumnKind, Membership, SizeRule
from discreet.catalogue import Phrase, say
from discreet.errors import UnknownName
from discreet.guarantees import Neighbours
from discreet.sql import Key, KeyShown, Output, Plan, Statement, read_statement
from discreet.workspace import Dataset, RowSource

if TYPE_CHECKING:
    from numpy import int64
    from numpy.typing import NDArray

__all__ = ["COUNT", "MEAN", "SUM", "Derived", "Inquiry", "StudyQuestion", "Terms"]

COUNT: Final = "count"
MEAN: Final = "mean"
SUM: Final = "sum"


@dataclass(frozen=True, slots=True)
class Derived:
    """A column made from others. `where` gives positions; `source` is the number whose mean or sum is asked, if any."""

    column: Column
    where: tuple[tuple[str, tuple[int, ...]], ...]
    source: str | None
    statistic: str

    @property
    def needs(self) -> tuple[str, ...]:
        return (*(name for name, _ in self.where), *([self.source] if self.source else []))


@dataclass(frozen=True, slots=True)
class Terms:
    """A card as a study takes it, to be found by statements and tables under its own name."""

    card: Card

    def find(self, name: str) -> Dataset:
        if name != self.card.dataset:
            raise UnknownName(sort=Phrase("dataset"), name=name, where=say("the study"), known=[self.card.dataset])
        return Dataset(name, 1, self.card, Path(), Path(), RowSource("duckdb", path=Path()))


@dataclass(frozen=True, eq=False)
class StudyQuestion:
    """One question about one column: a statement whose keys are the strata and, for a histogram, the column itself."""

    column: str
    statement: Statement
    cards: Mapping[str, Card]
    keys: tuple[str, ...]

    @property
    def plan(self) -> Plan:
        return self.statement.plan

    @property
    def name(self) -> str:
        """What the figure is called among the outputs."""
        return self.statement.presentation.columns[-1].name

    @property
    def output(self) -> Output:
        """What a cell shows of the measures."""
        shown = self.statement.presentation.columns[-1].shows
        assert not isinstance(shown, KeyShown)
        return shown

    @property
    def histogram(self) -> bool:
        """Whether every category of the column is counted."""
        return self.column in self.keys

    def places(self, groups: Sequence[tuple[int, ...]]) -> NDArray[int64]:
        """The cells of each group, groups × categories (or × 1); -1 where the conditions leave none."""
        within = self.plan.keys[-1].cells or () if self.histogram else (None,)
        spread = self.plan.keys[: len(self.keys) - self.histogram]
        first = np.array([_place(group, spread) for group in groups], dtype=np.int64)[:, None]
        return np.where(first < 0, -1, first * len(within) + np.arange(len(within)))

    def slices(self, key: int | None, groups: Sequence[tuple[int, ...]]) -> list[int]:
        """In which cell of the key at this place each group lies, or the first where no key decides; -1 for none."""
        if key is None:
            return [0] * len(groups)
        cells = self.plan.keys[key].cells or ()
        return [cells.index(group[key]) if group[key] in cells else -1 for group in groups]


@dataclass(frozen=True, eq=False)
class Inquiry:
    """What may be asked in a study: its card, its strata with the positions of each group, columns made from others."""

    card: Card
    strata: tuple[str, ...] = ()
    groups: tuple[tuple[int, ...], ...] = ((),)
    static: tuple[str, ...] = ()
    derived: tuple[Derived, ...] = ()
    _asked: dict[Any, Any] = field(default_factory=dict, init=False, repr=False)

    def terms(self, neighbours: Neighbours) -> Terms:
        """The card under the study's neighbours, with what the study says is public."""
        if neighbours not in self._asked:
            self._asked[neighbours] = Terms(_taken(self.card, neighbours, {*self.strata, *self.static}))
        result: Terms = self._asked[neighbours]
        return result

    def question(self, column: str, statistic: str, *, neighbours: Neighbours) -> StudyQuestion:
        """The question about a column, read once."""
        asked = (column, statistic, neighbours)
        if asked not in self._asked:
            terms, made = self.terms(neighbours), self.made(column)
            keys = (*self.strata, *((column,) if statistic == COUNT and made is None else ()))
            statement, cards = read_statement(_sql(terms.card, made, column, statistic, keys), terms)
            self._asked[asked] = StudyQuestion(column, statement, cards, keys)
        result: StudyQuestion = self._asked[asked]
        return result

    def made(self, column: str) -> Derived | None:
        """How a column of the study was made, if it is not one of the card."""
        return next((item for item in self.derived if item.column.name == column), None)

    def condition(self, column: str) -> str | None:
        """What must hold for a column that was made from others, as after WHERE in SQL."""
        made = self.made(column)
        return None if made is None else _condition(self.card, made)


def _taken(card: Card, neighbours: Neighbours, public: set[str]) -> Card:
    """What caps or totals go by stays public: they would mean nothing otherwise."""
    kept = {*(item.by for item in card.totals), card.weight.by if card.weight else None}
    sized = neighbours is Neighbours.REPLACE_ONE and card.size is SizeRule.PUBLIC
    columns = [
        replace(
            column,
            public=column.public
            if column.name in kept or column.kind is not ColumnKind.CATEGORY
            else column.name in public,
            public_presence=column.public_presence and sized,
        )
        for column in card.columns
    ]
    size = card.size if sized else SizeRule.PRIVATE
    membership = card.membership if sized else Membership.CONFIDENTIAL
    return replace(card, neighbours=neighbours, size=size, membership=membership, columns=tuple(columns))


def _sql(card: Card, made: Derived | None, column: str, statistic: str, keys: Sequence[str]) -> str:
    weight = card.weight.column if card.weight else None
    number = column if made is None else made.source
    figures = {
        COUNT: "COUNT(*)" if weight is None else f'SUM("{weight}")',
        MEAN: f'AVG("{number}")' if weight is None else f'WAVG("{number}")',
        SUM: f'SUM("{number}")' if weight is None else f'SUM("{weight}" * "{number}")',
    }
    shown = ", ".join([*(f'"{key}"' for key in keys), figures[statistic]])
    where = "" if made is None else f" WHERE {_condition(card, made)}"
    grouped = f" GROUP BY {', '.join(str(index + 1) for index in range(len(keys)))}" if keys else ""
    return f'SELECT {shown} FROM "{card.dataset}"{where}{grouped}'


def _condition(card: Card, made: Derived) -> str:
    parts = []
    for name, positions in made.where:
        codes = [card.column(name).categories[position].code.replace("'", "''") for position in positions]
        listed = ", ".join(f"'{code}'" for code in codes)
        parts.append(f'"{name}" IN ({listed})')
    return " AND ".join(parts)


def _place(group: Sequence[int], keys: Sequence[Key]) -> int:
    """The cell of a group among those of the strata, or -1."""
    index = 0
    for position, key in zip(group, keys, strict=True):
        cells = key.cells or ()
        if position not in cells:
            return -1
        index = index * len(cells) + cells.index(position)
    return index
