"""Random populations and nasty prepared rows: cards of every sort, values where faults are likely to show.

Everything is drawn from the `random.Random` that is given, so a seed names a case.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from decimal import Decimal
from random import Random
from typing import Final

from discreet.cards.card import Card, Category, Column, ColumnKind, Labels, Membership, SizeRule, WeightRule
from discreet.guarantees.budget import Budget
from discreet.guarantees.types import Neighbours, Unit
from tests.algebra.interpreter import Datum, Prepared

__all__ = [
    "TEXTS",
    "Cards",
    "Table",
    "cut_weight",
    "extremes",
    "present_columns",
    "random_cards",
    "random_row",
    "random_tables",
]

Table = list[dict[str, Datum]]
Cards = Mapping[str, Card]

TEXTS: Final = (
    "flu",
    "O'Brien",
    'a "quoted" word',
    "back\\slash",
    "été",
    "漢字",
    "🙂",
    "--",
    "%_",
    "NULL",
    "\\N",
    "a\tb",
    "$1 {x} ? :y",
)

# --- cards ----------------------------------------------------------------------------------------------------------


def random_cards(random: Random) -> dict[str, Card]:
    """One population of one or two datasets."""
    neighbours = random.choice(tuple(Neighbours))
    id_type = random.choice(("integer", "text"))
    names = ("people",) if random.random() < 0.4 else ("people", "visits")
    # Without it sums are bounded as if any unit could be absent: looser, so there is less to attack.
    exact_public = random.random() < 0.8
    return {name: _card(random, name, neighbours, id_type, exact_public=exact_public) for name in names}


def _card(random: Random, dataset: str, neighbours: Neighbours, id_type: str, *, exact_public: bool) -> Card:
    mark = dataset[0]
    public_size = neighbours is Neighbours.REPLACE_ONE and random.random() < 0.5
    columns = tuple(_complete(random, one) for one in (*_columns(random, mark, id_type), _weight_column(random, mark)))
    if public_size:
        columns = tuple(_settled(random, column) for column in columns)
    return Card(
        dataset=dataset,
        title=Labels(dataset, dataset),
        population="everyone",
        unit=Unit("pid", random.choice((1, 1, 2, 3, 5))),
        neighbours=neighbours,
        budget=Budget(epsilon=3),
        columns=columns,
        size=SizeRule.PUBLIC if public_size else SizeRule.PRIVATE,
        membership=Membership.PUBLIC if public_size and random.random() < 0.5 else Membership.CONFIDENTIAL,
        weight=_weight_rule(random, mark, columns),
        exact_public=exact_public,
    )


def _complete(random: Random, column: Column) -> Column:
    """Now and then a column that the card calls complete, though rows may lack it all the same."""
    return replace(column, complete=column.kind is not ColumnKind.ID and random.random() < 0.3)


def _settled(random: Random, column: Column) -> Column:
    """Now and then a column of which everybody knows who has a value."""
    fitting = column.kind in {ColumnKind.CATEGORY, ColumnKind.INTEGER, ColumnKind.NUMBER}
    return replace(column, public_presence=fitting and random.random() < 0.4)


def _columns(random: Random, mark: str, id_type: str) -> Iterator[Column]:
    low = random.choice((-7, -2, -1, 0, 1, 3))
    step = random.choice(("0.5", "0.001", "100"))
    yield _column("pid", ColumnKind.ID, type=id_type)
    yield _column(f"region_{mark}", ColumnKind.CATEGORY, public=True, categories=_categories(random.choice((2, 3))))
    yield _column(f"sick_{mark}", ColumnKind.CATEGORY, categories=_categories(random.choice((1, 2, 4))))
    yield _column(f"age_{mark}", ColumnKind.INTEGER, bounds=_bounds(low, low + random.choice((1, 4, 9))))
    yield _column(f"born_{mark}", ColumnKind.INTEGER, public=True, bounds=_bounds(-1, random.choice((0, 2))))
    yield _column(
        f"height_{mark}",
        ColumnKind.NUMBER,
        step=Decimal(step),
        bounds=(Decimal(step) * random.randint(-9, 0), Decimal(300)),
    )
    yield _column(f"gain_{mark}", ColumnKind.INTEGER)
    yield _column(f"far_{mark}", ColumnKind.NUMBER, step=Decimal("0.01"))
    yield _column(f"note_{mark}", ColumnKind.TEXT)


def _column(name: str, kind: ColumnKind, **parts: object) -> Column:
    return Column(name, kind, Labels(name, name), **parts)  # type: ignore[arg-type]


def _categories(number: int) -> tuple[Category, ...]:
    return tuple(Category(f"c{place}", Labels(f"c{place}", f"c{place}")) for place in range(number))


def _bounds(low: int, high: int) -> tuple[Decimal, Decimal]:
    return Decimal(low), Decimal(high)


def _weight_column(random: Random, mark: str) -> Column:
    low = random.choice((0, 0, 2, 8))
    return _column(f"weight_{mark}", ColumnKind.NUMBER, step=Decimal("0.5"), bounds=_bounds(low, 20))


def _weight_rule(random: Random, mark: str, columns: tuple[Column, ...]) -> WeightRule | None:
    """None, one cap, or caps by region; caps may lie below the weight's lower bound."""
    sort = random.randrange(4)
    if sort == 0:
        return None
    if sort == 1:
        return WeightRule(f"weight_{mark}", cap=Decimal(random.choice((5, 20))))
    by = next(column for column in columns if column.name == f"region_{mark}")
    caps = tuple((category.code, Decimal(random.choice((1, 5, 11, 20)))) for category in by.categories)
    return WeightRule(f"weight_{mark}", by=by.name, caps=caps)


