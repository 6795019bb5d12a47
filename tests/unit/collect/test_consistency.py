"""Norm-Sub: not negative, adds up, nearest."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.collect.estimates.estimators.norm_sub import norm_sub


def test_the_published_loop_gives_the_same() -> None:
    raw = np.array([50.0, -20.0, 7.0, -3.0, 66.0])  # adds up to 100, as reports of randomised response do
    loop = raw.copy()
    while (loop < 0).any():
        loop = np.maximum(loop, 0)
        loop[loop > 0] += (100 - loop.sum()) / np.count_nonzero(loop > 0)
    assert norm_sub(raw, 100.0) == pytest.approx(loop)


def test_cells_have_totals_of_their_own() -> None:
    made = norm_sub(np.array([[5.0, 5.0], [-1.0, 5.0], [1.0, 2.0]]), [20, 10, 0])
    assert made.tolist() == [[10, 10], [2, 8], [0, 0]]


def test_consistent_counts_stay() -> None:
    assert norm_sub(np.array([1.0, 0.0, 3.0]), 4).tolist() == [1, 0, 3]


def test_nan_stays_in_its_cell() -> None:
    made = norm_sub(np.array([[np.nan, np.nan], [1.0, 1.0]]), [2, 2])
    assert np.isnan(made[0]).all()
    assert made[1].tolist() == [1, 1]


def test_totals_are_counts() -> None:
    with pytest.raises(ValueError, match="total"):
        norm_sub(np.array([1.0]), -1)
    with pytest.raises(ValueError, match="category"):
        norm_sub(np.zeros((2, 0)), 1)


@given(
    st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=12),
    st.floats(0, 1e6),
    st.integers(0, 2**32),
)
def test_nothing_consistent_is_nearer(raw: list[float], total: float, seed: int) -> None:
    made = norm_sub(np.array(raw), total)
    assert (made >= 0).all()
    assert made.sum() == pytest.approx(total, rel=1e-9, abs=1e-6)
    other = np.random.default_rng(seed).dirichlet(np.ones(len(raw))) * total
    distance, limit = np.sum((made - raw) ** 2), np.sum((other - raw) ** 2)
    assert distance <= limit * (1 + 1e-9) + 1e-6
    order = np.argsort(raw, kind="stable")
    assert (np.diff(made[order]) >= 0).all()
