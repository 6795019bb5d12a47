"""The means of a table: each from its own total and size, with an interval, a grade, and a bound on its size.

Intervals turn the law of (noisy total − m · noisy size) round (`release.meanlaws`), with every noise that both of them
combine. Grades come from errors that no bound has cut: an interval that touches a bound looks narrower than it is.
Among the means that come out good, those that may yet be wrong by a third are held back, so many that of the good ones
at most one in twenty is expected to be.

Proof: docs/proofs/mean.md
Refs:  as many as the level allows [BH95].
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from typing import Final

import numpy as np
from numpy.typing import NDArray

from discreet.guarantees import ceil_to_grid
from discreet.intervals import MeanLaw, NoisePart, half_width, mean_law
from discreet.release import presence_level
from discreet.results import Quality
from discreet.sql import Mean
from discreet.tables.formation import Formed
from discreet.tables.linear.layout import Margin, keep_keys
from discreet.tables.quality import GOOD_PART, USABLE_PART, rate_widths
from discreet.tables.table_figures import EstimatedMeasure, MarginFigures

__all__ = ["mean_figures"]

Floats = NDArray[np.float64]

_GRADED: Final = Decimal("0.95")
"""Grades are by intervals of this level, whichever is asked for: a flag should not follow it."""


_NORMAL: Final = 1.96
"""So many standard errors of a normal law make the half-width of a grade."""


_WRONG: Final = 0.33
"""A figure that is off by more than this part of the truth should not be called good."""

_WRONG_AMONG_GOOD: Final = Fraction(1, 20)
"""So large a part of the good figures of a table may be expected to be wrong."""


def mean_figures(
    formed: Formed, total: EstimatedMeasure, size: EstimatedMeasure, level: Decimal
) -> dict[Margin, MarginFigures]:
    """The means of every published margin. Those of groups that are too small are there as well, and say so."""
    assert formed.mean is not None
    result = dict(_means(formed, total, size, level))
    if formed.mean.low < 0 or formed.card.column(formed.request.value or "").precision is not None:
        return result
    return _hold_back(formed.mean, total, size, result)


def _means(
    formed: Formed, total: EstimatedMeasure, size: EstimatedMeasure, level: Decimal
) -> Iterator[tuple[Margin, MarginFigures]]:
    assert formed.mean is not None
    margins = formed.request.kept()
    presence = presence_level(sum(total.layout.count(margin) for margin in margins))
    for margin in margins:
        totals, sizes = (keep_keys(item.raw, margin).ravel() for item in (total, size))
        low, high, graded = np.empty(len(totals)), np.empty(len(totals)), np.empty(len(totals))
        bounds = np.empty(len(totals))
        for indices, parts in _noises(total, size, margin):
            law, usual = (mean_law(formed.mean, *parts, item) for item in (level, _GRADED))
            here = totals[indices], sizes[indices]
            low[indices], high[indices] = law.intervals(*here)
            graded[indices], bounds[indices] = _widths(usual, *here), half_width(parts[1], presence)
        estimates = law.estimates(totals, sizes)
        values = np.clip(estimates, float(formed.mean.low), float(formed.mean.high)).tolist()
        # an estimate that came out too large looks surer than it is: the low end of the interval does not
        judged = np.maximum(estimates - graded, 0) if formed.mean.low >= 0 else estimates
        yield (
            margin,
            MarginFigures(
                values=values,
                raw=values,
                low=low.tolist(),
                high=high.tolist(),
                qualities=_grades(formed, graded),
                errors=graded / _NORMAL,
                judged=judged,
                too_small=sizes <= bounds,
            ),
        )


def _noises(
    total: EstimatedMeasure, size: EstimatedMeasure, margin: Margin
) -> Iterator[tuple[NDArray[np.int64], tuple[list[NoisePart], list[NoisePart]]]]:
    """Figures with noise of one law: their places, and the noise in their totals and sizes."""
    pairs = total.slices(margin).ravel() * size.slice_count(margin) + size.slices(margin).ravel()
    for pair in np.unique(pairs).tolist():
        first, second = divmod(pair, size.slice_count(margin))
        yield np.flatnonzero(pairs == pair), (total.parts(margin, first), size.parts(margin, second))


def _hold_back(
    mean: Mean, total: EstimatedMeasure, size: EstimatedMeasure, found: dict[Margin, MarginFigures]
) -> dict[Margin, MarginFigures]:
    """Good stays what is surely not wrong, each at the level that lets one in twenty of those that stay be."""
    figures = sum(len(item.values) for item in found.values())
    grades = {margin: np.array(item.grades(), dtype=object) for margin, item in found.items()}
    good = {margin: (item == Quality.GOOD) & ~_too_small(found[margin]) for margin, item in grades.items()}
    before, now = 0, _count(good)
    while now and now != before:
        level = ceil_to_grid(1 - _WRONG_AMONG_GOOD * now / figures)
        good = {margin: _sure(mean, total, size, margin, item, level) for margin, item in good.items()}
        before, now = now, _count(good)
    for margin, item in grades.items():
        item[(item == Quality.GOOD) & ~good[margin]] = Quality.CAUTION
    return {margin: replace(item, qualities=grades[margin].tolist()) for margin, item in found.items()}


def _sure(
    mean: Mean, total: EstimatedMeasure, size: EstimatedMeasure, margin: Margin, good: NDArray[np.bool_], level: Decimal
) -> NDArray[np.bool_]:
    """Which of the good means of a margin are not wrong for any truth in their intervals of this level."""
    totals, sizes = (keep_keys(item.raw, margin).ravel() for item in (total, size))
    sure = np.zeros(len(good), dtype=np.bool_)
    for everywhere, parts in _noises(total, size, margin):
        indices = everywhere[good[everywhere]]
        if not len(indices):
            continue
        law, here = mean_law(mean, *parts, level), (totals[indices], sizes[indices])
        low, high = law.intervals(*here)
        values = np.clip(law.estimates(*here), float(mean.low), float(mean.high))
        sure[indices] = (values <= (1 + _WRONG) * low) & (values >= (1 - _WRONG) * high)
    return sure


def _count(good: dict[Margin, NDArray[np.bool_]]) -> int:
    return sum(int(item.sum()) for item in good.values())


def _too_small(item: MarginFigures) -> NDArray[np.bool_]:
    assert item.too_small is not None
    return item.too_small


def _widths(law: MeanLaw, totals: Floats, sizes: Floats) -> Floats:
    """Half-widths as if the column had no bounds, and at least as wide as what is shown."""
    low, high = law.intervals(totals, sizes)
    return np.maximum(law.half_widths(totals, sizes), (high - low) / 2)


def _grades(formed: Formed, widths: Floats) -> list[Quality] | None:
    """By the precision of the card, else by the range of the column; none where it begins at 0: by relative error."""
    mean, column = formed.mean, formed.card.column(formed.request.value or "")
    assert mean is not None
    if column.precision is not None:
        needed = float(column.precision)
        return rate_widths(widths, (needed, 2 * needed))
    if mean.low == 0:
        return None
    span = float(mean.high - mean.low)
    return rate_widths(widths, (GOOD_PART * span, USABLE_PART * span))
