"""Half-widths for weighted sums of noise: at least the level, and hardly more.

A figure of a table is estimated from many noisy values, so its error is Σ coefficient · draw. The law of that sum is
taken from its characteristic function: on the lattice itself where all coefficients are equal, else after a little
bounded smoothing, which can only widen the interval.

Proof: docs/proofs/combined-noise.md
Refs:  inversion [GP51]; Chernoff's bound [Che52].
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Final

import numpy as np

from discreet.intervals.noise_laws import Floats, NoisePart, TailBound, chance_of_noise, log_characteristic, variance
from discreet.mechanisms import DiscreteGaussian, DiscreteLaplace, exact_level

__all__ = ["NoisePart", "combined_reaches", "half_width", "mean_size"]

_ROUNDING: Final = 1e-10
"""More than floating point can add to a probability worked out here."""

_SAME: Final = 1e-10
"""Coefficients are known to this relative precision: closer ones are equal, smaller influences none."""

_SMOOTHING: Final = 0.0016
"""The reach of the smoothing variable as a share of a rough half-width."""

_UNIFORMS: Final = 8
"""How many uniform variables the smoothing variable is the sum of; even, so that no term is negative."""

_COARSE: Final = 0.003
"""The same for laws that are asked for by the hundred."""

_WIDEST_LATTICE: Final = 1 << 15
_HALVINGS: Final = 26
_FEW_STEPS: Final = 4
_REMEMBERED: Final = 4096

_FAR: Final = 1e4
_PLACES: Final = 4_000
"""Where a characteristic function is read for the mean size: between 1/_FAR and _FAR over the standard deviation."""


def half_width(parts: Sequence[NoisePart], level: Decimal) -> float:
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


def mean_size(parts: Sequence[NoisePart]) -> float:
    """The mean of |Σ coefficient · (sum of `count` draws)|, for display.

    Of one draw it is the mechanism's own. Else it is that of a law without steps: right to a thousandth where the noise
    is some ten steps wide.
    """
    kept = _influential(parts)
    if not kept:
        return 0.0
    largest = max(abs(part.coefficient) for part in kept)
    return largest * _size(_gather(kept, largest))


@lru_cache(maxsize=_REMEMBERED)
def _size(parts: tuple[NoisePart, ...]) -> float:
    """2/π · ∫ (1 − φ(u))/u² du: the integrand is half the variance near 0 and 1/u² where φ has died away."""
    if len(parts) == 1 and parts[0].count == 1:
        return parts[0].mechanism.expected_absolute_error()
    square = math.fsum(part.count * part.coefficient**2 * variance(part.mechanism) for part in parts)
    angles = np.geomspace(1 / _FAR, _FAR, _PLACES) / math.sqrt(square)
    logs = np.zeros_like(angles)
    for part in parts:
        # without its lattice the law has no second peak
        logs += part.count * log_characteristic(part.mechanism, np.minimum(part.coefficient * angles, math.pi))
    heights = -np.expm1(logs) / angles
    inside = 2 * math.log(_FAR) / (_PLACES - 1) * float(heights.sum() - (heights[0] + heights[-1]) / 2)
    return 2 / math.pi * (square / 2 * float(angles[0]) + inside + 1 / float(angles[-1]))


def _influential(parts: Sequence[NoisePart]) -> list[NoisePart]:
    influences = [part.count * (part.coefficient**2 * variance(part.mechanism)) for part in parts]
    least = _SAME**2 * math.fsum(influences)
    return [part for part, influence in zip(parts, influences, strict=True) if influence > least]


def _gather(parts: Sequence[NoisePart], largest: float) -> tuple[NoisePart, ...]:
    """Sizes relative to the largest, equal ones together: tables of one form then share their answers."""
    counts: dict[tuple[float, DiscreteLaplace | DiscreteGaussian], int] = {}
    size = 1.0
    for part in sorted(parts, key=_order):
        relative = abs(part.coefficient) / largest
        if relative < size * (1 - _SAME):
            size = relative
        counts[size, part.mechanism] = counts.get((size, part.mechanism), 0) + part.count
    return tuple(NoisePart(coefficient, mechanism, count) for (coefficient, mechanism), count in counts.items())


def _order(part: NoisePart) -> tuple[float, str, Fraction]:
    return -abs(part.coefficient), part.mechanism.name, part.mechanism.scale


@lru_cache(maxsize=_REMEMBERED)
def _reach(parts: tuple[NoisePart, ...], level: Fraction) -> float:
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


def _reach_on_lattice(parts: Sequence[NoisePart], missing: float) -> int | None:
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


def _smoothed_reach(parts: Sequence[NoisePart], missing: float) -> float:
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


def _series(parts: Sequence[NoisePart], period: float, smoothing: float, allowed: float) -> tuple[Floats, Floats]:
    """Frequencies and amplitudes of P(|Z + S| ≤ r) = 2r/period + Σ amplitude · sin(frequency · r), wrapped.

    Every factor lies in [0, 1], so a term may be left out as soon as the factors so far make it small enough.
    """
    corner = _UNIFORMS * period / (2 * math.pi * smoothing)
    terms = math.ceil(corner * (2 / (math.pi * _UNIFORMS * allowed)) ** (1 / _UNIFORMS))
    numbers = np.arange(1, terms + 1, dtype=np.float64)
    amplitudes = 2 / (math.pi * numbers) * np.sinc(numbers / (math.pi * corner)) ** _UNIFORMS
    frequencies = numbers * (2 * math.pi / period)
    for part in sorted(parts, key=lambda item: -item.count * item.coefficient**2 * variance(item.mechanism)):
        kept = amplitudes > allowed / terms
        frequencies, amplitudes = frequencies[kept], amplitudes[kept]
        logs = log_characteristic(part.mechanism, part.coefficient * frequencies)
        amplitudes = amplitudes * np.exp(part.count * logs)
    return frequencies, amplitudes


# --- two noises at many distances -----------------------------------------------------------------------------------


def combined_reaches(
    first: Sequence[NoisePart], second: Sequence[NoisePart], distances: Floats, level: Fraction
) -> Floats:
    """For each distance a t with P(|X + d·Y| ≤ t) ≥ level for every d up to it, X and Y the noises of the parts.

    X is made continuous first, by a uniform variable as wide as its lattice for each size of its coefficients: it is
    then symmetric and unimodal, and the more of Y is added to it, the less likely it stays within bounds.
    """
    missing = float(1 - level)
    fixed, moving = _influential(first), _influential(second)
    lattices = sorted({abs(part.coefficient) for part in fixed})
    uniform = math.fsum(lattices) / 2
    allowed = min(missing / 200, 2e-4)
    rough, far = (np.array(item) for item in zip(*_tails(fixed, moving, distances, missing, allowed), strict=True))
    smoothing = _COARSE * (rough + uniform)
    high = rough + uniform + smoothing
    period = high + uniform + smoothing + far
    frequencies, amplitudes = _combined_series(fixed, moving, distances, lattices, period, smoothing, allowed)
    least = missing - 3 * allowed - _ROUNDING
    low, own, middle = np.zeros_like(high), high.copy(), rough / 2
    for _ in range(_FEW_STEPS):
        angles = frequencies * middle[:, None]
        beyond = np.maximum(1 - 2 * middle / period - np.sum(amplitudes * np.sin(angles), axis=1), allowed)
        slope = 2 / period + np.sum(amplitudes * frequencies * np.cos(angles), axis=1)
        enough = beyond <= least
        low, own = np.where(enough, low, middle), np.where(enough, middle, own)
        # Newton's step for the logarithm of the tail, a little beyond it
        middle = (middle + np.log(beyond / least) * beyond / np.maximum(slope, allowed / high)) * (1 + allowed)
        middle = np.where((middle > low) & (middle < own), middle, (low + own) / 2)
    return np.asarray(own + uniform + smoothing)


def _tails(
    fixed: Sequence[NoisePart], moving: Sequence[NoisePart], distances: Floats, missing: float, allowed: float
) -> Iterator[tuple[float, float]]:
    """How far the noise goes at each distance: roughly at the level, and but for what is allowed."""
    for distance in distances.tolist():
        moved = [NoisePart(distance * part.coefficient, part.mechanism, part.count) for part in moving]
        bound = TailBound([*fixed, *moved], smallest=allowed)
        yield bound.reach(missing / 2), bound.reach(allowed)


def _combined_series(
    fixed: Sequence[NoisePart],
    moving: Sequence[NoisePart],
    distances: Floats,
    lattices: Sequence[float],
    period: Floats,
    smoothing: Floats,
    allowed: float,
) -> tuple[Floats, Floats]:
    """As `_series`, a row for each distance."""
    corner = _UNIFORMS * period / (2 * math.pi * smoothing)
    terms = math.ceil(float(corner.max()) * (2 / (math.pi * _UNIFORMS * allowed)) ** (1 / _UNIFORMS))
    numbers = np.arange(1, terms + 1, dtype=np.float64)
    amplitudes = 2 / (math.pi * numbers) * np.sinc(numbers / (math.pi * corner[:, None])) ** _UNIFORMS
    frequencies = numbers * (2 * math.pi / period[:, None])
    ones = np.ones_like(distances)
    factors = [(part, ones) for part in fixed] + [(part, distances) for part in moving]
    factors.sort(
        key=lambda item: -item[0].count * float(item[1].max() * item[0].coefficient) ** 2 * variance(item[0].mechanism)
    )
    for part, scale in factors:
        angles = frequencies * (part.coefficient * scale)[:, None]
        amplitudes = amplitudes * np.exp(part.count * log_characteristic(part.mechanism, angles))
        kept = np.flatnonzero((np.abs(amplitudes) > allowed / terms).any(axis=0))
        end = int(kept[-1]) + 1 if len(kept) else 1
        frequencies, amplitudes = frequencies[:, :end], amplitudes[:, :end]
    for width in lattices:
        amplitudes = amplitudes * np.sinc(frequencies * (width / (2 * math.pi)))
    return frequencies, amplitudes
