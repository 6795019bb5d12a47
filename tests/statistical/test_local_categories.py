"""Randomisers of categories as drawn: unbiased, as variable as stated, and no more revealing than claimed.

Budgets. Every comparison of true code has a false-alarm probability of at most ALPHA = 1e-9, by Bernstein's inequality
(estimates), Clopper-Pearson (audits) or seven standard deviations (variances). There are fewer than 500 of them: a
false alarm in the whole file has probability below 1e-6. Entropy is fresh, and nothing is rerun.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from discreet.collect.randomisers.category_choice import FREQUENCY_ORACLES, frequency_oracle
from discreet.collect.randomisers.oracle import CategoryOracle
from discreet.collect.randomisers.randomiser import Channel
from discreet.lab.audit import audit_loss
from discreet.noise import SystemEntropy, uniform_array_below

pytestmark = pytest.mark.statistical

ALPHA = 1e-9
ENTROPY = SystemEntropy()
NAMES = sorted(FREQUENCY_ORACLES)
WEIGHTS = np.array([1, 2, 5, 20])


@dataclass(frozen=True)
class Sample:
    """Many cells with the same answers and weights, each randomised anew."""

    oracle: CategoryOracle
    cells: int
    answers: NDArray[np.int64]
    weights: NDArray[np.int64]

    def estimate(self, channel: Channel, *, sharing: int = 1) -> NDArray[np.float64]:
        """Estimated counts, cells × categories, if the reports came from this channel.

        With `sharing` so many neighbours, whose answers and weights are equal, share one draw: a fault.
        """
        members = self.answers.size
        reports = self.oracle.randomise(ENTROPY, np.tile(self.answers, self.cells)[::sharing])
        reports = np.repeat(reports, sharing, axis=0)
        tally = self.oracle.tally(
            reports,
            cells=np.repeat(np.arange(self.cells), members),
            weights=np.tile(self.weights, self.cells),
            number=self.cells,
        )
        return np.asarray((tally.support - channel.q * tally.weights[:, None]) / (channel.p - channel.q))

    def truth(self, power: int) -> NDArray[np.int64]:
        """The sum of w to a power over the answers of each category."""
        sums = np.zeros(self.oracle.categories, dtype=np.int64)
        np.add.at(sums, self.answers, self.weights**power)
        return sums

    def variances(self) -> NDArray[np.float64]:
        """The variance of each estimated count, by theory."""
        own, other = (self.oracle.expected_variance(share=share) for share in (1.0, 0.0))
        squares = self.truth(2)
        return np.asarray(own * squares + other * (squares.sum() - squares))


def make_sample(name: str, epsilon: str, categories: int, *, cells: int, members: int) -> Sample:
    """Half of the respondents give the first answer, a quarter the second, and so on: some categories stay empty.

    Two by two, neighbours give the same answer with the same weight.
    """
    pairs = np.arange(members) // 2
    answers = np.minimum([(members // (2 * pair + 1)).bit_length() - 1 for pair in pairs.tolist()], categories - 1)
    oracle = frequency_oracle(name, epsilon=epsilon, categories=categories)
    return Sample(oracle, cells, answers, WEIGHTS[pairs % WEIGHTS.size])


def bernstein(variance: NDArray[np.float64], largest: float) -> NDArray[np.float64]:
    """How far a sum of independent centred terms, none above `largest`, strays with probability at most ALPHA."""
    log_term = math.log(2 / ALPHA)
    first = log_term * largest / 3
    return np.asarray(first + np.sqrt(first**2 + 2 * log_term * variance))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("epsilon", "categories"), [("1", 5), ("0.6", 13), ("3", 12)])
def test_weighted_estimates_are_unbiased_and_a_wrong_channel_is_found(name: str, epsilon: str, categories: int) -> None:
    sample = make_sample(name, epsilon, categories, cells=400, members=1000)
    channel = sample.oracle.channel()
    reach = bernstein(sample.cells * sample.variances(), WEIGHTS.max() / (channel.p - channel.q))
    errors = sample.estimate(channel).sum(axis=0) - sample.cells * sample.truth(1)
    assert (np.abs(errors) <= reach).all()
    wrong = Channel(p=channel.p, q=channel.q * 0.7)
    errors = sample.estimate(wrong).sum(axis=0) - sample.cells * sample.truth(1)
    assert (np.abs(errors) > reach).any()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("epsilon", "categories"), [("1", 5), ("3", 12)])
def test_estimates_vary_as_stated_and_a_shared_draw_is_found(name: str, epsilon: str, categories: int) -> None:
    """The mean of error²/variance over 2,000 cells has mean 1 and a deviation of at most √(2.5/2000) = 3.5%.

    A normal law has 2 in place of 2.5; coins as rare as 1 in 31, with these weights, add no more than the rest. The
    bound is 25%, seven deviations; two neighbours that share a draw double the variance.
    """
    sample = make_sample(name, epsilon, categories, cells=2000, members=200)
    errors = sample.estimate(sample.oracle.channel()) - sample.truth(1)
    ratios = (errors**2).mean(axis=0) / sample.variances()
    assert (np.abs(ratios - 1) < 0.25).all()
    errors = sample.estimate(sample.oracle.channel(), sharing=2) - sample.truth(1)
    ratios = (errors**2).mean(axis=0) / sample.variances()
    assert (np.abs(ratios - 1) > 0.25).all()


def find_events(oracle: CategoryOracle, reports: NDArray[Any]) -> NDArray[np.int64]:
    """Which of the first two categories each report supports, as 0, 1, 2 or 3."""
    places = np.arange(len(reports))
    support = oracle.tally(reports, cells=places, weights=np.ones_like(places), number=len(reports)).support
    return np.asarray(support[:, 0] + 2 * support[:, 1])


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("epsilon", "categories"), [("1", 5), ("0.6", 13), ("3", 4)])
def test_an_audit_finds_no_more_than_the_claimed_epsilon(name: str, epsilon: str, categories: int) -> None:
    """And nearly as much, so that it would have found a fault."""
    oracle = frequency_oracle(name, epsilon=epsilon, categories=categories)
    events = [find_events(oracle, oracle.randomise(ENTROPY, np.full(200_000, answer))) for answer in (0, 1)]
    found = audit_loss(*events, claimed=float(epsilon), alpha=ALPHA)
    assert not found.refuted
    assert found.lower_bound > 0.5 * float(epsilon)


def test_an_audit_finds_that_a_binary_coin_costs_more_with_five_categories() -> None:
    """Nominally 1, by p = e/(1 + e); the real epsilon is 1 + ln 4 = 2.386."""
    binary = frequency_oracle("grr", epsilon=1, categories=2)

    def respond(answer: int) -> NDArray[np.int64]:
        changed = binary.randomise(ENTROPY, np.zeros(200_000, dtype=np.int64)) == 1
        others = uniform_array_below(ENTROPY, 4, count=200_000)
        return np.where(changed, others + (others >= answer), answer)

    five = frequency_oracle("grr", epsilon=1, categories=5)
    found = audit_loss(find_events(five, respond(0)), find_events(five, respond(1)), claimed=1, alpha=ALPHA)
    assert 2.2 < found.lower_bound <= 1 + math.log(4)
