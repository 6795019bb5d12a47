"""Intervals of means: the law of (noisy total − m · noisy size) turned round, for all cells at once.

At the exact mean m, a distance d from the centre, noisy total − d · noisy size is noise alone, and its law is known.
The values m that this law does not speak against are the confidence set; its hull within the column's bounds is the
interval.

Proof: docs/proofs/mean.md
Refs:  the set of a ratio [Fie54]; monotone in d by [And55]; inversion of the law as in `halfwidths`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from typing import Final

import numpy as np

from discreet.intervals.half_widths import combined_reaches, half_width
from discreet.intervals.noise_laws import Floats, NoisePart, variance
from discreet.mechanisms import exact_level
from discreet.sql import Mean

__all__ = ["MeanLaw", "mean_law"]

_STEP: Final = 1.025
"""How much wider the next distance of the list may make the noise: a reach is too wide by at most as much."""

_MOST_STEPS: Final = 150
_LITTLE: Final = 0.5
_AT_ONCE: Final = 512
_NO_SIZE: Final = 1e-200


@dataclass(frozen=True, slots=True, eq=False)
class MeanLaw:
    """How far total − distance · size may lie from 0, in steps of the total.

    Distances are those of the mean from its centre, in steps of the total for each step of the size; they rise, and
    `reaches` at a place holds for all distances up to that one.
    """

    mean: Mean
    distances: Floats
    reaches: Floats

    @property
    def _unit(self) -> float:
        return float(self.mean.total_step / self.mean.size_step)

    def intervals(self, totals: Floats, sizes: Floats) -> tuple[Floats, Floats]:
        """Both ends for the noisy totals and sizes of some cells, in steps; the bounds where no value is left.

        They hold the mean as it is shown, which an end of the bounds may have moved.
        """
        low, high = (float(end - self.mean.centre) / self._unit for end in (self.mean.low, self.mean.high))
        found = [
            self._hulls(totals[start : start + _AT_ONCE], sizes[start : start + _AT_ONCE], low, high)
            for start in range(0, len(totals), _AT_ONCE)
        ]
        lows, highs = (
            np.concatenate([np.empty(0), *parts]) for parts in (zip(*found, strict=True) if found else ((), ()))
        )
        nothing = lows > highs
        ends = (float(self.mean.low), float(self.mean.high))
        shown = np.clip(self.estimates(totals, sizes), *ends)
        lows = np.where(nothing | (lows <= low), ends[0], float(self.mean.centre) + lows * self._unit)
        highs = np.where(nothing | (highs >= high), ends[1], float(self.mean.centre) + highs * self._unit)
        return _outwards(np.minimum(lows, shown), lows, ends[0]), _outwards(np.maximum(highs, shown), highs, ends[1])

    def estimates(self, totals: Floats, sizes: Floats) -> Floats:
        """The means before they are moved into the bounds."""
        size = np.maximum(sizes * float(self.mean.size_step), float(self.mean.floor))
        result: Floats = float(self.mean.centre) + totals * float(self.mean.total_step) / size
        return result

    def half_widths(self, totals: Floats, sizes: Floats) -> Floats:
        """How far the estimates may be off to first order, bounds or not: the reach at the estimate over the size."""
        size = np.maximum(sizes, float(self.mean.floor / self.mean.size_step))
        distances = np.abs(totals) / size
        indices = np.minimum(np.searchsorted(self.distances, distances), len(self.distances) - 1)
        beyond = np.maximum(distances / self.distances[-1], 1)
        result: Floats = self.reaches[indices] * beyond / size * self._unit
        return result

    def _hulls(self, totals: Floats, sizes: Floats, low: float, high: float) -> tuple[Floats, Floats]:
        """The least and the largest distance that is not spoken against, with its sign; none where they cross."""
        sizes = np.where(sizes == 0, _NO_SIZE, sizes)
        lows, highs = np.full(len(totals), np.inf), np.full(len(totals), -np.inf)
        # a row for each distance: what its reach leaves, on either side of the centre from the last distance to it
        reaches = self.reaches[:, None]
        ends = (totals - reaches) / sizes, (totals + reaches) / sizes
        first, last = np.minimum(*ends), np.maximum(*ends)
        far, near = self.distances, np.append(0.0, self.distances[:-1])
        for left, right in ((near, far), (-far, -near)):
            least = np.maximum(first, np.maximum(left, low)[:, None])
            most = np.minimum(last, np.minimum(right, high)[:, None])
            held = least <= most
            lows = np.minimum(lows, np.min(least, axis=0, initial=np.inf, where=held))
            highs = np.maximum(highs, np.max(most, axis=0, initial=-np.inf, where=held))
        return lows, highs


def _outwards(ends: Floats, unmoved: Floats, bound: float) -> Floats:
    """An end that was moved to the value shown goes one float further, that value being rounded elsewhere."""
    return np.where(ends == unmoved, ends, np.nextafter(ends, bound))


def mean_law(mean: Mean, total: Sequence[NoisePart], size: Sequence[NoisePart], level: Decimal) -> MeanLaw:
    """The law for noise of these parts, in steps of the total and of the size; no parts mean no noise."""
    farthest = max(mean.high - mean.centre, mean.centre - mean.low) * mean.size_step / mean.total_step
    return MeanLaw(mean, *_reaches(tuple(total), tuple(size), float(farthest), level))


@lru_cache(maxsize=512)
def _reaches(
    total: tuple[NoisePart, ...], size: tuple[NoisePart, ...], farthest: float, level: Decimal
) -> tuple[Floats, Floats]:
    """Distances up to the farthest, and the reach of the noise that holds up to each; a noisy mean reaches a step."""
    moved, weighed = _deviation(total), _deviation(size)
    if not weighed:
        reach = max(half_width(total, level), 1.0) if moved else 0.0
        return np.array([farthest]), np.array([reach])
    distances = _distances(moved or _LITTLE, weighed, farthest)
    if moved:
        reaches = combined_reaches(total, size, distances, exact_level(level))
    else:
        reaches = distances * half_width(size, level)
    return distances, np.maximum(np.maximum.accumulate(reaches), 1.0)


def _deviation(parts: Sequence[NoisePart]) -> float:
    return math.sqrt(math.fsum(item.count * item.coefficient**2 * variance(item.mechanism) for item in parts))


def _distances(total: float, size: float, farthest: float) -> Floats:
    """Distances at which the standard deviation of the noise has grown by equal parts; the last is the farthest."""
    growth = math.log(math.hypot(total, size * farthest) / total)
    count = min(max(1, math.ceil(growth / math.log(_STEP))), _MOST_STEPS)
    wanted = np.exp(np.arange(1, count + 1) * (growth / count))
    distances: Floats = total / size * np.sqrt(wanted**2 - 1)
    distances[-1] = farthest
    return distances
