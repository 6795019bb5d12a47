"""The error that a table's strategy expects is the error that its estimate has, before anything is made non-negative.

All figures of a 13 × 5 × 16 table are estimated from noise alone, many times; the mean square of the errors, with one
vote for each margin, is averaged over the runs. The runs are independent, so the average is close to normal around what
it estimates; its skewness is at most 0.2 (below 2.8 in one run, over at least 200 runs), and seven standard errors
are then missed with probability below 1e-6 (Cramér's correction of the normal tail). Noise whose scale is off by a
quarter must be found.
"""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from math import prod

import numpy as np
import pytest
from numpy.typing import NDArray

from discreet.mechanisms.discrete_gaussian import DiscreteGaussian
from discreet.mechanisms.discrete_laplace import DiscreteLaplace
from discreet.tables.linear.estimation import LinearEstimator
from discreet.tables.linear.layout import Layout, Margin, Observation, every_margin
from discreet.tables.linear.margin_strategies import MarginStrategy, list_strategies

pytestmark = pytest.mark.statistical

RUNS = {"laplace": 1000, "gaussian": 200}
SIGMAS = 7
EPSILON, RHO = Decimal("0.1"), Decimal("0.005")
LAYOUT = Layout((13, 5, 16), None, tuple(every_margin(3)))


def moved(kept: Margin, residual: bool) -> list[tuple[Fraction, Fraction]]:
    sizes = LAYOUT.shape(kept) if residual else ()
    return [(Fraction(prod(2 * (size - 1) for size in sizes)), Fraction(prod(size * (size - 1) for size in sizes)))]


def draw(strategy: MarginStrategy, kept: Margin, residual: bool, share: Fraction) -> NDArray[np.float64]:
    """The noise of one observation, run by run."""
    runs = RUNS[strategy.noise]
    l1, squared_l2 = moved(kept, residual)[0]
    mechanism: DiscreteLaplace | DiscreteGaussian
    if strategy.noise == "laplace":
        mechanism = DiscreteLaplace.calibrate(sensitivity=l1, epsilon=EPSILON * share.numerator / share.denominator)
    else:
        mechanism = DiscreteGaussian.calibrate(
            squared_sensitivity=squared_l2, rho=RHO * share.numerator / share.denominator
        )
    return np.array(mechanism.release([0] * (runs * LAYOUT.count(kept))), dtype=np.float64).reshape(runs, -1)


def measure_errors(strategy: MarginStrategy) -> NDArray[np.float64]:
    """For each run the mean over margins of the mean square of the errors of their figures."""
    budget = float(EPSILON) if strategy.noise == "laplace" else float(RHO)
    observations, noises = [], []
    for one in strategy.measured:
        l1, squared_l2 = (float(bound) for bound in moved(one.kept, one.residual)[0])
        amount = float(one.share) * budget
        variance = 2 * (l1 / amount) ** 2 if strategy.noise == "laplace" else squared_l2 / (2 * amount)
        observations.append(Observation(one.kept, one.residual, (variance,)))
        noises.append(draw(strategy, one.kept, one.residual, one.share))
    estimator = LinearEstimator(LAYOUT, observations)
    errors = np.empty((RUNS[strategy.noise], len(LAYOUT.margins)))
    for run in range(len(errors)):
        cells = estimator.estimate([noise[run] for noise in noises])
        for number, margin in enumerate(LAYOUT.margins):
            over = tuple(place for place in LAYOUT.cells if place not in margin)
            errors[run, number] = np.mean(cells.sum(axis=over) ** 2)
    return np.asarray(errors.mean(axis=1))


@pytest.mark.parametrize(("noise", "name"), [("laplace", "weighted"), ("gaussian", "residual")])
def test_realised_variance_is_the_expected_one(noise: str, name: str) -> None:
    strategies = list_strategies(LAYOUT, moved=moved, epsilon=EPSILON, rho=RHO)
    strategy = next(one for one in strategies if (one.noise, one.name) == (noise, name))
    errors = measure_errors(strategy)
    reach = SIGMAS * errors.std() / len(errors) ** 0.5
    assert abs(errors.mean() - strategy.mean) < reach
    for fault in (0.75, 1.25):
        assert abs(errors.mean() * fault**2 - strategy.mean) > reach * fault**2
