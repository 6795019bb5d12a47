"""Tables that stay in their engine: registering one in a workspace, and its prepared rows as a query."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from dataclasses import replace as with_changes
from typing import Any, Protocol, TypeVar

from discreet.cards import Card
from discreet.catalogue import say
from discreet.engines.dialects import InPlaceDialect
from discreet.engines.exact_values import Row
from discreet.engines.in_place.bounded_rows import RawTable
from discreet.engines.in_place.prepared_rows import unit_check
from discreet.engines.rendering import RenderedTable
from discreet.errors import DiscreetError, EngineUnavailable, FileRefused, nearest
from discreet.files import write_whole
from discreet.paths import tell_reason
from discreet.workspace import Dataset, GiveVersion, RowSource, StoredRows, Workspace, check_presence, count_on

__all__ = [
    "PinnedTable",
    "RowReader",
    "RowWriter",
    "add_table",
    "check_fit",
    "dialect_of",
    "find_rows",
    "open_rows",
    "open_tables",
    "open_writer",
    "publish_source",
    "settle_types",
]


Reader = TypeVar("Reader", bound="RowReader")


@dataclass(frozen=True, slots=True)
class PinnedTable:
    """A raw table in the state that one question sees: a FROM item, and what the engine vouches for.

    `unique` are columns of which no value stands in two rows. `still`: reading it twice gives the same rows.
    """

    relation: str
    unique: frozenset[str] = frozenset()
    still: bool = True


class RowReader(Protocol):
    """An engine that holds tables, open for one question. What `search`, `run` and `fetch` raise may quote rows, so it
    is never shown; the other methods raise EngineUnavailable, which says nothing about rows.
    """

    def columns(self, table: str) -> dict[str, str]:
        """The columns of a table and their types, from the catalogue; empty when there is no such table."""

    def pin(self, table: str) -> PinnedTable:
        """A raw table as this question sees it."""

    def stored(self, rows: StoredRows) -> str:
        """Prepared rows that the engine keeps, as a FROM item."""

    def check(self, sql: str) -> None:
        """Refuse a statement that this user could not run; no row is read."""

    def search(self, sql: str) -> list[Row]:
        """The rows of a statement that counts rows by unit."""

    def run(self, sql: str) -> list[Row]:
        """The rows of a statement, as whole numbers, texts and NULL: for few."""

    def fetch(self, sql: str) -> Any:
        """The columns of a statement as a table of Arrow, sums as whole decimals: for many."""

    def rest(self) -> None:
        """Hold nothing until the question goes on."""

    def close(self) -> None: ...


class RowWriter(RowReader, Protocol):
    """An engine that may also write prepared rows into a schema or folder of Discreet's own.

    What it raises may quote rows, but for EngineUnavailable and FileRefused.
    """

    def check_home(self, home: str) -> None:
        """Refuse a schema or folder that is not there or may not be written to."""

    def write(self, name: str, select: str) -> StoredRows:
        """Make the table or folder of this name from a SELECT of prepared rows."""

    def finish(self) -> None:
        """From now on what was written stays, whatever happens."""

    def remove(self, name: str) -> None:
        """Remove what was written under a name, if it is there; what a question is reading may stay."""


def open_rows(source: RowSource) -> RowReader:
    """The engine that holds a table, open and read-only; EngineUnavailable when it cannot be reached."""
    if source.engine == "postgres":
        from discreet.engines.in_place.postgres_tables import PostgresRows

        return PostgresRows(source)
    from discreet.engines.in_place.spark_tables import SparkRows

    return SparkRows(source)


def open_writer(source: RowSource) -> RowWriter:
    """The engine that holds a table, open for reading it and for writing prepared rows."""
    if source.engine == "postgres":
        from discreet.engines.in_place.postgres_writer import PostgresWriter

        return PostgresWriter(source)
    from discreet.engines.in_place.spark_writer import SparkWriter

    return SparkWriter(source)


def dialect_of(engine: str) -> InPlaceDialect:
    if engine == "postgres":
        from discreet.engines.in_place.postgres_dialect import POSTGRES

        return POSTGRES
    from discreet.engines.in_place.spark_dialect import SPARK

    return SPARK


def find_rows(source: RowSource, card: Card, *, salt: str) -> Callable[[RowReader], RawTable | RenderedTable]:
    """How a question finds the rows of a registered table: prepared in the engine, or raw."""

    def find(reader: RowReader) -> RawTable | RenderedTable:
        if source.stored is not None:
            return RenderedTable(rows=reader.stored(source.stored), unit=card.unit.column)
        assert source.table is not None
        pinned = reader.pin(source.table)
        return RawTable(
            dialect_of(source.engine),
            card,
            pinned.relation,
            source.type_of,
            salt,
            unique=pinned.unique,
            still=pinned.still,
        )

    return find


def add_table(
    workspace: Workspace,
    source: RowSource,
    card: Card,
    *,
    replace: bool,
    give: GiveVersion = count_on,
    whole: bool = False,
    progress: Callable[[str], None] | None = None,
) -> Dataset:
    """Check that a table fits its card and make it the dataset's current version, prepared in its engine or raw.

    Nothing is written to the engine unless the source says where. The ledger is not touched, unless `give` asks it for
    the version's number once all is ready.
    """
    if source.materialise is not None:
        from discreet.engines.in_place.materialised_rows import materialise_table

        return materialise_table(workspace, source, card, replace=replace, give=give, whole=whole, progress=progress)
    check_presence(workspace, card.dataset, replace=replace)
    with open_tables(source, open_rows) as reader:
        found = settle_types(source, card, reader)
        assert found.table is not None
        check_fit(found, card, reader, reader.pin(found.table).relation)
    return publish_source(workspace, found, card, give=give)


@contextmanager
def open_tables(source: RowSource, opened: Callable[[RowSource], Reader]) -> Iterator[Reader]:
    """An engine for the custodian's work on a table. Its own words are not shown: they may quote rows."""
    reader = opened(source)
    try:
        yield reader
    except DiscreetError:
        raise
    except Exception as error:
        raise EngineUnavailable(
            say(
                "{where} could not be read: {reason}. Check the rights of the engine's user.",
                where=source.where,
                reason=type(error).__name__,
            ),
            reason=type(error).__name__,
        ) from None
    finally:
        reader.close()


