"""Estimates for one question: counts of categories or means of numbers, of protected and of clear respondents.

Counts are in steps of the weight and means in positions on the grid; `collection` turns them into units.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.collect.estimates.estimators.estimated_arrays import EstimatedArray
from discreet.collect.estimates.estimators.frequencies import Frequencies, estimate_frequencies
from discreet.collect.estimates.estimators.means import Means, Ratios, estimate_means, estimate_ratios
from discreet.collect.estimates.estimators.shares import Counts, PublicSums, estimate_shares
from discreet.collect.estimates.estimators.sums import sum_cells
from discreet.collect.estimates.hybrid_collection import Combined, add_strata, pool_samples
from discreet.collect.estimates.poisoning import count_reach, mean_reach, ratio_reach
from discreet.collect.estimates.replicates import replicate_variance
from discreet.collect.randomisers.grid import GridRandomiser
from discreet.collect.randomisers.missing_numbers import NumberOrMissing, SplitNumber
from discreet.collect.randomisers.randomiser import FrequencyOracle, NumberRandomiser, Randomiser

if TYPE_CHECKING:
    from numpy import float64, int64
    from numpy.typing import NDArray

__all__ = [
    "Clear",
    "Counts",
    "Sample",
    "add_clear",
    "average_numbers",
    "count_categories",
    "poison_reach",
    "pool_clear",
    "pool_counts",
    "total_numbers",
]


@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """The reports on one question, among everybody who reported at all.

    `places` are the cells and `people` the weights of all respondents, `rows` the places of those who reported on this
    question and `silent` of those who were asked and gave no answer in public. `replicates` has a row of weights of all
    respondents for each replicate; `rounding` is what drawing classes of weights adds to their squares; `public` is
    what the weights of all say, where that is known from another sample of the same people.
    """

    reports: NDArray[Any]
    rows: NDArray[int64]
    silent: NDArray[int64]
    places: NDArray[int64]
    people: NDArray[int64]
    number: int
    inclusion: float
    level: float
    replicates: NDArray[int64] | None = None
    rounding: float = 0.0
    public: PublicSums | None = None

    @property
    def cells(self) -> NDArray[int64]:
        return self.places[self.rows]

    @property
    def weights(self) -> NDArray[int64]:
        return self.people[self.rows]

    def totals(self) -> NDArray[float64]:
        """The weight of each cell that these reports stand for."""
        return sum_cells(self.weights.astype(np.float64), self.cells, self.number) / self.inclusion

    def known(self) -> NDArray[float64]:
        """The most weight of each cell that may have given an answer: all but those who gave none in public."""
        sums = self.public_sums(self.people)
        return sums.everybody - sums.silent

    def answered(self) -> NDArray[float64]:
        """The weight of each cell that gave an answer, or would have: in the same part as those who were asked."""
        sums, heard = self.public_sums(self.people), self.totals() * self.inclusion
        asked = heard + sums.silent
        return sums.everybody * np.divide(heard, asked, out=np.ones(self.number), where=asked > 0)

    def public_sums(self, people: NDArray[int64]) -> PublicSums:
        """What the weights alone say of each cell."""
        if self.public is not None and people is self.people:
            return self.public
        weights, cells = people.astype(np.float64), self.places[self.silent]
        return PublicSums(
            everybody=sum_cells(weights, self.places, self.number),
            everybody_squares=sum_cells(weights**2, self.places, self.number),
            silent=sum_cells(weights[self.silent], cells, self.number),
            silent_squares=sum_cells(weights[self.silent] ** 2, cells, self.number),
        )


@dataclass(frozen=True, slots=True, eq=False)
class Clear:
    """Answers given in clear: positions, with their cells and weights. Those that are missing are left out."""

    positions: NDArray[int64]
    cells: NDArray[int64]
    weights: NDArray[int64]

    def totals(self, number: int) -> NDArray[float64]:
        return sum_cells(self.weights.astype(np.float64), self.cells, number)


# --- protected respondents ------------------------------------------------------------------------------------------


def count_categories(oracle: FrequencyOracle, sample: Sample) -> tuple[Counts, Frequencies]:
    """Weighted counts and shares by all reports, and the frequencies they were made from."""
    cells = sample.cells

    def counts_for(people: NDArray[int64]) -> tuple[Counts, Frequencies]:
        tally = oracle.tally(sample.reports, cells=cells, weights=people[sample.rows], number=sample.number)
        found = estimate_frequencies(
            tally, oracle.channel(), inclusion=sample.inclusion, level=sample.level, rounding=sample.rounding
        )
        return estimate_shares(found, sample.public_sums(people), rounding=sample.rounding), found

    counts, found = counts_for(sample.people)
    if sample.replicates is None:
        return counts, found

    def stacked(people: NDArray[int64]) -> NDArray[float64]:
        made, _ = counts_for(people)
        return np.stack([made.total.estimates, made.share.estimates, made.ratio.estimates])

    drawn = _replicated(sample, stacked)
    total, share, ratio = (
        EstimatedArray(estimates, variances, sample.level)
        for estimates, variances in zip(drawn.estimates, drawn.variances, strict=True)
    )
    return Counts(total, share, ratio), found


def average_numbers(randomiser: Randomiser, sample: Sample) -> EstimatedArray:
    """Weighted means by cell, over respondents who have a number."""
    if sample.replicates is None:
        return _averaged(randomiser, sample, sample.weights)
    return _replicated(sample, lambda people: _averaged(randomiser, sample, people[sample.rows]).estimates)


def _averaged(randomiser: Randomiser, sample: Sample, weights: NDArray[int64]) -> EstimatedArray:
    if isinstance(randomiser, NumberOrMissing):
        return estimate_ratios(
            randomiser.pairs(sample.reports),
            cells=sample.cells,
            weights=weights,
            number=sample.number,
            level=sample.level,
            inclusion=sample.inclusion,
            rounding=sample.rounding,
        )
    assert isinstance(randomiser, NumberRandomiser)
    return estimate_means(
        randomiser.values(sample.reports),
        randomiser.variances(sample.reports),
        cells=sample.cells,
        weights=weights,
        number=sample.number,
        level=sample.level,
        inclusion=sample.inclusion,
        rounding=sample.rounding,
    )


def total_numbers(pairing: NumberOrMissing, sample: Sample, *, offset: float, step: float) -> EstimatedArray:
    """Weighted totals by cell of offset + step · position, over respondents who have a number, when that is protected.

    Every report is worth its number, or nothing where there is none, without bias.
    """
    pairs, chance = pairing.pairs(sample.reports), sample.inclusion
    worth = offset * pairs.below + step * pairs.above
    noise = offset**2 * pairs.below_variances + step**2 * pairs.above_variances + 2 * offset * step * pairs.covariances
    cells, weights = sample.cells, sample.weights.astype(np.float64)
    variances = sum_cells(weights**2 * (worth**2 * (1 / chance - 1) + noise), cells, sample.number) / chance
    return EstimatedArray(
        estimates=sum_cells(weights * worth, cells, sample.number) / chance,
        variances=np.maximum(variances, 0.0),
        level=sample.level,
    )


def _replicated(sample: Sample, estimate: Callable[[NDArray[int64]], NDArray[float64]]) -> EstimatedArray:
    """Design and privacy variance together; where the full weights say nothing, or a replicate has nobody, no ends."""
    assert sample.replicates is not None
    full = estimate(sample.people)
    silent = np.isnan(full)

    def heard(values: NDArray[float64]) -> NDArray[float64]:
        silent[np.isnan(values)] = True
        return np.nan_to_num(values, nan=0.0)

    found = replicate_variance(
        heard, estimate, weights=sample.people, replicate_weights=sample.replicates, level=sample.level
    )
    return EstimatedArray(estimates=full, variances=np.where(silent, np.inf, found.variances), level=sample.level)


# --- respondents who answered in clear ------------------------------------------------------------------------------


def add_clear(randomiser: Randomiser, protected: EstimatedArray, sample: Sample, clear: Clear) -> Combined:
    """Two parts of one whole: counts add, and means are weighted by the parts' totals of people who have a number.

    Where having none is protected, that total is estimated; its own noise is not in the interval.
    """
    if protected.estimates.ndim == 2:
        counts = _clear_counts(clear, sample.number, protected.estimates.shape[1])
        return add_strata(EstimatedArray(counts, np.zeros(counts.shape), protected.level), protected)
    totals = np.stack([clear.totals(sample.number), _answered(randomiser, sample)])
    shares = np.divide(totals, totals.sum(axis=0), out=np.zeros(totals.shape), where=totals.sum(axis=0) > 0)
    means, _ = _clear_means(clear, sample.number)
    parts = (
        EstimatedArray(_product(shares[0], means), np.zeros(sample.number), protected.level),
        EstimatedArray(
            _product(shares[1], protected.estimates), _product(shares[1] ** 2, protected.variances), sample.level
        ),
    )
    combined = add_strata(*parts)
    empty = totals.sum(axis=0) <= 0
    return replace(
        combined,
        estimates=np.where(empty, np.nan, combined.estimates),
        variances=np.where(empty, np.inf, combined.variances),
        clear_share=shares[0],
    )


def _answered(randomiser: Randomiser, sample: Sample) -> NDArray[float64]:
    """The weight of each cell's protected respondents who have a number, estimated where that is protected."""
    if not isinstance(randomiser, NumberOrMissing):
        return sample.totals()
    present = sum_cells(sample.weights * randomiser.pairs(sample.reports).below, sample.cells, sample.number)
    return np.clip(present / sample.inclusion, 0.0, sample.totals())


