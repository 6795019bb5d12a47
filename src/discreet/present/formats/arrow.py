"""A release as a table of Arrow, pandas or polars; what it promises is in its metadata."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from discreet.catalogue import Phrase
from discreet.errors import ExtraMissing
from discreet.present.formats.json import facts
from discreet.present.long_list import ColumnSort, ListColumn, list_columns
from discreet.results import Heading, Release

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

__all__ = ["to_arrow", "to_pandas", "to_parquet", "to_polars"]

_WIDEST_INTEGER: Final = 1 << 63


def to_arrow(release: Release, language: str | None = None) -> pyarrow.Table:
    """The columns of the CSV with types; what the release promises is in the schema's metadata.

    Without a language, keys are codes alone.
    """
    import pyarrow

    columns = list_columns(release, language or "en")
    arrays = {column.name: _array(column) for column in columns if language is not None or not column.aside}
    return pyarrow.table(arrays, metadata=_metadata(release, language or "en"))


def to_pandas(release: Release, language: str | None = None) -> pandas.DataFrame:
    """The Arrow table as a data frame, with the same facts in `attrs`."""
    try:
        import pandas  # noqa: F401
    except ImportError:
        raise ExtraMissing(needed_for=Phrase("to_pandas()"), extra="pandas") from None
    frame: pandas.DataFrame = to_arrow(release, language).to_pandas()
    frame.attrs |= _facts(release, language or "en")
    return frame


def to_polars(release: Release, language: str | None = None) -> polars.DataFrame:
    """The Arrow table as a polars data frame."""
    try:
        import polars
    except ImportError:
        raise ExtraMissing(needed_for=Phrase("to_polars()"), extra="polars") from None
    frame = polars.from_arrow(to_arrow(release, language))
    assert isinstance(frame, polars.DataFrame)
    return frame


def to_parquet(release: Release, language: str) -> bytes:
    """The whole file."""
    import pyarrow
    from pyarrow import parquet

    sink = pyarrow.BufferOutputStream()
    parquet.write_table(to_arrow(release, language), sink)
    content: bytes = sink.getvalue().to_pybytes()
    return content


def _array(column: ListColumn) -> Any:
    """Types follow from the key, the step and the column, never from what noise happened to give."""
    import pyarrow

    found: Any = column.values
    values: list[Any] = found.tolist() if hasattr(found, "tolist") else list(found)
    if column.sort is ColumnSort.WORDS:
        return pyarrow.array([None if item is None else str(item) for item in values], type=pyarrow.string())
    if column.sort is ColumnSort.CODE:
        return pyarrow.array(_codes(column.heading, values), type=_code_type(column.heading, values))
    whole = column.statistic is not None and column.statistic.whole
    if not whole:
        return pyarrow.array([None if item is None else _as_float(item) for item in values], type=pyarrow.float64())
    if all(item is None or -_WIDEST_INTEGER <= item < _WIDEST_INTEGER for item in values):
        return pyarrow.array(values, type=pyarrow.int64())
    return pyarrow.array([None if item is None else str(item) for item in values], type=pyarrow.string())


def _code_type(heading: Heading | None, values: list[Any]) -> Any:
    import pyarrow

    step = None if heading is None or heading.face.codes else heading.face.step
    if step is None or any(isinstance(value, str) for value in values):
        return pyarrow.string()
    return pyarrow.int64() if step.denominator == 1 else pyarrow.float64()


def _codes(heading: Heading | None, values: list[Any]) -> list[Any]:
    import pyarrow

    if _code_type(heading, values) != pyarrow.string():
        return values
    return [None if value is None else str(value) for value in values]


def _as_float(value: float) -> float:
    try:
        return float(value)
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")


def _facts(release: Release, language: str) -> dict[str, object]:
    """What is said of the release, without its figures."""
    named = {"title": release.title.text(language), "created": release.source.created}
    if len(release.statistics) == 1:
        named["statistic"] = release.statistic.title.text(language)
    return {**named, **facts(release, language)}


def _metadata(release: Release, language: str) -> dict[str, str]:
    return {
        f"discreet.{name}": fact if isinstance(fact, str) else json.dumps(fact, ensure_ascii=False)
        for name, fact in _facts(release, language).items()
    }
