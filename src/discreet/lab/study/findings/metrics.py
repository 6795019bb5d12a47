"""How much of the data's shape survives: KSComplement and CorrelationSimilarity, as SDMetrics defines them.

KSComplement is 1 minus the largest gap between two cumulated distributions; CorrelationSimilarity is
1 - |r - s|/2 for the correlations r of the original and s of the protected data. 1 is best for both. Both are computed
from counts and cross products, so a run of 10^5 respondents costs milliseconds.

Reports are compared with the respondents' answers, unweighted, as SDMetrics does; estimated shares speak of the
population, so they are compared with the weighted answers.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from discreet.lab.generator.similarity import correlate, present
from discreet.lab.study.execution.outcomes import Correlations, Outcome, Protected
from discreet.lab.study.findings.bins import Bins
from discreet.lab.study.frame import ABSENT, AnswerColumn, StudyFrame

if TYPE_CHECKING:
    from numpy import float64
    from numpy.typing import NDArray

__all__ = [
    "AVERAGE",
    "CORRELATION_SIMILARITY",
    "KS_COMPLEMENT",
    "CorrelationRow",
    "QualityRow",
    "RunQuality",
    "ShapeRow",
    "measure",
]

KS_COMPLEMENT: Final = "ks-complement"
CORRELATION_SIMILARITY: Final = "correlation-similarity"
AVERAGE: Final = "(average)"

_UNCHANGED: Final = "unchanged"


class QualityRow(NamedTuple):
    """One metric of one column, or of all columns of one sort together (`column` is then AVERAGE)."""

    mechanism: str
    column: str
    static: bool
    metric: str
    basis: str
    value: float


class ShapeRow(NamedTuple):
    """The share of one bin of a column, before and after."""

    mechanism: str
    column: str
    bin: int
    label: str
    original: float
    protected: float
    basis: str


class CorrelationRow(NamedTuple):
    """The correlation of two columns, before and after; nan after where none can be given."""

    mechanism: str
    first: str
    second: str
    original: float
    protected: float
    basis: str


@dataclass(frozen=True, slots=True)
class RunQuality:
    """The quality of one run's outcome; shapes and correlations only where details were asked for."""

    quality: tuple[QualityRow, ...]
    shapes: tuple[ShapeRow, ...] = ()
    correlations: tuple[CorrelationRow, ...] = ()


def measure(frame: StudyFrame, outcome: Outcome, *, detailed: bool, variant: str = "") -> RunQuality:
    """Every metric of an outcome; with `detailed` also the bins and pairs behind them.

    Rows that speak of several columns, each with a mechanism of its own, name the variant in its place.
    """
    original = frame.once("correlations", lambda: _original(frame))
    quality: list[QualityRow] = []
    shapes: list[ShapeRow] = []
    correlations: list[CorrelationRow] = []
    for protected in outcome.protected:
        if protected.values is None and protected.shares is None:
            # Its receiver sees no shape of this column, so there is nothing to compare.
            continue
        compared = _compare(frame, protected)
        value = ks_from_shares(compared.original, compared.protected)
        if compared.exact is not None:
            value = compared.exact
        quality.append(QualityRow(protected.mechanism, protected.column, False, KS_COMPLEMENT, protected.basis, value))
        if detailed:
            shapes += _shape_rows(frame.column(protected.column), protected, compared)
    quality += _static_rows(frame, outcome.protected)
    for matrix in outcome.correlations:
        reference = original.matrix(matrix.columns)
        quality += _similarity_rows(frame, matrix, reference, variant)
        if detailed:
            correlations += _correlation_rows(matrix, reference, variant)
    return RunQuality((*quality, *_averages(quality, variant)), tuple(shapes), tuple(correlations))


def ks_from_shares(original: NDArray[float64], protected: NDArray[float64]) -> float:
    """KSComplement of two distributions over the same ordered bins; shares below zero count as none."""
    sides = [np.maximum(side, 0) for side in (original, protected)]
    if any(not side.sum() > 0 for side in sides):
        return float("nan")
    left, right = (np.cumsum(side / side.sum()) for side in sides)
    return float(1 - np.abs(left - right).max())


@dataclass(frozen=True, slots=True)
class _Compared:
    """A column's bins before and after; `exact` is a KSComplement finer than these bins can tell."""

    bins: Bins
    original: NDArray[float64]
    protected: NDArray[float64]
    exact: float | None = None


def _compare(frame: StudyFrame, protected: Protected) -> _Compared:
    answers = frame.column(protected.column)
    if protected.shares is not None:
        bins = Bins.of_shares(answers, protected.shares.size)
        before = frame.once(("weighted shares", answers, bins), lambda: _weighted_shares(frame, answers, bins))
        return _Compared(bins, before, bins.with_ends(protected.shares))
    assert protected.values is not None
    bins = Bins.of_column(answers)
    given = frame.once(("given", answers), lambda: _Given.of(answers, bins))
    values = _reported(answers, protected.values)
    exact = None if answers.categorical else _ks_of_positions(given, values)
    return _Compared(bins, given.shares, bins.shares(values), exact)


def _weighted_shares(frame: StudyFrame, answers: AnswerColumn, bins: Bins) -> NDArray[float64]:
    there = answers.present() & (frame.cells != ABSENT)
    return bins.shares(answers.positions[there], frame.weights[there])


