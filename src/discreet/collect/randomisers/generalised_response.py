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
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from discreet.collect.estimates.estimators.tallies import WeightedCells
from discreet.collect.randomisers.oracle import CategoryOracle, check_answers
from discreet.collect.randomisers.randomiser import Channel, ReportTally
from discreet.collect.reporting.wire import read_numbers
from discreet.noise import respond_array

if TYPE_CHECKING:
    from numpy import bool_, int64
    from numpy.typing import NDArray

    from discreet.noise import Entropy

__all__ = ["GeneralisedResponse"]


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
        return respond_array(entropy, true, epsilon=self.epsilon, categories=self.categories)

    def tally(
        self, reports: NDArray[Any], *, cells: NDArray[int64], weights: NDArray[int64], number: int
    ) -> ReportTally:
        """Exact sums; a report supports the category it names."""
        return WeightedCells(cells, weights, number).tally_named(reports[:, np.newaxis], categories=self.categories)

    def count(self, reports: NDArray[Any]) -> NDArray[int64]:
        """How many reports name each category."""
        return np.bincount(reports, minlength=self.categories)

    def read_reports(self, values: Sequence[object]) -> tuple[NDArray[int64], NDArray[bool_]]:
        """Positions of categories, and which values are such."""
        return read_numbers(values, below=self.categories)
