"""Errors of whole tables, from real draws: intervals cover their level, and estimates vary as much as was expected.

Noise is drawn as for a release, for a table of zeros, so that an estimate is its own error. Every replicate of a
coverage test gives one figure of each margin, chosen at random: independent trials of a chance. Shares of n trials are
held against Chernoff's bound, exp(-n·divergence), at alpha = 1e-9 on either side. Mean squares are compared at 6.5 of
their own deviations, taken from second and fourth moments of the noise; a normal law leaves 1e-10 beyond that, and the
skewness of squared noise at these numbers of replicates makes it less than 1e-7. With fewer than 100 comparisons of
shares and nine of squares a false alarm in this file has probability below 1e-6. Entropy is fresh, nothing is rerun,
and noise that is 30% larger must be found out.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray

from discreet.intervals.half_widths import NoisePart, half_width
from discreet.intervals.noise_laws import variance
from discreet.mechanisms.discrete_gaussian import DiscreteGaussian
from discreet.mechanisms.discrete_laplace import DiscreteLaplace
from discreet.mechanisms.scale import round_root_up, round_up
from discreet.tables.linear.estimation import LinearEstimator
from discreet.tables.linear.layout import Layout, Margin, Observation, every_margin
from discreet.tables.linear.margin_strategies import MarginStrategy, choose_strategy, list_strategies

pytestmark = pytest.mark.statistical

ALPHA = 1e-9
DEVIATIONS = 6.5
FAULT = 1.3
LEVEL = Decimal("0.95")
CHOICES = np.random.default_rng()

Array = NDArray[np.float64]
Mechanism = DiscreteLaplace | DiscreteGaussian


@dataclass(frozen=True)
class House:
    """A table's layout, the strategy for it, and the mechanisms of every observation: one for each slice shown."""

    layout: Layout
    strategy: MarginStrategy
    mechanisms: tuple[tuple[Mechanism, ...], ...]
    estimator: LinearEstimator

    def draw(self, replicates: int) -> list[Array]:
        """Noise for each observation, one table after the other along the first axis."""
        found = []
        for measured, mechanisms in zip(self.strategy.measured, self.mechanisms, strict=True):
            shape = self.layout.shape(measured.kept)
            count = self.layout.count(measured.kept) // len(mechanisms)
            columns = [
                np.array(mechanism._draw(replicates * count), dtype=np.float64).reshape(replicates, count)
                for mechanism in mechanisms
            ]
            noise = np.stack(columns, axis=1)
            if self.layout.keeps_slices(measured.kept):
                assert self.layout.slicing is not None
                place = measured.kept.index(self.layout.slicing)
                others = shape[:place] + shape[place + 1 :]
                found.append(np.moveaxis(noise.reshape(replicates, len(mechanisms), *others), 1, place + 1))
            else:
                found.append(noise.reshape(replicates, *shape))
        return found

    def errors(self, replicates: int) -> Iterator[Array]:
        """The estimated cells of a table of zeros, anew each time."""
        noise = self.draw(replicates)
        for number in range(replicates):
            yield self.estimator.estimate([one[number] for one in noise])

    def parts(self, margin: Margin, slice_place: int) -> list[NoisePart]:
        """The noise in one figure of a margin."""
        return [
            NoisePart(term.coefficient, self.mechanisms[term.observation][term.slice_place], term.count)
            for term in self.estimator.terms(margin, slice_place)
        ]

    def figures(self, cells: Array, margin: Margin) -> Array:
        return np.asarray(cells.sum(axis=tuple(set(range(cells.ndim)) - set(margin))))

    def slice_of(self, margin: Margin, figure: Sequence[int]) -> int:
        if self.layout.slicing is None or self.layout.slicing not in margin:
            return 0
        return figure[margin.index(self.layout.slicing)]


