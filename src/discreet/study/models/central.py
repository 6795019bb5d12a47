"""The central model: exact totals of the group, then discrete Laplace or Gaussian noise, as releases draw it.

Guarantee: pure DP, epsilon per column (or for all columns together), per respondent; with Gaussian noise zCDP within
           (epsilon, delta). Strata are public facts.
Requires:  one row per respondent, weights within the caps, numbers within the bounds of the card.
Proof:     docs/proofs/discrete-laplace.md, docs/proofs/discrete-gaussian.md, docs/proofs/mean.md
Refs:      [GRS12], [CKS20].

A category column is one histogram: a respondent who joins or leaves moves one cell by the weight cap; one who changes
the answer moves two. A mean is a noisy sum around the middle over a noisy total weight. The sum gets four fifths of
ε: its noise reaches the mean in full, that of the weight only in proportion to the mean's distance from the middle.
A total is a noisy sum of the numbers themselves; where a column's mean is asked too, each gets half of its ε.
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
from discreet.study.models.truth import (
    by_column,
    by_statistic,
    category_place,
    counted,
    mean_values,
    sum_centred,
    sum_units,
    sum_values,
)
from discreet.study.outcomes import Answered, Expected, Outcome, Protected, Query, Streams

if TYPE_CHECKING:
    from numpy import float64
    from numpy.typing import NDArray

__all__ = ["LAPLACE", "SUM_SHARE", "CentralModel", "NoisyTotals", "laplace_error", "reach_of_sum"]

LAPLACE: Final = "laplace"
SUM_SHARE: Final = Fraction(4, 5)
_MEASURES_OF_A_MEAN: Final = 2


def laplace_error(scale: float) -> float:
    """The mean absolute value of the discrete Laplace law: 2a/(1 - a²) with a = exp(-1/scale)."""
    return 1 / math.sinh(1 / scale) if 1 / scale < 700 else 0.0


@lru_cache(maxsize=4096)
def _half_width(scale: Fraction, level: Fraction) -> int:
    return laplace_half_width(scale=scale, level=level)


def reach_of_sum(answers: Answers, *, moved: int) -> int:
    """By how many steps of the column one respondent of weight 1 can move a sum; two where an answer is replaced."""
    low, high = answers.column.low_units, answers.column.high_units
    alone = max(abs(low), abs(high))
    return alone if moved == 1 else max(alone, high - low)


@dataclass(frozen=True, slots=True)
class NoisyTotals:
    """Totals of groups under discrete Laplace noise of the whole group's sum: central, or several messages shuffled.

    A mean splits the ε of its column between its two totals, by a rule that knows no row.
    """

    neighbours: Neighbours
    level: Decimal
    mechanism: str

    @property
    def moved(self) -> int:
        """How many answers of a respondent neighbours differ by: one that is there or not, or two."""
        return 1 if self.neighbours is Neighbours.ADD_REMOVE else 2

    # The noise: what another law does otherwise.

    def draw(self, entropy: Entropy, scale: Fraction, count: int) -> list[int]:
        return discrete_laplace_many(entropy, scale=scale, count=count)

    def half_width(self, scale: Fraction, level: Fraction) -> int:
        return _half_width(scale, level)

    def error(self, scale: Fraction) -> float:
        """The mean absolute noise."""
        return laplace_error(float(scale))

    def joint_error(self, first: NDArray[float64], second: NDArray[float64]) -> NDArray[float64]:
        """E|X + Y| for independent noises of these scales: (a² + ab + b²)/(a + b) for Laplace variables."""
        error: NDArray[float64] = (first**2 + first * second + second**2) / (first + second)
        return error

    def histogram_scales(self, frame: Frame, answers: Answers, epsilon: Fraction) -> list[Fraction]:
        """The scale of each group's cells, in weight steps."""
        return [Fraction(self.moved * int(cap)) / epsilon for cap in frame.caps]

    def mean_scales(self, frame: Frame, answers: Answers, epsilon: Fraction) -> tuple[list[Fraction], list[Fraction]]:
        """The scales of a mean's sum (in half steps × weight steps) and of its weight, by group."""
        sums = [Fraction(self.moved * int(cap) * answers.size) / (epsilon * SUM_SHARE) for cap in frame.caps]
        return sums, [Fraction(int(cap)) / (epsilon * (1 - SUM_SHARE)) for cap in frame.caps]

    def sum_scales(self, frame: Frame, answers: Answers, epsilon: Fraction) -> list[Fraction]:
        """The scale of each group's total, in steps of the column × weight steps."""
        reach = reach_of_sum(answers, moved=self.moved)
        return [Fraction(int(cap) * reach) / epsilon for cap in frame.caps]

    def answer(
        self, frame: Frame, answers: Answers, queries: Sequence[Query], epsilon: Fraction, entropy: Entropy
    ) -> tuple[list[Answered], Protected | None]:
        """The queries of one column, and the shape of the column that the answers show."""
        if answers.categorical:
            return self.count(frame, answers, queries, epsilon, entropy)
        asked = by_statistic(queries)
        each, found = epsilon / len(asked), []
        for statistic, wanted in asked.items():
            answer = self.total if statistic == "sum" else self.average
            found += answer(frame, answers, wanted, each, entropy)
        return found, None

    def expect(
        self, frame: Frame, answers: Answers, queries: Sequence[Query], epsilon: Fraction
    ) -> list[NDArray[float64]]:
        """The mean absolute error of each query of the column, by group."""
        if answers.categorical:
            return [self.expected_counts(frame, answers, epsilon)] * len(queries)
        each = epsilon / len(by_statistic(queries))
        errors = {"sum": self.expected_sums, "mean": self.expected_means}
        return [errors[query.statistic](frame, answers, each) for query in queries]

    def count(
        self, frame: Frame, answers: Answers, queries: Sequence[Query], epsilon: Fraction, entropy: Entropy
    ) -> tuple[list[Answered], Protected]:
        """Every query of a category column from one noisy histogram, and the column's shape that it shows."""
        truth, scales = counted(frame, answers), self.histogram_scales(frame, answers, epsilon)
        noise = np.array([self.draw(entropy, scale, answers.size) for scale in scales])
        noisy = truth + noise
        level = Fraction(self.level)
        widths = np.array([self.half_width(scale, level) for scale in scales])
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
        noisy_totals = totals + [self.draw(entropy, scale, 1)[0] for scale in of_sums]
        noisy_weights = weights + [self.draw(entropy, scale, 1)[0] for scale in of_weights]
        joint = 1 - (1 - Fraction(self.level)) / _MEASURES_OF_A_MEAN
        around = [self.half_width(scale, joint) for scale in of_sums]
        beside = [self.half_width(scale, joint) for scale in of_weights]
        estimate = self._mean(answers, noisy_totals, noisy_weights)
        corners = [
            self._mean(answers, noisy_totals + sign * np.array(around), noisy_weights + side * np.array(beside))
            for sign in (-1, 1)
            for side in (-1, 1)
        ]
        truth, low, high = mean_values(frame, answers), np.min(corners, axis=0), np.max(corners, axis=0)
        return [Answered(query, self.mechanism, truth, estimate, low, high) for query in queries]

    def total(
        self, frame: Frame, answers: Answers, queries: Sequence[Query], epsilon: Fraction, entropy: Entropy
    ) -> list[Answered]:
        """The weighted sums of a number."""
        scales, unit = self.sum_scales(frame, answers, epsilon), frame.weight_step * answers.step
        noisy = sum_units(frame, answers) + [self.draw(entropy, scale, 1)[0] for scale in scales]
        widths = np.array([self.half_width(scale, Fraction(self.level)) for scale in scales])
        truth, ends = sum_values(frame, answers), ((noisy - widths) * unit, (noisy + widths) * unit)
        return [Answered(query, self.mechanism, truth, noisy * unit, *ends) for query in queries]

    def expected_counts(self, frame: Frame, answers: Answers, epsilon: Fraction) -> NDArray[float64]:
        errors = [self.error(scale) for scale in self.histogram_scales(frame, answers, epsilon)]
        return np.array(errors) * frame.weight_step

    def expected_sums(self, frame: Frame, answers: Answers, epsilon: Fraction) -> NDArray[float64]:
        errors = [self.error(scale) for scale in self.sum_scales(frame, answers, epsilon)]
        return np.array(errors) * (frame.weight_step * answers.step)

    def expected_means(self, frame: Frame, answers: Answers, epsilon: Fraction) -> NDArray[float64]:
        """E|X - r·Y| / weight, X and Y the noises of sum and weight, r the mean's distance from the middle."""
        totals, weights = sum_centred(frame, answers)
        of_sums, of_weights = self.mean_scales(frame, answers, epsilon)
        first = np.array([float(scale) for scale in of_sums])
        second = np.array([float(scale) for scale in of_weights]) * np.abs(totals / np.maximum(weights, 1))
        error = self.joint_error(first, second) / np.maximum(weights, 1)
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
    noise: str = LAPLACE
    delta: Decimal = Decimal(0)
    name: str = "central"

    @property
    def variant(self) -> str:
        return f"central {self.noise}"

    def run(
        self, frame: Frame, queries: Sequence[Query], *, epsilon: Decimal, streams: Streams, detailed: bool = True
    ) -> Outcome:
        answered: list[Answered] = []
        protected: list[Protected] = []
        asked = by_column(queries)
        each, totals = self._each(epsilon, len(asked)), self._totals(epsilon)
        for name, wanted in asked.items():
            found, shape = totals.answer(frame, frame.column(name), wanted, each, streams.stream(name))
            answered += found
            protected += [shape] if shape else []
        return Outcome(tuple(answered), tuple(protected), notes={"epsilon of a column": f"{float(each):g}"})

    def expect(self, frame: Frame, queries: Sequence[Query], *, epsilon: Decimal) -> tuple[Expected, ...]:
        asked = by_column(queries)
        each, totals = self._each(epsilon, len(asked)), self._totals(epsilon)
        expected: list[Expected] = []
        for name, wanted in asked.items():
            errors = totals.expect(frame, frame.column(name), wanted, each)
            expected += [Expected(query, self.noise, error) for query, error in zip(wanted, errors, strict=True)]
        return tuple(expected)

    def _totals(self, epsilon: Decimal) -> NoisyTotals:
        if self.noise == LAPLACE:
            return NoisyTotals(self.neighbours, self.level, self.noise)
        from discreet.study.models.gaussian import GaussianTotals

        return GaussianTotals(self.neighbours, self.level, self.noise, epsilon, self.delta)

    def _each(self, epsilon: Decimal, columns: int) -> Fraction:
        return Fraction(epsilon) / (columns if self.epsilon_is == "total" else 1)
