"""Elastic sensitivity: the count of pairs over a join on a declared key, bounded by how often a key is met.

Guarantee: (epsilon, delta)-DP, per protected unit, for add-remove and replace-one alike.
Requires:  each unit has at most `left_rows` and `right_rows` rows on the two sides (plan.calculus).
Proof:     docs/proofs/elastic.md; the noise in docs/proofs/smooth-noise.md
Refs:      [JNS18]; smoothing [NRS07].

The sensitivity follows from the most frequent keys of the data and so is itself confidential: it is for custodians'
comparisons. Analysts see no scale, interval, expected error or time of it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, Self, cast

from discreet.catalogue import say
from discreet.errors import QueryRefused
from discreet.guarantees import ApproxDP, ExactLike
from discreet.lab.strategies.smooth_noise import SmoothNoise
from discreet.lab.strategies.subject import StrategyAnswer
from discreet.sql import Field, Key, KeyJoin, Plan, Relation, Rows, facts_of

if TYPE_CHECKING:
    from discreet.cards import Card
    from discreet.engines import Engine
    from discreet.mechanisms import DiscreteLaplace
    from discreet.sql import Statement

__all__ = [
    "Elastic",
    "JoinHeld",
    "JoinSubject",
    "elastic_sensitivity",
    "hold_join",
    "join_subject",
    "smooth_bound",
]

KeyValue = int | str


@dataclass(frozen=True, slots=True)
class JoinSubject:
    """A count of pairs of rows with equal keys. `left_rows` and `right_rows` bound the rows of a unit on each side."""

    join: KeyJoin
    left_rows: int
    right_rows: int

    def __post_init__(self) -> None:
        if self.left_rows < 1 or self.right_rows < 1:
            raise ValueError("a unit has at least one row on each side")


@dataclass(frozen=True)
class JoinHeld:
    """How many rows of each side have each key. Confidential."""

    left: Mapping[KeyValue, int] = field(repr=False)
    right: Mapping[KeyValue, int] = field(repr=False)

    @cached_property
    def pairs(self) -> int:
        """The exact count."""
        return sum(rows * self.right.get(key, 0) for key, rows in self.left.items())

    @property
    def left_most(self) -> int:
        """How often the most frequent key is met on the left."""
        return max(self.left.values(), default=0)

    @property
    def right_most(self) -> int:
        return max(self.right.values(), default=0)


def join_subject(statement: Statement, cards: Mapping[str, Card]) -> JoinSubject:
    """What a statement read with `admit` counts over a join on a key, or QueryRefused."""
    join = statement.plan.source
    if not isinstance(join, KeyJoin):
        raise QueryRefused(
            say(
                "elastic sensitivity is for one COUNT over a join on a key that a card declares with "
                "`references`, as in SELECT COUNT(*) FROM visits JOIN clinics ON visits.clinic_id = "
                "clinics.clinic_id. Without such a join, use another strategy."
            )
        )
    return JoinSubject(join, facts_of(join.left, cards).rows, facts_of(join.right, cards).rows)


def hold_join(subject: JoinSubject, engine: Engine) -> JoinHeld:
    """What the rows say, exactly: each side is counted by its key, and no engine ever joins them. For the custodian."""
    join = subject.join
    return JoinHeld(_by_key(join.left, join.left_key, engine), _by_key(join.right, join.right_key, engine))


def _by_key(side: Relation, key: Field, engine: Engine) -> dict[KeyValue, int]:
    measured = engine.measure(Plan(side, (Key(key, None),), (Rows(None),)))
    assert measured.keys is not None, "open keys are listed"
    [rows] = measured.columns
    counted = zip(measured.keys, rows, strict=True)
    return {cell: int(cast(int, count)) for (cell,), count in counted if cell is not None}


@dataclass(frozen=True, slots=True)
class Elastic:
    """The strategy for one subject and its rows. All but the noise's epsilon and delta is confidential."""

    exact: int = field(repr=False)
    noise: SmoothNoise
    sensitivity: Fraction = field(repr=False)
    name: ClassVar[str] = "elastic"

    @classmethod
    def calibrate(cls, subject: JoinSubject, held: JoinHeld, *, epsilon: ExactLike, delta: ExactLike) -> Self:
        """Noise for the smooth upper bound of the elastic sensitivity of these rows.

        Counts above `largest_bound` are taken for it, so that whether noise can be drawn never depends on the rows.
        """
        noise = SmoothNoise.calibrate(epsilon=epsilon, delta=delta)
        bound = smooth_bound(subject, held, noise)
        most = noise.largest_bound
        return cls(min(held.pairs, most), noise, min(bound, Fraction(most)))

    @property
    def guarantee(self) -> ApproxDP:
        return self.noise.guarantee

    @property
    def mechanism(self) -> DiscreteLaplace:
        return self.noise.mechanism(self.sensitivity)

    def draw(self) -> StrategyAnswer:
        """One more answer; each costs the guarantee again."""
        [noisy] = self.mechanism.release([self.exact])
        return StrategyAnswer(float(noisy), float(self.sensitivity))


def elastic_sensitivity(subject: JoinSubject, held: JoinHeld, distance: int) -> int:
    """How far one unit can move the count in any data that differ from these in `distance` units, at most."""
    k_left, k_right = subject.left_rows, subject.right_rows
    left_most = held.left_most + distance * k_left
    right_most = held.right_most + distance * k_right
    return k_left * right_most + k_right * left_most + k_left * k_right


def smooth_bound(subject: JoinSubject, held: JoinHeld, noise: SmoothNoise) -> Fraction:
    """The largest of base^t times the elastic sensitivity at distance t, rounded up.

    That sensitivity is A + B·t, so the terms rise as long as t < base / (1 - base) - A / B and fall from there.
    """
    here = elastic_sensitivity(subject, held, 0)
    step = elastic_sensitivity(subject, held, 1) - here
    farthest = max(0, math.ceil(noise.base / (1 - noise.base) - Fraction(here, step)))
    return noise.decay(farthest) * (here + step * farthest)
