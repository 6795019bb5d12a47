"""The central model: exact totals of the group, then discrete Laplace noise, as releases draw it.

Guarantee: pure DP, epsilon per column (or for all columns together), per respondent. Strata are public facts.
Requires:  one row per respondent, weights within the caps, numbers within the bounds of the card.
Proof:     docs/proofs/discrete-laplace.md, docs/proofs/mean.md
Refs:      [GRS12], [CKS20].

A category column is one histogram: a respondent who joins or leaves moves one cell by the weight cap; one who changes
the answer moves two. A mean is a noisy sum around the middle over a noisy total weight. The sum gets four fifths of
ε: its noise reaches the mean in full, that of the weight only in proportion to the mean's distance from the middle.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from discreet.guarantees.types import Neighbours
from discreet.noise.bits import discrete_laplace_many
from discreet.noise.entropy import Entropy
from discreet.noise.quantile import laplace_half_width
from discreet.study.frame import Answers, Frame
from discreet.study.models.truth import by_column, category_place, counted, mean_values, sum_centred
from discreet.study.outcomes import Answered, Expected, Outcome, Protected, Query, Streams

if TYPE_CHECKING:
    from numpy import float64
    from numpy.typing import NDArray

__all__ = ["SUM_SHARE", "CentralModel", "NoisyTotals", "laplace_error"]

_MECHANISM: Final = "laplace"
SUM_SHARE: Final = Fraction(4, 5)
_MEASURES_OF_A_MEAN: Final = 2


def laplace_error(scale: float) -> float:
    """The mean absolute value of the discrete Laplace law: 2a/(1 - a²) with a = exp(-1/scale)."""
    return 1 / math.sinh(1 / scale) if 1 / scale < 700 else 0.0


@lru_cache(maxsize=4096)
def _half_width(scale: Fraction, level: Fraction) -> int:
    return laplace_half_width(scale=scale, level=level)


@dataclass(frozen=True, slots=True)
class NoisyTotals:
    """Totals of groups under discrete Laplace noise of the whole group's sum: central, or several messages shuffled.

    A mean splits the ε of its column between its two totals, by a rule that knows no row.
    """

    neighbours: Neighbours
    level: Decimal
    mechanism: str

    def histogram_scales(self, frame: Frame, answers: Answers, epsilon: Fraction) -> list[Fraction]:
        """The scale of each group's cells, in weight steps."""
        moved = 1 if self.neighbours is Neighbours.ADD_REMOVE else 2
        return [Fraction(moved * int(cap)) / epsilon for cap in frame.caps]

    def mean_scales(self, frame: Frame, answers: Answers, epsilon: Fraction) -> tuple[list[Fraction], list[Fraction]]:
        """The scales of a mean's sum (in half steps × weight steps) and of its weight, by group."""
        moved = 1 if self.neighbours is Neighbours.ADD_REMOVE else 2
        sums = [Fraction(moved * int(cap) * answers.size) / (epsilon * SUM_SHARE) for cap in frame.caps]
        return sums, [Fraction(int(cap)) / (epsilon * (1 - SUM_SHARE)) for cap in frame.caps]

    def answer(
        self, frame: Frame, answers: Answers, queries: Sequence[Query], epsilon: Fraction, entropy: Entropy
    ) -> tuple[list[Answered], Protected | None]:
        """The queries of one column, and the shape of the column that the answers show."""
        if answers.categorical:
            return self.count(frame, answers, queries, epsilon, entropy)
        return self.average(frame, answers, queries, epsilon, entropy), None

    def expect(self, frame: Frame, answers: Answers, epsilon: Fraction) -> NDArray[float64]:
        """The mean absolute error of every query of the column, by group."""
        if answers.categorical:
            return self.expected_counts(frame, answers, epsilon)
        return self.expected_means(frame, answers, epsilon)

    def count(
        self, frame: Frame, answers: Answers, queries: Sequence[Query], epsilon: Fraction, entropy: Entropy
    ) -> tuple[list[Answered], Protected]:
        """Every query of a category column from one noisy histogram, and the column's shape that it shows."""
        truth, scales = counted(frame, answers), self.histogram_scales(frame, answers, epsilon)
        noise = np.array([discrete_laplace_many(entropy, scale=scale, count=answers.size) for scale in scales])
        noisy = truth + noise
        level = Fraction(self.level)
        widths = np.array([_half_width(scale, level) for scale in scales])
        step, answered = np.float64(frame.weight_step), []
        for query in queries:
            place = category_place(answers, query)
            middle = noisy[:, place]
            low, high = (middle - widths) * step, (middle + widths) * step
            answered.append(Answered(query, self.mechanism, truth[:, place] * step, middle * step, low, high))
        shares = np.maximum(noisy.sum(axis=0), 0) / max(1, np.maximum(noisy.sum(axis=0), 0).sum())
        return answered, Protected(answers.name, self.mechanism, "estimate", shares=shares)

    def average(
        self, frame: Frame, answers: Answers, queries: Sequence[Query], epsilon: Fraction, entropy: Entropy
    ) -> list[Answered]:
        """The weighted means of a number, clamped into its bounds, with the interval of releases."""
        totals, weights = sum_centred(frame, answers)
        of_sums, of_weights = self.mean_scales(frame, answers, epsilon)
        noisy_totals = totals + [discrete_laplace_many(entropy, scale=scale, count=1)[0] for scale in of_sums]
        noisy_weights = weights + [discrete_laplace_many(entropy, scale=scale, count=1)[0] for scale in of_weights]
        joint = 1 - (1 - Fraction(self.level)) / _MEASURES_OF_A_MEAN
        around = [_half_width(scale, joint) for scale in of_sums]
        beside = [_half_width(scale, joint) for scale in of_weights]
        estimate = self._mean(answers, noisy_totals, noisy_weights)
        corners = [
            self._mean(answers, noisy_totals + sign * np.array(around), noisy_weights + side * np.array(beside))
            for sign in (-1, 1)
            for side in (-1, 1)
        ]
        truth, low, high = mean_values(frame, answers), np.min(corners, axis=0), np.max(corners, axis=0)
        return [Answered(query, self.mechanism, truth, estimate, low, high) for query in queries]

    def expected_counts(self, frame: Frame, answers: Answers, epsilon: Fraction) -> NDArray[float64]:
        errors = [laplace_error(float(scale)) for scale in self.histogram_scales(frame, answers, epsilon)]
        return np.array(errors) * frame.weight_step

    def expected_means(self, frame: Frame, answers: Answers, epsilon: Fraction) -> NDArray[float64]:
        """E|X - r·Y| / weight for the noises X of the sum and Y of the weight, r the mean's distance from the middle.

        For Laplace variables of scales a and b, E|X + Y| = (a² + ab + b²)/(a + b).
        """
        totals, weights = sum_centred(frame, answers)
        of_sums, of_weights = self.mean_scales(frame, answers, epsilon)
        first = np.array([float(scale) for scale in of_sums])
        second = np.array([float(scale) for scale in of_weights]) * np.abs(totals / np.maximum(weights, 1))
        error = (first**2 + first * second + second**2) / (first + second) / np.maximum(weights, 1)
        return np.where(weights > 0, error * (answers.step / 2), np.nan)

    @staticmethod
    def _mean(answers: Answers, totals: NDArray[Any], weights: NDArray[Any]) -> NDArray[float64]:
        half, reach = answers.step / 2, answers.size * answers.step / 2
        from_middle = totals / np.maximum(weights, 1) * half
        clamped: NDArray[float64] = answers.low + reach + np.clip(from_middle, -reach, reach)
        return clamped


