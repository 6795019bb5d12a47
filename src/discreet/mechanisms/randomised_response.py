"""k-ary randomised response: the true category, or now and then another one.

Guarantee: local DP, epsilon per answer, for the respondent who gave it.
Requires:  categories fixed before the answers are known; each respondent draws alone, once per answer.
Proof:     docs/proofs/randomised-response.md
Refs:      [War65], [KOV16].
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

from discreet.errors import ParameterInvalid
from discreet.guarantees.numbers import ExactLike, exact, text
from discreet.guarantees.types import LocalDP
from discreet.mechanisms.base import Mechanism, exact_level
from discreet.noise.entropy import SystemEntropy
from discreet.noise.response import LARGEST_CATEGORIES, respond, respond_array

if TYPE_CHECKING:
    from numpy import int64
    from numpy.typing import NDArray

__all__ = ["RandomisedResponse"]


@dataclass(frozen=True, slots=True)
class RandomisedResponse(Mechanism):
    """Reports the answer with probability e^ε / (e^ε + categories - 1), else another one, uniformly."""

    epsilon: Decimal
    categories: int
    name: ClassVar[str] = "randomised-response"

    def __init__(self, *, epsilon: ExactLike, categories: int) -> None:
        if isinstance(categories, bool) or not 2 <= categories <= LARGEST_CATEGORIES:
            rule = f"must lie between 2 and {LARGEST_CATEGORIES}"
            raise ParameterInvalid(parameter="categories", rule=rule, came=str(categories))
        object.__setattr__(self, "epsilon", exact(epsilon, parameter="epsilon"))
        object.__setattr__(self, "categories", categories)

    def parameters(self) -> dict[str, str]:
        """The exact parameters as text, for the ledger."""
        return {"epsilon": text(self.epsilon), "categories": str(self.categories)}

    def guarantee(self) -> LocalDP:
        """What one report costs its respondent."""
        return LocalDP(epsilon=self.epsilon)

    def support_probabilities(self) -> tuple[float, float]:
        """The chance that a report names a category when it is the true one, and when it is not."""
        decay = math.exp(-float(self.epsilon))
        total = 1 + (self.categories - 1) * decay
        return 1 / total, decay / total

    def estimate(self, counts: Sequence[int]) -> list[float]:
        """Unbiased estimates of the true counts from the counts of reports; they may be negative."""
        _, lie = self.support_probabilities()
        respondents = sum(counts)
        return [(count - respondents * lie) / self._contrast() for count in counts]

    def half_width(self, level: ExactLike, *, respondents: int) -> int:
        """A reach around an estimated count that holds the true one with at least this probability.

        The smaller of Hoeffding's and Bernstein's bounds: valid for every number of respondents, and wider
        than a plug-in normal interval.
        """
        log_term = math.log(2 / float(1 - exact_level(level)))
        keep, lie = self.support_probabilities()
        variance = respondents * max(keep * (1 - keep), lie * (1 - lie))
        hoeffding = math.sqrt(respondents * log_term / 2)
        bernstein = log_term / 3 + math.sqrt(log_term**2 / 9 + 2 * variance * log_term)
        return math.ceil(min(hoeffding, bernstein) / self._contrast() * (1 + 1e-9))

    def expected_absolute_error(self, *, respondents: int, share: float) -> float:
        """The mean error of an estimated count, for a category of this share; normal law, for display."""
        keep, lie = self.support_probabilities()
        per_person = share * keep * (1 - keep) + (1 - share) * lie * (1 - lie)
        return math.sqrt(2 / math.pi * respondents * per_person) / self._contrast()

    def release(self, answers: Sequence[int]) -> list[int]:
        """A report for each answer in {0, ..., categories-1}."""
        entropy, epsilon = SystemEntropy(), Fraction(self.epsilon)
        return [respond(entropy, answer, epsilon=epsilon, categories=self.categories) for answer in answers]

    def release_array(self, answers: NDArray[Any]) -> NDArray[int64]:
        """The same for an integer array, many answers at once."""
        return respond_array(SystemEntropy(), answers, epsilon=Fraction(self.epsilon), categories=self.categories)

    def _contrast(self) -> float:
        keep, _ = self.support_probabilities()
        return -math.expm1(-float(self.epsilon)) * keep
