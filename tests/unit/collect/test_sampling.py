"""Which columns a respondent is asked, and at which epsilon."""

from __future__ import annotations

from collections import Counter
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from discreet.collect.estimates.column_sampling import SamplingPlan, expected_gain, sample_columns, split_columns
from discreet.collect.randomisers.category_choice import choose_oracle
from discreet.errors import ParameterInvalid
from discreet.lab.study.seeded_entropy import SeededEntropy
from discreet.noise.entropy import ByteTape, SystemEntropy


@pytest.mark.parametrize(
    ("epsilon", "columns", "asked", "each"),
    [
        ("1", 10, 1, "1"),
        ("4.999999999", 10, 1, "4.999999999"),
        ("5", 10, 2, "2.5"),
        ("8", 10, 3, "2.666666666"),
        ("100", 3, 3, "33.333333333"),
    ],
)
def test_the_number_asked_follows_epsilon(epsilon: str, columns: int, asked: int, each: str) -> None:
    plan = sample_columns(epsilon=epsilon, columns=columns)
    assert (plan.asked, plan.each) == (asked, Decimal(each))
    assert plan.each * plan.asked <= plan.epsilon
    assert plan.inclusion == Fraction(asked, columns)


def test_splitting_asks_everything() -> None:
    plan = split_columns(epsilon=1, columns=3)
    assert plan.each == Decimal("0.333333333")
    assert plan.inclusion == plan.pair_inclusion == Fraction(1)
    assert plan.draw(ByteTape(b""), respondents=4).all()


def test_pairs_are_asked_more_rarely() -> None:
    assert sample_columns(epsilon=1, columns=10).pair_inclusion == 0
    assert SamplingPlan(epsilon=9, columns=10, asked=3).pair_inclusion == Fraction(6, 90)
    assert SamplingPlan(epsilon=9, columns=1, asked=1).pair_inclusion == 0


def test_every_respondent_is_asked_the_same_number() -> None:
    asked = SamplingPlan(epsilon=6, columns=7, asked=3).draw(SystemEntropy(), respondents=500)
    assert asked.shape == (500, 7)
    assert set(asked.sum(axis=1).tolist()) == {3}


def test_every_choice_is_reached_by_equally_many_draws() -> None:
    # 5 columns, then 4: all 20 pairs of first and second draw, one respondent each
    tape = ByteTape(bytes([first for first in range(5) for _ in range(4)]) + bytes(list(range(4)) * 5))
    asked = SamplingPlan(epsilon=6, columns=5, asked=2).draw(tape, respondents=20)
    chosen = Counter(tuple(np.flatnonzero(row).tolist()) for row in asked)
    assert len(chosen) == 10
    assert set(chosen.values()) == {2}


def test_a_seed_repeats_the_draw() -> None:
    plan = SamplingPlan(epsilon=6, columns=9, asked=2)
    one, two = (plan.draw(SeededEntropy(7), respondents=50) for _ in range(2))
    assert one.tolist() == two.tolist()


@pytest.mark.parametrize(("columns", "asked"), [(0, 0), (3, 0), (3, 4), (True, 1), (10_001, 1)])
def test_plans_are_checked(columns: int, asked: int) -> None:
    with pytest.raises(ParameterInvalid):
        SamplingPlan(epsilon=1, columns=columns, asked=asked)


def test_a_total_must_suffice_for_every_answer() -> None:
    with pytest.raises(ParameterInvalid, match="at least 3e-9"):
        split_columns(epsilon="0.000000002", columns=3)


def test_sampling_beats_splitting_as_stated() -> None:
    def variance(epsilon: Decimal) -> float:
        channel = choose_oracle(epsilon=epsilon, categories=5).channel()
        noise = channel.q * (1 - channel.q) + (channel.p - channel.q) * (1 - channel.p - channel.q) * 0.2
        return noise / (channel.p - channel.q) ** 2

    gains = [expected_gain(epsilon=epsilon, columns=10, variance=variance, mean_square=0.2) for epsilon in (1, 3, 6)]
    assert all(3 < gain < 12 for gain in gains)
    assert expected_gain(epsilon=3, columns=1, variance=variance, mean_square=0.2) == 1
