"""What a collection says: weighted estimates with intervals for every question, category and group, from reports alone.

Guarantee: post-processing of reports; costs nothing beyond the manifest's total epsilon per respondent.
Requires:  reports that passed `reports.read_collected`; public groups and weights.
Proof:     docs/proofs/local-estimates.md
Refs:      docs/local.md; the estimators name theirs.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

import numpy as np

from discreet.cards import Category, Column
from discreet.catalogue import Labels, say
from discreet.collect.estimates.estimators.estimated_arrays import EstimatedArray
from discreet.collect.estimates.estimators.norm_sub import norm_sub
from discreet.collect.estimates.estimators.shares import Counts, clip_ends
from discreet.collect.estimates.hybrid_collection import Combined, Relation
from discreet.collect.estimates.poisoning import Poisoning
from discreet.collect.estimates.question_estimates import (
    Clear,
    Sample,
    add_clear,
    average_numbers,
    count_categories,
    poison_reach,
    pool_clear,
    pool_counts,
)
from discreet.collect.estimates.replicate_weights import read_replicates
from discreet.collect.randomisers.randomiser import FrequencyOracle, Randomiser
from discreet.collect.reporting.answers import ABSENT, GivenAnswers, mark_of_token, read_answers
from discreet.collect.reporting.assignment import randomiser_for
from discreet.collect.reporting.manifest import Manifest, Missing, SurveyQuestion
from discreet.collect.reporting.reports import AcceptedReports, Refusal, read_collected
from discreet.collect.reporting.signing import SignedManifest
from discreet.errors import UsageError
from discreet.guarantees import LocalDP

if TYPE_CHECKING:
    from numpy import int64
    from numpy.typing import NDArray

__all__ = ["BoundedFigure", "Collection", "Estimate", "collect_estimates"]

Counted = Literal["noise", "questions", "design"]
"""What intervals count: privacy noise; the draw of questions too; or privacy and the design of the survey."""

Warned = tuple[str, Labels]
"""A question, or none where it is about all of them, and what must be said beside it."""

_LARGEST_TABLE: Final = 500_000


@dataclass(frozen=True, slots=True)
class BoundedFigure:
    """A number with its interval; None stands for what the reports cannot tell."""

    estimate: float | None
    low: float | None
    high: float | None


_NOTHING: Final = BoundedFigure(None, None, None)


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean, or a count in its three forms. None stands for what the reports cannot tell.

    `estimate` of a count is the total of the reports over the chance of being asked, `ratio` the share times the weight
    of everybody, and `adjusted` what Norm-Sub makes of the latter.
    """

    question: str
    statistic: str
    category: str | None
    label: str | None
    groups: tuple[str, ...]
    estimate: float | None
    low: float | None
    high: float | None
    adjusted: float | None = None
    adjusted_low: float | None = None
    adjusted_high: float | None = None
    share: BoundedFigure = _NOTHING
    ratio: BoundedFigure = _NOTHING
    adjusted_share: BoundedFigure = _NOTHING

    @classmethod
    def of_count(
        cls,
        question: str,
        category: str,
        label: str,
        groups: tuple[str, ...],
        total: BoundedFigure,
        adjusted: BoundedFigure,
        share: BoundedFigure,
        ratio: BoundedFigure,
        adjusted_share: BoundedFigure,
    ) -> Estimate:
        """A count in all its forms."""
        return cls(
            *(question, "count", category, label, groups),
            *(total.estimate, total.low, total.high),
            *(adjusted.estimate, adjusted.low, adjusted.high),
            share=share,
            ratio=ratio,
            adjusted_share=adjusted_share,
        )


@dataclass(frozen=True, slots=True)
class Collection:
    """All estimates of a collection, and everything that must be said beside them."""

    signed: SignedManifest
    by: tuple[str, ...]
    level: float
    accepted: int
    clear: int
    refused: Mapping[Refusal, int]
    variance: Counted
    estimates: tuple[Estimate, ...]
    poisoning: tuple[Poisoning, ...]
    warnings: tuple[Warned, ...]

    @property
    def guarantee(self) -> LocalDP:
        return self.signed.manifest.guarantee()

    @property
    def sampled(self) -> bool:
        """Whether respondents were asked some of the questions only, so that the two kinds of counts differ."""
        return self.signed.manifest.inclusion < 1


@dataclass(frozen=True, slots=True)
class _Cells:
    """The cross of some groups: every combination of their categories is a cell, whether anybody is in it or not."""

    groups: tuple[Column, ...]

    @property
    def number(self) -> int:
        return math.prod(len(group.categories) for group in self.groups)

    def place(self, positions: Mapping[str, NDArray[int64]], respondents: int) -> NDArray[int64]:
        cells = np.zeros(respondents, dtype=np.int64)
        for group in self.groups:
            cells = cells * len(group.categories) + positions[group.name]
        return cells

    def codes(self) -> Iterator[tuple[str, ...]]:
        return itertools.product(*([category.code for category in group.categories] for group in self.groups))


