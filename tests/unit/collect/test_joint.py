"""Cross-tables and correlations: by hand on clear reports, row order, suppression."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.collect.estimates.estimators.frequencies import estimate_frequencies
from discreet.collect.estimates.estimators.joint_frequencies import correlation_matrix, estimate_joint
from discreet.collect.estimates.estimators.scores import score_categories, score_truths
from discreet.collect.randomisers.category_choice import FREQUENCY_ORACLES, frequency_oracle
from discreet.collect.randomisers.generalised_response import GeneralisedResponse
from discreet.errors import ParameterInvalid
from discreet.noise.entropy import SystemEntropy

ENTROPY = SystemEntropy()
ORACLES = sorted(FREQUENCY_ORACLES)


def whole(*values: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return np.array(values, dtype=np.int64)


def test_a_table_by_hand() -> None:
    sure = GeneralisedResponse(epsilon=50, categories=2)
    made = estimate_joint(
        sure, whole(0, 0, 1), sure, whole(1, 1, 0), cells=whole(0, 0, 1), weights=whole(2, 3, 4), number=2
    )
    assert made.estimates == pytest.approx(np.array([[[0, 5], [0, 0]], [[0, 0], [4, 0]]]), abs=1e-9)
    assert made.variances == pytest.approx(np.zeros((2, 2, 2)), abs=1e-9)


def test_asking_some_only_adds_their_draw() -> None:
    sure = GeneralisedResponse(epsilon=50, categories=2)
    given = {"cells": whole(0, 0), "weights": whole(2, 3), "number": 1}
    made = estimate_joint(sure, whole(0, 1), sure, whole(0, 1), **given, inclusion=0.25)  # type: ignore[arg-type]
    assert made.estimates[0] == pytest.approx(np.array([[8, 0], [0, 12]]), abs=1e-9)
    assert made.variances[0] == pytest.approx(np.array([[3 * 16, 0], [0, 3 * 36]]), abs=1e-9)


@pytest.mark.parametrize("right", ORACLES)
@pytest.mark.parametrize("left", ORACLES)
def test_margins_of_the_table_are_the_single_estimates(left: str, right: str) -> None:
    generator = np.random.default_rng()
    rows, kept = 300, generator.permutation(300)
    one, two = frequency_oracle(left, epsilon=2, categories=3), frequency_oracle(right, epsilon=1, categories=4)
    answers = generator.integers(0, 3, rows)
    reports = one.randomise(ENTROPY, answers), two.randomise(ENTROPY, answers)
    cells, weights = generator.integers(0, 2, rows), generator.integers(1, 2**27, rows)
    made = estimate_joint(one, reports[0], two, reports[1], cells=cells, weights=weights, number=2)
    assert made.estimates.shape == (2, 3, 4)
    assert (made.variances >= 0).all()
    if right == "grr":  # its debiased indicators add up to 1 for each report
        single = estimate_frequencies(one.tally(reports[0], cells=cells, weights=weights, number=2), one.channel())
        assert made.estimates.sum(axis=2) == pytest.approx(single.estimates, rel=1e-9, abs=1e-3)
    again = estimate_joint(
        one, reports[0][kept], two, reports[1][kept], cells=cells[kept], weights=weights[kept], number=2
    )
    assert again.estimates.tolist() == made.estimates.tolist()
    assert again.variances.tolist() == made.variances.tolist()


def test_weights_whose_squares_overflow_are_refused() -> None:
    one = GeneralisedResponse(epsilon=1, categories=2)
    with pytest.raises(ParameterInvalid, match="weights"):
        estimate_joint(one, whole(0, 1), one, whole(0, 1), cells=whole(0, 0), weights=whole(2**32, 1), number=1)


def test_clear_columns_have_their_plain_correlation() -> None:
    generator = np.random.default_rng()
    one = generator.normal(size=2_000)
    two = one + generator.normal(size=2_000)
    weights = generator.integers(1, 50, 2_000)
    made = correlation_matrix([score_truths(one), score_truths(two)], weights=weights)
    plain = np.cov(one, two, aweights=weights, ddof=0)
    assert made.matrix[0, 1] == pytest.approx(plain[0, 1] / np.sqrt(plain[0, 0] * plain[1, 1]), abs=1e-8)
    assert np.diag(made.matrix).tolist() == [1, 1]
    assert made.matrix[0, 1] == made.matrix[1, 0]
    assert made.reasons == {}


def test_correlations_are_over_those_who_have_both_values() -> None:
    generator = np.random.default_rng()
    one, two, three = generator.normal(size=(3, 1_000))
    two, three = one + two, one - three
    there = [generator.random(1_000) < chance for chance in (0.9, 0.5, 0.7)]
    columns = [score_truths(x, present=kept) for x, kept in zip((one, two, three), there, strict=True)]
    made = correlation_matrix(columns, weights=np.ones(1_000, dtype=np.int64))
    both = there[1] & there[2]
    assert made.matrix[1, 2] == pytest.approx(np.corrcoef(two[both], three[both])[0, 1], abs=1e-8)
    order = generator.permutation(1_000)
    moved = [score_truths(x[order], present=kept[order]) for x, kept in zip((one, two, three), there, strict=True)]
    assert correlation_matrix(moved, weights=np.ones(1_000, dtype=np.int64)).matrix.tolist() == made.matrix.tolist()


def test_what_cannot_be_told_is_suppressed_with_a_reason() -> None:
    constant, varied = score_truths(np.ones(4)), score_truths(np.array([1.0, 2.0, 3.0, 4.0]))
    first, last = (varied.placed(whole(*rows), respondents=8) for rows in ((0, 1, 2, 3), (4, 5, 6, 7)))
    made = correlation_matrix([constant, varied], weights=whole(1, 1, 1, 1))
    assert np.isnan(made.matrix[0]).all()
    assert made.matrix[1, 1] == 1
    assert "not positive" in made.reasons[0, 1]
    assert set(made.reasons) == {(0, 0), (0, 1), (1, 0)}
    apart = correlation_matrix([first, last], weights=np.ones(8, dtype=np.int64))
    assert np.isnan(apart.matrix[0, 1])
    assert "both columns" in apart.reasons[0, 1]


def test_what_noise_carries_beyond_one_is_clipped_and_marked() -> None:
    truth = score_truths(np.array([0.0, 1.0]))
    assert truth.squares is not None
    doubtful = type(truth)(values=truth.values, squares=truth.squares - 0.1, presence=truth.presence)
    made = correlation_matrix([truth, doubtful], weights=whole(1, 1))
    assert made.matrix[0, 1] == 1
    assert made.clipped.tolist() == [[False, True], [True, False]]


def test_reports_that_are_mostly_noise_give_no_correlation() -> None:
    oracle = GeneralisedResponse(epsilon="0.001", categories=2)
    reports = whole(*[0] * 3, *[1] * 5)
    made = correlation_matrix([score_categories(oracle, reports)] * 2, weights=np.ones(8, dtype=np.int64))
    assert np.isnan(made.matrix).all()
