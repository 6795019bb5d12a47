"""Calibrated figures: what meets the public totals, and intervals for what such a figure estimates.

A figure x of a group with the public total T is published as x·T/Σx, Σx being the group's sum. That quotient is what
its interval is for. Where the group is one of the figure's own (or the whole table), the interval inverts the law of
x̂ − r·Σ̂ (Fieller); where a figure adds up several groups, or several totals were met together, noise is linearised.

Guarantee: post-processing; costs nothing.
Requires:  the totals are public, and known from elsewhere than the confidential rows.
Proof:     docs/proofs/calibration.md
Refs:      [Fie54] for intervals of quotients; [DS92] for linearised calibration.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from functools import cached_property, lru_cache
from statistics import NormalDist
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from discreet.intervals import NoisePart, half_width, variance
from discreet.mechanisms import DiscreteGaussian, DiscreteLaplace
from discreet.tables.calibration import RakedTable, Target, calibrate, grid_of, meet
from discreet.tables.linear.layout import Margin, keep_keys
from discreet.tables.table_figures import EstimatedMeasure

__all__ = ["CalibratedFigures", "CalibratedTable", "calibrate_table"]

Floats = NDArray[np.float64]
Mechanism = DiscreteLaplace | DiscreteGaussian

_RATIOS: Final = (0.0, 0.05, 0.15, 0.3, 0.5, 0.75, 1.0)
"""Where the reach of x̂ − r·Σ̂ is worked out; between them its size against the standard deviation is interpolated."""

_ROUNDS: Final = 4
_STEADY: Final = 8.0
"""A group's sum of so many standard errors may be divided by in a linearised figure; others get an interval each."""

_NOTHING: Final = 1e-9
"""What is left of noise that cancels, against what there was."""


@dataclass(frozen=True)
class CalibratedFigures:
    """The figures of one margin, flat, without those that no total covers; `positions` says which they are.

    Values and ends are in whole steps of the table's grid; `public` marks figures that are public totals, or sums of
    them, and have no error. `factors` are value ÷ what was published without calibration.
    """

    positions: NDArray[np.intp]
    values: NDArray[Any]
    low: Floats
    high: Floats
    errors: Floats
    public: NDArray[np.bool_]
    factors: Floats


