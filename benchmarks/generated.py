"""A warm question by the strategy `generated`, beside the same aggregate in plain DuckDB on the prepared file.

The rows are as many and as wide as the largest data of the thesis; one column has a value of its own in every row. The
time is all of `Session.ask_unproven`: the SQL read, the marker synced to disk, the engine, the listing, the journal. No
two questions are the same. In place of a trained model stands one that gives rows back: warm questions load none.
"""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path
from statistics import median
from unittest.mock import patch

import duckdb
import numpy as np

from discreet.guarantees import Unproven
from discreet.lab import Laboratory
from discreet.lab.generator.generator_rows import GeneratorRows, read_rows
from discreet.lab.generator.shelf import Shelved, shelve
from discreet.session import Session

ROWS = 101_766
COLUMNS = 49
ROUNDS = 51
LIMIT_MS = 50
CARD = """\
dataset: stays
population: stays
unit: {{column: id, rows: 1}}
neighbours: add-remove
budget: {{epsilon: 1}}
allow: [generated]
columns:
  id: {{kind: id, type: row}}
  number: {{kind: integer, bounds: [0, 999999999]}}
{columns}
"""


class Stand:
    """Gives back the rows it has, as many as are asked for."""

    guarantee = Unproven("a stand-in for a model")

    def __init__(self, rows: GeneratorRows) -> None:
        self._rows = rows

    def save(self, folder: Path) -> None:
        (folder / "model.json").write_text("{}", encoding="utf-8")

    def sample(self, count: int) -> GeneratorRows:
        indices = np.arange(count) % len(self._rows)
        return GeneratorRows(self._rows.shapes, {name: values[indices] for name, values in self._rows.values.items()})


def run(rows: int = ROWS, *, rounds: int = ROUNDS) -> dict[str, float]:
    text = {}
    with tempfile.TemporaryDirectory() as folder:
        os.environ["DISCREET_KEYS"] = str(Path(folder) / "keys")
        os.environ["DISCREET_ANALYST"] = "bench"
        with _open(Path(folder), rows) as session:
            dataset = session.workspace.dataset("stays")
            stand = Stand(read_rows(dataset))
            shelve(session.workspace, dataset, stand)  # type: ignore[arg-type]
            with patch.object(Shelved, "load", return_value=stand):
                for column in ("number", "c1"):
                    ours, plain = _take_turns(session, str(dataset.data), column, rounds)
                    text[f"AVG({column}), {rows:,} rows: plain DuckDB (ms)"] = plain
                    text[f"AVG({column}), {rows:,} rows: generated, at most {LIMIT_MS} (ms)"] = ours
                    text[f"AVG({column}), {rows:,} rows: ratio"] = ours / plain
    return text


def _open(folder: Path, rows: int) -> Session:
    """A workspace with the rows; every number but one is small."""
    rng = np.random.default_rng(1)
    names = [f"c{index}" for index in range(1, COLUMNS)]
    values = np.column_stack([rng.permutation(rows) * 4_000, rng.integers(0, 100, (rows, len(names)))])
    header = ",".join(["number", *names])
    np.savetxt(folder / "stays.csv", values, fmt="%d", delimiter=",", header=header, comments="")
    columns = "\n".join(f"  {name}: {{kind: integer, bounds: [0, 99]}}" for name in names)
    (folder / "stays.yaml").write_text(CARD.format(columns=columns), encoding="utf-8")
    session = Session.create(folder / "workspace")
    session.add(folder / "stays.csv", confirm=lambda _: True)
    return session


def _take_turns(session: Session, file: str, column: str, rounds: int) -> tuple[float, float]:
    """Median milliseconds of ours and of plain DuckDB; the first round opens what stays open, and is not counted."""
    taken: list[tuple[float, float]] = []
    with duckdb.connect(config={"threads": 2}) as plain:
        for least in range(rounds + 1):
            asked = f"SELECT AVG({column}) AS mean FROM {{rows}} WHERE number >= {least}"
            start = time.perf_counter()
            Laboratory(session).ask_unproven(asked.format(rows="stays"), strategy="generated", epsilon="0.1")
            between = time.perf_counter()
            plain.execute(asked.format(rows=f"read_parquet('{file}')")).fetchall()
            taken.append((between - start, time.perf_counter() - between))
    ours, theirs = zip(*taken[1:], strict=True)
    return 1000 * median(ours), 1000 * median(theirs)
