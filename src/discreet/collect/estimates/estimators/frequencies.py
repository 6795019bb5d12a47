"""Weighted counts of categories, estimated from randomised reports.

Guarantee: post-processing of reports; costs nothing.
Requires:  independent reports of one channel; public weights; who is asked is drawn independently of the answers.
Proof:     docs/proofs/local-estimates.md
Refs:      [WBLJ17]; [HT52] for inclusion; [LNN61] for errors with a bias.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from discreet.catalogue import say
from discreet.collect.estimates.estimators.estimated_arrays import EstimatedArray
from discreet.collect.randomisers.randomiser import Channel, ReportTally
from discreet.errors import ParameterInvalid

if TYPE_CHECKING:
    from numpy import float64
    from numpy.typing import ArrayLike, NDArray

__all__ = [
    "Frequencies",
    "Moments",
    "estimate_frequencies",
    "expected_absolute_error",
    "expected_variances",
    "inclusion_chance",
    "widen",
]


@dataclass(frozen=True, slots=True)
class Moments:
    """The mean square of a report's debiased indicator: `other` away from its category, and `own` more on it."""

    other: float
    own: float

    @classmethod
    def of(cls, channel: Channel) -> Moments:
        contrast = channel.p - channel.q
        return cls(other=channel.q * (1 - channel.q) / contrast**2, own=(1 - 2 * channel.q) / contrast)


@dataclass(frozen=True, slots=True, eq=False)
class Frequencies(EstimatedArray):
    """Estimated weighted counts, cells × categories, in steps of the weights.

    Variances hold the privacy noise and, where only some respondents were asked, the draw of those asked. They do
    not hold the sampling of the respondents from a population: see `replicates`. `weights` and `weight_squares` are
    the sums of w and w² over all reports of a cell, `category_squares` the estimated sums of w² over each category,
    which noise may carry out of their range.
    """

    weights: NDArray[float64]
    weight_squares: NDArray[float64]
    category_squares: NDArray[float64]
    channel: Channel
    inclusion: float

    def shares(self, *, design: bool = False) -> EstimatedArray:
        """The same as shares of each cell's weight; times a known total they often err less than the counts.

        Without `design` the variance is that of the respondents' own share; with it, the respondents count as a
        sample drawn with replacement, and the variance holds that too. Cells without reports give nan.
        """
        weights = self.weights[:, None] / self.inclusion
        squares = self.weight_squares[:, None] / self.inclusion
        empty = weights <= 0
        total = np.where(empty, 1.0, weights)
        shares = self.estimates / total
        inside = np.clip(shares, 0.0, 1.0)
        moments = Moments.of(self.channel)
        own = np.clip(self.category_squares, 0.0, squares)
        spread = (1 - inside) ** 2 * own + inside**2 * (squares - own)
        noise = moments.other * squares + (moments.own - 1) * own
        variances = ((noise + spread) / self.inclusion - (0.0 if design else spread)) / total**2
        return EstimatedArray(
            estimates=np.where(empty, np.nan, shares),
            variances=np.where(empty, np.inf, np.maximum(variances, 0.0)),
            level=self.level,
        )


def estimate_frequencies(
    tally: ReportTally,
    channel: Channel,
    *,
    inclusion: float | Fraction = 1.0,
    level: float = 0.95,
    rounding: float = 0.0,
) -> Frequencies:
    """Unbiased weighted counts of all respondents; `inclusion` is the chance with which each of them was asked.

    `rounding` is the part that drawing weights' classes adds to their squares (`WeightScale.rounding`).

    Estimates may be negative. A cell in which nobody happened to be asked gets 0 with an infinite variance; a cell
    without respondents, where all were asked, gets an exact 0.
    """
    chance = inclusion_chance(inclusion)
    weights = tally.weights.astype(np.float64)
    squares = tally.weight_squares.astype(np.float64)
    contrast = channel.p - channel.q
    estimates = (tally.support - channel.q * weights[:, None]) / (contrast * chance)
    total, moments = squares[:, None] / chance, Moments.of(channel)
    own = (tally.support_squares - channel.q * squares[:, None]) / (contrast * chance)
    variances = moments.other / chance * total + widen(moments.own / chance - 1 + rounding, own, total)
    unheard = (tally.reports == 0)[:, None] & (chance < 1)
    return Frequencies(
        estimates=estimates,
        variances=np.where(unheard, np.inf, np.maximum(variances, 0.0)),
        level=level,
        weights=weights,
        weight_squares=squares,
        category_squares=own,
        channel=channel,
        inclusion=chance,
    )


def expected_variances(
    *,
    weight_squares: NDArray[float64],
    category_squares: NDArray[float64],
    channel: Channel,
    inclusion: float | Fraction = 1.0,
) -> NDArray[float64]:
    """The variance of each estimated count, by theory, from the sums of w² over a cell and over each category."""
    chance, moments = inclusion_chance(inclusion), Moments.of(channel)
    second = moments.other * np.asarray(weight_squares)[..., None] + moments.own * category_squares
    return np.maximum(second / chance - category_squares, 0.0)


def widen(coefficient: float, sums: NDArray[float64], total: NDArray[float64]) -> NDArray[float64]:
    """A part of a variance from sums that are only estimated, kept to their range 0 to total where that widens it.

    Kept to the range at the other end as well, variances of small cells would come out too small on average.
    """
    kept = np.maximum(sums, 0.0) if coefficient > 0 else np.minimum(sums, total)
    return np.asarray(coefficient * kept, dtype=np.float64)


def expected_absolute_error(bias: ArrayLike, variance: ArrayLike) -> NDArray[float64]:
    """The mean of |error| when the error is normal with this mean and variance."""
    shift, spread = np.broadcast_arrays(np.abs(np.asarray(bias, float)), np.sqrt(np.asarray(variance, float)))
    known = spread > 0
    ratio = np.divide(shift, spread, out=np.zeros(shift.shape), where=known)
    erf = np.asarray(np.frompyfunc(math.erf, 1, 1)(ratio / math.sqrt(2)), dtype=np.float64)
    folded = spread * math.sqrt(2 / math.pi) * np.exp(-(np.minimum(ratio, 40.0) ** 2) / 2) + shift * erf
    return np.where(known, folded, shift)


def inclusion_chance(inclusion: float | Fraction) -> float:
    """The chance of having been asked, as a float in (0, 1]."""
    chance = float(inclusion)
    if not 0 < chance <= 1:
        rule = say("must be above 0 and at most 1")
        raise ParameterInvalid(parameter="inclusion", rule=rule, given=str(inclusion))
    return chance
