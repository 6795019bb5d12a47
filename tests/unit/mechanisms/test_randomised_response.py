"""Randomised response: its own epsilon, unbiased estimates, honest reach."""

from __future__ import annotations

import math

import numpy as np
import pytest

from discreet.errors import ParameterInvalid
from discreet.guarantees.types import LocalDP
from discreet.mechanisms.randomised_response import RandomisedResponse


@pytest.mark.parametrize("categories", [2, 5, 13, 1000])
@pytest.mark.parametrize("epsilon", ["0.6", "1", "5.99"])
def test_the_ratio_of_its_probabilities_is_exactly_epsilon(epsilon: str, categories: int) -> None:
    made = RandomisedResponse(epsilon=epsilon, categories=categories)
    keep, lie = made.support_probabilities()
    assert math.log(keep / lie) == pytest.approx(float(epsilon), rel=1e-12)
    assert keep + (categories - 1) * lie == pytest.approx(1)
    assert made.guarantee() == LocalDP(epsilon=epsilon)


def test_parameters_are_exact_text() -> None:
    made = RandomisedResponse(epsilon=0.1, categories=6)
    assert made.parameters() == {"epsilon": "0.1", "categories": "6"}


@pytest.mark.parametrize("categories", [0, 1, True, 2**32 + 1])
def test_categories_are_at_least_two(categories: int) -> None:
    with pytest.raises(ParameterInvalid, match="categories"):
        RandomisedResponse(epsilon=1, categories=categories)


@pytest.mark.parametrize("epsilon", [0, -1, "nan", True])
def test_epsilon_is_positive(epsilon: float) -> None:
    with pytest.raises(ParameterInvalid, match="epsilon"):
        RandomisedResponse(epsilon=epsilon, categories=3)


def test_expected_counts_are_estimated_without_bias() -> None:
    made = RandomisedResponse(epsilon="0.6", categories=4)
    keep, lie = made.support_probabilities()
    true = [150_000, 500_000, 0, 350_000]
    expected = [count * keep + (1_000_000 - count) * lie for count in true]
    estimates = made.estimate([round(count * 1000) for count in expected])
    assert [estimate / 1000 for estimate in estimates] == pytest.approx(true, abs=1)


def test_a_high_epsilon_reports_the_truth() -> None:
    made = RandomisedResponse(epsilon=1000, categories=3)
    assert made.release([0, 1, 2, 1]) == [0, 1, 2, 1]
    assert made.release_array(np.array([0, 1, 2, 1], dtype=np.int8)).tolist() == [0, 1, 2, 1]
    assert made.estimate([5, 6, 7]) == [5, 6, 7]


def test_reports_are_categories() -> None:
    made = RandomisedResponse(epsilon="0.01", categories=5)
    assert set(made.release([2] * 400)) == set(range(5))
    assert set(made.release_array(np.full(400, 2)).tolist()) == set(range(5))


def test_reach_shrinks_with_epsilon_and_exceeds_the_mean_error() -> None:
    reaches = []
    for epsilon in ("0.6", "1", "3"):
        made = RandomisedResponse(epsilon=epsilon, categories=6)
        reaches.append(made.half_width("0.95", respondents=100_000))
        assert reaches[-1] > made.expected_absolute_error(respondents=100_000, share=0.2)
    assert reaches == sorted(reaches, reverse=True)
    assert RandomisedResponse(epsilon=1, categories=6).half_width("0.95", respondents=0) == 0


@pytest.mark.parametrize("holders", [0, 250, 500])
@pytest.mark.parametrize(("epsilon", "categories"), [("0.6", 6), ("3", 6), ("5.99", 40)])
def test_the_reach_holds_counts_of_rare_and_common_categories(epsilon: str, categories: int, holders: int) -> None:
    """The exact law of the reports that name a category, which `holders` of 500 respondents have."""
    made = RandomisedResponse(epsilon=epsilon, categories=categories)
    keep, lie = made.support_probabilities()
    law = np.ones(1)
    for chance in [keep] * holders + [lie] * (500 - holders):
        law = np.convolve(law, [1 - chance, chance])
    reach = made.half_width("0.95", respondents=500)
    near = [abs(made.estimate([named, 500 - named])[0] - holders) <= reach for named in range(501)]
    assert law[near].sum() >= 0.95
