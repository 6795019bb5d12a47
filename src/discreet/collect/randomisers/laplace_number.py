"""Discrete Laplace noise on a position: the plainest randomiser of a number.

Guarantee: local DP, epsilon per answer, for the respondent who gave it.
Requires:  a grid fixed before the answers are known; each respondent draws alone, once per answer.
Proof:     docs/proofs/local-numbers.md
Refs:      [DMNS06], [GRS12].
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np

from discreet.collect.randomisers.grid import GridRandomiser, check_positions
from discreet.noise import Entropy, discrete_laplace_array

if TYPE_CHECKING:
    from numpy import float64, int64
    from numpy.typing import NDArray

__all__ = ["LaplaceNumber", "decay", "laplace_scale", "laplace_variance"]

_REACH: Final = 45  # noise beyond 45 scales has a chance below 2**-64


class LaplaceNumber(GridRandomiser):
    """Reports x + Z with P(Z = z) proportional to exp(-|z|·ε/grid)."""

    __slots__ = ()
    name: ClassVar[str] = "laplace"

    def report_range(self) -> tuple[int, int]:
        """45 scales beyond the grid: an honest report is refused with a chance below 2**-64."""
        reach = math.ceil(_REACH * laplace_scale(self))
        return -reach, self.grid + reach

    def randomise(self, entropy: Entropy, answers: NDArray[int64]) -> NDArray[int64]:
        """One independent report for each position."""
        positions = check_positions(answers, grid=self.grid)
        return positions + discrete_laplace_array(entropy, scale=laplace_scale(self), count=positions.size)

    def values(self, reports: NDArray[Any]) -> NDArray[float64]:
        """The report itself is unbiased."""
        return np.asarray(reports, dtype=np.float64)

    def variances(self, reports: NDArray[Any]) -> NDArray[float64]:
        """The variance of the noise, the same for every report."""
        return np.full(len(reports), laplace_variance(self))

    def variance(self, positions: NDArray[float64]) -> NDArray[float64]:
        """The variance of the noise, the same at every position."""
        return np.full(np.shape(positions), laplace_variance(self))


def laplace_scale(randomiser: GridRandomiser) -> Fraction:
    """The exact scale grid/ε of noise whose sensitivity is the whole grid."""
    return Fraction(randomiser.grid) / Fraction(randomiser.epsilon)


def decay(randomiser: GridRandomiser) -> tuple[float, float]:
    """a = exp(-1/scale) and 1 - a, the second without cancellation."""
    rate = float(randomiser.epsilon) / randomiser.grid
    return math.exp(-rate), -math.expm1(-rate)


def laplace_variance(randomiser: GridRandomiser) -> float:
    """The variance 2a/(1-a)² of discrete Laplace noise."""
    a, rest = decay(randomiser)
    return 2 * a / rest**2
