"""Files of SAS, Stata and SPSS as Arrow batches, through pyreadstat, with their labels and missing codes."""

from __future__ import annotations

import datetime
import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Final

from discreet.catalogue import Phrase, say
from discreet.errors import ExtraMissing
from discreet.sources.source import DataSource, FileLimits, VariableNotes, clean_name

__all__ = ["StatSource"]

_CHUNK_ROWS: Final = 100_000
_READERS: Final = {
    ".sas7bdat": "read_sas7bdat",
    ".xpt": "read_xport",
    ".dta": "read_dta",
    ".sav": "read_sav",
    ".zsav": "read_sav",
    ".por": "read_por",
}
# SPSS codes its missing answers as ordinary values; the card says which, so they are read as they are.
_KEEPS_CODES: Final = frozenset({".sav", ".zsav"})


class StatSource(DataSource):
    """A file of a statistics package."""

    sort: ClassVar[str] = "statistics package"

    def __init__(self, file: Path, limits: FileLimits, *, encoding: str | None) -> None:
        super().__init__(file, limits)
        try:
            import pyreadstat
        except ImportError:
            raise ExtraMissing(needed_for=Phrase("reading '{name}'", name=file.name), extra="formats") from None
        self._suffix = file.suffix.lower()
        self._read = getattr(pyreadstat, _READERS[self._suffix])
        self._options: dict[str, Any] = {"output_format": "dict"}
        if encoding is not None:
            self._options["encoding"] = encoding
        if self._suffix in _KEEPS_CODES:
            self._options["user_missing"] = True
        self._errors = (pyreadstat.ReadstatError, pyreadstat.PyreadstatError, UnicodeDecodeError, OSError)
        try:
            _, self._meta = self._read(str(file), metadataonly=True, **self._options)
        except self._errors:
            raise self.refusal(say("cannot be read as {suffix}", suffix=self._suffix)) from None
        self._check_size()
        self._raw_names = list(self._meta.column_names)
        self._names = tuple(clean_name(name) for name in self._raw_names)

    def _check_size(self) -> None:
        """A packed file says in its heading how many rows of which width it unpacks to."""
        self._width = max(1, sum(self._meta.variable_storage_width.values()))
        expanded = (self._meta.number_rows or 0) * self._width
        if expanded > self.limits.expanded_bytes:
            raise self.refusal(
                say(
                    "unpacks to {size:,} bytes; the limit is {limit:,}",
                    size=expanded,
                    limit=self.limits.expanded_bytes,
                )
            )

    @property
    def names(self) -> tuple[str, ...]:
        return self._names

    def notes(self, name: str) -> VariableNotes:
        """The label, value labels and missing codes of a variable."""
        raw = self._raw_names[self._names.index(name)]
        labels = self._meta.variable_value_labels.get(raw, {})
        ranges = getattr(self._meta, "missing_ranges", {}).get(raw, [])
        codes = {_code(part["lo"]) for part in ranges if part["lo"] == part["hi"]}
        within = [part for part in ranges if part["lo"] != part["hi"]]
        codes |= {_code(code) for code in labels if any(_lies_in(code, part) for part in within)}
        return VariableNotes(
            label=self._meta.column_names_to_labels.get(raw) or None,
            labels={_code(code): str(label) for code, label in labels.items()},
            missing=tuple(sorted(codes)),
        )

    def batches(self, names: Sequence[str]) -> Iterator[Any]:
        import pyarrow as pa

        raw = [self._raw_names[self._names.index(name)] for name in names]
        offset = 0
        while True:
            try:
                rows, _ = self._read(
                    str(self.file), row_offset=offset, row_limit=_CHUNK_ROWS, usecols=raw, **self._options
                )
            except self._errors:
                raise self.refusal(
                    say("cannot be read as {suffix}: it is damaged or cut short", suffix=self._suffix)
                ) from None
            count = len(rows[raw[0]]) if raw[0] in rows else 0
            if count == 0:
                return
            arrays = [self._column(rows[name], name) for name in raw]
            yield pa.RecordBatch.from_arrays(arrays, names=list(names))
            offset += count
            if count < _CHUNK_ROWS:
                return

    def _column(self, values: Any, name: str) -> Any:
        """Numbers as floats, all else as text, by what the file declares and not by what a chunk holds."""
        import pyarrow as pa

        numeric = self._meta.readstat_variable_types.get(name) != "string"
        if numeric and getattr(values, "dtype", None) is not None and values.dtype.kind in "iuf":
            return pa.array(values.astype("float64"), from_pandas=False)
        plain = [_plain(value) for value in values]
        if numeric and name not in self._dated:
            return pa.array([_number(value) for value in plain], type=pa.float64())
        return pa.array([None if value is None else str(value) for value in plain], type=pa.string())

    @property
    def _dated(self) -> frozenset[str]:
        formats = self._meta.original_variable_types
        marks = ("DATE", "TIME", "%t", "YYMM", "MMDD", "DDMM")
        return frozenset(name for name, form in formats.items() if form and any(m in form for m in marks))


def _plain(value: Any) -> Any:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    return value.isoformat() if isinstance(value, datetime.date | datetime.time) else value


def _number(value: Any) -> float | None:
    # Tagged missing values (.a to .z) come as letters.
    return float(value) if isinstance(value, int | float) else None


def _code(value: Any) -> str:
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value).strip()


def _lies_in(code: Any, part: Mapping[str, Any]) -> bool:
    return isinstance(code, int | float) and bool(part["lo"] <= code <= part["hi"])
