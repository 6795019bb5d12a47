"""Many cells at once: the answers of an engine as arrays, put in their places by arithmetic on the keys.

Nothing here is a float: sums arrive as 128-bit integers and are taken apart into 64-bit halves.
"""

from __future__ import annotations

from decimal import Decimal
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from discreet.engines.cell_order import collect, gives_histogram, in_order, take_margin
from discreet.engines.engine import Histogram, HistogramArrays, Measured
from discreet.engines.exact_values import exact_row
from discreet.engines.rendering import Rendering
from discreet.sql import Key, Plan

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Fetch = Callable[[str], Any]

__all__ = ["Fetch", "arrange_arrays", "load_arrays"]

_LONG: Final = 300
"""Values of a histogram; a choice among fewer is quicker from a list."""


def arrange_arrays(plan: Plan, rendering: Rendering, fetch: Fetch) -> Measured:
    """The same as `cell_order.arrange`, from the tables of Arrow that `fetch` gives for a statement."""
    if plan.open:
        return _arrange_found(plan, rendering, fetch)
    numbers = _numbers(plan, rendering, fetch)
    histograms = [_histograms(plan, _whole_table(fetch, text)) for text in rendering.histograms]
    columns: list[Sequence[int] | Sequence[Histogram]] = [
        histograms[index] if gives_histogram(measure) else take_margin(plan, measure, numbers[index])
        for measure, index in zip(plan.measures, rendering.places, strict=True)
    ]
    return Measured(tuple(columns))


def load_arrays(table: Any = None) -> None:
    """Read a table with a wide 1 in it, so that whatever this loads is there: before a charge."""
    import pyarrow as pa
    from pyarrow import compute  # noqa: F401

    table = table or pa.table({"one": pa.array([Decimal(1)], pa.decimal128(38, 0))})
    column = table.combine_chunks().columns[0]
    _spread(column, np.zeros(1, dtype=np.int64), np.ones(1, dtype=np.bool_), 1)


def _arrange_found(plan: Plan, rendering: Rendering, fetch: Fetch) -> Measured:
    """The cells of open keys, in order; each column is read by itself."""
    width = len(plan.keys)
    assert rendering.numbers is not None
    table = _whole_table(fetch, rendering.numbers)
    cells = list(zip(*(exact_row(column.to_pylist()) for column in table.columns[:width]), strict=True))
    order = in_order(cells)
    keys = tuple(cells[place] for place in order)
    spread = [_found_histograms(_whole_table(fetch, text), width) for text in rendering.histograms]
    everywhere, places = np.ones(len(cells), dtype=np.bool_), np.empty(len(cells), dtype=np.int64)
    places[order] = np.arange(len(cells))
    columns: list[Sequence[int] | Sequence[Histogram]] = []
    for measure, index in zip(plan.measures, rendering.places, strict=True):
        if gives_histogram(measure):
            columns.append([spread[index].get(cell, []) for cell in keys])
        else:
            column = _spread(table.columns[width + index], places, everywhere, len(cells))
            columns.append(take_margin(plan, measure, column))
    return Measured(tuple(columns), keys)


def _found_histograms(table: Any, width: int) -> dict[tuple[int | str | None, ...], list[tuple[int, int]]]:
    return collect(zip(*(exact_row(column.to_pylist()) for column in table.columns), strict=True), width)


def _numbers(plan: Plan, rendering: Rendering, fetch: Fetch) -> list[list[int]]:
    if rendering.numbers is None:
        return []
    table = _whole_table(fetch, rendering.numbers)
    cells, listed = _cells(plan, table)
    return [_spread(column, cells, listed, plan.cell_count) for column in table.columns[len(plan.keys) :]]


def _whole_table(fetch: Fetch, text: str) -> Any:
    return fetch(text).combine_chunks()


def _cells(plan: Plan, table: Any) -> tuple[Any, Any]:
    """The number of the cell that each row belongs to, and whether there is one: keys come first."""
    cells = np.zeros(table.num_rows, dtype=np.int64)
    listed = np.ones(table.num_rows, dtype=np.bool_)
    for column, key in zip(table.columns, plan.keys, strict=False):
        places, found = _places(column, key)
        cells = cells * len(key.cells or ()) + places
        listed &= found
    return cells, listed