def pool_clear(protected: EstimatedArray, sample: Sample, clear: Clear) -> Combined:
    """Two samples of one population, weighted by the inverse of their variances, the drawing of people included.

    Counts are pooled as shares, times the weight of both groups together.
    """
    number, own = sample.number, clear.totals(sample.number)
    squares = sum_cells(clear.weights.astype(np.float64) ** 2, clear.cells, number)
    size = np.divide(own**2, squares, out=np.zeros(number), where=squares > 0)
    if isinstance(protected, Frequencies):
        shares = protected.shares(design=True)
        given = _clear_counts(clear, number, shares.estimates.shape[1])
        looked = EstimatedArray(*_clear_shares(given, own, size), protected.level)
        total = (own + sample.totals())[:, None]
        total = np.where(total > 0, total, 1.0)  # of a cell without respondents nothing is said
        pooled = pool_samples(looked, _positive(shares))
        return replace(pooled, estimates=pooled.estimates * total, variances=pooled.variances * total**2)
    means, spread = _clear_means(clear, number)
    assert isinstance(protected, Means | Ratios)
    # the people who answered with protection were drawn as well; their spread is taken from those who answered in
    # clear, and from the noisy reports only where there are none of these
    weights = sample.weights.astype(np.float64)
    totals = sample.totals() * sample.inclusion
    leverage = np.divide(sum_cells(weights**2, sample.cells, number), totals**2, out=np.zeros(number), where=totals > 0)
    design = np.where(size > 0, protected.variances + spread * leverage, protected.total_variances)
    drawn = EstimatedArray(protected.estimates, design, protected.level)
    variances = np.where(size > 0, spread / np.where(size > 0, size, 1.0), np.inf)
    return pool_samples(EstimatedArray(means, variances, protected.level), _positive(drawn))


