"""The table model: what `discreet table` would publish, margins that add up and all, with a study's noise.

Guarantee: pure DP, epsilon per column (or for all columns together), per respondent; with Gaussian noise zCDP within
           (epsilon, delta). Strata are public facts.
Requires:  as the central model; at least one stratum for numbers and for conditions, since a table needs a key.
Proof:     docs/proofs/marginals.md, docs/proofs/mean.md, docs/proofs/calibration.md

Every column is a table of its own by the strata (and by the column, for a category), with all margins: what is measured
is chosen by expected error, the cells are estimated from all of it, and published whole and not negative. Part of ε
goes to the margins, so single cells err more than in the central model and sums over many of them less. Calibrated
figures meet the totals of the card; what they estimate is the true figure brought to the same totals, and so is their
truth here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import lru_cache
from typing import TYPE_CHECKING, Final

import numpy as np

from discreet.guarantees import Budget, Neighbours
from discreet.lab.study.execution.outcomes import Answered, Outcome, Protected, Streams, StudyQuery, TheoryError
from discreet.lab.study.frame import StudyFrame
from discreet.lab.study.inquiry import COUNT, MEAN, Inquiry, StudyQuestion
from discreet.lab.study.models.central_model import LAPLACE, answer_figures, shape_of, share_epsilon, share_statistics
from discreet.lab.study.models.released_figures import ReleasedFigures, Sample, draw, draw_seeded, known_mean, measure
from discreet.lab.study.models.truth import by_column, category_place
from discreet.release import ExpectedNoise, NoisyMeasure, Pricing, reach_of
from discreet.tables import (
    CalibratedTable,
    Design,
    EstimatedMeasure,
    Formed,
    Margin,
    MarginFigures,
    NoiseChoice,
    TableRequest,
    Target,
    calibrate_estimated,
    card_targets,
    design_table,
    estimate_drawn,
    estimate_unseen,
    figure_drawn,
    form_dataset,
)

if TYPE_CHECKING:
    from numpy import float64
    from numpy.typing import NDArray

__all__ = ["TableModel"]

_TO_THE_CARD: Final = "card"
_NOISES: Final[dict[str, NoiseChoice]] = {"laplace": "laplace", "gaussian": "gaussian"}


@dataclass(frozen=True, slots=True)
class TableModel:
    """One trusted custodian publishes tables; `calibrate` brings those of all weights to the totals of the card."""

    neighbours: Neighbours
    level: Decimal
    epsilon_is: str
    noise: str = LAPLACE
    delta: Decimal = Decimal(0)
    calibrate: str = "none"
    name: str = "table"

    @property
    def mechanism(self) -> str:
        return f"{self.noise} calibrated" if self.calibrate == _TO_THE_CARD else self.noise

    @property
    def variant(self) -> str:
        return f"{self.name} {self.mechanism}"

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
            for table, parts in self._tables(frame, name, wanted, each, epsilon):
                targets = self._targets(frame, table)
                drawn = table.draw(frame, sample)
                found = figure_drawn(table.design, drawn, level=self.level, targets=targets)[table.cells]
                figures = table.read(frame, found)
                truths = table.meet(frame, targets) if targets else None
                answered += answer_figures(frame, parts, figures, self.mechanism, truths=truths)
                protected += shape_of(frame.column(name), table.question, figures.values, self.mechanism)
        return Outcome(tuple(answered), tuple(protected), notes={"epsilon of a column": f"{float(each):g}"})

    def expect(self, frame: StudyFrame, queries: Sequence[StudyQuery], *, epsilon: Decimal) -> tuple[TheoryError, ...]:
        asked = by_column(queries)
        each = share_epsilon(epsilon, len(asked), self.epsilon_is)
        expected: list[TheoryError] = []
        for name, wanted in asked.items():
            for table, parts in self._tables(frame, name, wanted, each, epsilon):
                errors = table.expect(frame, self._targets(frame, table), self.level)
                for query in parts:
                    index = category_place(frame.column(name), query) if errors.shape[1] > 1 else 0
                    expected.append(TheoryError(query, self.mechanism, errors[:, index]))
        return tuple(expected)

    def _tables(
        self, frame: StudyFrame, column: str, queries: Sequence[StudyQuery], each: Decimal, budget: Decimal
    ) -> Iterator[tuple[_Table, list[StudyQuery]]]:
        """The tables of a column, each with the queries that it answers; none where there is no key."""
        for statistic, wanted, share in share_statistics(queries, each):
            table = _design(frame.inquiry, column, statistic, self.neighbours, share, budget, self.delta, self.noise)
            if table is not None:
                yield table, wanted

    def _targets(self, frame: StudyFrame, table: _Table) -> tuple[Target, ...]:
        """The card's totals of all respondents, brought down to those who were drawn."""
        if self.calibrate != _TO_THE_CARD:
            return ()
        return tuple(replace(item, totals=item.totals / frame.stands) for item in card_targets(table.formed))


