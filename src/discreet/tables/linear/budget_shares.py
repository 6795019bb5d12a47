"""How a budget is best shared among margins: the mean variance of a table's figures, and the shares that make it small.

Nothing here sees data: sizes of keys and sensitivities decide. The mean is one vote for each published margin; a vote
is the mean variance of the margin's figures. With Gaussian noise the mean is convex in the shares; with Laplace noise
it is not, so the descent starts from many places, all of them fixed, and then tries to do without each margin.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, lru_cache
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from discreet.tables.linear.components import Array, Components, Precision
from discreet.tables.linear.layout import Margin

__all__ = ["LEAST", "PARTS", "Goal", "best_shares", "count_votes"]

PARTS = 1000
"""Shares are multiples of 1/PARTS."""

LEAST = 5
"""A margin whose share would be below LEAST/PARTS is not measured, unless it is the cells."""

SHORT, LONG = 12, 100  # steps of a descent that only compares, and of one that arrives
ROUNDS = 4  # of changes to the best shares
SCATTERED = 384  # starts all over the shares; fewer where a step is dear
SAME = 1e-7  # two means this close are one
LOWEST = 1e-9  # a share of 0 would never grow again


@dataclass(frozen=True, eq=False)
class Goal:
    """The mean variance of the published figures, as a function of the shares of the margins that may be measured.

    The noise of candidate c has variance costs[c, g] / share**power in each of the counts[g] slices of group g. Where
    the candidate sums over the slices, the first entry of its costs holds. No two candidates say the same.
    """

    parts: Components
    candidates: tuple[Margin, ...]
    costs: Array
    counts: Array
    power: int

    def __post_init__(self) -> None:
        if self.costs.shape != (len(self.candidates), len(self.counts)) or not np.all(self.costs > 0):
            raise ValueError("every candidate has a positive cost in each group of slices")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Goal) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    @cached_property
    def _key(self) -> tuple[object, ...]:
        """Arrays are equal here when their numbers are."""
        return self.parts.layout, self.candidates, self.costs.tobytes(), self.counts.tobytes(), self.power

    @cached_property
    def separate(self) -> NDArray[np.bool_]:
        """Which candidates keep the slices apart."""
        return np.array([self.parts.separates(margin) for margin in self.candidates], dtype=np.bool_)

    @cached_property
    def places(self) -> NDArray[np.intp]:
        """The number of each candidate's component."""
        return np.array([self._number(margin) for margin in self.candidates], dtype=np.intp)

    @cached_property
    def votes(self) -> tuple[Array, Array]:
        within, across = count_votes(self.parts)
        return within.reshape(-1), across.reshape(-1)

    def measure(self, shares: Array) -> tuple[Array, Array]:
        """The mean for each row of shares, and its slopes."""
        precision = self._precision(shares)
        within, across = self.votes
        inverse, counts = precision.inverse, self.counts
        squares, damping = inverse**2 @ counts, precision.damping
        damped = precision.pooled / damping
        mean = precision.mean() @ within + precision.summed() @ across
        part = within / counts.sum()
        by_inverse = (
            part[:, None] * (1 - 2 * damped[..., None] * inverse)
            + (part * damped**2 * squares + across / damping**2)[..., None]
        )
        by_own = -(inverse**2) * by_inverse * counts
        by_pooled = -(part * squares + across * precision.spread**2) / damping**2
        slopes = np.empty_like(shares)
        slopes[:, self.separate] = np.sum(
            self._scatter(by_own)[:, self.places[self.separate]] / self.costs[self.separate], axis=-1
        )
        slopes[:, ~self.separate] = (
            self._scatter(by_pooled)[:, self.places[~self.separate]] / self.costs[~self.separate, 0]
        )
        return mean, slopes * self.power * shares ** (self.power - 1)

    def only(self, chosen: Sequence[int]) -> Goal:
        """The same goal with fewer candidates."""
        return replace(
            self, candidates=tuple(self.candidates[number] for number in chosen), costs=self.costs[list(chosen)]
        )

    def _number(self, margin: Margin) -> int:
        return int("".join(map(str, self.parts.bits(margin))) or "0", 2)

    def _precision(self, shares: Array) -> Precision:
        rows, components = len(shares), 2 ** len(self.parts.free)
        amounts = shares[..., None] ** self.power / self.costs
        own, pooled = np.zeros((rows, components, len(self.counts))), np.zeros((rows, components))
        own[:, self.places[self.separate]] = amounts[:, self.separate]
        pooled[:, self.places[~self.separate]] = amounts[:, ~self.separate, 0]
        shape = (rows, *self.parts.patterns)
        return Precision(
            own=self.parts.gather(own.reshape(*shape, -1), 1).reshape(own.shape),
            pooled=self.parts.gather(pooled.reshape(shape), 1).reshape(pooled.shape),
            counts=self.counts,
        )

    def _scatter(self, slopes: Array) -> Array:
        shape = (len(slopes), *self.parts.patterns, *slopes.shape[2:])
        return self.parts.scatter(slopes.reshape(shape), 1).reshape(slopes.shape)