def pool_counts(found: Frequencies, sample: Sample, clear: Clear) -> EstimatedArray:
    """The same for counts by the ratio: what the reports stand for is known better than from those who were asked."""
    total, given = pool_clear(found, sample, clear), clear.totals(sample.number)
    stood = sample.totals() + given
    factor = np.divide(sample.answered() + given, stood, out=np.ones(sample.number), where=stood > 0)[:, None]
    return EstimatedArray(total.estimates * factor, total.variances * factor**2, total.level)


def _clear_counts(clear: Clear, number: int, categories: int) -> NDArray[float64]:
    flat = sum_cells(clear.weights.astype(np.float64), clear.cells * categories + clear.positions, number * categories)
    return flat.reshape(number, categories)


def _clear_shares(
    counts: NDArray[float64], totals: NDArray[float64], size: NDArray[float64]
) -> tuple[NDArray[float64], NDArray[float64]]:
    """Shares and their sampling variances, which two imagined respondents keep above zero."""
    empty = (totals <= 0)[:, None]
    shares = counts / np.where(empty, 1.0, totals[:, None])
    smooth = (shares * size[:, None] + 1) / (size[:, None] + 2)
    variances = smooth * (1 - smooth) / np.where(empty, 1.0, size[:, None])
    return np.where(empty, np.nan, shares), np.where(empty, np.inf, variances)


