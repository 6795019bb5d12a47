"""Randomisers of numbers by enumeration: the real epsilon, the mean and the variance of each, report by report."""

from __future__ import annotations

import math
from decimal import Decimal

import numpy as np
import pytest

from discreet.collect.randomisers.grid import GridRandomiser
from discreet.collect.randomisers.piecewise import Piecewise
from discreet.guarantees.types import LocalDP
from tests.randomisers.numbers import COMPARISONS, PLAIN, Law, law, make

pytestmark = pytest.mark.slow

GRIDS = (1, 2, 3, 7, 12)
EPSILONS = ("0.2", "0.61", "1", "3")


def real_epsilon(laws: list[Law]) -> float:
    """The largest logarithm of a ratio of two chances of one report; reports below 1e-20 are left to the proofs."""
    reports = {report for one in laws for report in one}
    columns = [[one.get(report, 0.0) for one in laws] for report in reports]
    return max(math.log(max(column) / min(column)) for column in columns if min(column) > 1e-20)


def moments(randomiser: GridRandomiser, chances: Law) -> tuple[float, float, float]:
    """Mean and variance of the value, and the mean of the estimated variance."""
    reports = np.array(list(chances), dtype=np.int64)
    weights = np.array(list(chances.values()))
    values, estimated = randomiser.values(reports), randomiser.variances(reports)
    mean = float(weights @ values)
    return mean, float(weights @ (values - mean) ** 2), float(weights @ estimated)


@pytest.mark.parametrize("grid", GRIDS)
@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("name", [*PLAIN, *COMPARISONS])
def test_the_real_epsilon_is_the_stated_one(name: str, epsilon: str, grid: int) -> None:
    randomiser = make(name, epsilon=epsilon, grid=grid)
    real = real_epsilon([law(randomiser, x) for x in range(grid + 1)])
    assert real <= float(epsilon) + 1e-9
    assert randomiser.guarantee() == LocalDP(epsilon=epsilon)
    if name in PLAIN:
        assert real == pytest.approx(float(epsilon), abs=1e-9)


@pytest.mark.parametrize("grid", GRIDS)
@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("name", [*PLAIN, *COMPARISONS])
def test_mean_and_variance_are_those_of_the_law(name: str, epsilon: str, grid: int) -> None:
    randomiser = make(name, epsilon=epsilon, grid=grid)
    positions = np.arange(grid + 1, dtype=np.float64)
    biases, variances = randomiser.bias(positions), randomiser.variance(positions)
    for x in range(grid + 1):
        mean, variance, estimated = moments(randomiser, law(randomiser, x))
        assert mean == pytest.approx(x + biases[x], abs=1e-8 * grid)
        assert variance == pytest.approx(variances[x], rel=1e-8, abs=1e-8)
        if name in ("laplace", "piecewise", "piecewise-wide", "bounded-laplace"):
            assert estimated == pytest.approx(variance, rel=1e-8)
        else:
            assert estimated >= variance * (1 - 1e-9)
    assert name in COMPARISONS or not biases.any()
    assert name in PLAIN or biases.any() or grid == 1


@pytest.mark.parametrize("name", [*PLAIN, *COMPARISONS])
def test_every_report_of_the_law_is_taken_and_no_other(name: str) -> None:
    randomiser = make(name, epsilon="1", grid=12)
    low, high = randomiser.report_range()
    possible = {report for x in range(13) for report, chance in law(randomiser, x).items() if chance > 1e-18}
    assert min(possible) >= low
    assert max(possible) <= high
    reports, taken = randomiser.read_reports([low, high, low - 1, high + 1, True, 1.0, "1", None, [1], {}, 10**400])
    assert taken.tolist() == [True, True] + [False] * 9
    assert reports[:2].tolist() == [low, high]
    assert randomiser.write_reports(reports[:2]) == [low, high]


@pytest.mark.parametrize("name", PLAIN)
def test_extremes_bound_every_value(name: str) -> None:
    randomiser = make(name, epsilon="1", grid=12)
    low, high = randomiser.extremes()
    first, last = randomiser.report_range()
    reports, taken = randomiser.read_reports(list(range(first, last + 1)))
    assert taken.all()
    values = randomiser.values(reports)
    assert low <= values.min() < values.max() <= high


def test_enumeration_finds_an_epsilon_that_is_too_large() -> None:
    laws = [law(make("bounded-laplace", epsilon="2", grid=7), x) for x in range(8)]
    assert real_epsilon(laws) == pytest.approx(2)
    # one normalisation for all positions, what is left going to the true one: the recipe of a careless truncation
    rate = 1 / 7
    total = math.fsum(math.exp(-rate * abs(z)) for z in range(-7, 8))
    careless: list[Law] = []
    for x in range(8):
        cut = {y: math.exp(-rate * abs(y - x)) / total for y in range(8)}
        careless.append(cut | {x: cut[x] + 1 - math.fsum(cut.values())})
    assert real_epsilon(careless) > 2


@pytest.mark.parametrize("epsilon", ["0.5", "1", "3", "5.99"])
def test_a_fine_grid_has_the_variance_of_the_piecewise_mechanism(epsilon: str) -> None:
    z = math.exp(float(epsilon) / 2)
    grid = 1_000_000
    t = np.linspace(-1, 1, 9)
    got = Piecewise(epsilon=epsilon, grid=grid).variance((1 + t) * grid / 2) / (grid / 2) ** 2
    assert got == pytest.approx(t**2 / (z - 1) + (z + 3) / (3 * (z - 1) ** 2), rel=1e-4)


@pytest.mark.parametrize("grid", [1, 10, 900, 2**31])
def test_the_half_window_is_settled_by_integers(grid: int) -> None:
    for epsilon in ("0.000001", "0.1", "1", "7.25", "50"):
        expected = grid * (-Decimal(epsilon) / 2).exp() / 2
        assert Piecewise(epsilon=epsilon, grid=grid).half_window() == int(expected)
