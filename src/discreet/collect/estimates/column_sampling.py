"""One total epsilon over several questions: each respondent answers a few of them well, or all of them faintly.

Guarantee: local DP, at most the total epsilon for each respondent over all questions together.
Requires:  which questions a respondent answers is drawn before and without a look at the answers; it may be public.
Proof:     docs/proofs/local-estimates.md
Refs:      [WXYZ19] Section IV for the number of questions; [HT52] for estimates from them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Final

import numpy as np

from discreet.catalogue import say
from discreet.errors import ParameterInvalid
from discreet.guarantees import GRID, ExactLike, exact, floor_to_grid
from discreet.noise import Entropy, uniform_array_below

if TYPE_CHECKING:
    from numpy import bool_
    from numpy.typing import NDArray

__all__ = ["LARGEST_COLUMNS", "SamplingPlan", "expected_gain", "sample_columns", "split_columns"]

LARGEST_COLUMNS: Final = 10_000
_WORTH: Final = Fraction(5, 2)


@dataclass(frozen=True, slots=True)
class SamplingPlan:
    """Every respondent answers `asked` of the `columns`, each at the epsilon `each`; together at most `epsilon`."""

    epsilon: Decimal
    columns: int
    asked: int

    def __init__(self, *, epsilon: ExactLike, columns: int, asked: int) -> None:
        if isinstance(columns, bool) or not 1 <= columns <= LARGEST_COLUMNS:
            rule = say("must lie between 1 and {most}", most=LARGEST_COLUMNS)
            raise ParameterInvalid(parameter="columns", rule=rule, given=str(columns))
        if isinstance(asked, bool) or not 1 <= asked <= columns:
            raise ParameterInvalid(
                parameter="asked", rule=say("must lie between 1 and {most}", most=columns), given=str(asked)
            )
        total = exact(epsilon, parameter="epsilon")
        if Fraction(total) / asked < GRID:
            raise ParameterInvalid(
                parameter="epsilon", rule=say("must be at least {asked}e-9", asked=asked), given=str(total)
            )
        object.__setattr__(self, "epsilon", total)
        object.__setattr__(self, "columns", columns)
        object.__setattr__(self, "asked", asked)

    @property
    def each(self) -> Decimal:
        """The epsilon of one answer, rounded down, so that all of them stay within the total."""
        return floor_to_grid(Fraction(self.epsilon) / self.asked)

    @property
    def inclusion(self) -> Fraction:
        """The chance that a respondent is asked a given column."""
        return Fraction(self.asked, self.columns)

    @property
    def pair_inclusion(self) -> Fraction:
        """The chance that a respondent is asked two given columns; 0 when one column is asked of many."""
        if self.columns == 1:
            return Fraction(0)
        return Fraction(self.asked * (self.asked - 1), self.columns * (self.columns - 1))

    def draw(self, entropy: Entropy, *, respondents: int) -> NDArray[bool_]:
        """Which columns each respondent is asked: respondents × columns, every choice equally likely."""
        asked = np.zeros((respondents, self.columns), dtype=np.bool_)
        if self.asked == self.columns:
            return ~asked
        order = np.tile(np.arange(self.columns, dtype=np.int32), (respondents, 1))
        people = np.arange(respondents)
        for index in range(self.asked):
            chosen = index + uniform_array_below(entropy, self.columns - index, count=respondents)
            picked = order[people, chosen]
            order[people, chosen] = order[:, index]
            asked[people, picked] = True
        return asked


def sample_columns(*, epsilon: ExactLike, columns: int) -> SamplingPlan:
    """The default: max(1, min(columns, ⌊epsilon / 2.5⌋)) columns of each respondent."""
    total = exact(epsilon, parameter="epsilon")
    return SamplingPlan(
        epsilon=total, columns=columns, asked=max(1, min(columns, math.floor(Fraction(total) / _WORTH)))
    )


def split_columns(*, epsilon: ExactLike, columns: int) -> SamplingPlan:
    """Every column of every respondent, each at its equal part of epsilon."""
    return SamplingPlan(epsilon=epsilon, columns=columns, asked=columns)


def expected_gain(
    *, epsilon: ExactLike, columns: int, variance: Callable[[Decimal], float], mean_square: float
) -> float:
    """How many times smaller the variance of an estimate is when columns are sampled than when epsilon is split.

    `variance` gives that of one unbiased report at an epsilon; `mean_square` is the mean square of the truth behind
    the reports, a share for a category. Leaving people out costs its part of it.
    """
    sampled, split = sample_columns(epsilon=epsilon, columns=columns), split_columns(epsilon=epsilon, columns=columns)
    chance = float(sampled.inclusion)
    return variance(split.each) / ((variance(sampled.each) + mean_square) / chance - mean_square)
