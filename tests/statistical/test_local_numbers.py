"""Drawn reports of numbers against their laws, their means, their variances, and an audit of the real epsilon.

Laws: as in test_laws.py, n = 2*ln(2/alpha)/gap**2 draws keep a true sampler within gap/2 of its distribution function
(Dvoretzky-Kiefer-Wolfowitz with Massart's constant) and a fault at distance gap beyond it. Means and variances:
Bernstein's inequality with the moments of the law. Audit: Clopper-Pearson on an event chosen on the other half.
alpha is 1e-8 for each comparison and there are fewer than 100, so a false alarm has a chance below 1e-6. Entropy is
fresh and nothing is rerun.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from discreet.collect.randomisers.grid import GridRandomiser
from discreet.collect.randomisers.missing_numbers import MISSING, SplitNumber, TernaryNumber
from discreet.collect.randomisers.piecewise import Piecewise
from discreet.lab.audit import audit_loss
from discreet.noise import SystemEntropy
from tests.randomisers.numbers import COMPARISONS, PLAIN, Law, law, make

if TYPE_CHECKING:
    from numpy import int64
    from numpy.typing import NDArray

pytestmark = pytest.mark.statistical

ALPHA = 1e-8
ENTROPY = SystemEntropy()
EVERY = [*PLAIN, *COMPARISONS]


def draw(randomiser: GridRandomiser, x: int, n: int) -> NDArray[int64]:
    reports: NDArray[int64] = randomiser.randomise(ENTROPY, np.full(n, x))
    return reports


def empirical(reports: NDArray[int64]) -> Law:
    values, counts = np.unique(reports, return_counts=True)
    return dict(zip(values.tolist(), (counts / reports.size).tolist(), strict=True))


def distance(one: Law, other: Law) -> float:
    """The largest difference of the two distribution functions."""
    steps = [one.get(report, 0.0) - other.get(report, 0.0) for report in sorted({*one, *other})]
    return float(np.abs(np.cumsum(steps)).max())


@pytest.mark.parametrize("x", [4, 12])
@pytest.mark.parametrize("name", EVERY)
def test_reports_follow_their_law_and_faults_do_not(name: str, x: int) -> None:
    randomiser = make(name, epsilon="1", grid=12)
    true = law(randomiser, x)
    faults = {"a neighbour's answer": (randomiser, x - 1)}
    if x == 12:
        faults["epsilon a third too large"] = (make(name, epsilon="1.333", grid=12), x)
    for fault, (wrong, answer) in faults.items():
        gap = distance(true, law(wrong, answer))
        if gap < 0.01:
            assert name == "modulo", fault  # wrapped noise forgets most of what it is made of
            continue
        n = math.ceil(2 * math.log(2 / ALPHA) / gap**2)
        assert distance(true, empirical(draw(randomiser, x, n))) < gap / 2
        assert distance(true, empirical(draw(wrong, answer, n))) > gap / 2, fault


def test_the_two_halves_of_the_hybrid_are_drawn_as_often_as_stated() -> None:
    randomiser = make("hybrid", epsilon="0.65", grid=7)
    true = law(randomiser, 2)
    wrong = law(make("piecewise", epsilon="0.65", grid=7), 2)
    gap = distance(true, wrong)
    n = math.ceil(2 * math.log(2 / ALPHA) / gap**2)
    assert distance(true, empirical(draw(randomiser, 2, n))) < gap / 2
    assert distance(true, empirical(draw(make("piecewise", epsilon="0.65", grid=7), 2, n))) > gap / 2


def within(sample: NDArray[Any], *, mean: float, variance: float, reach: float) -> bool:
    """Whether the mean of the sample is as near as Bernstein allows but for a chance of ALPHA."""
    log_term = math.log(2 / ALPHA)
    allowed = math.sqrt(2 * variance * log_term / sample.size) + reach * log_term / (3 * sample.size)
    return abs(float(sample.mean()) - mean) <= allowed


def value_moments(randomiser: GridRandomiser, x: int) -> tuple[float, float, float, float]:
    """Variance of the value, variance of its squared deviation, and the furthest deviation of either; by enumeration.

    Deviations are from the stated mean x + bias. Reports with chances below 1e-16 are not expected in any sample here.
    """
    chances = {report: chance for report, chance in law(randomiser, x).items() if chance > 1e-16}
    weights = np.array(list(chances.values()))
    centre = x + float(randomiser.bias(np.array([float(x)]))[0])
    squares = (randomiser.values(np.array(list(chances))) - centre) ** 2
    variance = float(weights @ squares)
    return variance, float(weights @ squares**2) - variance**2, math.sqrt(squares.max()), float(squares.max())


@pytest.mark.parametrize("name", EVERY)
def test_values_have_the_stated_mean_and_variance(name: str) -> None:
    grid, x, n = 60, 15, 200_000
    randomiser = make(name, epsilon="1", grid=grid)
    place = np.array([float(x)])
    mean, stated = x + float(randomiser.bias(place)[0]), float(randomiser.variance(place)[0])
    variance, spread, reach, reach_squared = value_moments(randomiser, x)
    values = randomiser.values(draw(randomiser, x, n))
    assert within(values, mean=mean, variance=variance, reach=reach)
    assert within((values - mean) ** 2, mean=stated, variance=spread, reach=reach_squared)
    if name != "modulo":  # its mean hardly depends on the answer
        moved = randomiser.values(draw(randomiser, x + grid // 2, n))
        assert not within(moved, mean=mean, variance=variance, reach=reach)
    if name in ("laplace", "duchi", "piecewise", "piecewise-wide", "hybrid"):
        noisier = make(name, epsilon="0.8", grid=grid)
        stretched = noisier.values(draw(noisier, x, n))
        assert not within((stretched - mean) ** 2, mean=stated, variance=spread, reach=reach_squared)


@pytest.mark.parametrize("answer", [7, MISSING])
def test_numbers_that_may_be_missing_have_unbiased_pairs(answer: int) -> None:
    n = 200_000
    for randomiser in (TernaryNumber(epsilon=1, grid=9), SplitNumber(epsilon=1, grid=9, missing_epsilon="0.4")):
        for given, right in ((answer, True), (0, False)):
            pairs = randomiser.pairs(randomiser.randomise(ENTROPY, np.full(n, given)))
            near = []
            for values, truth in ((pairs.above, max(answer, 0)), (pairs.below, float(answer != MISSING))):
                allowed = float(np.ptp(values)) * math.sqrt(math.log(2 / ALPHA) / (2 * n))  # Hoeffding
                near.append(abs(float(values.mean()) - truth) <= allowed)
            assert all(near) == right


@pytest.mark.parametrize("name", EVERY)
def test_an_audit_finds_no_more_than_epsilon(name: str) -> None:
    n = 200_000
    randomiser = make(name, epsilon="1", grid=12)
    found = audit_loss(draw(randomiser, 12, n), draw(randomiser, 0, n), claimed=1, alpha=ALPHA)
    assert not found.refuted
    if name in ("duchi", "laplace", "clip"):
        assert found.lower_bound > 0.9


def test_an_audit_finds_a_window_that_is_e_epsilon_too_likely() -> None:
    class Squared(Piecewise):
        """Draws with twice the epsilon that it states."""

        __slots__ = ()

        def randomise(self, entropy: Any, answers: NDArray[int64]) -> NDArray[int64]:
            return Piecewise(epsilon=self.epsilon * 2, grid=self.grid).randomise(entropy, answers)

    n = 400_000
    careless = Squared(epsilon=1, grid=12)
    assert audit_loss(draw(careless, 12, n), draw(careless, 0, n), claimed=1, alpha=ALPHA).refuted
