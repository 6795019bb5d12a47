"""The widest gap between two places of sorted values, where places further apart count for less.

Smooth bounds of quantiles, extremes and trimmed means are all of this form: a window that begins at or before one
place and ends at or after another, its gap discounted for every row by which it is too wide. Whole numbers only.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from discreet.guarantees import exp_up

__all__ = ["FLOOR", "Core", "Discount", "Widest", "widest_gap"]

BITS: Final = 512
ONE: Final = 1 << BITS
_DIGITS: Final = 170
FLOOR: Final = Fraction(1, 1 << 40)
"""Gaps that count for less than this are not looked for."""

_ALLOWANCE: Final = 1 + Fraction(1, 1 << 64)
"""What the search may have lost, as a factor; see docs/proofs/smooth.md, claim 7."""


@dataclass(frozen=True, slots=True)
class Core:
    """Windows begin at `left` or before, end at `right` or after, and are free up to `span` places from end to end."""

    left: int
    right: int
    span: int


@dataclass(frozen=True, slots=True)
class Discount:
    """A factor for every row, in fixed point and rounded up: `rows` of them take at least e^(-exponent)."""

    factor: int

    @classmethod
    def over(cls, rows: int, *, exponent: Fraction) -> Discount:
        factor = exp_up(-exponent / rows, digits=_DIGITS) * ONE
        return cls(factor=min(ONE, -(-factor.numerator // factor.denominator)))

    def power(self, exponent: int) -> int:
        """The factor to a power, in fixed point, rounded up at every step."""
        result, square = ONE, self.factor
        while exponent:
            if exponent & 1:
                result = _times(result, square)
            square = _times(square, square)
            exponent >>= 1
        return result


@dataclass(frozen=True, slots=True)
class Widest:
    """The widest gap as it counts, at least the true one and at least FLOOR, and how many gaps were looked at."""

    gap: Fraction
    looks: int


@dataclass(frozen=True, slots=True)
class _End:
    """Where a window may begin or end: the place, its value, and the discount of all rows up to the core."""

    place: int
    value: int
    weight: int


def widest_gap(
    histogram: Sequence[tuple[int, int]], core: Core, *, low: int, high: int, free: int, discount: Discount
) -> Widest:
    """The largest of (x_e - x_s) * discount^max(0, e - s - free) over windows [s, e] around the core.

    Places before the first hold `low`, places after the last hold `high`.
    """
    # A window from core to core is narrower than `free` by this much, which the ends' discounts count too often.
    credit = ONE * ONE // discount.power(free - (core.right - core.left))
    lefts, rights = _lefts(histogram, core, low), _rights(histogram, core, high)
    width = high - low
    begins = _near(lefts, width=width, credit=credit, discount=discount)[::-1]
    ends = _near(rights, width=width, credit=credit, discount=discount)
    found, looks = _search(begins, ends, free=free, credit=credit)
    return Widest(gap=max(Fraction(found, ONE), FLOOR) * _ALLOWANCE, looks=looks)


def _lefts(histogram: Sequence[tuple[int, int]], core: Core, low: int) -> Iterable[tuple[int, int, int]]:
    """(rows away from the core, place, value), from the core outward: the last place of every value."""
    ends, before = [(0, low)], 0
    for value, count in histogram:
        if before >= core.left:
            break
        before += count
        ends.append((min(before, core.left), value))
    return ((core.left - index, index, value) for index, value in reversed(ends))


def _rights(histogram: Sequence[tuple[int, int]], core: Core, high: int) -> Iterable[tuple[int, int, int]]:
    """(rows away from the core, place, value), from the core outward: the first place of every value."""
    before = 0
    for value, count in histogram:
        if before + count >= core.right:
            index = max(before + 1, core.right)
            yield index - core.right, index, value
        before += count
    yield before + 1 - core.right, before + 1, high


def _near(indices: Iterable[tuple[int, int, int]], *, width: int, credit: int, discount: Discount) -> list[_End]:
    """The ends from which some window could still count for FLOOR or more."""
    ends: list[_End] = []
    weight, reached = ONE, 0
    for away, index, value in indices:
        weight = _times(weight, discount.power(away - reached))
        reached = away
        if width * _times(weight, credit) < FLOOR * ONE:
            break
        ends.append(_End(index, value, weight))
    return ends


def _search(begins: list[_End], ends: list[_End], *, free: int, credit: int) -> tuple[int, int]:
    """The largest discounted gap, in fixed point, and the number of looks.

    The later a window begins, the later its best end: so the best end of the middle beginning halves the question.
    """
    best = looks = 0
    open_parts = [(0, len(begins), 0, len(ends))]
    while open_parts:
        first, last, low, high = open_parts.pop()
        if first >= last:
            continue
        middle = (first + last) // 2
        begin, weight = begins[middle], _times(begins[middle].weight, credit)
        found, at = -1, low
        for index in range(low, high):
            end = ends[index]
            gap = end.value - begin.value
            gap = gap * (weight * end.weight >> BITS) if end.place - begin.place > free else gap << BITS
            if gap > found:
                found, at = gap, index
        looks += high - low
        best = max(best, found)
        open_parts += [(first, middle, low, at + 1), (middle + 1, last, at, high)]
    return best, looks


def _times(first: int, second: int) -> int:
    return -(-first * second >> BITS)
