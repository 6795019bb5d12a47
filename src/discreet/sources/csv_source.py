"""Delimited text as Arrow batches of text columns: plain or gzipped, any of a few encodings.

The header is read here, because names need cleaning and the delimiter is told by it; the rest streams through
Arrow's parser with every column as text, so that nothing is guessed from values.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO, ClassVar, Final

from discreet.catalogue import language, say, say_count, speaking
from discreet.errors import FileRefused, UsageError
from discreet.paths import open_regular, tell_reason
from discreet.sources.source import DataSource, FileLimits, clean_name

__all__ = ["DELIMITERS", "ENCODINGS", "CsvSource"]

DELIMITERS: Final = (",", ";", "\t", "|")
ENCODINGS: Final = ("utf-8", "latin-1", "cp1252", "iso8859-15", "utf-16", "cp850", "mac-roman")

_HEAD_BYTES: Final = 1 << 20
_BLOCK_BYTES: Final = 4 << 20
_RATIO_SLACK: Final = 4 << 20
_RAGGED_LIMIT: Final = 10_000


class CsvSource(DataSource):
    """A delimited text file with one header line."""

    sort: ClassVar[str] = "csv"

    def __init__(self, file: Path, limits: FileLimits, *, encoding: str | None, delimiter: str | None) -> None:
        super().__init__(file, limits)
        self._encoding = _known_encoding(encoding)
        if delimiter is not None and delimiter not in DELIMITERS:
            raise UsageError(say("delimiter must be one of , ; | or a tab."), delimiter=delimiter)
        with self._open() as stream:
            self._head, _ = self._split_head(stream)
        self.delimiter = delimiter or _sniff(self._head, file)
        self._names = tuple(clean_name(name) for name in self._header())

    @property
    def names(self) -> tuple[str, ...]:
        return self._names

    def batches(self, names: Sequence[str]) -> Iterator[Any]:
        import pyarrow as pa
        from pyarrow import csv as arrow_csv

        ragged, reader = _Ragged(), None
        positions = [f"c{self._names.index(name)}" for name in names]
        every = [f"c{index}" for index in range(len(self._names))]
        with self._open() as stream:
            _, rest = self._split_head(stream)
            if not rest:
                return
            try:
                reader = arrow_csv.open_csv(
                    pa.PythonFile(_Rest(rest, stream), mode="r"),
                    read_options=arrow_csv.ReadOptions(column_names=every, block_size=_BLOCK_BYTES),
                    parse_options=arrow_csv.ParseOptions(
                        delimiter=self.delimiter, newlines_in_values=True, invalid_row_handler=ragged
                    ),
                    convert_options=arrow_csv.ConvertOptions(
                        column_types=dict.fromkeys(every, pa.string()),
                        include_columns=positions,
                        strings_can_be_null=False,
                    ),
                )
                for batch in reader:
                    # Arrow has read on meanwhile: what it read too far is refused before what came earlier is used.
                    if stream.refused is not None:
                        raise stream.refused
                    yield batch.rename_columns(list(names))
            except (OSError, pa.ArrowInvalid) as error:
                raise self._explained(error, ragged) from None
            finally:
                # Arrow reads ahead in a thread of its own, which must end before the file is closed.
                if reader is not None:
                    reader.close()
        if ragged.count:
            raise self._ragged(ragged)

    def _header(self) -> list[str]:
        try:
            return next(csv.reader(io.StringIO(self._head, newline=""), delimiter=self.delimiter, strict=True))
        except (StopIteration, csv.Error):
            raise self.refusal(say("has a first line that cannot be read as column names")) from None

    def _open(self) -> _Utf8Stream:
        try:
            raw: Any = open_regular(self.file)
        except OSError as error:
            raise self.refusal(say("cannot be read: {reason}", reason=tell_reason(error))) from None
        packed = raw if self.file.name.lower().endswith(".gz") else None
        return _Utf8Stream(raw, self._encoding, self.limits, self.file.name, packed=packed)

    def _split_head(self, stream: _Utf8Stream) -> tuple[str, bytes]:
        """The header as text, and the bytes read beyond it."""
        data = b""
        while len(data) < _HEAD_BYTES and (more := stream.read(_HEAD_BYTES - len(data))):
            data += more
        data = data.removeprefix(codecs.BOM_UTF8)
        end = _line_end(data)
        if end is None:
            if len(data) >= _HEAD_BYTES:
                raise self.refusal(say("has a first line longer than {most:,} bytes", most=_HEAD_BYTES))
            end = len(data)
        try:
            head = data[:end].decode("utf-8")
        except UnicodeDecodeError:
            raise self._not_utf8() from None
        if "\0" in head:
            raise self.refusal(say("is not text"))
        return head, data[end:].lstrip(b"\r\n") if data[end:].strip(b"\r\n") else b""

    def _explained(self, error: Exception, ragged: _Ragged) -> FileRefused:
        text = str(error)
        if isinstance(error, FileRefused):
            return error
        if "UTF8" in text or "UTF-8" in text:
            return self._not_utf8()
        if ragged.count:
            return self._ragged(ragged)
        if "straddl" in text or "block" in text:
            return self.refusal(say("has a row longer than {most:,} bytes; look for an open quote", most=_BLOCK_BYTES))
        return self.refusal(say("cannot be read as delimited text"))

    def _not_utf8(self) -> FileRefused:
        return self.refusal(
            say("is not UTF-8 text") if self._encoding != "utf-8" else say("is not UTF-8; try --encoding latin-1")
        )

    def _ragged(self, ragged: _Ragged) -> FileRefused:
        fields = len(self._names)
        if ragged.count >= _RAGGED_LIMIT:
            return self.refusal(
                say(
                    "has at least {rows:,} rows with another number of fields than its header, which has {fields}",
                    rows=ragged.count,
                    fields=fields,
                )
            )
        return self.refusal(
            say_count(
                "has {count:,} row with another number of fields than its header, which has {fields}",
                "has {count:,} rows with another number of fields than its header, which has {fields}",
                ragged.count,
                fields=fields,
            )
        )


class _Ragged:
    """Counts rows whose number of fields is off; the file is refused at its end, with the count."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self, row: Any) -> str:
        self.count += 1
        return "skip" if self.count < _RAGGED_LIMIT else "error"


