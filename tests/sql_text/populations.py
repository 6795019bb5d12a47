"""A few small populations for statements to be asked about: cards, public tables, and rows where faults show.

Two or three datasets share names of columns that mean very different things: `x` is 0 or 1 in one and up to 10^5 in
another, `province` has other codes in each. Rows are drawn from fixed seeds, so a population is the same in every run.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from pathlib import Path
from random import Random
from typing import Final

from discreet.cards.card import Card, Column, ColumnKind, Membership, parse_card
from discreet.errors import UnknownName
from discreet.guarantees.types import Neighbours
from discreet.workspace.folder import Dataset
from discreet.workspace.public_tables import PublicColumn, PublicTable
from discreet.workspace.row_source import RowSource

__all__ = [
    "PUBLIC",
    "RULES",
    "TEXTS",
    "Datum",
    "Owned",
    "Population",
    "StoredRow",
    "cut_weight",
    "extremes",
    "knows_members",
    "population",
    "populations",
]

Datum = int | str | None
StoredRow = Mapping[str, Datum]
"""One row as it is prepared: whole steps, places of categories, texts; without id and order."""

Owned = Mapping[str, tuple[StoredRow, ...]]
"""The rows of one unit by dataset, in their order; possibly more than its card counts."""

UNITS: Final = 6

TEXTS: Final = ("flu", "O'Brien", "été", "24", "none")


@dataclass(frozen=True, slots=True)
class Rules:
    """What differs between the populations."""

    neighbours: str
    rows: tuple[int, int]
    third: bool = False
    sizes: tuple[str, str] = ("private", "private")
    exact_public: bool = False
    text_ids: bool = False
    presence: bool = False
    second_weight: bool = False
    members: bool = False
    complete: bool = False


RULES: Final = (
    Rules("add-remove", (1, 3)),
    Rules("add-remove", (2, 2), third=True, text_ids=True, complete=True),
    Rules("replace-one", (1, 2)),
    Rules("replace-one", (2, 1), second_weight=True, complete=True),
    Rules("replace-one", (1, 1), sizes=("public", "public"), exact_public=True, members=True, complete=True),
    Rules("replace-one", (3, 1), sizes=("public", "public"), third=True),
    Rules("replace-one", (1, 2), sizes=("public", "private"), presence=True, complete=True),
    Rules("add-remove", (1, 1), third=True, second_weight=True),
)

_CARD: Final = """
dataset: {name}
population: everyone
unit: {{column: person_id, rows: {rows}}}
neighbours: {neighbours}
size: {size}
exact_public: {exact_public}
budget: {{epsilon: 3, delta: 1e-6}}
{members}
{weight}
columns:
  person_id: {{kind: id, type: {ids}}}
{columns}
"""

_COLUMNS_A: Final = """
  x: {{kind: integer, bounds: [0, 1]{complete}}}
  income: {{kind: integer, bounds: [0, 1000000]}}
  province: {{kind: category, public: true, categories: {{10: East, 24: Middle, 35: West}}{complete}}}
  sex: {{kind: category, categories: {{1: one, 2: two, 9: other}}{presence}{complete}}}
  pn: {{kind: integer, public: true, bounds: [0, 3]}}
  h: {{kind: number, bounds: [-1.5, 2.5], step: 0.5{presence}}}
  s: {{kind: text{complete}}}
  free: {{kind: integer}}
  c1: {{kind: integer, bounds: [-4, 2]}}
  w: {{kind: number, bounds: [0, 20], step: 0.5}}
"""
_COLUMNS_B: Final = """
  X: {{kind: integer, bounds: [0, 1]}}
  income: {{kind: integer, bounds: [-5, 7]}}
  province: {{kind: category, public: true, categories: {{24: Middle, 35: West}}}}
  region: {{kind: category, categories: [east, west, north]{complete}}}
  pn: {{kind: integer, public: true, bounds: [-2, 1]}}
  u1: {{kind: integer, bounds: [0, 100000]}}
  s: {{kind: text}}
  w: {{kind: number, bounds: [0, 8], step: 0.25}}
"""
_COLUMNS_C: Final = """
  x: {{kind: integer, bounds: [-3, 100000]}}
  sex: {{kind: category, public: true, categories: [m, f]}}
  h: {{kind: number, bounds: [0, 0.75], step: 0.25{complete}}}