def collect_estimates(
    signed: SignedManifest,
    reports: Path,
    *,
    by: Sequence[str] = (),
    level: float = 0.95,
    lang: str = "en",
    replicates: Path | None = None,
    clear: Path | None = None,
    encoding: str | None = None,
    relation: Relation = "samples",
) -> Collection:
    """Read a file of reports and estimate every question in every cell of the groups named in `by`.

    `encoding` is that of the answers in clear.
    """
    manifest = signed.manifest
    cells = _cells(manifest, by)
    if clear is None and relation != "samples":
        raise UsageError(say("--strata says how --clear FILE joins the reports; give that file, or leave it out."))
    if clear is not None and replicates is not None:
        raise UsageError(say("--replicates and --clear do not go together yet; estimate the two groups apart."))
    opened = None if clear is None else read_answers(clear, manifest, encoding=encoding)
    marks = frozenset(mark_of_token(signed.digest, token) for token in opened.tokens) if opened else frozenset[str]()
    collected = read_collected(reports, signed, clear=marks)
    weights = None if replicates is None else read_replicates(replicates, signed, collected)
    work = _Work(manifest, cells, collected, opened, relation, level, weights, lang)
    found = [work.question(question) for question in manifest.questions]
    text: Counted = "questions" if manifest.inclusion < 1 else "noise"
    return Collection(
        signed=signed,
        by=tuple(by),
        level=level,
        accepted=collected.respondents,
        clear=0 if opened is None else opened.respondents,
        refused=collected.refused,
        variance="design" if work.about_population else text,
        estimates=tuple(estimate for estimates, _, _ in found for estimate in estimates),
        poisoning=tuple(poisoning for _, poisoning, _ in found),
        warnings=tuple(dict.fromkeys(warned for _, _, warned in found if warned)),
    )


def _cells(manifest: Manifest, by: Sequence[str]) -> _Cells:
    cells = _Cells(tuple(manifest.group(name) for name in by))
    if len(set(by)) != len(by):
        raise UsageError(say("--by names a group twice."))
    size = cells.number * max(max(len(question.answers), 1) for question in manifest.questions)
    if size > _LARGEST_TABLE:
        raise UsageError(
            say(
                "--by makes {number:,} groups, and with the answers of the longest question {size:,} estimates; "
                "at most {most:,} can be made at once. Name fewer groups.",
                number=cells.number,
                size=size,
                most=_LARGEST_TABLE,
            )
        )
    return cells


