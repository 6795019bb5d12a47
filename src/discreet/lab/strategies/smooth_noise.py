"""Discrete Laplace noise whose scale follows the data, under a smooth bound of the local sensitivity.

Guarantee: (epsilon, delta)-DP, per protected unit.
Requires:  a bound S of the local sensitivity with S(x) <= S(y) / base for all neighbours x, y, rounded up by no more
           than `SLACK` of itself; whole values.
Proof:     docs/proofs/smooth-noise.md
Refs:      [NRS07] for continuous noise.

The scale is data: only the custodian may see it, or an interval, an expected error or a time that follow from it.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Final, Self

from discreet.guarantees import ApproxDP, ExactLike, exact, exp_up, ln_up
from discreet.mechanisms import LARGEST_SCALE, DiscreteLaplace, round_up

__all__ = ["SLACK", "SmoothNoise"]

SLACK: Final = Fraction(1, 1 << 44)
"""How much of itself a bound and its scale may gain by rounding up; the base is larger by as much."""

_GRAIN: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class SmoothNoise:
    """What epsilon and delta buy: noise of scale S / `share`, of which neighbours may differ by a factor 1 + `growth`.

    A move by all of S costs `share`; the rest of epsilon pays for the change of scale, but for delta in the tails.
    """

    epsilon: Decimal
    delta: Decimal
    share: Fraction
    growth: Fraction

    def __post_init__(self) -> None:
        if not 0 < self.share < Fraction(self.epsilon):
            raise ValueError("the share lies between 0 and epsilon")
        if self.growth <= SLACK or not _suffices(self.growth, Fraction(self.epsilon) - self.share, self.delta):
            raise ValueError("this growth of the scale is not paid for by epsilon and delta")

    @classmethod
    def calibrate(cls, *, epsilon: ExactLike, delta: ExactLike) -> Self:
        """Half of epsilon for the move; the largest growth, to a millionth of it, that the other half pays for."""
        whole = exact(epsilon, parameter="epsilon")
        failure = exact(delta, parameter="delta", below=1)
        share = Fraction(whole) / 2
        return cls(whole, failure, share, _largest_growth(Fraction(whole) - share, failure))

    @property
    def guarantee(self) -> ApproxDP:
        return ApproxDP(epsilon=self.epsilon, delta=self.delta)

    @property
    def base(self) -> Fraction:
        """The b of S(x) = max over t of b^t times the local sensitivity at distance t."""
        return (1 + SLACK) / (1 + self.growth)

    def decay(self, distance: int) -> Fraction:
        """base^distance rounded up, by far less than `SLACK` of itself as long as it is above e^-1000."""
        return exp_up(distance * ln_up(self.base)) if distance else Fraction(1)

    @property
    def largest_bound(self) -> int:
        """The largest bound that noise can be drawn for. Public: what it must cut is cut for all rows alike."""
        return int(LARGEST_SCALE * self.share)

    def mechanism(self, bound: Fraction) -> DiscreteLaplace:
        """The noise for a data set of this smooth bound, in whole steps of the values."""
        return DiscreteLaplace(scale=round_up(bound / self.share))


@lru_cache(maxsize=64)
def _largest_growth(rest: Fraction, delta: Decimal) -> Fraction:
    """The largest multiple of a millionth of the rest that suffices: larger ones cost more, so halving finds it."""
    low, high = 1, _GRAIN
    while low < high:
        middle = (low + high + 1) // 2
        if _suffices(rest * middle / _GRAIN, rest, delta):
            low = middle
        else:
            high = middle - 1
    return rest * low / _GRAIN


def _suffices(growth: Fraction, rest: Fraction, delta: Decimal) -> bool:
    """Whether what is left of epsilon beside the share pays for scales that differ by 1 + growth."""
    return growth <= rest and 2 * growth / (1 + growth) * exp_up(-rest / growth) <= Fraction(delta)
