"""Laws of published tables, for any estimate and any weights: they add up, and no nearer table exists."""

from __future__ import annotations

from itertools import product
from math import sqrt
from random import Random
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from discreet.tables.calibration import Target, calibrate
from discreet.tables.linear.consistency import project, publish, round_nested
from discreet.tables.linear.layout import Margin, every_margin

Case = tuple[NDArray[np.float64], dict[Margin, float]]

shapes = st.lists(st.integers(1, 5), min_size=1, max_size=3).map(tuple)


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """An estimate with some negative cells, and weights within a factor of ten; margins may be left out."""
    shape = draw(shapes)
    raw = draw(arrays(np.float64, shape, elements=st.floats(-50, 50, width=32)))
    margins = list(every_margin(len(shape)))
    counted = [margins[0], *draw(st.lists(st.sampled_from(margins), unique=True))]
    return raw, {margin: draw(st.floats(0.3, 3.0)) for margin in counted}


def summed(table: NDArray[Any], margin: Margin) -> NDArray[Any]:
    return np.asarray(table.sum(axis=tuple(place for place in range(table.ndim) if place not in margin)))


def summing_matrix(shape: tuple[int, ...], weights: dict[Margin, float]) -> NDArray[np.float64]:
    """One row for each figure of each margin, times the root of its weight."""
    cells = list(product(*map(range, shape)))
    rows = []
    for margin, weight in weights.items():
        for figure in product(*(range(shape[place]) for place in margin)):
            belongs = [tuple(cell[place] for place in margin) == figure for cell in cells]
            rows.append(sqrt(weight) * np.array(belongs, dtype=np.float64))
    return np.array(rows)


@given(cases())
def test_whole_not_negative_and_adding_up(case: Case) -> None:
    raw, weights = case
    made = publish(raw, weights=weights, nonnegative=True)
    assert made.dtype == np.int64
    assert made.shape == raw.shape
    assert (made >= 0).all()
    for margin in every_margin(raw.ndim):
        for smaller in every_margin(len(margin)):
            kept = tuple(margin[place] for place in smaller)
            np.testing.assert_array_equal(summed(made, kept), summed(summed(made, margin), smaller))
    np.testing.assert_array_equal(made, publish(raw, weights=weights, nonnegative=True))


@given(cases())
def test_the_real_valued_table_meets_the_conditions_of_an_optimum(case: Case) -> None:
    raw, weights = case
    found = project(raw, weights=weights)
    matrix = summing_matrix(raw.shape, weights)
    slope = (matrix.T @ (matrix @ (found - raw).ravel())).reshape(raw.shape) / weights[tuple(range(raw.ndim))]
    allowed = 1e-4 * max(-raw.min(), 0) + 1e-9
    assert (found >= 0).all()
    assert (slope >= -allowed).all()
    assert (np.minimum(found, slope) <= allowed).all()


@given(cases())
def test_no_nearer_table_is_found_by_another_solver(case: Case) -> None:
    from scipy.optimize import nnls

    raw, weights = case
    matrix, found = summing_matrix(raw.shape, weights), project(raw, weights=weights).ravel()
    best, _ = nnls(matrix, matrix @ raw.ravel())
    ours, theirs = (np.linalg.norm(matrix @ (table - raw.ravel())) for table in (found, best))
    allowed = 1e-4 * max(1.0, -raw.min())
    assert ours <= theirs + allowed
    if theirs <= ours * (1 + 1e-10) + 1e-10:  # scipy's solver ends early now and then, far from the nearest table
        np.testing.assert_allclose(found, best, atol=allowed)


@given(cases(), st.randoms(use_true_random=False))
def test_the_order_of_keys_does_not_matter(case: Case, random: Random) -> None:
    raw, weights = case
    order = list(range(raw.ndim))
    random.shuffle(order)
    moved = {tuple(sorted(order.index(place) for place in margin)): weight for margin, weight in weights.items()}
    turned = project(np.transpose(raw, order), weights=moved)
    there = np.transpose(project(raw, weights=weights), order)
    np.testing.assert_allclose(turned, there, atol=1e-4 * max(1.0, -raw.min()))


@given(shapes.flatmap(lambda shape: arrays(np.int64, shape, elements=st.integers(0, 10**12))))
def test_whole_tables_come_back_as_they_are(table: NDArray[np.int64]) -> None:
    weights = dict.fromkeys(every_margin(table.ndim), 1.0)
    np.testing.assert_array_equal(publish(table.astype(np.float64), weights=weights, nonnegative=True), table)


@given(shapes.flatmap(lambda shape: arrays(np.float64, shape, elements=st.floats(-1e6, 1e6))))
def test_rounding_moves_every_total_of_the_chain_by_less_than_one(table: NDArray[np.float64]) -> None:
    made = round_nested(table)
    for kept in range(table.ndim + 1):
        over = tuple(range(kept, table.ndim))
        # a grid of 2^-30 and the sums of floats blur the last digits
        assert (np.abs(made.sum(axis=over) - table.sum(axis=over)) < 1 + 1e-6).all()
    assert (made >= np.floor(table)).all()
    assert (made <= np.floor(table) + 1).all()


@given(
    arrays(np.float64, (3, 4), elements=st.integers(1, 1000).map(float)),
    arrays(np.float64, (3, 4), elements=st.integers(1, 1000).map(float)),
)
def test_raking_meets_totals_and_keeps_odds(table: NDArray[np.float64], other: NDArray[np.float64]) -> None:
    targets = [Target((0,), other.sum(axis=1)), Target((1,), other.sum(axis=0))]
    made = calibrate(table, targets, iterations=5000)
    assert made.converged
    for target in targets:
        np.testing.assert_allclose(summed(made.values, target.kept), target.totals, rtol=1e-6)
    scaled = table * made.factors[0][:, None] * made.factors[1][None, :]
    np.testing.assert_allclose(made.values, scaled, rtol=1e-9)
