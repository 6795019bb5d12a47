"""The table's draws against the exact law, with faults planted in the table.

The law of any table follows from its bounds, so a fault's distance is known before it is drawn. For the nearest fault
at CDF distance `gap`, n = 2*ln(2/alpha)/gap**2 draws keep a true sampler within gap/2 of its law but for a probability
alpha, and a faulty one beyond it likewise (Dvoretzky-Kiefer-Wolfowitz with Massart's constant). With alpha = 1e-8 and
fewer than 40 comparisons here, a false alarm in the whole file has probability below 1e-6. Entropy is fresh, nothing is
rerun.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray

from discreet.noise import SystemEntropy, discrete_gaussian
from discreet.noise.gaussiantable import Table, discrete_gaussian_array, draw_from, make_table

pytestmark = pytest.mark.statistical

ALPHA = 1e-8
ENTROPY = SystemEntropy()

Law = NDArray[np.float64]
Draws = NDArray[np.int64]


def gaussian_law(sigma: float, reach: int) -> Law:
    weights = np.exp(-((np.arange(-reach, reach + 1) / sigma) ** 2) / 2)
    return np.asarray(weights / weights.sum())


def law_of(table: Table, reach: int) -> Law:
    """P(Z = z) for z = -reach .. reach of any table, right or wrong."""
    within = np.append(np.diff(table.low.astype(np.float64), prepend=0.0) / 2.0**63, np.zeros(reach))[: reach + 1]
    half = within[1:] / 2
    return np.concatenate([half[::-1], within[:1], half])


def distance(one: Law, other: Law) -> float:
    return float(np.abs(np.cumsum(one - other)).max())


def empirical(drawn: Draws, reach: int) -> Law:
    return np.bincount(np.clip(drawn, -reach, reach) + reach, minlength=2 * reach + 1) / drawn.size


def moved(table: Table, change: Callable[[Draws], Draws]) -> Table:
    return Table(table.variance, change(table.low), change(table.high))


def planted(table: Table) -> dict[str, Table]:
    """A wrong scale, a table that is off by one entry, 0 counted twice, and bounds that lost their low bits."""
    wide, narrow = (make_table(table.variance * factor) for factor in (Fraction(13, 10), Fraction(7, 10)))
    ends = table.low.size
    doubled = int(table.low[0])

    def count_zero_twice(bounds: Draws) -> Draws:
        return (bounds.astype(object) * 2**63 // (2**63 + doubled) + 2**63 * doubled // (2**63 + doubled)).astype(
            np.int64
        )

    return {
        "variance +30%": Table(table.variance, wide.low[:ends], wide.high[:ends]),
        "variance -30%": Table(table.variance, narrow.low, narrow.high),
        "one entry off": moved(table, lambda bounds: np.concatenate([bounds[1:], bounds[-1:]])),
        "zero counted twice": moved(table, count_zero_twice),
        "four bits kept": moved(table, lambda bounds: np.append(bounds[:-1] >> 59 << 59, bounds[-1:])),
    }


@pytest.mark.parametrize("scale", [Fraction(3, 4), Fraction(6)])
def test_draws_have_their_law_and_faulty_tables_do_not(scale: Fraction) -> None:
    table, reach = make_table(scale * scale), math.ceil(14 * scale)
    exact = gaussian_law(float(scale), reach)
    assert distance(exact, law_of(table, reach)) < 1e-12
    faults = planted(table)
    gap = min(distance(exact, law_of(faulty, reach)) for faulty in faults.values())
    assert gap > 0.01
    n = math.ceil(2 * math.log(2 / ALPHA) / gap**2)
    assert distance(exact, empirical(draw_from(table, ENTROPY, count=n), reach)) < gap / 2
    for name, faulty in faults.items():
        assert distance(exact, empirical(draw_from(faulty, ENTROPY, count=n), reach)) > gap / 2, f"{name} was not found"


@pytest.mark.parametrize("scale", [Fraction(10**4), Fraction(47 * 10**3, 2)])
def test_wide_draws_have_their_law_and_a_wrong_scale_does_not(scale: Fraction) -> None:
    reach = math.ceil(10 * scale)
    exact, wrong = gaussian_law(float(scale), reach), gaussian_law(float(scale) * 1.02, reach)
    gap = distance(exact, wrong)
    n = math.ceil(2 * math.log(2 / ALPHA) / gap**2)
    right = discrete_gaussian_array(ENTROPY, variance=scale * scale, count=n)
    assert distance(exact, empirical(right, reach)) < gap / 2
    faulty = discrete_gaussian_array(ENTROPY, variance=(scale * 51 / 50) ** 2, count=n)
    assert distance(exact, empirical(faulty, reach)) > gap / 2


def test_low_bits_signs_and_neighbours_are_independent() -> None:
    """Products of centred coins average 0 within Hoeffding's bound; a shared bit would give 1/4."""
    n, scale = 400_000, Fraction(10**4)
    drawn = discrete_gaussian_array(ENTROPY, variance=scale * scale, count=n)
    coins = [(np.abs(drawn) >> place & 1) - 0.5 for place in (0, 1, 5)] + [(drawn < 0) - 0.5]
    slack = math.sqrt(math.log(2 / ALPHA) / (8 * n)) + 1e-4  # 0 has one sign: a bias of 1/(sqrt(2*pi)*scale) at most
    for i, one in enumerate(coins):
        assert abs(float(np.mean(one[1:] * one[:-1]))) < slack
        for other in coins[:i]:
            assert abs(float(np.mean(one * other))) < slack
    assert float(np.mean(coins[0] * coins[0])) > slack


def test_the_reference_sampler_agrees() -> None:
    """Two samples of n = 8*ln(4/alpha)/gap**2 each: equal laws come within gap/2, laws at distance gap do not.

    A coarse look, for both samplers are held to their law above and in test_laws.py.
    """
    scale, reach = Fraction(4, 3), 20
    gap = distance(gaussian_law(4 / 3, reach), gaussian_law(2, reach))
    n = math.ceil(8 * math.log(4 / ALPHA) / gap**2)
    reference = empirical(np.array([discrete_gaussian(ENTROPY, variance=scale**2) for _ in range(n)]), reach)
    drawn = discrete_gaussian_array(ENTROPY, variance=scale**2, count=n)
    assert distance(empirical(drawn, reach), reference) < gap / 2
    wide = discrete_gaussian_array(ENTROPY, variance=(scale * 3 / 2) ** 2, count=n)
    assert distance(empirical(wide, reach), reference) > gap / 2
