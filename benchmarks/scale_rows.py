"""The rows that are timed on every engine: Parquet as DuckDB writes it, and a card for each dataset.

All datasets are of one population, so that they can be joined. A folder that holds them already is left as it is.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from benchmarks.people import PLACES, PROVINCES, SPREAD
from benchmarks.scale_cases import BARE, DATASETS

__all__ = ["COLUMNS", "write_cards", "write_rows"]

COLUMNS: Final = {
    "id": "bigint",
    "province": "integer",
    "age": "integer",
    "place": "integer",
    "income": "double precision",
    "town": "text",
}
"""The columns, with the types that a table in PostgreSQL has."""

_TOWNS: Final = 500
_CARD: Final = """\
dataset: {name}
population: residents
unit: {{column: id, rows: {rows}}}
neighbours: add-remove
budget: {{epsilon: 1000, delta: 0.01}}
columns:
  id: {{kind: id, type: integer}}
  province: {{kind: category, categories: [{provinces}]}}
  age: {{kind: integer, bounds: [0, 99]}}
  place: {{kind: integer, bounds: [0, {last_place}]}}
  income: {{kind: number, bounds: [0, 250000], step: 0.01}}
  town: {{kind: text}}
"""


def write_cards(folder: Path) -> None:
    """A card for every dataset, beside the folders of rows."""
    for name in (*DATASETS, BARE):
        card = _CARD.format(
            name=name,
            rows=1 if name in ("people", BARE) else 3,
            provinces=", ".join(map(str, PROVINCES)),
            last_place=PLACES - 1,
        )
        (folder / f"{name}.yaml").write_text(card, encoding="utf-8")


def write_rows(folder: Path, name: str, *, rows: int) -> Path:
    """One Parquet file in a folder of its own, as Spark likes to have it."""
    import duckdb

    file = folder / name / "rows.parquet"
    if file.exists():
        return file
    file.parent.mkdir(parents=True, exist_ok=True)
    units = {
        "people": "range",
        "visits": SPREAD.format(seed=0, size=max(rows // 5, 1)),
        "stays": f"range % {-(-rows // 3)}",
    }
    columns = [
        f"1 + {units[name]} AS id",
        f"list_extract({list(PROVINCES)}, 1 + {SPREAD.format(seed=7, size=len(PROVINCES))})::INTEGER AS province",
        f"{SPREAD.format(seed=11, size=100)}::INTEGER AS age",
        f"{SPREAD.format(seed=3, size=PLACES)}::INTEGER AS place",
        f"{SPREAD.format(seed=1, size=20_000_000)} / 100.0 AS income",
        f"'town ' || {SPREAD.format(seed=13, size=_TOWNS)} AS town",
    ]
    partial = file.with_suffix(".partial")
    with duckdb.connect(config={"threads": 2, "memory_limit": "1GB"}) as connection:
        connection.execute(f"COPY (SELECT {', '.join(columns)} FROM range({rows})) TO '{partial}' (FORMAT parquet)")
    return partial.rename(file)
