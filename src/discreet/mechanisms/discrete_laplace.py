"""Two-sided geometric (discrete Laplace) noise for integer counts and sums.

Guarantee: pure DP, epsilon = sensitivity / scale, per protected unit.
Requires:  neighbouring inputs differ by at most `sensitivity` in the sum of absolute differences.
Proof:     docs/proofs/discrete-laplace.md
Refs:      [DMNS06], [GRS12]; drawn by independent binary digits.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Self

from discreet.guarantees import ExactLike, PureDP, ceil_to_grid, exact
from discreet.mechanisms.mechanism import AdditiveMechanism, exact_level
from discreet.mechanisms.scale import check_scale, check_sensitivity, round_up

__all__ = ["DiscreteLaplace"]


@dataclass(frozen=True, slots=True)
class DiscreteLaplace(AdditiveMechanism):
    """Adds Z with P(Z = z) proportional to exp(-|z|/scale). The scale is exactly a 64-bit float."""

    scale: Fraction
    name: ClassVar[str] = "discrete-laplace"

    def __post_init__(self) -> None:
        check_scale(self.scale)

    @classmethod
    def calibrate(cls, *, sensitivity: int | Fraction, epsilon: ExactLike) -> Self:
        """The least noise for this epsilon: scale = sensitivity / epsilon, rounded up."""
        distance = check_sensitivity(sensitivity)
        return cls(scale=round_up(distance / Fraction(exact(epsilon, parameter="epsilon"))))

    def parameters(self) -> dict[str, str]:
        """The exact parameters as text, for the ledger."""
        return {"scale": str(self.scale)}

    def guarantee(self, *, sensitivity: int | Fraction) -> PureDP:
        """What one release costs a unit that moves the values by at most `sensitivity`; rounded up."""
        return PureDP(epsilon=ceil_to_grid(check_sensitivity(sensitivity) / self.scale))

    def half_width(self, level: ExactLike) -> int:
        """The smallest t with P(|noise| <= t) >= level."""
        from discreet.noise import laplace_half_width

        return laplace_half_width(scale=self.scale, level=exact_level(level))

    def expected_absolute_error(self) -> float:
        """The mean of |noise|, 1 / sinh(1/scale), for display."""
        rate = float(1 / self.scale)
        return 1 / math.sinh(rate) if rate < 700 else 0.0

    def load(self, count: int | None = None) -> None:
        from discreet.noise import SystemEntropy, discrete_laplace_many  # noqa: F401

    def _draw(self, count: int) -> list[int]:
        from discreet.noise import SystemEntropy, discrete_laplace_many

        return discrete_laplace_many(SystemEntropy(), scale=self.scale, count=count)
