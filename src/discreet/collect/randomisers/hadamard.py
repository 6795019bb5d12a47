"""Hadamard response: one randomised bit of the answer's column in a Hadamard matrix, at a row drawn in public.

Guarantee: local DP, epsilon per report; the row is drawn without a look at the answer.
Requires:  categories fixed before the answers are known; each respondent draws alone, once.
Proof:     docs/proofs/local-categories.md
Refs:      [BS15], [ASZ19].
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from discreet.collect.estimates.estimators.tallies import WeightedCells
from discreet.collect.randomisers.oracle import CategoryOracle, check_answers
from discreet.collect.randomisers.randomiser import Channel, ReportTally
from discreet.collect.reporting.wire import read_lists
from discreet.noise import respond_array, uniform_array_below

if TYPE_CHECKING:
    from numpy import bool_, int64
    from numpy.typing import NDArray

    from discreet.noise import Entropy

__all__ = ["HadamardResponse"]


@dataclass(frozen=True, slots=True, init=False)
class HadamardResponse(CategoryOracle):
    """Reports [row, bit]: the bit of column answer + 1 in that row, flipped with chance 1/(e^ε + 1).

    Column 0 is the same in every row; leaving it out makes the bit alone a fair coin whatever the answer is.
    """

    name: ClassVar[str] = "hadamard"

    def order(self) -> int:
        """The number of rows: the least power of two above the number of categories."""
        return 1 << self.categories.bit_length()

    def parameters(self) -> dict[str, str]:
        """The exact parameters as text, with what follows from them."""
        return {**CategoryOracle.parameters(self), "order": str(self.order())}

    def channel(self) -> Channel:
        """p = e^ε/(e^ε + 1), q = 1/2."""
        return Channel(p=1 / (1 + math.exp(-float(self.epsilon))), q=0.5)

    def randomise(self, entropy: Entropy, answers: NDArray[int64]) -> NDArray[int64]:
        """A row and a bit for each answer."""
        true = check_answers(answers, categories=self.categories)
        rows = uniform_array_below(entropy, self.order(), count=true.size)
        bits = _find_parities(rows & (true + 1))
        drawn = respond_array(entropy, bits, epsilon=Fraction(self.epsilon), categories=2)
        return np.column_stack((rows, drawn))

    def tally(
        self, reports: NDArray[Any], *, cells: NDArray[int64], weights: NDArray[int64], number: int
    ) -> ReportTally:
        """Exact sums; a report supports the categories whose column has its bit in its row.

        With s = ±1 for the bits of reports and columns, s·s' is +1 where they agree, so twice the support is the sum
        of all weights plus one entry of the fast Hadamard transform of the signed weights by row.
        """
        placed = WeightedCells(cells, weights, number)
        signed = placed.add_signed(reports[:, 0], reports[:, 1] == 1, size=self.order())
        sums, squares, _ = placed.totals()
        columns = slice(1, self.categories + 1)
        support, support_squares = (
            (_transform(part)[:, columns] + total[:, np.newaxis]) // 2
            for part, total in zip(signed, (sums, squares), strict=True)
        )
        return placed.complete(support, support_squares)

    def read_reports(self, values: Sequence[object]) -> tuple[NDArray[int64], NDArray[bool_]]:
        """Rows with bits, and which values are such."""
        return read_lists(values, below=[self.order(), 2])


def _find_parities(words: NDArray[int64]) -> NDArray[int64]:
    """Whether each word, of at most 32 bits, holds an odd number of ones."""
    folded = words.copy()
    for shift in (16, 8, 4, 2, 1):
        folded ^= folded >> shift
    return folded & 1


def _transform(values: NDArray[int64]) -> NDArray[int64]:
    """Each row times the Hadamard matrix, in whole numbers; no entry exceeds the sum of the row's absolute values."""
    done, order, step = values.copy(), values.shape[1], 1
    while step < order:
        pairs = done.reshape(values.shape[0], -1, 2, step)
        left, right = pairs[:, :, 0].copy(), pairs[:, :, 1].copy()
        pairs[:, :, 0] = left + right
        pairs[:, :, 1] = left - right
        step *= 2
    return done