@dataclass(frozen=True, slots=True)
class _Given:
    """The answers of a column as they were given: the share of each bin, and of all up to each position that occurs."""

    shares: NDArray[float64]
    points: NDArray[Any]
    upto: NDArray[float64]

    @classmethod
    def of(cls, answers: AnswerColumn, bins: Bins) -> _Given:
        positions = answers.positions[answers.present()]
        counts = np.bincount(positions)
        points = np.flatnonzero(counts)
        return cls(bins.shares(positions), points, np.cumsum(counts[points]) / max(positions.size, 1))


def _reported(answers: AnswerColumn, values: NDArray[Any]) -> NDArray[Any]:
    """The values that were given. A category below zero is absent; a number below zero has left its grid."""
    if answers.categorical:
        return values[values >= 0]
    return values[np.isfinite(values)] if values.dtype.kind == "f" else values


def _ks_of_positions(given: _Given, values: NDArray[Any]) -> float:
    """KSComplement where the original side takes few whole values: only those and their left limits can be widest."""
    points, before = given.points, given.upto
    if not points.size or not values.size:
        return float("nan")
    ordered = np.sort(present(values))
    upto = np.searchsorted(ordered, points, side="right") / ordered.size
    below = np.searchsorted(ordered, points, side="left") / ordered.size
    gap = max(np.abs(before - upto).max(), np.abs(np.concatenate([[0.0], before[:-1]]) - below).max())
    return float(1 - gap)


def _shape_rows(answers: AnswerColumn, protected: Protected, compared: _Compared) -> list[ShapeRow]:
    labels = compared.bins.labels(answers)
    first = compared.bins.first
    pairs = zip(labels, compared.original.tolist(), compared.protected.tolist(), strict=True)
    return [
        ShapeRow(protected.mechanism, protected.column, first + index, label, before, after, protected.basis)
        for index, (label, before, after) in enumerate(pairs)
        if 0 < index < len(labels) - 1 or before or after
    ]


def _static_rows(frame: StudyFrame, protected: Iterable[Protected]) -> list[QualityRow]:
    """Columns that the study leaves as they are keep their shape by definition."""
    done = {item.column for item in protected}
    return [
        QualityRow(_UNCHANGED, name, True, KS_COMPLEMENT, _UNCHANGED, 1.0)
        for name, answers in frame.columns.items()
        if answers.static and name not in done
    ]


def _similarity_rows(
    frame: StudyFrame, matrix: Correlations, reference: NDArray[float64], variant: str
) -> list[QualityRow]:
    """Each column's mean over its pairs, then the mean over the pairs with a protected column."""
    scores = 1 - np.abs(reference - matrix.matrix) / 2
    np.fill_diagonal(scores, np.nan)
    static = np.array([frame.column(name).static for name in matrix.columns])
    rows = [
        QualityRow(variant, name, bool(static[index]), CORRELATION_SIMILARITY, matrix.basis, _mean(scores[index]))
        for index, name in enumerate(matrix.columns)
    ]
    upper = np.triu(np.ones_like(scores, dtype=bool), k=1)
    changed = upper & ~np.logical_and.outer(static, static)
    average = _mean(scores[changed])
    return [*rows, QualityRow(variant, AVERAGE, False, CORRELATION_SIMILARITY, matrix.basis, average)]


def _correlation_rows(matrix: Correlations, reference: NDArray[float64], variant: str) -> list[CorrelationRow]:
    return [
        CorrelationRow(variant, first, second, float(reference[i, j]), float(matrix.matrix[i, j]), matrix.basis)
        for i, first in enumerate(matrix.columns)
        for j, second in enumerate(matrix.columns)
        if i < j
    ]


def _averages(quality: Sequence[QualityRow], variant: str) -> list[QualityRow]:
    """The mean KSComplement over the protected columns of each basis, and that of the static columns, apart."""
    sorts = dict.fromkeys((row.static, row.basis) for row in quality if row.metric == KS_COMPLEMENT)
    rows = []
    for static, basis in sorts:
        chosen = [
            row.value
            for row in quality
            if row.metric == KS_COMPLEMENT and row.static == static and row.basis == basis and row.column != AVERAGE
        ]
        rows.append(QualityRow(variant, AVERAGE, static, KS_COMPLEMENT, basis, _mean(np.array(chosen))))
    return rows


def _mean(values: NDArray[Any]) -> float:
    there = values[np.isfinite(values)]
    return float(there.mean()) if there.size else float("nan")


@dataclass(frozen=True, slots=True)
class _Original:
    """The correlations of the true answers, computed once for a frame."""

    places: dict[str, int]
    correlations: NDArray[float64]

    def matrix(self, columns: Sequence[str]) -> NDArray[float64]:
        chosen = [self.places[name] for name in columns]
        picked: NDArray[float64] = self.correlations[np.ix_(chosen, chosen)]
        return picked


def _original(frame: StudyFrame) -> _Original:
    columns = frame.columns
    values = [np.where(item.present(), item.positions, np.nan) for item in columns.values()]
    return _Original({name: index for index, name in enumerate(columns)}, correlate(values))
