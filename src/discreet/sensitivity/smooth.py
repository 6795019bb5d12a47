"""Smooth sensitivity: noise for the rows as they are, widened so that the width tells little of them.

Guarantee: (epsilon, delta)-DP per protected unit, add-remove or replace-one.
Requires:  values within the card's bounds, at most `unit_rows` of a unit; QUANTILE, MIN, MAX or TRIMMED_AVG.
Proof:     docs/proofs/smooth.md
Refs:      [NRS07]

COUNT and SUM are not offered: the next neighbour moves them as far as any, so nothing is smaller than the public
sensitivity. Nor is AVG: whatever the rows are, a value at a bound moves it by half the width over n or more, which
the public strategy comes close to, with n private as it is. The scale follows from the rows: an analyst is never
shown it, nor an interval, an expected error or the time taken. That is the duty of whoever shows an answer; this
strategy is for custodians' comparisons.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from typing import ClassVar, Final

from discreet.errors import QueryRefused
from discreet.guarantees.enclosures import ln_down, ln_up
from discreet.guarantees.numbers import ExactLike, exact
from discreet.guarantees.types import ApproxDP
from discreet.mechanisms.discrete_laplace import DiscreteLaplace
from discreet.mechanisms.scale import LARGEST_SCALE, round_up
from discreet.sensitivity.subject import Aggregate, Drawn, Held, Subject
from discreet.sensitivity.windows import FLOOR, ONE, Core, Discount, widest_gap

__all__ = ["Smooth", "bound_at", "require_smooth", "smooth_bound", "smoothness"]

_OFFERED: Final = frozenset({Aggregate.QUANTILE, Aggregate.MIN, Aggregate.MAX, Aggregate.TRIMMED})
_MOST_DECIMALS: Final = 6
_ROUNDING: Final = Fraction(1, 1 << 40)
"""Kept back from the smoothness for what rounding the scale up may add, as an exponent."""


@dataclass(frozen=True, slots=True)
class Smooth:
    """Smooth sensitivity made ready for one subject. All but epsilon, delta and the grid is confidential.

    `sensitivity` is in the query's own units. Noise is added to `result` in steps of `grid`, and what comes out is
    moved to the nearer bound.
    """

    epsilon: Decimal
    delta: Decimal
    grid: Fraction
    low: int
    high: int
    result: int = field(repr=False)
    sensitivity: Fraction = field(repr=False)
    mechanism: DiscreteLaplace = field(repr=False)
    name: ClassVar[str] = "smooth"

    @classmethod
    def calibrate(cls, subject: Subject, held: Held, *, epsilon: ExactLike, delta: ExactLike) -> Smooth:
        """Half of epsilon hides where the answer is; the other half, with delta, hides how wide its noise is."""
        require_smooth(subject)
        spent = exact(epsilon, parameter="epsilon")
        missed = exact(delta, parameter="delta", below=Fraction(1, 2))
        place = Fraction(spent) / 2
        parts = _grid_parts(subject, place)
        rounded = subject.aggregate is Aggregate.TRIMMED
        bound = smooth_bound(subject, held, beta=smoothness(epsilon=spent, delta=missed)) * parts + int(rounded)
        return cls(
            epsilon=spent,
            delta=missed,
            grid=subject.step / parts,
            low=subject.low * parts,
            high=subject.high * parts,
            result=_rounded(_answer(subject, held) * parts),
            sensitivity=bound * subject.step / parts,
            mechanism=DiscreteLaplace(scale=round_up(bound / place)),
        )

    @property
    def guarantee(self) -> ApproxDP:
        return ApproxDP(epsilon=self.epsilon, delta=self.delta)

    def draw(self) -> Drawn:
        """One more answer; each costs the guarantee again."""
        [noisy] = self.mechanism.release([self.result])
        return Drawn(
            result=float(min(max(noisy, self.low), self.high) * self.grid), sensitivity=float(self.sensitivity)
        )


def smoothness(*, epsilon: ExactLike, delta: ExactLike) -> Fraction:
    """beta = ln(1 + (epsilon/2) / ln(2/delta)), rounded down: neighbours' scales may differ by a factor e^beta."""
    room = Fraction(exact(epsilon, parameter="epsilon")) / 2
    missed = Fraction(exact(delta, parameter="delta", below=Fraction(1, 2)))
    return ln_down(1 + room / ln_up(2 / missed))


