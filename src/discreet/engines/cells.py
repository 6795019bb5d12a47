"""From the rows of an engine's answers to every cell of a plan, in the one order."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import product

from discreet.engines.base import Cell, Histogram, Measured
from discreet.engines.statements import Rendering
from discreet.engines.values import Row, Value
from discreet.plan.algebra import Extreme, Measure, Plan, Quantile

__all__ = ["arrange", "collect", "gives_histogram", "listed_cells"]


def arrange(plan: Plan, rendering: Rendering, numbers: Iterable[Row], histograms: Sequence[Iterable[Row]]) -> Measured:
    """Every cell of closed keys, or every cell found of open ones. Keys outside their listed cells are passed over."""
    width = len(plan.keys)
    counted = {row[:width]: row[width:] for row in numbers}
    spread = [collect(rows, width) for rows in histograms]
    cells = sorted(counted, key=_in_order) if plan.open else listed_cells(plan)
    columns: list[Sequence[int] | Sequence[Histogram]] = []
    for measure, place in zip(plan.measures, rendering.places, strict=True):
        if gives_histogram(measure):
            columns.append([spread[place].get(cell, []) for cell in cells])
        else:
            columns.append([_whole(counted[cell][place]) if cell in counted else 0 for cell in cells])
    return Measured(tuple(columns), tuple(cells) if plan.open else None)


def gives_histogram(measure: Measure) -> bool:
    """Whether a measure is chosen from a histogram; else it is one whole number."""
    return isinstance(measure, Quantile | Extreme)


def listed_cells(plan: Plan) -> list[Cell]:
    """The cells of closed keys, the last key varying fastest."""
    return list(product(*(key.cells or () for key in plan.keys)))


def collect(rows: Iterable[Row], width: int) -> dict[Cell, list[tuple[int, int]]]:
    """The histogram of each cell; rows come with their values ascending."""
    found: dict[Cell, list[tuple[int, int]]] = {}
    for row in rows:
        found.setdefault(row[:width], []).append((_whole(row[width]), _whole(row[width + 1])))
    return found


def _in_order(cell: Cell) -> list[tuple[bool, Value]]:
    return [(part is None, 0 if part is None else part) for part in cell]


def _whole(value: Value) -> int:
    assert isinstance(value, int)
    return value