@dataclass(frozen=True)
class CalibratedTable:
    """A table whose cells meet the totals. `unit` is what one step of the measure is worth; `step` what is published.

    `present` are the places along each key that a total covers: the cells without value of a calibrated key are left
    out, because nobody in a total lacks it.
    """

    estimated: EstimatedMeasure
    targets: tuple[Target, ...]
    present: tuple[NDArray[np.intp], ...]
    published: Floats
    raw: Floats
    raked: RakedTable
    cells: NDArray[Any]
    step: Fraction
    unit: float

    def figures(self, margin: Margin, level: Decimal) -> CalibratedFigures:
        """The figures of one margin, with intervals at this level."""
        step = float(self.step)
        values = keep_keys(self.cells, margin).ravel()
        centre, low, high, errors = self._ends(margin, level)
        public = errors <= _NOTHING * np.maximum(np.abs(centre), 1.0)
        public |= any(set(margin) <= set(item.kept) for item in self.targets)
        most = self._most(margin)
        low, high = np.clip(np.floor(low / step), 0, most), np.minimum(np.ceil(high / step), most)
        # a figure made whole and not negative may lie outside what its estimate says: the interval then reaches it
        numbers = values.astype(np.float64)
        low, high = np.minimum(low, numbers), np.maximum(high, numbers)
        narrow = high <= low
        low, high = np.where(narrow, np.maximum(low - 1, 0), low), np.where(narrow, low + 1, high)
        before = keep_keys(self.published, margin).ravel()
        factors = np.ones(len(before))
        np.divide(numbers * step, before, out=factors, where=before > 0)
        indices = np.ix_(*(self.present[index] for index in margin))
        every = np.arange(self.estimated.layout.count(margin)).reshape(self.estimated.layout.shape(margin))
        positions = every[indices].ravel() if margin else every.ravel()
        return CalibratedFigures(positions, values, low, high, errors, public, factors)

    def _ends(self, margin: Margin, level: Decimal) -> tuple[Floats, Floats, Floats, Floats]:
        target = self.targets[0]
        if len(self.targets) > 1:
            return self._raked(margin, level)
        if set(target.kept) <= set(margin):
            return self._ratios(margin, level, target)
        # one key with totals that this margin adds up
        groups = self._unsteady(target)
        weak = np.broadcast_to(_spread(groups, target.kept, tuple(range(self.raw.ndim))), self.raw.shape)
        centre, low, high, errors = self._linear(margin, level, weak)
        if groups.any():
            parts = self._weak(margin, level, groups)
            centre, low, high = centre + parts[0], low + parts[1], high + parts[2]
            errors = np.hypot(errors, parts[3])
        return centre, low, high, errors

    def _raked(self, margin: Margin, level: Decimal) -> tuple[Floats, Floats, Floats, Floats]:
        """Several totals: linearised, and in groups lost in noise at least as far as a quotient by their own total."""
        shape = tuple(self.raw.shape[index] for index in margin)
        centre, low, high, errors = self._linear(margin, level, np.zeros(self.raw.shape, dtype=bool))
        for target in self.targets:
            if not set(target.kept) <= set(margin) or not (groups := self._unsteady(target)).any():
                continue
            _, least, most, spreads = self._ratios(margin, level, target)
            inside = np.broadcast_to(_spread(groups, target.kept, margin), shape).ravel()
            low, high = np.where(inside, np.minimum(low, least), low), np.where(inside, np.maximum(high, most), high)
            errors = np.where(inside, np.maximum(errors, spreads), errors)
        return centre, low, high, errors

    def _unsteady(self, target: Target) -> NDArray[np.bool_]:
        """Which groups of a total have a sum too small beside its noise to be divided by in a linearised figure."""
        if not target.kept:
            return np.zeros((), dtype=bool)
        errors = self.estimated.standard_errors(target.kept)[np.ix_(*(self.present[index] for index in target.kept))]
        result: NDArray[np.bool_] = keep_keys(self.raw, target.kept) <= _STEADY * errors * self.unit
        return result

    def _weak(self, margin: Margin, level: Decimal, groups: NDArray[np.bool_]) -> list[Floats]:
        """What these groups of the one key with totals add to the figures of a margin, each by its own quotient."""
        target = self.targets[0]
        fine = tuple(sorted({*margin, *target.kept}))
        shape = tuple(self.raw.shape[index] for index in fine)
        centre, low, high, errors = (item.reshape(shape) for item in self._ratios(fine, level, target))
        # nothing between 0 and T has a standard deviation above T/2: a small group cannot spoil a large sum
        errors = np.minimum(errors, _spread(target.totals, target.kept, fine) / 2)
        over = tuple(axis for axis, index in enumerate(fine) if index not in margin)
        inside = np.broadcast_to(_spread(groups, target.kept, fine), shape)
        return [np.where(inside, item, 0.0).sum(axis=over).ravel() for item in (centre, low, high, errors)]

    def _most(self, margin: Margin) -> Floats:
        """No figure is above the totals of its groups: in steps, for every figure of the margin."""
        shape = tuple(self.raw.shape[index] for index in margin)
        most = np.full(shape, math.inf)
        for target in self.targets:
            shown = tuple(index for index in target.kept if index in margin)
            sums = keep_keys(target.totals, tuple(target.kept.index(index) for index in shown))
            most = np.minimum(most, _spread(np.asarray(sums), shown, margin))
        return np.rint(most.ravel() / float(self.step))

    # --- one group and its own total --------------------------------------------------------------------------------

    def _ratios(self, margin: Margin, level: Decimal, target: Target) -> tuple[Floats, Floats, Floats, Floats]:
        """Centre, ends and standard errors of x·T/Σx, where the margin keeps the key that has the totals."""
        shape = tuple(self.raw.shape[index] for index in margin)
        figures = keep_keys(self.raw, margin)
        sums = np.broadcast_to(_spread(keep_keys(self.raw, target.kept), target.kept, margin), shape)
        totals = np.broadcast_to(_spread(target.totals, target.kept, margin), shape)
        made = np.zeros((4, *shape))
        for at, pair in self._pairs(margin, level, target.kept):
            made[(slice(None), *at)] = pair.invert(figures[at] / self.unit, sums[at] / self.unit)
        centre, low, high, errors = (item.ravel() for item in np.where(totals > 0, made, 0.0) * totals)
        return centre, low, high, errors

    def _pairs(self, margin: Margin, level: Decimal, kept: Margin) -> Iterator[tuple[tuple[Any, ...], _Pair]]:
        """The joint noise of a figure and its group's sum, one for each slice that the margin keeps."""
        slicing = self.estimated.layout.slicing
        drawn = _Drawn((self.estimated.estimator, *(item.mechanisms for item in self.estimated.noisy)), self.estimated)
        stand = {index: int(self.present[index][0]) for index in margin}
        if slicing is None or slicing not in margin:
            yield (...,), _pair_of(drawn, tuple(stand.items()), kept, level)
            return
        for number, slice_place in enumerate(self.present[slicing].tolist()):
            at = [slice(None)] * margin.index(slicing)
            yield (*at, number), _pair_of(drawn, tuple({**stand, slicing: slice_place}.items()), kept, level)

    # --- several groups, several totals -----------------------------------------------------------------------------

    def _linear(self, margin: Margin, level: Decimal, weak: NDArray[np.bool_]) -> tuple[Floats, Floats, Floats, Floats]:
        """Centre, ends and standard errors by the first derivative at the published cells; weak cells left out.

        A figure moves by g·(1 − B·z) with each of its cells, by −g·B·z with others: g the factors, z the groups of a
        cell, B the regression of the figure's cells on the groups, weighted by calibrated cells.
        """
        shape = tuple(self.raw.shape[index] for index in margin)
        values = np.where(weak, 0.0, self.raked.values)
        groups = self._groups
        gram = groups.T @ (values.ravel()[:, None] * groups)
        inverse = np.linalg.pinv(gram, rcond=_NOTHING, hermitian=True)  # several totals share the grand total
        factors = np.ones(self.raw.shape)
        for target, factor in zip(self.targets, self.raked.factors, strict=True):
            known = np.where(target.totals > 0, factor, 0.0)  # a total of 0 leaves its cells no noise
            factors = factors * _spread(known, target.kept, tuple(range(self.raw.ndim)))
        made = np.zeros((4, math.prod(shape)))
        normal = NormalDist().inv_cdf((1 + float(level)) / 2)
        peaked = -math.log(1 - float(level)) / math.sqrt(2)
        for number, position in enumerate(np.ndindex(*shape)):
            inside = _indicate(self.raw.shape, dict(zip(margin, position, strict=True)))
            fit = groups @ (inverse @ (groups.T @ (values * inside).ravel()))
            slopes = np.where(weak, 0.0, factors * (inside - fit.reshape(self.raw.shape)))
            if float(np.abs(slopes).max(initial=0.0)) <= _NOTHING * float(np.abs(factors).max()):
                slopes = np.zeros_like(slopes)
            centre = float((values * inside).sum() + (slopes * (self.raw - self.published)).sum())
            deviation, peak = self._spread_of(slopes)
            reach = deviation * (normal + (peaked - normal) * min(peak / 3, 1.0) ** 0.7)
            made[:, number] = centre, max(centre - reach, 0.0), max(centre, 0.0) + reach, deviation
        return made[0], made[1], made[2], made[3]

    @cached_property
    def _groups(self) -> Floats:
        """One column for each total: 1 for the cells that it covers."""
        columns = []
        for target in self.targets:
            for position in np.ndindex(*target.totals.shape):
                cells = _indicate(self.raw.shape, dict(zip(target.kept, position, strict=True)))
                columns.append(cells.ravel())
        return np.array(columns).T

    def _spread_of(self, slopes: Floats) -> tuple[float, float]:
        """The standard deviation of Σ slope · error of a cell, and its excess kurtosis."""
        whole = np.zeros(self.estimated.layout.sizes)
        whole[np.ix_(*self.present)] = slopes
        second = fourth = 0.0
        for coefficients, mechanism in self.estimated.influences(whole):
            item, square = variance(mechanism), float((coefficients**2).sum())
            second += item * square
            fourth += item**2 * _peak(mechanism) * float((coefficients**4).sum())
        return math.sqrt(second) * self.unit, 0.0 if second <= 0 else fourth / second**2


