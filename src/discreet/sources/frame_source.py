"""Tables in memory as Arrow batches: of pandas, polars, Arrow, and whatever else gives itself as an Arrow stream."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar, Final, Protocol, runtime_checkable

from discreet.catalogue import say
from discreet.sources.parquet_source import flatten_column
from discreet.sources.source import DataSource, FileLimits, clean_name

__all__ = ["Frame", "FrameSource"]

_BATCH_ROWS: Final = 1 << 16


@runtime_checkable
class Frame(Protocol):
    """A table in memory that Arrow can read: a DataFrame of pandas (2.2 or newer) or polars, a table of Arrow."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The Arrow PyCapsule interface."""


class FrameSource(DataSource):
    """A frame, read once and in slices. Its index, where it has names, is columns too."""

    sort: ClassVar[str] = "frame"

    def __init__(self, frame: Frame, limits: FileLimits | None = None) -> None:
        super().__init__(Path(type(frame).__name__), limits or FileLimits())
        import pyarrow as pa

        try:
            self._reader = pa.RecordBatchReader.from_stream(frame)
        except (pa.ArrowException, TypeError, ValueError):
            why = say("cannot be read as a table: two columns share a name, or one mixes sorts of values")
            raise self.refusal(why) from None
        self._names = tuple(clean_name(name) for name in self._reader.schema.names)
        self.check_columns()

    @property
    def names(self) -> tuple[str, ...]:
        return self._names

    def batches(self, names: Sequence[str]) -> Iterator[Any]:
        import pyarrow as pa

        indices = [self._names.index(name) for name in names]
        try:
            for whole in self._reader:
                for start in range(0, whole.num_rows, _BATCH_ROWS):
                    batch = whole.slice(start, _BATCH_ROWS)
                    arrays = [flatten_column(batch.column(index), self._names[index], self) for index in indices]
                    yield pa.RecordBatch.from_arrays(arrays, names=list(names))
        except pa.ArrowException:
            raise self.refusal(say("cannot be read to its end")) from None
