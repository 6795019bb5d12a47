"""The central model: what `discreet query` would release, with Laplace noise, or with the Gaussian noise of tables.

Guarantee: pure DP, epsilon per column (or for all columns together), per respondent; with Gaussian noise zCDP within
           (epsilon, delta). Strata are public facts.
Requires:  one row per respondent, weights within the caps, numbers within the bounds of the card.
Proof:     docs/proofs/calculus.md, docs/proofs/discrete-laplace.md, docs/proofs/discrete-gaussian.md,
           docs/proofs/mean.md
Refs:      [GRS12], [CKS20].

Sensitivities, shares, scales, intervals and expected errors are those of a release (`released`). A category column is
one question; the mean and the sum of a number are two, which share its ε. A mean is shown where a release shows it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Final

import numpy as np

from discreet.guarantees import Budget, Neighbours, floor_to_grid
from discreet.lab.study.execution.outcomes import Answered, Outcome, Protected, Streams, StudyQuery, TheoryError
from discreet.lab.study.frame import AnswerColumn, StudyFrame
from discreet.lab.study.inquiry import StudyQuestion
from discreet.lab.study.models.released_figures import (
    ReleasedFigures,
    draw,
    draw_seeded,
    expect,
    measure,
    price_laplace,
    price_normal,
    read,
)
from discreet.lab.study.models.truth import by_column, by_statistic, category_place, true_values
from discreet.release import Pricing
from discreet.tables import gaussian_weight

if TYPE_CHECKING:
    from numpy import float64
    from numpy.typing import NDArray

__all__ = [
    "LAPLACE",
    "CentralModel",
    "answer_figures",
    "ask",
    "normal_weight",
    "shape_of",
    "share_epsilon",
    "share_statistics",
]

LAPLACE: Final = "laplace"


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
        self,
        frame: StudyFrame,
        queries: Sequence[StudyQuery],
        *,
        epsilon: Decimal,
        streams: Streams,
        detailed: bool = True,
    ) -> Outcome:
        answered: list[Answered] = []
        protected: list[Protected] = []
        asked = by_column(queries)
        each = share_epsilon(epsilon, len(asked), self.epsilon_is)
        for name, wanted in asked.items():
            sample = draw_seeded(streams.stream(name))
            for question, parts, share in ask(frame, name, wanted, each, self.neighbours):
                pricing = self._price(question, share, epsilon)
                noisy = draw(question.plan, pricing, measure(frame, question), sample)
                figures = read(frame, question, noisy, self.level)
                answered += answer_figures(frame, parts, figures, self.noise)
                protected += shape_of(frame.column(name), question, figures.values, self.noise)
        return Outcome(tuple(answered), tuple(protected), notes={"epsilon of a column": f"{float(each):g}"})

    def expect(self, frame: StudyFrame, queries: Sequence[StudyQuery], *, epsilon: Decimal) -> tuple[TheoryError, ...]:
        asked = by_column(queries)
        each = share_epsilon(epsilon, len(asked), self.epsilon_is)
        expected: list[TheoryError] = []
        for name, wanted in asked.items():
            for question, parts, share in ask(frame, name, wanted, each, self.neighbours):
                error = expect(frame, question, self._price(question, share, epsilon), self.level)
                expected += [TheoryError(query, self.noise, error) for query in parts]
        return tuple(expected)

    def _price(self, question: StudyQuestion, share: Decimal, budget: Decimal) -> Pricing:
        if self.noise == LAPLACE:
            return price_laplace(question, share)
        return price_normal(question, normal_weight(share, budget=budget, delta=self.delta))


@lru_cache(maxsize=4096)
def normal_weight(epsilon: Decimal, *, budget: Decimal, delta: Decimal) -> Decimal:
    """The ρ that a table at ε gets under a budget (budget, delta), or a refusal."""
    rho = gaussian_weight(epsilon, Budget(epsilon=budget, delta=delta), "gaussian")
    assert rho is not None, "Gaussian noise that is asked for has a weight, or is refused"
    return rho


def share_epsilon(epsilon: Decimal, columns: int, spent: str) -> Decimal:
    """What each column may cost: its part of a total, or the whole ε."""
    return floor_to_grid(Fraction(epsilon) / columns) if spent == "total" else epsilon


def ask(
    frame: StudyFrame, column: str, queries: Sequence[StudyQuery], epsilon: Decimal, neighbours: Neighbours
) -> Iterator[tuple[StudyQuestion, list[StudyQuery], Decimal]]:
    """The product's questions behind the queries of a column, each with the queries it answers and its part of ε."""
    for statistic, wanted, share in share_statistics(queries, epsilon):
        yield frame.inquiry.question(column, statistic, neighbours=neighbours), wanted, share


def share_statistics(
    queries: Sequence[StudyQuery], epsilon: Decimal
) -> Iterator[tuple[str, list[StudyQuery], Decimal]]:
    """What is asked of one column, with the queries of each kind and its part of the column's ε."""
    asked = by_statistic(queries)
    share = floor_to_grid(Fraction(epsilon) / len(asked))
    for statistic, wanted in asked.items():
        yield statistic, wanted, share


def answer_figures(
    frame: StudyFrame,
    queries: Sequence[StudyQuery],
    figures: ReleasedFigures,
    mechanism: str,
    *,
    truths: NDArray[float64] | None = None,
) -> list[Answered]:
    """Each query beside its truth, which is that of the rows unless `truths` says what else is estimated."""
    answered = []
    for query in queries:
        index = category_place(frame.column(query.column), query) if figures.values.shape[1] > 1 else 0
        truth = true_values(frame, query) if truths is None else truths[:, index]
        sides = (side[:, index] for side in (figures.values, figures.low, figures.high))
        answered.append(Answered(query, mechanism, truth, *sides))
    return answered


def shape_of(
    answers: AnswerColumn, question: StudyQuestion, counts: NDArray[float64], mechanism: str
) -> list[Protected]:
    """The shares of the categories that a histogram shows; nothing else shows the shape of its column."""
    if not question.histogram:
        return []
    whole = np.maximum(np.nansum(counts[:, : answers.size], axis=0), 0)
    return [Protected(answers.name, mechanism, "estimate", shares=whole / max(1, whole.sum()))]
