"""The same work by OpenDP with Polars and by diffprivlib, which live in an environment of their own (.venv-peers).

All take turns with Discreet and plain DuckDB on the same files. A library that is not installed, or that cannot do a
question, is left out of the table with the reason.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.page import PAGE, describe_machine, table, write_block
from benchmarks.people import House, build_house
from benchmarks.query import CASES, ROWS, Case
from benchmarks.turns import Figures, WorkerFailed, take_turns

PYTHON = Path(__file__).parents[1] / ".venv-peers" / "bin" / "python"
PEERS = ("opendp", "diffprivlib")


@dataclass(frozen=True, slots=True)
class Contest:
    """A case, what the peers are asked for it, and in how many rounds: some take long."""

    case: Case
    file: str
    key: str
    bounded: bool
    rounds: int


CONTESTS = (
    Contest(CASES[0], "people", "province", bounded=False, rounds=3),
    Contest(CASES[3], "people", "place", bounded=False, rounds=1),
    Contest(CASES[4], "visits", "province", bounded=True, rounds=1),
)


def run(
    rows: int = ROWS, *, contests: Sequence[Contest] = CONTESTS, python: Path = PYTHON, page: Path = PAGE
) -> dict[str, float]:
    """Measure, and write what was found into `page`."""
    with tempfile.TemporaryDirectory() as folder:
        house = build_house(Path(folder), rows=rows)
        found = [_hold(contest, house, python) for contest in contests]
    lines, parts = [], {}
    for contest, (figures, missing) in zip(contests, found, strict=True):
        plain = figures["plain"].whole
        for name in ("plain", "discreet", *PEERS):
            lines.append([contest.case.title, name, *_shown(figures, name, missing), str(contest.rounds)])
            if name in figures:
                parts[f"{contest.case.title}: {name} to plain"] = figures[name].whole / plain
    head = ["question", "by", "seconds", "to plain", "MB", "rounds"]
    machine = [f"{rows:,} rows, medians of the rounds told, after one that is not counted.", describe_machine()]
    write_block(page, "peers", [*machine, "", *table(head, lines)])
    return parts


def _hold(contest: Contest, house: House, python: Path) -> tuple[dict[str, Figures], dict[str, str]]:
    """What each took; and why the others are missing."""
    ours = [sys.executable, "-m", "benchmarks.worker"]
    plain = contest.case.plain.format(
        people=house.original("people"), visits=house.original("visits"), prepared=house.prepared("people")
    )
    commands: dict[str, Sequence[str]] = {
        "plain": [*ours, "plain", plain],
        "discreet": [*ours, "discreet", str(house.workspace), contest.case.sql],
    }
    missing: dict[str, str] = {}
    file = str(house.folder / f"{contest.file}.parquet")
    for peer in PEERS:
        if not python.exists():
            missing[peer] = "not installed"
            continue
        asked = [contest.key, "3" if contest.bounded else "1"]
        commands[peer] = [str(python), "-m", "benchmarks.peer_work", peer, file, *asked]
    while True:
        try:
            return take_turns(commands, rounds=contest.rounds), missing
        except WorkerFailed as failure:
            if failure.worker not in PEERS:
                raise
            missing[failure.worker] = str(failure)
            del commands[failure.worker]


def _shown(figures: Mapping[str, Figures], name: str, missing: Mapping[str, str]) -> list[str]:
    if name not in figures:
        return [missing[name], "", ""]
    item = figures[name]
    return [f"{item.whole:.2f}", f"{item.whole / figures['plain'].whole:.1f}×", f"{item.peak_mb:.0f}"]
