"""The laws of the randomisers of numbers, written down a second time and in another way: report by report.

A law maps each report to its chance. Laws with endless tails are cut where less than 1e-25 is left.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from discreet.collect.randomisers.bounded_laplace import BoundedLaplace
from discreet.collect.randomisers.comparisons import AbsoluteLaplace, ClippedLaplace, ModuloLaplace
from discreet.collect.randomisers.grid import GridRandomiser
from discreet.collect.randomisers.hybrid import Hybrid
from discreet.collect.randomisers.number_choice import NUMBER_RANDOMISERS, number_randomiser
from discreet.collect.randomisers.piecewise import Piecewise

Law = dict[int, float]

PLAIN = ("laplace", "duchi", "piecewise", "piecewise-wide", "hybrid", "bounded-laplace")
COMPARISONS = ("clip", "abs", "modulo")


def make(name: str, *, epsilon: str, grid: int) -> GridRandomiser:
    """A randomiser whose grid, where that matters, begins a third of its length above the measured 0."""
    return number_randomiser(name, epsilon=epsilon, grid=grid, origin=grid // 3)


def law(randomiser: GridRandomiser, x: int) -> Law:
    """The chance of each report for the position x."""
    return _LAWS[randomiser.name](randomiser, x)


def _normalised(weights: Law) -> Law:
    total = math.fsum(weights.values())
    return {report: weight / total for report, weight in weights.items()}


def _laplace(randomiser: GridRandomiser, x: int) -> Law:
    rate = float(randomiser.epsilon) / randomiser.grid
    reach = math.ceil(60 / rate)
    return _normalised({x + z: math.exp(-rate * abs(z)) for z in range(-reach, reach + 1)})


def _worked(randomiser: GridRandomiser, x: int, work: Callable[[int], int]) -> Law:
    worked: Law = {}
    for report, chance in _laplace(randomiser, x).items():
        worked[work(report)] = worked.get(work(report), 0.0) + chance
    return worked


def _clipped(randomiser: GridRandomiser, x: int) -> Law:
    return _worked(randomiser, x, lambda report: min(max(report, 0), randomiser.grid))


def _absolute(randomiser: GridRandomiser, x: int) -> Law:
    assert isinstance(randomiser, AbsoluteLaplace)
    origin = randomiser.origin
    return _worked(randomiser, x, lambda report: abs(origin + report) - origin)


def _modulo(randomiser: GridRandomiser, x: int) -> Law:
    """The formula as printed, on measured values: ((value + noise) % (max - min)) + min."""
    assert isinstance(randomiser, ModuloLaplace)
    low, high = randomiser.origin, randomiser.origin + randomiser.grid
    return _worked(randomiser, x, lambda report: ((low + report) % (high - low)) + low - low)


def _duchi(randomiser: GridRandomiser, x: int) -> Law:
    odds, share = math.exp(float(randomiser.epsilon)), x / randomiser.grid
    high = (share * odds + (1 - share)) / (odds + 1)
    return {0: 1 - high, 1: high}


def _piecewise(randomiser: GridRandomiser, x: int) -> Law:
    assert isinstance(randomiser, Piecewise)
    half, odds = randomiser.half_window(), math.exp(float(randomiser.epsilon))
    reports = range(-half, randomiser.grid + half + 1)
    return _normalised({report: odds if abs(report - x) <= half else 1.0 for report in reports})


def _hybrid(randomiser: GridRandomiser, x: int) -> Law:
    assert isinstance(randomiser, Hybrid)
    epsilon = float(randomiser.epsilon)
    coarse = math.exp(-epsilon / 2) if epsilon > 0.6093525 else 1.0
    fine = _piecewise(Piecewise(epsilon=randomiser.epsilon, grid=randomiser.grid), x)
    after = max(fine) + 1
    mixed = {report: (1 - coarse) * chance for report, chance in fine.items() if coarse < 1}
    return mixed | {after + report: coarse * chance for report, chance in _duchi(randomiser, x).items()}


def _bounded(randomiser: GridRandomiser, x: int) -> Law:
    rate = float(randomiser.epsilon) / randomiser.grid
    return _normalised({y: math.exp(-rate * abs(y - x)) for y in range(randomiser.grid + 1)})


_LAWS: dict[str, Callable[[GridRandomiser, int], Law]] = {
    "laplace": _laplace,
    "duchi": _duchi,
    "piecewise": _piecewise,
    "piecewise-wide": _piecewise,
    "hybrid": _hybrid,
    BoundedLaplace.name: _bounded,
    ClippedLaplace.name: _clipped,
    "abs": _absolute,
    "modulo": _modulo,
}

assert set(_LAWS) == {*PLAIN, *COMPARISONS} == set(NUMBER_RANDOMISERS)
