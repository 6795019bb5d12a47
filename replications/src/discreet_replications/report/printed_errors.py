"""The founding report's own errors: those it prints, and, when given, the full set of its result tables.

The printed ones are facts of Appendix 7.1 to 7.6, in resources/report_tables.json with their source. The full set is
the file of result tables that the authors published, made tidy; it is never part of the package.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

from discreet.catalogue import Phrase, say
from discreet.errors import FileRefused, PathInvalid
from discreet.lab.study.execution.outcomes import StudyQuery
from discreet.paths import open_regular

__all__ = ["PrintedTable", "Theirs", "printed_source", "printed_tables", "read_theirs"]

_COLUMNS: Final = ("epsilon", "model", "statistic", "province", "column", "code", "abs_error")
_LARGEST: Final = 200 * 10**6
_SOURCE: Final = Phrase(
    "Absolute errors printed in Appendix 7.1 to 7.6 of the report of Statistics Canada and the Public Health Agency of "
    "Canada on central, local and shuffle differential privacy: averages of five runs on the public use file of the "
    "Canadian Community Health Survey 2017-2018. Six significant digits. Key R of docs/refs.bib."
)

# The report ranks the labels that occur in alphabetical order; these are the six statistics that it prints.
_CODES: Final = {
    ("HWTDGHTM", ""): "7.1",
    ("HWTDGWTK", ""): "7.2",
    ("SMK_005", "0"): "7.3",
    ("GEN_005", "2"): "7.4",
    ("GEN_025", "0"): "7.5",
    ("GEN_025", "3"): "7.6",
}

Theirs = Mapping[tuple[str, Decimal, str, str], float]
"""Their absolute error by name of the query, ε, model and code of the province."""


@dataclass(frozen=True, slots=True)
class PrintedTable:
    """One table of the appendix: what it counts here, and its errors by ε, model and code of the province."""

    table: str
    query: StudyQuery
    errors: Theirs


def printed_source() -> Phrase:
    """Where the printed figures come from."""
    return _SOURCE


@lru_cache(maxsize=1)
def printed_tables() -> tuple[PrintedTable, ...]:
    """The six tables of the report's appendix."""
    found = _resource()
    provinces, models = found["provinces"], found["models"]
    tables = []
    for table in found["tables"]:
        query = StudyQuery(table["statistic"], table["column"], table["category"], table["label"])
        errors = {
            (query.name, Decimal(epsilon), model, provinces[province]): float(error)
            for epsilon, by_province in table["errors"].items()
            for province, row in by_province.items()
            for model, error in zip(models, row, strict=True)
        }
        tables.append(PrintedTable(table["table"], query, errors))
    return tuple(tables)


def read_theirs(file: Path) -> Theirs:
    """The errors of the six statistics at every ε, from the tidy file of the report's result tables.

    FileRefused when columns are missing or none of the six statistics is in it.
    """
    if not file.is_file():
        raise PathInvalid(
            say("'{file}' is not a file. Give the tidy result tables of the report, as CSV or CSV.gz.", file=file)
        )
    names = {table.table: table.query.name for table in printed_tables()}
    provinces = _resource()["provinces"]
    errors: dict[tuple[str, Decimal, str, str], float] = {}
    for row in _rows(file):
        table = _CODES.get((row["column"], row["code"]))
        wanted = "mean" if table in {"7.1", "7.2"} else "sum"
        if table and row["statistic"] == wanted and row["province"] in provinces and row["abs_error"]:
            key = (names[table], Decimal(row["epsilon"]), row["model"], provinces[row["province"]])
            errors[key] = float(row["abs_error"])
    if not errors:
        raise FileRefused(say("'{file}' holds none of the report's six statistics.", file=file.name), file=file.name)
    return errors


def _rows(file: Path) -> Iterator[dict[str, str]]:
    try:
        with open_regular(file) as plain:
            raw = (gzip.GzipFile(fileobj=plain) if file.suffix == ".gz" else plain).read(_LARGEST + 1)
        text = raw.decode("utf-8")
    except (OSError, EOFError, UnicodeDecodeError, zlib.error):
        raise FileRefused(say("'{file}' cannot be read as CSV.", file=file.name), file=file.name) from None
    if len(raw) > _LARGEST:
        raise FileRefused(
            say("'{file}' is larger than {limit} MB, unpacked.", file=file.name, limit=_LARGEST // 10**6),
            file=file.name,
        )
    reader = csv.DictReader(io.StringIO(text, newline=""))
    missing = [name for name in _COLUMNS if name not in (reader.fieldnames or ())]
    if missing:
        raise FileRefused(
            say("'{file}' lacks the columns {columns}.", file=file.name, columns=", ".join(missing)), file=file.name
        )
    yield from reader


@lru_cache(maxsize=1)
def _resource() -> dict[str, Any]:
    resource = files("discreet_replications.report") / "resources" / "report_tables.json"
    read: dict[str, Any] = json.loads(resource.read_text(encoding="utf-8"))
    return read
