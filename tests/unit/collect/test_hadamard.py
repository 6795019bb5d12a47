"""Hadamard response: columns that agree in half of the rows, and a transform without rounding."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
from scipy.linalg import hadamard

from discreet.collect.randomisers.hadamard import HadamardResponse, _find_parities, _transform
from discreet.noise import ByteTape


@pytest.mark.parametrize(("categories", "order"), [(2, 4), (3, 4), (4, 8), (7, 8), (8, 16), (97, 128), (65536, 131072)])
def test_the_order_is_the_next_power_of_two(categories: int, order: int) -> None:
    made = HadamardResponse(epsilon=1, categories=categories)
    assert made.order() == order == 2 ** math.ceil(math.log2(categories + 1))
    assert made.parameters()["order"] == str(order)


def test_two_columns_agree_in_exactly_half_of_the_rows() -> None:
    rows = np.arange(16)
    columns = {category: _find_parities(rows & (category + 1)) for category in range(15)}
    assert all(column.sum() == 8 for column in columns.values())
    assert all((columns[one] == columns[other]).sum() == 8 for one, other in combinations(columns, 2))
    matrix = hadamard(16)
    assert all(((-1) ** columns[category] == matrix[:, category + 1]).all() for category in columns)


def test_the_transform_is_a_product_with_the_matrix() -> None:
    values = np.random.default_rng().integers(-(1 << 55), 1 << 55, (3, 32))
    product = values.astype(object) @ hadamard(32).astype(object)
    assert _transform(values).tolist() == product.tolist()


def test_a_row_for_each_answer_then_a_coin_for_each() -> None:
    # rows 5 and 3 of 8; column 3 of row 5 has one common bit, column 1 of row 3 too; the second coin flips
    tape = ByteTape(bytes([5, 3, 255, 0]))
    reports = HadamardResponse(epsilon=1, categories=4).randomise(tape, np.array([2, 0]))
    assert reports.tolist() == [[5, 1], [3, 0]]
    assert tape.used == 4


@pytest.mark.parametrize("value", [[8, 0], [0, 2], [0], [0, 0, 0], [0, False], "00"])
def test_only_a_row_and_a_bit_are_a_report(value: object) -> None:
    assert HadamardResponse(epsilon=1, categories=4).read_reports([value, [7, 1]])[1].tolist() == [False, True]


def test_channel() -> None:
    channel = HadamardResponse(epsilon=1, categories=97).channel()
    assert channel.p == pytest.approx(math.e / (math.e + 1))
    assert channel.q == 0.5
