"""The intervals of a column of means, each cell by the law of its own noise."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.intervals import Floats, MeanLaw, NoisePart, mean_law
from discreet.release.cells.output_columns import Number
from discreet.release.measurement.noisy_measures import NoisyMeasure
from discreet.results import PairedColumns
from discreet.sql import Mean

__all__ = ["mean_intervals"]


def mean_intervals(
    mean: Mean,
    noisy: tuple[NoisyMeasure, NoisyMeasure],
    slices: Sequence[Sequence[int] | None],
    indices: Sequence[int],
    thin: ArrayLike,
    level: Decimal,
) -> Sequence[list[Number]]:
    """The interval of the mean in the cells asked for, in the order of `places`; none where its size is too small.

    `noisy` are the total and the size as drawn, and `slices` say for each of them which mechanism every cell has.
    """
    at = np.asarray(indices, dtype=np.int64)
    totals, sizes = (np.array(item.values, dtype=np.float64)[at] for item in noisy)
    which = [_alike(item, part)[at] for item, part in zip(noisy, slices, strict=True)]
    low, high = np.empty(len(at)), np.empty(len(at))
    pairs = which[0] * len(noisy[1].mechanisms) + which[1]
    for pair in np.unique(pairs).tolist():
        here = np.flatnonzero(pairs == pair)
        law = _law(mean, noisy, divmod(pair, len(noisy[1].mechanisms)), level)
        low[here], high[here] = law.intervals(totals[here], sizes[here])
    gone = np.asarray(thin, dtype=np.bool_)[at]
    if not gone.any():
        return PairedColumns(low, high)  # type: ignore[arg-type]
    return PairedColumns(*(_with_gaps(end, gone) for end in (low, high)))


def _alike(noisy: NoisyMeasure, slices: Sequence[int] | None) -> NDArray[np.int64]:
    """For every cell the first mechanism that is its own: cells whose noise has one law are worked out together."""
    if slices is None:
        return np.zeros(len(noisy.values), dtype=np.int64)
    first = np.array([noisy.mechanisms.index(item) for item in noisy.mechanisms], dtype=np.int64)
    return np.asarray(first[np.asarray(slices)])


def _with_gaps(ends: Floats, gone: NDArray[np.bool_]) -> Sequence[Number]:
    filled = ends.astype(object)
    filled[gone] = None
    return filled  # type: ignore[return-value]


def _law(mean: Mean, noisy: tuple[NoisyMeasure, NoisyMeasure], which: tuple[int, int], level: Decimal) -> MeanLaw:
    mechanisms = [item.mechanisms[number] for item, number in zip(noisy, which, strict=True)]
    total, size = ([] if item is None else [NoisePart(1.0, item, 1)] for item in mechanisms)  # type: ignore[arg-type]
    return mean_law(mean, total, size, level)
