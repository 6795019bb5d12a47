"""The choice between randomisers of categories: the smallest mean variance, the simplest on ties."""

from __future__ import annotations

import math

import pytest

from discreet.collect.randomisers.category_choice import FREQUENCY_ORACLES, choose_oracle, frequency_oracle
from discreet.collect.randomisers.oracle import CategoryOracle
from discreet.errors import ParameterInvalid, UnknownName


def test_names_are_those_of_the_classes() -> None:
    assert set(FREQUENCY_ORACLES) == {"grr", "subset", "oue", "olh", "hadamard", "rappor"}
    assert all(oracle.name == name for name, oracle in FREQUENCY_ORACLES.items())


def test_an_unknown_name_is_told_with_the_nearest() -> None:
    with pytest.raises(UnknownName, match="Did you mean 'hadamard'"):
        frequency_oracle("hadamrd", epsilon=1, categories=3)


def mean_variance(oracle: CategoryOracle, shares: dict[float, int]) -> float:
    """The mean over all categories; `shares` says how many have which share."""
    total = sum(number * oracle.expected_variance(share=share) for share, number in shares.items())
    return total / oracle.categories


@pytest.mark.parametrize("epsilon", ["0.1", "0.6", "1", "3", "5.99", "9"])
@pytest.mark.parametrize("categories", [2, 3, 5, 13, 97, 1000, 5000, 65536])
def test_no_other_has_a_smaller_mean_variance_whatever_the_shares(epsilon: str, categories: int) -> None:
    chosen = choose_oracle(epsilon=epsilon, categories=categories)
    assert chosen.name != "rappor"
    able = [
        oracle(epsilon=epsilon, categories=categories)
        for oracle in FREQUENCY_ORACLES.values()
        if oracle.objection(epsilon=chosen.epsilon, categories=categories) is None
    ]
    for shares in ({1 / categories: categories}, {0.5: 2, 0.0: categories - 2}):
        best = min(mean_variance(oracle, shares) for oracle in able)
        assert mean_variance(chosen, shares) <= best * (1 + 1e-6)


@pytest.mark.parametrize(
    ("epsilon", "categories", "name"),
    [("1", 2, "grr"), ("1", 5, "grr"), ("1", 13, "subset"), ("3", 13, "grr"), ("1", 5000, "olh"), ("12", 65536, "grr")],
)
def test_what_is_chosen(epsilon: str, categories: int, name: str) -> None:
    assert choose_oracle(epsilon=epsilon, categories=categories).name == name


@pytest.mark.parametrize(("epsilon", "categories"), [(51, 3), (1, 1), (1, 65537)])
def test_a_question_that_none_supports_is_refused(epsilon: int, categories: int) -> None:
    with pytest.raises(ParameterInvalid, match="must suit"):
        choose_oracle(epsilon=epsilon, categories=categories)


def test_published_variances_at_epsilon_one() -> None:
    """As [WBLJ17] gives them: 4e^ε/(e^ε − 1)² for two of them, (e^ε + k − 2)/(e^ε − 1)² for randomised response."""
    e = math.e
    assert frequency_oracle("oue", epsilon=1, categories=97).expected_variance() == pytest.approx(4 * e / (e - 1) ** 2)
    assert frequency_oracle("grr", epsilon=1, categories=97).expected_variance() == pytest.approx(
        (e + 95) / (e - 1) ** 2
    )
    assert frequency_oracle("olh", epsilon=1, categories=97).expected_variance() == pytest.approx(
        4 * e / (e - 1) ** 2, rel=0.01
    )
    assert frequency_oracle("hadamard", epsilon=1, categories=97).expected_variance() == pytest.approx(
        ((e + 1) / (e - 1)) ** 2
    )