def smooth_bound(subject: Subject, held: Held, *, beta: Fraction) -> Fraction:
    """S, in steps of the value: no neighbour's answer is further off, nor its S by more than a factor e^beta."""
    rows, width = subject.unit_rows, subject.high - subject.low
    exponent = beta - _ROUNDING
    if subject.aggregate is Aggregate.TRIMMED:
        exponent /= 2
    core, discount = _core(subject, held.present), Discount.over(rows, exponent=exponent)
    widest = widest_gap(
        held.histogram, core, low=subject.low, high=subject.high, free=core.span + rows - 1, discount=discount
    ).gap
    if subject.aggregate is Aggregate.TRIMMED:
        widest *= rows * _smooth_share(subject, held.present, discount)
    return max(FLOOR, min(Fraction(width), widest))


def bound_at(subject: Subject, held: Held, *, distance: int) -> Fraction:
    """The bound on local sensitivity in all data sets at most so many units away, in steps of the value.

    What `smooth_bound` discounts and maximises, window by window: for a custodian's eye and for the tests.
    """
    rows, core = subject.unit_rows, _core(subject, held.present)
    reach = core.span + (distance + 1) * rows - 1
    widest = max(
        _value(subject, held, start + reach) - _value(subject, held, start)
        for start in range(core.right - reach, core.left + 1)
    )
    if subject.aggregate is not Aggregate.TRIMMED:
        return Fraction(widest)
    return min(
        Fraction(subject.high - subject.low),
        widest * rows / _fewest_kept(subject, held.present - (distance + 1) * rows + 1),
    )


def require_smooth(subject: Subject) -> None:
    """Refuse what smooth sensitivity is not offered for: from the statement and the card alone."""
    if subject.aggregate not in _OFFERED:
        raise QueryRefused(
            f"smooth sensitivity is not offered for {subject.aggregate.value}: it would never be below the public "
            "sensitivity. Ask for MEDIAN, QUANTILE, MIN, MAX or a trimmed mean, or use the strategy 'public'."
        )
    if not subject.bounded:
        raise QueryRefused(
            f"smooth sensitivity of {subject.text} needs public bounds. Add `bounds: [low, high]` to the column in the "
            "card, or use the strategy 'private-bounds'."
        )
    most = Fraction(1, 2) if subject.aggregate is Aggregate.TRIMMED else Fraction(1)
    if subject.rank is not None and (not 0 <= subject.rank <= most or subject.rank == most == Fraction(1, 2)):
        raise QueryRefused(f"{subject.text}: a quantile's rank is from 0 to 1, a trimmed share from 0 to below 0.5.")


def _grid_parts(subject: Subject, place: Fraction) -> int:
    """Into how many parts a step is cut, by public facts alone, so that the largest noise can be drawn."""
    width = subject.high - subject.low + 1
    decimals = _MOST_DECIMALS if subject.aggregate is Aggregate.TRIMMED else 0
    while decimals and 2 * width * 10**decimals / place > LARGEST_SCALE:
        decimals -= 1
    if 2 * width * 10**decimals / place > LARGEST_SCALE:
        raise QueryRefused(
            f"{subject.text} has too many steps between its bounds for this epsilon. Give the column narrower bounds "
            "or a larger step in the card, or spend more."
        )
    return int(10**decimals)


def _core(subject: Subject, present: int) -> Core:
    """Around which places windows lie: that of a quantile or an extreme, or all that a trimmed mean keeps."""
    match subject.aggregate:
        case Aggregate.MIN:
            return Core(1, 1, 1)
        case Aggregate.MAX:
            return Core(present, present, 1)
        case Aggregate.QUANTILE:
            assert subject.rank is not None
            place = max(1, math.ceil(subject.rank * present))
            return Core(place, place, 1)
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


def _value(subject: Subject, held: Held, place: int) -> int:
    """The value at a place; the bounds before the first and after the last."""
    if place < 1:
        return subject.low
    return held.at(place) if place <= held.present else subject.high


def _answer(subject: Subject, held: Held) -> Fraction:
    """The exact answer in steps. Without values, what the places say; the middle for a trimmed mean."""
    result = held.result(subject)
    if result is not None:
        return result / subject.step
    if subject.aggregate is Aggregate.TRIMMED:
        return Fraction(subject.low + subject.high, 2)
    return Fraction(_value(subject, held, _core(subject, 0).left))


def _rounded(value: Fraction) -> int:
    return math.floor(value + Fraction(1, 2))