def calibrate_table(
    estimated: EstimatedMeasure, published: NDArray[Any], targets: Sequence[Target], *, fold: int, unit: float
) -> CalibratedTable:
    """The table that meets the targets, from published cells of `fold` steps of the measure, each worth `unit`."""
    sizes = estimated.layout.sizes
    present = [np.arange(size) for size in sizes]
    for target in targets:
        for axis, index in enumerate(target.kept):
            known = ~np.isnan(target.totals).any(axis=tuple(item for item in range(target.totals.ndim) if item != axis))
            present[index] = np.intersect1d(present[index], np.flatnonzero(known))
    indices = np.ix_(*present)
    covered = tuple(
        Target(
            item.kept,
            item.totals[np.ix_(*(present[index] for index in item.kept))] if item.kept else item.totals,
            item.name,
        )
        for item in targets
    )
    shown = published[indices].astype(np.float64) * (fold * unit)
    raked = calibrate(shown, covered)
    return CalibratedTable(
        estimated=estimated,
        targets=covered,
        present=tuple(present),
        published=shown,
        raw=estimated.raw[indices] * unit,
        raked=raked,
        cells=meet(raked.values, covered),
        step=grid_of(covered),
        unit=unit,
    )


# --- a figure and its group's sum -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Drawn:
    """What was drawn for a table, told apart by its design alone: its values play no part in the law of its noise."""

    design: tuple[object, ...]
    estimated: EstimatedMeasure = field(compare=False)