class _Utf8Stream:
    """Bytes of a file as UTF-8, unpacked and measured on the way.

    A packed file is held against the part of it that was read so far, so that a bomb is refused where it begins to
    swell and not when all of it has been unpacked. `refused` is why reading ended.
    """

    def __init__(self, raw: BinaryIO, encoding: str, limits: FileLimits, name: str, *, packed: BinaryIO | None) -> None:
        self._raw: Any = raw if packed is None else gzip.GzipFile(fileobj=packed)
        self._packed = packed
        self._limits = limits
        self._unpacked = 0
        self._name = name
        self.refused: FileRefused | None = None
        self._decoder = None if encoding == "utf-8" else codecs.getincrementaldecoder(encoding)()

    def __enter__(self) -> _Utf8Stream:
        return self

    def __exit__(self, *_: object) -> None:
        self._raw.close()
        if self._packed is not None:
            self._packed.close()

    def read(self, size: int) -> bytes:
        try:
            return self._read(size)
        except FileRefused as refused:
            self.refused = refused
            raise

    def _read(self, size: int) -> bytes:
        while True:
            try:
                data: bytes = self._raw.read(size)
            except (EOFError, zlib.error, gzip.BadGzipFile):
                raise FileRefused(say("'{name}' is a damaged gzip file.", name=self._name), file=self._name) from None
            self._unpacked += len(data)
            if self._unpacked > self._most():
                raise FileRefused(
                    say(
                        "'{name}' unpacks to far more than its size allows; unpack it yourself and look.",
                        name=self._name,
                    ),
                    file=self._name,
                )
            if self._decoder is None:
                return data
            try:
                text = self._decoder.decode(data, final=not data)
            except UnicodeError:
                raise FileRefused(
                    say("'{name}' is not in the encoding given; try another --encoding.", name=self._name),
                    file=self._name,
                ) from None
            if text or not data:
                return text.encode("utf-8")

    def _most(self) -> int:
        if self._packed is None:
            return self._limits.expanded_bytes
        return min(self._limits.expanded_bytes, self._packed.tell() * self._limits.ratio + _RATIO_SLACK)


class _Rest(io.RawIOBase):
    """What follows the header, as the file object that Arrow reads from, in a thread of its own."""

    def __init__(self, first: bytes, stream: _Utf8Stream) -> None:
        super().__init__()
        self._first = first
        self._stream = stream
        self._language = language()

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        wanted = size if size and size > 0 else _BLOCK_BYTES
        if self._first:
            part, self._first = self._first[:wanted], self._first[wanted:]
            return part
        with speaking(self._language):
            return self._stream.read(wanted)


def _known_encoding(encoding: str | None) -> str:
    if encoding is None:
        return "utf-8"
    try:
        found = codecs.lookup(encoding).name
    except LookupError:
        found = ""
    known = {codecs.lookup(name).name: name for name in ENCODINGS}
    if found == "utf-8-sig":
        return "utf-8"
    if found not in known:
        raise UsageError(say("encoding must be one of {encodings}.", encodings=", ".join(ENCODINGS)), encoding=encoding)
    return known[found]


def _line_end(data: bytes) -> int | None:
    """Where the first line ends, quoted newlines aside."""
    quoted = False
    for index, byte in enumerate(data):
        if byte == 0x22:
            quoted = not quoted
        elif byte in {0x0A, 0x0D} and not quoted:
            return index
    return None


def _sniff(head: str, file: Path) -> str:
    """The delimiter that parts the header; a tab for .tsv, a comma when there is a single column."""
    unquoted = "".join(head.split('"')[::2])
    counts = {delimiter: unquoted.count(delimiter) for delimiter in DELIMITERS}
    best = max(DELIMITERS, key=lambda delimiter: counts[delimiter])
    if counts[best]:
        return best
    return "\t" if file.name.lower().endswith((".tsv", ".tsv.gz")) else ","
