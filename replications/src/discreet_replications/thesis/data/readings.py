"""The three data sets of the thesis as anyone can get them, under their own file names or ours.

No file is part of this package. Breast comes with scikit-learn; kidney and diabetes from a folder that the caller
names. Cells are kept as the text of the file, so that sums over them are exact.
"""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

from discreet.catalogue import Phrase, say
from discreet.errors import ExtraMissing, FileRefused, PathInvalid
from discreet.files import write_whole
from discreet.paths import open_regular
from discreet.present import csv_columns
from discreet_replications.thesis.data.arff import KidneyReading, canonical_names, read_arff
from discreet_replications.thesis.data.thesis_queries import QUERIES

__all__ = ["BREAST_COLUMNS", "Readings", "ThesisTable", "read_data"]

KIDNEY_FILES: Final = ("chronic_kidney_disease.arff", "chronic_kidney_disease_full.arff", "kidney_uci.arff")
KIDNEY_CSV: Final = {
    KidneyReading.CLEAN: "kidney_clean.csv",
    KidneyReading.THESIS: "kidney_as_read_in_thesis.csv",
}
BREAST_FILES: Final = ("breast_wdbc.csv", "wdbc.data", "data.csv")
DIABETES_FILES: Final = ("diabetic_data.csv", "diabetes130.csv.gz", "diabetic_data.csv.gz")

# fmt: off
_FEATURES: Final = (
    "radius", "texture", "perimeter", "area", "smoothness", "compactness", "concavity", "concave_points", "symmetry",
    "fractal_dimension",
)
# fmt: on
BREAST_COLUMNS: Final = ("diagnosis", *(f"{name}_{part}" for part in ("mean", "se", "worst") for name in _FEATURES))
_BUNDLED: Final = {"mean": "mean {}", "se": "{} error", "worst": "worst {}"}

_UNREAD: Final = {
    KidneyReading.CLEAN: Phrase("kidney has no clean reading: {file} is not in the folder."),
    KidneyReading.THESIS: Phrase("kidney has no thesis reading: {file} is not in the folder."),
}
_LARGEST: Final = 200 * 10**6
_NUMBER: Final = r"^[+-]?[0-9]{1,18}(\.[0-9]{0,18})?([eE][+-]?[0-9]{1,2})?$"
_CODED: Final = ("diag_1", "diag_2", "diag_3")


