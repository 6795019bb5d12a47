"""The founding report's own recipe, kept to show what it does. Not differentially private.

Guarantee: none. Its local response of k categories has ε + ln(k - 1) where ε is claimed, its central noise ignores
           weights and reads ranges from the rows, and ε is spent anew on every column.
Proof:     none; docs/errata.md says what is wrong, line by line.
Refs:      [R].

Randomised response with the keep-probability of two categories for any number of them; Laplace noise on numbers, codes
for "not stated" included, with abs() afterwards; a shuffle whose coin is inverted, so nearly every answer becomes
uniform (over all categories but the last of the alphabet, which the published tables never show); Lap(1/ε) on weighted
sums. Reports are counted as they are. Floats, as in the report.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from discreet.lab.generator.similarity import correlate
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
from discreet.lab.study.models.truth import by_column, category_place
from discreet.lab.study.raw_rows import RawRows

if TYPE_CHECKING:
    from numpy import float64, int64
    from numpy.typing import NDArray

__all__ = ["NAIVE_MECHANISMS", "NaiveModel", "claimed_keep", "real_epsilon", "shuffle_coin"]

NAIVE_MECHANISMS: Final = ("central", "local", "shuffle")


def claimed_keep(epsilon: float) -> float:
    """The chance of the true answer: that of two categories, whatever their number."""
    return 1 / (1 + math.exp(-epsilon))


def real_epsilon(epsilon: float, categories: int) -> float:
    """What that chance costs among k categories: ε + ln(k - 1)."""
    return epsilon + math.log(categories - 1)


def shuffle_coin(*, epsilon: float, columns: int, respondents: int) -> float:
    """The chance γ of a random answer after Scott, Cormode and Maple, with δ = 1 as in the report's runs."""
    others = max(respondents - 1, 1)
    if epsilon < 1:
        gamma = max(14 * columns * math.log(2) / (others * epsilon**2), 27 * columns / (others * epsilon))
    else:
        gamma = max(80 * columns * math.log(2) / (others * epsilon**2), 36 * columns / (11 * others * epsilon))
    return min(1.0, gamma)


