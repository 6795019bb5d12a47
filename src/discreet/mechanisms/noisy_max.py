"""Choice of a candidate of nearly the highest score: the exponential mechanism, equal in law to noisy max.

Guarantee: pure DP, epsilon = 2 * sensitivity * rate, or sensitivity * rate when scores are monotone.
Requires:  each score moves by at most `sensitivity` between neighbours; candidates do not depend on the rows;
           monotone says that between two neighbours all scores move in the same direction.
Proof:     docs/proofs/noisy-max.md
Refs:      [MT07]; permute-and-flip, which it is compared with, [MS20].
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Self

from discreet.catalogue import say
from discreet.errors import ParameterInvalid
from discreet.guarantees import ExactLike, PureDP, ceil_to_grid, exact
from discreet.mechanisms.mechanism import Mechanism, exact_level
from discreet.mechanisms.scale import check_sensitivity
from discreet.noise import Choice, Run, RunArrays, SystemEntropy, select, selection_half_width

__all__ = ["NoisyMax"]


@dataclass(frozen=True, slots=True)
class NoisyMax(Mechanism):
    """Chooses a candidate with probability proportional to exp(rate * score); the rate is exact."""

    rate: Fraction
    monotone: bool = False
    name: ClassVar[str] = "noisy-max"

    def __post_init__(self) -> None:
        if not isinstance(self.rate, Fraction) or self.rate <= 0:
            raise ParameterInvalid(parameter="rate", rule=say("must be a positive fraction"), given=str(self.rate))

    @classmethod
    def calibrate(cls, *, sensitivity: int | Fraction, epsilon: ExactLike, monotone: bool = False) -> Self:
        """The sharpest choice for this epsilon."""
        spread = check_sensitivity(sensitivity) * (1 if monotone else 2)
        return cls(rate=Fraction(exact(epsilon, parameter="epsilon")) / spread, monotone=monotone)

    def parameters(self) -> dict[str, str]:
        """The exact parameters as text, for the ledger."""
        return {"rate": str(self.rate), "monotone": "true" if self.monotone else "false"}

    def guarantee(self, *, sensitivity: int | Fraction) -> PureDP:
        """What one choice costs a unit that moves each score by at most `sensitivity`; rounded up."""
        spread = check_sensitivity(sensitivity) * (1 if self.monotone else 2)
        return PureDP(epsilon=ceil_to_grid(spread * self.rate))

    def half_width(self, level: ExactLike, *, candidates: int) -> int:
        """A whole t such that the choice scores at least (best - t) with at least this probability."""
        return selection_half_width(rate=self.rate, candidates=candidates, level=exact_level(level))

    def expected_absolute_error(self, *, candidates: int) -> float:
        """An upper bound, ln(candidates) / rate, of the mean distance to the best score, for display."""
        return math.log(candidates) / float(self.rate)

    def release(self, runs: Sequence[Run] | RunArrays) -> Choice:
        """One candidate, from runs (score, how many candidates have it) with whole or fractional scores."""
        return select(SystemEntropy(), runs, rate=self.rate)
