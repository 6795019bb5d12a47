"""How like two sets of rows are: KSComplement, TVComplement and CorrelationSimilarity, as SDMetrics defines them.

KSComplement is 1 minus the largest gap between two cumulated distributions, TVComplement 1 minus half the summed gaps
between two sets of shares, CorrelationSimilarity 1 - |r - s|/2 for two correlations r and s. 1 is best for all three.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

if TYPE_CHECKING:
    from numpy import float64
    from numpy.typing import NDArray

__all__ = ["correlate", "correlation_similarity", "ks_complement", "present", "tv_complement"]

# SDMetrics rounds values to so many decimals before it compares them.
_DECIMALS: Final = 14


def ks_complement(real: NDArray[Any], synthetic: NDArray[Any]) -> float:
    """1 minus the two-sample Kolmogorov–Smirnov statistic; nan values are dropped, nan when a side is empty."""
    left, right = (np.sort(present(side)) for side in (real, synthetic))
    if not left.size or not right.size:
        return float("nan")
    points = np.concatenate([left, right])
    gaps = np.searchsorted(left, points, side="right") / left.size
    gaps -= np.searchsorted(right, points, side="right") / right.size
    return float(1 - np.abs(gaps).max())


def tv_complement(real: NDArray[Any], synthetic: NDArray[Any]) -> float:
    """1 minus the total variation distance of two columns of categories; nan values are dropped, nan when empty."""
    left, right = (present(side) for side in (real, synthetic))
    if not left.size or not right.size:
        return float("nan")
    codes, indices = np.unique(np.concatenate([left, right]), return_inverse=True)
    shares = [np.bincount(side, minlength=codes.size) / side.size for side in np.split(indices, [left.size])]
    return float(1 - np.abs(shares[0] - shares[1]).sum() / 2)


def correlation_similarity(real: NDArray[float64], synthetic: NDArray[float64]) -> NDArray[float64]:
    """1 for equal correlations, 0 for opposite ones; nan where either is."""
    return 1 - np.abs(real - synthetic) / 2


def correlate(columns: Sequence[NDArray[Any]]) -> NDArray[float64]:
    """Pearson's correlation of every pair, over the rows where both are present; nan marks absence.

    A pair in which one column does not vary has none.
    """
    values = np.column_stack([np.asarray(column, dtype=np.float64) for column in columns])
    there = np.isfinite(values)
    gone = ~there
    np.copyto(values, 0.0, where=gone)
    # Centring first keeps the cross products small, so no digits are lost to large means.
    values -= values.sum(axis=0) / np.maximum(there.sum(axis=0), 1)
    np.copyto(values, 0.0, where=gone)
    counted = there.astype(np.float64)
    number = counted.T @ counted
    sums = values.T @ counted
    squares = (values**2).T @ counted
    with np.errstate(invalid="ignore", divide="ignore"):
        products = values.T @ values - sums * sums.T / number
        spread = squares - sums**2 / number
        # Rounding leaves a constant column a spread of about 1e-16 of its squares.
        spread[spread <= 1e-12 * squares] = np.nan
        matrix: NDArray[float64] = np.clip(products / np.sqrt(spread * spread.T), -1, 1)
    return matrix


def present(values: NDArray[Any]) -> NDArray[Any]:
    """The values that are there, as SDMetrics compares them."""
    if values.dtype.kind != "f":
        return values
    kept: NDArray[Any] = np.round(values[~np.isnan(values)], _DECIMALS)
    return kept
