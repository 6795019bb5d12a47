"""Gaussian vectors against the exact law, with faults planted in the table, the coins and the signs.

The law of any table follows from its bounds, so a fault's distance is known before it is drawn. For the nearest fault
at CDF distance `gap`, n = 2*ln(2/alpha)/gap**2 draws keep a true sampler within gap/2 of its law but for a probability
alpha, and a faulty one beyond it likewise (Dvoretzky-Kiefer-Wolfowitz with Massart's constant). With alpha = 1e-8 and
fewer than 80 comparisons here, a false alarm in the whole file has probability below 1e-6. Entropy is fresh, nothing is
rerun.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray

from discreet.noise import SystemEntropy, discrete_gaussian, gaussian_array
from discreet.noise.gaussian_array import discrete_gaussian_array, draw_from
from discreet.noise.gaussian_table import ChanceTable, make_table

pytestmark = pytest.mark.statistical

ALPHA = 1e-8
ENTROPY = SystemEntropy()
SHORT = 2000  # draws at a time that are too few for a table of every integer

Law = NDArray[np.float64]
Draws = NDArray[np.int64]


def gaussian_law(sigma: float, reach: int) -> Law:
    weights = np.exp(-((np.arange(-reach, reach + 1) / sigma) ** 2) / 2)
    return np.asarray(weights / weights.sum())


def law_of(table: ChanceTable, reach: int) -> Law:
    """P(Z = z) for z = -reach .. reach of any table, right or wrong."""
    within = np.append(np.diff(table.low.astype(np.float64), prepend=0.0) / 2.0**63, np.zeros(reach))[: reach + 1]
    half = within[1:] / 2
    return np.concatenate([half[::-1], within[:1], half])


def distance(left: Law, right: Law) -> float:
    return float(np.abs(np.cumsum(left - right)).max())


def empirical(drawn: Draws, reach: int) -> Law:
    return np.bincount(np.clip(drawn, -reach, reach) + reach, minlength=2 * reach + 1) / drawn.size


def draws_for(gap: float) -> int:
    return math.ceil(2 * math.log(2 / ALPHA) / gap**2)


def moved(table: ChanceTable, change: Callable[[Draws], Draws]) -> ChanceTable:
    return ChanceTable(table.variance, table.fold, change(table.low), change(table.high))


def planted(table: ChanceTable) -> dict[str, ChanceTable]:
    """A wrong scale, a table that is off by one entry, 0 counted twice, and bounds that lost their low bits."""
    wide, narrow = (make_table(table.variance * factor, fold=2) for factor in (Fraction(13, 10), Fraction(7, 10)))
    ends = table.low.size
    doubled = int(table.low[0])

    def count_zero_twice(bounds: Draws) -> Draws:
        return (bounds.astype(object) * 2**63 // (2**63 + doubled) + 2**63 * doubled // (2**63 + doubled)).astype(
            np.int64
        )

    return {
        "variance +30%": ChanceTable(table.variance, 2, wide.low[:ends], wide.high[:ends]),
        "variance -30%": ChanceTable(table.variance, 2, narrow.low, narrow.high),
        "one entry off": moved(table, lambda bounds: np.concatenate([bounds[1:], bounds[-1:]])),
        "zero counted twice": moved(table, count_zero_twice),
        "four bits kept": moved(table, lambda bounds: np.append(bounds[:-1] >> 59 << 59, bounds[-1:])),
    }


@pytest.mark.parametrize("scale", [Fraction(3, 4), Fraction(6)])
def test_draws_have_their_law_and_faulty_tables_do_not(scale: Fraction) -> None:
    table, reach = make_table(scale * scale, fold=2), math.ceil(14 * scale)
    exact = gaussian_law(float(scale), reach)
    assert distance(exact, law_of(table, reach)) < 1e-12
    faults = planted(table)
    gap = min(distance(exact, law_of(faulty, reach)) for faulty in faults.values())
    assert gap > 0.01
    n = draws_for(gap)
    assert distance(exact, empirical(draw_from(table, ENTROPY, shift=0, count=n), reach)) < gap / 2
    for name, faulty in faults.items():
        drawn = draw_from(faulty, ENTROPY, shift=0, count=n)
        assert distance(exact, empirical(drawn, reach)) > gap / 2, f"{name} was not found"


def draw_in_parts(variance: Fraction, n: int) -> Draws:
    sizes = [min(SHORT, n - start) for start in range(0, n, SHORT)]
    return np.concatenate([discrete_gaussian_array(ENTROPY, variance=variance, count=size) for size in sizes])


def draw_at_once(variance: Fraction, n: int) -> Draws:
    return discrete_gaussian_array(ENTROPY, variance=variance, count=n)


@pytest.mark.parametrize("draw", [draw_in_parts, draw_at_once])
@pytest.mark.parametrize("scale", [Fraction(50, 3), Fraction(130)])
def test_blocks_have_their_law_and_faults_do_not(scale: Fraction, draw: Callable[[Fraction, int], Draws]) -> None:
    reach = math.ceil(14 * scale)
    exact = gaussian_law(float(scale), reach)
    scales = {factor: gaussian_law(float(scale * factor), reach) for factor in (Fraction(5, 4), Fraction(3, 4))}
    step = math.ceil(scale / 20)
    gap = min(distance(exact, wrong) for wrong in (*scales.values(), np.roll(exact, step)))
    n = draws_for(gap)
    right = draw(scale**2, n)
    assert distance(exact, empirical(right, reach)) < gap / 2
    for factor in scales:
        assert distance(exact, empirical(draw((scale * factor) ** 2, n), reach)) > gap / 2
    assert distance(exact, empirical(right + step, reach)) > gap / 2
    assert distance(exact, empirical(np.abs(right), reach)) > gap / 2


@pytest.mark.parametrize("scale", [Fraction(50, 3), Fraction(10**7)])
def test_coins_that_are_not_tossed_or_tossed_for_another_scale_are_found(
    scale: Fraction, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Magnitudes in steps of a hundredth of the scale, against the normal law, which they meet within 1/scale."""
    width = max(1, int(scale / 100))
    edges = np.arange(1, 1000) * width
    sigma, bound = float(scale), gaussian_array.bound_loss

    def law(drawn: Draws) -> Law:
        return np.searchsorted(np.sort(np.abs(drawn)), edges) / drawn.size

    def exact_law() -> Law:
        reach = math.ceil(14 * sigma)
        if reach > 10**6:
            return np.array([math.erf((edge - 0.5) / sigma / math.sqrt(2)) for edge in edges.tolist()])
        masses = gaussian_law(sigma, reach)
        folded = np.concatenate([masses[reach : reach + 1], 2 * masses[reach + 1 :], np.zeros(2000)])
        return np.asarray(np.cumsum(folded)[edges - 1])

    exact, n = exact_law(), draws_for(0.005)
    assert np.abs(law(draw_in_parts(scale**2, n)) - exact).max() < 0.0025

    def never(variance: Fraction, blocks: Draws, offsets: Draws, *, shift: int) -> tuple[Draws, Draws]:
        return np.full_like(blocks, -1), np.full_like(blocks, -1)

    def narrower(variance: Fraction, blocks: Draws, offsets: Draws, *, shift: int) -> tuple[Draws, Draws]:
        low, _ = bound(variance / 4, blocks, offsets, shift=shift)
        return low, low

    for fault in (never, narrower):
        monkeypatch.setattr(gaussian_array, "bound_loss", fault)
        assert np.abs(law(draw_in_parts(scale**2, n)) - exact).max() > 0.0025, fault.__name__


@pytest.mark.parametrize("draw", [draw_in_parts, draw_at_once])
def test_low_bits_signs_and_neighbours_are_independent(draw: Callable[[Fraction, int], Draws]) -> None:
    """Products of centred coins average 0 within Hoeffding's bound; a shared bit would give 1/4."""
    n, scale = 400_000, Fraction(10**4)
    drawn = draw(scale * scale, n)
    coins = [(np.abs(drawn) >> place & 1) - 0.5 for place in (0, 1, 5)] + [(drawn < 0) - 0.5]
    slack = math.sqrt(math.log(2 / ALPHA) / (8 * n)) + 1e-4  # 0 has one sign: a bias of 1/(sqrt(2*pi)*scale) at most
    for i, coin in enumerate(coins):
        assert abs(float(np.mean(coin[1:] * coin[:-1]))) < slack
        for other in coins[:i]:
            assert abs(float(np.mean(coin * other))) < slack
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