def count_votes(parts: Components) -> tuple[Array, Array]:
    """How much each component's variance counts in the mean: that within one slice, and that of the slices' sum."""
    margins = parts.layout.margins
    votes = np.zeros((2, *parts.patterns))
    for margin in margins:
        votes[(int(not parts.separates(margin)), *parts.bits(margin))] += 1 / len(margins)
    return parts.weigh(votes[0, ...]), parts.weigh(votes[1, ...])


@lru_cache(maxsize=256)
def best_shares(goal: Goal) -> Mapping[Margin, Fraction]:
    """Shares that make the mean small, as multiples of 1/PARTS that add up to one; the same for the same goal.

    Kept, because tables of one shape are asked for at many epsilons, and explained before they are asked for.
    """
    equal = np.full((1, len(goal.candidates)), 1 / len(goal.candidates))
    if goal.power == 1:
        mean, shares = _descend(goal, equal, LONG)
    else:
        mean, shares = _sift(goal, np.concatenate([equal, _leaning(goal), _scattered(goal)]))
        for _ in range(ROUNDS):
            better, other = _sift(goal, _changed(shares[0]))
            if better[0] >= mean[0] * (1 - SAME):
                break
            mean, shares = better, other
    return MappingProxyType(_round(*_prune(goal, shares)))


def _prune(goal: Goal, shares: Array) -> tuple[tuple[Margin, ...], Array]:
    """Leave out what has too small a share, and share its part among the others, until nothing is too small."""
    while True:
        cells = np.array([margin == goal.parts.layout.cells for margin in goal.candidates])
        chosen = np.flatnonzero((shares[0] * PARTS >= LEAST) | cells)  # nothing else says all of the cells
        if len(chosen) == len(goal.candidates):
            return goal.candidates, shares[0]
        goal = goal.only(chosen.tolist())
        _, shares = _descend(goal, shares[:, chosen] / shares[:, chosen].sum(), LONG)


def _sift(goal: Goal, starts: Array) -> tuple[Array, Array]:
    """Go down from every start, and further from those that came lowest: one row is left."""
    means, shares = _descend(goal, starts, SHORT)
    for left, steps in ((len(starts) // 4 + 1, SHORT), (4, LONG), (1, 0)):
        best = np.argsort(means, kind="stable")[:left]
        means, shares = _descend(goal, shares[best], steps)
    return means, shares


def _descend(goal: Goal, shares: Array, steps: int) -> tuple[Array, Array]:
    """Multiply each share by a power of what more of it would gain; the power is halved where that overshoots."""
    means, slopes = goal.measure(shares)
    pace = np.full((len(shares), 1), 0.5)
    for _ in range(steps):
        trial = shares * (-slopes) ** pace
        trial = np.maximum(trial / trial.sum(axis=1, keepdims=True), LOWEST)
        trial /= trial.sum(axis=1, keepdims=True)
        reached, turned = goal.measure(trial)
        down = (reached <= means)[:, None]
        arrived = np.all(np.abs(reached - means) <= SAME * means)
        means = np.minimum(reached, means)
        shares, slopes = np.where(down, trial, shares), np.where(down, turned, slopes)
        pace = np.where(down, np.minimum(pace * 1.2, 2), pace / 2)
        if arrived:
            break
    return means, shares


def _leaning(goal: Goal) -> Array:
    """Each margin with the cells for the most part, the others a little."""
    count = len(goal.candidates)
    leaning = np.full((count, count), 0.3 / count) + 0.35 * np.eye(count)
    leaning[:, goal.candidates.index(goal.parts.layout.cells)] += 0.35
    return leaning


def _scattered(goal: Goal) -> Array:
    """Points all over the shares, always the same: multiples of the powers of one irrational, made into shares."""
    count = len(goal.candidates)
    root = 2.0
    for _ in range(64):  # the root of x**(count + 1) = x + 1 gives the most even multiples
        root = (1 + root) ** (1 / (count + 1))
    starts = min(SCATTERED, 400_000 // (count * len(goal.votes[0]) * len(goal.counts)))
    points = np.outer(np.arange(1, starts + 1), root ** -np.arange(1.0, count + 1)) + 0.5
    amounts = -np.log(np.maximum(points % 1, LOWEST)) + LOWEST
    return np.asarray(amounts / amounts.sum(axis=1, keepdims=True))


def _changed(shares: Array) -> Array:
    """The shares with each margin taken out, and with a tenth of the budget moved to each."""
    out = np.tile(shares, (len(shares), 1)) * (1 - np.eye(len(shares))) + LOWEST
    more = 0.9 * shares + 0.1 * np.eye(len(shares))
    changed = np.concatenate([out[shares * PARTS >= LEAST], more])
    return np.asarray(changed / changed.sum(axis=1, keepdims=True))


def _round(candidates: Sequence[Margin], shares: Array) -> dict[Margin, Fraction]:
    """Whole parts for shares, none of them 0: what is left over goes to the largest remainders."""
    parts = np.maximum(np.floor(shares * PARTS), 1).astype(np.int64)
    behind = np.argsort(parts - shares * PARTS, kind="stable")
    parts[behind[: max(0, PARTS - int(parts.sum()))]] += 1
    parts[np.argmax(parts)] += PARTS - int(parts.sum())
    return {margin: Fraction(int(part), PARTS) for margin, part in zip(candidates, parts, strict=True)}
