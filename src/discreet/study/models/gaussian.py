"""Totals under discrete Gaussian noise, for no more of an (ε, δ) budget than Laplace noise at the same ε: as in tables.

Guarantee: zCDP; all columns together within the study's (epsilon, delta), or each of them.
Requires:  as for Laplace noise; squared sensitivities are those of one respondent.
Proof:     docs/proofs/discrete-gaussian.md, docs/adr/0012-gaussian-tables.md
Refs:      [CKS20], [BS16].
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from discreet.errors import Refused
from discreet.guarantees.budget import Budget
from discreet.guarantees.numbers import floor_to_grid
from discreet.ledger.accounting import RHO_UNIT, caps, rho_cap
from discreet.mechanisms.discrete_gaussian import DiscreteGaussian
from discreet.noise.entropy import Entropy
from discreet.noise.gaussian import discrete_gaussian
from discreet.study.frame import Answers, Frame
from discreet.study.models.central import SUM_SHARE, NoisyTotals, reach_of_sum

if TYPE_CHECKING:
    from numpy import float64
    from numpy.typing import NDArray

__all__ = ["GaussianTotals", "gaussian_rho"]


@lru_cache(maxsize=4096)
def gaussian_rho(epsilon: Fraction, *, budget: Decimal, delta: Decimal) -> Fraction:
    """The ρ that a table at ε gets under a budget (budget, delta): at most ε²/2, and at most ε's part of its ρ."""
    cap = caps(Budget(epsilon=budget, delta=delta))[0]
    part = rho_cap(cap) * RHO_UNIT * epsilon / Fraction(budget)
    return min(epsilon**2 / 2, part)


@dataclass(frozen=True, slots=True)
class GaussianTotals(NoisyTotals):
    """The same totals under Gaussian noise; `budget` and `delta` are what all columns together, or each, may cost."""

    budget: Decimal
    delta: Decimal

    def draw(self, entropy: Entropy, scale: Fraction, count: int) -> list[int]:
        return [discrete_gaussian(entropy, variance=scale * scale) for _ in range(count)]

    def half_width(self, scale: Fraction, level: Fraction) -> int:
        return _half_width(scale, level)

    def error(self, scale: Fraction) -> float:
        return DiscreteGaussian(scale).expected_absolute_error()

    def joint_error(self, first: NDArray[float64], second: NDArray[float64]) -> NDArray[float64]:
        """Two normal variables add up to a normal one."""
        error: NDArray[float64] = math.sqrt(2 / math.pi) * np.hypot(first, second)
        return error

    def histogram_scales(self, frame: Frame, answers: Answers, epsilon: Fraction) -> list[Fraction]:
        return [self._scale(self.moved * int(cap) ** 2, epsilon) for cap in frame.caps]

    def mean_scales(self, frame: Frame, answers: Answers, epsilon: Fraction) -> tuple[list[Fraction], list[Fraction]]:
        sums = [self._scale((self.moved * int(cap) * answers.size) ** 2, epsilon, SUM_SHARE) for cap in frame.caps]
        return sums, [self._scale(int(cap) ** 2, epsilon, 1 - SUM_SHARE) for cap in frame.caps]

    def sum_scales(self, frame: Frame, answers: Answers, epsilon: Fraction) -> list[Fraction]:
        reach = reach_of_sum(answers, moved=self.moved)
        return [self._scale((int(cap) * reach) ** 2, epsilon) for cap in frame.caps]

    def _scale(self, squared: int, epsilon: Fraction, share: Fraction = Fraction(1)) -> Fraction:
        rho = floor_to_grid(gaussian_rho(epsilon, budget=self.budget, delta=self.delta) * share)
        if not rho:
            raise Refused(
                "Gaussian noise needs a larger ε or δ: a column's share of them leaves no ρ. Ask for fewer columns."
            )
        return DiscreteGaussian.calibrate(squared_sensitivity=squared, rho=rho).scale


@lru_cache(maxsize=4096)
def _half_width(scale: Fraction, level: Fraction) -> int:
    return DiscreteGaussian(scale).half_width(Decimal(level.numerator) / Decimal(level.denominator))
