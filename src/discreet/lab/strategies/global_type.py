"""The sensitivity of a 32-bit type, 2^32 for every question: what a bound that knows nothing of the column costs.

Guarantee: pure DP, epsilon, per protected unit.
Requires:  values clamped, here, to a range of width 2^32 in the query's own units; rows per unit bounded (the card).
Proof:     docs/proofs/global-type.md
Refs:      [T] Section 7.1, which takes 2^32 as the global sensitivity and clamps nothing: then nothing is proved.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal
from itertools import groupby
from typing import Final, Self

from discreet.guarantees import ExactLike, PureDP, exact
from discreet.lab.strategies.subject import AggregateKind, HeldValues, StrategyAnswer, Subject
from discreet.mechanisms import DiscreteLaplace

__all__ = ["WIDTH", "GlobalType"]

WIDTH: Final = 1 << 32


@dataclass(frozen=True, slots=True)
class GlobalType:
    """Discrete Laplace noise of scale 2^32 / epsilon on whole units; times the rows of a unit for counts and sums."""

    answer: int
    sensitivity: int
    epsilon: Decimal

    @classmethod
    def calibrate(cls, subject: Subject, held: HeldValues, *, epsilon: ExactLike) -> Self:
        """Ready to draw: the values are clamped, the answer is taken of them and rounded down to whole units."""
        found = _clamped(subject, held).result(subject)
        adds_up = subject.aggregate in {AggregateKind.COUNT, AggregateKind.SUM}
        return cls(
            # Between neighbours either may be without values: 0 lies in the range, so nothing moves farther for it.
            answer=0 if found is None else math.floor(found),
            sensitivity=WIDTH * (subject.unit_rows if adds_up else 1),
            epsilon=exact(epsilon, parameter="epsilon"),
        )

    @property
    def name(self) -> str:
        return "global-type"

    @property
    def guarantee(self) -> PureDP:
        return PureDP(epsilon=self.epsilon)

    def draw(self) -> StrategyAnswer:
        mechanism = DiscreteLaplace.calibrate(sensitivity=self.sensitivity, epsilon=self.epsilon)
        [noisy] = mechanism.release([self.answer])
        return StrategyAnswer(float(noisy), float(self.sensitivity))


def _clamped(subject: Subject, held: HeldValues) -> HeldValues:
    """Values moved into [0, 2^32], or [-2^31, 2^31] where the card admits negative ones."""
    start = -(WIDTH // 2) if subject.low < 0 else 0
    low, high = math.ceil(start / subject.step), math.floor((start + WIDTH) / subject.step)
    moved = ((min(max(value, low), high), count) for value, count in held.histogram)
    merged = ((value, sum(count for _, count in pairs)) for value, pairs in groupby(moved, key=lambda pair: pair[0]))
    return HeldValues(tuple(merged), held.rows)
