"""The laws of combined noise as numbers: characteristic functions, tail bounds, chances of no noise at all.

Proof: docs/proofs/combined-noise.md
Refs:  [CKS20] for the discrete Gaussian; Chernoff's bound [Che52].

Floats are fine here: nothing is drawn, and what rounding can do is bounded in the note.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from discreet.mechanisms import DiscreteGaussian, DiscreteLaplace

__all__ = ["Floats", "NoisePart", "TailBound", "chance_of_noise", "log_characteristic", "variance"]

Floats = NDArray[np.float64]

_NARROW: Final = 1.0
_SUMMED: Final = np.arange(-12, 13, dtype=np.float64)
_RATES: Final = 64
_NEARLY: Final = 1 - np.geomspace(0.5, 1e-3, _RATES // 4)


@dataclass(frozen=True, slots=True)
class NoisePart:
    """`count` independent draws of one mechanism, each multiplied by the coefficient."""

    coefficient: float
    mechanism: DiscreteLaplace | DiscreteGaussian
    count: int

    def __post_init__(self) -> None:
        if not math.isfinite(self.coefficient):
            raise ValueError("a coefficient is finite")
        if self.count < 1:
            raise ValueError("a part has at least one draw")


def variance(mechanism: DiscreteLaplace | DiscreteGaussian) -> float:
    """The variance of one draw."""
    scale = float(mechanism.scale)
    if isinstance(mechanism, DiscreteLaplace):
        return _spread(scale) / 2
    if scale >= 4:
        return scale * scale  # the lattice takes off less than 1e-130 of it
    places = np.arange(1, 60, dtype=np.float64)
    weights = np.exp(-((places / scale) ** 2) / 2)
    return float(2 * np.sum(places**2 * weights) / (1 + 2 * np.sum(weights)))


def chance_of_noise(parts: Sequence[NoisePart]) -> float:
    """The probability that any draw differs from 0."""
    return -math.expm1(math.fsum(part.count * math.log1p(-_chance(part.mechanism)) for part in parts))


def _chance(mechanism: DiscreteLaplace | DiscreteGaussian) -> float:
    scale = float(mechanism.scale)
    if isinstance(mechanism, DiscreteLaplace):
        ratio = math.exp(-1 / scale)
        return 2 * ratio / (1 + ratio)
    if scale >= _NARROW:
        # The weights sum to more than the integral of the bell.
        return 1 - 1 / (scale * math.sqrt(2 * math.pi) * (1 + 3 * math.exp(-2 * (math.pi * scale) ** 2)))
    beyond = 2 * float(np.sum(np.exp(-((_SUMMED[13:] / scale) ** 2) / 2)))
    return beyond / (1 + beyond)


def log_characteristic(mechanism: DiscreteLaplace | DiscreteGaussian, angles: Floats) -> Floats:
    """The logarithm of E exp(i·angle·Z), which is real and positive for both laws."""
    scale = float(mechanism.scale)
    if isinstance(mechanism, DiscreteLaplace):
        laplace: Floats = -np.log1p(_spread(scale) * np.sin(angles / 2) ** 2)
        return laplace
    return _log_gaussian(scale, angles) if scale >= _NARROW else _log_narrow_gaussian(scale, angles)


def _spread(scale: float) -> float:
    """1 / sinh²(1/(2·scale)), without overflow for small scales or loss of digits for large ones."""
    return 4 * math.exp(-1 / scale) / math.expm1(-1 / scale) ** 2


def _log_gaussian(scale: float, angles: Floats) -> Floats:
    """By Poisson summation a row of bells at the multiples of 2π, of which the nearest three count."""
    turn = 2 * math.pi
    folded = np.abs(angles - turn * np.rint(angles / turn))
    square = scale * scale
    nearest = np.exp(-square * turn * (math.pi - folded)) + np.exp(-square * turn * (math.pi + folded))
    whole = math.log1p(2 * math.exp(-square * turn * math.pi))
    gaussian: Floats = -square * folded**2 / 2 + np.log1p(nearest) - whole
    return gaussian


def _log_narrow_gaussian(scale: float, angles: Floats) -> Floats:
    values = _SUMMED[13:]
    weights = np.exp(-((values / scale) ** 2) / 2)
    weights /= 1 + 2 * np.sum(weights)
    missing = np.zeros_like(angles)
    for value, weight in zip(values, weights, strict=True):
        if weight > 0:
            missing += 4 * weight * np.sin(value * angles / 2) ** 2
    narrow: Floats = np.log1p(-missing)
    return narrow


class TailBound:
    """Chernoff's bound on the tails of the combined noise, at a fixed list of rates."""

    def __init__(self, parts: Sequence[NoisePart], *, smallest: float) -> None:
        """`smallest` is the least tail that will be asked for: it decides which rates are worth a try."""
        self._rates = _rates(parts, math.log(2 / smallest))
        self._logs = np.zeros_like(self._rates)
        for part in parts:
            self._logs += part.count * _log_moments(part.mechanism, abs(part.coefficient) * self._rates)

    def reach(self, tail: float) -> float:
        """A T with P(|combined noise| ≥ T) ≤ tail."""
        return float(np.min((self._logs + math.log(2 / tail)) / self._rates))