@dataclass(frozen=True, slots=True, eq=False)
class _Work:
    """What every question's estimate needs."""

    manifest: Manifest
    cells: _Cells
    collected: AcceptedReports
    opened: GivenAnswers | None
    relation: Relation
    level: float
    replicates: NDArray[int64] | None
    lang: str

    @property
    def about_population(self) -> bool:
        """Whether intervals hold the drawing of the respondents as well."""
        return self.replicates is not None or (self.opened is not None and self.relation == "samples")

    def question(self, question: SurveyQuestion) -> tuple[list[Estimate], Poisoning, Warned | None]:
        """The estimates of a question, how far a false report moves them, and a warning where one is due."""
        randomiser, sample = randomiser_for(question), self._sample(question)
        reach = poison_reach(randomiser, sample, weights=self._largest_weights())
        if isinstance(randomiser, FrequencyOracle):
            counts, warning = self._joined_counts(question, randomiser, sample)
            text = Poisoning(question.name, "count", reach * self._weight_step())
            return list(self._counts(question, sample, counts)), text, warning
        assert question.column.step is not None
        estimated, warning = average_numbers(randomiser, sample), None
        if self.opened is not None:
            combined = self._join(randomiser, estimated, sample, self._clear(question, self.opened))
            estimated, warning = combined, _warning(question, combined)
        proportional = question.missing is Missing.PUBLIC
        text = Poisoning(question.name, "mean", reach * float(question.column.step), proportional)
        return list(self._means(question, estimated)), text, warning

    def _joined_counts(
        self, question: SurveyQuestion, oracle: FrequencyOracle, sample: Sample
    ) -> tuple[Counts, Warned | None]:
        """The counts of all respondents, those who answered in clear included, and a warning where there are any."""
        counts, found = count_categories(oracle, sample)
        if self.opened is None:
            return counts, None
        clear = self._clear(question, self.opened)
        if self.relation == "strata":
            total = add_clear(oracle, counts.total, sample, clear)
            ratio: EstimatedArray = add_clear(oracle, counts.ratio, sample, clear)
        else:
            total = pool_clear(found, sample, clear)
            ratio = pool_counts(found, sample, clear)
        return Counts.of_ratio(total, ratio, self._everybody()), _warning(question, total)

    def _join(self, randomiser: Randomiser, protected: EstimatedArray, sample: Sample, clear: Clear) -> Combined:
        if self.relation == "samples":
            return pool_clear(protected, sample, clear)
        return add_clear(randomiser, protected, sample, clear)

    def _sample(self, question: SurveyQuestion) -> Sample:
        drawn = self.collected.questions[question.name]
        return Sample(
            reports=drawn.reports,
            rows=drawn.rows,
            silent=drawn.absent,
            places=self.cells.place(self.collected.groups, self.collected.respondents),
            people=self.collected.weights,
            number=self.cells.number,
            inclusion=float(self.manifest.inclusion),
            level=self.level,
            replicates=self.replicates,
            rounding=0.0 if self.manifest.weight is None else self.manifest.weight.rounding,
        )

    def _clear(self, question: SurveyQuestion, opened: GivenAnswers) -> Clear:
        positions = opened.positions[question.name]
        given = positions != ABSENT
        cells = self.cells.place(opened.groups, opened.respondents)
        return Clear(positions[given], cells[given], opened.weights[given])

    def _everybody(self) -> NDArray[np.float64]:
        """The weight of all respondents of each cell, whatever they were asked."""
        totals = np.zeros(self.cells.number, dtype=np.int64)
        np.add.at(totals, self.cells.place(self.collected.groups, self.collected.respondents), self.collected.weights)
        if self.opened is not None:
            np.add.at(totals, self.cells.place(self.opened.groups, self.opened.respondents), self.opened.weights)
        return totals.astype(np.float64)

    def _counts(self, question: SurveyQuestion, sample: Sample, counts: Counts) -> Iterator[Estimate]:
        step = self._weight_step()
        adjusted, part = self._adjusted(question, sample, counts)
        adjusted = [step * array for array in adjusted]
        total, ratio = ([step * array for array in _with_ends(each)] for each in (counts.total, counts.ratio))
        share = _with_ends(counts.share)
        for cell, groups in enumerate(self.cells.codes()):
            for index, category in enumerate(question.answers):
                figures = [
                    BoundedFigure(*(_finite(array[cell, index]) for array in arrays))
                    for arrays in (total, adjusted, share, ratio, part)
                ]
                yield Estimate.of_count(question.name, *_named(category, self.lang), groups, *figures)

    def _adjusted(
        self, question: SurveyQuestion, sample: Sample, counts: Counts
    ) -> tuple[list[NDArray[np.float64]], list[NDArray[np.float64]]]:
        """Counts of a cell that are not negative and add up, with the ends of their intervals; then as shares.

        They add up to the weight of all its respondents, less those who gave no answer in public. Those of them who are
        known bound each count, unless it is about a population of which the respondents are a sample.
        """
        answered, known = sample.answered(), sample.known()
        if self.opened is not None:
            clear = self._clear(question, self.opened).totals(sample.number)
            answered, known = answered + clear, known + clear
        adjusted = norm_sub(counts.ratio.estimates, answered)
        everybody = self._everybody()[:, None]
        shares = np.divide(adjusted, everybody, out=np.full_like(adjusted, np.nan), where=everybody > 0)
        parts = np.divide(known[:, None], everybody, out=np.ones_like(everybody), where=everybody > 0)
        largest = np.full_like(everybody, np.inf) if self.about_population else known[:, None]
        return (
            [adjusted, *clip_ends(counts.ratio, adjusted, largest)],
            [shares, *clip_ends(counts.share, shares, np.ones_like(parts) if self.about_population else parts)],
        )

    def _means(self, question: SurveyQuestion, found: EstimatedArray) -> Iterator[Estimate]:
        column = question.column
        assert column.bounds is not None
        assert column.step is not None
        low, step = float(column.bounds[0]), float(column.step)
        arrays = [low + step * array for array in (found.estimates, found.low, found.high)]
        for cell, groups in enumerate(self.cells.codes()):
            numbers = [_finite(array[cell]) for array in arrays]
            yield Estimate(question.name, "mean", None, None, groups, numbers[0], numbers[1], numbers[2])

    def _weight_step(self) -> float:
        return 1.0 if self.manifest.weight is None else float(self.manifest.weight.step)

    def _largest_weights(self) -> NDArray[int64]:
        """The cap of each cell: its own where the cells tell it, else the largest of all."""
        scale, names = self.manifest.weight, [group.name for group in self.cells.groups]
        if scale is None:
            return np.ones(self.cells.number, dtype=np.int64)
        if scale.rule.by not in names:
            return np.full(self.cells.number, scale.largest_steps, dtype=np.int64)
        index = names.index(scale.rule.by)
        return np.array([scale.cap_steps(codes[index]) for codes in self.cells.codes()], dtype=np.int64)


def _named(category: Category, lang: str) -> tuple[str, str]:
    return category.code, category.label.text(lang)


def _with_ends(found: EstimatedArray) -> tuple[NDArray[np.float64], ...]:
    return found.estimates, found.low, found.high


def _finite(number: float) -> float | None:
    return float(number) if math.isfinite(number) else None


def _warning(question: SurveyQuestion, combined: Combined) -> Warned:
    """A warning that names its question only where the two groups of that question differ."""
    return (question.name if combined.apart.any() else "", combined.caution)