@dataclass(frozen=True)
class Plan:
    """A table to be measured. With several moves the first key slices it, and each slice has its own."""

    sizes: tuple[int, ...]
    epsilon: str
    rho: str | None = None
    moves: tuple[int, ...] = (1,)
    name: str | None = None

    @property
    def layout(self) -> Layout:
        return Layout(self.sizes, 0 if len(self.moves) > 1 else None, tuple(every_margin(len(self.sizes))))

    def moved(self, kept: Margin, residual: bool) -> list[tuple[Fraction, Fraction]]:
        layout = self.layout
        spread = 1
        if residual:
            spread = math.prod(self.sizes[place] * (self.sizes[place] - 1) for place in kept if place != layout.slicing)
        shown = self.moves if layout.keeps_slices(kept) else [max(self.moves)]
        return [(Fraction(move * spread), Fraction(move * move * spread)) for move in shown]

    def strategies(self) -> tuple[MarginStrategy, ...]:
        rho = None if self.rho is None else Decimal(self.rho)
        return list_strategies(self.layout, moved=self.moved, epsilon=Decimal(self.epsilon), rho=rho)

    def mechanisms(self, strategy: MarginStrategy) -> Iterator[tuple[Mechanism, ...]]:
        for one in strategy.measured:
            bounds = self.moved(one.kept, one.residual)
            if strategy.noise == "laplace":
                share = one.share * Fraction(self.epsilon)
                yield tuple(DiscreteLaplace(scale=round_up(l1 / share)) for l1, _ in bounds)
            else:
                share = 2 * one.share * Fraction(self.rho or 0)
                yield tuple(DiscreteGaussian(scale=round_root_up(square / share)) for _, square in bounds)


def build(plan: Plan) -> House:
    noise = "laplace" if plan.rho is None else "gaussian"
    strategy = choose_strategy(
        [one for one in plan.strategies() if plan.name is None or (one.name, one.noise) == (plan.name, noise)]
    )
    mechanisms = tuple(plan.mechanisms(strategy))
    observations = [
        Observation(one.kept, one.residual, tuple(map(variance, drawn)))
        for one, drawn in zip(strategy.measured, mechanisms, strict=True)
    ]
    return House(plan.layout, strategy, mechanisms, LinearEstimator(plan.layout, observations))


# --- intervals ------------------------------------------------------------------------------------------------------


def divergence(share: float, chance: float) -> float:
    """Kullback and Leibler's, of two coins."""
    sides = ((share, chance), (1 - share, 1 - chance))
    return math.fsum(mine * math.log(mine / yours) for mine, yours in sides if mine > 0)


def too_few(share: float, trials: int) -> bool:
    """Whether a chance of the level would leave so small a share with probability below alpha."""
    return share < float(LEVEL) and trials * divergence(share, float(LEVEL)) > -math.log(ALPHA)


def sample(house: House, replicates: int) -> dict[Margin, list[tuple[float, float]]]:
    """For each margin the error of one figure of each replicate, and its half-width."""
    found: dict[Margin, list[tuple[float, float]]] = {margin: [] for margin in house.layout.margins}
    widths: dict[tuple[Margin, int], float] = {}
    for cells in house.errors(replicates):
        for margin in house.layout.margins:
            figure = tuple(int(CHOICES.integers(size)) for size in house.layout.shape(margin))
            key = margin, house.slice_of(margin, figure)
            if key not in widths:
                widths[key] = half_width(house.parts(*key), LEVEL)
            found[margin].append((float(house.figures(cells, margin)[figure]), widths[key]))
    return found


def share_covered(pairs: Sequence[tuple[float, float]], *, factor: float = 1.0) -> float:
    # Where the law has few steps much of it lies at the very ends: an error counts as inside up to its rounding.
    return sum(abs(factor * error) <= width + 1e-9 for error, width in pairs) / len(pairs)


FINE = {
    "laplace": Plan((3, 4), epsilon="0.05", name="weighted"),
    "laplace, every margin": Plan((3, 4), epsilon="0.05", name="equal"),
    "laplace, cells": Plan((3, 4), epsilon="0.02", name="cells"),
    "laplace, slices": Plan((3, 4), moves=(1, 2, 6), epsilon="0.05", name="weighted"),
    "gaussian, slices": Plan((3, 2), moves=(1, 2, 6), epsilon="0.1", rho="0.0005", name="residual"),
}
DEAR = {
    "gaussian": Plan((2, 3), epsilon="0.1", rho="0.0005", name="weighted"),
    "gaussian residuals": Plan((2, 3), epsilon="0.1", rho="0.0005", name="residual"),
}
COARSE = {
    "weighted": Plan((3, 4), epsilon="3", name="weighted"),
    "cells": Plan((3, 4), epsilon="2", name="cells"),
    "slices": Plan((3, 4), moves=(1, 2, 6), epsilon="6", name="equal"),
}
TRIALS = 6000


