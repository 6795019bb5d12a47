"""Noisy max: priced by the spread of its scores, chosen over runs."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from discreet.errors import ParameterInvalid
from discreet.guarantees.types import PureDP
from discreet.mechanisms.noisy_max import NoisyMax


@pytest.mark.parametrize("monotone", [False, True])
@pytest.mark.parametrize("epsilon", ["1", "0.3", "0.000000001"])
def test_a_calibrated_choice_costs_what_was_asked(epsilon: str, monotone: bool) -> None:
    made = NoisyMax.calibrate(sensitivity=Fraction(3, 4), epsilon=epsilon, monotone=monotone)
    assert made.guarantee(sensitivity=Fraction(3, 4)) == PureDP(epsilon=epsilon)


def test_monotone_scores_buy_twice_the_rate() -> None:
    plain = NoisyMax.calibrate(sensitivity=1, epsilon=1)
    monotone = NoisyMax.calibrate(sensitivity=1, epsilon=1, monotone=True)
    assert (plain.rate, monotone.rate) == (Fraction(1, 2), Fraction(1))
    assert plain.parameters() == {"rate": "1/2", "monotone": "false"}
    assert monotone.parameters() == {"rate": "1", "monotone": "true"}


@pytest.mark.parametrize(
    "runs", [[(0, 3), (1, 2), (3, 1)], [(5, 1), (5, 1)], [(Fraction(1, 3), 2), (Fraction(-7, 2), 9)]]
)
def test_the_law_itself_respects_the_guarantee(runs: list[tuple[int | Fraction, int]]) -> None:
    """Every neighbour with scores moved by -1, 0 or 1: no probability ratio above e^epsilon."""
    made = NoisyMax.calibrate(sensitivity=1, epsilon="0.8")

    def law(scores: list[float]) -> list[float]:
        weights = [math.exp(float(made.rate) * score) for score in scores]
        total = sum(weight * run[1] for weight, run in zip(weights, runs, strict=True))
        return [weight / total for weight in weights]

    here = law([float(score) for score, _ in runs])
    for moves in [(-1, 1, 1), (1, -1, -1), (1, 0, -1), (0, 1, 0)]:
        there = law([float(score) + move for (score, _), move in zip(runs, moves, strict=False)])
        for p, q in zip(here, there, strict=True):
            assert abs(math.log(p / q)) <= 0.8 + 1e-12


def test_the_best_candidate_wins_when_the_rate_is_high() -> None:
    sharp = NoisyMax(rate=Fraction(1000))
    assert {sharp.release([(0, 10), (2, 1), (1, 10)]) for _ in range(20)} == {(1, 0)}


def test_the_bound_on_the_gap_and_its_mean() -> None:
    made = NoisyMax(rate=Fraction(1, 2))
    reach = made.half_width("0.95", candidates=100)
    assert 100 * math.exp(-reach / 2) <= 0.05 < 100 * math.exp(-(reach - 1) / 2)
    assert made.expected_absolute_error(candidates=100) == pytest.approx(2 * math.log(100))
    weights = [1, *[math.exp(-z / 2) for z in range(1, 100)]]
    assert sum(z * w for z, w in enumerate(weights)) / sum(weights) <= 2 * math.log(100)


@pytest.mark.parametrize("rate", [Fraction(0), Fraction(-1), 1])
def test_a_rate_is_a_positive_fraction(rate: Fraction) -> None:
    with pytest.raises(ParameterInvalid, match="rate"):
        NoisyMax(rate=rate)
