"""Scores of single reports are unbiased: summed over every report, each with its chance."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.collect.estimates.estimators.scores import (
    score_categories,
    score_numbers,
    score_numbers_or_missing,
    score_truths,
)
from discreet.collect.randomisers.category_choice import FREQUENCY_ORACLES, frequency_oracle
from discreet.collect.randomisers.generalised_response import GeneralisedResponse
from discreet.collect.randomisers.missing_numbers import SplitNumber, TernaryNumber
from discreet.collect.randomisers.number_choice import number_randomiser
from discreet.noise.entropy import SystemEntropy


def test_a_category_is_scored_without_bias() -> None:
    oracle = GeneralisedResponse(epsilon="0.7", categories=4)
    channel, marks = oracle.channel(), np.array([2.0, -1.0, 5.0, 9.0])
    made = score_categories(oracle, np.arange(4), scores=marks, missing=3)
    assert made.squares is not None
    for answer in range(4):
        chances = np.where(np.arange(4) == answer, channel.p, channel.q)
        there = int(answer != 3)
        assert chances @ made.values == pytest.approx(marks[answer] * there)
        assert chances @ made.squares == pytest.approx(marks[answer] ** 2 * there)
        assert chances @ made.presence == pytest.approx(there)


@pytest.mark.parametrize("name", sorted(FREQUENCY_ORACLES))
def test_scores_agree_with_the_tally(name: str) -> None:
    oracle = frequency_oracle(name, epsilon=1, categories=5)
    answers = np.random.default_rng().integers(0, 5, 500)
    reports = oracle.randomise(SystemEntropy(), answers)
    ones, zeros = np.ones(500, dtype=np.int64), np.zeros(500, dtype=np.int64)
    channel, tally = oracle.channel(), oracle.tally(reports, cells=zeros, weights=ones, number=1)
    counts = (tally.support[0] - channel.q * 500) / (channel.p - channel.q)
    made = score_categories(oracle, reports)
    assert made.values.sum() == pytest.approx(counts @ np.arange(5))
    assert made.squares is not None
    assert made.squares.sum() == pytest.approx(counts @ np.arange(5) ** 2)


def test_two_valued_reports_hold_no_squares() -> None:
    reports = np.array([0, 1, 1])
    assert score_numbers(number_randomiser("duchi", epsilon=1, grid=10), reports).squares is None
    assert score_numbers_or_missing(TernaryNumber(epsilon=1, grid=10), reports).squares is None


@pytest.mark.parametrize("name", ["laplace", "piecewise", "piecewise-wide", "hybrid", "bounded-laplace"])
def test_squares_of_numbers_are_unbiased(name: str) -> None:
    """Budget: six deviations of the mean, below 1e-8; planted: squares without the correction."""
    randomiser = number_randomiser(name, epsilon=2, grid=20)
    made = score_numbers(randomiser, randomiser.randomise(SystemEntropy(), np.full(200_000, 16)))
    assert made.squares is not None
    for found, rejected in ((made.squares, False), (made.values**2, True)):
        reach = 6 * float(found.std()) / np.sqrt(found.size)
        assert (abs(float(found.mean()) - 256) > reach) == rejected


def test_numbers_that_may_be_missing_are_scored_without_bias() -> None:
    """Budget: six deviations of the mean, below 1e-8 each."""
    randomiser = SplitNumber(epsilon=4, grid=20, missing_epsilon=2, randomiser="piecewise")
    for answer, expected in ((16, (16, 256, 1)), (-1, (0, 0, 0))):
        made = score_numbers_or_missing(randomiser, randomiser.randomise(SystemEntropy(), np.full(100_000, answer)))
        assert made.squares is not None
        for found, truth in zip((made.values, made.squares, made.presence), expected, strict=True):
            assert abs(float(found.mean()) - truth) < 6 * float(found.std()) / np.sqrt(found.size)


def test_shapes_are_checked() -> None:
    with pytest.raises(ValueError, match="respondent"):
        score_truths(np.ones((2, 2)))
    with pytest.raises(ValueError, match="score"):
        score_categories(GeneralisedResponse(epsilon=1, categories=3), np.array([0]), scores=np.ones(2))
