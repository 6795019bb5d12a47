"""The local model: every respondent randomises alone, and the receiver estimates from the reports.

Guarantee: local DP, epsilon per column, or in total over all columns by asking each respondent a few of them.
Requires:  strata and weights are public. Who has an answer at all is public too, or absence is an answer of its own.
Proof:     docs/proofs/local-categories.md, docs/proofs/local-numbers.md, docs/proofs/local-estimates.md
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from discreet.collect import (
    EstimatedArray,
    FrequencyOracle,
    NumberOrMissing,
    NumberRandomiser,
    Sample,
    SamplingPlan,
    Scores,
    average_numbers,
    choose_number,
    choose_oracle,
    choose_with_missing,
    correlation_matrix,
    count_categories,
    expected_absolute_error,
    expected_variances,
    frequency_oracle,
    names_one_category,
    norm_sub,
    number_randomiser,
    sample_columns,
    score_categories,
    score_numbers,
    score_numbers_or_missing,
    score_truths,
    split_columns,
    sum_cells,
    total_numbers,
)
from discreet.lab.study.execution.outcomes import (
    Answered,
    Correlations,
    Outcome,
    Protected,
    Streams,
    StudyQuery,
    TheoryError,
)
from discreet.lab.study.frame import ABSENT, AnswerColumn, StudyFrame
from discreet.lab.study.models.truth import (
    by_column,
    by_statistic,
    category_place,
    count_squares,
    counted,
    mean_values,
    multiply,
    present_weight,
    reporting,
    sum_by,
    sum_values,
)

if TYPE_CHECKING:
    from numpy import bool_, float64, int64
    from numpy.typing import NDArray

__all__ = ["AUTOMATIC", "PROTECTED", "LocalModel", "read_numbers"]

AUTOMATIC: Final = "automatic"
PROTECTED: Final = "category"
_ASKED: Final = "who is asked what"
_RATIO: Final = "ratio"


@dataclass(frozen=True, slots=True)
class _Heard:
    """The reports on one column: who reported, with what, what is estimated of it; their debiased worth when asked."""

    rows: NDArray[Any]
    shown: Protected
    debiased: Callable[[], Scores]
    estimated: Protected | None = None


@dataclass(frozen=True, slots=True)
class LocalModel:
    """No receiver is trusted: reports leave the respondent randomised."""

    categories: str = AUTOMATIC
    numbers: str = AUTOMATIC
    allocation: str = "sampling"
    missing: str = "public"
    level: Decimal = Decimal("0.95")
    epsilon_is: str = "per-column"
    counts: str = "total"
    name: str = "local"

    @property
    def variant(self) -> str:
        parts = ["local", self.categories, self.numbers]
        if self.epsilon_is == "total":
            parts.append(self.allocation)
        parts += [_RATIO] if self.counts == _RATIO else []
        return " ".join([*parts, f"missing {self.missing}"])

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
        plan = self.plan(epsilon, len(asked))
        drawn = plan.draw(streams.stream(_ASKED), respondents=frame.size)
        answered: list[Answered] = []
        heard: dict[str, _Heard] = {}
        for index, (name, wanted) in enumerate(asked.items()):
            answers = frame.column(name)
            rows = np.flatnonzero(self.reporting(frame, answers) & drawn[:, index])
            entropy = streams.stream(name)
            if answers.categorical:
                oracle = self.oracle(answers, plan)
                reports = oracle.randomise(entropy, self.coded(answers)[rows])
                counts = self._count(oracle, self._sample(frame, answers, reports, rows, drawn[:, index], plan))
                answered += self._counts(frame, answers, wanted, oracle, counts)
                heard[name] = self._hear_categories(frame, answers, oracle, reports, rows, counts)
            elif self.missing == PROTECTED:
                pairing = choose_with_missing(epsilon=plan.each, grid=answers.size)
                reports = pairing.randomise(entropy, answers.positions[rows])
                sample = self._sample(frame, answers, reports, rows, drawn[:, index], plan)
                answered += self._ratios(frame, answers, wanted, pairing, sample)
                heard[name] = self._hear_pairs(frame, answers, pairing, reports, rows)
            else:
                randomiser = self.randomiser(answers, plan)
                reports = randomiser.randomise(entropy, answers.positions[rows])
                sample = self._sample(frame, answers, reports, rows, drawn[:, index], plan)
                lines, means = self.told(randomiser.name), average_numbers(randomiser, sample)
                answered += read_numbers(frame, answers, wanted, lines, means)
                heard[name] = self._hear_numbers(frame, answers, randomiser, reports, rows)
        shown = tuple(seen for item in heard.values() for seen in (item.shown, item.estimated) if seen is not None)
        notes = {"epsilon of a report": f"{plan.each:f}", "columns asked": f"{plan.asked} of {plan.columns}"}
        correlations = self._correlate(frame, heard, plan) if detailed else ()
        return Outcome(tuple(answered), shown, correlations, notes)

    def expect(self, frame: StudyFrame, queries: Sequence[StudyQuery], *, epsilon: Decimal) -> tuple[TheoryError, ...]:
        asked = by_column(queries)
        plan = self.plan(epsilon, len(asked))
        expected: list[TheoryError] = []
        for name, wanted in asked.items():
            answers = frame.column(name)
            if answers.categorical:
                expected += self._expected_counts(frame, answers, wanted, plan)
            else:
                expected += self._expected_means(frame, answers, wanted, plan)
        return tuple(expected)

    # --- what is asked of whom ------------------------------------------------------------------------------------

    def plan(self, epsilon: Decimal, columns: int) -> SamplingPlan:
        if self.epsilon_is != "total":
            return SamplingPlan(epsilon=epsilon * columns, columns=columns, asked=columns)
        make = split_columns if self.allocation == "split" else sample_columns
        return make(epsilon=epsilon, columns=columns)

    def reporting(self, frame: StudyFrame, answers: AnswerColumn) -> NDArray[bool_]:
        """Who reports: everyone in a group, or where absence is public those who have an answer."""
        if self.missing == PROTECTED:
            everyone: NDArray[bool_] = frame.cells != ABSENT
            return everyone
        return reporting(frame, answers)

    def coded(self, answers: AnswerColumn) -> NDArray[int64]:
        """Positions of categories, absence last where it is an answer of its own."""
        return np.where(answers.present(), answers.positions, answers.size)

    def oracle(self, answers: AnswerColumn, plan: SamplingPlan) -> FrequencyOracle:
        categories = answers.size + (self.missing == PROTECTED)
        if self.categories == AUTOMATIC:
            return choose_oracle(epsilon=plan.each, categories=categories)
        return frequency_oracle(self.categories, epsilon=plan.each, categories=categories)

    def randomiser(self, answers: AnswerColumn, plan: SamplingPlan) -> NumberRandomiser:
        if self.numbers == AUTOMATIC:
            return choose_number(epsilon=plan.each, grid=answers.size)
        return number_randomiser(self.numbers, epsilon=plan.each, grid=answers.size, origin=answers.column.low_units)

    def told(self, name: str) -> str:
        return f"{name} split" if self.epsilon_is == "total" and self.allocation == "split" else name

    # --- estimates ------------------------------------------------------------------------------------------------

    def _sample(
        self,
        frame: StudyFrame,
        answers: AnswerColumn,
        reports: NDArray[Any],
        rows: NDArray[Any],
        asked: NDArray[bool_],
        plan: SamplingPlan,
    ) -> Sample:
        """The reports as a collection has them: among everybody in a group, of whom some were asked.

        Where everybody is asked everything, what weights alone say of a column is the same in every run.
        """
        silent = np.flatnonzero(asked & (frame.cells != ABSENT) & ~self.reporting(frame, answers))
        people = frame.once("everybody", lambda: np.flatnonzero(frame.cells != ABSENT))
        if people.size < frame.size:
            rows, silent = (np.searchsorted(people, those) for those in (rows, silent))
        sample = Sample(
            reports=reports,
            rows=rows,
            silent=silent,
            places=frame.cells if people.size == frame.size else frame.cells[people],
            people=frame.weights if people.size == frame.size else frame.weights[people],
            number=len(frame.groups),
            inclusion=float(plan.inclusion),
            level=float(self.level),
        )
        if plan.asked < plan.columns:
            return sample
        key = ("public", answers, self.missing)
        return replace(sample, public=frame.once(key, lambda: sample.public_sums(sample.people)))

    def _count(self, oracle: FrequencyOracle, sample: Sample) -> EstimatedArray:
        counts, _ = count_categories(oracle, sample)
        return counts.ratio if self.counts == _RATIO else counts.total

    def _counts(
        self,
        frame: StudyFrame,
        answers: AnswerColumn,
        queries: Sequence[StudyQuery],
        oracle: FrequencyOracle,
        counts: EstimatedArray,
    ) -> list[Answered]:
        truth, step = counted(frame, answers) * np.float64(frame.weight_step), frame.weight_step
        answered = []
        for query in queries:
            index = category_place(answers, query)
            sides = (counts.estimates, counts.low, counts.high)
            estimate, low, high = (side[:, index] * step for side in sides)
            answered.append(Answered(query, self.told(oracle.name), truth[:, index], estimate, low, high))
        return answered

    def _ratios(
        self,
        frame: StudyFrame,
        answers: AnswerColumn,
        queries: Sequence[StudyQuery],
        pairing: NumberOrMissing,
        sample: Sample,
    ) -> list[Answered]:
        """Means and sums of those who have a number, when who has one is hidden too."""
        asked = by_statistic(queries)
        text = self.told(pairing.name)
        answered = read_numbers(frame, answers, asked.get("mean", []), text, average_numbers(pairing, sample))
        if "sum" in asked:
            totals, unit = total_numbers(pairing, sample, offset=answers.low, step=answers.step), frame.weight_step
            sides = [side * unit for side in (totals.estimates, totals.low, totals.high)]
            answered += [Answered(query, text, sum_values(frame, answers), *sides) for query in asked["sum"]]
        return answered

    # --- theory ---------------------------------------------------------------------------------------------------

    def _expected_counts(
        self, frame: StudyFrame, answers: AnswerColumn, queries: Sequence[StudyQuery], plan: SamplingPlan
    ) -> list[TheoryError]:
        oracle, squares = self.oracle(answers, plan), count_squares(frame, answers).astype(np.float64)
        there = self.reporting(frame, answers)
        variances = expected_variances(
            weight_squares=sum_by(
                frame.cells[there], multiply(frame.weights[there], frame.weights[there]), len(frame.groups)
            ).astype(np.float64),
            category_squares=squares,
            channel=oracle.channel(),
            inclusion=plan.inclusion,
        )
        if self.counts == _RATIO:
            # what the share takes away of the draw of those asked: Σw²·((x − s)² − x²), at 1/π − 1
            everyone, whole = _weights_of(frame, frame.cells != ABSENT)
            shares = counted(frame, answers) / np.maximum(everyone, 1)[:, None]
            drawn = shares**2 * whole[:, None] - 2 * shares * squares
            variances = np.maximum(variances + drawn * (1 / float(plan.inclusion) - 1), 0.0)
        errors = expected_absolute_error(0.0, variances) * frame.weight_step
        return [TheoryError(q, self.told(oracle.name), errors[:, category_place(answers, q)]) for q in queries]

    def _expected_means(
        self, frame: StudyFrame, answers: AnswerColumn, queries: Sequence[StudyQuery], plan: SamplingPlan
    ) -> list[TheoryError]:
        if self.missing == PROTECTED:
            return self._expected_ratios(frame, answers, queries, plan)
        randomiser = self.randomiser(answers, plan)
        rows, number = np.flatnonzero(reporting(frame, answers)), len(frame.groups)
        cells, positions = frame.cells[rows], answers.positions[rows].astype(np.float64)
        weights = frame.weights[rows].astype(np.float64)
        total = np.maximum(sum_by(cells, frame.weights[rows], number), 1)
        means = sum_cells(weights * positions, cells, number) / total
        noise = sum_cells(weights**2 * randomiser.variance(positions), cells, number)
        spread = sum_cells(weights**2 * (positions - means[cells]) ** 2, cells, number)
        bias = sum_cells(weights * randomiser.bias(positions), cells, number) / total
        chance = float(plan.inclusion)
        variance = (noise / chance + (1 / chance - 1) * spread) / total.astype(np.float64) ** 2
        errors = expected_absolute_error(bias, variance) * answers.step
        weight = present_weight(frame, answers)
        return [
            TheoryError(query, self.told(randomiser.name), errors * weight if query.statistic == "sum" else errors)
            for query in queries
        ]

    def _expected_ratios(
        self, frame: StudyFrame, answers: AnswerColumn, queries: Sequence[StudyQuery], plan: SamplingPlan
    ) -> list[TheoryError]:
        """As if everyone who has a number stood at the group's mean: noise hardly depends on the position."""
        pairing = choose_with_missing(epsilon=plan.each, grid=answers.size)
        number, everyone = len(frame.groups), self.reporting(frame, answers)
        present = sum_by(frame.cells[everyone], frame.weights[everyone] * answers.present()[everyone], number)
        weight = np.maximum(sum_by(frame.cells[everyone], frame.weights[everyone], number), 1).astype(np.float64)
        squares = sum_by(
            frame.cells[everyone], multiply(frame.weights[everyone], frame.weights[everyone]), number
        ).astype(np.float64)
        means = (mean_values(frame, answers) - answers.low) / answers.step
        each = [
            float(pairing.mean_variance(np.array([mean]), missing=1 - there / all_)[0]) if there else np.nan
            for mean, there, all_ in zip(means, present, weight, strict=True)
        ]
        variance = np.array(each) * squares / weight**2 / float(plan.inclusion)
        errors = expected_absolute_error(0.0, np.nan_to_num(variance)) * answers.step
        text = self.told(pairing.name)
        # sums depend on more than the mean of a group: for them the study's runs say what to expect
        return [TheoryError(query, text, errors) for query in queries if query.statistic != "sum"]

    # --- what a receiver sees -------------------------------------------------------------------------------------

    def _hear_categories(
        self,
        frame: StudyFrame,
        answers: AnswerColumn,
        oracle: FrequencyOracle,
        reports: NDArray[Any],
        rows: NDArray[Any],
        counts: EstimatedArray,
    ) -> _Heard:
        lines, absent = self.told(oracle.name), answers.size if oracle.categories > answers.size else None
        whole = counts.estimates[:, : answers.size].sum(axis=0, keepdims=True)
        shares = norm_sub(whole, np.maximum(whole.sum(axis=1), 0.0))[0]
        estimated = Protected(answers.name, lines, "estimate", shares=shares / max(shares.sum(), 1e-300))

        def scores() -> Scores:
            return score_categories(oracle, reports, missing=absent).placed(rows, respondents=frame.size)

        if names_one_category(oracle) and absent is None:
            return _Heard(rows, Protected(answers.name, lines, "reports", values=reports, rows=rows), scores, estimated)
        return _Heard(rows, estimated, scores)

    def _hear_numbers(
        self,
        frame: StudyFrame,
        answers: AnswerColumn,
        randomiser: NumberRandomiser,
        reports: NDArray[Any],
        rows: NDArray[Any],
    ) -> _Heard:
        values = randomiser.values(reports)
        shown = Protected(answers.name, self.told(randomiser.name), "reports", values=values, rows=rows)
        return _Heard(rows, shown, lambda: score_numbers(randomiser, reports).placed(rows, respondents=frame.size))

    def _hear_pairs(
        self,
        frame: StudyFrame,
        answers: AnswerColumn,
        pairing: NumberOrMissing,
        reports: NDArray[Any],
        rows: NDArray[Any],
    ) -> _Heard:
        shown = Protected(answers.name, self.told(pairing.name), "none")
        return _Heard(
            rows, shown, lambda: score_numbers_or_missing(pairing, reports).placed(rows, respondents=frame.size)
        )

    def _correlate(self, frame: StudyFrame, heard: dict[str, _Heard], plan: SamplingPlan) -> tuple[Correlations, ...]:
        """Correlations of reports as they are, and corrected; the same people must have answered both columns."""
        if plan.columns < 2 or not plan.pair_inclusion:
            return ()
        ones, names = np.ones(frame.size, dtype=np.int64), tuple(heard)
        corrected = correlation_matrix([item.debiased() for item in heard.values()], weights=ones).matrix
        found = [Correlations(names, corrected, "corrected")]
        if all(item.shown.values is not None for item in heard.values()):
            plain = correlation_matrix([_as_truths(item, frame.size) for item in heard.values()], weights=ones).matrix
            found.insert(0, Correlations(names, plain, "reports"))
        return tuple(found)


