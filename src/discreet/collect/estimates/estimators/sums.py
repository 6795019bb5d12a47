"""Sums of floats that come out the same, to the last bit, in whatever order the rows stand.

Each term is rounded once to a whole number of steps, a step being a tiny part of the largest term; whole numbers are
then added without any rounding. The error is that of rounding each term: relative to the largest one, 2**-53 for
`sum_cells` and 2**-37 for `multiply_columns`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from numpy import float64, int64
    from numpy.typing import NDArray

__all__ = ["LARGEST_ROWS", "multiply_columns", "split_weights", "sum_cells", "sum_terms"]

LARGEST_ROWS: Final = 1 << 26
_HALF: Final = 26
_PART: Final = 18
_CHUNK: Final = 1 << 12  # at most 2**15; a few thousand rows stay near the processor
_SMALLEST: Final = 2.0**-900
_FINITE: Final = "terms of a sum are finite"


def sum_cells(terms: NDArray[float64], cells: NDArray[int64], number: int) -> NDArray[float64]:
    """The sum of the terms of each cell, from cell 0 to `number` - 1."""
    high, low, exponent = _halves(terms)
    whole = np.bincount(cells, weights=high, minlength=number)
    rest = np.bincount(cells, weights=low, minlength=number)
    return np.asarray(np.ldexp(np.ldexp(whole, _HALF) + rest, exponent - 2 * _HALF), dtype=np.float64)


def sum_terms(terms: NDArray[float64]) -> float:
    """The sum of all terms: `sum_cells` of a single cell, to the last bit."""
    high, low, exponent = _halves(terms)
    return math.ldexp(math.ldexp(float(high.sum()), _HALF) + float(low.sum()), exponent - 2 * _HALF)


def multiply_columns(left: NDArray[float64], right: NDArray[float64]) -> NDArray[float64]:
    """The product of the transpose of `left` with `right`: sums over rows for each pair of columns."""
    _check_rows(left.shape[0])
    exponents = [_exponents(left)]
    exponents.append(exponents[0] if right is left else _exponents(right))
    sums = np.zeros((3, left.shape[1], right.shape[1]), dtype=np.int64)
    for start in range(0, left.shape[0], _CHUNK):
        rows = slice(start, start + _CHUNK)
        # parts are below 2**18 + 1 and a chunk has at most 2**15 rows: the float products are exact, whatever BLAS does
        upper, lower = _two_parts(left[rows], exponents[0])
        high, low = (upper, lower) if right is left else _two_parts(right[rows], exponents[1])
        sums[0] += (upper.T @ high).astype(np.int64)
        sums[1] += (upper.T @ low + lower.T @ high).astype(np.int64)
        sums[2] += (lower.T @ low).astype(np.int64)
    total = np.ldexp(sums[0], 2 * _PART) + np.ldexp(sums[1], _PART) + sums[2]
    shift = exponents[0][:, None] + exponents[1][None, :] - 4 * _PART
    return np.asarray(np.ldexp(total, shift), dtype=np.float64)


def split_weights(weights: NDArray[int64]) -> list[tuple[int, NDArray[float64]]]:
    """Whole weights as pairs (power, part) that add up to them, part times 2**power, each part exact in float sums."""
    _check_rows(weights.shape[0])
    if weights.size and int(weights.min()) < 0:
        raise ValueError("weights are zero or more")
    parts, power, rest = [], 0, weights
    while True:
        parts.append((power, (rest & ((1 << _HALF) - 1)).astype(np.float64)))
        rest, power = rest >> _HALF, power + _HALF
        if not rest.any():
            return parts


def _two_parts(matrix: NDArray[float64], exponents: NDArray[int64]) -> tuple[NDArray[float64], NDArray[float64]]:
    steps = np.rint(matrix * np.ldexp(1.0, 2 * _PART - exponents))
    high = np.floor(steps * 2.0**-_PART)
    return high, steps - high * 2.0**_PART


def _halves(terms: NDArray[float64]) -> tuple[NDArray[float64], NDArray[float64], int]:
    """Whole numbers of steps as high and low halves, and the power of two above the largest term.

    Either half is below 2**26 and there are at most 2**26 rows, so floats add them exactly.
    """
    _check_rows(terms.shape[0])
    largest = max(float(terms.max(initial=0.0)), -float(terms.min(initial=0.0)))
    if not math.isfinite(largest):
        raise ValueError(_FINITE)
    exponent = math.frexp(max(largest, _SMALLEST))[1]
    steps = np.rint(terms * 2.0 ** (2 * _HALF - exponent))
    high = np.floor(steps * 2.0**-_HALF)
    return high, steps - high * 2.0**_HALF, exponent


def _exponents(matrix: NDArray[float64]) -> NDArray[int64]:
    """For each column the power of two above its largest entry, or above 2**-900 where all are smaller."""
    largest = np.maximum(matrix.max(axis=0, initial=0.0), -matrix.min(axis=0, initial=0.0))
    if not np.all(np.isfinite(largest)):
        raise ValueError(_FINITE)
    exponents: NDArray[int64] = np.frexp(np.maximum(largest, _SMALLEST))[1].astype(np.int64)
    return exponents


def _check_rows(rows: int) -> None:
    if rows > LARGEST_ROWS:
        raise ValueError(f"at most {LARGEST_ROWS} rows can be added up exactly at once")
