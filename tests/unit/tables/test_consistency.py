"""Published tables on cases that can be worked out by hand, and what they must never do."""

from __future__ import annotations

from math import prod

import numpy as np
import pytest
from numpy.typing import NDArray

from discreet.tables.linear.consistency import ENOUGH, _sum_over, project, publish, round_nested, weigh_margins
from discreet.tables.linear.layout import Margin, every_margin


def equal_weights(keys: int) -> dict[Margin, float]:
    return dict.fromkeys(every_margin(keys), 1.0)


def test_two_cells_by_hand() -> None:
    # one key with two cells and a total: (x − 5)² + (x − 4)² has its smallest value at 4.5
    found = project(np.array([5.0, -1.0]), weights=equal_weights(1))
    np.testing.assert_allclose(found, [4.5, 0.0], atol=1e-6)


def test_a_heavy_total_is_kept_and_clipping_would_not() -> None:
    raw = np.array([10.0, -3.0, 4.0, -2.0])
    found = project(raw, weights={(0,): 1.0, (): 1e6})
    assert found.sum() == pytest.approx(raw.sum(), abs=1e-3)
    np.testing.assert_allclose(found, [7.5, 0.0, 1.5, 0.0], atol=1e-3)
    assert np.maximum(raw, 0).sum() == raw.sum() + 5


def test_without_margins_the_nearest_table_is_the_clipped_one() -> None:
    raw = np.array([[1.5, -2.0], [-0.25, 7.0]])
    np.testing.assert_array_equal(project(raw, weights={(0, 1): 3.0}), np.maximum(raw, 0))


def test_a_negative_table_ends_at_zero() -> None:
    raw = np.full((3, 4), -2.5)
    assert not publish(raw, weights=equal_weights(2), nonnegative=True).any()


def test_nothing_moves_where_nothing_is_negative() -> None:
    raw = np.random.default_rng(7).uniform(0, 9, size=(4, 3))
    np.testing.assert_array_equal(project(raw, weights=equal_weights(2)), raw)


def test_negative_values_stay_where_they_are_allowed() -> None:
    raw = np.array([[-3.0, 2.0], [5.0, -8.0]])
    made = publish(raw, weights=equal_weights(2), nonnegative=False)
    np.testing.assert_array_equal(made, raw)
    assert made.dtype == np.int64
    np.testing.assert_array_equal(publish(np.array([-0.8, -0.9]), weights={(0,): 1.0}, nonnegative=False), [-1, -1])


def test_totals_down_the_chain_are_less_than_one_off() -> None:
    values = np.random.default_rng(11).uniform(0, 3, size=(7, 5, 6))
    made = round_nested(values)
    for kept in range(4):
        over = tuple(range(kept, 3))
        assert np.abs(made.sum(axis=over) - values.sum(axis=over)).max() < 1
    assert abs(int(made.sum()) - values.sum()) <= 0.5 + 1e-6


def test_ties_go_to_the_earlier_cell() -> None:
    np.testing.assert_array_equal(round_nested(np.array([0.5, 0.5, 0.5, 0.5])), [1, 1, 0, 0])
    np.testing.assert_array_equal(round_nested(np.full((2, 5), 0.1)), [[1, 0, 0, 0, 0], [0, 0, 0, 0, 0]])


def test_a_grand_total_alone_is_rounded() -> None:
    made = publish(np.array(6.6), weights={(): 1.0}, nonnegative=True)
    assert (made.shape, int(made)) == ((), 7)


def test_sums_beyond_64_bits_stay_exact() -> None:
    raw = np.array([float(2**62), float(2**62), -1.0, 0.5])
    made = publish(raw, weights={(0,): 1.0}, nonnegative=True)
    assert made.dtype == object
    assert made.sum() in (2**63, 2**63 + 1)
    assert all(type(cell) is int for cell in made)


def test_the_size_of_cells_does_not_blur_small_changes() -> None:
    raw = np.array([1e15, 4.0, -2.0])
    made = project(raw, weights=equal_weights(1))
    assert made[0] == pytest.approx(1e15 - 2 / 3, abs=0.2)
    np.testing.assert_allclose(made[1:], [4 - 2 / 3, 0.0], atol=1e-5)


@pytest.mark.parametrize(
    ("raw", "weights", "says"),
    [
        (np.array([1.0, np.nan]), {(0,): 1.0}, "finite number"),
        (np.zeros((0,)), {(0,): 1.0}, "has cells"),
        (np.array([-1.0]), {(0,): 0.0}, "that of the cells is positive"),
        (np.array([-1.0]), {(): 1.0}, "that of the cells is positive"),
        (np.array([-1.0]), {(0,): 1.0, (): -1.0}, "not negative"),
        (np.array([-1.0]), {(0,): 1.0, (): float("inf")}, "finite"),
        (np.array([-1.0]), {(0,): 1.0, (1,): 1.0}, "margins of this table"),
    ],
)
def test_what_is_refused(raw: NDArray[np.float64], weights: dict[Margin, float], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        publish(raw, weights=weights, nonnegative=True)


def test_a_coarse_figure_counts_more_than_its_variance_says() -> None:
    found = weigh_margins((4, 9), {(0, 1): 2.0, (0,): 5.0, (): 12.0})
    assert found == pytest.approx({(0, 1): 0.5, (0,): 0.6, (): 0.5})


def test_margins_of_sparse_tables_are_far_nearer_than_by_clipping() -> None:
    random = np.random.default_rng(5)
    truth = np.where(random.random((13, 5, 16)) < 0.1, random.poisson(6, (13, 5, 16)), 0)
    raw = truth + random.laplace(scale=8, size=truth.shape)
    variances = {
        margin: 128.0 * prod(truth.shape[i] for i in range(3) if i not in margin) for margin in every_margin(3)
    }
    made = publish(raw, weights=weigh_margins(truth.shape, variances), nonnegative=True)
    clipped = np.maximum(raw, 0)
    for over in ((0, 1, 2), (1, 2), (0, 2), (0, 1)):
        ours, theirs = (np.abs(table.sum(axis=over) - truth.sum(axis=over)).mean() for table in (made, clipped))
        assert ours < theirs / 3


def test_many_small_differences_do_not_add_up_in_the_margins() -> None:
    random = np.random.default_rng(11)
    raw = np.where(random.random((20, 20, 20)) < 0.1, 8.0, 0.0) + random.laplace(scale=3.0, size=(20, 20, 20))
    kept = [(0, 1, 2), (0,), (1,), (2,), ()]
    weights = weigh_margins(raw.shape, dict.fromkeys(kept, 18.0))
    apart = project(raw, weights=weights, tolerance=ENOUGH) - project(raw, weights=weights, tolerance=1e-8)
    for margin in kept:
        over = tuple(place for place in range(3) if place not in margin)
        assert np.abs(apart.sum(axis=over)).max() < 0.1 * np.sqrt(18.0)


@pytest.mark.parametrize("length", range(1, 12))
def test_sums_over_short_keys_are_those_of_numpy(length: int) -> None:
    rng = np.random.default_rng(length)
    table = rng.normal(size=(3, 5, length)) * 10.0 ** rng.integers(-9, 9, size=(3, 5, length))
    for place in range(3):
        assert np.array_equal(_sum_over(table, place), table.sum(axis=place, keepdims=True))
