"""Outputs worked out of noisy measures, in exact fractions, with intervals that hold together.

An output that reads m noisy measures gives each an interval at level 1 - (1 - level)/m: all of them hold at once with
at least the asked probability (union bound), and then the exact value of the output lies in every interval that
contains what the expression takes inside this box. A mean by itself has a narrower one (`meanlaws`).
Proof: docs/proofs/mean.md
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Final

from discreet.guarantees import ceil_to_grid
from discreet.mechanisms import DiscreteGaussian, DiscreteLaplace
from discreet.release.measurement.pricing import UsedMechanism
from discreet.sql import Arithmetic, Constant, Magnitude, Mean, Noted, Output, Pick, Spread, walk

__all__ = [
    "Box",
    "Interval",
    "enclose",
    "evaluate",
    "half_width",
    "is_whole",
    "joint_level",
    "measures_with_noise",
    "prints_exactly",
    "reach",
    "round_out",
    "shown",
    "shown_interval",
]

Interval = tuple[Fraction | None, Fraction | None]
"""Both ends included; None leaves a side without a bound."""

Box = Sequence[tuple[int, int]] | Mapping[int, tuple[int, int]]
"""For every measure, by its place, the least and the largest whole number it may be."""

_OPEN: Final[Interval] = (None, None)
_ROOT_BITS: Final = 96
_EXACT_FLOATS: Final = 10**15
_NINE_PLACES: Final = 10**9


# --- values ---------------------------------------------------------------------------------------------------------


def evaluate(output: Output, values: Sequence[int], thin: Collection[int] = ()) -> Fraction | None:
    """The output for the noisy measures of one cell; None where a division has no result.

    `thin` are the measures that are too small here for a mean or a variance to be taken over them: it is None then.
    """
    match output:
        case Noted(measure, step):
            return values[measure] * step
        case Constant(number):
            return number
        case Arithmetic(sign, left, right):
            return _combine(sign, evaluate(left, values, thin), evaluate(right, values, thin))
        case Magnitude(inner):
            value = evaluate(inner, values, thin)
            return None if value is None else abs(value)
        case Pick() if thin and any(isinstance(item, Mean | Spread) and item.size in thin for item in walk(output)):
            return None  # passed over, a mean that is not shown would leave the other operand in its place
        case Pick(least, inners):
            present = [value for inner in inners if (value := evaluate(inner, values, thin)) is not None]
            return (min if least else max)(present, default=None)
        case Mean(size=size) | Spread(size=size) if size in thin:
            return None
        case Mean(total, size):
            weight = max(values[size] * output.size_step, output.floor)
            mean = output.centre + values[total] * output.total_step / weight
            return min(max(mean, output.low), output.high)
        case Spread(total, squares, size):
            count = max(values[size], 2)
            variance = (values[squares] - Fraction(values[total] ** 2, count)) / (count - 1) * output.step**2
            variance = min(max(variance, Fraction(0)), output.high)
            return _root(variance, up=False) if output.root else variance


def _combine(sign: str, left: Fraction | None, right: Fraction | None) -> Fraction | None:
    if left is None or right is None:
        return None
    if sign == "+":
        return left + right
    if sign == "-":
        return left - right
    if sign == "*":
        return left * right
    return left / right if right else None


def _root(value: Fraction, *, up: bool) -> Fraction:
    """The square root of a fraction that is not negative, to 96 significant bits, rounded down or up."""
    numerator, denominator = value.numerator, value.denominator
    shift = max(0, _ROOT_BITS + (denominator.bit_length() - numerator.bit_length()) // 2)
    root = math.isqrt((numerator << 2 * shift) // denominator)
    inexact = root * root * denominator != numerator << 2 * shift
    return Fraction(root + (up and inexact), 1 << shift)


# --- intervals ------------------------------------------------------------------------------------------------------


def joint_level(level: Decimal, count: int) -> Decimal | None:
    """The level at which each of `count` intervals must hold for all to hold at `level`; None when none suffices."""
    if count <= 1:
        return level
    needed = ceil_to_grid(1 - (1 - Fraction(level)) / count)
    return needed if needed < 1 else None


@lru_cache(maxsize=4096)
def half_width(mechanism: DiscreteLaplace | DiscreteGaussian, level: Decimal) -> int:
    """The half-width of a mechanism; kept, because a statement asks for few and a table for many."""
    return mechanism.half_width(level)


def reach(mechanism: DiscreteLaplace | DiscreteGaussian, level: Decimal) -> int:
    """How far a noisy value may be off at this level: a step at least, since no noisy figure is told to be exact."""
    return max(half_width(mechanism, level), 1)


def measures_with_noise(used: Collection[int], mechanisms: Sequence[Sequence[UsedMechanism | None]]) -> list[int]:
    """Those of the measures whose interval can miss: not what is exact, nor what is chosen between sure ends."""
    return [
        index
        for index in sorted(used)
        if any(isinstance(item, DiscreteLaplace | DiscreteGaussian) for item in mechanisms[index])
    ]


def enclose(output: Output, box: Box) -> Interval:
    """An interval that holds every value of the output for measures inside the box."""
    match output:
        case Noted(measure, step):
            low, high = box[measure]
            return low * step, high * step
        case Constant(value):
            return value, value
        case Arithmetic(sign, left, right):
            return _ARITHMETIC[sign](enclose(left, box), enclose(right, box))
        case Magnitude(inner):
            return _magnitude(enclose(inner, box))
        case Pick(least, inners):
            whole = not any(_may_lack(inner, box) for inner in inners)
            return _pick([enclose(inner, box) for inner in inners], least=least, whole=whole)
        case Mean(total, size):
            return _mean(output, box[total], box[size])
        case Spread(total, squares, size):
            return _spread(output, box[total], box[squares], box[size])


def _mean(output: Mean, total: tuple[int, int], size: tuple[int, int]) -> Interval:
    """An average exists only over something, so the size is at least the floor; and it lies between its bounds."""
    least, most = (max(end * output.size_step, output.floor) for end in size)
    low, high = (end * output.total_step for end in total)
    low = output.centre + low / (most if low >= 0 else least)
    high = output.centre + high / (least if high >= 0 else most)
    return min(max(low, output.low), output.high), min(max(high, output.low), output.high)


def _spread(output: Spread, total: tuple[int, int], squares: tuple[int, int], size: tuple[int, int]) -> Interval:
    """A sample variance exists for two or more; it is neither negative nor above its bound."""
    least, most = (max(end, 2) for end in size)
    far = max(total[0] ** 2, total[1] ** 2)
    near = 0 if total[0] <= 0 <= total[1] else min(total[0] ** 2, total[1] ** 2)
    low = (squares[0] - Fraction(far, least)) / (most - 1)  # below 0 it is cut, whatever divides it
    high = (squares[1] - Fraction(near, most)) / (least - 1)
    if high < 0 or low * output.step**2 > output.high:  # nothing in the box is a variance: it has missed
        low, high = Fraction(0), output.high / output.step**2
    low, high = (min(max(end * output.step**2, Fraction(0)), output.high) for end in (low, high))
    return (_root(low, up=False), _root(high, up=True)) if output.root else (low, high)


def _plus(left: Interval, right: Interval) -> Interval:
    return _add(left[0], right[0]), _add(left[1], right[1])


def _minus(left: Interval, right: Interval) -> Interval:
    return _plus(left, (None if right[1] is None else -right[1], None if right[0] is None else -right[0]))


def _add(left: Fraction | None, right: Fraction | None) -> Fraction | None:
    return None if left is None or right is None else left + right


def _times(left: Interval, right: Interval) -> Interval:
    """The corners decide; an open end counts as endless, and nothing times endless is nothing."""
    corners = [_product(a, b) for a in _ends(left) for b in _ends(right)]
    low, high = min(corners), max(corners)
    return (None if isinstance(low, float) else low), (None if isinstance(high, float) else high)


def _over(left: Interval, right: Interval) -> Interval:
    """Division is open on every side to which it can run away as the divisor nears 0."""
    low, high = right
    if (low is None or low < 0) and (high is None or high > 0):
        return _OPEN
    if low == 0 and high == 0:
        return _OPEN
    inverse = _inverse(high), _inverse(low)
    return _times(left, inverse)


def _inverse(end: Fraction | None) -> Fraction | None:
    """1/end where the divisor keeps one sign: an endless end comes to 0, and 0 runs away."""
    if end is None:
        return Fraction(0)
    return 1 / end if end else None


End = Fraction | float


def _ends(interval: Interval) -> tuple[End, End]:
    low, high = interval
    return (-math.inf if low is None else low), (math.inf if high is None else high)


def _product(left: End, right: End) -> End:
    if left == 0 or right == 0:
        return Fraction(0)
    if isinstance(left, float) or isinstance(right, float):
        return math.inf if (left > 0) == (right > 0) else -math.inf
    return left * right


def _magnitude(interval: Interval) -> Interval:
    low, high = interval
    if low is not None and low >= 0:
        return interval
    if high is not None and high <= 0:
        return -high, None if low is None else -low
    return Fraction(0), None if low is None or high is None else max(-low, high)


def _pick(intervals: Sequence[Interval], *, least: bool, whole: bool) -> Interval:
    """LEAST and GREATEST pass over what is not there: any part may be what is left, unless all are there."""
    choose = min if least else max
    lows, highs = [low for low, _ in intervals], [high for _, high in intervals]
    known_lows, known_highs = [end for end in lows if end is not None], [end for end in highs if end is not None]
    if whole and len(known_lows) == len(lows) and len(known_highs) == len(highs):
        return choose(known_lows), choose(known_highs)
    low = min(known_lows) if len(known_lows) == len(lows) else None
    return low, max(known_highs) if len(known_highs) == len(highs) else None


def _may_lack(output: Output, box: Box) -> bool:
    """Whether an output may have no result inside the box: a divisor in it may be 0, whatever is divided."""
    divisors = (item.right for item in walk(output) if isinstance(item, Arithmetic) and item.sign == "/")
    ends = (enclose(divisor, box) for divisor in divisors)
    return any((low is None or low <= 0) and (high is None or high >= 0) for low, high in ends)


_ARITHMETIC: Final[dict[str, Callable[[Interval, Interval], Interval]]] = {
    "+": _plus,
    "-": _minus,
    "*": _times,
    "/": _over,
}


# --- what is shown --------------------------------------------------------------------------------------------------


def is_whole(output: Output) -> bool:
    """Whether the output is a whole number by its form: counts and sums of whole steps, and what + - * make of them."""
    match output:
        case Noted(_, step):
            return step.denominator == 1
        case Constant(value):
            return value.denominator == 1
        case Arithmetic(sign, left, right):
            return sign != "/" and is_whole(left) and is_whole(right)
        case Magnitude(inner):
            return is_whole(inner)
        case Pick(_, inners):
            return all(is_whole(inner) for inner in inners)
        case _:
            return False


def shown(value: Fraction | None, *, whole: bool) -> int | float | None:
    """A number as it leaves: whole where the output is, else the nearest float."""
    if value is None or whole:
        return None if value is None else value.numerator
    try:
        return float(value)
    except OverflowError:  # beyond all floats, where a fraction of it says nothing
        return round(value)


def shown_interval(interval: Interval, *, whole: bool) -> list[int | float | None]:
    """The ends as they leave, rounded outwards."""
    low, high = interval
    return [
        shown(low, whole=True) if low is None or whole else round_out(low.numerator, low.denominator, up=False),
        shown(high, whole=True) if high is None or whole else round_out(high.numerator, high.denominator, up=True),
    ]


def round_out(numerator: int, denominator: int, *, up: bool) -> int | float:
    """The float nearest to a ratio, if it prints as this very number, else the nearest one on the asked side."""
    try:
        nearest = numerator / denominator
    except OverflowError:
        return -(-numerator // denominator) if up else numerator // denominator
    over, under = nearest.as_integer_ratio()
    beyond = over * denominator - numerator * under
    if beyond == 0 or (beyond > 0) == up or prints_exactly(numerator, denominator):
        return nearest
    return math.nextafter(nearest, math.inf if up else -math.inf)


def prints_exactly(numerator: int, denominator: int) -> bool:
    """Whether the nearest float prints as this very ratio: decimals of at most 15 digits do."""
    digits, rest = divmod(abs(numerator) * _NINE_PLACES, denominator)
    if rest:
        return False
    while digits >= _EXACT_FLOATS and digits % 10 == 0:
        digits //= 10
    return digits < _EXACT_FLOATS
