"""Rows of a raw table that count, prepared within a question's own statement: at most k of a unit, and in what order.

Which rows of a unit count depends on its own rows alone, so a unit moves an answer no further than k rows can
(docs/proofs/calculus.md). So only units that have more than k rows are looked at: they are found first, by counting
ids, and their rows alone are ranked, by the engine's own hash of the row. Where the catalogue says that no id stands
twice, nothing is counted at all.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from discreet.cards import Card, Column
from discreet.engines.dialects import Dialect, InPlaceDialect
from discreet.engines.in_place.prepared_rows import public_varies, unit_value
from discreet.engines.in_place.raw_columns import category_position, raw_key, valued_rows
from discreet.engines.rendering import LateKey, RenderedTable
from discreet.workspace import Form

__all__ = ["RawTable", "TableInPlace"]

_NUMBERS: Final = frozenset({Form.INTEGER, Form.DOUBLE, Form.SINGLE})


@dataclass(frozen=True, slots=True)
class RawTable:
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
        """Whether the engine itself holds every unit to one row."""
        return self._unit.source in self.unique and self._ids_differ

    @property
    def long_units(self) -> str | None:
        """A SELECT of the units whose rows must be ranked: more than k of them, or public values that differ.

        None where there can be none, or where counting would see other rows than ranking.
        """
        if self.one_each or not self.still:
            return None
        card, dialect, unit, public = self.card, self.dialect, unit_value(self.card), self._public
        long = " OR ".join([f"count(*) > {card.unit.rows}", *(f"({public_varies(v)})" for v in public)])
        if self._ids_differ and not public:
            # Counted as they are: an index on them serves, and what is no id is no unit.
            id_ = dialect.name(self._unit.source)
            query = f"SELECT {id_}\nFROM {self.relation}\nWHERE {id_} IS NOT NULL\nGROUP BY {id_}\nHAVING {long}"
            units = valued_rows(dialect, card, relation=f"({query}) AS q", types=self.types, columns=[card.unit.column])
            found = f"SELECT {unit} AS u\nFROM ({units}) AS q\nWHERE {unit} IS NOT NULL"
        else:
            query = self._valued_units()
            counted = f"WHERE {unit} IS NOT NULL\nGROUP BY {unit}\nHAVING {long}"
            found = f"SELECT {unit} AS u\nFROM ({query}) AS q\n{counted}"
        return f"{found}\nLIMIT {dialect.most_listed + 1}"

    def counted(self, columns: Collection[str], among: str | None) -> str:
        """A SELECT of the raw rows that count, of all units or of those that `among` selects: what these columns read.

        Ranked by the engine's own hash of what the table holds, and where hashes are equal by what is read of it. So
        whatever the engine does with the rest, what is read is the same.
        """
        dialect, card, public = self.dialect, self.card, list(self._public)
        read = [card.column(name).source for name in dict.fromkeys([card.unit.column, *self._with_weight(columns)])]
        raws = {f"c{i}": source for i, source in enumerate(dict.fromkeys(read))}
        every = dict.fromkeys(column.source for column in card.columns)
        digest = dialect.own_digest([self._held(source, source) for source in every], self.salt)
        taken = {**{alias: dialect.name(source) for alias, source in raws.items()}, "g": digest}
        listed = f" IN ({among})" if among is not None else ""
        if self._ids_differ and not public and (among is None or self._unit.type == "integer"):
            unit, items = "c0", [f"{text} AS {alias}" for alias, text in taken.items()]
            id_ = taken[unit]
            chosen = f"{id_} IS NOT NULL" + (f" AND {id_}{listed}" if listed else "")
            query = f"SELECT {', '.join(items)}\nFROM {self.relation}\nWHERE {chosen}"
        else:
            unit = unit_value(card)
            chosen = f"{unit} IS NOT NULL" + (f" AND {unit}{listed}" if listed else "")
            items = list(dict.fromkeys([unit, *public, *taken]))
            valued = self._valued_units(taken) + dialect.fence
            query = f"SELECT {', '.join(items)}\nFROM ({valued}) AS q\nWHERE {chosen}"
        order = ", ".join(["g", *public, *(self._held(alias, source)[0] for alias, source in raws.items())])
        firsts = [f"first_value({v}) OVER w AS f{v}" for v in public]
        ranked = [*public, *raws, "row_number() OVER w AS ord", *firsts]
        query = f"SELECT {', '.join(ranked)}\nFROM ({query}) AS q\nWINDOW w AS (PARTITION BY {unit} ORDER BY {order})"
        agree = [f"{v} IS NOT DISTINCT FROM f{v}" for v in public]
        named = [f"{alias} AS {dialect.name(source)}" for alias, source in raws.items()]
        kept = " AND ".join([f"ord <= {card.unit.rows}", *agree])
        return f"SELECT {', '.join(named)}\nFROM ({query}) AS q\nWHERE {kept}"

    def _with_weight(self, columns: Collection[str]) -> list[str]:
        """The columns, and the one by which the caps of a weight among them differ."""
        rule = self.card.weight
        beside = [rule.by] if rule is not None and rule.by is not None and rule.column in columns else []
        return [*columns, *beside]

    def _held(self, name: str, source: str) -> tuple[str, Form]:
        """What a raw column holds, by its name or an alias: texts byte by byte, and as texts what is read as one."""
        kind = self.types[source]
        form = self.dialect.form(kind)
        assert form is not None
        if form is Form.TEXT:
            return self.dialect.raw(name, kind), form
        if any(column.storage == "text" for column in self.card.columns if column.source == source):
            return f"CAST({self.dialect.name(name)} AS {self.dialect.text_type})", Form.TEXT
        return self.dialect.name(name), form

    def _valued_units(self, beside: Mapping[str, str] | None = None) -> str:
        """The rows with the values that decide which of them count."""
        columns = [self.card.unit.column, *self._public.values()]
        return valued_rows(
            self.dialect, self.card, relation=self.relation, types=self.types, columns=columns, beside=beside
        )

    @property
    def _public(self) -> dict[str, str]:
        """The columns of which a unit that may have several rows has one value, by what that is called."""
        several = self.card.unit.rows > 1
        return {f"v{i}": column.name for i, column in enumerate(self.card.columns) if column.public and several}

    @property
    def _unit(self) -> Column:
        return self.card.column(self.card.unit.column)

    @property
    def _ids_differ(self) -> bool:
        """Whether rows are of one unit exactly if the engine calls their raw ids equal.

        So for numbers that are ids by their value. Two texts may be one id, and 1.0 and 1.00 are two texts.
        """
        kind = self.types[self._unit.source]
        if self._unit.type != "integer":
            return self.dialect.form(kind) is Form.INTEGER
        return self.dialect.is_decimal(kind) or self.dialect.form(kind) in _NUMBERS


@dataclass(frozen=True, slots=True)
class TableInPlace(RenderedTable):
    """Raw rows to a statement. `long` are the units with too many rows; None where every row is to be ranked."""

    raw: RawTable = field(kw_only=True)
    long: Sequence[int | str] | None = field(kw_only=True)

    @classmethod
    def of(cls, raw: RawTable, *, long: Sequence[int | str] | None) -> TableInPlace:
        return cls(rows="", unit=raw.card.unit.column, raw=raw, long=long)

    def read(self, columns: Iterable[str]) -> str:
        wanted = list(columns)
        if self.long is None:
            return f"(\n{self._ranked(wanted, None)}\n)"
        if not self.long:
            return f"(\n{self._plain(wanted)}\n)"
        listed = self.raw.dialect.listed_units(self.long)
        rest = f" AND NOT EXISTS (SELECT 1 FROM ({listed}) AS l WHERE l.u = q.{unit_value(self.raw.card)})"
        return f"(\n{self._plain(wanted, rest)}\nUNION ALL\n{self._ranked(wanted, listed)}\n)"

    def bound(self, dialect: Dialect, rows: int) -> list[str]:
        assert rows == self.raw.card.unit.rows, "a plan asks for the rows that its card counts"
        return []

    def late(self, column: str) -> LateKey | None:
        """Groups by a category are made on its raw column."""
        raw = self.raw
        described = raw.card.column(column)
        if raw_key(raw.dialect, described, raw.types[described.source]) is None:
            return None
        form = raw.dialect.form(raw.types[described.source])
        assert form is not None
        return LateKey(_late_name(column), lambda text: category_position(raw.dialect, described, text, form))

    def _plain(self, columns: Sequence[str], also: str = "", *, relation: str | None = None) -> str:
        """The prepared rows of the table, or of another relation with its columns."""
        raw, late = self.raw, self._late_values(columns)
        named = [name for name in columns if name not in late]
        query = valued_rows(
            raw.dialect,
            raw.card,
            relation=relation or raw.relation,
            types=raw.types,
            columns=[raw.card.unit.column, *named],
            beside=dict(late.values()),
        )
        numbers = {column.name: f"v{index}" for index, column in enumerate(raw.card.columns)}
        values = {name: late[name][0] if name in late else numbers[name] for name in columns}
        items = [f"{value} AS {raw.dialect.name(name)}" for name, value in values.items()]
        where = f"{unit_value(raw.card)} IS NOT NULL{also}"
        return f"SELECT {', '.join(items) or '1 AS one'}\nFROM ({query}) AS q\nWHERE {where}"

    def _ranked(self, columns: Sequence[str], among: str | None) -> str:
        """The rows that count of all units, or of those that `among` selects."""
        late = {_late_name(column.name): column.name for column in self.raw.card.columns}
        counted = self.raw.counted([late.get(name, name) for name in columns], among)
        return self._plain(columns, relation=f"({counted}) AS q")

    def _late_values(self, columns: Sequence[str]) -> dict[str, tuple[str, str]]:
        """Of the columns that are raw ones: what their values are called on the way, and what they are."""
        raw = self.raw
        known = {_late_name(column.name): (index, column) for index, column in enumerate(raw.card.columns)}
        found = {name: known[name] for name in columns if name in known}
        return {
            name: (f"k{index}", raw.dialect.raw(column.source, raw.types[column.source]))
            for name, (index, column) in found.items()
        }


def _late_name(column: str) -> str:
    """No column of a card is called so."""
    return f"raw {column}"
