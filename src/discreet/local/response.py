"""Generalised randomised response: the answer itself, or now and then another category.

Guarantee: local DP, epsilon per report.
Requires:  categories fixed before the answers are known; each respondent draws alone, once.
Proof:     docs/proofs/local-categories.md
Refs:      [War65], [KOV16].
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from discreet.local.oracle import CategoryOracle, check_answers, toss_array
from discreet.local.randomiser import Channel, Tally
from discreet.local.tallies import WeightedCells
from discreet.local.wire import read_numbers
from discreet.noise.chance import Chance
from discreet.noise.uniform import uniform_array_below

if TYPE_CHECKING:
    from numpy import bool_, int64
    from numpy.typing import NDArray

    from discreet.noise.entropy import Entropy

__all__ = ["GeneralisedResponse", "replace_some"]


@dataclass(frozen=True, slots=True, init=False)
class GeneralisedResponse(CategoryOracle):
    """Reports the answer with chance e^ε/(e^ε + categories - 1), else another category, uniformly."""

    name: ClassVar[str] = "grr"

    def channel(self) -> Channel:
        """p = e^ε/(e^ε + k - 1), q = 1/(e^ε + k - 1)."""
        decay = math.exp(-float(self.epsilon))
        total = 1 + (self.categories - 1) * decay
        return Channel(p=1 / total, q=decay / total)

    def randomise(self, entropy: Entropy, answers: NDArray[int64]) -> NDArray[int64]:
        """A category for each answer."""
        true = check_answers(answers, categories=self.categories)
        return replace_some(entropy, true, epsilon=Fraction(self.epsilon), categories=self.categories)

    def tally(self, reports: NDArray[Any], *, cells: NDArray[int64], weights: NDArray[int64], number: int) -> Tally:
        """Exact sums; a report supports the category it names."""
        return WeightedCells(cells, weights, number).tally_named(reports[:, np.newaxis], categories=self.categories)

    def count(self, reports: NDArray[Any]) -> NDArray[int64]:
        """How many reports name each category."""
        return np.bincount(reports, minlength=self.categories)

    def read_reports(self, values: Sequence[object]) -> tuple[NDArray[int64], NDArray[bool_]]:
        """Positions of categories, and which values are such."""
        return read_numbers(values, below=self.categories)


def replace_some(entropy: Entropy, values: NDArray[int64], *, epsilon: Fraction, categories: int) -> NDArray[int64]:
    """Each value kept with chance e^ε/(e^ε + categories - 1), else replaced by another one, uniformly.

    First a coin for each value, then, for the values whose coin held, in order, which of the others.
    """
    others = categories - 1
    changed = np.flatnonzero(toss_array(entropy, Chance(epsilon, times=others, plus=others), count=values.size))
    drawn = uniform_array_below(entropy, others, count=changed.size)
    reports = values.copy()
    reports[changed] = drawn + (drawn >= values[changed])
    return reports
