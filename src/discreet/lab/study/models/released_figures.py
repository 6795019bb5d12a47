"""What a release would show of a frame: the product's pricing, evaluation and expected errors, with a study's noise.

A question is priced, read and explained by the functions that a release uses; the exact answers come from the frame
and the bits of the noise from the study. Nothing here can be reached by a release.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.engines import Measured, take_margin
from discreet.guarantees import from_units, to_units
from discreet.lab.study.frame import StudyFrame
from discreet.lab.study.inquiry import StudyQuestion
from discreet.lab.study.models.truth import multiply, sum_by
from discreet.mechanisms import DiscreteGaussian, DiscreteLaplace
from discreet.noise import Entropy, discrete_gaussian, discrete_laplace_many
from discreet.release import (
    Assumptions,
    NoisyCells,
    NoisyMeasure,
    Pricing,
    UsedMechanism,
    moves_of,
    noise_of,
    price,
    price_gaussian,
    reach_of,
    slices_of,
    split_units,
)
from discreet.results import ends_of
from discreet.sql import Marginal, Mean, Measure, Plan, Residual, reduced

if TYPE_CHECKING:
    from numpy import float64, int64
    from numpy.typing import NDArray

__all__ = [
    "ReleasedFigures",
    "Sample",
    "draw",
    "draw_seeded",
    "expect",
    "known_mean",
    "measure",
    "price_laplace",
    "price_normal",
    "read",
]

Sample = Callable[[UsedMechanism, int], Sequence[int]]
"""So many draws of a mechanism's noise."""


# --- prices: once for a question and an ε ---------------------------------------------------------------------------


@lru_cache(maxsize=4096)
def price_laplace(question: StudyQuestion, epsilon: Decimal) -> Pricing:
    """As `discreet query` prices it."""
    return price(question.statement, question.cards, epsilon=epsilon)


@lru_cache(maxsize=4096)
def price_normal(question: StudyQuestion, rho: Decimal) -> Pricing:
    """The same with Gaussian noise, as tables draw it: the parts of a mean share ρ as they share ε."""
    statement, cards = question.statement, question.cards
    moved = [moves_of(statement, item, cards).largest.l1 for item in question.plan.measures]
    split = split_units(statement, [index for index, l1 in enumerate(moved) if l1], to_units(rho))
    return price_gaussian(statement, cards, rho=rho, shares=[from_units(units) for units in split])


# --- exact answers --------------------------------------------------------------------------------------------------


def measure(frame: StudyFrame, question: StudyQuestion, plan: Plan | None = None) -> Measured:
    """What an engine would measure of the question: whole numbers for every cell, worked out once for a frame.

    `plan` may measure margins or residuals of the question's cells, in their place or beside them.
    """
    wanted = (plan or question.plan).measures
    return frame.once((question, wanted), lambda: _take(frame, question, wanted))


def _take(frame: StudyFrame, question: StudyQuestion, wanted: Sequence[Measure]) -> Measured:
    columns = frame.once(question, lambda: _columns(frame, question))
    exact = dict(zip(question.plan.measures, columns, strict=True))
    return Measured(tuple(take_margin(question.plan, item, exact[_base(item)]) for item in wanted))


def _base(asked: Measure) -> Measure:
    return asked.of if isinstance(asked, Marginal | Residual) else asked


def _columns(frame: StudyFrame, question: StudyQuestion) -> list[list[int]]:
    """The measures of the question's own plan, by cell."""
    answers, output, cells = frame.column(question.column), question.output, _cells(frame, question)
    if not question.histogram:
        # of a yes or no those who say yes; of a number those who have one
        cells = np.where(answers.positions == 0 if answers.categorical else answers.present(), cells, -1)
    there, number = np.flatnonzero(cells >= 0), question.plan.cell_count
    indices, weights = cells[there], frame.weights[there]
    sizes = sum_by(indices, weights, number).tolist()
    if answers.categorical:
        return [sizes]
    units = answers.positions[there] + answers.column.low_units
    totals = sum_by(indices, multiply(weights, units), number).tolist()
    if not isinstance(output, Mean):
        return [totals]
    centre = output.centre * output.size_step / output.total_step
    assert centre.denominator == 1, "means are centred on a whole step"
    centred = [total - int(centre) * size for total, size in zip(totals, sizes, strict=True)]
    return [centred, sizes] if output.total < output.size else [sizes, centred]