@dataclass(frozen=True, slots=True)
class NaiveModel:
    """One of the report's three models, on the file as it was written."""

    mechanism: str
    raw: RawRows
    name: str = "naive"

    def __post_init__(self) -> None:
        if self.mechanism not in NAIVE_MECHANISMS:
            raise ValueError(f"the report had {', '.join(NAIVE_MECHANISMS)}")

    @property
    def variant(self) -> str:
        return f"naive {self.mechanism}"

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
        reports: dict[str, NDArray[Any]] = {}
        asked = by_column([query for query in queries if query.statistic != "sum"])
        known = {name: wanted for name, wanted in asked.items() if self._knows(name)}
        for name, wanted in known.items():
            answers = frame.column(name)
            generator = streams.generator(name)
            if self.mechanism == "central":
                answered += self._centrally(frame, answers, wanted, float(epsilon), generator)
                continue
            reports[name] = self._report(answers, float(epsilon), len(known), generator)
            answered += self._read(frame, answers, wanted, reports[name])
            protected.append(self._shown(answers, reports[name]))
        return Outcome(tuple(answered), tuple(protected), self._correlate(frame, reports) if detailed else ())

    def expect(self, frame: StudyFrame, queries: Sequence[StudyQuery], *, epsilon: Decimal) -> tuple[TheoryError, ...]:
        return ()

    def _knows(self, name: str) -> bool:
        return name in self.raw.numbers or name in self.raw.categories

    def _written(self, answers: AnswerColumn) -> NDArray[Any]:
        return self.raw.categories[answers.name] if answers.categorical else self.raw.numbers[answers.name]

    def _report(
        self, answers: AnswerColumn, epsilon: float, columns: int, generator: np.random.Generator
    ) -> NDArray[Any]:
        """A report for every row, kept beside its row: the shuffle is undone."""
        written = self._written(answers)
        if self.mechanism == "shuffle":
            kept = generator.random(written.size) < shuffle_coin(
                epsilon=epsilon, columns=columns, respondents=written.size
            )
            if answers.categorical:
                drawn = _all_but_last(answers)[generator.integers(0, max(answers.size - 1, 1), written.size)]
                return np.where(kept, written, drawn)
            uniform = generator.uniform(*_range(written), written.size)
            return np.where(kept | np.isnan(written), written, uniform)
        if answers.categorical:
            return _respond(written, claimed_keep(epsilon), answers.size, generator)
        low, high = _range(written)
        return np.abs(written + generator.laplace(0.0, (high - low) / epsilon, written.size))

    def _read(
        self, frame: StudyFrame, answers: AnswerColumn, queries: Sequence[StudyQuery], reports: NDArray[Any]
    ) -> list[Answered]:
        """Reports counted and averaged as if they were answers."""
        truths, read = self._truths(frame, answers), self._statistics(frame, answers, reports)
        indices = [_place(answers, query) for query in queries]
        return [
            _without_interval(query, self.mechanism, truths[:, index], read[:, index])
            for query, index in zip(queries, indices, strict=True)
        ]

    def _centrally(
        self,
        frame: StudyFrame,
        answers: AnswerColumn,
        queries: Sequence[StudyQuery],
        epsilon: float,
        generator: np.random.Generator,
    ) -> list[Answered]:
        written = self._written(answers)
        reach = 1.0
        if not answers.categorical:
            low, high = _range(written)
            reach = (high - low) / max(int(np.isfinite(written).sum()), 1)
        answered = []
        for query in queries:
            truth = self._truths(frame, answers)[:, _place(answers, query)]
            noisy = truth + generator.laplace(0.0, reach / epsilon, truth.size)
            answered.append(_without_interval(query, self.mechanism, truth, noisy))
        return answered

    def _truths(self, frame: StudyFrame, answers: AnswerColumn) -> NDArray[float64]:
        """The statistics of what was written, the same in every run."""
        return frame.once((self.raw, answers), lambda: self._statistics(frame, answers, self._written(answers)))

    def _statistics(self, frame: StudyFrame, answers: AnswerColumn, values: NDArray[Any]) -> NDArray[float64]:
        """Groups × categories, the weight of each; for a number a column of one, its weighted mean."""
        number, weights = len(frame.groups), self.raw.weights
        cells = frame.once("naive cells", lambda: np.where(frame.cells == ABSENT, number, frame.cells))
        if answers.categorical:
            # what has no group or no category goes to the places after the last
            last = number * answers.size
            indices = np.where(values >= 0, cells * answers.size + values, last)
            counts = np.bincount(indices, weights=weights, minlength=last)[:last]
            return counts.astype(np.float64, copy=False).reshape(number, answers.size)
        there = ~np.isnan(values)
        indices = np.where(there, cells, number)
        totals = np.bincount(indices, weights=weights * np.where(there, values, 0.0), minlength=number)
        with np.errstate(invalid="ignore", divide="ignore"):
            means: NDArray[float64] = totals[:number] / np.bincount(indices, weights=weights, minlength=number)[:number]
        return means[:, None]

    def _shown(self, answers: AnswerColumn, reports: NDArray[Any]) -> Protected:
        if answers.categorical:
            return Protected(answers.name, self.mechanism, "reports", values=reports, rows=np.arange(reports.size))
        rows = np.flatnonzero(~np.isnan(reports))
        shown = (reports[rows] - answers.low) / answers.step
        return Protected(answers.name, self.mechanism, "reports", values=shown, rows=rows)

    def _correlate(self, frame: StudyFrame, reports: Mapping[str, NDArray[Any]]) -> tuple[Correlations, ...]:
        """Over the rows that have both; what is not in a category list is not there."""
        if not reports:
            return ()
        values = [
            np.where(column < 0, np.nan, column) if frame.column(name).categorical else column
            for name, column in reports.items()
        ]
        return (Correlations(tuple(reports), correlate(values), "reports"),)


def _respond(written: NDArray[int64], keep: float, categories: int, generator: np.random.Generator) -> NDArray[int64]:
    if categories == 1:
        return written
    others = generator.integers(0, categories - 1, written.size)
    others += others >= written
    return np.where(generator.random(written.size) < keep, written, others)


def _all_but_last(answers: AnswerColumn) -> NDArray[int64]:
    """The places of the categories in the order of their English labels, without the last unless it is alone."""
    labels = [category.label.en for category in answers.column.categories]
    return np.array(sorted(range(len(labels)), key=labels.__getitem__)[: max(len(labels) - 1, 1)], dtype=np.int64)


def _place(answers: AnswerColumn, query: StudyQuery) -> int:
    return category_place(answers, query) if answers.categorical else 0


def _range(written: NDArray[float64]) -> tuple[float, float]:
    """From the rows, as the report took it."""
    known = written[np.isfinite(written)]
    return (float(known.min()), float(known.max())) if known.size else (0.0, 0.0)


def _without_interval(
    query: StudyQuery, mechanism: str, truth: NDArray[float64], estimate: NDArray[float64]
) -> Answered:
    nothing = np.full(truth.size, np.nan)
    return Answered(query, mechanism, truth, estimate, nothing, nothing)
