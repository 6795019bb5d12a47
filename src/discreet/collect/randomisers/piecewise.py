"""The Piecewise randomiser on a grid: a window around the position is e^ε times as likely as the rest.

Guarantee: local DP, epsilon per answer, for the respondent who gave it.
Requires:  a grid fixed before the answers are known; each respondent draws alone, once per answer.
Proof:     docs/proofs/local-numbers.md
Refs:      [WXYZ19, Algorithm 2]; the wider window [ZZY21].
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar

from discreet.collect.randomisers.grid import GridRandomiser, check_positions
from discreet.noise import Chance, Entropy, enclose_exp_minus, toss_array, uniform_array_below

if TYPE_CHECKING:
    from numpy import float64, int64
    from numpy.typing import NDArray

__all__ = ["Piecewise", "WidePiecewise"]


class Piecewise(GridRandomiser):
    """Reports y from -h to grid + h; the 2h + 1 reports around the position have e^ε times the chance of the others.

    h = ⌊grid·e^(-ε/2)/2⌋, so that fine grids have the window and the variance of [WXYZ19].
    """

    __slots__ = ()
    name: ClassVar[str] = "piecewise"
    narrowing: ClassVar[int] = 2  # the window shrinks like e^(-ε/narrowing)

    def half_window(self) -> int:
        """h, from integers alone: encoder and estimator must agree on every machine."""
        return _half_window(grid=self.grid, exponent=Fraction(self.epsilon) / self.narrowing)

    def report_range(self) -> tuple[int, int]:
        """The grid and half a window on either side."""
        h = self.half_window()
        return -h, self.grid + h

    def randomise(self, entropy: Entropy, answers: NDArray[int64]) -> NDArray[int64]:
        """One independent report for each position."""
        positions = check_positions(answers, grid=self.grid)
        h = self.half_window()
        window = 2 * h + 1
        leaves = Chance(Fraction(self.epsilon), times=self.grid, plus=self.grid, whole=window)
        outside = toss_array(entropy, leaves, count=positions.size)
        reports = positions - h
        inside = ~outside
        reports[inside] += uniform_array_below(entropy, window, count=int(inside.sum()))
        others = uniform_array_below(entropy, self.grid, count=int(outside.sum()))
        reports[outside] = others - h + window * (others >= positions[outside])
        return reports

    def values(self, reports: NDArray[Any]) -> NDArray[float64]:
        """The report's distance from the middle, divided by what of a distance survives on average: unbiased."""
        slope, _ = self._moments()
        return self._centred(reports) / slope + self.grid / 2

    def variances(self, reports: NDArray[Any]) -> NDArray[float64]:
        """An estimate for each report whose mean is exactly the variance at its position; never negative."""
        slope, spread = self._moments()
        return ((1 - slope) * self._centred(reports) ** 2 + slope * spread) / slope**2

    def variance(self, positions: NDArray[float64]) -> NDArray[float64]:
        """A square in the distance from the middle: smallest there."""
        slope, spread = self._moments()
        return (1 - slope) / slope * self._centred(positions) ** 2 + spread / slope**2

    def _moments(self) -> tuple[float, float]:
        """With τ and u as position and report from the middle: E[u] = slope·τ and E[u²] = slope·τ² + spread."""
        window = 2 * self.half_window() + 1
        reports = self.grid + window
        rate = float(self.epsilon)
        other, more = math.exp(-rate), -math.expm1(-rate)
        total = window + self.grid * other
        spread = more * window * (window**2 - 1) / 12 + other * reports * (reports**2 - 1) / 12
        return more * window / total, spread / total


class WidePiecewise(Piecewise):
    """The same with h = ⌊grid·e^(-ε/3)/2⌋: nearly the best window, where the usual one loses up to half at large ε."""

    __slots__ = ()
    name: ClassVar[str] = "piecewise-wide"
    narrowing: ClassVar[int] = 3


@lru_cache(maxsize=256)
def _half_window(*, grid: int, exponent: Fraction) -> int:
    """⌊grid·exp(-exponent)/2⌋, by enclosures refined until both ends agree; it is irrational, so they do."""
    bits = 96
    while True:
        low, high = enclose_exp_minus(exponent, bits=bits)
        below, above = (grid * end >> bits + 1 for end in (low, high))
        if below == above:
            return below
        bits *= 2