@dataclass(frozen=True)
class _Pair:
    """The noise of a figure and of the sum of its group, in steps of the measure.

    `moments` are the variances of figure and sum, with their covariance in between; `times` the reach of x̂ − r·Σ̂ in
    standard deviations at each of _RATIOS; none where the two are one.
    """

    moments: tuple[float, float, float]
    times: tuple[float, ...]

    def invert(self, figures: Floats, sums: Floats) -> Floats:
        """Quotient, ends and standard error of x/Σx for many figures with this noise.

        The ends are the hull of what is not ruled out, within 0 and 1; both of these where nothing is ruled out, or
        everything.
        """
        if not self.times:
            same = np.ones(np.shape(figures))
            return np.stack([same, same, same, 0 * same])
        quotient = np.divide(figures, sums, out=np.zeros(np.shape(figures)), where=np.asarray(sums) > 0)
        low, _, _ = self._solve(figures, sums, quotient, upper=False)
        high, sure, _ = self._solve(np.maximum(figures, 0), sums, quotient, upper=True)
        top, _, times = self._solve(figures, sums, quotient, upper=True)
        own, joint, whole = self.moments
        spread = np.sqrt(np.maximum(own - 2 * quotient * joint + quotient**2 * whole, 0)) / np.where(sure, sums, 1.0)
        # noise that is hardly ever there has no reach at the level, but an error all the same
        errors = np.maximum(spread, (top - low) / np.maximum(2 * times, _NOTHING))
        empty = ~sure | (low > 1) | (high < 0)
        return np.stack(
            [
                np.clip(quotient, 0, 1),
                np.where(empty, 0.0, np.clip(low, 0, 1)),
                np.where(empty, 1.0, np.clip(high, 0, 1)),
                np.where(sure, errors, math.inf),
            ]
        )

    def _solve(
        self, figures: Floats, sums: Floats, quotient: Floats, *, upper: bool
    ) -> tuple[Floats, NDArray[np.bool_], Floats]:
        """One end of {r: |x̂ − r·Σ̂| ≤ times(r)·deviation(r)}, whether the set is bounded, and the times used there."""
        own, joint, whole = self.moments
        ratio = np.clip(quotient, 0, 1)
        for _ in range(_ROUNDS):
            times = np.interp(np.clip(ratio, 0, 1), _RATIOS, self.times)
            first, middle = sums**2 - times**2 * whole, figures * sums - times**2 * joint
            last = figures**2 - times**2 * own
            sure = (first > 0) & (sums > 0)
            root = np.sqrt(np.maximum(middle**2 - first * last, 0))
            ends = (middle + (root if upper else -root)) / np.where(sure, first, 1.0)
            ratio = np.where(sure, ends, float(upper))
        return ratio, np.asarray(sure), times


