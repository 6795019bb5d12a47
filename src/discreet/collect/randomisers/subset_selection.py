"""Subset selection: a set of categories, a little more likely to hold the answer than it would be by chance.

Guarantee: local DP, epsilon per report.
Requires:  categories fixed before the answers are known; each respondent draws alone, once.
Proof:     docs/proofs/local-categories.md
Refs:      [YB18]; the draw of a set [BF87].
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np

from discreet.collect.estimates.estimators.tallies import WeightedCells
from discreet.collect.randomisers.oracle import CategoryOracle, check_answers, settle_by_odds
from discreet.collect.randomisers.randomiser import Channel, ReportTally
from discreet.collect.reporting.wire import read_lists
from discreet.noise import Chance, toss_array, uniform_array_below

if TYPE_CHECKING:
    from numpy import bool_, int32, int64
    from numpy.typing import NDArray

    from discreet.noise import Entropy

__all__ = ["SubsetSelection", "choose_subset_size", "draw_subsets"]

_FEW: Final = 8  # categories of a set that are compared one by one sooner than marked
_FEW_SWAPPED: Final = 5  # categories of a set that are swapped sooner than sorted
_BLOCK: Final = 1 << 23  # marks held at a time while sets are drawn


@dataclass(frozen=True, slots=True, init=False)
class SubsetSelection(CategoryOracle):
    """Reports ω categories; those with the answer among them are e^ε times as likely as the others."""

    name: ClassVar[str] = "subset"
    # A larger set costs more to send than local hashing, for no better variance to speak of.
    largest_categories: ClassVar[int] = 1024

    def subset_size(self) -> int:
        """ω: the number of categories over e^ε + 1, rounded, and at least 1."""
        return choose_subset_size(self.epsilon, self.categories)

    def parameters(self) -> dict[str, str]:
        """The exact parameters as text, with what follows from them."""
        return {**CategoryOracle.parameters(self), "subset_size": str(self.subset_size())}

    def channel(self) -> Channel:
        """p = ωe^ε/(ωe^ε + k - ω), q = (p(ω - 1) + (1 - p)ω)/(k - 1)."""
        size, others = self.subset_size(), self.categories - self.subset_size()
        decay = math.exp(-float(self.epsilon))
        total = size + others * decay
        other = size * (size - 1 + others * decay) / ((self.categories - 1) * total)
        return Channel(p=size / total, q=other)

    def randomise(self, entropy: Entropy, answers: NDArray[int64]) -> NDArray[int32]:
        """ω categories in rising order for each answer."""
        true = check_answers(answers, categories=self.categories)
        rows = max(1, _BLOCK // self.categories)
        reports = np.empty((true.size, self.subset_size()), dtype=np.int32)
        for start in range(0, true.size, rows):
            drawn = self._draw(entropy, true[start : start + rows])
            _sort_each(drawn)
            reports[start : start + rows] = drawn
        return reports

    def _draw(self, entropy: Entropy, answers: NDArray[int64]) -> NDArray[int64]:
        """ω others for everyone; where the answer belongs to the set, it takes the place of one of them."""
        size, others = self.subset_size(), self.categories - self.subset_size()
        chance = Chance(Fraction(self.epsilon), times=others, plus=others, whole=size)
        absent = toss_array(entropy, chance, count=answers.size)
        chosen = draw_subsets(entropy, below=self.categories - 1, size=size, count=answers.size)
        chosen += chosen >= answers[:, np.newaxis]
        replaced = uniform_array_below(entropy, size, count=answers.size)
        present = np.flatnonzero(~absent)
        chosen[present, replaced[present]] = answers[present]
        return chosen

    def tally(
        self, reports: NDArray[Any], *, cells: NDArray[int64], weights: NDArray[int64], number: int
    ) -> ReportTally:
        """Exact sums; a report supports the categories it lists."""
        return WeightedCells(cells, weights, number).tally_named(reports, categories=self.categories)

    def read_reports(self, values: Sequence[object]) -> tuple[NDArray[int32], NDArray[bool_]]:
        """Sets of categories, and which values are such: the right number of positions, strictly rising."""
        rows, valid = read_lists(values, below=[self.categories] * self.subset_size())
        return rows.astype(np.int32), valid & (np.diff(rows, axis=1) > 0).all(axis=1)


def _sort_each(sets: NDArray[int64]) -> None:
    """Every set in rising order; small ones by swaps of neighbours, all sets at once."""
    size = sets.shape[1]
    if size > _FEW_SWAPPED:
        sets.sort(axis=1)
        return
    for last in range(size - 1, 0, -1):
        for index in range(last):
            left, right = sets[:, index], sets[:, index + 1]
            least = np.minimum(left, right)
            np.maximum(left, right, out=right)
            left[:] = least


@lru_cache(maxsize=1024)
def choose_subset_size(epsilon: Decimal, categories: int) -> int:
    """The categories over e^ε + 1, rounded to the nearest whole number, and at least 1."""
    return settle_by_odds(lambda odds: max(1, math.floor(categories / (odds + 1) + Fraction(1, 2))), epsilon=epsilon)


def draw_subsets(entropy: Entropy, *, below: int, size: int, count: int) -> NDArray[int64]:
    """`count` independent, uniform subsets of {0, ..., below - 1}, by Floyd's way; their order is not uniform.

    Step j draws from {0, ..., j}; what the set holds already is replaced by j, which it cannot hold yet.
    """
    chosen = np.empty((size, count), dtype=np.int64)
    taken = np.zeros((count, below), dtype=np.bool_) if size > _FEW else None
    rows = np.arange(count)
    for index, last in enumerate(range(below - size, below)):
        drawn = uniform_array_below(entropy, last + 1, count=count)
        if taken is not None:
            drawn[taken[rows, drawn]] = last
            taken[rows, drawn] = True
        else:
            held = np.zeros(count, dtype=np.bool_)
            for earlier in chosen[:index]:
                held |= earlier == drawn
            drawn[held] = last
        chosen[index] = drawn
    return chosen.T
