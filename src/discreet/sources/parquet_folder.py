"""A folder of Parquet files as one source. Every file has the same columns; parts `key=value` of paths are columns.

Files are read in the order of their paths. As Spark and others do, names that begin with `_` or `.` are passed over.
Only paths are kept; each file is opened again when its turn comes, and held to the same columns again.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Final
from urllib.parse import unquote

from discreet.catalogue import say
from discreet.errors import FileRefused
from discreet.paths import tell_reason
from discreet.sources.parquet_source import ParquetSource, flat_type
from discreet.sources.source import FORMATS, DataSource, FileLimits, clean_name

__all__ = ["ParquetFolder"]

_ABSENT: Final = "__HIVE_DEFAULT_PARTITION__"
_PASSED_OVER: Final = ("_", ".")
_OTHER_DATA: Final = tuple(ending for ending in FORMATS if ending not in {".parquet", ".txt"})


@dataclass(frozen=True, slots=True)
class _Part:
    """One file: where it is, how it is named in a refusal, and what its path says."""

    file: Path
    shown: str
    size: int
    values: tuple[tuple[str, str | None], ...]


class ParquetFolder(DataSource):
    """The Parquet files in a folder and in those below it."""

    sort: ClassVar[str] = "parquet folder"

    def __init__(self, folder: Path, limits: FileLimits) -> None:
        super().__init__(folder, limits)
        self._parts = tuple(self._find())
        if not self._parts:
            raise self.refusal(say("holds no Parquet file"))
        first = self._parts[0]
        self._keys = tuple(key for key, _ in first.values)
        opened = self._open(first, limits)
        self._columns = _columns(opened)
        self._names = (*opened.names, *self._keys)
        size = rows = expanded = 0
        for part in self._parts:
            source = self._open_alike(part, limits)
            size, rows, expanded = size + part.size, rows + source.rows, expanded + source.expanded_bytes
            if size > (most := limits.file_bytes):
                raise self.refusal(say("holds more than {most:,} bytes in all, which is the limit", most=most))
            if rows > (most := limits.rows):
                raise self.refusal(say("holds more than {most:,} rows in all, which is the limit", most=most))
            if expanded > (most := limits.expanded_bytes):
                raise self.refusal(say("holds more than {most:,} bytes unpacked in all, which is the limit", most=most))

    @property
    def names(self) -> tuple[str, ...]:
        return self._names

    def batches(self, names: Sequence[str]) -> Iterator[Any]:
        import pyarrow as pa

        rows = unpacked = 0
        # A batch without columns would not say how many rows it has.
        inside = [name for name in names if name not in self._keys] or list(self._columns)[:1]
        for part in self._parts:
            left = replace(
                self.limits, rows=self.limits.rows - rows, expanded_bytes=self.limits.expanded_bytes - unpacked
            )
            source, values = self._open_alike(part, left), dict(part.values)
            for batch in source.batches(inside):
                rows += batch.num_rows
                unpacked += batch.nbytes
                arrays = [
                    pa.repeat(pa.scalar(values[name], pa.string()), batch.num_rows)
                    if name in values
                    else batch.column(name)
                    for name in names
                ]
                yield pa.RecordBatch.from_arrays(arrays, names=list(names))

    # --- which files --------------------------------------------------------------------------------------------------

    def _find(self) -> Iterator[_Part]:
        """Every Parquet file, by its path. What a link leads to is read once, and only inside the folder."""
        top = self.file.resolve()
        found: dict[str, tuple[Path, int]] = {}
        folders = [top]
        while folders:
            for entry in self._entries(folders.pop()):
                path = Path(entry.path)
                shown = self._shown(path.relative_to(top))
                if entry.is_dir(follow_symlinks=False):
                    folders.append(path)
                elif self._is_data(entry, shown):
                    found[shown] = path.resolve(), entry.stat().st_size
                    if len(found) > self.limits.files:
                        raise self.refusal(say("holds more than {most:,} files", most=self.limits.files))
        whose: dict[Path, str] = {}
        for shown in sorted(found):
            real, size = found[shown]
            if not real.is_relative_to(top):
                raise self._refuse(shown, say("is a link that leads out of the folder"))
            if (other := whose.setdefault(real, shown)) != shown:
                raise self._refuse(shown, say("is a link to '{other}', whose rows would count twice", other=other))
            yield _Part(real, shown, size, tuple(self._values(shown)))

    def _entries(self, folder: Path) -> Iterator[os.DirEntry[str]]:
        try:
            with os.scandir(folder) as entries:
                yield from (entry for entry in entries if not entry.name.startswith(_PASSED_OVER))
        except OSError as error:
            reason = tell_reason(error)
            raise self._refuse(self._shown(folder), say("cannot be read: {reason}", reason=reason)) from None

    def _is_data(self, entry: os.DirEntry[str], shown: str) -> bool:
        """Whether to read it; what may be data and is not read is refused, so that nothing is lost silently."""
        try:
            leads_to_folder = entry.is_dir()
            regular = entry.is_file()
        except OSError:
            leads_to_folder = regular = False
        if leads_to_folder:
            raise self._refuse(shown, say("is a link to a folder; put the folder there itself"))
        name = entry.name.lower()
        if name.endswith(_OTHER_DATA):
            raise self._refuse(shown, say("is not a Parquet file; a folder must hold Parquet files only"))
        if name.endswith(".parquet") and not regular:
            raise self._refuse(shown, say("is not a regular file"))
        return name.endswith(".parquet")

    def _shown(self, path: Path) -> str:
        """The path as text, with / between its parts; what is no UTF-8 could not be a column or a message."""
        text = path.as_posix()
        try:
            text.encode()
        except UnicodeEncodeError:
            raise self.refusal(say("holds a file or folder whose name is not UTF-8")) from None
        return text

    def _values(self, shown: str) -> Iterator[tuple[str, str | None]]:
        for part in shown.split("/")[:-1]:
            key, equals, value = part.partition("=")
            if not equals:
                continue
            try:
                name, text = (unquote(half, errors="strict") for half in (key, value))
            except UnicodeDecodeError:
                raise self._refuse(shown, say("has a part of its path that is not UTF-8 once decoded")) from None
            yield clean_name(name), None if text == _ABSENT else text

    # --- the same columns in every file -------------------------------------------------------------------------------

    def _open(self, part: _Part, limits: FileLimits) -> ParquetSource:
        return ParquetSource(part.file, limits, shown=f"{self.file.name}/{part.shown}")

    def _open_alike(self, part: _Part, limits: FileLimits) -> ParquetSource:
        """A file of the folder, refused where its columns are not those of the first."""
        source = self._open(part, limits)
        columns, first = _columns(source), self._parts[0].shown
        for name in () if columns == self._columns else {**self._columns, **columns}:
            ours, theirs = self._columns.get(name, []), columns.get(name, [])
            if len(theirs) < len(ours):
                raise source.refusal(say("lacks column '{name}', which '{first}' has", name=name, first=first))
            if len(theirs) > len(ours):
                raise source.refusal(say("has column '{name}', which '{first}' lacks", name=name, first=first))
            if ours != theirs:
                raise source.refusal(
                    say(
                        "has column '{name}' as {theirs} and '{first}' as {ours}. Write both alike",
                        name=name,
                        theirs=", ".join(theirs),
                        first=first,
                        ours=", ".join(ours),
                    )
                )
        if tuple(key for key, _ in part.values) != self._keys:
            if not self._keys:
                raise source.refusal(say("lies in other key=value folders than the first file, which is in none"))
            folders = ", ".join(f"{key}=…" for key in self._keys)
            raise source.refusal(
                say("lies in other key=value folders than the first file, which is in: {folders}", folders=folders)
            )
        return source

    def _refuse(self, shown: str, why: str) -> FileRefused:
        return self.refusal(say("cannot be added: '{file}' {why}", file=shown, why=why))


def _columns(source: ParquetSource) -> dict[str, list[str]]:
    """The types of a file's columns by name; a name that stands twice is refused where it is asked for."""
    found: dict[str, list[str]] = {}
    for name, kind in zip(source.names, source.schema.types, strict=True):
        found.setdefault(name, []).append(str(flat_type(kind)))
    return {name: sorted(kinds) for name, kinds in found.items()}