@dataclass(frozen=True, slots=True)
class CentralModel:
    """One trusted custodian adds the noise."""

    neighbours: Neighbours
    level: Decimal
    epsilon_is: str
    name: str = "central"
    variant: str = "central laplace"

    def run(
        self, frame: Frame, queries: Sequence[Query], *, epsilon: Decimal, streams: Streams, detailed: bool = True
    ) -> Outcome:
        answered: list[Answered] = []
        protected: list[Protected] = []
        asked = by_column(queries)
        each, totals = self._each(epsilon, len(asked)), self._totals()
        for name, wanted in asked.items():
            found, shape = totals.answer(frame, frame.column(name), wanted, each, streams.stream(name))
            answered += found
            protected += [shape] if shape else []
        return Outcome(tuple(answered), tuple(protected), notes={"epsilon of a column": f"{float(each):g}"})

    def expect(self, frame: Frame, queries: Sequence[Query], *, epsilon: Decimal) -> tuple[Expected, ...]:
        asked, totals = by_column(queries), self._totals()
        each = self._each(epsilon, len(asked))
        expected = []
        for name, wanted in asked.items():
            error = totals.expect(frame, frame.column(name), each)
            expected += [Expected(query, _MECHANISM, error) for query in wanted]
        return tuple(expected)

    def _totals(self) -> NoisyTotals:
        return NoisyTotals(self.neighbours, self.level, _MECHANISM)

    def _each(self, epsilon: Decimal, columns: int) -> Fraction:
        return Fraction(epsilon) / (columns if self.epsilon_is == "total" else 1)
