"""Generalised randomised response: its chances, and what answers it takes."""

from __future__ import annotations

import math

import numpy as np
import pytest

from discreet.collect.randomisers.generalised_response import GeneralisedResponse
from discreet.noise import SystemEntropy


@pytest.mark.parametrize("categories", [2, 13, 1000])
@pytest.mark.parametrize("epsilon", ["0.6", "1", "5.99"])
def test_its_chances_add_up_and_their_ratio_is_epsilon(epsilon: str, categories: int) -> None:
    channel = GeneralisedResponse(epsilon=epsilon, categories=categories).channel()
    assert math.log(channel.p / channel.q) == pytest.approx(float(epsilon))
    assert channel.p + (categories - 1) * channel.q == pytest.approx(1)


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
