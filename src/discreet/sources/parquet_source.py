"""Parquet files as Arrow batches in the file's own flat types; what is nested is refused."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar, Final

from discreet.catalogue import say
from discreet.sources.source import DataSource, FileLimits, clean_name

__all__ = ["ParquetSource", "flat_type", "flatten_column"]

_BATCH_ROWS: Final = 1 << 16
_BATCH_BYTES: Final = 1 << 30
_BUFFER_BYTES: Final = 1 << 20


class ParquetSource(DataSource):
    """A Parquet file, read row group by row group."""

    sort: ClassVar[str] = "parquet"

    def __init__(self, file: Path, limits: FileLimits, *, shown: str | None = None) -> None:
        super().__init__(file, limits, shown=shown)
        import pyarrow as pa
        from pyarrow import parquet

        try:
            with parquet.ParquetFile(file) as opened:
                metadata, self.schema = opened.metadata, opened.schema_arrow
                groups = [metadata.row_group(index) for index in range(metadata.num_row_groups)]
                self.rows, self.expanded_bytes = metadata.num_rows, sum(group.total_byte_size for group in groups)
        except (pa.ArrowException, OSError):
            raise self.refusal(say("cannot be read as Parquet")) from None
        self._raw_names = list(self.schema.names)
        self._names = tuple(clean_name(name) for name in self._raw_names)
        if self.rows > limits.rows:
            raise self.refusal(say("has {rows:,} rows; the limit is {limit:,}", rows=self.rows, limit=limits.rows))
        if self.expanded_bytes > limits.expanded_bytes:
            raise self.refusal(
                say(
                    "unpacks to {size:,} bytes; the limit is {limit:,}",
                    size=self.expanded_bytes,
                    limit=limits.expanded_bytes,
                )
            )

    @property
    def names(self) -> tuple[str, ...]:
        return self._names

    def batches(self, names: Sequence[str]) -> Iterator[Any]:
        import pyarrow as pa
        from pyarrow import parquet

        raw = [self._raw_names[self._names.index(name)] for name in names]
        rows = unpacked = 0
        texts = [name for name in raw if pa.types.is_string(self.schema.field(name).type)]
        try:
            # A dictionary says a long text once for very many rows: it is measured before it is written out. Without
            # a buffer of its own size Arrow keeps all that it has read of the file until the end.
            with parquet.ParquetFile(
                self.file, read_dictionary=texts, pre_buffer=False, buffer_size=_BUFFER_BYTES
            ) as opened:
                for batch in opened.iter_batches(batch_size=_BATCH_ROWS, columns=raw, use_threads=False):
                    rows += batch.num_rows
                    if rows > self.limits.rows:
                        raise self.refusal(say("has more than {most:,} rows", most=self.limits.rows))
                    wide = sum(map(_written_bytes, batch.columns))
                    unpacked += wide
                    if unpacked > self.limits.expanded_bytes or wide > _BATCH_BYTES:
                        raise self.refusal(say("unpacks to far more than its size allows"))
                    arrays = [flatten_column(batch.column(name), name, self) for name in raw]
                    yield pa.RecordBatch.from_arrays(arrays, names=list(names))
        except (pa.ArrowException, OSError):
            raise self.refusal(say("cannot be read as Parquet: it is damaged or cut short")) from None


def _written_bytes(array: Any) -> int:
    """How many bytes a column takes once its dictionary is written out; without doing so."""
    from pyarrow import compute, types

    if not types.is_dictionary(array.type) or not types.is_string(array.type.value_type):
        return int(array.nbytes)
    lengths = compute.cast(compute.binary_length(array.dictionary), "int64")
    return int(compute.sum(lengths.take(array.indices)).as_py() or 0)


def flat_type(kind: Any) -> Any:
    """The type of a column, however it keeps its texts: by a dictionary, with long offsets, or plainly."""
    import pyarrow as pa
    from pyarrow import types

    if types.is_dictionary(kind):
        return flat_type(kind.value_type)
    return pa.string() if types.is_large_string(kind) or types.is_string_view(kind) else kind


def flatten_column(array: Any, name: str, source: DataSource) -> Any:
    """The column as numbers or as valid text; Arrow leaves the text of files unchecked."""
    import pyarrow as pa
    from pyarrow import types

    kind = array.type
    if types.is_dictionary(kind):
        array = array.dictionary_decode()
        kind = array.type
    if types.is_nested(kind):
        raise source.refusal(say("holds a nested column, '{name}'; flatten it first", name=clean_name(name)))
    if types.is_integer(kind) or types.is_boolean(kind) or types.is_null(kind):
        return array.cast(pa.string()) if types.is_null(kind) else array
    if types.is_floating(kind):
        return array.cast(pa.float32()) if types.is_float16(kind) else array
    try:
        text = _plain_decimals(array) if types.is_decimal(kind) else array.cast(pa.string())
        text.validate(full=True)
    except pa.ArrowException:
        raise source.refusal(
            say("holds a column that is neither a number nor UTF-8 text, '{name}'", name=clean_name(name))
        ) from None
    return text


def _plain_decimals(array: Any) -> Any:
    """Decimals as text without exponent: Arrow writes a zero with nine places as 0E-9, which no code or id is."""
    import pyarrow as pa
    from pyarrow import compute

    text = array.cast(pa.string())
    shortened = compute.fill_null(compute.match_substring(text, "E"), False)
    if not compute.any(shortened).as_py():
        return text
    plain = [None if value is None else format(value, "f") for value in array.to_pylist()]
    return pa.array(plain, pa.string())
