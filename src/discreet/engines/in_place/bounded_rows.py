"""Rows of a raw table that count, prepared within a question's own statement: at most k of a unit, and in what order.

Which rows of a unit count depends on its own rows alone, so a unit moves an answer no further than k rows can
(docs/proofs/calculus.md). So only units that have more than k rows are looked at: they are found first, by counting
ids, and their rows alone are ranked, by the engine's own hash of the row. Where the catalogue says that no id stands
twice, nothing is counted at all.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from discreet.cards import Card
from discreet.engines.dialects import Dialect, InPlaceDialect
from discreet.engines.in_place.prepared_rows import canonical_row, public_varies, ranked_rows, unit_value
from discreet.engines.in_place.raw_columns import category_position, raw_key, valued_rows
from discreet.engines.rendering import LateKey, RenderedTable

__all__ = ["RawRows", "TableInPlace"]


@dataclass(frozen=True, slots=True)
class RawRows:
    """A raw table to be read in place: `relation` is a FROM item, `types` its columns' types in the engine.

    `unique` are columns of which the engine lets no value stand in two rows. `still`: two reads by one question see
    the same rows.
    """

    dialect: InPlaceDialect
    card: Card
    relation: str
    types: Mapping[str, str]
    salt: str
    unique: frozenset[str] = frozenset()
    still: bool = True

    @property
    def one_each(self) -> bool:
        """Whether the engine itself holds every unit to one row: different raw ids must then be different units."""
        column = self.card.column(self.card.unit.column)
        kind = self.types[column.source]
        told_apart = self.dialect.is_decimal(kind) or raw_is_number(self.dialect, kind)
        return column.source in self.unique and told_apart

    @property
    def long_units(self) -> str | None:
        """A SELECT of the units whose rows must be ranked: more than k of them, or public values that differ.

        None where there can be none, or where counting would see other rows than ranking.
        """
        if self.one_each or not self.still:
            return None
        card, unit = self.card, unit_value(self.card)
        public = [
            (f"v{i}", column.name) for i, column in enumerate(card.columns) if column.public and card.unit.rows > 1
        ]
        columns = [card.unit.column, *(name for _, name in public)]
        query = valued_rows(self.dialect, card, relation=self.relation, types=self.types, columns=columns)
        long = " OR ".join([f"count(*) > {card.unit.rows}", *(f"({public_varies(v)})" for v, _ in public)])
        return (
            f"SELECT {unit} AS u\nFROM ({query}) AS q\nWHERE {unit} IS NOT NULL\nGROUP BY {unit}\nHAVING {long}\n"
            f"LIMIT {self.dialect.most_listed + 1}"
        )


def raw_is_number(dialect: InPlaceDialect, kind: str) -> bool:
    """Whether raw values that differ are different numbers; two texts may be one id."""
    from discreet.workspace import Form

    return dialect.form(kind) in {Form.INTEGER, Form.DOUBLE, Form.SINGLE}


@dataclass(frozen=True, slots=True)
class TableInPlace(RenderedTable):
    """Raw rows to a statement. `long` are the units with too many rows; None where every row is to be ranked."""

    raw: RawRows = field(kw_only=True)
    long: Sequence[int | str] | None = field(kw_only=True)

    @classmethod
    def of(cls, raw: RawRows, *, long: Sequence[int | str] | None) -> TableInPlace:
        return cls(rows="", unit=raw.card.unit.column, raw=raw, long=long)

    def read(self, columns: Iterable[str]) -> str:
        wanted = list(columns)
        if self.long is None:
            return f"(\n{self._ranked(wanted, None)}\n)"
        if not self.long:
            return f"(\n{self._plain(wanted, '')}\n)"
        listed = self.raw.dialect.listed_units(self.long)
        rest = f" AND NOT EXISTS (SELECT 1 FROM ({listed}) AS l WHERE l.u = q.{unit_value(self.raw.card)})"
        return f"(\n{self._plain(wanted, rest)}\nUNION ALL\n{self._ranked(wanted, listed)}\n)"

    def bound(self, dialect: Dialect, rows: int) -> list[str]:
        assert rows == self.raw.card.unit.rows, "a plan asks for the rows that its card counts"
        return []

    def late(self, column: str) -> LateKey | None:
        """Groups by a category are made on its raw column, where no row needs to be ranked by its values."""
        raw = self.raw
        described = raw.card.column(column)
        if self.long is None or self.long or raw_key(raw.dialect, described, raw.types[described.source]) is None:
            return None
        form = raw.dialect.form(raw.types[described.source])
        assert form is not None
        return LateKey(_late_name(column), lambda text: category_position(raw.dialect, described, text, form))

    def _plain(self, columns: Sequence[str], also: str) -> str:
        """The rows of the units that have no more than count."""
        raw, dialect = self.raw, self.raw.dialect
        numbers = {column.name: index for index, column in enumerate(raw.card.columns)}
        late = {_late_name(column.name): column for column in raw.card.columns}
        keys = {f"k{numbers[late[name].name]}": late[name] for name in columns if name in late}
        query = valued_rows(
            dialect,
            raw.card,
            relation=raw.relation,
            types=raw.types,
            columns=[raw.card.unit.column, *(name for name in columns if name in numbers)],
            beside={alias: dialect.raw(column.source, raw.types[column.source]) for alias, column in keys.items()},
        )
        values = [f"v{numbers[name]}" if name in numbers else f"k{numbers[late[name].name]}" for name in columns]
        items = [f"{value} AS {dialect.name(name)}" for value, name in zip(values, columns, strict=True)]
        where = f"{unit_value(raw.card)} IS NOT NULL{also}"
        return f"SELECT {', '.join(items) or '1 AS one'}\nFROM ({query}) AS q\nWHERE {where}"

    def _ranked(self, columns: Sequence[str], among: str | None) -> str:
        raw = self.raw
        dialect, card = raw.dialect, raw.card
        names = [column.name for column in card.columns]
        query = valued_rows(dialect, card, relation=raw.relation, types=raw.types, columns=names)
        text = canonical_row(dialect, card, raw.salt)
        ranked = ranked_rows(dialect, card, query, order=[dialect.own_digest(text), text], among=among)
        items = [dialect.name(name) for name in columns] or ["1 AS one"]
        return f"SELECT {', '.join(items)}\nFROM ({ranked}) AS q\nWHERE ord <= {card.unit.rows}"


def _late_name(column: str) -> str:
    """No column of a card is called so."""
    return f"raw {column}"
