"""Every figure of a table from the stored noise: the linear estimate, its intervals, and what is published of it.

Post-processing of a stored answer: the same noisy values always give the same table, and nothing is charged for it.
Estimates are held in whole steps of the measure; noise is known by the mechanisms that were stored with it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.intervals import NoisePart, half_width, mean_size, variance
from discreet.mechanisms import NoisyMax
from discreet.release import NoisyMeasure
from discreet.results import Number, Quality
from discreet.tables.linear.consistency import publish, weigh_margins
from discreet.tables.linear.estimation import LinearEstimator, estimator_of
from discreet.tables.linear.layout import Layout, Margin, Observation
from discreet.tables.linear.margin_strategies import MeasuredShare
from discreet.tables.quality import rate_many

__all__ = ["EstimatedMeasure", "MarginFigures"]

Floats = NDArray[np.float64]

_LEAST: Final = 1e-30
"""Noise of a smaller variance is as good as none, but a weight needs a number that is not 0."""


@dataclass(frozen=True)
class MarginFigures:
    """The figures of one margin, flat: what is published, what it was estimated from, its ends and standard errors.

    `sampling` are variances that sampling adds, where they were measured; `judged` is what errors are relative to, the
    published value unless something else is said. After calibration, `positions` are those of the margin's figures that
    are left, and `before` what would have been published of them without. Figures that are `too_small` are not shown;
    what is here of them is for whoever asks how often intervals hold before figures are left out.
    """

    values: Sequence[Number]
    raw: Sequence[Number]
    low: Sequence[Number | None]
    high: Sequence[Number | None]
    errors: Floats
    sampling: Floats | None = None
    positions: Sequence[int] | None = None
    before: Sequence[Number | None] | None = None
    judged: Floats | None = None
    qualities: Sequence[Quality] | None = None
    too_small: NDArray[np.bool_] | None = None

    def grades(self) -> Sequence[Quality]:
        """How far to trust each figure."""
        if self.qualities is not None:
            return self.qualities
        return rate_many(self.values if self.judged is None else self.judged, self.errors, self.sampling)


@dataclass(frozen=True)
class EstimatedMeasure:
    """One measure of a table, estimated from what was observed of it."""

    layout: Layout
    measured: Sequence[MeasuredShare]
    noisy: Sequence[NoisyMeasure]

    @cached_property
    def estimator(self) -> LinearEstimator:
        return estimator_of(self.layout, tuple(self._observation(index) for index in range(len(self.measured))))

    def _observation(self, index: int) -> Observation:
        item = self.measured[index]
        slices = self.layout.slices if self.layout.keeps_slices(item.kept) else 1
        found = tuple(max(variance(self._mechanism(index, number)), _LEAST) for number in range(slices))
        return Observation(item.kept, item.residual, found)

    def _mechanism(self, index: int, slice_place: int) -> Any:
        """The mechanism behind a value: one for all, or the slice's own."""
        mechanisms = self.noisy[index].mechanisms
        mechanism = mechanisms[slice_place if len(mechanisms) > 1 else 0]
        assert mechanism is not None
        assert not isinstance(mechanism, NoisyMax), "tables are made of counts and totals"
        return mechanism

    @cached_property
    def raw(self) -> Floats:
        """The unbiased estimate of every cell."""
        values = [
            np.array([float(value) for value in noisy.values]).reshape(self.layout.shape(item.kept))
            for item, noisy in zip(self.measured, self.noisy, strict=True)
        ]
        return self.estimator.estimate(values)

    def published(self, *, nonnegative: bool, fold: int = 1) -> NDArray[Any]:
        """Whole numbers near the estimate, in the margins too, and not negative where they must not be.

        Each stands for `fold` whole steps of the measure.
        """
        variances = {margin: float(np.mean(self.estimator.variances(margin))) for margin in self.layout.margins}
        weights = weigh_margins(self.layout.sizes, variances)
        return publish(self.raw / fold, weights=weights, nonnegative=nonnegative)

    def half_widths(self, margin: Margin, level: Decimal) -> Floats:
        """How far off the figures of a margin may be at this level, in the margin's shape: a whole step at least."""
        found = [half_width(self.parts(margin, index), level) for index in range(self.slice_count(margin))]
        return self._spread(margin, np.maximum(found, 1.0))

    def mean_errors(self, margin: Margin) -> Floats:
        """How far off the figures of a margin are on average, one for each law of their noise, in whole steps."""
        return np.array([mean_size(self.parts(margin, index)) for index in range(self.slice_count(margin))])

    def slice_count(self, margin: Margin) -> int:
        """How many laws the noise of a margin's figures has."""
        return self.layout.slices if self.layout.keeps_slices(margin) else 1

    def slices(self, margin: Margin) -> NDArray[np.int64]:
        """Which of these laws each figure has, in the margin's shape."""
        return self._spread(margin, np.arange(self.slice_count(margin))).astype(np.int64)

    def standard_errors(self, margin: Margin) -> Floats:
        """The standard error of the figures of a margin, in the margin's shape."""
        return self._spread(margin, np.sqrt(self.estimator.variances(margin)))

    def influences(self, weights: Floats) -> list[tuple[Floats, Any]]:
        """How every draw enters Σ weight · estimate over all cells: flat coefficients with their mechanism."""
        result: list[tuple[Floats, Any]] = []
        for index, (item, coefficients) in enumerate(
            zip(self.measured, self.estimator.influences(weights), strict=True)
        ):
            if not self.layout.keeps_slices(item.kept):
                result.append((coefficients.ravel(), self._mechanism(index, 0)))
                continue
            assert self.layout.slicing is not None
            slices = np.moveaxis(coefficients, item.kept.index(self.layout.slicing), 0)
            result += [(part.ravel(), self._mechanism(index, number)) for number, part in enumerate(slices)]
        return result

    def parts(self, margin: Margin, slice_place: int) -> list[NoisePart]:
        """The noise in one figure of a margin, in whole steps."""
        return [
            NoisePart(term.coefficient, self._mechanism(term.observation, term.slice_place), term.count)
            for term in self.estimator.terms(margin, slice_place)
        ]

    def _spread(self, margin: Margin, figures: ArrayLike) -> Floats:
        """One figure for each slice, or for all cells, in the margin's shape."""
        shape = [1] * len(margin)
        if self.layout.slicing is not None and self.layout.slicing in margin:
            shape[margin.index(self.layout.slicing)] = self.layout.slices
        return np.broadcast_to(np.asarray(figures, dtype=np.float64).reshape(shape), self.layout.shape(margin))
