"""Smooth sensitivity: noise for the rows as they are, widened so that the width tells little of them.

Guarantee: (epsilon, delta)-DP per protected unit, add-remove or replace-one.
Requires:  values within the card's bounds, at most `unit_rows` of a unit; QUANTILE, MIN, MAX or TRIMMED_AVG.
Proof:     docs/proofs/smooth.md; the noise in docs/proofs/smooth-noise.md
Refs:      [NRS07]

COUNT and SUM are not offered: a neighbour of any rows is moved as far as rows can be, so smoothing gains next to
nothing. Nor is AVG: whatever the rows are, a value at a bound moves it by about half the width over n, and the public
strategy does nearly as well without telling n. The scale follows from the rows: an analyst is never shown it, nor an
interval, an expected error or the time taken. That is the duty of whoever shows an answer; this strategy is for
custodians' comparisons.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar, Final, Self

from discreet.catalogue import say
from discreet.errors import QueryRefused
from discreet.guarantees import ApproxDP, ExactLike, ln_down
from discreet.lab.strategies.smooth_noise import SmoothNoise
from discreet.lab.strategies.subject import AggregateKind, HeldValues, StrategyAnswer, Subject
from discreet.lab.strategies.widest_gap import FLOOR, ONE, Core, Discount, widest_gap

if TYPE_CHECKING:
    from discreet.mechanisms import DiscreteLaplace

__all__ = ["Smooth", "require_smooth", "smooth_bound"]

_OFFERED: Final = frozenset({AggregateKind.QUANTILE, AggregateKind.MIN, AggregateKind.MAX, AggregateKind.TRIMMED})
_MOST_DECIMALS: Final = 6


@dataclass(frozen=True, slots=True)
class Smooth:
    """Smooth sensitivity made ready for one subject. `exact` and `sensitivity` are confidential.

    `exact` is the answer in steps of `grid`; all else is in the query's own units. What comes out is moved to the
    nearer bound.
    """

    exact: int = field(repr=False)
    noise: SmoothNoise
    grid: Fraction
    low: Fraction
    high: Fraction
    sensitivity: Fraction = field(repr=False)
    name: ClassVar[str] = "smooth"

    @classmethod
    def calibrate(cls, subject: Subject, held: HeldValues, *, epsilon: ExactLike, delta: ExactLike) -> Self:
        """Noise for the smooth bound of these rows. Whether it can be drawn is known without them."""
        require_smooth(subject)
        noise = SmoothNoise.calibrate(epsilon=epsilon, delta=delta)
        parts = _grid_parts(subject, noise)
        between = subject.aggregate is AggregateKind.TRIMMED or parts < 1
        bound = smooth_bound(subject, held, base=noise.base) * parts + int(between)
        grid = subject.step / parts
        return cls(
            exact=math.floor(_answer(subject, held) * parts + Fraction(1, 2)),
            noise=noise,
            grid=grid,
            low=subject.low * subject.step,
            high=subject.high * subject.step,
            sensitivity=bound * grid,
        )

    @property
    def guarantee(self) -> ApproxDP:
        return self.noise.guarantee

    @property
    def mechanism(self) -> DiscreteLaplace:
        return self.noise.mechanism(self.sensitivity / self.grid)

    def draw(self) -> StrategyAnswer:
        """One more answer; each costs the guarantee again."""
        [noisy] = self.mechanism.release([self.exact])
        return StrategyAnswer(float(min(max(noisy * self.grid, self.low), self.high)), float(self.sensitivity))


def smooth_bound(subject: Subject, held: HeldValues, *, base: Fraction) -> Fraction:
    """S, in steps of the value: no neighbour's answer is further off, and base times S is at most the neighbour's S."""
    rows, width = subject.unit_rows, subject.high - subject.low
    exponent = ln_down(1 / base)
    if subject.aggregate is AggregateKind.TRIMMED:
        exponent /= 2
    core, discount = _core(subject, held.present), Discount.over(rows, exponent=exponent)
    widest = widest_gap(
        held.histogram, core, low=subject.low, high=subject.high, free=core.span + rows - 1, discount=discount
    ).gap
    if subject.aggregate is AggregateKind.TRIMMED:
        widest *= rows * _smooth_share(subject, held.present, discount)
    return max(FLOOR, min(Fraction(width), widest))


def require_smooth(subject: Subject) -> None:
    """Refuse what smooth sensitivity is not offered for: from the statement and the card alone."""
    if subject.aggregate not in _OFFERED:
        raise QueryRefused(
            say(
                "smooth sensitivity is not offered for {value}: it gains next to nothing over the public one. "
                "Ask for MEDIAN, QUANTILE, MIN, MAX or a trimmed mean, or use the strategy 'public'.",
                value=subject.aggregate.value,
            )
        )
    if not subject.bounded:
        raise QueryRefused(
            say(
                "smooth sensitivity of {text} needs public bounds. Add `bounds: [low, high]` to the column in "
                "the card, or use the strategy 'private-bounds'.",
                text=subject.text,
            )
        )
    most = Fraction(1, 2) if subject.aggregate is AggregateKind.TRIMMED else Fraction(1)
    if subject.rank is not None and (not 0 <= subject.rank <= most or subject.rank == most == Fraction(1, 2)):
        raise QueryRefused(
            say("{text}: a quantile's rank is from 0 to 1, a trimmed share from 0 to below 0.5.", text=subject.text)
        )


def _grid_parts(subject: Subject, noise: SmoothNoise) -> Fraction:
    """Into how many parts a step is cut, from public facts alone, so that noise for the widest bound can be drawn."""
    parts = Fraction(10) ** (_MOST_DECIMALS if subject.aggregate is AggregateKind.TRIMMED else 0)
    while (subject.high - subject.low) * parts + 1 > noise.largest_bound:
        parts /= 10
    return parts


def _core(subject: Subject, present: int) -> Core:
    """Around which places windows lie: that of a quantile or an extreme, or all that a trimmed mean keeps."""
    match subject.aggregate:
        case AggregateKind.MIN:
            return Core(1, 1, 1)
        case AggregateKind.MAX:
            return Core(present, present, 1)
        case AggregateKind.QUANTILE:
            assert subject.rank is not None
            index = max(1, math.ceil(subject.rank * present))
            return Core(index, index, 1)
    assert subject.rank is not None
    cut, span = math.floor(subject.rank * present), math.ceil((1 - 2 * subject.rank) * present) + 1
    return Core(present - cut + 1 - span, cut + span, span)


def _fewest_kept(subject: Subject, present: int) -> Fraction:
    """At most what a trimmed mean keeps of so many values or more."""
    assert subject.rank is not None
    return max(Fraction(1), (1 - 2 * subject.rank) * present)


def _smooth_share(subject: Subject, present: int, discount: Discount) -> Fraction:
    """A smooth bound on one over the number of values kept: the largest discounted one over fewer and fewer values.

    Between the nearest neighbours and those with one value kept, its logarithm is convex: the ends decide.
    """
    assert subject.rank is not None
    near = subject.unit_rows - 1
    one_kept = max(near, math.ceil(present - 1 / (1 - 2 * subject.rank)))
    return max(
        Fraction(discount.power(gone - near), ONE) / _fewest_kept(subject, present - gone)
        for gone in {near, max(near, one_kept - 1), one_kept}
    )


def _value(subject: Subject, held: HeldValues, index: int) -> int:
    """The value at a place; the bounds before the first and after the last."""
    if index < 1:
        return subject.low
    return held.at(index) if index <= held.present else subject.high


def _answer(subject: Subject, held: HeldValues) -> Fraction:
    """The exact answer in steps. Without values, what the places say; the middle for a trimmed mean."""
    result = held.result(subject)
    if result is not None:
        return result / subject.step
    if subject.aggregate is AggregateKind.TRIMMED:
        return Fraction(subject.low + subject.high, 2)
    return Fraction(_value(subject, held, _core(subject, 0).left))