def _cells(frame: StudyFrame, question: StudyQuestion) -> NDArray[int64]:
    """The cell of every respondent; -1 for those of none."""
    flat, listed = np.zeros(frame.size, dtype=np.int64), np.ones(frame.size, dtype=bool)
    for name, key in zip(question.keys, question.plan.keys, strict=True):
        answers, cells = frame.column(name), key.cells or ()
        indices = np.full(answers.size + 1, -1, dtype=np.int64)  # the last is that of the absent, -1
        for number, cell in enumerate(cells):
            indices[-1 if cell is None else int(cell)] = number
        found = indices[answers.positions]
        listed &= found >= 0
        flat = flat * len(cells) + found
    return np.where(listed, flat, -1)


# --- noise ----------------------------------------------------------------------------------------------------------


def draw(plan: Plan, pricing: Pricing, measured: Measured, sample: Sample) -> list[NoisyMeasure]:
    """Every measure with noise in every cell, in the order of the plan; cells of one mechanism are drawn together."""
    drawn = []
    for item, priced, column in zip(plan.measures, pricing.measures, measured.columns, strict=True):
        values, key = np.array(column, dtype=object), priced.sensitivities.key
        numbers = np.zeros(len(values), dtype=np.int64)
        if key is not None:
            numbers = np.array(slices_of(reduced(plan, item), key, None), dtype=np.int64)
        alike: dict[UsedMechanism, list[int]] = {}
        for number, mechanism in enumerate(priced.mechanisms):
            if mechanism is not None:
                alike.setdefault(mechanism, []).append(number)
        for mechanism, own in alike.items():
            chosen = np.zeros(len(priced.mechanisms), dtype=bool)
            chosen[own] = True
            cells = np.flatnonzero(chosen[numbers])
            values[cells] += np.array(sample(mechanism, len(cells)), dtype=object)
        drawn.append(NoisyMeasure("", priced.epsilon, key, priced.mechanisms, tuple(values.tolist()), priced.rho))
    return drawn


def draw_seeded(entropy: Entropy) -> Sample:
    """The noise of the product's own mechanisms, its bits from the study's entropy."""

    def sample(mechanism: UsedMechanism, count: int) -> Sequence[int]:
        if isinstance(mechanism, DiscreteGaussian):
            return [discrete_gaussian(entropy, variance=mechanism.scale * mechanism.scale) for _ in range(count)]
        assert isinstance(mechanism, DiscreteLaplace), "a study asks for counts, sums and means"
        return discrete_laplace_many(entropy, scale=mechanism.scale, count=count)

    return sample


# --- what is shown --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class ReleasedFigures:
    """What is shown, groups × categories (or × 1), in the unit of the study; nan where nothing is."""

    values: NDArray[float64]
    low: NDArray[float64]
    high: NDArray[float64]


def read(frame: StudyFrame, question: StudyQuestion, noisy: Sequence[NoisyMeasure], level: Decimal) -> ReleasedFigures:
    """The figures of every group as an answer shows them; a group that conditions exclude has 0, and no mean."""
    cells = NoisyCells(question.statement, noisy, level)
    shown = (cells.column(question.output), *ends_of(cells.intervals(question.output)))
    indices = question.places(frame.inquiry.groups)
    mean = isinstance(question.output, Mean)
    nothing, times = (np.nan, 1.0) if mean else (0.0, frame.raised)
    sides = (np.append(np.array(side, dtype=np.float64) * times, nothing)[indices] for side in shown)
    return ReleasedFigures(*sides)


def expect(frame: StudyFrame, question: StudyQuestion, pricing: Pricing, level: Decimal) -> NDArray[float64]:
    """The mean absolute error of a figure in each group, as an explanation tells it.

    That of a mean depends on what it is taken over: it is told for the exact size and mean of the group.
    """
    groups, output = frame.inquiry.groups, question.output
    key = next((item.sensitivities.key for item in pricing.measures if item.sensitivities.key is not None), None)
    columns, indices = measure(frame, question).columns, question.places(groups)[:, 0].tolist()
    mean = isinstance(output, Mean)
    errors = np.full(len(groups), np.nan if mean else 0.0)
    for group, (index, number) in enumerate(zip(indices, question.slices(key, groups), strict=True)):
        assumed = None if index < 0 else known_mean(question, [column[index] for column in columns])
        if assumed is not None:
            noise = {part: noise_of(priced, number, level) for part, priced in enumerate(pricing.measures)}
            text = reach_of(output, noise, question.statement, assumed, name=question.name)
            errors[group] = text.expected * (1.0 if mean else frame.raised)
    return errors


def known_mean(question: StudyQuestion, exact: Sequence[Any]) -> Assumptions | None:
    """What an analyst who knew the measures of a cell would assume; None where there is nobody to have a mean."""
    output = question.output
    if not isinstance(output, Mean):
        return Assumptions()
    total, size = exact[output.total], exact[output.size]
    if not size:
        return None
    value = output.centre + total * output.total_step / (size * output.size_step)
    return Assumptions({output.size: Fraction(size)}, {question.name: value})
