"""From the rows of an engine's answers to every cell of a plan, in the one order."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import product
from math import prod
from typing import Final

from discreet.engines.engine import Cell, Histogram, Measured
from discreet.engines.exact_values import Row, Value
from discreet.engines.rendering import Rendering
from discreet.sql import Extreme, Marginal, Measure, Plan, Quantile, Residual

__all__ = ["arrange", "collect", "gives_histogram", "in_order", "listed_cells", "load_arranging", "take_margin"]

_INT64: Final = 1 << 63


def arrange(plan: Plan, rendering: Rendering, numbers: Iterable[Row], histograms: Sequence[Iterable[Row]]) -> Measured:
    """Every cell of closed keys, or every cell found of open ones. Keys outside their listed cells are passed over."""
    width = len(plan.keys)
    counted = {row[:width]: row[width:] for row in numbers}
    spread = [collect(rows, width) for rows in histograms]
    found = list(counted)
    cells = [found[place] for place in in_order(found)] if plan.open else listed_cells(plan)
    answers = [counted.get(cell) for cell in cells]
    columns: list[Sequence[int] | Sequence[Histogram]] = []
    for measure, index in zip(plan.measures, rendering.places, strict=True):
        if gives_histogram(measure):
            columns.append([spread[index].get(cell, []) for cell in cells])
        else:
            column = [0 if row is None else _whole(row[index]) for row in answers]
            columns.append(take_margin(plan, measure, column))
    return Measured(tuple(columns), tuple(cells) if plan.open else None)


def load_arranging(plan: Plan) -> None:
    """Import what `take_margin` needs: before a charge."""
    if any(isinstance(measure, Marginal | Residual) for measure in plan.measures):
        import numpy  # noqa: F401


def take_margin(plan: Plan, measure: Measure, column: list[int]) -> list[int]:
    """A margin, or the residual of one, from the cells; every other measure is its cells."""
    if not isinstance(measure, Marginal | Residual):
        return column
    import numpy as np

    sizes = [len(key.cells or ()) for key in plan.keys]
    most = sum(map(abs, column)) * prod(sizes[index] for index in measure.kept)
    table = np.array(column, dtype=np.int64 if most < _INT64 else object).reshape(sizes)
    table = table.sum(axis=tuple(index for index in range(len(sizes)) if index not in measure.kept))
    if isinstance(measure, Residual):
        for axis, index in enumerate(measure.kept):
            if index not in measure.whole:
                table = table * sizes[index] - table.sum(axis=axis, keepdims=True)
    return [int(value) for value in np.ravel(table)]


def gives_histogram(measure: Measure) -> bool:
    """Whether a measure is chosen from a histogram; else it is one whole number."""
    return isinstance(measure, Quantile | Extreme)


def listed_cells(plan: Plan) -> list[Cell]:
    """The cells of closed keys, the last key varying fastest."""
    return list(product(*(key.cells or () for key in plan.keys)))


def collect(rows: Iterable[Row], width: int) -> dict[Cell, list[tuple[int, int]]]:
    """The histogram of each cell; rows come with their values ascending."""
    result: dict[Cell, list[tuple[int, int]]] = {}
    for row in rows:
        result.setdefault(row[:width], []).append((_whole(row[width]), _whole(row[width + 1])))
    return result


def in_order(cells: Sequence[Cell]) -> list[int]:
    """The places of cells of open keys, in their order: ascending by code point, NULL last, the first key first."""
    places = list(range(len(cells)))
    for parts in reversed(list(zip(*cells, strict=True))):  # the order before it stays among equal parts
        absent = [place for place in places if parts[place] is None]
        present = [place for place in places if parts[place] is not None]
        places = sorted(present, key=parts.__getitem__) + absent
    return places


def _whole(value: Value) -> int:
    assert isinstance(value, int)
    return value