def _places(column: Any, key: Key) -> tuple[Any, Any]:
    """Where each value stands among the cells of a key, and whether it does."""
    import pyarrow as pa

    cells = key.cells or ()
    null_place = cells.index(None) if None in cells else -1
    missing = _flat(column.is_null().cast(pa.uint8()), np.uint8) == 1
    values = np.where(missing, 0, _flat(column.cast(pa.int64()), np.int64))
    indices, found = _numbered_places(values, cells)
    return np.where(missing, max(null_place, 0), indices), np.where(missing, null_place >= 0, found)


def _numbered_places(values: Any, cells: tuple[int | None, ...]) -> tuple[Any, Any]:
    positions = np.array([index for index, cell in enumerate(cells) if cell is not None], dtype=np.int64)
    if len(positions) == 0:
        return np.zeros(len(values), dtype=np.int64), np.zeros(len(values), dtype=np.bool_)
    numbers = np.array([cell for cell in cells if cell is not None], dtype=np.int64)
    if np.array_equal(numbers, numbers[0] + np.arange(len(numbers))):
        near = np.clip(values, numbers[0], numbers[-1]) - numbers[0]
    else:
        order = np.argsort(numbers)
        near = order[np.minimum(np.searchsorted(numbers, values, sorter=order), len(numbers) - 1)]
    return positions[near], numbers[near] == values


def _spread(column: Any, cells: Any, listed: Any, size: int) -> list[int]:
    import pyarrow as pa

    if pa.types.is_decimal128(column.type):
        low, high = _halves(column)
        if not np.array_equal(high, low >> 63):
            return _spread_wide(low, high, cells, listed, size)
        values = low
    else:
        values = _flat(column.cast(pa.int64()), np.int64)
    whole = np.zeros(size, dtype=np.int64)
    whole[cells[listed]] = values[listed]
    return whole.tolist()


def _halves(column: Any) -> tuple[Any, Any]:
    """The lower and upper 64 bits of 128-bit integers."""
    pairs = _flat(column, np.int64, words=2).reshape(-1, 2)
    return pairs[:, 0], pairs[:, 1]


def _flat(column: Any, dtype: type[np.generic], *, words: int = 1) -> Any:
    """What a column holds, NULL or not, each value in so many words.

    PyArrow's own ways to numpy load pandas first, which takes longer than most questions.
    """
    array = column.combine_chunks()
    if not len(array):
        return np.zeros(0, dtype=dtype)
    start = words * array.offset
    return np.frombuffer(array.buffers()[1], dtype=dtype)[start : start + words * len(array)]


def _spread_wide(low: Any, high: Any, cells: Any, listed: Any, size: int) -> list[int]:
    whole = [0] * size
    lower = low.view(np.uint64) if low.flags.c_contiguous else low.copy().view(np.uint64)
    kept = zip(cells[listed].tolist(), lower[listed].tolist(), high[listed].tolist(), strict=True)
    for index, small, large in kept:
        whole[index] = (large << 64) + small
    return whole


def _histograms(plan: Plan, table: Any) -> list[Histogram]:
    """Rows come with their values ascending, and stay so within each cell."""
    cells, listed = _cells(plan, table)
    values, counts = (_whole_numbers(column)[listed] for column in table.columns[len(plan.keys) :])
    order = np.argsort(cells[listed], kind="stable")
    ends = np.searchsorted(cells[listed][order], np.arange(plan.cell_count + 1))
    values, counts = values[order], counts[order]
    whole = HistogramArrays(values, counts)
    parts = (whole[start:end] for start, end in pairwise(ends.tolist()))
    return [part if len(part) > _LONG else list(part) for part in parts]


def _whole_numbers(column: Any) -> Any:
    """What is ranked and counted never leaves 64 bits, though an engine may hold it in more."""
    import pyarrow as pa

    if not pa.types.is_decimal128(column.type):
        return _flat(column.cast(pa.int64()), np.int64)
    low, high = _halves(column)
    if not np.array_equal(high, low >> 63):
        raise ValueError("a value lies outside 64 bits")
    return low
