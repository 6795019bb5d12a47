"""The populations of the fuzz as raw tables, as an office might hold them, and what a question keeps of their rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from random import Random
from typing import Any

from discreet.cards.card import Card, Column, ColumnKind
from discreet.engines.in_place.bounded_rows import RawTable, TableInPlace
from discreet.engines.in_place.tables_in_place import RowReader
from discreet.engines.in_place.tabular_engine import _in_place
from tests.sql_text.populations import Datum, Population

__all__ = ["FORMS", "every_row", "kept_rows", "raw_rows", "require_bounded", "with_kept"]

FORMS = ("double", "decimal", "integer", "text")
"""What numbers may be held as; each column of a population has one of them, by its place."""


def form_of(column: Column, index: int) -> str:
    if column.kind is ColumnKind.ID:
        return "integer" if column.type == "integer" else "text"
    if column.kind not in {ColumnKind.INTEGER, ColumnKind.NUMBER}:
        return "text"
    whole = column.step is not None and column.step == column.step.to_integral_value()
    return FORMS[index % 4] if whole else FORMS[(0, 1, 3)[index % 3]]


def raw_rows(people: Population, name: str, *, seed: int = 0) -> tuple[dict[str, str], list[dict[str, Any]]]:
    """The forms of a dataset's raw columns, and its rows in any order: codes with blanks around them.

    How a row is spelled depends on the row, so that it is spelled alike in every order.
    """
    card = people.cards[name]
    forms = {column.source: form_of(column, index) for index, column in enumerate(card.columns)}
    rows = []
    for row in people.table(name):
        spelled = Random(str([row[column.name] for column in card.columns]))
        rows.append(
            {column.source: _raw(column, row[column.name], forms[column.source], spelled) for column in card.columns}
        )
    Random(f"raw {people.number} {name} {seed}").shuffle(rows)
    return forms, rows


def _raw(column: Column, value: Datum, form: str, random: Random) -> Any:
    if value is None:
        return None
    if column.kind is ColumnKind.CATEGORY:
        assert isinstance(value, int)
        code = column.categories[value].code
        return random.choice([code, code, f" {code}", f"{code}\t"])
    if isinstance(value, str) or column.kind is ColumnKind.ID:
        return value
    number = Decimal(value) * (column.step or Decimal(1))
    return {"double": float, "decimal": Decimal, "integer": int, "text": str}[form](number)


def kept_rows(rows: RawTable, reader: RowReader) -> list[tuple[Any, ...]]:
    """What a question reads: the prepared rows that count, in the card's columns."""
    table: TableInPlace = _in_place(rows, reader, look=True)
    names = [column.name for column in rows.card.columns]
    listed = ", ".join(map(rows.dialect.name, names))
    return reader.run(f"SELECT {listed} FROM {table.read(names)} AS q")


def require_bounded(card: Card, every: Sequence[tuple[Any, ...]], kept: Sequence[tuple[Any, ...]]) -> None:
    """At most k rows of each unit, all of them its own, and all of them where it has no more."""
    unit = [column.name for column in card.columns].index(card.unit.column)
    held, counted = Counter(every), Counter(kept)
    assert not counted - held, "a row counts that is not there"
    has, counts = (Counter(row[unit] for row in rows) for rows in (every, kept))
    assert {name: min(number, card.unit.rows) for name, number in has.items()} == dict(counts)


def every_row(people: Population, name: str) -> list[tuple[Any, ...]]:
    """The prepared rows of a dataset, in the card's columns."""
    names = [column.name for column in people.cards[name].columns]
    return [tuple(row[column] for column in names) for row in people.table(name)]


def with_kept(people: Population, kept: Mapping[str, Sequence[tuple[Any, ...]]]) -> Population:
    """The population as if its units had those rows and no others."""
    units: dict[Datum, dict[str, Any]] = {unit: dict.fromkeys(people.cards, ()) for unit in people.units}
    for name, rows in kept.items():
        names = [column.name for column in people.cards[name].columns]
        place = names.index(people.cards[name].unit.column)
        for row in rows:
            stored = {column: value for column, value in zip(names, row, strict=True) if column != names[place]}
            units[row[place]][name] += (stored,)
    return replace(people, units=units)
