"""The rice farms of the founding paper: what it prints about them, and its file as anyone can get it from R.

The printed figures are facts of Section 5.3 [P], Tables 1 to 4: nine cells of 1,026 rows by the status of the farmer
and the varieties of rice, with net output in kilograms. The rows are 171 farms in Indonesia, each in six growing
seasons, as the documentation of the file says: RiceFarms, of the R package plm. It is never part of this package.
"""

from __future__ import annotations

import csv
import gzip
import io
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Final

from discreet.catalogue import Labels, Phrase, say
from discreet.errors import FileRefused, PathInvalid
from discreet.lab.bootstrap.bootstrap_sensitivity import CellSummary
from discreet.paths import open_regular

__all__ = [
    "CELLS",
    "FARMS",
    "MISPRINT",
    "PRINTED",
    "SEASONS",
    "SOURCE",
    "STATUSES",
    "VARIETIES",
    "Cell",
    "Farms",
    "Printed",
    "name_cell",
    "published_farms",
    "read_farms",
]

SOURCE: Final = Phrase(
    "O'Keefe and Charest, Bootstrap Differential Privacy, Transactions on Data Privacy 12 (2019), Section 5.3, "
    "Tables 1 to 4"
)
Cell = tuple[str, str]
"""Status and varieties, by the codes of the file."""

# The paper's order and words: what the file calls 'mixed' among the varieties is 'Both' in print. They are labels as
# a card has them; the catalogue knows a share that is no farmer.
STATUSES: Final = {
    "mixed": Labels("Mixed", "Mixte"),
    "owner": Labels("Owner", "Propriétaire"),
    "share": Labels("Share", "Métayer"),
}
VARIETIES: Final = {
    "high": Labels("High", "Haut rdt"),
    "mixed": Labels("Both", "Les deux"),
    "trad": Labels("Trad", "Trad"),
}
CELLS: Final = tuple((status, varieties) for status in STATUSES for varieties in VARIETIES)
FARMS: Final = 171
SEASONS: Final = 6
_SYNONYMS: Final = {"both": "mixed", "traditional": "trad"}
_COLUMNS: Final = ("status", "varieties", "noutput")
_FARM: Final = "id"
_FILES: Final = ("rice_farms.csv", "rice_farms.csv.gz", "RiceFarms.csv", "RiceFarms.csv.gz")
_LARGEST: Final = 10**8
_MOST: Final = 20_000


@dataclass(frozen=True, slots=True)
class Printed:
    """One cell as printed: Table 1 (n, total, high, low), Table 2 (sensitivity), Table 3 (percent), Table 4 (gain)."""

    n: int
    total: int
    high: int
    low: int
    sensitivity: int
    percent: str
    gain: str


PRINTED: Final[Mapping[Cell, Printed]] = {
    ("mixed", "high"): Printed(33, 56_965, 900, 234, 8_766, "15.39", "2.009"),
    ("mixed", "mixed"): Printed(7, 11_187, 3_400, 800, 2_600, "23.24", "6.773"),
    ("mixed", "trad"): Printed(171, 189_528, 3_200, 180, 3_020, "1.59", "5.831"),
    ("owner", "high"): Printed(227, 416_820, 17_610, 82, 17_528, "4.21", "1.005"),
    ("owner", "mixed"): Printed(41, 76_917, 12_000, 200, 11_800, "15.34", "1.492"),
    ("owner", "trad"): Printed(468, 436_757, 8_100, 42, 8_058, "1.84", "2.185"),
    ("share", "high"): Printed(34, 58_669, 14_520, 184, 14_336, "24.44", "1.228"),
    ("share", "mixed"): Printed(2, 1_105, 705, 400, 305, "27.60", "57.738"),
    ("share", "trad"): Printed(43, 25_236, 2_000, 100, 1_900, "7.53", "9.268"),
}

# The paper itself betrays it: 33 farms of 900 kg at most cannot total 56,965, and Table 2 has 8,766 = 9,000 − 234.
MISPRINT: Final = (("mixed", "high"), 9_000)


@dataclass(frozen=True, slots=True)
class Farms:
    """Nine cells with two different values at least. `rows` holds each cell's values, or nothing when only published.

    `source` says where the cells come from; `holdings` the rows of each farm, where the file tells whose they are.
    """

    cells: Mapping[Cell, CellSummary]
    rows: Mapping[Cell, Sequence[int]] | None
    source: Phrase
    holdings: Mapping[str, Sequence[tuple[Cell, int]]] | None = None

    def __post_init__(self) -> None:
        if tuple(self.cells) != CELLS:
            raise ValueError("the farms have nine cells, in the paper's order")


def name_cell(cell: Cell) -> Phrase:
    """A cell in the paper's words."""
    return Phrase("{status}/{varieties}", status=STATUSES[cell[0]], varieties=VARIETIES[cell[1]])


