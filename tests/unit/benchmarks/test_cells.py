"""Very many cells stay columns as they are read and written: held to an amount of memory, not to a time."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks import cells

CELLS = 1_000 * 102
MEASURE = """
import io, sys, tracemalloc
import discreet
from discreet.present.release_files import text_parts

class Counting(io.TextIOBase):
    written = 0
    def write(self, text):
        Counting.written += len(text)
        return len(text)

with discreet.open("w") as house:
    answer = house.query(sys.argv[1], epsilon="1")
    tracemalloc.start()
    rows = sum(1 for row in answer.rows if row["n"] is not None)
    ends = sum(1 for row in answer.intervals if row["n"][0] < row["n"][1])
    sys.stdout, kept = Counting(), sys.stdout
    for format in ("json", "csv"):
        sys.stdout.writelines(text_parts(answer, format, "en"))
    sys.stdout = kept
    print(rows + ends, Counting.written, tracemalloc.get_traced_memory()[1])
"""


@pytest.mark.long
def test_reading_very_many_cells_makes_no_object_for_each(tmp_path: Path) -> None:
    """As objects, rows and intervals of so many cells take 70 MB, and their JSON as one text as much again."""
    environment = {**os.environ, "DISCREET_KEYS": str(tmp_path / "keys"), "DISCREET_ANALYST": "ana"}
    script = "from pathlib import Path; from benchmarks import cells; cells.ROWS = 1000; cells._make(Path('.'))"
    subprocess.run([sys.executable, "-c", script], cwd=tmp_path, check=True, env={**environment, **paths()})
    sql = "SELECT a + 1 AS one, x, COUNT(*) AS n FROM big GROUP BY a + 1, x"
    done = subprocess.run(
        [sys.executable, "-c", MEASURE, sql], cwd=tmp_path, capture_output=True, text=True, check=True, env=environment
    )
    seen, written, peak = map(int, done.stdout.split())
    assert seen == 2 * CELLS
    assert written > 10_000_000
    assert peak < 20_000_000


def paths() -> dict[str, str]:
    return {"PYTHONPATH": os.pathsep.join([str(Path(cells.__file__).parents[1]), os.environ.get("PYTHONPATH", "")])}
