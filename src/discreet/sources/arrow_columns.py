"""Columns of numpy as Arrow's, without pandas: where it is installed, `pyarrow.array` loads it for half a second."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

__all__ = ["arrow_of"]


def arrow_of(values: NDArray[Any]) -> pa.Array:
    """An array of numbers, none of them missing, over the same memory where it lies in one piece."""
    import numpy as np
    import pyarrow as pa

    buffer = pa.py_buffer(np.ascontiguousarray(values))
    return pa.Array.from_buffers(pa.from_numpy_dtype(values.dtype), len(values), [None, buffer])
