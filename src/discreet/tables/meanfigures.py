"""The means of a table: each from its own total and size, with an interval, a grade, and a bound on its size.

Intervals turn the law of (noisy total − m · noisy size) round (`release.meanlaws`), with every noise that both of them
combine. Grades come from errors that no bound has cut: an interval that touches a bound looks narrower than it is.
"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Final

import numpy as np
from numpy.typing import NDArray

from discreet.plan.outputs import Mean
from discreet.release.halfwidths import half_width
from discreet.release.meanlaws import MeanLaw, mean_law
from discreet.release.presence import presence_level
from discreet.tables.figures import Estimated, MarginFigures
from discreet.tables.forming import Formed
from discreet.tables.layout import Margin, keep_keys
from discreet.tables.quality import GOOD_PART, USABLE_PART, rate_widths
from discreet.tables.table import Quality

__all__ = ["mean_figures"]

Floats = NDArray[np.float64]

_GRADED: Final = Decimal("0.95")
"""Grades are by intervals of this level, whichever is asked for: a flag should not follow it."""


_NORMAL: Final = 1.96
"""So many standard errors of a normal law make the half-width of a grade."""


_WIDE: Final = 1.5
"""So many of these half-widths reach as far as at 99%, or farther, for Laplace noise and what is combined of it."""


def mean_figures(
    formed: Formed, total: Estimated, size: Estimated, level: Decimal
) -> Iterator[tuple[Margin, MarginFigures]]:
    """The means of every published margin. Those of groups that are too small are there as well, and say so."""
    assert formed.mean is not None
    margins = formed.request.kept()
    presence = presence_level(sum(total.layout.count(margin) for margin in margins))
    for margin in margins:
        totals, sizes = (keep_keys(one.raw, margin).ravel() for one in (total, size))
        low, high, graded = np.empty(len(totals)), np.empty(len(totals)), np.empty(len(totals))
        bounds = np.empty(len(totals))
        for places, law, usual, bound in _laws(formed.mean, total, size, margin, (level, presence)):
            here = totals[places], sizes[places]
            low[places], high[places] = law.intervals(*here)
            graded[places], bounds[places] = _widths(usual, *here), bound
        estimates = law.estimates(totals, sizes)
        values = np.clip(estimates, float(formed.mean.low), float(formed.mean.high)).tolist()
        # an estimate that came out too large looks surer than it is: the low end of a wide interval does not
        judged = np.maximum(estimates - _WIDE * graded, 0) if formed.mean.low >= 0 else estimates
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


def _laws(
    mean: Mean, total: Estimated, size: Estimated, margin: Margin, levels: tuple[Decimal, Decimal]
) -> Iterator[tuple[NDArray[np.int64], MeanLaw, MeanLaw, float]]:
    """Figures with noise of one law: their places, the law asked for, that for grades, and the size to exceed."""
    level, presence = levels
    pairs = total.slices(margin).ravel() * size.slice_count(margin) + size.slices(margin).ravel()
    for pair in np.unique(pairs).tolist():
        first, second = divmod(pair, size.slice_count(margin))
        parts = total.parts(margin, first), size.parts(margin, second)
        law = mean_law(mean, *parts, level)
        usual = law if level == _GRADED else mean_law(mean, *parts, _GRADED)
        yield np.flatnonzero(pairs == pair), law, usual, half_width(parts[1], presence)


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
