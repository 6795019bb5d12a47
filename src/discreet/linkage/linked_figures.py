"""Noisy cells as figures with intervals: counts, sums of them, and ratios whose two parts hold together.

An interval of one cell is the exact one of its noise. A ratio has an interval for each of its parts at half the error,
so that both hold at once with the stated probability; its ends are the worst that the two allow. Counts are never below
0, and so the parts of a ratio are cut there.

Requires: every cell has independent discrete Laplace noise of one scale, in whole steps.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property, lru_cache

from discreet.catalogue import say
from discreet.errors import ParameterInvalid
from discreet.guarantees import ExactLike, ceil_to_grid, exact, text
from discreet.intervals import NoisePart, half_width
from discreet.mechanisms import DiscreteLaplace

__all__ = ["CellNoise", "Estimated", "NoisySum"]


@dataclass(frozen=True, slots=True)
class Estimated:
    """A figure and the ends of its interval; all None where it is not shown."""

    value: int | float | None = None
    low: int | float | None = None
    high: int | float | None = None


@dataclass(frozen=True)
class NoisySum:
    """Cells times a positive factor each, added up."""

    cells: tuple[int, ...]
    factors: tuple[Fraction, ...]

    @cached_property
    def value(self) -> Fraction:
        return sum((cell * factor for cell, factor in zip(self.cells, self.factors, strict=True)), Fraction(0))

    def times(self, factor: Fraction) -> NoisySum:
        return NoisySum(self.cells, tuple(factor * item for item in self.factors))

    @classmethod
    def join(cls, sums: Sequence[NoisySum]) -> NoisySum:
        """Sums of different cells as one."""
        return cls(tuple(cell for item in sums for cell in item.cells), tuple(f for item in sums for f in item.factors))


@dataclass(frozen=True, slots=True)
class CellNoise:
    """The noise of every cell of an answer, and the level of intervals."""

    scale: Fraction
    level: Decimal

    both: Decimal

    @classmethod
    def of(cls, *, scale: int, level: ExactLike) -> CellNoise:
        """In whole steps; `both` is the level of two intervals that hold together at `level`."""
        known = exact(level, parameter="level", below=1)
        both = ceil_to_grid(1 - (1 - Fraction(known)) / 2)
        if both >= 1:
            raise ParameterInvalid(parameter="level", rule=say("must be at most 0.999999998"), given=text(known))
        return cls(Fraction(scale), known, both)

    def amount(self, found: NoisySum) -> Estimated:
        """A sum as it is: unbiased, and negative where noise made it so."""
        reach = self._reach(found, self.level)
        ends = found.value - reach, found.value + reach
        return Estimated(_plain(found.value), _down(ends[0]), _up(ends[1]))

    def share(self, part: NoisySum, rest: NoisySum) -> Estimated:
        """part / (part + rest), from 0 to 1; not shown where both together may be nobody."""
        if self._ends(NoisySum.join([part, rest]))[0] <= 0:
            return Estimated()
        part_low, part_high = self._ends(part)
        rest_low, rest_high = self._ends(rest)
        top, other = max(part.value, Fraction(0)), max(rest.value, Fraction(0))
        low = part_low / (part_low + rest_high) if part_low else Fraction(0)
        high = part_high / (part_high + rest_low) if part_high else Fraction(0)
        return Estimated(float(top / (top + other)), max(0.0, _down(low)), min(1.0, _up(high)))

    def ratio(self, top: NoisySum, bottom: NoisySum) -> Estimated:
        """top / bottom; not shown where the bottom may be nobody."""
        top_low, top_high = self._ends(top)
        low, high = self._ends(bottom)
        if low <= 0:
            return Estimated()
        value = max(top.value, Fraction(0)) / bottom.value
        return Estimated(float(value), max(0.0, _down(top_low / high)), _up(top_high / low))

    def _ends(self, found: NoisySum) -> tuple[Fraction, Fraction]:
        """An interval that holds together with another one, cut at 0."""
        reach = self._reach(found, self.both)
        return max(found.value - reach, Fraction(0)), max(found.value + reach, Fraction(0))

    def _reach(self, found: NoisySum, level: Decimal) -> Fraction:
        noise = DiscreteLaplace(self.scale)
        if len(found.factors) == 1:
            return found.factors[0] * _half_width(noise, level)
        drawn = Counter(found.factors)
        return Fraction(half_width([NoisePart(float(factor), noise, count) for factor, count in drawn.items()], level))


@lru_cache(maxsize=256)
def _half_width(noise: DiscreteLaplace, level: Decimal) -> int:
    """Every cell of an answer has the same."""
    return noise.half_width(level)


def _plain(value: Fraction) -> int | float:
    return int(value) if value.denominator == 1 else float(value)


def _down(value: Fraction) -> int | float:
    """Whole numbers as they are; others rounded outwards."""
    return int(value) if value.denominator == 1 else math.nextafter(float(value), -math.inf)


def _up(value: Fraction) -> int | float:
    return int(value) if value.denominator == 1 else math.nextafter(float(value), math.inf)
