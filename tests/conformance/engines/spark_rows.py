"""Rows in files for Spark, and code that runs against a Spark in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from discreet.engines.in_place.spark_tables import SparkRows
from discreet.workspace.row_source import RowSource
from tests.conformance.engines.raw_tables import raw_rows
from tests.places import ROOT
from tests.sql_text.populations import Population

__all__ = ["TYPES", "fill", "load", "run_apart", "source_of"]

TYPES = {"double": pa.float64(), "decimal": pa.decimal128(24, 3), "integer": pa.int64(), "text": pa.string()}
_PLACES = Decimal("0.001")


def fill(folder: Path, columns: Mapping[str, pa.DataType], rows: Sequence[tuple[Any, ...]], *, files: int = 2) -> None:
    """Rows in files of a folder that the cluster may read, dealt out in turn."""
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(files):
        dealt = [dict(zip(columns, row, strict=True)) for row in rows[number::files]]
        pq.write_table(pa.Table.from_pylist(dealt, schema=pa.schema(columns.items())), folder / f"{number}.parquet")
    for place in (folder, *list(folder.parents)[:2]):
        place.chmod(0o755)


def source_of(remote: str, folder: Path) -> RowSource:
    """A folder as it is registered."""
    source = RowSource("spark", remote=remote, table=f"parquet.`{folder}`")
    assert source.table is not None
    return replace(source, types=tuple(SparkRows(source).columns(source.table).items()))


def load(remote: str, folder: Path, people: Population, *, seed: int = 0) -> dict[str, RowSource]:
    """The raw rows of a population; the seed decides in which order and in how many files."""
    found = {}
    for name in people.cards:
        forms, rows = raw_rows(people, name, seed=seed)
        place = folder / f"{name} {people.number} {seed}"
        dealt = [
            tuple(_fitting(value, form) for value, form in zip(row.values(), forms.values(), strict=True))
            for row in rows
        ]
        fill(place, {column: TYPES[form] for column, form in forms.items()}, dealt, files=1 + seed % 3)
        found[name] = source_of(remote, place)
    return found


def _fitting(value: Any, form: str) -> Any:
    return value.quantize(_PLACES) if form == "decimal" and value is not None else value


def run_apart(module: str, function: str, *words: object) -> None:
    """Call a function of a test module in a process of its own: two kinds of Spark session do not get on in one."""
    code = f"import sys; from {module} import {function}; {function}(*sys.argv[1:])"
    done = subprocess.run(
        [sys.executable, "-c", code, *map(str, words)],
        check=False,
        cwd=ROOT,
        env=os.environ.copy(),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-3000:]
