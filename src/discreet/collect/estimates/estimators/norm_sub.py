"""Estimated counts that are not negative and add up to a known total: Norm-Sub.

Guarantee: post-processing; costs nothing.
Requires:  the totals are public, or estimated from other reports.
Proof:     docs/proofs/local-estimates.md
Refs:      [WLLSL20] Section 4; [DSSC08] for the way it is computed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy import float64
    from numpy.typing import ArrayLike, NDArray

__all__ = ["norm_sub"]


def norm_sub(estimates: NDArray[float64], total: ArrayLike) -> NDArray[float64]:
    """For each cell the nearest counts, in least squares, that are not negative and add up to its total.

    One number is added to all categories of a cell, and what is then below zero becomes zero. This is biased: rare
    categories come out too high and common ones too low, by up to a few standard deviations of the noise. It is
    therefore published beside the raw estimates, which alone carry intervals. Cells with a nan stay nan.
    """
    raw = np.asarray(estimates, dtype=np.float64)
    known = np.broadcast_to(np.asarray(total, dtype=np.float64), raw.shape[:-1])
    if raw.ndim == 0 or raw.shape[-1] == 0:
        raise ValueError("norm_sub needs at least one category")
    if np.any(known < 0):
        raise ValueError("a total of counts is zero or more")
    falling = -np.sort(-raw, axis=-1)
    ranks = np.arange(1, raw.shape[-1] + 1)
    offsets = (known[..., None] - np.cumsum(falling, axis=-1)) / ranks
    # the offset grows as long as the next category still stays above zero with it
    kept = np.maximum(np.count_nonzero(falling + offsets > 0, axis=-1), 1)
    offset = np.take_along_axis(offsets, kept[..., None] - 1, axis=-1)
    return np.maximum(raw + offset, 0.0)
