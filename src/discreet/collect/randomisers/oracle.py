"""What the randomisers of categories share: their limits, their coins, and how far off an estimated count may be.

Concrete randomisers state the channel and draw it; whatever follows from the channel alone is here, once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np

from discreet.catalogue import say
from discreet.collect.randomisers.randomiser import Channel, FrequencyOracle
from discreet.errors import ParameterInvalid
from discreet.guarantees import DIGITS, ExactLike, exact, exp_down, exp_up, shown, text

if TYPE_CHECKING:
    from numpy import int64
    from numpy.typing import NDArray

__all__ = ["CategoryOracle", "check_answers", "settle_by_odds", "variance_per_report"]

_LARGEST_EPSILON: Final = 50
_LARGEST_CATEGORIES: Final = 1 << 16


@dataclass(frozen=True, slots=True, init=False)
class CategoryOracle(FrequencyOracle):
    """A frequency oracle that is fixed by epsilon and the number of categories, and checks both when built."""

    epsilon: Decimal
    categories: int
    largest_epsilon: ClassVar[int] = _LARGEST_EPSILON
    largest_categories: ClassVar[int] = _LARGEST_CATEGORIES

    def __init__(self, *, epsilon: ExactLike, categories: int) -> None:
        chosen = exact(epsilon, parameter="epsilon")
        broken = self._broken_limit(chosen, categories)
        if broken is not None:
            raise broken
        object.__setattr__(self, "epsilon", chosen)
        object.__setattr__(self, "categories", categories)

    @classmethod
    def objection(cls, *, epsilon: Decimal, categories: int) -> str | None:
        """Why this randomiser does not support such a question; None when it does."""
        broken = cls._broken_limit(epsilon, categories)
        return None if broken is None else broken.message

    @classmethod
    def _broken_limit(cls, epsilon: Decimal, categories: object) -> ParameterInvalid | None:
        """The error for a parameter that breaks a rule; None when both keep theirs."""
        if not epsilon.is_finite() or not 0 < epsilon <= cls.largest_epsilon:
            rule = say("of '{name}' must be above 0 and at most {most}", name=cls.name, most=cls.largest_epsilon)
            given = text(epsilon) if epsilon.is_finite() else str(epsilon)
            return ParameterInvalid(parameter="epsilon", rule=rule, given=given)
        whole = isinstance(categories, int) and not isinstance(categories, bool)
        if not whole or not 2 <= categories <= cls.largest_categories:  # type: ignore[operator]
            rule = say(
                "of '{name}' must be a whole number from 2 to {most}", name=cls.name, most=cls.largest_categories
            )
            return ParameterInvalid(parameter="categories", rule=rule, given=shown(categories))
        return None

    def parameters(self) -> dict[str, str]:
        """The exact parameters as text, for manifests and studies."""
        return {"epsilon": text(self.epsilon), "categories": str(self.categories)}

    def count(self, reports: NDArray[Any]) -> NDArray[int64]:
        """How many of the reports support each category."""
        people = np.ones(len(reports), dtype=np.int64)
        tally = self.tally(reports, cells=np.zeros_like(people), weights=people, number=1)
        return tally.support.reshape(-1)

    def expected_variance(self, *, share: float = 0.0) -> float:
        """The variance that one report of weight 1 adds to an estimated count, for a category of this share."""
        return variance_per_report(self.channel(), share=share)


def variance_per_report(channel: Channel, *, share: float) -> float:
    """[q(1-q) + (p-q)(1-p-q)·share] / (p-q)², given the answers (docs/proofs/local-categories.md)."""
    if not 0 <= share <= 1:
        raise ValueError("a share lies between 0 and 1")
    p, q = channel.p, channel.q
    return (q * (1 - q) + (p - q) * (1 - p - q) * share) / (p - q) ** 2


def settle_by_odds(rule: Callable[[Fraction], int], *, epsilon: Decimal) -> int:
    """The integer that a monotone rule gives at e^epsilon.

    Steps of the rule must lie at rational numbers: e^epsilon is irrational, so narrowing its bounds always ends.
    """
    digits = DIGITS
    while True:
        low, high = (rule(bound) for bound in _bound_odds(epsilon, digits))
        if low == high:
            return low
        digits *= 2


@lru_cache(maxsize=256)
def _bound_odds(epsilon: Decimal, digits: int) -> tuple[Fraction, Fraction]:
    """e^epsilon from below and from above."""
    exponent = Fraction(epsilon)
    return exp_down(exponent, digits=digits), exp_up(exponent, digits=digits)


def check_answers(answers: NDArray[Any], *, categories: int) -> NDArray[int64]:
    """The answers as 64-bit integers, once it is known that each is a category."""
    if answers.dtype.kind not in "iu" or answers.ndim != 1:
        raise TypeError("answers are a one-dimensional array of integers")
    given = answers.astype(np.int64)
    # what is below zero is huge without its sign, and so is what 64 bits with a sign cannot hold
    if given.size and given.view(np.uint64).max() >= categories:
        raise ValueError("answers lie between 0 and the number of categories less one")
    return given