# --- rows -----------------------------------------------------------------------------------------------------------


def random_tables(random: Random, cards: Cards, *, units: int = 5) -> dict[str, Table]:
    """Prepared rows of up to so many units; some have none in a dataset, some more than the bound."""
    numbered = any(card.unit_type == "integer" for card in cards.values())
    ids: list[Datum] = [place * 7 - 9 for place in range(units)] if numbered else [*TEXTS[:units]]
    return {name: [row for unit in ids for row in _unit_rows(random, card, unit)] for name, card in cards.items()}


def _unit_rows(random: Random, card: Card, unit: Datum) -> Table:
    public: dict[str, Datum] = {
        column.name: random.choice(extremes(card, column)) for column in card.columns if column.public
    }
    most = card.unit.rows
    rows = [random_row(random, card, public) for _ in range(random.choice((0, 1, 1, most, most + 2)))]
    if len(rows) > 1 and random.random() < 0.3:
        rows[-1] = rows[0]
    return [{card.unit.column: unit, **row, "ord": place} for place, row in enumerate(rows, start=1)]


def random_row(random: Random, card: Card, public: Mapping[str, Datum]) -> dict[str, Datum]:
    """One row without id and order; weights are cut to their cap."""
    row = {
        column.name: public.get(column.name) if column.public else random.choice(extremes(card, column))
        for column in card.columns
        if column.kind is not ColumnKind.ID
    }
    return cut_weight(card, row)


def cut_weight(card: Card, row: dict[str, Datum]) -> dict[str, Datum]:
    """The row as preparation leaves it: its weight at most the cap of its category."""
    if card.weight is None or (weight := row[card.weight.column]) is None:
        return row
    assert isinstance(weight, int)
    return {**row, card.weight.column: min(weight, _weight_cap(card, row))}


def _weight_cap(card: Card, row: Prepared) -> int:
    """The most whole steps that the weight of a row can have."""
    assert card.weight is not None
    column = card.column(card.weight.column)
    cap = card.weight.largest
    if card.weight.by is not None and isinstance(place := row[card.weight.by], int):
        cap = card.weight.cap_for(card.column(card.weight.by).categories[place].code)
    return int(cap / (column.step or 1))


def present_columns(card: Card) -> frozenset[str]:
    """Where a unit has a value in both of two neighbouring populations or in neither."""
    settled = card.size is SizeRule.PUBLIC and card.unit.rows == 1
    return frozenset(column.name for column in card.columns if settled and column.public_presence)


def extremes(card: Card, column: Column) -> tuple[Datum, ...]:
    """Values that a fault is likely to show at: ends, zero and its neighbours, NULL."""
    if column.kind is ColumnKind.TEXT:
        return (None, *TEXTS)
    if column.kind is ColumnKind.CATEGORY:
        return (None, *range(len(column.categories)))
    low, high = column.low_units, column.high_units
    near = {low, low + 1, (low + high) // 2, high - 1, high, -1, 0, 1, 2**53, -(2**53)}
    return (None, *sorted(number for number in near if low <= number <= high))
