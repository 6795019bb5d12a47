"""Upper bounds on the hockey-stick divergence of shuffled reports, as functions of ε.

Each builder lays out the number of reports that hide the respondent's own (blocks of a binomial law, each priced at
its lower end) and returns δ(ε): a number that the true divergence does not exceed, in either direction. Floating error
is covered by the relative `SLACK` of every term, tails that are cut off are added.

Guarantee: n shuffled ε0-local reports are (ε, δ(ε))-DP, replace-one.
Proof:     docs/proofs/shuffle-amplification.md
Refs:      [FMT21] (any randomiser); [BBGN19] (k-ary randomised response).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np
from numpy import float64
from numpy.typing import NDArray

from discreet.collect.mixing.binomial import SLACK, at_least, below, point

__all__ = ["Divergence", "divergence_of_any", "divergence_of_response"]

Divergence = Callable[[float], float]
Floats = NDArray[float64]

_CUT: Final = 1e-4  # the share of δ that goes to a tail which is cut off
_REACH: Final = 3.0  # standard deviations above the mean; beyond, the last block holds all
_NODE_REACH: Final = 0.5  # the divergence lives where the second value is rare
_BLOCKS: Final = 400
_RESPONSE_BLOCKS: Final = 40
_NODES: Final = 48
_LARGEST_KEPT: Final = 1023  # of blankets: some megabytes for each number of categories
_SHARE_SLACK: Final = 1e-7
_EDGE_SLACK: Final = 1e-12


@dataclass(frozen=True, slots=True)
class _Blocks:
    """A binomial law, coarsened downwards: where each block starts, and a bound on its mass."""

    starts: Floats
    masses: Floats


def divergence_of_any(*, local_epsilon: float, anonymity: int, delta: float) -> Divergence:
    """δ(ε) for any ε0-local randomiser."""
    blocks = _coarsen(anonymity - 1, math.exp(-local_epsilon), delta)
    return lambda epsilon: _mixed(blocks, _coin_divergence(blocks.starts, epsilon, local_epsilon))


def divergence_of_response(*, local_epsilon: float, anonymity: int, delta: float, categories: int) -> Divergence:
    """δ(ε) for k-ary randomised response: tighter, because its blanket is known."""
    total = math.exp(local_epsilon) + categories - 1
    if categories == 2:
        blocks = _coarsen(anonymity - 1, 2 / total, delta)
        return lambda epsilon: _mixed(blocks, _coin_divergence(blocks.starts, epsilon, local_epsilon))
    blocks = _coarsen(anonymity - 1, min(1.0, categories / total), delta, most=_RESPONSE_BLOCKS)
    blanket = _Blanket.of(blocks.starts + 1, categories=categories, delta=delta)
    return lambda epsilon: _mixed(blocks, blanket.divergence(epsilon, local_epsilon))


def _mixed(blocks: _Blocks, divergences: Floats) -> float:
    return min(1.0, math.fsum(blocks.masses * np.minimum(divergences, 1.0)))


def _coarsen(trials: int, chance: float, delta: float, *, most: int = _BLOCKS) -> _Blocks:
    """Blocks of Bin(trials, chance). The divergence falls as the number rises, so a block's start bounds it."""
    low, width = (float(part[0]) for part in _window(np.array([float(trials)]), chance, delta, most=most))
    count, first = min(most, int((trials - low) // width) + 1), int(low > 0)
    starts, masses = np.zeros(count + first), np.full(count + first, _CUT * delta)
    edges, own = starts[first:], masses[first:]
    np.add(low, width * np.arange(count), out=edges)
    # Each half is differenced on the side where its tail is small, so that no digits are lost.
    half = int(np.searchsorted(edges, trials * chance))
    under, over = below(edges[: half + 1], trials, chance), at_least(edges[half:], trials, chance)
    own[: len(under) - 1] = under[1:] - under[:-1]
    own[half:-1] = over[:-1] - over[1:]
    own[-1] = over[-1] if half < count else 1.0 - under[-1]
    own *= 1 + SLACK
    return _Blocks(starts, masses)


def _window(trials: Floats, chance: float, delta: float, *, most: int, reach: float = _REACH) -> tuple[Floats, Floats]:
    """Where the blocks of each law begin, with at most `_CUT`·δ of its mass below, and how wide they are.

    By Chernoff's bound P(X ≤ μ − s) ≤ exp(−s²/2μ).
    """
    mean = trials * chance
    low = np.maximum(0.0, np.floor(mean - np.sqrt(2 * mean * -math.log(_CUT * delta))))
    high = np.minimum(trials, np.ceil(mean + reach * np.sqrt(mean * (1 - chance)) + reach))
    return low, np.maximum(1.0, np.ceil((high - low + 1) / most))


def _coin_divergence(others: Floats, epsilon: float, local_epsilon: float) -> Floats:
    """Of (A + D, c − A + 1 − D) from its mirror: A ~ Bin(c, ½), D heads with chance e^ε0/(1 + e^ε0)."""
    if epsilon >= local_epsilon:
        return np.zeros_like(others)
    fall = math.exp(-local_epsilon)
    threshold = math.expm1(epsilon + local_epsilon) / (math.expm1(local_epsilon) * (1 + math.exp(epsilon)))
    least = np.floor(threshold * (others + 1)) + 1
    gain = math.exp(epsilon) * math.expm1(local_epsilon - epsilon) * fall / (1 + fall)
    step = point(least - 1, others, 0.5) * (gain * (1 + SLACK) + _EDGE_SLACK)
    return np.maximum(0.0, step - math.expm1(epsilon) * (1 - SLACK) * at_least(least, others, 0.5))


@dataclass(frozen=True, slots=True)
class _Blanket:
    """For each size N of the blanket (a row): nodes for the number of reports of the second value, and their masses.

    Given that number the expected gain is convex and falling in it, so the chord between two nodes bounds it.
    """

    sizes: Floats
    nodes: Floats
    masses: Floats
    categories: int

    @classmethod
    def of(cls, sizes: Floats, *, categories: int, delta: float) -> _Blanket:
        """A row depends on its size alone, so those of small sizes, which every search meets again, are kept."""
        largest = int(sizes.max())
        if largest > _LARGEST_KEPT:
            return cls.lay(sizes, categories=categories, delta=delta, number=_NODES)
        kept, rows = _keep(1 << largest.bit_length(), categories, delta, _NODES), sizes.astype(np.intp) - 1
        return cls(sizes, kept.nodes[rows], kept.masses[rows], categories)

    @classmethod
    def lay(cls, sizes: Floats, *, categories: int, delta: float, number: int) -> _Blanket:
        """So many nodes for each size, besides none at all."""
        chance = 1 / categories
        low, width = _window(sizes, chance, delta, most=number - 1, reach=_NODE_REACH)
        nodes, rows = low[:, None] + width[:, None] * np.arange(number), sizes[:, None]
        mass = np.diff(below(nodes, rows, chance), axis=1)
        steps = np.diff((1 - chance) * nodes * point(nodes, rows, chance), axis=1)
        moment = (rows * chance - nodes[:, :-1]) * mass - steps  # E(X − node) over the block
        share = np.clip(moment / width[:, None] - _SHARE_SLACK * mass, 0.0, mass)
        masses = np.zeros_like(nodes)
        masses[:, :-1] += mass - share
        masses[:, 1:] += share
        masses[:, -1] += at_least(nodes[:, -1], sizes, chance)
        zero, cut = np.zeros((len(sizes), 1)), np.where(low > 0, _CUT * delta, 0.0)[:, None]
        return cls(sizes, np.hstack([zero, nodes]), np.hstack([cut, masses * (1 + SLACK)]), categories)

    def divergence(self, epsilon: float, local_epsilon: float) -> Floats:
        """Of the shuffled blanket and the respondent's report, when she moves from one value to another."""
        if epsilon >= local_epsilon:
            return np.zeros_like(self.sizes)
        k, rows = self.categories, self.sizes[:, None]
        level = math.exp(epsilon) * self.nodes + math.expm1(epsilon) / math.expm1(local_epsilon) * rows
        gains = _excess(level, rows - self.nodes, 1 / (k - 1))
        contrast = math.expm1(local_epsilon) / (math.exp(local_epsilon) + k - 1)
        return np.asarray(k * contrast / self.sizes * (self.masses * gains).sum(axis=1))


@lru_cache(maxsize=64)
def _keep(largest: int, categories: int, delta: float, number: int) -> _Blanket:
    """The rows of all sizes from 1 to the largest."""
    return _Blanket.lay(np.arange(1.0, largest + 1), categories=categories, delta=delta, number=number)


def _excess(level: Floats, trials: Floats, chance: float) -> Floats:
    """E(X − level)₊ for X ~ Bin(trials, chance), from above."""
    least = np.floor(level) + 1
    possible = least <= trials
    excess = np.zeros_like(level)
    level, trials, least = level[possible], trials[possible], least[possible]
    slope = trials * chance - level
    tail = at_least(least, trials, chance) * slope * np.where(slope > 0, 1 + SLACK, 1 - SLACK)
    step = least * (1 - chance) * point(least, trials, chance) * (1 + SLACK)
    excess[possible] = np.maximum(0.0, tail + step)
    return excess
