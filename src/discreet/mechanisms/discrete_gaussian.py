"""Discrete Gaussian noise for integer counts and sums.

Guarantee: zCDP, rho = squared_sensitivity / (2 * scale**2), per protected unit.
Requires:  neighbouring inputs differ by at most `squared_sensitivity` in the sum of squared differences.
Proof:     docs/proofs/discrete-gaussian.md
Refs:      [CKS20]; zCDP [BS16]; drawn by blocks of integers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Self

from discreet.guarantees import ZCDP, ExactLike, ceil_to_grid, exact
from discreet.mechanisms.mechanism import AdditiveMechanism, exact_level
from discreet.mechanisms.scale import check_scale, check_sensitivity, round_root_up

__all__ = ["DiscreteGaussian"]


@dataclass(frozen=True, slots=True)
class DiscreteGaussian(AdditiveMechanism):
    """Adds Z with P(Z = z) proportional to exp(-z**2 / (2*scale**2)). The scale is exactly a 64-bit float."""

    scale: Fraction
    name: ClassVar[str] = "discrete-gaussian"

    def __post_init__(self) -> None:
        check_scale(self.scale)

    @classmethod
    def calibrate(cls, *, squared_sensitivity: int | Fraction, rho: ExactLike) -> Self:
        """The least noise for this rho: scale = sqrt(squared_sensitivity / (2*rho)), rounded up.

        The sensitivity comes squared because sqrt(2) and its like have no exact form.
        """
        squared = check_sensitivity(squared_sensitivity, parameter="squared sensitivity")
        return cls(scale=round_root_up(squared / (2 * Fraction(exact(rho, parameter="rho")))))

    def parameters(self) -> dict[str, str]:
        """The exact parameters as text, for the ledger."""
        return {"scale": str(self.scale)}

    def guarantee(self, *, squared_sensitivity: int | Fraction) -> ZCDP:
        """What one release costs a unit that moves the values by at most this much; rounded up."""
        squared = check_sensitivity(squared_sensitivity, parameter="squared sensitivity")
        return ZCDP(rho=ceil_to_grid(squared / (2 * self.scale * self.scale)))

    def half_width(self, level: ExactLike) -> int:
        """A t with P(|noise| <= t) >= level: the smallest for scales below 32, else at most one more."""
        from discreet.noise import gaussian_half_width

        return gaussian_half_width(scale=self.scale, level=exact_level(level))

    def expected_absolute_error(self) -> float:
        """The mean of |noise|, for display."""
        sigma = float(self.scale)
        if sigma > 64:
            return sigma * math.sqrt(2 / math.pi)
        weights = [math.exp(-k * (k / sigma / sigma) / 2) for k in range(math.ceil(40 * sigma) + 2)]
        total = 2 * math.fsum(weights) - 1
        return 2 * math.fsum(k * weight for k, weight in enumerate(weights)) / total

    def load(self, count: int | None = None) -> None:
        from discreet.noise import SystemEntropy, discrete_gaussian_array  # noqa: F401

    def _draw(self, count: int) -> list[int]:
        from discreet.noise import SystemEntropy, discrete_gaussian_array

        variance = self.scale * self.scale
        drawn: list[int] = discrete_gaussian_array(SystemEntropy(), variance=variance, count=count).tolist()
        return drawn