@lru_cache(maxsize=1024)
def _pair_of(drawn: _Drawn, stand: tuple[tuple[int, int], ...], kept: Margin, level: Decimal) -> _Pair:
    """The joint noise of the figure at these places of its keys and of the sum over all keys but the kept ones."""
    sizes, position = drawn.estimated.layout.sizes, dict(stand)
    figure = drawn.estimated.influences(_indicate(sizes, position))
    group = drawn.estimated.influences(_indicate(sizes, {index: position[index] for index in kept}))
    draws = [
        draw
        for (one, mechanism), (other, _) in zip(figure, group, strict=True)
        for draw in _alike(one, other, mechanism)
    ]
    weights = np.array([count * variance(mechanism) for _, _, mechanism, count in draws])
    own, whole = np.array([one for one, *_ in draws]), np.array([other for _, other, *_ in draws])
    moments = (float(weights @ own**2), float(weights @ (own * whole)), float(weights @ whole**2))
    ratios = np.array(_RATIOS)
    spreads = np.sqrt(np.maximum(moments[0] - 2 * ratios * moments[1] + ratios**2 * moments[2], 0))
    if spreads[-1] <= _NOTHING * spreads[0]:
        return _Pair(moments, ())
    reaches = [
        half_width(
            [NoisePart(one - ratio * all_, law, count) for one, all_, law, count in draws if one != ratio * all_], level
        )
        for ratio in _RATIOS
    ]
    return _Pair(moments, tuple((np.array(reaches) / spreads).tolist()))


def _alike(one: Floats, other: Floats, mechanism: Mechanism) -> Iterator[tuple[float, float, Mechanism, int]]:
    """Draws that enter a figure and a sum alike, once with their number; those that enter neither are left out."""
    both = np.stack([one, other], axis=1)
    grain = float(np.abs(both).max(initial=0.0)) * 1e-11
    if grain == 0.0:
        return
    found, counts = np.unique(np.rint(both / grain), axis=0, return_counts=True)
    for (first, second), count in zip((found * grain).tolist(), counts.tolist(), strict=True):
        if first or second:
            yield first, second, mechanism, count


def _peak(mechanism: Mechanism) -> float:
    """The excess kurtosis of one draw: 3 for Laplace noise, more where it is coarse; that of Gaussian noise is 0."""
    if isinstance(mechanism, DiscreteGaussian):
        return 0.0
    ratio = math.exp(-1 / float(mechanism.scale))
    return (ratio**2 + 4 * ratio + 1) / (2 * ratio)


def _indicate(sizes: Sequence[int], stand: dict[int, int]) -> Floats:
    """1 for the cells at these places along these keys, 0 elsewhere."""
    cells = np.zeros(tuple(sizes))
    cells[tuple(stand.get(index, slice(None)) for index in range(len(sizes)))] = 1.0
    return cells


def _spread(figures: NDArray[Any], kept: Margin, within: Margin) -> NDArray[Any]:
    """The figures of a margin with an axis of length 1 for each other key of a finer one."""
    return np.expand_dims(figures, tuple(axis for axis, index in enumerate(within) if index not in kept))
