"""Lines of JSON by the million, built as bytes side by side, without a step of Python for each line.

A piece of all lines is a matrix of bytes, one row for each line. Rows that are shorter than the widest are filled up
with zero bytes. JSON text never holds one, so what is left when they are dropped is the lines themselves.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

if TYPE_CHECKING:
    from numpy import bytes_, uint8
    from numpy.typing import NDArray

    Piece = NDArray[uint8] | bytes

__all__ = ["close_up", "place_side_by_side", "write_numbers", "write_texts", "write_values"]

_LARGEST_TABLE: Final = 1 << 16


def write_texts(texts: NDArray[bytes_]) -> NDArray[uint8]:
    """One text for each line."""
    return np.ascontiguousarray(texts).view(np.uint8).reshape(texts.size, texts.dtype.itemsize)


def write_numbers(numbers: NDArray[Any]) -> NDArray[uint8]:
    """One whole number for each line, in decimal digits."""
    if not numbers.size:
        return np.zeros((0, 1), dtype=np.uint8)
    low, high = int(numbers.min()), int(numbers.max())
    if high - low >= _LARGEST_TABLE:
        return write_texts(numbers.astype(np.bytes_))
    table = np.array([str(number) for number in range(low, high + 1)], dtype=np.bytes_)
    return write_texts(table[numbers - low])


def write_values(values: NDArray[Any]) -> NDArray[uint8]:
    """One value for each line: a whole number, a list of them, or a text that needs no escapes."""
    rows = values.shape[0]
    if values.dtype.kind == "S":
        return place_side_by_side(b'"', write_texts(values), b'"', rows=rows)
    if values.ndim == 1:
        return write_numbers(values)
    pieces: list[Piece] = []
    for index in range(values.shape[1]):
        pieces += [b"," if index else b"[", write_numbers(values[:, index])]
    return place_side_by_side(*pieces, b"]", rows=rows)


def place_side_by_side(*pieces: Piece, rows: int) -> NDArray[uint8]:
    """The pieces of every line in one matrix; bytes are the same for all lines."""
    parts = [
        np.broadcast_to(np.frombuffer(piece, dtype=np.uint8), (rows, len(piece))) if isinstance(piece, bytes) else piece
        for piece in pieces
    ]
    return np.concatenate(parts, axis=1)


def close_up(matrix: NDArray[uint8]) -> bytes:
    """All lines, one after the other, without what filled them up."""
    flat = matrix.reshape(-1)
    lines: bytes = flat[flat != 0].tobytes()
    return lines
