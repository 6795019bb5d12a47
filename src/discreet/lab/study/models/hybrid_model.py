"""A hybrid collection: some respondents answer in clear, the others with local protection, and both are combined.

Guarantee: local DP for those who answer with protection; none for those who answer in clear.
Requires:  as the local model.
Proof:     docs/proofs/local-estimates.md

People choose for themselves, and the choice may depend on the answer: then those in clear are another sort of people,
and an estimate that takes both groups for samples of one population is biased. The estimates are those of
`discreet local estimate --clear`, so the bias shows as it would there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Final

import numpy as np

from discreet.collect import (
    Clear,
    Combined,
    EstimatedArray,
    FrequencyOracle,
    Randomiser,
    Sample,
    SamplingPlan,
    add_clear,
    average_numbers,
    count_categories,
    pool_clear,
    pool_counts,
)
from discreet.lab.study.execution.outcomes import Answered, Outcome, Streams, StudyQuery, TheoryError
from discreet.lab.study.frame import ABSENT, AnswerColumn, StudyFrame
from discreet.lab.study.models.local_model import LocalModel, read_numbers
from discreet.lab.study.models.truth import by_column, category_place, counted
from discreet.lab.study.study_file.study_config import Selection
from discreet.noise import Entropy

if TYPE_CHECKING:
    from numpy import bool_, float64
    from numpy.typing import NDArray

__all__ = ["HybridModel", "chances_in_clear"]

_WHO: Final = "who answers in clear"
_ASKED: Final = "who is asked what"


@dataclass(frozen=True, slots=True)
class HybridModel:
    """`share` of the respondents answer in clear, more or less often by `selection`; `local` protects the others."""

    local: LocalModel
    share: Decimal
    selection: Selection | None
    relation: str
    name: str = "hybrid"

    @property
    def mechanism(self) -> str:
        """What tells it from other hybrids, for readers."""
        parts = [f"{100 * self.share:f}".rstrip("0").rstrip(".") + "% in clear"]
        parts += [self.selection.words] if self.selection else []
        parts += ["as strata"] if self.relation == "strata" else []
        return ", ".join(parts)

    @property
    def variant(self) -> str:
        return f"{self.name} {self.mechanism} {self.local.variant}"

    def run(
        self,
        frame: StudyFrame,
        queries: Sequence[StudyQuery],
        *,
        epsilon: Decimal,
        streams: Streams,
        detailed: bool = True,
    ) -> Outcome:
        asked = by_column(queries)
        plan = self.local.plan(epsilon, len(asked))
        drawn = plan.draw(streams.stream(_ASKED), respondents=frame.size)
        clear = streams.generator(_WHO).random(frame.size) < chances_in_clear(frame, self.share, self.selection)
        answered: list[Answered] = []
        for index, (name, wanted) in enumerate(asked.items()):
            answers, entropy = frame.column(name), streams.stream(name)
            protected = self._sample(frame, answers, drawn[:, index], clear, entropy, plan)
            opened = self._opened(frame, answers, clear)
            answered += self._answer(frame, answers, wanted, protected, opened, plan)
        share = f"{float(clear.mean()):.3f}" if frame.size else "0"
        notes = {"answered in clear": share, "epsilon of a report": f"{plan.each:f}"}
        return Outcome(tuple(answered), notes=notes)

    def expect(self, frame: StudyFrame, queries: Sequence[StudyQuery], *, epsilon: Decimal) -> tuple[TheoryError, ...]:
        """None: what is expected depends on who chooses what, and the runs show it."""
        return ()

    def _randomiser(self, answers: AnswerColumn, plan: SamplingPlan) -> Randomiser:
        return self.local.oracle(answers, plan) if answers.categorical else self.local.randomiser(answers, plan)

    def _sample(
        self,
        frame: StudyFrame,
        answers: AnswerColumn,
        asked: NDArray[bool_],
        clear: NDArray[bool_],
        entropy: Entropy,
        plan: SamplingPlan,
    ) -> Sample:
        """The reports of those who answer with protection, among all of these: some were not asked, some have none."""
        people = np.flatnonzero(~clear & (frame.cells != ABSENT))
        present, asked = answers.present()[people], asked[people]
        rows = np.flatnonzero(asked & present)
        return Sample(
            reports=self._randomiser(answers, plan).randomise(entropy, answers.positions[people[rows]]),
            rows=rows,
            silent=np.flatnonzero(asked & ~present),
            places=frame.cells[people],
            people=frame.weights[people],
            number=len(frame.groups),
            inclusion=float(plan.inclusion),
            level=float(self.local.level),
        )

    def _opened(self, frame: StudyFrame, answers: AnswerColumn, clear: NDArray[bool_]) -> Clear:
        """Who answers in clear answers everything; whoever has no answer is left out."""
        rows = np.flatnonzero(self.local.reporting(frame, answers) & clear)
        return Clear(answers.positions[rows], frame.cells[rows], frame.weights[rows])

    def _answer(
        self,
        frame: StudyFrame,
        answers: AnswerColumn,
        queries: Sequence[StudyQuery],
        sample: Sample,
        opened: Clear,
        plan: SamplingPlan,
    ) -> list[Answered]:
        randomiser = self._randomiser(answers, plan)
        if not answers.categorical:
            combined = self._combine(randomiser, average_numbers(randomiser, sample), sample, opened)
            return read_numbers(frame, answers, queries, self.mechanism, combined)
        counts = self._count(self.local.oracle(answers, plan), sample, opened)
        step, truth = frame.weight_step, counted(frame, answers) * np.float64(frame.weight_step)
        answered = []
        for query in queries:
            index = category_place(answers, query)
            sides = (side[:, index] * step for side in (counts.estimates, counts.low, counts.high))
            answered.append(Answered(query, self.mechanism, truth[:, index], *sides))
        return answered

    def _count(self, oracle: FrequencyOracle, sample: Sample, opened: Clear) -> EstimatedArray:
        """Counts by the ratio, as a collection gives them: everybody's weight is public."""
        counts, found = count_categories(oracle, sample)
        if self.relation == "strata":
            return add_clear(oracle, counts.ratio, sample, opened)
        return pool_counts(found, sample, opened)

    def _combine(self, randomiser: Randomiser, protected: EstimatedArray, sample: Sample, opened: Clear) -> Combined:
        if self.relation == "strata":
            return add_clear(randomiser, protected, sample, opened)
        return pool_clear(protected, sample, opened)


def chances_in_clear(frame: StudyFrame, share: Decimal, selection: Selection | None) -> NDArray[float64]:
    """By respondent: `share` of all answer in clear; those selected are `times` as likely to, or do so for certain."""
    chances = np.full(frame.size, float(share))
    if selection is None or not frame.size:
        return chances
    answers = frame.column(selection.column)
    chosen = _selected(answers, selection)
    part = float(chosen.mean())
    if part in {0.0, 1.0}:
        return chances
    times = float(selection.times)
    others = float(share) / (1 - part + part * times)
    theirs = min(1.0, others * times)
    others = min(1.0, (float(share) - part * theirs) / (1 - part))
    return np.where(chosen, theirs, others)


def _selected(answers: AnswerColumn, selection: Selection) -> NDArray[bool_]:
    if answers.categorical:
        indices = [answers.column.position(code) for code in selection.codes]
        result: NDArray[bool_] = np.isin(answers.positions, [index for index in indices if index is not None])
        return result
    assert selection.above is not None
    numbers = answers.low + answers.step * answers.positions
    above: NDArray[bool_] = (answers.positions != ABSENT) & (numbers > float(selection.above))
    return above
