"""The Hybrid randomiser: a coin decides, before the answer is looked at, whether Piecewise or Duchi speaks.

Guarantee: local DP, epsilon per answer, for the respondent who gave it.
Requires:  a grid fixed before the answers are known; each respondent draws alone, once per answer.
Proof:     docs/proofs/local-numbers.md
Refs:      [WXYZ19, Section III-C].
"""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np

from discreet.collect.randomisers.duchi import Duchi
from discreet.collect.randomisers.grid import GridRandomiser, check_positions
from discreet.collect.randomisers.piecewise import Piecewise
from discreet.noise import Chance, Entropy, toss_array

if TYPE_CHECKING:
    from numpy import bool_, float64, int64
    from numpy.typing import NDArray

__all__ = ["Hybrid"]

# ln((-5 + 2·∛(6353 - 405√241) + 2·∛(6353 + 405√241))/27), rounded down; ε has nine decimals, so this decides exactly.
_ALWAYS_DUCHI: Final = Decimal("0.609352493027309")


class Hybrid(GridRandomiser):
    """Above ε ≈ 0.61 Piecewise with chance 1 - e^(-ε/2), else Duchi; up to there always Duchi.

    Reports of Piecewise stand as they are; Duchi's 0 and 1 follow after the largest of them.
    """

    __slots__ = ()
    name: ClassVar[str] = "hybrid"

    def report_range(self) -> tuple[int, int]:
        """Piecewise's reports, then Duchi's two."""
        low, _ = self._piecewise().report_range()
        return low, self._first_of_duchi() + 1

    def extremes(self) -> tuple[float, float]:
        """The wider of the two randomisers' extremes."""
        ends = (*self._piecewise().extremes(), *self._duchi().extremes())
        return min(ends), max(ends)

    def randomise(self, entropy: Entropy, answers: NDArray[int64]) -> NDArray[int64]:
        """One independent report for each position."""
        positions = check_positions(answers, grid=self.grid)
        coarse = self._toss(entropy, count=positions.size)
        reports = np.empty_like(positions)
        reports[coarse] = self._duchi().randomise(entropy, positions[coarse]) + self._first_of_duchi()
        reports[~coarse] = self._piecewise().randomise(entropy, positions[~coarse])
        return reports

    def values(self, reports: NDArray[Any]) -> NDArray[float64]:
        """The value of the randomiser that spoke: unbiased, since either is."""
        first = self._first_of_duchi()
        fine, coarse = self._piecewise().values(reports), self._duchi().values(reports - first)
        return np.where(reports >= first, coarse, fine)

    def variances(self, reports: NDArray[Any]) -> NDArray[float64]:
        """The estimate of the randomiser that spoke."""
        first = self._first_of_duchi()
        fine, coarse = self._piecewise().variances(reports), self._duchi().variances(reports - first)
        return np.where(reports >= first, coarse, fine)

    def variance(self, positions: NDArray[float64]) -> NDArray[float64]:
        """The two variances, weighted by the chances of the coin: both values have the same mean."""
        share = self.coarse_share()
        return share * self._duchi().variance(positions) + (1 - share) * self._piecewise().variance(positions)

    def coarse_share(self) -> float:
        """The chance that Duchi speaks."""
        return 1.0 if self._always_duchi() else math.exp(-float(self.epsilon) / 2)

    def _toss(self, entropy: Entropy, *, count: int) -> NDArray[bool_]:
        if self._always_duchi():
            return np.ones(count, dtype=np.bool_)
        return toss_array(entropy, Chance(Fraction(self.epsilon) / 2, plus=0), count=count)

    def _always_duchi(self) -> bool:
        return self.epsilon <= _ALWAYS_DUCHI

    def _first_of_duchi(self) -> int:
        return self._piecewise().report_range()[1] + 1

    def _piecewise(self) -> Piecewise:
        return Piecewise(epsilon=self.epsilon, grid=self.grid)

    def _duchi(self) -> Duchi:
        return Duchi(epsilon=self.epsilon, grid=self.grid)
