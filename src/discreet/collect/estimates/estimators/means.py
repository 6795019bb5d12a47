"""Weighted means of numbers, estimated from randomised reports.

Guarantee: post-processing of reports; costs nothing.
Requires:  independent reports, each an unbiased value with an estimate of its variance; public weights.
Proof:     docs/proofs/local-estimates.md
Refs:      [Haj71]; [Fie54] for intervals of ratios.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Final

import numpy as np

from discreet.collect.estimates.estimators.estimated_arrays import EstimatedArray, WithEnds, normal_quantile
from discreet.collect.estimates.estimators.frequencies import inclusion_chance
from discreet.collect.estimates.estimators.sums import sum_cells

if TYPE_CHECKING:
    from numpy import float64, int64
    from numpy.typing import NDArray

    Covariances = tuple[NDArray[float64], NDArray[float64], NDArray[float64]]

__all__ = ["Means", "Ratios", "ReportPairs", "estimate_means", "estimate_ratios"]

_FEW: Final = 0.5  # where less than two respondents' worth of weight reported, the spread of reports says too little


@dataclass(frozen=True, slots=True, eq=False)
class Means(EstimatedArray):
    """Weighted means, one for each cell, in the unit of the values.

    `variances` hold the privacy noise and, where only some respondents were asked, the draw of those asked; the
    intervals follow from them. `total_variances` hold the sampling of the respondents as well, as if each had been
    drawn alone and with replacement; one respondent says nothing of it, so there it is infinite. Cells without
    reports have a nan and an interval without ends.
    """

    total_variances: NDArray[float64]

    def with_design(self) -> EstimatedArray:
        """The same means with intervals for the population from which the respondents were drawn."""
        return EstimatedArray(estimates=self.estimates, variances=self.total_variances, level=self.level)

    def scaled(self, *, offset: float, step: float) -> Means:
        """The means of offset + step · value: from positions on a grid to the unit of the question."""
        return Means(
            estimates=offset + step * self.estimates,
            variances=step**2 * self.variances,
            level=self.level,
            total_variances=step**2 * self.total_variances,
        )


def estimate_means(
    values: NDArray[float64],
    variances: NDArray[float64],
    *,
    cells: NDArray[int64],
    weights: NDArray[int64],
    number: int,
    level: float = 0.95,
    inclusion: float | Fraction = 1.0,
    rounding: float = 0.0,
) -> Means:
    """The weighted mean of the values of each cell; `inclusion` is the chance with which a respondent was asked.

    `rounding` is the part that drawing weights' classes adds to their squares (`WeightScale.rounding`).
    """
    chance = inclusion_chance(inclusion) * (1 - rounding)
    scale = weights.astype(np.float64)
    total = sum_cells(scale, cells, number)
    empty = total <= 0
    divisor = np.where(empty, 1.0, total)
    means = sum_cells(scale * values, cells, number) / divisor
    squares = scale**2
    used = _used(total, sum_cells(squares, cells, number))
    apart = sum_cells(squares * (values - means[cells]) ** 2, cells, number) / divisor**2
    spread = np.divide(apart, 1 - used, out=np.zeros(number), where=used < 1)
    noise = np.maximum(sum_cells(squares * variances, cells, number), 0.0) / divisor**2
    mixed = (1 - chance) * spread + chance * noise
    return Means(
        estimates=np.where(empty, np.nan, means),
        variances=np.where(empty, np.inf, np.where(used > _FEW, np.maximum(mixed, noise), mixed)),
        level=level,
        total_variances=np.where(empty | (used >= 1), np.inf, spread),
    )


def _used(totals: NDArray[float64], squares: NDArray[float64]) -> NDArray[float64]:
    """Σw²/(Σw)²: the part of the spread that fitting the mean takes away, 1/n for n equal weights."""
    return np.divide(squares, totals**2, out=np.zeros(len(totals)), where=totals > 0)


@dataclass(frozen=True, slots=True, eq=False)
class ReportPairs:
    """For each report two unbiased values, one above and one below the line, and the (co)variances of the two.

    For a number whose absence is protected: above, the number or 0 where it is absent; below, 1 or 0.
    """

    above: NDArray[float64]
    below: NDArray[float64]
    above_variances: NDArray[float64]
    below_variances: NDArray[float64]
    covariances: NDArray[float64]


@dataclass(frozen=True, slots=True, eq=False)
class Ratios(WithEnds):
    """Ratios of two estimated totals, one for each cell; variances by the delta method.

    Intervals are Fieller's: they need no ratio far from its noise, and have no end where the total below the line
    cannot be told from 0. Where that estimate is not positive the ratio is nan. `total_variances` are those of `Means`.
    """

    total_variances: NDArray[float64]


def estimate_ratios(
    pairs: ReportPairs,
    *,
    cells: NDArray[int64],
    weights: NDArray[int64],
    number: int,
    level: float = 0.95,
    inclusion: float | Fraction = 1.0,
    rounding: float = 0.0,
) -> Ratios:
    """The weighted total above the line over the one below it, for each cell; intervals as those of `Means`."""
    chance, scale = inclusion_chance(inclusion) * (1 - rounding), weights.astype(np.float64)
    above, below = (sum_cells(scale * values, cells, number) for values in (pairs.above, pairs.below))
    known = below > 0
    divisor = np.where(known, below, 1.0)
    ratios = above / divisor
    noise = [
        sum_cells(scale**2 * part, cells, number)
        for part in (pairs.above_variances, pairs.below_variances, pairs.covariances)
    ]
    spread = [
        sum_cells(scale**2 * part, cells, number)
        for part in (pairs.above**2, pairs.below**2, pairs.above * pairs.below)
    ]
    mixed = _proper([(1 - chance) * drawn + chance * said for drawn, said in zip(spread, noise, strict=True)])
    few = _used(sum_cells(scale, cells, number), sum_cells(scale**2, cells, number)) > _FEW
    variances, least = _delta(ratios, mixed), _delta(ratios, _proper(noise))
    return Ratios(
        estimates=np.where(known, ratios, np.nan),
        variances=np.where(known, np.where(few, np.maximum(variances, least), variances) / divisor**2, np.inf),
        level=level,
        ends=_fieller((above, below), mixed, quantile=normal_quantile(level)),
        total_variances=np.where(known, _delta(ratios, _proper(spread)) / divisor**2, np.inf),
    )


def _proper(parts: list[NDArray[float64]]) -> Covariances:
    """Estimated variances above and below and a covariance, as some pair of totals could have them."""
    above, below = np.maximum(parts[0], 0.0), np.maximum(parts[1], 0.0)
    limit = np.sqrt(above * below)
    return above, below, np.clip(parts[2], -limit, limit)


def _delta(ratios: NDArray[float64], variances: Covariances) -> NDArray[float64]:
    above, below, shared = variances
    return np.maximum(above - 2 * ratios * shared + ratios**2 * below, 0.0)


def _fieller(
    totals: tuple[NDArray[float64], NDArray[float64]],
    variances: Covariances,
    *,
    quantile: float,
) -> tuple[NDArray[float64], NDArray[float64]]:
    """The r with |above − r·below| within the quantile of its own deviation; no ends where these form no interval."""
    above, below = totals
    var_above, var_below, shared = variances
    leading = below**2 - quantile**2 * var_below
    middle = above * below - quantile**2 * shared
    last = above**2 - quantile**2 * var_above
    bounded = (leading > 0) & (below > 0)
    divisor = np.where(bounded, leading, 1.0)
    root = np.sqrt(np.maximum(middle**2 - leading * last, 0.0))
    low = np.where(bounded, (middle - root) / divisor, -np.inf)
    return low, np.where(bounded, (middle + root) / divisor, np.inf)
