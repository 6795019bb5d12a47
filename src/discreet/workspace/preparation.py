"""From a source to the prepared Parquet file: canonical ids, whole steps, category positions, capped weights.

DuckDB works over a stream, in three moves: every row is cleaned into a table on disk; units are counted and
checked; the file is written with `ord`, the rank of each row within its unit by md5(salt ‖ row). Units are counted and
ranked share by share, a share being the units whose hash falls in a range, so that memory stays bounded and little is
sorted on disk, whatever the number of rows. docs/prepared.md specifies the bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from itertools import chain, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from discreet.cards import Card, Column, WeightRule, canonical_code
from discreet.catalogue import language, say, speaking
from discreet.guarantees import text as plain_text
from discreet.paths import AnyPath, as_path
from discreet.sources import DataSource, arrow_of, choose_columns
from discreet.workspace.ingest_report import ColumnReport, GroupReport, Report, WeightReport
from discreet.workspace.preparation_sql import (
    MACROS,
    ColumnExpressions,
    Form,
    ValueStatus,
    column_expressions,
    enum_name,
    quote,
    quote_name,
)

if TYPE_CHECKING:
    import duckdb

__all__ = ["ORDER_COLUMN", "prepare"]

ORDER_COLUMN: Final = "ord"
ROW_NUMBER: Final = "row_number"
_MEMORY_MB: Final = 400
_COLUMN_MB: Final = 16  # blocks of every column stay open in each thread
_THREADS: Final = 2
_FILE_FORMAT: Final = "FORMAT parquet, PARQUET_VERSION v2, COMPRESSION zstd, ROW_GROUP_SIZE 122880"
"""Pages of the second version pack whole numbers in as few bits as they need: smaller, and quicker to read."""
_SHARES: Final = 256
_COUNTED_ROWS: Final = 4_000_000
_ORDERED_ROWS: Final = 4_000_000
_RANKED_ROWS: Final = 2_000_000
_SQL_TYPES: Final = {
    "int8": "TINYINT",
    "int16": "SMALLINT",
    "int32": "INTEGER",
    "int64": "BIGINT",
    "text": "VARCHAR",
}

Progress = Callable[[int], None]


def prepare(
    source: DataSource, card: Card, *, salt: str, data: AnyPath, work: AnyPath, progress: Progress | None = None
) -> Report:
    """Write the prepared file to `data`, using the folder `work` for what does not fit in memory."""
    import duckdb

    names = tuple(column.source for column in card.columns if column.type != "row")
    unused = choose_columns(source, names)
    stream = _Stream(source, names, progress, stated=card.rows_at_most)
    connection = _connect(as_path(work, "work"), card)
    try:
        _stage(connection, card, stream)
        counts = _count_units(connection, card, stream.rows)
        _refuse_unfit(source, counts, stream.rows)
        report = _report(connection, card, counts, unused)
        _write(connection, card, counts, stream.rows, salt=salt, data=as_path(data, "data"))
    except duckdb.OutOfMemoryException:
        raise source.refusal(
            say(
                "takes more than {megabytes:,} MB of memory to prepare. Describe fewer columns in the card",
                megabytes=_memory_mb(card),
            )
        ) from None
    finally:
        connection.close()
    return report


def _memory_mb(card: Card) -> int:
    return _MEMORY_MB + _COLUMN_MB * len(card.columns)


class _Stream:
    """The source as one Arrow stream that keeps the refusal which ended it; DuckDB would wrap it."""

    def __init__(
        self, source: DataSource, names: tuple[str, ...], progress: Progress | None, *, stated: int | None
    ) -> None:
        import pyarrow as pa

        self.fault: Exception | None = None
        self._language = language()
        self._progress = progress
        self.rows = 0
        self._limit = source.limits.rows
        self._stated = stated
        self._source = source
        self._names = list(dict.fromkeys(names))
        batches = iter(source.batches(self._names))
        first = next(batches, None)
        # A file without rows is a data set like any other: every column is then empty text.
        empty = pa.schema([(index, pa.string()) for index in self._places])
        self._schema = empty if first is None else first.rename_columns(self._places).schema
        self._batches = batches if first is None else chain((first,), batches)

    @property
    def _places(self) -> list[str]:
        # SQL names know no case and files do, so columns travel by their place.
        return [f"c{index}" for index in range(len(self._names))]

    def place(self, name: str) -> str:
        """The name under which a column of the file arrives."""
        return self._places[self._names.index(name)]

    def place_of(self, column: Column) -> str:
        """The name under which a column of the card arrives; where every row is a unit, its number."""
        return ROW_NUMBER if column.type == "row" else self.place(column.source)

    def reader(self) -> Any:
        import pyarrow as pa

        return pa.RecordBatchReader.from_batches(self._schema.append(pa.field(ROW_NUMBER, pa.int64())), self._guarded())

    def _guarded(self) -> Iterator[Any]:
        import numpy as np

        try:
            while (batch := self._next()) is not None:
                numbers = arrow_of(np.arange(self.rows - batch.num_rows + 1, self.rows + 1))
                yield batch.rename_columns(self._places).append_column(ROW_NUMBER, numbers)
                if self._progress is not None:
                    with speaking(self._language):
                        self._progress(self.rows)
        except Exception as fault:
            self.fault = fault
            raise

    def _next(self) -> Any:
        """The next batch, or None at the end. It is DuckDB's thread that asks, and that speaks no language yet."""
        with speaking(self._language):
            batch = next(self._batches, None)
            if batch is None:
                return None
            self.rows += batch.num_rows
            if self.rows > self._limit:
                raise self._source.refusal(say("has more than {most:,} rows", most=self._limit))
            if self._stated is not None and self.rows > self._stated:
                raise self._source.refusal(
                    say("has more than {most:,} rows, which the card states as rows_at_most", most=self._stated)
                )
            return batch

    def form(self, column: Column) -> Form:
        """In what form the source gives a column; what is neither number nor truth value is text."""
        from pyarrow import types

        if column.type == "row":
            return Form.INTEGER
        kind = self._schema.field(self.place(column.source)).type
        if types.is_integer(kind):
            return Form.INTEGER
        if types.is_floating(kind):
            return Form.DOUBLE if types.is_float64(kind) else Form.SINGLE
        return Form.BOOLEAN if types.is_boolean(kind) else Form.TEXT