def published_farms() -> Farms:
    """The nine cells of Table 1, with its one misprint corrected."""
    wrong, right = MISPRINT
    cells = {
        cell: CellSummary(n=item.n, total=item.total, low=item.low, high=right if cell == wrong else item.high)
        for cell, item in PRINTED.items()
    }
    source = Phrase("Table 1 of the paper, with the maximum of {cell} corrected", cell=name_cell(wrong))
    return Farms(cells, None, source)


def read_farms(file: Path) -> Farms:
    """The farms of a CSV or CSV.gz file, or of a folder that holds it; PathInvalid or FileRefused say what is wrong."""
    if file.is_dir():
        file = next((item for name in _FILES if (item := file / name).is_file()), file)
    if not file.is_file():
        raise PathInvalid(
            say(
                "'{file}' is not a regular file, nor a folder with {name}. Give RiceFarms as CSV or CSV.gz, or leave "
                "--data out.",
                file=file,
                name=_FILES[0],
            ),
            path=str(file),
        )
    rows: dict[Cell, list[int]] = {cell: [] for cell in CELLS}
    holdings: dict[str, list[tuple[Cell, int]]] = {}
    for status, varieties, output, farm in _records(file):
        cell, kilograms = _place(status, varieties, file), _kilograms(output, file)
        rows[cell].append(kilograms)
        holdings.setdefault(farm, []).append((cell, kilograms))
    if sum(map(len, rows.values())) > _MOST:
        raise _refusal(file, say("has more than {most:,} farms; every pair of them would be compared", most=_MOST))
    for cell, values in rows.items():
        if len(set(values)) < 2:
            raise _refusal(
                file,
                say(
                    "has fewer than two farms of different output in {cell}. Its sensitivity would be 0 and its total "
                    "released exactly; the paper's tables need all nine cells",
                    cell=name_cell(cell),
                ),
            )
    cells = {cell: CellSummary(n=len(of), total=sum(of), low=min(of), high=max(of)) for cell, of in rows.items()}
    named = None if "" in holdings else holdings
    source = Phrase("the rows of {file}", file=file.name)
    return Farms(cells, {cell: tuple(of) for cell, of in rows.items()}, source, named)


def _records(file: Path) -> Iterator[tuple[str, str, str, str]]:
    """Status, varieties, output and farm of every row; a file without ids has no farms."""
    reader = csv.reader(io.StringIO(_text(file), newline=""))
    try:
        names = [name.strip().lower() for name in next(reader, [])]
        missing = [name for name in _COLUMNS if name not in names]
        if missing:
            raise _refusal(
                file,
                say(
                    "lacks the columns {missing}. RiceFarms has {columns}",
                    missing=", ".join(missing),
                    columns=", ".join(_COLUMNS),
                ),
            )
        indices = [names.index(name) for name in (*_COLUMNS, *([_FARM] if _FARM in names else []))]
        for row in reader:
            if row and len(row) != len(names):
                raise _refusal(file, say("has a line that is longer or shorter than its heading"))
            if row:
                status, varieties, output, *farm = (row[index].strip() for index in indices)
                yield status, varieties, output, farm[0] if farm else ""
    except csv.Error:
        raise _refusal(file, say("cannot be read as CSV")) from None


def _text(file: Path) -> str:
    try:
        with open_regular(file) as plain:
            stream = gzip.GzipFile(fileobj=plain) if file.suffix.lower() == ".gz" else plain
            raw = stream.read(_LARGEST + 1)
        if len(raw) > _LARGEST:
            raise _refusal(file, say("is larger than {limit} MB; RiceFarms has 1,026 rows", limit=_LARGEST // 10**6))
        return raw.decode("utf-8-sig")
    except (OSError, EOFError, UnicodeDecodeError, zlib.error):
        raise _refusal(file, say("cannot be read as CSV in UTF-8")) from None


def _place(status: str, varieties: str, file: Path) -> Cell:
    cell = (status.lower(), _SYNONYMS.get(varieties.lower(), varieties.lower()))
    if cell not in PRINTED:
        raise _refusal(
            file,
            say("has a farm outside the nine cells: status is mixed, owner or share; varieties high, mixed or trad"),
        )
    return cell


def _kilograms(text: str, file: Path) -> int:
    try:
        value = Decimal(text)
    except InvalidOperation:
        value = Decimal("NaN")
    if not value.is_finite() or value < 0 or value >= 10**12 or value != value.to_integral_value():
        raise _refusal(file, say("has a net output (noutput) that is no whole number of kilograms, zero or more"))
    return int(value)


def _refusal(file: Path, why: str) -> FileRefused:
    return FileRefused(say("'{file}' {why}.", file=file.name, why=why), file=file.name)
