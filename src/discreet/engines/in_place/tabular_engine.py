"""PostgreSQL and Spark: a plan over tables that stay where they are, their rows prepared within the query."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping

from discreet.cards import Card
from discreet.engines.cell_order import arrange, load_arranging
from discreet.engines.dialects import Dialect
from discreet.engines.engine import Measured
from discreet.engines.in_place.tables_in_place import RowReader
from discreet.engines.rendering import RenderedTable, render
from discreet.sql import Plan

__all__ = ["TabularEngine"]


class TabularEngine:
    """Answers plans where the rows are. `prepared` gives each dataset's prepared rows as a SELECT, and its card.

    Every question has a connection of its own, so that it sees the table as it is then and holds nothing afterwards.
    Threads may share an engine: what one has prepared no other takes.
    """

    def __init__(
        self, prepared: Mapping[str, tuple[str, Card]], *, dialect: Dialect, connect: Callable[[], RowReader]
    ) -> None:
        self._dialect = dialect
        self._connect = connect
        self._waiting = threading.local()
        self._tables = {
            name: RenderedTable(
                rows=f"(\n{select}\n)",
                unit=card.unit.column,
            )
            for name, (select, card) in prepared.items()
        }

    def prepare(self, plan: Plan) -> None:
        """Connect, and refuse what cannot be written in SQL: all that can be known before a charge."""
        render(plan, self._dialect, self._tables)
        load_arranging(plan)
        self.close()
        self._waiting.reader = self._connect()

    def measure(self, plan: Plan) -> Measured:
        rendering = render(plan, self._dialect, self._tables)
        reader = self._take() or self._connect()
        try:
            numbers = reader.run(rendering.numbers) if rendering.numbers is not None else []
            histograms = [reader.run(text) for text in rendering.histograms]
        finally:
            reader.close()
        return arrange(plan, rendering, numbers, histograms)

    def close(self) -> None:
        reader = self._take()
        if reader is not None:
            reader.close()

    def _take(self) -> RowReader | None:
        reader: RowReader | None = getattr(self._waiting, "reader", None)
        self._waiting.reader = None
        return reader