@pytest.mark.parametrize(
    "plan",
    [
        *(pytest.param(plan, id=name) for name, plan in FINE.items()),
        *(pytest.param(plan, id=name, marks=pytest.mark.long) for name, plan in DEAR.items()),
    ],
)
def test_intervals_of_a_fine_table_cover_their_level(plan: Plan) -> None:
    for margin, pairs in sample(build(plan), TRIALS).items():
        share = share_covered(pairs)
        assert not too_few(share, TRIALS), margin
        assert 0.93 <= share <= 0.97, margin
        assert too_few(share_covered(pairs, factor=FAULT), TRIALS), margin


@pytest.mark.parametrize("plan", COARSE.values(), ids=COARSE.keys())
def test_intervals_of_a_coarse_table_cover_at_least_their_level(plan: Plan) -> None:
    found = sample(build(plan), TRIALS)
    assert not any(too_few(share_covered(pairs), TRIALS) for pairs in found.values())
    assert any(too_few(share_covered(pairs, factor=2.1), TRIALS) for pairs in found.values())


# --- variances ------------------------------------------------------------------------------------------------------


def excess(mechanism: Mechanism) -> float:
    """The fourth cumulant of one draw."""
    if isinstance(mechanism, DiscreteGaussian):
        return 0.0  # for scales well above 1, as here
    spread = variance(mechanism)
    return spread * (1 + 3 * spread)


@pytest.mark.long
def test_estimates_of_a_large_table_vary_as_expected() -> None:
    """On 13 × 5 × 16 with all margins, for the strategy that is chosen."""
    plan = Plan((13, 5, 16), epsilon="0.5")
    house = build(plan)
    sums = dict.fromkeys(house.layout.margins, 0.0)
    for cells in house.errors(TRIALS):
        for margin in sums:
            figures = house.figures(cells, margin).ravel()
            sums[margin] += float(figures[CHOICES.integers(figures.size)]) ** 2 / TRIALS
    assert house.strategy.mean <= min(one.mean for one in plan.strategies() if one.name in {"cells", "equal"})
    for margin, realised in sums.items():
        expected = float(house.estimator.variances(margin)[0])
        assert expected == pytest.approx(house.strategy.expected[margin], rel=0.01)
        fourth = math.fsum(p.count * p.coefficient**4 * excess(p.mechanism) for p in house.parts(margin, 0))
        allowed = DEVIATIONS * math.sqrt((2 * expected**2 + fourth) / TRIALS)
        assert abs(realised - expected) < allowed < 0.2 * expected, margin
        assert abs(FAULT**2 * realised - expected) > allowed, margin


@pytest.mark.long
def test_residuals_of_a_large_table_vary_as_expected() -> None:
    """Gaussian draws are dear, so the squares of all figures are put together: each margin's mean has one vote.

    That sum is a quadratic form of the noise, z'Bz, with mean tr(BD) and variance 2·tr((BD)²), D the noise's variances.
    """
    replicates = 30
    house = build(Plan((13, 5, 16), epsilon="1", rho="0.1"))
    assert (house.strategy.name, house.strategy.noise) == ("residual", "gaussian")
    shapes = [house.layout.shape(one.kept) for one in house.strategy.measured]
    counts = [math.prod(shape) for shape in shapes]
    noise = np.repeat([variance(one[0]) for one in house.mechanisms], counts)
    columns = [
        house.estimator.estimate([unit.reshape(shape) for unit, shape in zip(split(unit, counts), shapes, strict=True)])
        for unit in np.eye(sum(counts))
    ]
    form = np.zeros((sum(counts), sum(counts)))
    votes = {margin: house.layout.count(margin) * len(house.layout.margins) for margin in house.layout.margins}
    for margin, vote in votes.items():
        figures = np.stack([house.figures(column, margin).ravel() for column in columns], axis=1)
        form += figures.T @ figures / (vote * float(house.estimator.variances(margin)[0]))
    spread = form * noise
    assert np.trace(spread) == pytest.approx(1, rel=1e-9)
    realised = 0.0
    for cells in house.errors(replicates):
        for margin, vote in votes.items():
            squares = float(np.sum(house.figures(cells, margin) ** 2))
            realised += squares / (vote * float(house.estimator.variances(margin)[0])) / replicates
    allowed = DEVIATIONS * math.sqrt(2 * float(np.sum(spread * spread.T)) / replicates)
    assert abs(realised - 1) < allowed < 0.4
    assert abs(FAULT**2 * realised - 1) > allowed


def split(values: Array, counts: Sequence[int]) -> list[Array]:
    return np.split(values, np.cumsum(counts)[:-1])
