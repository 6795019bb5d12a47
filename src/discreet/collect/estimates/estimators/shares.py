"""Shares of categories, and counts from them, by the ratio estimator: from the reports of those who were asked.

Guarantee: post-processing of reports; costs nothing.
Requires:  public weights; who is asked is drawn independently of the answers.
Proof:     docs/proofs/local-estimates.md
Refs:      [Haj71] for the estimator; [Wil27] for the intervals.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from discreet.collect.estimates.estimators.estimated_arrays import EstimatedArray, WithEnds, normal_quantile
from discreet.collect.estimates.estimators.frequencies import Frequencies, Moments

if TYPE_CHECKING:
    from numpy import float64
    from numpy.typing import NDArray

    Ends = tuple[NDArray[float64], NDArray[float64]]

__all__ = ["Counts", "PublicSums", "clip_ends", "estimate_shares"]


@dataclass(frozen=True, slots=True, eq=False)
class PublicSums:
    """What everybody sees of each cell: the sums of w and w² over all its respondents, asked or not, and over those who
    were asked and gave no answer in public."""

    everybody: NDArray[float64]
    everybody_squares: NDArray[float64]
    silent: NDArray[float64]
    silent_squares: NDArray[float64]


@dataclass(frozen=True, slots=True, eq=False)
class Counts:
    """Two estimates of one count, cells × categories: the sum of the reports over the chance of being asked, and the
    share among those who were asked times the weight of everybody. The latter errs less where questions are sampled."""

    total: EstimatedArray
    share: EstimatedArray
    ratio: EstimatedArray

    @classmethod
    def of_ratio(cls, total: EstimatedArray, ratio: EstimatedArray, everybody: NDArray[float64]) -> Counts:
        """With shares of the weight of everybody in a cell."""
        known = np.where(everybody > 0, everybody, np.nan)[:, None]
        variances = np.where(np.isnan(known), np.inf, ratio.variances / np.nan_to_num(known, nan=1.0) ** 2)
        return cls(total, EstimatedArray(ratio.estimates / known, variances, ratio.level), ratio)


@dataclass(frozen=True, slots=True, eq=False)
class _Curve:
    """The variance of one report of a share s, per weight: flat + slope·s − bend·s², never below 0 between 0 and 1."""

    flat: NDArray[float64]
    slope: float
    bend: float

    def at(self, shares: NDArray[float64]) -> NDArray[float64]:
        inside = np.clip(shares, 0.0, 1.0)
        return np.maximum(self.flat + self.slope * inside - self.bend * inside**2, 0.0)

    def raised(self, shares: NDArray[float64], squares: NDArray[float64]) -> _Curve:
        """Where heavier people give an answer than others: its share in squared weights exceeds its share."""
        turn = self.slope - 2 * self.bend * np.clip(shares, 0.0, 1.0)
        return _Curve(self.flat + np.maximum((squares - shares) * turn, 0.0), self.slope, self.bend)

    def ends(self, shares: NDArray[float64], scale: NDArray[float64]) -> Ends:
        """The hull of the s with (share − s)² ≤ scale · variance at s."""
        leading = 1 + scale * self.bend
        middle = shares + scale * self.slope / 2
        rest = middle**2 - leading * (shares**2 - scale * self.flat)
        root = np.sqrt(np.maximum(rest, 0.0))
        lower, upper = (middle - root) / leading, (middle + root) / leading
        # beyond 0 and 1 the variance is that of the nearer end; between them the set ends at the roots, if it has any
        at_zero, at_one = (np.sqrt(scale * self.at(np.full_like(shares, end))) for end in (0.0, 1.0))
        rooted = [(rest >= 0) & (end > 0) & (end < 1) for end in (lower, upper)]
        low = np.where((shares <= 1) | rooted[0], np.clip(lower, 0.0, 1.0), shares - at_one)
        high = np.where((shares >= 0) | rooted[1], np.clip(upper, 0.0, 1.0), shares + at_zero)
        return (
            np.where(shares - at_zero <= 0, shares - at_zero, low),
            np.where(shares + at_one >= 1, shares + at_one, high),
        )


def estimate_shares(found: Frequencies, public: PublicSums, *, rounding: float = 0.0) -> Counts:
    """The share of each category among all respondents of a cell, that share times their weight, and the total.

    Those who gave no answer in public count below the line. Where nobody was asked there are no ends and no share, and
    without any respondent no total either.
    """
    chance, moments = found.inclusion, Moments.of(found.channel)
    asked = (found.weights + public.silent)[:, None]
    squares = (found.weight_squares + public.silent_squares)[:, None]
    empty = asked <= 0
    weight, square = np.where(empty, 1.0, asked), np.where(empty, 1.0, squares)
    flat = np.broadcast_to(moments.other * found.weight_squares[:, None] / square, found.estimates.shape)
    heavy, kept = found.category_squares * chance / square, chance * (1 - rounding)

    def figure(curve: _Curve, shares: NDArray[float64], leverage: NDArray[float64], unit: NDArray[float64]) -> WithEnds:
        raised = curve.raised(shares, heavy)
        low, high = raised.ends(shares, normal_quantile(found.level) ** 2 * leverage)
        return WithEnds(
            estimates=unit * shares,
            variances=np.where(empty, np.inf, unit**2 * leverage * raised.at(shares)),
            level=found.level,
            ends=(np.where(empty, -np.inf, unit * low), np.where(empty, np.inf, unit * high)),
        )

    shares, leverage = np.where(empty, np.nan, found.estimates * chance / weight), square / weight**2
    everybody = np.where(empty, 1.0, public.everybody[:, None])
    return Counts(
        total=figure(
            _Curve(flat / chance, moments.own / chance - (1 - rounding), 0.0),
            np.where(public.everybody[:, None] > 0, found.estimates / everybody, np.nan),
            public.everybody_squares[:, None] / everybody**2,
            everybody,
        ),
        share=figure(_Curve(flat, moments.own - kept, 1 - kept), shares, leverage, np.ones_like(weight)),
        ratio=figure(_Curve(flat, moments.own - kept, 1 - chance), shares, leverage, everybody),
    )


def clip_ends(raw: EstimatedArray, figures: NDArray[float64], largest: NDArray[float64]) -> Ends:
    """Intervals of figures that are made from raw estimates and lie between 0 and a known largest value.

    [max(0, x − h), max(x, 0) + h] with x the raw estimate, likewise at the other end, and never without the figure.
    """
    low = np.maximum(np.minimum(raw.estimates, largest) - (raw.estimates - raw.low), 0.0)
    high = np.minimum(np.maximum(raw.estimates, 0.0) + (raw.high - raw.estimates), largest)
    return np.minimum(low, figures), np.maximum(high, figures)
