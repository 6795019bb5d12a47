"""Duchi's randomiser of a number: rounded at random to an end of the grid, then binary randomised response.

Guarantee: local DP, epsilon per answer, for the respondent who gave it.
Requires:  a grid fixed before the answers are known; each respondent draws alone, once per answer.
Proof:     docs/proofs/local-numbers.md
Refs:      [DJW13]; binary response [War65].
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from discreet.collect.randomisers.grid import GridRandomiser, check_positions
from discreet.noise import Entropy, respond_array, uniform_array_below

if TYPE_CHECKING:
    from numpy import float64, int64
    from numpy.typing import NDArray

__all__ = ["Duchi", "round_to_ends"]


class Duchi(GridRandomiser):
    """Reports 0 or 1; the chance of 1 rises with the position, from 1/(e^ε + 1) to e^ε/(e^ε + 1)."""

    __slots__ = ()
    name: ClassVar[str] = "duchi"

    def report_range(self) -> tuple[int, int]:
        """Low and high."""
        return 0, 1

    def randomise(self, entropy: Entropy, answers: NDArray[int64]) -> NDArray[int64]:
        """One independent report for each position."""
        positions = check_positions(answers, grid=self.grid)
        ends = round_to_ends(entropy, positions, grid=self.grid)
        return respond_array(entropy, ends, epsilon=Fraction(self.epsilon), categories=2)

    def values(self, reports: NDArray[Any]) -> NDArray[float64]:
        """The middle of the grid, less or more C half grids: unbiased."""
        return self.grid / 2 * (1 + self._stretch() * (2.0 * np.asarray(reports) - 1))

    def variances(self, reports: NDArray[Any]) -> NDArray[float64]:
        """C² half grids squared for every report: the variance in the middle, which no position exceeds.

        The true C² - t² is not the mean of any function of a report that is 0 or 1, because those means are straight in
        t; the bound is too large by t²/C².
        """
        return np.full(len(reports), (self.grid / 2 * self._stretch()) ** 2)

    def variance(self, positions: NDArray[float64]) -> NDArray[float64]:
        """C² - t² in half grids squared, t the position from -1 to 1."""
        return (self.grid / 2 * self._stretch()) ** 2 - self._centred(positions) ** 2

    def _stretch(self) -> float:
        """C = (e^ε + 1)/(e^ε - 1)."""
        return 1 / math.tanh(float(self.epsilon) / 2)


def round_to_ends(entropy: Entropy, positions: NDArray[int64], *, grid: int) -> NDArray[int64]:
    """1 with chance exactly position/grid, else 0."""
    return (uniform_array_below(entropy, grid, count=positions.size) < positions).astype(np.int64)
