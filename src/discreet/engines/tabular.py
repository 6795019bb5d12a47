"""PostgreSQL and Spark: a plan over tables that stay where they are, their rows prepared within the query."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from discreet.data.card import Card
from discreet.engines.base import Measured
from discreet.engines.cells import arrange
from discreet.engines.dialects import Dialect
from discreet.engines.statements import Table, render
from discreet.engines.tables import RowReader
from discreet.plan.algebra import Plan

__all__ = ["TabularEngine"]


class TabularEngine:
    """Answers plans where the rows are. `prepared` gives each dataset's prepared rows as a SELECT, and its card.

    The connection is opened by the first question, so that an engine may be chosen before there is one.
    """

    def __init__(
        self, prepared: Mapping[str, tuple[str, Card]], *, dialect: Dialect, connect: Callable[[], RowReader]
    ) -> None:
        self._dialect = dialect
        self._connect = connect
        self._reader: RowReader | None = None
        self._tables = {
            name: Table(
                rows=f"(\n{select}\n)",
                columns=frozenset(column.name for column in card.columns),
                unit=card.unit.column,
            )
            for name, (select, card) in prepared.items()
        }

    def measure(self, plan: Plan) -> Measured:
        rendering = render(plan, self._dialect, self._tables)
        if self._reader is None:
            self._reader = self._connect()
        numbers = self._reader.run(rendering.numbers) if rendering.numbers is not None else []
        histograms = [self._reader.run(text) for text in rendering.histograms]
        return arrange(plan, rendering, numbers, histograms)

    def close(self) -> None:
        if self._reader is not None:
            self._reader.close()
        self._reader = None
