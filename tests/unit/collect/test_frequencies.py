"""Counts from tallies: hand-computed values, clear channels, inclusion, theory."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from discreet.collect.estimates.estimators.frequencies import (
    estimate_frequencies,
    expected_absolute_error,
    expected_variances,
)
from discreet.collect.randomisers.generalised_response import GeneralisedResponse
from discreet.collect.randomisers.randomiser import Channel, ReportTally
from discreet.errors import ParameterInvalid

CLEAR = Channel(p=1.0, q=0.0)


def tally_of(reports: list[int], weights: list[int], *, categories: int) -> ReportTally:
    oracle = GeneralisedResponse(epsilon=1, categories=categories)
    return oracle.tally(
        np.array(reports, dtype=np.int64),
        cells=np.zeros(len(reports), dtype=np.int64),
        weights=np.array(weights, dtype=np.int64),
        number=1,
    )


def test_counts_and_variances_by_hand() -> None:
    channel = Channel(p=0.75, q=0.25)
    made = estimate_frequencies(tally_of([0, 0, 1], [3, 1, 2], categories=2), channel)
    assert made.estimates.tolist() == [[(4 - 0.25 * 6) / 0.5, (2 - 0.25 * 6) / 0.5]]
    assert made.variances.tolist() == [[0.1875 * 14 / 0.25] * 2]  # 1 - p - q is 0: the shares do not enter
    reach = 1.959963984540054 * math.sqrt(10.5)
    assert made.low[0, 0] == pytest.approx(5 - reach)
    assert made.high[0, 0] == pytest.approx(5 + reach)


def test_a_clear_channel_gives_exact_counts() -> None:
    made = estimate_frequencies(tally_of([0, 2, 2], [5, 7, 1], categories=3), CLEAR)
    assert made.estimates.tolist() == [[5, 0, 8]]
    assert made.variances.tolist() == [[0, 0, 0]]
    assert made.low.tolist() == made.high.tolist() == [[5, 0, 8]]


def test_shares_are_of_the_weight_heard() -> None:
    made = estimate_frequencies(tally_of([0, 1, 1, 1], [1, 1, 1, 1], categories=2), CLEAR)
    assert made.shares().estimates.tolist() == [[0.25, 0.75]]
    assert made.shares().variances.tolist() == [[0, 0]]
    assert made.shares(design=True).variances.tolist() == [[0.1875 / 4, 0.1875 / 4]]  # s(1-s)/n


def test_theory_is_the_plug_in_at_the_true_sums() -> None:
    channel = Channel(p=0.6, q=0.2)
    weight_squares, category_squares = np.array([50.0]), np.array([[10.0, 40.0, 0.0]])
    by_hand = (0.16 * 50 + 0.4 * 0.2 * category_squares) / 0.16
    theory = expected_variances(weight_squares=weight_squares, category_squares=category_squares, channel=channel)
    assert theory == pytest.approx(by_hand)


def test_asking_some_only_adds_their_draw() -> None:
    squares, own = np.array([100.0]), np.array([[36.0]])
    asked = expected_variances(weight_squares=squares, category_squares=own, channel=CLEAR, inclusion=Fraction(1, 4))
    assert asked.tolist() == [[3 * 36.0]]  # (1/π - 1)·S2_c, Horvitz and Thompson's
    made = estimate_frequencies(tally_of([0, 1], [3, 2], categories=2), CLEAR, inclusion=0.5)
    assert made.estimates.tolist() == [[6, 4]]
    assert made.variances.tolist() == [[18, 8]]


def test_cells_without_reports() -> None:
    none = np.zeros((1, 2), dtype=np.int64)
    empty = ReportTally(none, none, none[:, 0], none[:, 0], none[:, 0])
    assert estimate_frequencies(empty, CLEAR).high.tolist() == [[0, 0]]
    unheard = estimate_frequencies(empty, CLEAR, inclusion=0.5)
    assert unheard.low.tolist() == [[-math.inf] * 2]
    assert np.isnan(unheard.shares().estimates).all()
    assert unheard.shares().high.tolist() == [[math.inf] * 2]


@pytest.mark.parametrize("channel", [Channel(p=0.5, q=0.01), Channel(p=0.51, q=0.5), Channel(p=0.99, q=0.9)])
def test_variances_are_never_negative(channel: Channel) -> None:
    for reports in ([0] * 5, [1] * 5):
        made = estimate_frequencies(tally_of(reports, [9, 1, 1, 1, 1], categories=2), channel, inclusion=0.9)
        assert (made.variances >= 0).all()
        assert (made.shares().variances >= 0).all()


@pytest.mark.parametrize("inclusion", [0, -0.1, 1.01, math.nan])
def test_inclusion_is_a_chance(inclusion: float) -> None:
    with pytest.raises(ParameterInvalid, match="inclusion"):
        estimate_frequencies(tally_of([0], [1], categories=2), CLEAR, inclusion=inclusion)


@pytest.mark.parametrize("level", [0, 1, 95, math.nan])
def test_the_level_is_a_probability(level: float) -> None:
    with pytest.raises(ParameterInvalid, match="level"):
        estimate_frequencies(tally_of([0], [1], categories=2), CLEAR, level=level)


def test_mean_absolute_errors() -> None:
    assert expected_absolute_error(0, 4) == pytest.approx(2 * math.sqrt(2 / math.pi))
    assert expected_absolute_error(-3, 0) == 3
    assert expected_absolute_error(1e6, 1) == pytest.approx(1e6)
    # integral of |x|·density of N(1, 1)
    grid = np.linspace(-9, 11, 400_001)
    density = np.exp(-((grid - 1) ** 2) / 2) / math.sqrt(2 * math.pi)
    assert expected_absolute_error([1, -1], 1) == pytest.approx(float(np.sum(np.abs(grid) * density)) * 5e-5, rel=1e-6)