@dataclass(frozen=True, slots=True)
class _Units:
    units: int
    rows: int
    most_rows: int
    rows_beyond: int
    varying: tuple[str, ...]


def _connect(work: Path, card: Card) -> duckdb.DuckDBPyConnection:
    import duckdb

    connection = duckdb.connect(
        str(work / "stage.duckdb"),
        config={
            "memory_limit": f"{_memory_mb(card)}MB",
            "threads": _THREADS,
            "temp_directory": str(work / "spill"),
            "preserve_insertion_order": "false",
            "autoinstall_known_extensions": "false",
            "autoload_known_extensions": "false",
            "python_enable_replacements": "false",
        },
    )
    connection.execute("SET enable_progress_bar = false")
    for macro in MACROS:
        connection.execute(macro)
    return connection


def _stage(connection: duckdb.DuckDBPyConnection, card: Card, stream: _Stream) -> None:
    """Clean every row into the table `staged`: v<i> is the value of column i, s<i> what became of it."""
    import duckdb

    for index, column in enumerate(card.columns):
        if column.categories:
            codes = ", ".join(quote(canonical_code(category.code)) for category in column.categories)
            connection.execute(f"CREATE TYPE {enum_name(index)} AS ENUM ({codes})")
    parts = [column_expressions(column, i, stream.form(column)) for i, column in enumerate(card.columns)]
    indices = [stream.place_of(column) for column in card.columns]
    connection.register("incoming", stream.reader())
    connection.execute("PRAGMA disable_optimizer")  # takes the square of the number of columns and finds nothing here
    try:
        connection.execute(f"CREATE TABLE staged AS {_staging_query(card, parts, indices)}")
    except duckdb.Error:
        if stream.fault is not None:
            raise stream.fault from None
        raise
    finally:
        connection.unregister("incoming")
    connection.execute("PRAGMA enable_optimizer")


def _staging_query(card: Card, parts: list[ColumnExpressions], positions: list[str]) -> str:
    raw = ", ".join(f"{index} AS r{i}" for i, index in enumerate(positions))
    clean = ", ".join(f"{part.clean} AS t{i}" for i, part in enumerate(parts))
    parsed = ", ".join(f"t{i}, {part.parsed} AS p{i}" for i, part in enumerate(parts))
    final = ", ".join(
        f"CAST({part.value} AS {_SQL_TYPES[column.storage]}) AS v{i}, CAST({part.status} AS TINYINT) AS s{i}"
        for i, (column, part) in enumerate(zip(card.columns, parts, strict=True))
    )
    return f"SELECT {final} FROM (SELECT {parsed} FROM (SELECT {clean} FROM (SELECT {raw} FROM incoming)))"