"""

PUBLIC: Final[Mapping[str, PublicTable]] = {
    "t": PublicTable(
        name="t",
        version=1,
        key="prov",
        columns=(
            PublicColumn("prov", ColumnKind.CATEGORY, None, ("24", "10", "99"), 0, 2),
            PublicColumn("region", ColumnKind.CATEGORY, None, ("coast", "inland"), 0, 1),
            PublicColumn("size", ColumnKind.NUMBER, Decimal("0.5"), (), 3, 9, absent=True),
            PublicColumn("x", ColumnKind.INTEGER, Decimal(1), (), 50, 90),
        ),
        rows=((0, 0, 3, 50), (1, 1, None, 90), (2, 1, 9, 70)),
    ),
    "n": PublicTable(
        name="n",
        version=1,
        key="pn",
        columns=(
            PublicColumn("pn", ColumnKind.INTEGER, Decimal(1), (), -2, 9),
            PublicColumn("sex", ColumnKind.CATEGORY, None, ("low", "high"), 0, 1, absent=True),
            PublicColumn("income", ColumnKind.INTEGER, Decimal(1), (), -1, 1),
        ),
        rows=((-2, 0, 1), (0, None, -1), (1, 1, 0), (2, 0, 1), (9, 1, 0)),
    ),
}


@dataclass(frozen=True, slots=True)
class Population:
    """Cards of its datasets and the rows of its units; `profile` is what is public of a unit, dataset by dataset."""

    number: int
    cards: Mapping[str, Card]
    units: Mapping[Datum, Owned]
    profile: Mapping[Datum, Mapping[str, StoredRow]]

    @property
    def replacing(self) -> bool:
        return next(iter(self.cards.values())).neighbours is Neighbours.REPLACE_ONE

    def find(self, name: str) -> Dataset | PublicTable:
        """What a name of a statement leads to, as a catalogue does."""
        if name in PUBLIC:
            return PUBLIC[name]
        if name not in self.cards:
            raise UnknownName(sort="dataset", name=name, where="this workspace", known=[*self.cards, *PUBLIC])
        nowhere = Path("nowhere.parquet")
        source = RowSource("duckdb", path=nowhere)
        return Dataset(name=name, version=1, card=self.cards[name], data=nowhere, report=nowhere, source=source)

    def table(self, dataset: str) -> list[dict[str, Datum]]:
        """The prepared rows of a dataset, with id and order."""
        column = self.cards[dataset].unit.column
        return [
            {column: unit, **row, "ord": order}
            for unit, owned in self.units.items()
            for order, row in enumerate(owned[dataset], start=1)
        ]


def populations() -> tuple[Population, ...]:
    return tuple(map(population, range(len(RULES))))


@cache
def population(number: int) -> Population:
    """The population of that number."""
    rules, random = RULES[number], Random(f"population {number}")
    cards = {card.dataset: card for card in _cards(rules)}
    ids: list[Datum] = [*TEXTS, "last"] if rules.text_ids else [place * 7 - 9 for place in range(UNITS)]
    profile = {
        unit: {
            name: {column.name: random.choice(extremes(column)) for column in card.columns if column.public}
            for name, card in cards.items()
        }
        for unit in ids
    }
    units = {unit: {name: _rows(random, card, profile[unit][name]) for name, card in cards.items()} for unit in ids}
    return Population(number, cards, units, profile)


def _cards(rules: Rules) -> list[Card]:
    presence = ", presence: public" if rules.presence else ""
    weights = {"a": "weight: {column: w, cap: {by: province, values: {10: 1, 24: 20, 35: 5}}}"}
    if rules.second_weight:
        weights["b"] = "weight: {column: w, cap: {by: province, values: {24: 0.5, 35: 8}}}"
    columns = {"a": _COLUMNS_A, "b": _COLUMNS_B, **({"c": _COLUMNS_C} if rules.third else {})}
    rows = {"a": rules.rows[0], "b": rules.rows[1], "c": 1}
    sizes = {"a": rules.sizes[0], "b": rules.sizes[1], "c": rules.sizes[1]}
    return [
        parse_card(
            _CARD.format(
                name=name,
                rows=rows[name],
                neighbours=rules.neighbours,
                size=sizes[name],
                exact_public="true" if rules.exact_public else "false",
                members="membership: public" if rules.members else "",
                weight=weights.get(name, ""),
                ids="text" if rules.text_ids else "integer",
                columns=text.format(
                    presence=presence if name == "a" else "", complete=", complete: true" if rules.complete else ""
                ),
            ),
            file=f"{name}.yaml",
        )
        for name, text in columns.items()
    ]


def _rows(random: Random, card: Card, public: StoredRow) -> tuple[StoredRow, ...]:
    """Most units have rows; some have none, some more than count."""
    most = card.unit.rows
    count = random.choice((1, 1, most, most, most + 1, most + 1, 0))
    return tuple(_row(random, card, public) for _ in range(count))


def _row(random: Random, card: Card, public: StoredRow) -> StoredRow:
    row = {
        column.name: public[column.name] if column.public else random.choice(extremes(column))
        for column in card.columns
        if column.kind is not ColumnKind.ID
    }
    return cut_weight(card, row)


def extremes(column: Column) -> tuple[Datum, ...]:
    """Values of a column at which a fault is likely to show; NULL is one of them."""
    if column.kind is ColumnKind.TEXT:
        return (None, *TEXTS)
    if column.kind is ColumnKind.CATEGORY:
        return (None, *range(len(column.categories)), *range(len(column.categories)))
    low, high = column.low_units, column.high_units
    near = {low, low + 1, high - 1, high, high, -1, 0, 1, 5, 1000}
    return (None, *sorted(number for number in near if low <= number <= high))


def cut_weight(card: Card, row: StoredRow) -> StoredRow:
    """The row as preparation leaves it: its weight at most the cap of its category."""
    if card.weight is None or not isinstance(weight := row[card.weight.column], int):
        return row
    cap = card.weight.largest
    if card.weight.by is not None and isinstance(place := row[card.weight.by], int):
        cap = card.weight.cap_for(card.column(card.weight.by).categories[place].code)
    step = card.column(card.weight.column).step or Decimal(1)
    return {**row, card.weight.column: min(weight, int(cap / step))}


def knows_members(card: Card) -> bool:
    """Whether it is public who is in the dataset, so that a join with others shows nothing new."""
    return card.membership is Membership.PUBLIC
