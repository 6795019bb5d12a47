"""Half-widths for weighted sums of noise: at least the level, and hardly more.

A figure of a table is estimated from many noisy values, so its error is Σ coefficient · draw. The law of that sum is
taken from its characteristic function: on the lattice itself where all coefficients are equal, else after a little
bounded smoothing, which can only widen the interval.

Proof: docs/proofs/combined-noise.md
Refs:  inversion [GP51]; Chernoff's bound [Che52].
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Final

import numpy as np

from discreet.mechanisms.base import exact_level
from discreet.mechanisms.discrete_gaussian import DiscreteGaussian
from discreet.mechanisms.discrete_laplace import DiscreteLaplace
from discreet.tables.noiselaws import Floats, Part, TailBound, chance_of_noise, log_characteristic, variance

__all__ = ["Part", "half_width"]

_ROUNDING: Final = 1e-10
"""More than floating point can add to a probability worked out here."""

_SAME: Final = 1e-10
"""Coefficients are known to this relative precision: closer ones are equal, smaller influences none."""

_SMOOTHING: Final = 0.0016
"""The reach of the smoothing variable as a share of a rough half-width."""

_UNIFORMS: Final = 8
"""How many uniform variables the smoothing variable is the sum of; even, so that no term is negative."""

_WIDEST_LATTICE: Final = 1 << 15
_HALVINGS: Final = 26
_REMEMBERED: Final = 4096


def half_width(parts: Sequence[Part], level: Decimal) -> float:
    """A t with P(|Σ coefficient · (sum of `count` draws)| ≤ t) ≥ level, all draws independent.

    Never below the level. For one draw it is the mechanism's own half-width; where all coefficients have one size and
    the law is not too wide, the smallest t there is; else wider by at most half a per cent or so. Coefficients count as
    equal when they agree to ten digits, and what moves the sum by less than 1e-10 of its standard deviation counts
    as 0: that much is lost when an estimate is worked out in floating point.
    """
    known = exact_level(level)
    kept = _influential(parts)
    if not kept:
        return 0.0
    largest = max(abs(part.coefficient) for part in kept)
    return largest * _reach(_gather(kept, largest), known)


def _influential(parts: Sequence[Part]) -> list[Part]:
    influences = [part.count * (part.coefficient**2 * variance(part.mechanism)) for part in parts]
    least = _SAME**2 * math.fsum(influences)
    return [part for part, influence in zip(parts, influences, strict=True) if influence > least]


def _gather(parts: Sequence[Part], largest: float) -> tuple[Part, ...]:
    """Sizes relative to the largest, equal ones together: tables of one form then share their answers."""
    counts: dict[tuple[float, DiscreteLaplace | DiscreteGaussian], int] = {}
    size = 1.0
    for part in sorted(parts, key=_order):
        relative = abs(part.coefficient) / largest
        if relative < size * (1 - _SAME):
            size = relative
        counts[size, part.mechanism] = counts.get((size, part.mechanism), 0) + part.count
    return tuple(Part(coefficient, mechanism, count) for (coefficient, mechanism), count in counts.items())


def _order(part: Part) -> tuple[float, str, Fraction]:
    return -abs(part.coefficient), part.mechanism.name, part.mechanism.scale


@lru_cache(maxsize=_REMEMBERED)
def _reach(parts: tuple[Part, ...], level: Fraction) -> float:
    if len(parts) == 1 and parts[0].count == 1:
        return float(parts[0].mechanism.half_width(level))
    missing = float(1 - level)
    if chance_of_noise(parts) <= missing * (1 - _SAME):
        return 0.0
    if all(part.coefficient == 1 for part in parts):
        on_lattice = _reach_on_lattice(parts, missing)
        if on_lattice is not None:
            return float(on_lattice)
    return _smoothed_reach(parts, missing)


def _reach_on_lattice(parts: Sequence[Part], missing: float) -> int | None:
    """The smallest whole t for a plain sum of draws, unless its law is too wide to be written down.

    The discrete Fourier transform of the characteristic function is the law wrapped around a circle; what was wrapped
    comes from beyond its circumference, less than `beyond` in all.
    """
    beyond = missing * 1e-6
    tails = TailBound(parts, smallest=beyond)
    farthest = math.floor(tails.reach(missing / 2))
    needed = farthest + tails.reach(beyond) + 1
    if needed > _WIDEST_LATTICE:
        return None
    around = 1 << max(4, math.ceil(math.log2(needed)))
    angles = np.arange(around // 2 + 1, dtype=np.float64) * (2 * math.pi / around)
    logs = np.zeros_like(angles)
    for part in parts:
        logs += part.count * log_characteristic(part.mechanism, angles)
    law = np.fft.irfft(np.exp(logs), around)[: farthest + 1]
    covered = 2 * np.cumsum(law) - law[0]
    enough = np.flatnonzero(covered >= 1 - missing + beyond + _ROUNDING)
    return int(enough[0]) if len(enough) else farthest


def _smoothed_reach(parts: Sequence[Part], missing: float) -> float:
    """With S a smoothing variable, |S| ≤ s: P(|Z| ≤ r + s) ≥ P(|Z + S| ≤ r), and that is a quick series in r."""
    allowed = min(missing / 1000, 1e-4)
    tails = TailBound(parts, smallest=allowed)
    rough = tails.reach(missing / 2)
    smoothing = _SMOOTHING * rough
    high = rough + smoothing
    period = high + smoothing + tails.reach(allowed)
    frequencies, amplitudes = _series(parts, period, smoothing, allowed)
    # Three allowances: for what is wrapped around the period, for the end of the series, for small terms left out.
    wanted = 1 - missing + 3 * allowed + _ROUNDING
    low = 0.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        covered = 2 * middle / period + float(amplitudes @ np.sin(frequencies * middle))
        low, high = (low, middle) if covered >= wanted else (middle, high)
    return high + smoothing


def _series(parts: Sequence[Part], period: float, smoothing: float, allowed: float) -> tuple[Floats, Floats]:
    """Frequencies and amplitudes of P(|Z + S| ≤ r) = 2r/period + Σ amplitude · sin(frequency · r), wrapped.

    Every factor lies in [0, 1], so a term may be left out as soon as the factors so far make it small enough.
    """
    corner = _UNIFORMS * period / (2 * math.pi * smoothing)
    terms = math.ceil(corner * (2 / (math.pi * _UNIFORMS * allowed)) ** (1 / _UNIFORMS))
    numbers = np.arange(1, terms + 1, dtype=np.float64)
    amplitudes = 2 / (math.pi * numbers) * np.sinc(numbers / (math.pi * corner)) ** _UNIFORMS
    frequencies = numbers * (2 * math.pi / period)
    for part in sorted(parts, key=lambda one: -one.count * one.coefficient**2 * variance(one.mechanism)):
        kept = amplitudes > allowed / terms
        frequencies, amplitudes = frequencies[kept], amplitudes[kept]
        logs = log_characteristic(part.mechanism, part.coefficient * frequencies)
        amplitudes = amplitudes * np.exp(part.count * logs)
    return frequencies, amplitudes
