"""Sums that do not depend on the order of rows."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.collect.estimates.estimators.sums import multiply_columns, split_weights, sum_cells, sum_terms


@given(st.lists(st.just(0.0) | st.floats(1e-200, 1e300) | st.floats(-1e300, -1e-200), max_size=30), st.randoms())
def test_cells_add_up_in_any_order(terms: list[float], shuffler: object) -> None:
    values = np.array(terms, dtype=np.float64)
    cells = np.arange(len(terms), dtype=np.int64) % 3
    order = np.array(shuffler.sample(range(len(terms)), len(terms)), dtype=np.int64)  # type: ignore[attr-defined]
    made = sum_cells(values / 64, cells, 3)
    assert made.tolist() == sum_cells(values[order] / 64, cells[order], 3).tolist()
    assert sum_terms(values / 64) == sum_cells(values / 64, np.zeros_like(cells), 1)[0]
    largest = float(np.abs(values).max(initial=0.0)) / 64
    for cell in range(3):
        assert abs(made[cell] - math.fsum(values[cells == cell] / 64)) <= (len(terms) + 1) * largest * 2**-52


def test_products_are_close_and_free_of_order() -> None:
    generator = np.random.default_rng()
    left, right = generator.normal(size=(70_000, 2)), generator.normal(size=(70_000, 3)) * 1e6
    order = generator.permutation(70_000)
    made = multiply_columns(left, right)
    assert made == pytest.approx(left.T @ right, abs=0.5)
    assert made.tolist() == multiply_columns(left[order], right[order]).tolist()
    assert multiply_columns(left, left).tolist() == multiply_columns(left, left.copy()).tolist()


def test_weights_split_without_loss() -> None:
    weights = np.array([0, 1, 2**26, 2**62 - 1])
    parts = split_weights(weights)
    assert sum(part.astype(np.int64) << power for power, part in parts).tolist() == weights.tolist()  # type: ignore[union-attr]
    assert len(split_weights(weights[:2])) == 1
    with pytest.raises(ValueError, match="zero or more"):
        split_weights(np.array([-1]))


def test_terms_are_finite() -> None:
    with pytest.raises(ValueError, match="finite"):
        sum_cells(np.array([math.inf]), np.array([0]), 1)
    assert sum_cells(np.array([], dtype=float), np.array([], dtype=np.int64), 2).tolist() == [0, 0]