def _rates(parts: Sequence[NoisePart], weight: float) -> Floats:
    """Rates around the best one for a normal law, and towards the largest that every Laplace part bears."""
    spread = math.fsum(part.count * (part.coefficient * _proxy(part.mechanism)) ** 2 for part in parts)
    normal = math.sqrt(2 * weight / spread)
    limit, highest = math.inf, 4 * normal
    for part in parts:
        scale, coefficient = float(part.mechanism.scale), abs(part.coefficient)
        if isinstance(part.mechanism, DiscreteLaplace):
            limit = min(limit, 1 / (coefficient * scale))
        elif scale < _NARROW:
            highest = max(highest, 4 / (coefficient * scale * scale))
    if math.isinf(limit):
        return np.append(np.geomspace(normal / 4, highest, _RATES), normal)
    wide = np.geomspace(min(normal, limit) / 4, limit / 2, _RATES)
    return np.append(wide, limit * _NEARLY)


def _proxy(mechanism: DiscreteLaplace | DiscreteGaussian) -> float:
    gaussian = isinstance(mechanism, DiscreteGaussian)
    return float(mechanism.scale) if gaussian else math.sqrt(variance(mechanism))


def _log_moments(mechanism: DiscreteLaplace | DiscreteGaussian, rates: Floats) -> Floats:
    """The logarithm of E exp(rate·Z), or an upper bound of it; rates stay below 1/scale for the Laplace law."""
    scale = float(mechanism.scale)
    if isinstance(mechanism, DiscreteLaplace):
        above = np.exp((rates - 1 / scale) / 2) * np.expm1(-rates) / math.expm1(-1 / scale)
        laplace: Floats = -np.log1p(-(above**2))
        return laplace
    bound: Floats = (scale * rates) ** 2 / 2
    if scale >= _NARROW:
        return bound
    # E exp(rate·Z) = exp(σ²·rate²/2) · Σ g(z − σ²·rate) / Σ g(z); the sum depends on its shift modulo 1 alone.
    shifts = scale * scale * rates
    shifts = shifts - np.rint(shifts)
    # The bell at 0 is taken out of the sum, so that it cannot underflow.
    nearest = shifts**2 / (2 * scale * scale)
    bells = np.exp((2 * shifts[:, None] * _SUMMED - _SUMMED**2) / (2 * scale * scale))
    whole = np.sum(np.exp(-(_SUMMED**2) / (2 * scale * scale)))
    narrow: Floats = np.maximum(bound - nearest + np.log(np.sum(bells, axis=1) / whole), 0)
    return narrow
