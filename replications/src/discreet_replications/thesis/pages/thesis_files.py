"""The folder of the benchmark: thesis.html to read, results.json, tables as CSV, figures as SVG, generators kept."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from discreet.catalogue import ENGLISH, say, speaking
from discreet.errors import PathInvalid
from discreet.files import write_whole
from discreet.paths import tell_reason
from discreet.present import csv_text
from discreet.present.pages.report_folders import check_folder

if TYPE_CHECKING:
    from discreet.present import Drawn
    from discreet_replications.thesis.data.compared_columns import ColumnLine
    from discreet_replications.thesis.thesis_reproduction import ThesisReproduction
    from discreet_replications.thesis.thesis_truth import TruthCheck

__all__ = ["claim_folder", "write_reproduction"]

_RESULTS: Final = "results.json"
_FILES: Final = frozenset({"thesis.html", _RESULTS, "tables", "figures", "models"})
_KIND: Final = "thesis"
_SAID: Final = "a study, not a release"


def claim_folder(folder: Path) -> None:
    """Make the folder, closed to others, or take an earlier run's; PathInvalid when it holds anything else."""
    check_folder(folder, kind=_KIND, results=_RESULTS, files=_FILES)
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        if not (folder / _RESULTS).exists():
            # Says whose folder it is, should the run be interrupted.
            _write(folder / _RESULTS, json.dumps({"reproduction": _KIND, "finished": False}) + "\n")
    except OSError as error:
        raise PathInvalid(
            say("'{path}' cannot be made: {reason}.", path=folder, reason=tell_reason(error)), path=str(folder)
        ) from None


def write_reproduction(done: ThesisReproduction, drawn: Sequence[Drawn]) -> None:
    """Everything but the generators, which are there already."""
    from discreet.present import write_picture
    from discreet_replications.thesis.pages.thesis_page import write_thesis_page

    try:
        for name in ("tables", "figures"):
            (done.folder / name).mkdir(exist_ok=True)
        with speaking(ENGLISH):
            _write_tables(done.folder / "tables", done)
        for figure in drawn:
            write_picture(figure, done.folder / "figures" / f"{figure.name}.svg")
        _write(done.folder / "thesis.html", write_thesis_page(done, drawn))
        _write(done.folder / _RESULTS, json.dumps(done.to_dict(), indent=2, ensure_ascii=False) + "\n")
    except OSError as error:
        raise PathInvalid(
            say("'{file}' cannot be written: {reason}.", file=done.folder, reason=tell_reason(error)),
            path=str(done.folder),
        ) from None


def _write_tables(folder: Path, done: ThesisReproduction) -> None:
    drawn = (row for records in (done.records, done.patients) for item in records.found for row in item.rows())
    _write_csv(folder / "results.csv", drawn)
    skipped = [{"strategy": method.name, "skipped": why.en} for method, why in done.records.skipped]
    _write_csv(folder / "verdict.csv", [*({**item.to_dict(), "skipped": ""} for item in done.verdict.scores), *skipped])
    _write_csv(folder / "check.csv", (row for check in done.checks for row in _check_rows(check)))
    _write_csv(folder / "audit.csv", (item.to_dict() for item in done.audit))
    _write_csv(folder / "clipping.csv", (_flat(item.to_dict()) for item in done.foreseen))
    _write_csv(folder / "patients.csv", (item.to_dict() for item in done.patient_scores))
    _write_csv(folder / "medians.csv", (item.to_dict() for item in done.medians))
    _write_csv(folder / "tables-1-to-4.csv", (row for item in done.columns for row in _column_rows(item)))
    _write_csv(folder / "columns.csv", done.every_column)
    _write_csv(folder / "figure-1.csv", (item.to_dict() for item in done.scales))
    _write_csv(folder / "too-low.csv", (item.to_dict() for item in done.shortfalls))
    _write_csv(folder / "tables-8-and-9.csv", (item.to_dict() for item in done.timings))


def _check_rows(check: TruthCheck) -> Iterator[dict[str, Any]]:
    for line in check.lines:
        yield {"reading": check.reading or "", **line.to_dict()}


def _column_rows(line: ColumnLine) -> Iterator[dict[str, Any]]:
    """One row for the real rows and one for each generated set."""
    text = line.to_dict()
    names = ("table", "dataset", "column", "measure")
    sets = [("real", text["printed_real"], text["real"])]
    sets += zip(text["generated_rows"], text["printed_generated"], text["generated"], strict=True)
    for rows, printed, here in sets:
        why = "" if here else text["why"]
        yield {**{name: text[name] for name in names}, "of": rows, "printed": printed, "here": here, "why": why}


def _flat(row: Mapping[str, Any]) -> dict[str, Any]:
    """Values within a value become columns of their own."""
    flat: dict[str, Any] = {}
    for name, value in row.items():
        if isinstance(value, dict):
            flat |= {f"{name}_{part}": inner for part, inner in value.items()}
        elif isinstance(value, list):
            flat |= {f"{name}_{part}": inner for part, inner in zip(("low", "high"), value, strict=True)}
        else:
            flat[name] = value
    return flat


def _write_csv(file: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    """A tidy table; one without rows, as of data that were not read, is not written."""
    found = list(rows)
    file.unlink(missing_ok=True)
    if not found:
        return
    names = [*found[0]]
    _write(file, csv_text([*names, "notice"], ([*(row.get(name) for name in names), _SAID] for row in found)))


def _write(file: Path, text: str) -> None:
    write_whole(file, text, durable=False)