def _passes(share: str, rows: int, *, most: int) -> tuple[str, ...]:
    """Conditions on the share that part the units, each for `most` rows where rows are spread evenly."""
    count = max(1, min(_SHARES, -(-rows // most)))
    edges = [_SHARES * index // count for index in range(count + 1)]
    return tuple(f"{share} BETWEEN {low} AND {high - 1}" for low, high in pairwise(edges)) if count > 1 else ("true",)


def _share(card: Card) -> str:
    return f"hash({_value(card, card.unit.column)}) % {_SHARES}"


def _count_units(connection: duckdb.DuckDBPyConnection, card: Card, rows: int) -> _Units:
    unit = _value(card, card.unit.column)
    public = [column.name for column in card.columns if column.public]
    checks = "".join(
        f", coalesce(min({v}) <> max({v}), false) OR count({v}) NOT IN (0, count(*)) AS varies_{i}"
        for i, v in enumerate(_value(card, name) for name in public)
    )
    varies = "".join(f", coalesce(bool_or(varies_{i}), false)" for i in range(len(public)))
    found = [
        connection.execute(
            f"SELECT count(*), coalesce(sum(n), 0), coalesce(max(n), 0), "
            f"coalesce(sum(greatest(n - {card.unit.rows}, 0)), 0){varies} "
            f"FROM (SELECT count(*) AS n{checks} FROM staged WHERE {share} AND {unit} IS NOT NULL GROUP BY {unit})"
        ).fetchall()[0]
        for share in _passes(_share(card), rows, most=_COUNTED_ROWS)
    ]
    units, kept, most, beyond, *differ = zip(*found, strict=True)
    varying = tuple(name for name, shares in zip(public, differ, strict=True) if any(shares))
    return _Units(sum(map(int, units)), sum(map(int, kept)), max(map(int, most)), sum(map(int, beyond)), varying)


def _refuse_unfit(source: DataSource, counts: _Units, rows: int) -> None:
    if counts.units == 0 and rows > 0:
        raise source.refusal(say("has no row with an id; check the unit's column and its type in the card"))
    if counts.varying:
        names = ", ".join(say("'{name}'", name=name) for name in counts.varying)
        raise source.refusal(
            say(
                "has units whose rows differ in {names}, which the card declares public: a public value is one per "
                "unit",
                names=names,
            )
        )


def _report(connection: duckdb.DuckDBPyConnection, card: Card, counts: _Units, unused: tuple[str, ...]) -> Report:
    fields = (
        ValueStatus.BLANK,
        ValueStatus.MISSING,
        ValueStatus.UNPARSABLE,
        ValueStatus.NOT_LISTED,
        ValueStatus.LOW,
        ValueStatus.HIGH,
    )
    wanted = ["count(*)"]
    for index in range(len(card.columns)):
        # with FILTER every count would copy the columns of all others
        wanted += [f"count_if(s{index} = {status.value})" for status in fields]
        wanted.append(f"count(*) - count(v{index})")
    row = connection.execute(f"SELECT {', '.join(wanted)} FROM staged").fetchone()
    assert row is not None
    width = len(fields) + 1
    columns = tuple(
        ColumnReport(column.name, *row[1 + index * width : 1 + (index + 1) * width])
        for index, column in enumerate(card.columns)
    )
    return Report(
        rows=row[0],
        rows_without_id=row[0] - counts.rows,
        units=counts.units,
        most_rows=counts.most_rows,
        rows_beyond=counts.rows_beyond,
        columns=columns,
        weight=_weigh(connection, card),
        unused=unused,
        incomplete=_count_incomplete(connection, card),
    )


def _count_incomplete(connection: duckdb.DuckDBPyConnection, card: Card) -> dict[str, int]:
    names = [column.name for column in card.columns if column.complete]
    if not names:
        return {}
    counts = ", ".join(f"count(*) FILTER ({_value(card, name)} IS NULL)" for name in names)
    unit = _value(card, card.unit.column)
    row = connection.execute(f"SELECT {counts} FROM staged WHERE {unit} IS NOT NULL").fetchone()
    assert row is not None
    return dict(zip(names, map(int, row), strict=True))


def _weigh(connection: duckdb.DuckDBPyConnection, card: Card) -> WeightReport | None:
    if card.weight is None:
        return None
    weight, unit = _value(card, card.weight.column), _value(card, card.unit.column)
    capped, by = _capped(card, card.weight), card.cut_by
    group = "0" if by is None else _value(card, by)
    rows = connection.execute(
        f"SELECT {group}, coalesce(sum({weight}::HUGEINT), 0), coalesce(sum({capped}::HUGEINT), 0), "
        f"count(*) FILTER ({capped} < {weight}) FROM staged WHERE {unit} IS NOT NULL GROUP BY 1"
    ).fetchall()
    found = {index: (int(before), int(after), int(cut)) for index, before, after, cut in rows}
    step = card.column(card.weight.column).step or Decimal(1)
    before, after, cut = (sum(part) for part in zip((0, 0, 0), *found.values(), strict=True))
    groups = []
    if by is not None:
        codes: list[str | None] = [category.code for category in card.column(by).categories]
        indices = [*range(len(codes)), *([None] if None in found else [])]
        named = [*codes, *([None] if None in found else [])]
        for code, index in zip(named, indices, strict=True):
            groups.append(GroupReport(code, *_cut(*found.get(index, (0, 0, 0)), step=step)))
    return WeightReport(*_cut(before, after, cut, step=step), tuple(groups))


def _cut(before: int, after: int, rows: int, *, step: Decimal) -> tuple[str, str, int, float]:
    share = float(Fraction(before - after, before)) if before else 0.0
    return plain_text(before * step), plain_text(after * step), rows, share


def _write(
    connection: duckdb.DuckDBPyConnection, card: Card, counts: _Units, staged: int, *, salt: str, data: Path
) -> None:
    """Write the file. Where units have rows beyond their bound, those that count go first: questions skip the rest."""
    rows = _prepared_rows(card, "staged", rank="1")
    if counts.most_rows > 1:
        _rank(connection, card, staged, salt=salt)
        rows = "FROM ranked"
    if counts.rows_beyond:
        connection.execute("SET preserve_insertion_order = true")
        counted = f"{ORDER_COLUMN} <= {card.unit.rows}"
        rows = f"FROM ranked WHERE {counted} UNION ALL FROM ranked WHERE NOT {counted}"
    connection.execute(f"COPY ({rows}) TO {quote(str(data))} ({_FILE_FORMAT})")


def _rank(connection: duckdb.DuckDBPyConnection, card: Card, staged: int, *, salt: str) -> None:
    """The rows of the file as the table `ranked`, share by share; what is done with is dropped."""
    values = [(column, _prepared(card, column)) for column in card.columns]
    rank = f"row_number() OVER (PARTITION BY {_value(card, card.unit.column)} ORDER BY md5({_canonical(values, salt)}))"
    passes = _passes("share", staged, most=_RANKED_ROWS)
    table = "staged"
    if len(passes) > 1:
        _order_by_share(connection, card, staged)
        connection.execute("DROP TABLE staged")
        table = "shared"
    rows = _prepared_rows(card, table, rank=rank)
    for index, share in enumerate(passes):
        into = "INSERT INTO ranked" if index else "CREATE TABLE ranked AS"
        connection.execute(f"{into} {rows} AND {share}")
    connection.execute(f"DROP TABLE {table}")


def _order_by_share(connection: duckdb.DuckDBPyConnection, card: Card, staged: int) -> None:
    """The values as the table `shared`, of which each few million rows are ordered by the share of their units.

    A pass over some shares then finds most blocks of the table to be of others, and does not read them.
    """
    values = ", ".join(f"v{index}" for index in range(len(card.columns)))
    for start in range(0, staged, _ORDERED_ROWS):
        into = "INSERT INTO shared" if start else "CREATE TABLE shared AS"
        connection.execute(
            f"{into} SELECT {values}, CAST({_share(card)} AS UTINYINT) AS share FROM staged "
            f"WHERE rowid BETWEEN {start} AND {start + _ORDERED_ROWS - 1} ORDER BY share"
        )


def _prepared_rows(card: Card, table: str, *, rank: str) -> str:
    """The rows of the file, each with its rank within its unit."""
    named = ", ".join(
        f"CAST({_prepared(card, column)} AS {_SQL_TYPES[column.storage]}) AS {quote_name(column.name)}"
        for column in card.columns
    )
    unit = _value(card, card.unit.column)
    return f"SELECT {named}, CAST({rank} AS INTEGER) AS {ORDER_COLUMN} FROM {table} WHERE {unit} IS NOT NULL"


def _canonical(values: list[tuple[Column, str]], salt: str) -> str:
    """The row as one text, no two rows alike: '|' between columns, ~ for NULL, its length before a text."""
    parts = [
        f"coalesce(length({value}) || ':' || {value}, '~')"
        if column.storage == "text"
        else f"coalesce(CAST({value} AS VARCHAR), '~')"
        for column, value in values
    ]
    return f"concat_ws('|', {', '.join([quote(salt), *parts])})"


def _prepared(card: Card, column: Column) -> str:
    if card.weight is not None and column.name == card.weight.column:
        return _capped(card, card.weight)
    return _value(card, column.name)


def _capped(card: Card, weight: WeightRule) -> str:
    """The weight in steps, at most its cap. A row whose category is NULL falls under the largest cap."""
    step = Fraction(card.column(weight.column).step or 1)
    value = _value(card, weight.column)
    cap = str(int(Fraction(weight.largest) / step))
    if weight.by is not None:
        codes = [category.code for category in card.column(weight.by).categories]
        caps = ", ".join(str(int(Fraction(weight.cap_for(code)) / step)) for code in codes)
        cap = f"coalesce(list_extract([{caps}], {_value(card, weight.by)} + 1), {cap})"
    return f"CASE WHEN {value} IS NULL THEN NULL ELSE least({value}, {cap}) END"


def _value(card: Card, name: str) -> str:
    return f"v{next(i for i, column in enumerate(card.columns) if column.name == name)}"
