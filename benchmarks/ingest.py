"""Ingest: time and peak memory of adding a generated CSV and Parquet file, each in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

_CARD = """\
dataset: bench
unit: {column: person_id, rows: 3}
neighbours: add-remove
weight: {column: weight, cap: 4000}
budget: {epsilon: 1}
columns:
  person_id: {kind: id, type: integer}
  province: {kind: category, categories: [10, 11, 12, 13, 24, 35, 46, 47, 48, 59, 60, 61, 62]}
  age: {kind: integer, bounds: [0, 110]}
  income: {kind: number, bounds: [0, 250000], step: 0.01, missing: [999999.99]}
  weight: {kind: number, bounds: [0, 15000], step: 0.01}
"""

_ADD = """
import json, os, sys, time
from pathlib import Path
from benchmarks.memory import peak_mb
from discreet.cards import read_card
from discreet.workspace import Workspace, add_file
folder, file = Path(sys.argv[1]), Path(sys.argv[2])
os.environ["DISCREET_KEYS"] = str(folder / "keys")
workspace = Workspace.create(folder / f"workspace-{file.suffix[1:]}")
start = time.perf_counter()
add_file(workspace, file, read_card(folder / "bench.yaml"), replace=False)
print(json.dumps({
    "seconds": time.perf_counter() - start,
    "peak_mb": peak_mb(),
}))
"""


def run(rows: int = 10_000_000) -> dict[str, float]:
    """Seconds and peak resident megabytes for CSV and Parquet; `_repeated`: five rows per unit."""
    figures: dict[str, float] = {}
    for people, ending in ((rows, ""), (rows // 5, "_repeated")):
        with tempfile.TemporaryDirectory() as folder:
            here = Path(folder)
            (here / "bench.yaml").write_text(_CARD)
            for file in _generate(here, rows, people):
                text = subprocess.run(
                    [sys.executable, "-c", _ADD, folder, str(file)],
                    check=True,
                    capture_output=True,
                    text=True,
                )
                for name, figure in json.loads(text.stdout).items():
                    figures[f"{file.suffix[1:]}{ending}_{name}"] = round(figure, 1)
    return figures


def _generate(folder: Path, rows: int, people: int) -> tuple[Path, Path]:
    import duckdb

    made = (
        f"SELECT 1 + hash(range) % {people} AS person_id, [10,11,12,13,24,35,46,47,48,59,60,61,62]"
        "[1 + range % 13] AS province, (range * 7919) % 120 AS age, "
        "round(random() * 200000, 2) AS income, round(5 + 400 * random(), 2) AS weight "
        f"FROM range({rows})"
    )
    if people == rows:
        made = made.replace(f"1 + hash(range) % {people}", "range + 1")
    table, text = folder / "bench.parquet", folder / "bench.csv"
    with duckdb.connect(config={"threads": 2, "memory_limit": "1GB"}) as connection:
        connection.execute(f"COPY ({made}) TO '{table}' (FORMAT parquet)")
        connection.execute(f"COPY (FROM '{table}') TO '{text}' (FORMAT csv, HEADER)")
    return text, table


if __name__ == "__main__":
    for name, figure in run(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000_000).items():
        print(f"{name:28} {figure:10.1f}")
