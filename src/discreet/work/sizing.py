"""Whether a question is answered at once or becomes a job, from its plan and what cards say of their rows alone.

How long it takes in truth may depend on rows, so no clock is looked at, and the same question is treated alike for
everybody. The limits aim at some five seconds on two shared cores. Keys that come from the rows count as one: how many
there are is not public, and the rows bound the time they take.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from discreet.release import Ask
from discreet.sql import Extreme, Marginal, Measure, Plan, Quantile, Residual, reduced, scans

__all__ = ["is_long"]

MOST_QUESTIONS_AT_ONCE: Final = 20
"""Of a workload. Twenty of up to 3,104 cells took 0.7 seconds, but each may be as large as one asked alone."""

MOST_CELLS_AT_ONCE: Final = 500_000
"""Counted once for every measure. 543,200 counts took 5.3 seconds until they were written as JSON, as many counts and
sums 11."""

MOST_ROWS_AT_ONCE: Final = 50_000_000
"""Of files. Joins, distinct units and totals per unit took 5 to 9 seconds over 100 million rows (docs/scale.md)."""

MOST_POINTS_AT_ONCE: Final = 1_000_000
"""Values to choose a quantile among, over all its cells: five million took 4 to 9 seconds, a million up to 6."""

ROWS_ELSEWHERE: Final = 10
"""What a row in PostgreSQL or Spark counts for: rows to be ranked took 9 to 10 seconds over 10 million."""

MARGIN_CELL: Final = 3
"""What a cell of a margin counts for: it is measured, and then brought to agree with the others. A table of 108,640
cells, 239,904 with its margins, took 6.5 seconds before it was written; 15,520 cells, 29,988 with margins, took 0.5."""

QUANTILE_CELL: Final = 125
"""What a cell of a quantile counts for: its choice takes about a millisecond, however few values it has."""

UNSTATED_ROWS: Final = 200_000
"""Taken for a file whose card states no `rows_at_most`: a survey. Who has more rows in files states them."""


def is_long(asked: Ask | Iterable[Ask]) -> bool:
    """Whether a question, or the questions of a workload together, should be a job."""
    asks = (asked,) if isinstance(asked, Ask) else tuple(asked)
    if len(asks) > MOST_QUESTIONS_AT_ONCE or any(map(_is_unstated_elsewhere, asks)):
        return True
    return (
        sum(map(_count_cells, asks)) > MOST_CELLS_AT_ONCE
        or sum(map(_count_rows, asks)) > MOST_ROWS_AT_ONCE
        or sum(map(_count_points, asks)) > MOST_POINTS_AT_ONCE
    )


def _is_unstated_elsewhere(asked: Ask) -> bool:
    """Rows that nobody has bounded, in PostgreSQL or Spark."""
    return any(item.card.rows_at_most is None and item.source.engine != "duckdb" for item in asked.datasets.values())


def _count_cells(asked: Ask) -> int:
    plan = asked.statement.plan
    return sum(reduced(plan, measure).cell_count * _weigh_cell(measure) for measure in plan.measures)


def _weigh_cell(measure: Measure) -> int:
    match measure:
        case Marginal() | Residual():
            return MARGIN_CELL
        case Quantile() | Extreme():
            return QUANTILE_CELL
        case _:
            return 1


def _count_rows(asked: Ask) -> int:
    """Rows that are read, as often as they are: each search for bounds reads them once more."""
    return _rows_of(asked) * (1 + len(asked.statement.searched))


def _rows_of(asked: Ask) -> int:
    rows = 0
    for scan in scans(asked.statement.plan.source):
        found = asked.datasets[scan.dataset]
        weight = 1 if found.source.engine == "duckdb" else ROWS_ELSEWHERE
        rows += weight * (found.card.rows_at_most or UNSTATED_ROWS)
    return rows


def _count_points(asked: Ask) -> int:
    """Candidates that a choice may have to tell apart: no more than there are rows."""
    plan, rows = asked.statement.plan, _rows_of(asked)
    ranked = [measure for measure in plan.measures if isinstance(measure, Quantile | Extreme)]
    return sum(min(rows, _candidates(plan, measure)) for measure in ranked)


def _candidates(plan: Plan, measure: Quantile | Extreme) -> int:
    assert measure.candidates is not None, "only custodians' comparisons have quantiles without candidates"
    first, last = measure.candidates
    return plan.cell_count * (last - first + 1)