def publish_source(workspace: Workspace, source: RowSource, card: Card, *, give: GiveVersion) -> Dataset:
    """Make where rows are the dataset's current version."""
    with workspace.stage() as folder:
        version = folder / "version"
        version.mkdir(mode=0o700)
        try:
            write_whole(version / "card.yaml", card.text)
            write_whole(version / "source.json", source.to_json())
            return workspace.publish(card.dataset, version, give=give)
        except OSError as error:
            reason = tell_reason(error)
            raise _refusal(
                source, say("could not be registered: {reason}; nothing was changed", reason=reason)
            ) from None


def settle_types(source: RowSource, card: Card, reader: RowReader) -> RowSource:
    """The source with the engine's types of the columns that the card uses, all of them readable."""
    if any(column.type == "row" for column in card.columns):
        raise _refusal(
            source, say("has no order of rows to number them by; name an id column in the card, not type: row")
        )
    assert source.table is not None
    columns = reader.columns(source.table)
    if not columns:
        raise _refusal(source, say("is not there, or its columns may not be seen by this user"))
    dialect = dialect_of(source.engine)
    wanted = list(dict.fromkeys(column.source for column in card.columns))
    for name in wanted:
        if name not in columns:
            guess = nearest(name, columns)
            raise _refusal(
                source,
                say("lacks column '{name}' (did you mean '{guess}'?)", name=name, guess=guess)
                if guess
                else say("lacks column '{name}'", name=name),
            )
        if dialect.form(columns[name]) is None:
            raise _refusal(
                source,
                say(
                    "has column '{name}' of type {kind}; whole numbers, decimals, floats, texts and truth values "
                    "can be read, so cast it in a view",
                    name=name,
                    kind=columns[name],
                ),
            )
    return with_changes(source, types=tuple((name, columns[name]) for name in wanted))


def check_fit(source: RowSource, card: Card, reader: RowReader, relation: str) -> None:
    """Refuse rows that do not fit the card: none with an id, or public values that vary within a unit."""
    if source.engine == "spark":
        from discreet.engines.in_place.spark_tables import SparkRows

        assert isinstance(reader, SparkRows)
        reader.check_libraries()
    dialect = dialect_of(source.engine)
    check = unit_check(dialect, card, relation=relation, types=source.type_of)
    [(units, *varies)] = reader.run(check)
    if units == 0 or card.rows_at_most is not None:
        [(rows,)] = reader.run(f"SELECT count(*) FROM {relation}")
        assert isinstance(rows, int)
        if rows and units == 0:
            raise _refusal(source, say("has no row with an id; check the unit's column and its type in the card"))
        if rows > (card.rows_at_most or rows):
            raise _refusal(
                source,
                say("has more than {most:,} rows, which the card states as rows_at_most", most=card.rows_at_most),
            )
    public = [column.name for column in card.columns if column.public]
    if varying := [name for name, differs in zip(public, varies, strict=True) if differs]:
        names = ", ".join(say("'{name}'", name=name) for name in varying)
        raise _refusal(
            source,
            say(
                "has units whose rows differ in {names}, which the card declares public: a public value is one per "
                "unit",
                names=names,
            ),
        )


def _refusal(source: RowSource, why: str) -> FileRefused:
    return FileRefused(say("{where} {why}.", where=source.where, why=why), table=source.table)
