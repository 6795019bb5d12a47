"""k-ary randomised response: the true category with chance e^ε/(e^ε + k - 1), else one of the others, uniformly.

First a coin for each answer, then, for the answers whose coin held, in order, which of the others. Most answers read a
byte and those that change a few more (docs/noise.md), so that a device can draw its report from the same bytes.
"""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING

from discreet.noise.chance import Chance, toss_array
from discreet.noise.entropy import Entropy
from discreet.noise.uniform import uniform_array_below

if TYPE_CHECKING:
    from numpy import int64
    from numpy.typing import NDArray

__all__ = ["respond_array"]


def respond_array(
    entropy: Entropy, answers: NDArray[int64], *, epsilon: Decimal | Fraction, categories: int
) -> NDArray[int64]:
    """One independent report for each answer; answers and reports lie in {0, ..., categories-1}."""
    changed = toss_array(entropy, _leaves(epsilon, categories), count=answers.size).nonzero()[0]
    drawn = uniform_array_below(entropy, categories - 1, count=changed.size)
    reports = answers.copy()
    reports[changed] = drawn + (drawn >= answers[changed])
    return reports


@lru_cache(maxsize=4096)
def _leaves(epsilon: Decimal | Fraction, categories: int) -> Chance:
    """The chance of another category; kept with its digits, for a survey asks one question of many batches."""
    return Chance(Fraction(epsilon), times=categories - 1, plus=categories - 1)
