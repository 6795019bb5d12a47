"""DuckDB inside the process: the prepared Parquet files of a plan's datasets, read-only, nothing else reachable.

Opening DuckDB takes longer than most questions, so an engine stays open and answers many. Each question runs on a
cursor of its own, so threads may share an engine; a process that forked opens its own. What does not fit into its
memory goes to a private folder in the workspace's staging, which ends with the engine.
"""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from discreet.catalogue import say
from discreet.engines.cell_order import arrange, load_arranging
from discreet.engines.dialects import DUCKDB, Dialect
from discreet.engines.engine import Measured
from discreet.engines.footprint import most_bytes
from discreet.engines.rendering import RenderedTable, placed, render
from discreet.engines.resources import EngineResources, read_resources, size_words
from discreet.errors import EngineUnavailable, QueryRefused
from discreet.paths import AnyPath, as_path, tell_reason
from discreet.sql import Extreme, Measure, Plan, Quantile
from discreet.workspace import PrivateFolder

if TYPE_CHECKING:
    import duckdb

    from discreet.cards import Card

__all__ = ["EmbeddedEngine", "open_database"]

THREADS: Final = 2
_MANY_CELLS: Final = 5_000
_MANY_CANDIDATES: Final = 20_000


class EmbeddedEngine:
    """Answers plans over prepared files, by dataset."""

    def __init__(
        self,
        files: Mapping[str, tuple[AnyPath, Card]],
        *,
        dialect: Dialect = DUCKDB,
        staging: AnyPath | None = None,
    ) -> None:
        """Without `staging` nothing is written to disk."""
        self._paths = tuple(str(as_path(path, "file")) for path, _ in files.values())
        self._dialect = dialect
        self._tables = {
            name: RenderedTable(rows=f"read_parquet({dialect.text(path)})", unit=card.unit.column)
            for path, (name, (_, card)) in zip(self._paths, files.items(), strict=True)
        }
        self._cards = {name: card for name, (_, card) in files.items()}
        self._staging = None if staging is None else as_path(staging, "staging")
        self._owner = 0
        self._database: duckdb.DuckDBPyConnection | None = None
        self._end: weakref.finalize[..., EmbeddedEngine] | None = None
        self._opening = threading.Lock()

    def prepare(self, plan: Plan) -> None:
        """Open the engine, load what reading its answer takes, and refuse what cannot be written in SQL.

        All that can be known before a charge.
        """
        render(plan, self._dialect, self._tables)
        self._refuse_large(plan)
        load_arranging(plan)
        with self._open().cursor() as cursor:
            if _takes_arrays(plan):
                from discreet.engines.cell_arrays import load_arrays

                load_arrays(_fetch(cursor, "SELECT 1::HUGEINT AS one"))

    def _refuse_large(self, plan: Plan) -> None:
        """Refuse what may need more than there is, by the rows that cards state and never by those there are."""
        needed, resources = most_bytes(plan, self._cards), read_resources()
        if needed is None:
            return
        spill = 0 if self._staging is None else resources.spill
        if needed > resources.memory + spill:
            raise QueryRefused(
                say(
                    "this may take up to {needed} at a time, going by the number of rows that the card states; there "
                    "are {memory} of memory (DISCREET_MEMORY) and {disk} of disk (DISCREET_SPILL). Nothing was "
                    "charged. Ask the custodian for more, or join, group and rank less at a time.",
                    needed=size_words(needed),
                    memory=size_words(resources.memory),
                    disk=size_words(spill),
                ),
                part="resources",
                needed=needed,
                allowed=resources.memory + spill,
            )

    def measure(self, plan: Plan) -> Measured:
        rendering = render(plan, self._dialect, self._tables)
        with self._open().cursor() as cursor:
            if _takes_arrays(plan):
                from discreet.engines.cell_arrays import arrange_arrays

                return arrange_arrays(plan, rendering, lambda text: _fetch(cursor, text))
            numbers = cursor.execute(rendering.numbers).fetchall() if rendering.numbers is not None else []
            histograms = [cursor.execute(text).fetchall() for text in rendering.histograms]
        return arrange(plan, rendering, numbers, histograms)

    def tabulate(self, plan: Plan) -> Any:
        rendering = render(plan, self._dialect, self._tables)
        assert rendering.numbers is not None, "it counts or sums"
        with self._open().cursor() as cursor:
            return placed(_fetch(cursor, rendering.numbers), plan, rendering)

    def close(self) -> None:
        if self._end is not None:
            self._end()
        self._database = None

    def _open(self) -> duckdb.DuckDBPyConnection:
        # DuckDB's threads do not survive a fork: the child would wait for them for ever.
        if self._database is None or self._owner != os.getpid():
            return self._open_once()
        return self._database

    def _open_once(self) -> duckdb.DuckDBPyConnection:
        """One database for all threads that ask at once."""
        if self._owner not in (0, os.getpid()):
            self._opening = threading.Lock()  # whoever held it did not come along into the fork
        with self._opening:
            if self._database is not None and self._owner == os.getpid():
                return self._database
            resources = read_resources()
            spill = self._make_spill(resources)
            database = open_database(self._paths, resources, spill=None if spill is None else spill.path)
            self._end = weakref.finalize(self, _end, os.getpid(), database, spill)
            self._database, self._owner = database, os.getpid()
            return database

    def _make_spill(self, resources: EngineResources) -> PrivateFolder | None:
        if self._staging is None or resources.spill == 0:
            return None
        try:
            return PrivateFolder(self._staging)
        except OSError as error:
            raise EngineUnavailable(
                say(
                    "the folder for what does not fit into memory cannot be made: {reason}. Ask the custodian to make "
                    "the workspace's folder 'staging' writable, or to set DISCREET_SPILL=0.",
                    reason=tell_reason(error),
                )
            ) from None


def _end(owner: int, database: duckdb.DuckDBPyConnection, spill: PrivateFolder | None) -> None:
    """Close what this process opened; what belongs to the one it forked from is left to that."""
    if owner != os.getpid():
        return
    database.close()
    if spill is not None:
        spill.remove()


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


def open_database(
    paths: tuple[str, ...], resources: EngineResources | None = None, *, spill: AnyPath | None = None
) -> duckdb.DuckDBPyConnection:
    """A fresh in-memory DuckDB that can read these files and nothing else, and writes only to the folder `spill`."""
    import duckdb

    resources = resources or read_resources()
    database = duckdb.connect(
        ":memory:",
        config={
            "threads": THREADS,
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
            "python_enable_replacements": False,
            "memory_limit": f"{resources.memory // 1000}KB",
            "temp_directory": "" if spill is None else str(spill),
            "max_temp_directory_size": f"{resources.spill // 1000}KB",
        },
    )
    database.execute("SET enable_progress_bar = false")
    database.execute(f"SET allowed_paths = [{', '.join(map(DUCKDB.text, paths))}]")
    database.execute("SET enable_external_access = false")
    database.execute("SET lock_configuration = true")
    return database
