"""Generalised randomised response: its bytes and its chances."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from discreet.local.response import GeneralisedResponse
from discreet.mechanisms.randomised_response import RandomisedResponse
from discreet.noise import ByteTape, SystemEntropy
from discreet.noise.chance import Chance


@pytest.mark.parametrize("categories", [2, 13, 1000])
@pytest.mark.parametrize("epsilon", ["0.6", "1", "5.99"])
def test_its_chances_are_those_of_the_mechanism(epsilon: str, categories: int) -> None:
    channel = GeneralisedResponse(epsilon=epsilon, categories=categories).channel()
    mechanism = RandomisedResponse(epsilon=epsilon, categories=categories)
    assert (channel.p, channel.q) == mechanism.support_probabilities()


def test_a_byte_for_each_coin_then_one_for_each_change() -> None:
    made = GeneralisedResponse(epsilon=1, categories=4)
    # changed with chance 3/(e + 3) = 0.5246...: bytes up to 133 change, 134 ties and reads on
    digit = Chance(Fraction(1), times=3, plus=3).digit(0)
    assert digit == math.floor(256 * 3 / (math.e + 3)) == 134
    tape = ByteTape(bytes([0, 255, digit, 133]) + b"\xff" + bytes([0, 3, 2]))
    assert made.randomise(tape, np.array([0, 1, 2, 2])).tolist() == [1, 1, 2, 3]
    assert tape.used == 8


def test_a_high_epsilon_reports_the_truth() -> None:
    answers = np.arange(1000) % 7
    assert (
        GeneralisedResponse(epsilon=50, categories=7).randomise(SystemEntropy(), answers).tolist() == answers.tolist()
    )


def test_small_integers_are_answers_too() -> None:
    reports = GeneralisedResponse(epsilon=1, categories=200).randomise(
        SystemEntropy(), np.full(500, 199, dtype=np.uint8)
    )
    assert reports.dtype == np.int64
    assert 0 <= reports.min() <= reports.max() < 200
