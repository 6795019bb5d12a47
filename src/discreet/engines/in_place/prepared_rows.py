"""Prepared rows of a raw table, as a query: what docs/prepared.md says, `ord` included."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from discreet.cards import Card
from discreet.engines.dialects import InPlaceDialect
from discreet.engines.in_place.raw_columns import over, valued_rows

__all__ = ["prepared_rows", "public_varies", "unit_check", "unit_value"]

_MOST_ARGUMENTS: Final = 50


def prepared_rows(
    dialect: InPlaceDialect,
    card: Card,
    *,
    relation: str,
    types: Mapping[str, str],
    salt: str,
    among: str | None = None,
) -> str:
    """A SELECT of the prepared columns under their card names, and `ord`; of the units that `among` selects, if given.

    Rows of a unit are ranked by the md5 of their canonical text. What has no unit, or contradicts its unit's public
    values, is dropped: unlike a file, a table may change after it was checked, and sensitivities rest on them.
    """
    names = [column.name for column in card.columns]
    query = valued_rows(dialect, card, relation=relation, types=types, columns=names)
    values = [f"v{index}" for index in range(len(card.columns))]
    unit = unit_value(card)
    public = [v for v, column in zip(values, card.columns, strict=True) if column.public and card.unit.rows > 1]
    chosen = f"\nWHERE {unit} IS NOT NULL" + (f" AND {unit} IN ({among})" if among is not None else "")
    query = over(dialect, query, [*values, f"{dialect.digest(_canonical_row(dialect, card, salt))} AS g"], chosen)
    firsts = [f"first_value({v}) OVER w AS f{v}" for v in public]
    ranked = [*values, "CAST(row_number() OVER w AS bigint) AS ord", *firsts]
    query = f"SELECT {', '.join(ranked)}\nFROM ({query}) AS q\nWINDOW w AS (PARTITION BY {unit} ORDER BY g)"
    named = [f"{v} AS {dialect.name(column.name)}" for v, column in zip(values, card.columns, strict=True)]
    agree = " AND ".join(f"{v} IS NOT DISTINCT FROM f{v}" for v in public)
    return f"SELECT {', '.join([*named, 'ord'])}\nFROM ({query}) AS q" + (f"\nWHERE {agree}" if agree else "")


def unit_value(card: Card) -> str:
    """What the unit's id is called among the values of a row."""
    return f"v{[column.name for column in card.columns].index(card.unit.column)}"


def unit_check(dialect: InPlaceDialect, card: Card, *, relation: str, types: Mapping[str, str]) -> str:
    """A SELECT of one row: the number of units, then 1 for each public column that varies within some unit."""
    public = [(f"v{index}", column.name) for index, column in enumerate(card.columns) if column.public]
    unit = unit_value(card)
    columns = [card.unit.column, *(name for _, name in public)]
    units = over(
        dialect,
        valued_rows(dialect, card, relation=relation, types=types, columns=columns),
        [f"{unit} AS u", *(f"CASE WHEN {public_varies(v)} THEN 1 ELSE 0 END AS c{v}" for v, _ in public)],
        f"\nWHERE {unit} IS NOT NULL\nGROUP BY {unit}",
    )
    return over(dialect, units, ["count(*) AS units", *(f"coalesce(max(c{v}), 0) AS c{v}" for v, _ in public)])


def public_varies(value: str) -> str:
    """Whether a value differs among the rows of a group, absence included."""
    return f"min({value}) <> max({value}) OR count({value}) NOT IN (0, count(*))"


def _canonical_row(dialect: InPlaceDialect, card: Card, salt: str) -> str:
    """A valued row as one text, no two rows alike: '|' between columns, ~ for NULL, its length before a text."""
    parts = []
    for index, column in enumerate(card.columns):
        digits = f"CAST({{}} AS {dialect.text_type})"
        value = f"v{index}"
        shown = f"{digits.format(f'length({value})')} || ':' || {value}"
        parts.append(f"coalesce({shown if column.storage == 'text' else digits.format(value)}, '~')")
    return _joined([dialect.card_text(salt), *parts])


def _joined(parts: Sequence[str]) -> str:
    """Texts with '|' between them, in groups where there are many: PostgreSQL takes at most 100 arguments."""
    if len(parts) <= _MOST_ARGUMENTS:
        return f"concat_ws('|', {', '.join(parts)})"
    groups = [parts[start : start + _MOST_ARGUMENTS] for start in range(0, len(parts), _MOST_ARGUMENTS)]
    return _joined([_joined(group) for group in groups])
