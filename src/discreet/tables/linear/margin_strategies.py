"""What to measure of a table: ways to spend its budget on cells, margins or residuals, and the best of them.

Guarantee: the shares of a strategy add up to 1, so its measurements together cost what one would.
Requires:  `moved` bounds how far one unit moves what is observed; the choice itself sees no data.
Proof:     docs/proofs/marginals.md
Refs:      [BCDKMT07]; optimised strategies [MMHM18]; residuals [XHZK23].
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cache
from itertools import combinations
from math import fsum, sqrt
from typing import Literal

import numpy as np

from discreet.tables.linear.budget_shares import Goal, best_shares, count_votes
from discreet.tables.linear.components import Array, Components
from discreet.tables.linear.estimation import LinearEstimator
from discreet.tables.linear.layout import Layout, Margin, Observation, every_margin

__all__ = ["MarginStrategy", "MeasuredShare", "Moved", "Noise", "choose_strategy", "list_strategies"]

Noise = Literal["laplace", "gaussian"]

Moved = Callable[[Margin, bool], Sequence[tuple[Fraction, Fraction]]]
"""(kept, residual) to (l1, squared l2) of what is observed: for each slice where it keeps the slicing key, else one."""

FINE = 1_000_000
"""Residuals are all needed, however small their share: shares are multiples of 1/FINE."""


@dataclass(frozen=True, slots=True)
class MeasuredShare:
    """One margin, or the residual of one, and the share of the budget that it gets."""

    kept: Margin
    residual: bool
    share: Fraction

    def __post_init__(self) -> None:
        if not 0 < self.share <= 1:
            raise ValueError("a share is above 0 and at most 1")


@dataclass(frozen=True, slots=True)
class MarginStrategy:
    """What is measured, with which noise, and what to expect before any data are seen.

    `expected` is the mean variance of the figures of each published margin, `mean` the mean of these.
    """

    name: str
    noise: Noise
    measured: tuple[MeasuredShare, ...]
    expected: Mapping[Margin, float]
    mean: float

    def __post_init__(self) -> None:
        if sum(item.share for item in self.measured) != 1:
            raise ValueError("the shares of a strategy add up to 1")


@dataclass(frozen=True)
class _Budget:
    """Noise of one kind for a budget: epsilon for Laplace noise, rho for Gaussian noise."""

    layout: Layout
    moved: Moved
    noise: Noise
    amount: Fraction

    @property
    def power(self) -> int:
        """The variance falls with this power of the share."""
        return 2 if self.noise == "laplace" else 1

    def costs(self, kept: Margin, *, residual: bool) -> tuple[Fraction, ...]:
        """The variance of the noise if the whole of a budget of 1 went here."""
        moves = self.moved(kept, residual)
        shown = self.layout.slices if self.layout.keeps_slices(kept) else 1
        if len(moves) != shown:
            raise ValueError(f"margin {kept} moves in {shown} slices; received bounds for {len(moves)}")
        return tuple(2 * l1 * l1 if self.noise == "laplace" else squared / 2 for l1, squared in moves)

    def measurable(self, kept: Margin, *, residual: bool = False) -> bool:
        """Whether noise is due everywhere. What no unit can move would be exact, and is left to the other figures."""
        return all(cost > 0 for cost in self.costs(kept, residual=residual))

    def strategy(self, name: str, measured: Sequence[MeasuredShare]) -> MarginStrategy:
        observations = [
            Observation(
                item.kept,
                item.residual,
                tuple(
                    float(cost / (item.share * self.amount) ** self.power)
                    for cost in self.costs(item.kept, residual=item.residual)
                ),
            )
            for item in measured
        ]
        estimator = LinearEstimator(self.layout, observations)
        expected = {margin: float(np.mean(estimator.variances(margin))) for margin in self.layout.margins}
        return MarginStrategy(name, self.noise, tuple(measured), expected, fsum(expected.values()) / len(expected))


def list_strategies(
    layout: Layout, *, moved: Moved, epsilon: Decimal, rho: Decimal | None = None
) -> tuple[MarginStrategy, ...]:
    """Every way to measure a table, with its expected error: with Laplace noise and, for a rho, with Gaussian noise.

    "cells" measures them alone; "equal" every published margin with an equal share; "weighted" margins with the best
    shares; "residual", Gaussian only, what each margin adds to those below it. What no unit can move is not measured.
    """
    known = cache(moved)
    found = list(_plain(_Budget(layout, known, "laplace", Fraction(epsilon))))
    if rho is not None:
        gaussian = _Budget(layout, known, "gaussian", Fraction(rho))
        found += _plain(gaussian)
        found += _residual(gaussian)
    return tuple(found)


def choose_strategy(strategies: Sequence[MarginStrategy]) -> MarginStrategy:
    """The smallest mean; of equals the one with fewest observations, with Laplace noise before Gaussian."""
    least = min(item.mean for item in strategies)
    equals = [item for item in strategies if item.mean <= least * (1 + 1e-9)]
    return min(equals, key=lambda item: (len(item.measured), item.noise != "laplace"))


def _plain(budget: _Budget) -> Iterator[MarginStrategy]:
    layout = budget.layout
    if not budget.measurable(layout.cells):
        raise ValueError("no unit can move some of the cells: they would be exact, and need no strategy")
    cells = budget.strategy("cells", [MeasuredShare(layout.cells, False, Fraction(1))])
    published = [margin for margin in layout.margins if budget.measurable(margin)]
    equal = budget.strategy(
        "equal", [MeasuredShare(margin, False, Fraction(1, len(published))) for margin in published]
    )
    shares = best_shares(_goal(budget))
    weighted = budget.strategy("weighted", [MeasuredShare(margin, False, share) for margin, share in shares.items()])
    simple = choose_strategy([cells, equal])
    if weighted.mean > simple.mean:
        weighted = MarginStrategy("weighted", budget.noise, simple.measured, simple.expected, simple.mean)
    yield from (cells, equal, weighted)


def _goal(budget: _Budget) -> Goal:
    """The mean as a function of shares, for a budget of 1: the best shares do not depend on the budget."""
    layout, parts = budget.layout, Components(budget.layout)
    distinct: dict[tuple[bool, tuple[int, ...]], Margin] = {}
    for margin in every_margin(len(layout.sizes)):
        if budget.measurable(margin):
            distinct.setdefault((parts.separates(margin), parts.bits(margin)), margin)
    margins = tuple(distinct.values())
    costs = np.empty((len(margins), layout.slices))
    for row, margin in enumerate(margins):
        costs[row] = [float(cost) for cost in budget.costs(margin, residual=False)]
    grouped, counts = np.unique(costs / costs.max(), axis=1, return_counts=True)
    return Goal(parts, margins, grouped, counts.astype(np.float64), budget.power)


def _residual(budget: _Budget) -> Iterator[MarginStrategy]:
    """The residual of every margin, each with a share in proportion to the root of what it costs."""
    layout, parts = budget.layout, Components(budget.layout)
    always = () if layout.slicing is None else (layout.slicing,)
    kept = [tuple(sorted((*always, *chosen))) for chosen in _subsets(parts.free)]
    if not all(budget.measurable(margin, residual=True) for margin in kept):
        return
    within, across = count_votes(parts)
    roots = []
    for margin in kept:
        costs = [float(cost) for cost in budget.costs(margin, residual=True)]
        index = parts.bits(margin)
        roots.append(sqrt(float(within[index]) * fsum(costs) / len(costs) + float(across[index]) * fsum(costs)))
    shares = _fine(np.array(roots) / fsum(roots))
    yield budget.strategy(
        "residual", [MeasuredShare(item, True, share) for item, share in zip(kept, shares, strict=True)]
    )


def _subsets(indices: Sequence[int]) -> Iterator[Margin]:
    for size in range(len(indices), -1, -1):
        yield from combinations(indices, size)


def _fine(shares: Array) -> list[Fraction]:
    """Multiples of 1/FINE, none of them 0; the largest takes what rounding leaves."""
    parts = [max(1, int(share * FINE)) for share in shares]
    parts[int(np.argmax(shares))] += FINE - sum(parts)
    return [Fraction(part, FINE) for part in parts]
