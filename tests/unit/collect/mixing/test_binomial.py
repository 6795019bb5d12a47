"""Binomial laws against exact integers, and against each other where integers would take too long."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from discreet.collect.mixing.binomial import SLACK, at_least, below, point

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("chance", [Fraction(1, 2), Fraction(1, 13), Fraction(1, 200), Fraction(9, 10)])
@pytest.mark.parametrize("trials", [1, 2, 17, pytest.param(400, marks=pytest.mark.long)])
def test_every_value_against_exact_integers(trials: int, chance: Fraction) -> None:
    exact = [math.comb(trials, x) * chance**x * (1 - chance) ** (trials - x) for x in range(trials + 1)]
    x = np.arange(trials + 1)
    tails = [sum(exact[least:], Fraction(0)) for least in range(trials + 1)]
    assert point(x, trials, float(chance)) == pytest.approx([float(e) for e in exact], rel=SLACK)
    assert at_least(x, trials, float(chance)) == pytest.approx([float(t) for t in tails], rel=SLACK)
    heads = [float(1 - tail) for tail in tails]
    assert below(x, trials, float(chance)) == pytest.approx(heads, rel=SLACK)


def test_a_tail_of_twenty_thousand_coins_against_exact_integers() -> None:
    trials, least = 20_000, 10_500
    term = math.comb(trials, least)
    total = 0
    for x in range(least, trials + 1):
        total += term
        term = term * (trials - x) // (x + 1)
    assert at_least(least, trials, 0.5) == pytest.approx(float(Fraction(total, 2**trials)), rel=SLACK)


@pytest.mark.parametrize("chance", [0.5, 0.02, 1e-5])
def test_points_add_up_to_tails_at_a_hundred_million_trials(chance: float) -> None:
    trials = 10**8
    deviation = math.sqrt(trials * chance * (1 - chance))
    least = math.ceil(trials * chance + 4 * deviation)
    x = np.arange(least, math.ceil(least + 12 * deviation))
    assert math.fsum(point(x, trials, chance)) == pytest.approx(float(at_least(least, trials, chance)), rel=SLACK)
    most = math.floor(trials * chance - 4 * deviation)
    x = np.arange(max(0, math.floor(most - 12 * deviation)), most)
    assert math.fsum(point(x, trials, chance)) == pytest.approx(float(below(most, trials, chance)), rel=SLACK)


def test_outside_the_range() -> None:
    assert point([-1, 5], 4, 0.3).tolist() == [0.0, 0.0]
    assert at_least([0, 5], 4, 0.3).tolist() == [1.0, 0.0]
    assert below([0, 5], 4, 0.3).tolist() == [0.0, 1.0]