def _clear_means(clear: Clear, number: int) -> tuple[NDArray[float64], NDArray[float64]]:
    """Means and the variance of one answer by cell; the latter at least that of rounding to the grid."""
    weights, positions = clear.weights.astype(np.float64), clear.positions.astype(np.float64)
    totals = sum_cells(weights, clear.cells, number)
    divisor = np.where(totals > 0, totals, 1.0)
    means = sum_cells(weights * positions, clear.cells, number) / divisor
    spread = sum_cells(weights * (positions - means[clear.cells]) ** 2, clear.cells, number) / divisor
    return np.where(totals > 0, means, np.nan), np.maximum(spread, 1 / 12)


def _positive(estimated: EstimatedArray) -> EstimatedArray:
    return EstimatedArray(estimated.estimates, np.maximum(estimated.variances, np.finfo(float).tiny), estimated.level)


def _product(share: NDArray[float64], amounts: NDArray[float64]) -> NDArray[float64]:
    """A part without weight says nothing, even where its own amount is nan or infinite."""
    return np.where(share > 0, share * np.where(share > 0, amounts, 0.0), 0.0)


# --- false reports --------------------------------------------------------------------------------------------------


def poison_reach(randomiser: Randomiser, sample: Sample, *, weights: NDArray[int64]) -> float:
    """How far one false report moves an estimate, where it moves it most; `weights` are the largest of each cell.

    Infinite where no cell has a mean to be moved, or where a mean rests on so little that one report may do anything.
    """
    if isinstance(randomiser, FrequencyOracle):
        return _count_reach(randomiser, sample, weights=weights)
    means = average_numbers(randomiser, replace(sample, replicates=None)).estimates
    if isinstance(randomiser, NumberOrMissing):
        present = randomiser.pairs(sample.reports).below
    else:
        present = np.ones(len(sample.reports))
    totals = sum_cells(sample.weights * present, sample.cells, sample.number)
    heard = np.flatnonzero(~np.isnan(means))
    known = [(float(means[cell]), int(weights[cell]), float(totals[cell])) for cell in heard]
    if isinstance(randomiser, NumberOrMissing):
        reaches = [_ratio_reach(randomiser, mean=mean, weight=weight, total=total) for mean, weight, total in known]
    else:
        assert isinstance(randomiser, GridRandomiser)
        ends = randomiser.extremes()
        reaches = [mean_reach(ends, mean=mean, weight=weight, total=total) for mean, weight, total in known]
    return max(reaches, default=math.inf)


def _count_reach(oracle: FrequencyOracle, sample: Sample, *, weights: NDArray[int64]) -> float:
    """Of a total or of a count by ratio, whichever moves further."""
    channel, sums = oracle.channel(), sample.public_sums(sample.people)
    asked = sample.totals() * sample.inclusion + sums.silent
    shares = count_categories(oracle, replace(sample, replicates=None))[0].share.estimates
    reaches = [
        ratio_reach(
            channel,
            share=share,
            weight=int(weights[cell]),
            asked=float(asked[cell]),
            everybody=float(sums.everybody[cell]),
        )
        for cell in np.flatnonzero(asked > 0)
        for share in (float(shares[cell].min()), float(shares[cell].max()))
    ]
    return max(count_reach(channel, weight=int(weights.max()), inclusion=sample.inclusion), *reaches, 0.0)


def _ratio_reach(randomiser: NumberOrMissing, *, mean: float, weight: int, total: float) -> float:
    """One more report (a, b) moves the ratio A/B by w·(a − mean·b)/(B + w·b); `total` is B."""
    if isinstance(randomiser, SplitNumber):
        below = randomiser.pairs(np.array([[0, 0], [1, 0]])).below
        middle = randomiser.grid // 2
        ends = [value - middle for value in randomiser.number.extremes()]
        pulls = [end + (middle - mean) * present for end in ends for present in below.tolist()]
    else:
        text = randomiser.pairs(np.arange(3))
        below = text.below
        pulls = (text.above - mean * below).tolist()
    least = total + weight * float(below.min())
    return weight * max(map(abs, pulls)) / least if least > 0 else math.inf
