"""What one unit may contribute to private training: whole numbers of a bounded length, and nothing that others decide.

A unit's gradient is scaled, rounded to whole numbers and then checked in whole numbers: one that is still too long
counts as zero. So the bound rests on integers alone, whatever the floats before them did
(docs/proofs/private-training.md).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

import numpy as np

if TYPE_CHECKING:
    from numpy import float64, int64
    from numpy.typing import NDArray

__all__ = [
    "LONGEST",
    "MOST_ENTRIES",
    "STEPS",
    "WHOLE",
    "WIDEST",
    "average_by_unit",
    "clip_to_bound",
    "count_slots",
    "number_units",
]

# A unit's shares of the slots of a column are counted in parts of 1/64.
WHOLE: Final = 64
# Gradients are counted in steps of 1/16384.
STEPS: Final = 1 << 14
# Entries are held within this, and there are at most so many: squares then sum exactly in 64-bit floats.
LONGEST: Final = 1 << 17
MOST_ENTRIES: Final = 1 << 18
# The most numbers that a layer of the discriminator sums.
WIDEST: Final = 1 << 12


def number_units(units: NDArray[Any]) -> NDArray[int64]:
    """The units of the rows, numbered from 0; which number a unit has tells nothing and is used for nothing."""
    _, numbers = np.unique(np.asarray(units), return_inverse=True)
    return numbers.astype(np.int64)


def count_slots(slots: NDArray[int64], units: NDArray[int64], *, width: int) -> NDArray[int64]:
    """How many units have each slot of one column, in parts of 1/WHOLE; a unit of r rows gives each row 1/r.

    Rounded down, so that a unit's parts are whole numbers of sum at most WHOLE, and so of length at most WHOLE.
    """
    rows = np.bincount(units)
    pairs, counts = np.unique(units * width + slots, return_counts=True)
    totals = np.zeros(width, dtype=np.int64)
    np.add.at(totals, pairs % width, WHOLE * counts // rows[pairs // width])
    return totals


def average_by_unit(gradients: NDArray[float64], units: NDArray[int64]) -> NDArray[float64]:
    """The mean of the rows of each unit, rounded down. Rows of a unit stand together."""
    starts = np.flatnonzero(np.diff(units, prepend=-1))
    if len(starts) == len(units):
        return gradients
    rows = np.diff(np.append(starts, len(units)))
    means: NDArray[float64] = np.floor(np.add.reduceat(gradients, starts, axis=0) / rows[:, None])
    return means


def clip_to_bound(gradients: NDArray[float64], *, bound: int, longest: int) -> NDArray[int64]:
    """Each row scaled to whole numbers of Euclidean length at most `bound`; one of length `longest` or more fills it.

    Rounding lengthens a row by sqrt(entries)/2 at most, which is left free. A row that came out longer would be zero.
    Every step for a row is a function of that row: sums of whole numbers are exact, and the rest goes entry by entry.
    """
    entries = gradients.shape[1]
    inner = bound - (math.isqrt(entries) + 1) / 2 - 1
    if inner <= 0 or entries > MOST_ENTRIES or bound > LONGEST:
        raise ValueError("the bound leaves no room for so many entries")
    held = np.clip(np.rint(gradients), -LONGEST, LONGEST)
    lengths = np.sqrt(_square(held))
    scaled = np.rint(held * (inner / np.maximum(lengths, longest))[:, None])
    # Written so that what is not a number is zero too.
    scaled[~(_square(scaled) <= bound * bound)] = 0
    return scaled.astype(np.int64)


def _square(rows: NDArray[float64]) -> NDArray[float64]:
    """The squared length of each row: exact up to 2**53, because no partial sum of whole numbers is rounded."""
    squares: NDArray[float64] = np.einsum("ij,ij->i", rows, rows)
    return squares
