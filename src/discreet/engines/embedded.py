"""DuckDB inside the process: the prepared Parquet files of a plan's datasets, read-only, nothing else reachable.

Opening DuckDB takes longer than most questions, so an engine stays open and answers many. Each question runs on a
cursor of its own, so threads may share an engine; a process that forked opens its own.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from discreet.engines.cell_order import arrange, load_arranging
from discreet.engines.dialects import DUCKDB, Dialect
from discreet.engines.engine import Measured
from discreet.engines.rendering import RenderedTable, render
from discreet.paths import AnyPath, as_path
from discreet.sql import Extreme, Measure, Plan, Quantile

if TYPE_CHECKING:
    import duckdb

    from discreet.cards import Card

__all__ = ["EmbeddedEngine", "open_database"]

THREADS: Final = 2
_MANY_CELLS: Final = 5_000
_MANY_CANDIDATES: Final = 20_000


class EmbeddedEngine:
    """Answers plans over prepared files, by dataset."""

    def __init__(self, files: Mapping[str, tuple[AnyPath, Card]], *, dialect: Dialect = DUCKDB) -> None:
        self._paths = tuple(str(as_path(path, "file")) for path, _ in files.values())
        self._dialect = dialect
        self._tables = {
            name: RenderedTable(rows=f"read_parquet({dialect.text(path)})", unit=card.unit.column)
            for path, (name, (_, card)) in zip(self._paths, files.items(), strict=True)
        }
        self._owner = 0
        self._database: duckdb.DuckDBPyConnection | None = None

    def prepare(self, plan: Plan) -> None:
        """Open the engine, load what reading its answer takes, and refuse what cannot be written in SQL.

        All that can be known before a charge.
        """
        render(plan, self._dialect, self._tables)
        load_arranging(plan)
        with self._open().cursor() as cursor:
            if _takes_arrays(plan):
                from discreet.engines.cell_arrays import load_arrays

                load_arrays(_fetch(cursor, "SELECT 1::HUGEINT AS one"))

    def measure(self, plan: Plan) -> Measured:
        rendering = render(plan, self._dialect, self._tables)
        with self._open().cursor() as cursor:
            if _takes_arrays(plan):
                from discreet.engines.cell_arrays import arrange_arrays

                return arrange_arrays(plan, rendering, lambda text: _fetch(cursor, text))
            numbers = cursor.execute(rendering.numbers).fetchall() if rendering.numbers is not None else []
            histograms = [cursor.execute(text).fetchall() for text in rendering.histograms]
        return arrange(plan, rendering, numbers, histograms)

    def close(self) -> None:
        if self._database is not None and self._owner == os.getpid():
            self._database.close()
        self._database = None

    def _open(self) -> duckdb.DuckDBPyConnection:
        # DuckDB's threads do not survive a fork: the child would wait for them for ever.
        if self._database is None or self._owner != os.getpid():
            self._database = open_database(self._paths)
            self._owner = os.getpid()
        return self._database


def _fetch(cursor: duckdb.DuckDBPyConnection, text: str) -> Any:
    return cursor.sql(text).to_arrow_table()


def _takes_arrays(plan: Plan) -> bool:
    """Where many cells or long histograms are to be expected, whatever the rows are."""
    return not plan.open and (plan.cell_count > _MANY_CELLS or any(map(_is_long, plan.measures)))


def _is_long(measure: Measure) -> bool:
    if not isinstance(measure, Quantile | Extreme) or measure.candidates is None:
        return False
    first, last = measure.candidates
    return last - first >= _MANY_CANDIDATES


def open_database(paths: tuple[str, ...]) -> duckdb.DuckDBPyConnection:
    """A fresh in-memory DuckDB that can read these files and nothing else, and writes nothing to disk."""
    import duckdb

    database = duckdb.connect(
        ":memory:",
        config={
            "threads": THREADS,
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
            "python_enable_replacements": False,
            "temp_directory": "",
        },
    )
    database.execute("SET enable_progress_bar = false")
    database.execute(f"SET allowed_paths = [{', '.join(map(DUCKDB.text, paths))}]")
    database.execute("SET enable_external_access = false")
    database.execute("SET lock_configuration = true")
    return database