@dataclass(frozen=True, slots=True)
class ThesisTable:
    """One data set: `arrow` has a column of text for each column, null where a value is missing.

    `written` has for some columns the different values of the file as it stands, '?' among them, and how many '?'.
    """

    dataset: str
    arrow: Any
    source: Phrase
    written: Mapping[str, tuple[int, int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        asked = {query.column for query in QUERIES if query.dataset == self.dataset}
        absent = sorted(asked - set(self.arrow.column_names))
        if absent:
            lacking = say("{source} lacks the columns {columns}.", source=self.source, columns=", ".join(absent))
            raise FileRefused(lacking, file=self.source.en)
        if self.rows < 2:
            raise FileRefused(say("{source} has fewer than two records.", source=self.source), file=self.source.en)
        for column in sorted(asked):
            self._check_numbers(column)

    @property
    def rows(self) -> int:
        return int(self.arrow.num_rows)

    def missing(self, column: str) -> int:
        """How many rows have no value."""
        return int(self.arrow.column(column).null_count)

    def as_written(self, column: str) -> tuple[int, int]:
        """How many different values a column has, '?' counted as one as in the thesis, and how many '?'."""
        if column in self.written:
            return self.written[column]
        missing = self.missing(column)
        return len(self.arrow.column(column).drop_null().unique()) + (missing > 0), missing

    def histogram(self, column: str) -> tuple[tuple[Decimal, int], ...]:
        """Each value of a column that is asked about, as written, and how many rows have it."""
        counted = self.arrow.column(column).drop_null().value_counts()
        found = zip(counted.field(0).to_pylist(), counted.field(1).to_pylist(), strict=True)
        return tuple((Decimal(value), count) for value, count in found)

    def _check_numbers(self, column: str) -> None:
        from pyarrow import compute

        present = self.arrow.column(column).drop_null()
        if not len(present) or not compute.all(compute.match_substring_regex(present, _NUMBER)).as_py():
            wrong = say("column '{column}' of {source} does not hold numbers.", column=column, source=self.source)
            raise FileRefused(wrong, file=self.source.en)

    def write(self, file: Path) -> None:
        """The table as a CSV file that a workspace takes in."""
        columns = [column.to_pylist() for column in self.arrow.columns]
        write_whole(file, csv_columns(self.arrow.column_names, [columns], verbatim=True), durable=False)


@dataclass(frozen=True, slots=True)
class Readings:
    """What could be read. `absent` says, in a sentence each, what could not."""

    breast: ThesisTable
    kidney: Mapping[KidneyReading, ThesisTable]
    diabetes: ThesisTable | None
    absent: tuple[Phrase, ...]

    def tables(self, reading: KidneyReading) -> dict[str, ThesisTable]:
        """The data sets by name, kidney in one of its readings."""
        found = {"kidney": self.kidney.get(reading), "breast": self.breast, "diabetes": self.diabetes}
        return {name: table for name, table in found.items() if table is not None}


def read_data(folder: Path | None) -> Readings:
    """All that a folder holds of the three, and scikit-learn's copy of breast where the folder has none."""
    if folder is not None and not folder.is_dir():
        raise PathInvalid(
            say("'{folder}' is not a folder. Give the one that holds the data files.", folder=folder), path=str(folder)
        )
    kidney = _read_kidney(folder)
    diabetes_file = _find(folder, DIABETES_FILES)
    sought = {
        "kidney": None if kidney else (*KIDNEY_FILES, *KIDNEY_CSV.values()),
        "diabetes": None if diabetes_file else DIABETES_FILES,
    }
    absent = [
        Phrase(
            "{name} is left out: it needs one of {files} in the folder given with --data.",
            name=name,
            files=", ".join(names),
        )
        for name, names in sought.items()
        if names is not None
    ]
    absent += [
        _UNREAD[reading].about(file=name) for reading, name in KIDNEY_CSV.items() if kidney and reading not in kidney
    ]
    return Readings(
        breast=_read_breast(_find(folder, BREAST_FILES)),
        kidney=kidney,
        diabetes=_read_diabetes(diabetes_file) if diabetes_file else None,
        absent=tuple(absent),
    )


def _find(folder: Path | None, names: tuple[str, ...]) -> Path | None:
    if folder is None:
        return None
    return next((folder / name for name in names if (folder / name).is_file()), None)


# --- kidney ---------------------------------------------------------------------------------------------------------


def _read_kidney(folder: Path | None) -> dict[KidneyReading, ThesisTable]:
    import pyarrow as pa

    if file := _find(folder, KIDNEY_FILES):
        text = _decode(_bytes(file), file)
        tables = {}
        for reading in KidneyReading:
            marked = read_arff(text, reading, file=file.name, marks=True)
            written = {name: (len(set(found) - {None}), found.count("?")) for name, found in marked.items()}
            columns = pa.table(read_arff(text, reading, file=file.name))
            tables[reading] = ThesisTable("kidney", columns, _name(file), written)
        return tables
    tables = {}
    for reading, name in KIDNEY_CSV.items():
        if file := _find(folder, (name,)):
            read = _parse(_bytes(file), file)
            read = read.rename_columns(canonical_names(read.column_names))
            tables[reading] = ThesisTable("kidney", read, _name(file))
    return tables


# --- breast ---------------------------------------------------------------------------------------------------------


def _read_breast(file: Path | None) -> ThesisTable:
    if file is None:
        return _bundled_breast()
    names = ("id", *BREAST_COLUMNS) if file.suffix == ".data" else None
    read = _parse(_bytes(file), file, names)
    read = read.rename_columns([name.strip().lower().replace(" ", "_") for name in read.column_names])
    absent = [name for name in BREAST_COLUMNS if name not in read.column_names]
    if absent:
        raise FileRefused(
            say(
                "'{file}' is not the Wisconsin breast cancer file: it lacks {columns}.",
                file=file.name,
                columns=", ".join(absent),
            ),
            file=file.name,
        )
    return ThesisTable("breast", read.select(list(BREAST_COLUMNS)), _name(file))


def _bundled_breast() -> ThesisTable:
    import pyarrow as pa

    try:
        from sklearn.datasets import load_breast_cancer
    except ImportError:
        needed_for = Phrase("the breast cancer data without a file of them")
        raise ExtraMissing(needed_for=needed_for, extra="study") from None
    bundled = load_breast_cancer()
    names = [str(name) for name in bundled.feature_names]
    columns = {"diagnosis": ["M" if code == 0 else "B" for code in bundled.target]}
    for column in BREAST_COLUMNS[1:]:
        feature, part = column.rsplit("_", 1)
        index = names.index(_BUNDLED[part].format(feature.replace("_", " ")))
        columns[column] = [repr(float(value)) for value in bundled.data[:, index]]
    return ThesisTable("breast", pa.table(columns), Phrase("scikit-learn's copy of the breast cancer data"))


# --- diabetes -------------------------------------------------------------------------------------------------------


def _read_diabetes(file: Path) -> ThesisTable:
    import pyarrow as pa
    from pyarrow import compute

    read, written = _parse(_bytes(file), file), {}
    for name in _CODED:
        if name in read.column_names:
            # Supplementary codes (V27, E849) are no numbers, and the thesis averages numbers.
            column = read.column(name)
            written[name] = len(column.unique()), column.null_count
            numeric = compute.match_substring_regex(column, r"^[0-9]+(\.[0-9]+)?$")
            kept = compute.if_else(numeric, column, pa.scalar(None, pa.string()))
            read = read.set_column(read.column_names.index(name), name, kept)
    return ThesisTable("diabetes", read, _name(file), written)


# --- files ----------------------------------------------------------------------------------------------------------


def _name(file: Path) -> Phrase:
    return Phrase("'{name}'", name=file.name)


def _bytes(file: Path) -> bytes:
    """The file, unpacked, or FileRefused: a damaged one, or one that unpacks without end."""
    try:
        with open_regular(file) as plain:
            raw = (gzip.GzipFile(fileobj=plain) if file.suffix == ".gz" else plain).read(_LARGEST + 1)
    except (OSError, EOFError, zlib.error):
        raise FileRefused(
            say("'{file}' cannot be read; it may be damaged. Fetch it again.", file=file.name), file=file.name
        ) from None
    if len(raw) > _LARGEST:
        raise FileRefused(
            say("'{file}' is larger than {limit} MB, unpacked.", file=file.name, limit=_LARGEST // 10**6),
            file=file.name,
        )
    return raw


def _decode(raw: bytes, file: Path) -> str:
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise FileRefused(say("'{file}' is not text in UTF-8.", file=file.name), file=file.name) from None


def _parse(raw: bytes, file: Path, names: tuple[str, ...] | None = None) -> Any:
    """The file as columns of trimmed text; '?' and nothing are missing."""
    import pyarrow as pa
    from pyarrow import compute, csv

    header = list(names or _decode(raw.split(b"\n", 1)[0], file).strip().split(","))
    header = [name.strip().strip('"') for name in header]
    if len(set(header)) < len(header):
        raise FileRefused(say("'{file}' names a column twice.", file=file.name), file=file.name)
    try:
        read = csv.read_csv(
            io.BytesIO(raw),
            read_options=csv.ReadOptions(column_names=header, skip_rows=0 if names else 1),
            convert_options=csv.ConvertOptions(column_types=dict.fromkeys(header, pa.string())),
        )
    except pa.ArrowInvalid:
        raise FileRefused(
            say("'{file}' cannot be read as CSV with {count} columns.", file=file.name, count=len(header)),
            file=file.name,
        ) from None
    trimmed = [compute.utf8_trim_whitespace(read.column(name)) for name in header]
    missing = pa.array(["", "?"])
    return pa.table(
        {
            name: compute.if_else(compute.is_in(column, value_set=missing), pa.scalar(None, pa.string()), column)
            for name, column in zip(header, trimmed, strict=True)
        }
    )