@dataclass(frozen=True, eq=False)
class _Table:
    """One table, designed and priced for its part of ε; `question` is what its cells answer."""

    question: StudyQuestion
    formed: Formed
    design: Design
    pricing: Pricing

    @property
    def cells(self) -> Margin:
        return tuple(range(len(self.formed.sizes)))

    def draw(self, frame: StudyFrame, sample: Sample) -> list[NoisyMeasure]:
        plan = self.design.statement.plan
        return draw(plan, self.pricing, measure(frame, self.question, plan), sample)

    def read(self, frame: StudyFrame, found: MarginFigures) -> ReleasedFigures:
        """The published cells of every group; none of a mean whose group is too small."""
        positions = np.arange(self.question.plan.cell_count) if found.positions is None else np.array(found.positions)
        shown = [np.array(side, dtype=np.float64) for side in (found.values, found.low, found.high)]
        if found.too_small is not None:
            shown = [np.where(found.too_small, np.nan, side) for side in shown]
        return ReleasedFigures(*(self._place(frame, positions, side) for side in shown))

    def meet(self, frame: StudyFrame, targets: Sequence[Target]) -> NDArray[float64]:
        """The true cells of every group brought to the totals: what calibrated ones estimate."""
        exact = self._exact(frame, targets)
        return self._place(frame, _present(exact), exact.raked.values.ravel())

    def expect(self, frame: StudyFrame, targets: Sequence[Target], level: Decimal) -> NDArray[float64]:
        """The mean absolute error of the linear estimates, as an explanation tells it, by group (and category).

        That of a mean is told for the exact size and mean of the group. A calibrated figure errs by its own standard
        error, at the true table, as far as noise of its shape errs by its standard error.
        """
        unseen = estimate_unseen(self.design, self.pricing)
        if self.formed.mean is not None:
            return self._expect_means(frame, unseen)
        errors, deviations = unseen[0].mean_errors(self.cells), np.sqrt(unseen[0].estimator.variances(self.cells))
        slices = self._slices(frame, unseen[0])
        if not targets:
            nobody = self.question.places(frame.inquiry.groups)[:, 0] < 0
            step = float(self.formed.statement.measures[0].step) * frame.raised
            return np.where(nobody, 0.0, errors[slices] * step)[:, None]
        exact = self._exact(frame, targets)
        own = self._place(frame, _present(exact), exact.figures(self.cells, level).errors)
        return own * (errors / deviations)[slices][:, None]

    def _expect_means(self, frame: StudyFrame, unseen: Sequence[EstimatedMeasure]) -> NDArray[float64]:
        groups, question = frame.inquiry.groups, self.question
        columns, indices = measure(frame, question).columns, question.places(groups)[:, 0].tolist()
        lines = [item.mean_errors(self.cells)[self._slices(frame, item)].tolist() for item in unseen]
        errors = np.full(len(groups), np.nan)
        for group, index in enumerate(indices):
            assumed = None if index < 0 else known_mean(question, [column[index] for column in columns])
            if assumed is not None:
                noise = {part: ExpectedNoise(0, each[group]) for part, each in enumerate(lines)}
                found = reach_of(question.output, noise, question.statement, assumed, name=question.name)
                errors[group] = found.expected
        return errors[:, None]

    def _slices(self, frame: StudyFrame, estimated: EstimatedMeasure) -> list[int]:
        """Which of the laws of the cells' noise each group has."""
        several = estimated.slice_count(self.cells) > 1
        return self.question.slices(estimated.layout.slicing if several else None, frame.inquiry.groups)

    def _exact(self, frame: StudyFrame, targets: Sequence[Target]) -> CalibratedTable:
        """The true table brought to the totals, with the noise of the design."""

        def make() -> CalibratedTable:
            drawn = self.draw(frame, lambda _, count: [0] * count)
            return calibrate_estimated(self.formed, estimate_drawn(self.design, drawn)[0], targets)

        return frame.once(self, make)

    def _place(self, frame: StudyFrame, positions: NDArray[np.intp], cells: NDArray[float64]) -> NDArray[float64]:
        """Figures of cells by group (and category), in the study's unit; 0, or no mean, where nobody can be."""
        mean = self.formed.mean is not None
        every = np.full(self.question.plan.cell_count + 1, np.nan)
        every[positions] = cells * (1.0 if mean else frame.raised)
        every[-1] = np.nan if mean else 0.0
        return every[self.question.places(frame.inquiry.groups)]


def _present(table: CalibratedTable) -> NDArray[np.intp]:
    """Which cells of the table a total covers."""
    sizes = table.estimated.layout.sizes
    every = np.arange(np.prod(sizes)).reshape(sizes)
    return every[np.ix_(*table.present)].ravel()


@lru_cache(maxsize=1024)
def _form(inquiry: Inquiry, column: str, statistic: str, neighbours: Neighbours) -> tuple[StudyQuestion, Formed] | None:
    """The table of a column as it is asked for, or None where it would have no key."""
    dataset, made = inquiry.terms(neighbours).find(inquiry.card.dataset), inquiry.made(column)
    by = (*inquiry.strata, *((column,) if statistic == COUNT and made is None else ()))
    if not by:
        return None
    request = TableRequest(
        dataset=dataset.name,
        by=by,
        value=None if statistic == COUNT else column if made is None else made.source,
        mean=statistic == MEAN,
        weighted=dataset.card.weight is not None,
        where=inquiry.condition(column),
    )
    formed = form_dataset(request, dataset)
    return StudyQuestion(column, formed.statement, formed.cards, by), formed


@lru_cache(maxsize=4096)
def _design(
    inquiry: Inquiry,
    column: str,
    statistic: str,
    neighbours: Neighbours,
    epsilon: Decimal,
    budget: Decimal,
    delta: Decimal,
    noise: str,
) -> _Table | None:
    """The table of a column for its part of ε; Gaussian noise has its part of a budget (budget, delta)."""
    asked = _form(inquiry, column, statistic, neighbours)
    if asked is None:
        return None
    question, formed = asked
    design = design_table(formed, epsilon=epsilon, budget=Budget(epsilon=budget, delta=delta), noise=_NOISES[noise])
    return _Table(question, formed, design, design.price())
