"""Lines that are put together as bytes read back as the values they were made of."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from discreet.collect.reporting.lines import close_up, place_side_by_side, write_numbers, write_texts, write_values


@pytest.mark.parametrize(
    "values",
    [
        np.array([0, 7, 12, 100]),
        np.array([-3, 0, 5]),
        np.array([-(10**15), 0, 3, 10**18]),
        np.array([[1, 20], [-300, 4]], dtype=np.int32),
        np.array([[1], [10**9]]),
        np.array([b"00ff", b"8140"]),
        np.zeros(0, dtype=np.int64),
        np.zeros((0, 3), dtype=np.int64),
    ],
    ids=["digits", "negative", "beyond a table", "lists", "lists of one", "texts", "none", "no lists"],
)
def test_values_read_back(values: Any) -> None:
    matrix = place_side_by_side(write_values(values), b"\n", rows=len(values))
    lines = close_up(matrix).decode("ascii").splitlines()
    expected = values.astype("U") if values.dtype.kind == "S" else values
    assert [json.loads(line) for line in lines] == expected.tolist()


def test_pieces_stand_in_order_and_leave_no_gap() -> None:
    names = write_texts(np.array(["Île".encode(), b"a"]))
    matrix = place_side_by_side(b"<", names, b"=", write_numbers(np.array([5, 1000])), b">\n", rows=2)
    assert close_up(matrix).decode("utf-8") == "<Île=5>\n<a=1000>\n"