def read_numbers(
    frame: StudyFrame, answers: AnswerColumn, queries: Sequence[StudyQuery], text: str, means: EstimatedArray
) -> list[Answered]:
    """The queries of a number from the means of its groups, which are positions on its grid.

    A sum is the mean times the weight of those who have a number, which is public.
    """
    weight = present_weight(frame, answers)
    ends = [answers.low + answers.step * side for side in (means.estimates, means.low, means.high)]
    answered = []
    for query in queries:
        total = query.statistic == "sum"
        truth = sum_values(frame, answers) if total else mean_values(frame, answers)
        times = np.where(weight > 0, weight, np.nan) if total else 1.0
        answered.append(Answered(query, text, truth, *(side * times for side in ends)))
    return answered


def _weights_of(frame: StudyFrame, those: NDArray[bool_]) -> tuple[NDArray[float64], NDArray[float64]]:
    """By group, the sums of w and w² over these respondents."""
    cells, weights = frame.cells[those], frame.weights[those].astype(np.float64)
    return sum_cells(weights, cells, len(frame.groups)), sum_cells(weights**2, cells, len(frame.groups))


def _as_truths(heard: _Heard, size: int) -> Scores:
    """The reports taken at their word."""
    values, present = np.zeros(size), np.zeros(size, dtype=np.bool_)
    values[heard.rows], present[heard.rows] = heard.shown.values, True
    return score_truths(values, present=present)
