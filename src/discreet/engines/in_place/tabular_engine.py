"""PostgreSQL and Spark: a plan over tables that stay where they are, prepared there or within the question."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import Any, cast

from discreet.engines.cell_arrays import arrange_arrays, load_arrays
from discreet.engines.cell_order import load_arranging
from discreet.engines.dialects import Dialect
from discreet.engines.engine import Measured
from discreet.engines.in_place.bounded_rows import RawTable, TableInPlace
from discreet.engines.in_place.tables_in_place import RowReader
from discreet.engines.rendering import RenderedTable, Rendering, placed, render
from discreet.sql import Plan, scans

__all__ = ["FindRows", "TabularEngine"]

FindRows = Callable[[RowReader], RawTable | RenderedTable]
"""Where a reader finds a dataset's rows: prepared ones, or raw ones that the question prepares."""


class TabularEngine:
    """Answers plans where the rows are. `rows` finds each dataset's rows through a reader.

    Every question has a transaction or a pinned state of its own, so that it sees the table as it is then and holds
    nothing afterwards. Threads may share an engine: what one has prepared no other takes.
    """

    def __init__(self, rows: Mapping[str, FindRows], *, dialect: Dialect, connect: Callable[[], RowReader]) -> None:
        self._rows = rows
        self._dialect = dialect
        self._connect = connect
        self._waiting = threading.local()

    def prepare(self, plan: Plan) -> None:
        """Connect, and refuse what cannot be written in SQL or run with these rights: all there is before a charge."""
        load_arranging(plan)
        load_arrays()
        self.let_go()
        reader = self._connect()
        try:
            rendering = self._render(plan, reader, look=False)
            for statement in _statements(rendering):
                reader.check(statement)
        except BaseException:
            reader.close()
            raise
        reader.rest()
        self._waiting.reader = reader

    def measure(self, plan: Plan) -> Measured:
        reader = self._take() or self._connect()
        try:
            rendering = self._render(plan, reader, look=True)
            return arrange_arrays(plan, rendering, reader.fetch)
        finally:
            reader.close()

    def tabulate(self, plan: Plan) -> Any:
        reader = self._connect()
        try:
            rendering = self._render(plan, reader, look=True)
            assert rendering.numbers is not None, "it counts or sums"
            return placed(reader.fetch(rendering.numbers), plan, rendering)
        finally:
            reader.close()

    def let_go(self) -> None:
        reader = self._take()
        if reader is not None:
            reader.close()

    def close(self) -> None:
        self.let_go()

    def _render(self, plan: Plan, reader: RowReader, *, look: bool) -> Rendering:
        """The plan's statements; only after the charge may they depend on a look at the rows."""
        names = dict.fromkeys(scan.dataset for scan in scans(plan.source))
        found = {name: self._rows[name](reader) for name in names}
        tables = {
            name: _in_place(rows, reader, look=look) if isinstance(rows, RawTable) else rows
            for name, rows in found.items()
        }
        return render(plan, self._dialect, tables)

    def _take(self) -> RowReader | None:
        reader: RowReader | None = getattr(self._waiting, "reader", None)
        self._waiting.reader = None
        return reader


def _in_place(rows: RawTable, reader: RowReader, *, look: bool) -> TableInPlace:
    """Raw rows with the units of which rows must be left out; beyond a number of units, every row is ranked."""
    if rows.one_each:
        return TableInPlace.of(rows, long=())
    search = rows.long_units
    if search is None or not look:
        return TableInPlace.of(rows, long=None)
    units = [cast("int | str", unit) for (unit,) in reader.search(search)]
    return TableInPlace.of(rows, long=units if len(units) <= rows.dialect.most_listed else None)


def _statements(rendering: Rendering) -> list[str]:
    return [text for text in (rendering.numbers, *rendering.histograms) if text is not None]
