"""Sensitivities of tables over the observed data: as the paper prints them, and as they are.

Requires:  data sets of a fixed size over the rows of D, or of a pool that holds D; neighbours replace one row.
Proof:     docs/proofs/bootstrap.md
Refs:      [P] Definition 9, Sections 5.1 and 5.2.

A row adds its value to one cell, or to none. To replace it by another row of D moves one cell by the difference of two
values of that cell, or two cells, each by one value: so a cell's range V, the largest size M of its values and whether
any row lies elsewhere decide everything. A count is the total of ones. The paper's figures for whole tables hold only
if no row can change its cell.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeVar

__all__ = [
    "CellSummary",
    "PublicBounds",
    "ScaleMethod",
    "TableKind",
    "cell_sensitivities",
    "count_summary",
    "noise_scales",
    "printed_cell_sensitivities",
    "printed_table_sensitivity",
    "public_scale",
    "released_scales",
    "summarise",
    "table_sensitivity",
]

CellName = TypeVar("CellName")


class TableKind(StrEnum):
    """What a table shows: how many rows (a contingency table), or the total of a value (a magnitude table)."""

    COUNT = "count"
    TOTAL = "total"


class ScaleMethod(StrEnum):
    """How the noise of a whole table is chosen. The first three are the paper's.

    MAXIMUM takes the table as one output; SPLIT gives each of k cells epsilon/k; MEMBERSHIP assumes that everybody
    knows which row lies in which cell; PAIR gives each cell epsilon/2, because a row touches two cells at most.
    """

    MAXIMUM = "i"
    SPLIT = "ii"
    MEMBERSHIP = "iii"
    PAIR = "pair"


@dataclass(frozen=True, slots=True)
class CellSummary:
    """The rows of one cell: how many, the total of what they add, the least and the largest of it, in whole steps.

    A row without a value adds 0. An empty cell is all zeros.
    """

    n: int
    total: int
    low: int
    high: int

    def __post_init__(self) -> None:
        if self.n < 0 or self.low > self.high:
            raise ValueError("a cell has no fewer than 0 rows, and its least value is not above its largest")
        if self.n == 0 and (self.total, self.low, self.high) != (0, 0, 0):
            raise ValueError("an empty cell is all zeros")
        others = self.n - 1
        if self.n and not self.high + others * self.low <= self.total <= self.low + others * self.high:
            raise ValueError("the total of a cell lies between what its least and largest values allow")

    @property
    def spread(self) -> int:
        """V: the largest difference of two values of the cell."""
        return self.high - self.low

    @property
    def reach(self) -> int:
        """M: the largest absolute value of the cell."""
        return max(abs(self.low), abs(self.high))

    def joined(self, other: CellSummary) -> CellSummary:
        """The cell with the rows of both."""
        if not self.n or not other.n:
            return self if self.n else other
        return CellSummary(
            n=self.n + other.n,
            total=self.total + other.total,
            low=min(self.low, other.low),
            high=max(self.high, other.high),
        )


@dataclass(frozen=True, slots=True)
class PublicBounds:
    """What is known of a value without the rows: what differential privacy must assume, for replaced rows."""

    low: int
    high: int

    def __post_init__(self) -> None:
        if self.low > self.high:
            raise ValueError("the lower bound is not above the upper one")

    @property
    def cell(self) -> int:
        """The sensitivity of one cell: two values of the cell, or one that leaves or enters it."""
        return max(self.high - self.low, abs(self.low), abs(self.high))

    def table(self, cells: int) -> int:
        """The sensitivity of a table of so many cells: a row may leave one and enter another."""
        return self.cell if cells < 2 else max(self.cell, 2 * max(abs(self.low), abs(self.high)))


def count_summary(n: int) -> CellSummary:
    """A cell of a contingency table: every row adds 1."""
    return CellSummary(n=n, total=n, low=min(n, 1), high=min(n, 1))


def summarise(values: Mapping[CellName, list[int]]) -> dict[CellName, CellSummary]:
    """The summary of each cell from the values of its rows."""
    return {
        cell: CellSummary(len(found), sum(found), min(found, default=0), max(found, default=0))
        for cell, found in values.items()
    }


# --- as they are ----------------------------------------------------------------------------------------------------


def table_sensitivity(summaries: Mapping[CellName, CellSummary], *, outside: bool = False) -> int:
    """The l1 sensitivity of the whole table, when a row may change its cell.

    The largest V of a cell; the two largest M together, one row leaving a cell and entering another; one M alone where
    the only other rows lie in no cell (`outside`). Nothing enters or leaves an empty cell: D has no row for it.
    """
    filled = [summary for summary in summaries.values() if summary.n]
    reaches = sorted((summary.reach for summary in filled), reverse=True)
    moved = sum(reaches[:2]) if len(reaches) > 1 or outside else 0
    return max([moved, *(summary.spread for summary in filled)])


def cell_sensitivities(summaries: Mapping[CellName, CellSummary], *, outside: bool = False) -> dict[CellName, int]:
    """The sensitivity of each cell alone: max(V, M), or V for a cell that holds every row of D."""
    rows = sum(summary.n for summary in summaries.values())
    return {
        cell: max(summary.spread, summary.reach if outside or summary.n < rows else 0)
        for cell, summary in summaries.items()
    }


# --- as printed -----------------------------------------------------------------------------------------------------


def printed_table_sensitivity(summaries: Mapping[CellName, CellSummary], *, statistic: TableKind) -> int:
    """As the paper has it: 1 for a contingency table, the largest V for a magnitude table.

    Too small whenever a row may change its cell.
    """
    if statistic is TableKind.COUNT:
        return 1
    return max((summary.spread for summary in summaries.values()), default=0)


def printed_cell_sensitivities(
    summaries: Mapping[CellName, CellSummary], *, statistic: TableKind, outside: bool = False
) -> dict[CellName, int]:
    """As the paper has it: a count has 1, and 0 when it is 0 or n; a total has V."""
    if statistic is TableKind.COUNT:
        return cell_sensitivities(summaries, outside=outside)
    return {cell: summary.spread for cell, summary in summaries.items()}


# --- noise ----------------------------------------------------------------------------------------------------------


def noise_scales(
    summaries: Mapping[CellName, CellSummary],
    *,
    method: ScaleMethod,
    statistic: TableKind,
    printed: bool = False,
    outside: bool = False,
) -> dict[CellName, int]:
    """The scale of each cell's Laplace noise at epsilon 1; divide by epsilon for any other.

    0 means that the method as it stands would release the cell exactly; `leaks` says what is done instead. PAIR is not
    in the paper, so it has no printed form. Under MEMBERSHIP both forms are one: V.
    """
    cells = len(summaries)
    if method is ScaleMethod.MEMBERSHIP:
        public = statistic is TableKind.COUNT
        return {cell: 0 if public else summary.spread for cell, summary in summaries.items()}
    if method is ScaleMethod.MAXIMUM:
        whole = (
            printed_table_sensitivity(summaries, statistic=statistic)
            if printed
            else table_sensitivity(summaries, outside=outside)
        )
        return dict.fromkeys(summaries, whole)
    if printed and method is ScaleMethod.PAIR:
        raise ValueError("the paper does not print this method")
    own = (
        printed_cell_sensitivities(summaries, statistic=statistic, outside=outside)
        if printed
        else cell_sensitivities(summaries, outside=outside)
    )
    parts = min(cells, 2) if method is ScaleMethod.PAIR else cells
    return {cell: parts * sensitivity for cell, sensitivity in own.items()}


def released_scales(
    summaries: Mapping[CellName, CellSummary],
    *,
    method: ScaleMethod,
    statistic: TableKind,
    public: PublicBounds,
    outside: bool = False,
) -> dict[CellName, int]:
    """The scales of a release at epsilon 1, none of them 0.

    A cell that no row of the data can move gets the noise of the whole table or of the noisiest cell, whichever is
    larger, so that neither its exact value, nor a gap in its place, nor less noise than elsewhere tells that it is
    empty, holds one row, or holds equal rows. Where no row can move the table at all, the public bounds decide.
    """
    scales = noise_scales(summaries, method=method, statistic=statistic, outside=outside)
    most = max(table_sensitivity(summaries, outside=outside), *scales.values())
    still = most or public_scale(public, method=method, cells=len(summaries))
    return {cell: scale or still for cell, scale in scales.items()}


def public_scale(public: PublicBounds, *, method: ScaleMethod, cells: int) -> int:
    """The largest scale at epsilon 1 that any rows within the public bounds can lead to, and at least 1."""
    each = {ScaleMethod.SPLIT: cells, ScaleMethod.PAIR: min(cells, 2)}.get(method, 0)
    return max(public.table(cells), each * public.cell, 1)
