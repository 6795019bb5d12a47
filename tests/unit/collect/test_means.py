"""Weighted means and ratios: by hand, empty cells, row order, Fieller."""

from __future__ import annotations

import math

import numpy as np
import pytest

from discreet.collect.estimates.estimators.means import Ratios, ReportPairs, estimate_means, estimate_ratios
from discreet.collect.estimates.estimators.sums import sum_cells


def array(*values: float) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    return np.array(values, dtype=np.float64)


def whole(*values: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return np.array(values, dtype=np.int64)


def test_means_by_hand() -> None:
    made = estimate_means(
        array(1, 4, 10), array(1, 2, 9), cells=whole(0, 0, 2), weights=whole(1, 3, 5), number=3, level=0.9
    )
    assert made.estimates[0] == 13 / 4
    assert made.variances[0] == (1 + 9 * 2) / 16
    assert made.total_variances[0] == pytest.approx(((1 - 3.25) ** 2 + 9 * 0.75**2) / 16 / (1 - 10 / 16))
    assert made.with_design().variances is made.total_variances
    assert made.high[0] == pytest.approx(3.25 + 1.6448536269514722 * math.sqrt(19 / 16))
    assert math.isnan(made.estimates[1])
    assert (made.low[1], made.high[1]) == (-math.inf, math.inf)
    assert (made.estimates[2], made.variances[2], made.total_variances[2]) == (10, 9, math.inf)


def test_scaling_moves_means_and_stretches_variances() -> None:
    made = estimate_means(array(10, 20), array(4, 4), cells=whole(0, 0), weights=whole(1, 1), number=1)
    metres = made.scaled(offset=1.2, step=0.01)
    assert metres.estimates[0] == pytest.approx(1.35)
    assert metres.variances[0] == pytest.approx(2 * 1e-4)
    assert metres.total_variances[0] == pytest.approx(25 * 1e-4)


def test_asking_some_only_adds_their_draw() -> None:
    given = {"cells": whole(0, 0), "weights": whole(1, 1), "number": 1}
    half = estimate_means(array(0, 2), array(0, 0), **given, inclusion=0.5)  # type: ignore[arg-type]
    assert half.variances[0] == 0.5  # half of s²/n = 1; the rest is the sampling of people


def test_one_respondent_is_no_surer_than_their_own_noise() -> None:
    """The only one asked lies on their own mean: their spread says nothing, and the noise is all there is to go by."""
    given = {"cells": whole(0, 0, 1), "weights": whole(1000, 1, 3), "number": 2, "inclusion": 0.1}
    made = estimate_means(array(3, 900, 5), array(16, 16, 16), **given)  # type: ignore[arg-type]
    assert made.variances[1] == 16
    assert made.variances[0] > 15
    assert made.total_variances[1] == math.inf
    pairs = ReportPairs(array(4, 6, 6), array(1, 1, 1), array(9, 9, 9), array(0, 0, 0), array(0, 0, 0))
    assert estimate_ratios(pairs, **given).variances[1] == 9  # type: ignore[arg-type]


def test_the_order_of_rows_never_shows() -> None:
    generator = np.random.default_rng()
    rows = 20_000
    values = generator.standard_cauchy(rows)
    cells, weights = generator.integers(0, 7, rows), generator.integers(1, 10**6, rows)
    order = generator.permutation(rows)
    one = estimate_means(values, values**2, cells=cells, weights=weights, number=7)
    two = estimate_means(values[order], values[order] ** 2, cells=cells[order], weights=weights[order], number=7)
    for name in ("estimates", "variances", "total_variances"):
        assert getattr(one, name).tolist() == getattr(two, name).tolist()
    naive = np.bincount(cells, weights=values * weights)
    assert naive.tolist() != np.bincount(cells[order], weights=(values * weights)[order]).tolist()
    assert sum_cells(values * weights, cells, 7) == pytest.approx(naive, rel=1e-6, abs=1e-3)


def ratio_of(above: float, below: float, variance: float) -> Ratios:
    one = array(variance)
    pairs = ReportPairs(array(above), array(below), one, one, array(0))
    return estimate_ratios(pairs, cells=whole(0), weights=whole(1), number=1)


def test_ratios_with_little_noise_have_the_interval_of_the_delta_method() -> None:
    made = ratio_of(300, 100, 0.01)
    assert made.estimates[0] == 3
    assert made.variances[0] == pytest.approx(0.01 * 10 / 100**2)
    reach = 1.959963984540054 * math.sqrt(made.variances[0])
    assert made.low[0] == pytest.approx(3 - reach, rel=1e-4)
    assert made.high[0] == pytest.approx(3 + reach, rel=1e-4)


def test_ratios_over_what_may_be_nothing_have_no_ends() -> None:
    lost = ratio_of(3, 1, 1)
    assert (lost.low[0], lost.high[0]) == (-math.inf, math.inf)
    assert lost.estimates[0] == 3
    negative = ratio_of(3, -10, 1)
    assert math.isnan(negative.estimates[0])
    assert negative.high[0] == math.inf


def test_covariances_narrow_ratios() -> None:
    one = array(1.0)
    made = estimate_ratios(
        ReportPairs(array(100), array(100), one, one, one), cells=whole(0), weights=whole(1), number=1
    )
    assert made.variances[0] == 0
