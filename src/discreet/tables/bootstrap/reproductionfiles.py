"""The folder of a reproduction: bootstrap.html to read, results.json, tables as CSV, figures as SVG."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from discreet.errors import PathInvalid

if TYPE_CHECKING:
    from discreet.pages.page import Drawn
    from discreet.tables.bootstrap.reproduction import Reproduction

__all__ = ["FILES", "KIND", "RESULTS", "write_reproduction"]

RESULTS: Final = "results.json"
FILES: Final = ("bootstrap.html", RESULTS, "tables", "figures")
KIND: Final = "bootstrap"
_SAID: Final = "not a release; bootstrap differential privacy is not differentially private"


def write_reproduction(done: Reproduction, drawn: Sequence[Drawn]) -> None:
    """Write everything into a folder closed to others; the results first, because they tell whose folder it is."""
    from discreet.tables.bootstrap.reproductionpage import write_bootstrap_page
    from discreet.tables.pictures import write_picture

    results = done.to_dict()
    try:
        done.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        _write(done.folder / RESULTS, json.dumps(results, indent=2, ensure_ascii=False) + "\n")
        for name in ("tables", "figures"):
            (done.folder / name).mkdir(exist_ok=True)
        _write_tables(done.folder / "tables", results)
        for figure in drawn:
            write_picture(figure, done.folder / "figures" / f"{figure.name}.svg")
        _write(done.folder / "bootstrap.html", write_bootstrap_page(done, drawn))
    except OSError as error:
        raise PathInvalid(f"'{done.folder}' cannot be written: {error.strerror}.", path=str(done.folder)) from None


def _write_tables(folder: Path, results: Mapping[str, Any]) -> None:
    for number in range(1, 5):
        _write_csv(folder / f"table-{number}.csv", (line for line in results["tables"] if line["table"] == number))
    _write_csv(folder / "sensitivities.csv", results["sensitivities"])
    _write_csv(folder / "scales.csv", results["scales"])
    _write_csv(folder / "audit.csv", results["audit"]["trials"])


def _write_csv(file: Path, lines: Iterable[Mapping[str, Any]]) -> None:
    found = list(lines)
    with file.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow([*found[0], "notice"])
        writer.writerows([*map(_cell, line.values()), _SAID] for line in found)


def _cell(value: Any) -> str:
    """Lists as numbers between spaces, truth as yes and no; nothing here comes from a file but whole numbers."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return " ".join(map(str, value))
    return "" if value is None else str(value)


def _write(file: Path, text: str) -> None:
    file.write_text(text, encoding="utf-8", newline="\n")
