"""Data files as streams of Arrow batches, with limits checked before and while they are read.

One door for every format: `open_source` looks at the name, checks size and columns, and gives a `DataSource` that
knows the names in the file and streams the columns asked for, as text or in the file's own types. Nothing is
lost silently: a file that cannot be read whole is refused. Refusals are shown to the custodian who adds it.
"""

from __future__ import annotations

import unicodedata
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Final

from discreet.catalogue import say, say_count
from discreet.errors import FileRefused, nearest
from discreet.paths import AnyPath, as_path

__all__ = ["FORMATS", "DataSource", "FileLimits", "VariableNotes", "choose_columns", "clean_name", "open_source"]

STAT_FORMATS: Final = (".sas7bdat", ".xpt", ".dta", ".sav", ".zsav", ".por")
CSV_FORMATS: Final = (".csv", ".tsv", ".txt", ".csv.gz", ".tsv.gz", ".txt.gz")
FORMATS: Final = (*CSV_FORMATS, ".parquet", *STAT_FORMATS)
_MOST_SHOWN: Final = 10


@dataclass(frozen=True, slots=True)
class FileLimits:
    """How large a file may be, or all files of a folder; defaults leave room for a census and none for a bomb."""

    file_bytes: int = 50 * 10**9
    expanded_bytes: int = 500 * 10**9
    ratio: int = 200
    columns: int = 5_000
    rows: int = 2 * 10**9
    files: int = 100_000


@dataclass(frozen=True, slots=True)
class VariableNotes:
    """What a file itself says about a variable: metadata, not rows."""

    label: str | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    missing: tuple[str, ...] = ()


class DataSource(ABC):
    """An open data file. `names` are the cleaned column names in the order of the file; refusals say `shown`."""

    sort: ClassVar[str]

    def __init__(self, file: Path, limits: FileLimits, *, shown: str | None = None) -> None:
        self.file = file
        self.limits = limits
        self.shown = shown or file.name

    @property
    @abstractmethod
    def names(self) -> tuple[str, ...]:
        """Column names, trimmed and NFC, in the order of the file."""

    @abstractmethod
    def batches(self, names: Sequence[str]) -> Iterator[Any]:
        """Arrow record batches that hold these columns, under these names, in this order."""

    def notes(self, name: str) -> VariableNotes:
        """The label, value labels and missing codes that the file declares for a column."""
        return VariableNotes()

    def check_columns(self) -> None:
        """Refuse a file without columns, or with too many."""
        if not self.names:
            raise self.refusal(say("has no columns"))
        if len(self.names) > self.limits.columns:
            raise self.refusal(
                say(
                    "has {columns:,} columns; the limit is {limit:,}",
                    columns=len(self.names),
                    limit=self.limits.columns,
                )
            )

    def refusal(self, why: str) -> FileRefused:
        """`why` is said of the file: "has no columns"."""
        return FileRefused(say("'{file}' {why}.", file=self.shown, why=why), file=self.shown)


def clean_name(name: str) -> str:
    """A column name without the spaces, tabs and marks that files carry around it."""
    return unicodedata.normalize("NFC", name.strip().strip("\ufeff").strip())


def open_source(
    file: AnyPath, *, encoding: str | None = None, delimiter: str | None = None, limits: FileLimits | None = None
) -> DataSource:
    """The file as a source, chosen by its name; FileRefused when the format is unknown or a limit breaks.

    A folder is one of Parquet files.
    """
    file = as_path(file, "file")
    limits = limits or FileLimits()
    if file.is_dir():
        from discreet.sources.parquet_folder import ParquetFolder

        folder = ParquetFolder(file, limits)
        folder.check_columns()
        return folder
    name = file.name.lower()
    if not file.is_file():
        raise FileRefused(say("'{name}' is not a regular file.", name=file.name), file=file.name)
    size = file.stat().st_size
    if size == 0:
        raise FileRefused(say("'{name}' is empty.", name=file.name), file=file.name)
    if size > limits.file_bytes:
        raise FileRefused(
            say(
                "'{name}' has {size:,} bytes; the limit is {limit:,}.",
                name=file.name,
                size=size,
                limit=limits.file_bytes,
            ),
            file=file.name,
        )
    source: DataSource
    if name.endswith(CSV_FORMATS):
        from discreet.sources.csv_source import CsvSource

        source = CsvSource(file, limits, encoding=encoding, delimiter=delimiter)
    elif name.endswith(".parquet"):
        from discreet.sources.parquet_source import ParquetSource

        source = ParquetSource(file, limits)
    elif name.endswith(STAT_FORMATS):
        from discreet.sources.stat_source import StatSource

        source = StatSource(file, limits, encoding=encoding)
    else:
        raise FileRefused(
            say("'{name}' is in none of these formats: {formats}.", name=file.name, formats=", ".join(FORMATS)),
            file=file.name,
        )
    source.check_columns()
    return source


def choose_columns(source: DataSource, wanted: Sequence[str]) -> tuple[str, ...]:
    """Check that every wanted name is in the file exactly once; give the names the card does not use."""
    names = source.names
    absent = [name for name in wanted if name not in names]
    if absent:
        shown = ", ".join(_told(name, names) for name in absent[:_MOST_SHOWN])
        if (more := len(absent) - _MOST_SHOWN) > 0:
            raise source.refusal(say("lacks columns {names} and {more} more", names=shown, more=more))
        raise source.refusal(say_count("lacks column {names}", "lacks columns {names}", len(absent), names=shown))
    double = sorted({name for name in wanted if names.count(name) > 1})
    if double:
        shown = ", ".join(say("'{name}'", name=name) for name in double[:_MOST_SHOWN])
        raise source.refusal(say("has more than one column named {names}", names=shown))
    used = set(wanted)
    return tuple(name for name in names if name not in used)


def _told(name: str, names: Sequence[str]) -> str:
    by_case = {known.lower(): known for known in names}
    guess = by_case.get(name.lower()) or nearest(name, names)
    if guess:
        return say("'{name}' (did you mean '{guess}'?)", name=name, guess=guess)
    return say("'{name}'", name=name)
