"""Reports as JSON holds them. Whoever sends a report may send anything, so reading never raises: it marks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from numpy import bool_, int64
    from numpy.typing import NDArray

__all__ = ["read_lists", "read_numbers"]

_WHOLE: Final = {int}


def read_numbers(values: Sequence[object], *, below: int) -> tuple[NDArray[int64], NDArray[bool_]]:
    """Whole numbers in {0, ..., below - 1}, and which values are such; the others become 0."""
    numbers = [value if _is_place(value, below) else -1 for value in values]
    reports = np.array(numbers, dtype=np.int64)
    valid = reports >= 0
    return np.where(valid, reports, 0), valid


def read_lists(values: Sequence[object], *, below: Sequence[int]) -> tuple[NDArray[int64], NDArray[bool_]]:
    """Lists with one whole number under each limit, and which values are such; the others become zeros."""
    width, top = len(below), max(below)
    blank = [0] * width
    shaped = [_is_row(value, width, top) for value in values]
    rows = [value if known else blank for value, known in zip(values, shaped, strict=True)]
    reports = np.array(rows, dtype=np.int64).reshape(-1, width)
    valid = np.array(shaped, dtype=np.bool_) & (reports < np.array(below, dtype=np.int64)).all(axis=1)
    reports[~valid] = 0
    return reports, valid


def _is_row(value: object, width: int, top: int) -> bool:
    if type(value) is not list or len(value) != width or set(map(type, value)) != _WHOLE:
        return False
    return bool(min(value) >= 0 and max(value) < top)


def _is_place(value: object, below: int) -> bool:
    return type(value) is int and 0 <= value < below  # true and 1.0 equal 1 in Python, but are not what was written
