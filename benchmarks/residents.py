"""The rows that tables are timed on: one row per resident, a survey weight, and keys with few cells and with many.

Made as those of `people`, by DuckDB with its own defaults, then added to a workspace. Keys are independent of each
other, so hardly a cell is empty: no figure of the plain cube is spared.

    python -m benchmarks.residents FOLDER ROWS
"""

from __future__ import annotations

import sys
from pathlib import Path

from benchmarks.people import SPREAD, House, build_house

__all__ = ["DATASET", "KEYS", "WIDE_KEYS", "build_residents"]

DATASET = "residents"
KEYS = {"province": 13, "industry": 13, "age": 20, "smoking": 5}
WIDE_KEYS = {"district": 99, "occupation": 99, "birthplace": 99}
_CARD = """\
dataset: residents
unit: {{column: id, rows: 1}}
neighbours: add-remove
weight: {{column: weight, cap: 500}}
budget: {{epsilon: 1000}}
columns:
  id: {{kind: id, type: integer}}
{keys}
  weight: {{kind: number, bounds: [0, 1000], step: 0.01}}
"""


def build_residents(folder: Path, *, rows: int) -> House:
    """The rows, added to a workspace in another process."""
    return build_house(folder, rows=rows, maker="benchmarks.residents")


def _write(folder: Path, *, rows: int) -> None:
    import duckdb

    sizes = KEYS | WIDE_KEYS
    columns = [
        "1 + range AS id",
        *(f"1 + {SPREAD.format(seed=7 * index, size=sizes[name])} AS {name}" for index, name in enumerate(sizes)),
        f"{SPREAD.format(seed=1, size=60_000)} / 100.0 AS weight",
    ]
    with duckdb.connect(config={"threads": 2, "memory_limit": "1GB"}) as connection:
        connection.execute(
            f"COPY (SELECT {', '.join(columns)} FROM range({rows})) TO '{folder / DATASET}.parquet' (FORMAT parquet)"
        )
    keys = [
        f"  {name}: {{kind: category, categories: [{', '.join(str(code + 1) for code in range(size))}]}}"
        for name, size in sizes.items()
    ]
    (folder / f"{DATASET}.yaml").write_text(_CARD.format(keys="\n".join(keys)), encoding="utf-8")


def _main(folder: Path, rows: int) -> None:
    from discreet.session import Session

    _write(folder, rows=rows)
    with Session.create(House(folder).workspace) as session:
        session.add(folder / f"{DATASET}.parquet", confirm=lambda _: True)


if __name__ == "__main__":
    _main(Path(sys.argv[1]), int(sys.argv[2]))
