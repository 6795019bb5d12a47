"""The folder of a reproduction: bootstrap.html to read, results.json, tables as CSV, figures as SVG."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from discreet.catalogue import say
from discreet.errors import PathInvalid
from discreet.files import write_whole
from discreet.paths import tell_reason
from discreet.present import csv_text

if TYPE_CHECKING:
    from discreet.present import Drawn
    from discreet_replications.farms.farms_reproduction import FarmsReproduction

__all__ = ["FILES", "KIND", "RESULTS", "write_reproduction"]

RESULTS: Final = "results.json"
FILES: Final = ("bootstrap.html", RESULTS, "tables", "figures")
KIND: Final = "bootstrap"
_SAID: Final = "not a release; bootstrap differential privacy is not differentially private"


def write_reproduction(done: FarmsReproduction, drawn: Sequence[Drawn]) -> None:
    """Write everything into a folder closed to others; the results first, because they tell whose folder it is."""
    from discreet.present import write_picture
    from discreet_replications.farms.farms_page import write_bootstrap_page

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
        raise PathInvalid(
            say("'{file}' cannot be written: {reason}.", file=done.folder, reason=tell_reason(error)),
            path=str(done.folder),
        ) from None


def _write_tables(folder: Path, results: Mapping[str, Any]) -> None:
    for number in range(1, 5):
        _write_csv(folder / f"table-{number}.csv", (line for line in results["tables"] if line["table"] == number))
    _write_csv(folder / "sensitivities.csv", results["sensitivities"])
    _write_csv(folder / "scales.csv", results["scales"])
    _write_csv(folder / "audit.csv", results["audit"]["trials"])
    _write_csv(folder / "units.csv", results["unit"]["sensitivities"])


def _write_csv(file: Path, lines: Iterable[Mapping[str, Any]]) -> None:
    found = list(lines)
    _write(file, csv_text([*found[0], "notice"], ((*map(_listed, line.values()), _SAID) for line in found)))


def _listed(value: Any) -> Any:
    """Lists as numbers between spaces."""
    return " ".join(map(str, value)) if isinstance(value, list) else value


def _write(file: Path, text: str) -> None:
    write_whole(file, text, durable=False)
