"""A million cells: time and peak memory of the question, of reading its rows and intervals, and of every format.

Each in a process of its own. The answers have 1,000,000 cells, the most that one question may have; keys are computed.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, cast

from benchmarks.memory import peak_mb

if TYPE_CHECKING:
    from discreet.results import Release

    pass

__all__ = ["run"]

ROWS = 500_000
MOST_MB = 1_024
MOST_SECONDS = 5
QUESTIONS = {
    "counts": "SELECT a + 1 AS one, b, COUNT(*) AS n FROM big GROUP BY a + 1, b",
    "means": "SELECT a + 1 AS one, b, AVG(x) AS mean FROM big GROUP BY a + 1, b",
    "ratios": "SELECT a + 1 AS one, b, SUM(x) / COUNT(*) AS ratio FROM big GROUP BY a + 1, b",
    "the largest ten": "SELECT a, b, COUNT(*) AS n FROM big GROUP BY a, b HAVING COUNT(*) > 5 ORDER BY n DESC LIMIT 10",
}
FORMATS = ("json", "csv", "table")
_CARD = """\
dataset: big
population: big
unit: {column: id, rows: 1}
neighbours: add-remove
budget: {epsilon: 1000}
columns:
  id: {kind: id, type: integer}
  a: {kind: integer, bounds: [0, 998]}
  b: {kind: integer, bounds: [0, 998]}
  x: {kind: integer, bounds: [0, 100]}
"""


def run() -> dict[str, float]:
    figures: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as folder:
        os.environ["DISCREET_KEYS"] = str(Path(folder) / "keys")
        os.environ["DISCREET_ANALYST"] = "bench"
        _call("make", folder)
        for what in QUESTIONS:
            for step, seconds, megabytes in _call("ask", folder, what):
                figures[f"{what}: {step} (s; at most {MOST_SECONDS} together)"] = seconds
                figures[f"{what}: {step}, peak (MB; at most {MOST_MB})"] = megabytes
        for form in FORMATS:
            [(_, seconds, megabytes)] = _call("show", folder, form)
            figures[f"counts as {form} (s)"] = seconds
            figures[f"counts as {form}, peak (MB; at most {MOST_MB})"] = megabytes
    return figures


def _call(*words: str) -> list[tuple[str, float, float]]:
    command = [sys.executable, "-m", "benchmarks.cells", *words]
    done = subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    lines = [line.split("\t") for line in done.stderr.splitlines() if line.count("\t") == 2]
    return [(step, float(seconds), float(megabytes)) for step, seconds, megabytes in lines]


def _make(folder: Path) -> None:
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    from discreet.session import Session

    drawn = np.random.default_rng(1)
    columns = {name: drawn.integers(0, size, ROWS) for name, size in (("a", 999), ("b", 999), ("x", 101))}
    pq.write_table(pa.table({"id": np.arange(ROWS), **columns}), folder / "big.parquet")
    (folder / "big.yaml").write_text(_CARD, encoding="utf-8")
    with Session.create(folder / "w") as session:
        session.add(folder / "big.parquet", confirm=lambda _: True)


def _tell(step: str, work: Callable[[], object]) -> object:
    start = time.perf_counter()
    result = work()
    seconds = time.perf_counter() - start
    print(f"{step}\t{seconds}\t{peak_mb()}", file=sys.stderr)
    return result


def _ask(folder: Path, what: str) -> None:
    import discreet

    with discreet.open(folder / "w") as session:
        session.query("SELECT COUNT(*) FROM big", epsilon="0.01", fresh=True)  # loads what every question loads
        asked = _tell("asked", lambda: session.query(QUESTIONS[what], epsilon="0.01", fresh=True))
        answer = cast("Release", asked)
        _tell("rows read", lambda: sum(1 for _ in answer.rows))
        _tell("intervals read", lambda: sum(1 for _ in answer.intervals))


def _show(folder: Path, form: str) -> None:
    from discreet.cli import main

    sys.argv = ["discreet", "query", "-w", str(folder / "w"), QUESTIONS["counts"], "--epsilon", "0.01", "--fresh"]
    sys.argv += ["--format", form]

    def work() -> None:
        with suppress(SystemExit):
            main()

    _tell(form, work)


if __name__ == "__main__":
    kind, where, *rest = sys.argv[1:]
    kinds: dict[str, Callable[..., None]] = {"make": _make, "ask": _ask, "show": _show}
    kinds[kind](Path(where), *rest)
