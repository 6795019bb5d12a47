"""The rows that questions are timed on, as a user has them and as a workspace keeps them.

`people`: one row per unit. `visits`: the same number of rows, five per unit on average, of which three count. Both are
written by DuckDB with its own defaults (64-bit integers, doubles, snappy), then added to a workspace.

    python -m benchmarks.people FOLDER ROWS
"""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

__all__ = ["PLACES", "PROVINCES", "SPREAD", "House", "build_house"]

PROVINCES = (10, 11, 12, 13, 24, 35, 46, 47, 48, 59, 60, 61, 62)
PLACES = 100_000
_ROWS_PER_UNIT = 5
_CARD = """\
dataset: {name}
population: {name}
unit: {{column: id, rows: {rows}}}
neighbours: add-remove
budget: {{epsilon: 1000}}
columns:
  id: {{kind: id, type: integer}}
  province: {{kind: category, categories: [{provinces}]}}
  place: {{kind: integer, bounds: [0, {last_place}]}}
  income: {{kind: number, bounds: [0, 250000], step: 0.01}}
  spending: {{kind: number, step: 0.01}}
"""
SPREAD = "CAST(hash(range + {seed}) % {size} AS BIGINT)"


@dataclass(frozen=True, slots=True)
class House:
    """A folder with the original files and the workspace that was made of them."""

    folder: Path

    @property
    def workspace(self) -> Path:
        return self.folder / "workspace"

    def original(self, name: str) -> str:
        return f"read_parquet('{self.folder / name}.parquet')"

    def prepared(self, name: str) -> str:
        return f"read_parquet('{self.workspace / 'datasets' / name / 'v1' / 'data.parquet'}')"


def build_house(folder: Path, *, rows: int, maker: str = "benchmarks.people") -> House:
    """Generate and add in another process, so that the memory it takes is not counted for those started later."""
    os.environ["DISCREET_KEYS"] = str(folder / "keys")
    os.environ["DISCREET_ANALYST"] = "bench"
    subprocess.run([sys.executable, "-m", maker, str(folder), str(rows)], check=True)
    return House(folder)


def _write(folder: Path, name: str, *, rows: int, units: int) -> None:
    import duckdb

    unit = "range" if units == rows else SPREAD.format(seed=0, size=units)
    columns = [
        f"1 + {unit} AS id",
        f"list_extract({list(PROVINCES)}, 1 + {SPREAD.format(seed=7, size=len(PROVINCES))})::BIGINT AS province",
        f"{SPREAD.format(seed=3, size=PLACES)} AS place",
        f"{SPREAD.format(seed=1, size=20_000_000)} / 100.0 AS income",
        f"{SPREAD.format(seed=5, size=5_000_000)} / 100.0 AS spending",
    ]
    with duckdb.connect(config={"threads": 2, "memory_limit": "1GB"}) as connection:
        connection.execute(
            f"COPY (SELECT {', '.join(columns)} FROM range({rows})) TO '{folder / name}.parquet' (FORMAT parquet)"
        )
    card = _CARD.format(
        name=name,
        rows=1 if units == rows else 3,
        provinces=", ".join(map(str, PROVINCES)),
        last_place=PLACES - 1,
    )
    (folder / f"{name}.yaml").write_text(card, encoding="utf-8")


def _main(folder: Path, rows: int) -> None:
    from discreet.session import Session

    house = House(folder)
    with Session.create(house.workspace) as session:
        for name, units in (("people", rows), ("visits", rows // _ROWS_PER_UNIT)):
            _write(folder, name, rows=rows, units=units)
            session.add(folder / f"{name}.parquet", confirm=lambda _: True)


if __name__ == "__main__":
    _main(Path(sys.argv[1]), int(sys.argv[2]))
