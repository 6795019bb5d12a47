"""What the rows say of each cell of a table: the summaries from which bootstrap sensitivities follow. Confidential.

A table here is a plan with closed keys and one measure, a count of rows or the total of a bounded value, over units of
one row. The summaries stand in the order of the plan's cells.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from discreet.catalogue import say
from discreet.engines import Engine, Histogram
from discreet.errors import QueryRefused
from discreet.lab.bootstrap.bootstrap_sensitivity import CellSummary, PublicBounds, TableKind, count_summary
from discreet.sql import Extreme, Plan, Rows, Total, facts_of, scans, span_of
from discreet.tables import Formed

__all__ = ["Observed", "Outline", "observe", "outline"]


@dataclass(frozen=True, slots=True)
class Outline:
    """What is known of a table without its rows.

    `membership_public`: the card makes public every column that decides which cell a row lies in, or whether it lies
    in any.
    """

    plan: Plan
    statistic: TableKind
    bounds: PublicBounds
    membership_public: bool


@dataclass(frozen=True, slots=True)
class Observed:
    """The rows of each cell, and whether there are rows that lie in no cell."""

    cells: tuple[CellSummary, ...]
    outside: bool

    def joined(self, other: Observed) -> Observed:
        """The cells with the rows of both."""
        pairs = zip(self.cells, other.cells, strict=True)
        return Observed(tuple(mine.joined(its) for mine, its in pairs), self.outside or other.outside)


def outline(formed: Formed) -> Outline:
    """The table as bootstrap can take it, or QueryRefused: decided by plan and card alone."""
    whole, card = formed.plan, formed.card
    facts = facts_of(whole.source, formed.cards)
    if len(formed.datasets) > 1:
        raise QueryRefused(
            say("bootstrap draws neighbours from the rows of one dataset. Ask about one, or use --method dp."),
            part="where",
        )
    if facts.rows > 1:
        raise QueryRefused(
            say(
                "bootstrap takes one row for one unit, and a unit of '{dataset}' may have {rows} rows: replacing "
                "a row would not replace the unit. Add the data with one row for each unit, or use --method dp.",
                dataset=card.dataset,
                rows=facts.rows,
            ),
            dataset=card.dataset,
        )
    if len(whole.measures) != 1 or whole.open:
        raise QueryRefused(
            say(
                "bootstrap releases tables of counts and of totals; a mean is two tables. Ask for the count and "
                "the total, or use --method dp."
            ),
            part="mean",
        )
    measure = whole.measures[0]
    if isinstance(measure, Total):
        span = span_of(measure.value, facts)
        bounds = PublicBounds(span.low or 0, span.high or 0)
    elif isinstance(measure, Rows) and measure.value is None:
        bounds = PublicBounds(1, 1)
    else:
        raise QueryRefused(
            say("bootstrap releases tables of counts and of totals only. Use --method dp."), part="measure"
        )
    keyed = all(span_of(key.field, facts).public for key in whole.keys)
    kept = all(card.column(name).public for _, name in facts.lineage)
    statistic = TableKind.TOTAL if isinstance(measure, Total) else TableKind.COUNT
    return Outline(whole, statistic, bounds, membership_public=keyed and kept)


def observe(plan: Plan, engine: Engine) -> Observed:
    """The summary of every cell of the plan's one measure, exactly."""
    measure = plan.measures[0]
    counts: Sequence[int]
    if isinstance(measure, Total):
        histograms: Sequence[Histogram]
        both = replace(plan, measures=(Rows(None), Extreme(measure.value, largest=True)))
        counts, histograms = engine.measure(both).columns  # type: ignore[assignment]
        cells = tuple(_summary(n, found) for n, found in zip(counts, histograms, strict=True))
    else:
        (counts,) = engine.measure(plan).columns  # type: ignore[assignment]
        cells = tuple(count_summary(int(n)) for n in counts)
    return Observed(cells, outside=_all_rows(plan, engine) > sum(cell.n for cell in cells))


def _summary(rows: int, histogram: Histogram) -> CellSummary:
    values = [value for value, _ in histogram]
    if sum(count for _, count in histogram) < rows:
        values.append(0)  # a row without the value adds nothing to the total
    total = sum(value * count for value, count in histogram)
    return CellSummary(n=int(rows), total=total, low=min(values, default=0), high=max(values, default=0))


def _all_rows(plan: Plan, engine: Engine) -> int:
    scan = next(scans(plan.source))
    (count,) = engine.measure(Plan(scan, (), (Rows(None),))).columns
    return int(count[0])  # type: ignore[arg-type]
