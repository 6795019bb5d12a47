"""Rows prepared by their own engine, once, into a table or folder that belongs to Discreet.

What is made for a version is never changed. Its name stands in the workspace's journal before it is made, so that what
a failure leaves behind is found and removed by the next refresh. The version before the current one stays as well, for
questions that are still reading it. Until a new version is published, the old one answers.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from dataclasses import replace as with_changes
from typing import Final

from discreet.cards import Card
from discreet.catalogue import say
from discreet.engines.dialects import InPlaceDialect
from discreet.engines.in_place.prepared_rows import prepared_rows, unit_value
from discreet.engines.in_place.raw_columns import valued_rows
from discreet.engines.in_place.tables_in_place import (
    RowWriter,
    check_fit,
    dialect_of,
    open_tables,
    open_writer,
    publish_source,
    settle_types,
)
from discreet.errors import EngineUnavailable, FileRefused
from discreet.workspace import (
    Dataset,
    GiveVersion,
    RowSource,
    StoredRows,
    TableJournal,
    Workspace,
    check_presence,
    count_on,
)

__all__ = ["materialise_table"]

_MOST_OF_NAME: Final = 30
_GROWING: Final = re.compile(
    r"(small|big|tiny)?int(eger)?|date|timestamp(_ntz|_ltz)?|timestamp(\([0-6]\))? with(out)? time zone"
)


def materialise_table(
    workspace: Workspace,
    source: RowSource,
    card: Card,
    *,
    replace: bool,
    give: GiveVersion = count_on,
    whole: bool = False,
    progress: Callable[[str], None] | None = None,
) -> Dataset:
    """Prepare a table in its engine and make the result the dataset's current version; `progress` hears each stage.

    Units that have not changed since, by the change column, are taken over from the version before; `whole` prepares
    every row again.
    """
    tell = progress or (lambda _: None)
    check_presence(workspace, card.dataset, replace=replace)
    with workspace.journal(card.dataset) as journal:
        last = workspace.dataset(card.dataset) if replace else None
        with open_tables(source, open_writer) as writer:
            typed = settle_types(source, card, writer)
            assert typed.materialise is not None
            writer.check_home(typed.materialise)
            _change_column(typed, writer)
            base = _base(last, typed, card, whole)
            stored = _write(writer, typed, card, journal, salt=workspace.salt, base=base, tell=tell)
            tell(say("Publishing"))
            writer.finish()
            dataset = publish_source(workspace, with_changes(typed, stored=stored), card, give=give)
            kept = {stored.name, *([last.source.stored.name] if last and last.source.stored else [])}
            for name in journal.names(typed.place) - kept:
                # What a question is reading stays until the next time.
                with suppress(EngineUnavailable):
                    writer.remove(name)
                    journal.forget(name)
    return dataset


def _base(last: Dataset | None, source: RowSource, card: Card, whole: bool) -> StoredRows | None:
    """The prepared rows that a refresh may take units from: made of the same table by the same card."""
    if last is None or last.source.stored is None or last.source.stored.mark is None or whole:
        return None
    same = with_changes(last.source, stored=None) == source and last.card.text == card.text
    return last.source.stored if same and source.changed_by is not None else None


def _write(
    writer: RowWriter,
    source: RowSource,
    card: Card,
    journal: TableJournal,
    *,
    salt: str,
    base: StoredRows | None,
    tell: Callable[[str], None],
) -> StoredRows:
    assert source.table is not None
    tell(say("Checking the rows"))
    dialect = dialect_of(source.engine)
    pinned = writer.pin(source.table)
    raw = _Raw(dialect, card, pinned.relation, source.type_of)
    check_fit(source, card, writer, raw.relation)
    growing = _change_column(source, writer)
    mark = _mark(writer, growing, raw)
    # What changes between two reads could leave rows of a unit in both parts.
    if base is not None and base.mark is not None and growing is not None and pinned.still:
        tell(say("Preparing the units that have changed"))
        changed = raw.changed_units(*growing, base.mark)
        name = journal.add(source.place, _new_name(source, card))
        stored = writer.write(name, raw.renewed(writer.stored(base), changed, salt))
        # A row that is gone, or went to another unit, is still among those taken over. Then all is prepared again.
        if writer.run(f"SELECT count(*) FROM {writer.stored(stored)}") == writer.run(raw.countable()):
            return with_changes(stored, mark=mark)
    tell(say("Preparing all rows"))
    name = journal.add(source.place, _new_name(source, card))
    return with_changes(writer.write(name, raw.prepared(salt)), mark=mark)


@dataclass(frozen=True, slots=True)
class _Raw:
    """A raw table as one statement after another sees it, and what is made of it."""

    dialect: InPlaceDialect
    card: Card
    relation: str
    types: Mapping[str, str]

    def prepared(self, salt: str, *, among: str | None = None) -> str:
        """The prepared rows in the types that they are stored in."""
        return self._typed(
            prepared_rows(self.dialect, self.card, relation=self.relation, types=self.types, salt=salt, among=among)
        )

    def renewed(self, base: str, changed: str, salt: str) -> str:
        """The prepared rows of a version before, but for the units that have changed: those are prepared again."""
        columns = ", ".join([*(self.dialect.name(column.name) for column in self.card.columns), "ord"])
        unit = self.dialect.name(self.card.unit.column)
        gone = f"EXISTS (SELECT 1 FROM ({changed}) AS l WHERE l.u = b.{unit})"
        kept = f"SELECT {columns}\nFROM {base} AS b\nWHERE NOT {gone}"
        return f"{self._typed(kept)}\nUNION ALL\n{self.prepared(salt, among=changed)}"

    def changed_units(self, column: str, kind: str, mark: str) -> str:
        """The units with a row that came or changed since the mark, or that does not say."""
        unit = unit_value(self.card)
        since = f"c IS NULL OR c >= CAST({self.dialect.text(mark)} AS {kind})"
        query = self._units({"c": self.dialect.name(column)})
        return f"SELECT DISTINCT {unit} AS u\nFROM ({query}) AS q\nWHERE {unit} IS NOT NULL AND ({since})"

    def countable(self) -> str:
        """How many rows have a unit."""
        return f"SELECT count({unit_value(self.card)})\nFROM ({self._units({})}) AS q"

    def _units(self, beside: Mapping[str, str]) -> str:
        return valued_rows(
            self.dialect,
            self.card,
            relation=self.relation,
            types=self.types,
            columns=[self.card.unit.column],
            beside=beside,
        )

    def _typed(self, query: str) -> str:
        types = {column.name: self.dialect.storage_types[column.storage] for column in self.card.columns}
        quoted = {self.dialect.name(name): kind for name, kind in types.items()}
        quoted["ord"] = self.dialect.storage_types["int32"]
        items = [f"CAST({name} AS {kind}) AS {name}" for name, kind in quoted.items()]
        return f"SELECT {', '.join(items)}\nFROM ({query}) AS p"


def _new_name(source: RowSource, card: Card) -> str:
    """A name that was never used: what a version reads is not written a second time."""
    assert source.materialise is not None
    plain = re.sub("[^a-z0-9]+", "_", card.dataset.lower())[:_MOST_OF_NAME].strip("_")
    between = "/" if "/" in source.materialise else "."
    return f"{source.materialise.rstrip('/')}{between}discreet_{plain}_{secrets.token_hex(8)}"


def _change_column(source: RowSource, writer: RowWriter) -> tuple[str, str] | None:
    """The column that tells changes, and its type."""
    if source.changed_by is None:
        return None
    assert source.table is not None
    kind = writer.columns(source.table).get(source.changed_by)
    if kind is None:
        raise FileRefused(
            say(
                "{where} has no column '{name}' that could show what has changed.",
                where=source.where,
                name=source.changed_by,
            ),
            table=source.table,
        )
    if not _GROWING.fullmatch(kind):
        raise FileRefused(
            say(
                "{where} has column '{name}' of type {kind}; only a whole number, a date or a time that grows can "
                "show what has changed.",
                where=source.where,
                name=source.changed_by,
                kind=kind,
            ),
            table=source.table,
        )
    return source.changed_by, kind


def _mark(writer: RowWriter, growing: tuple[str, str] | None, raw: _Raw) -> str | None:
    """The greatest value of the change column, to the engine's last digit."""
    if growing is None:
        return None
    column = f"CAST(max({raw.dialect.name(growing[0])}) AS {raw.dialect.text_type})"
    [(mark,)] = writer.run(f"SELECT {column}\nFROM {raw.relation}")
    return None if mark is None else str(mark)
