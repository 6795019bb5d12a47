"""What is measured of a table: optimal, never worse than the simple ways, and the same whatever the budget."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from itertools import permutations
from math import prod

import numpy as np
import pytest
from numpy.typing import NDArray

from discreet.tables.linear.budget_shares import LEAST, PARTS, Goal
from discreet.tables.linear.components import Components
from discreet.tables.linear.estimation import LinearEstimator
from discreet.tables.linear.layout import Layout, Margin, Observation, every_margin
from discreet.tables.linear.margin_strategies import (
    MarginStrategy,
    MeasuredShare,
    Moved,
    choose_strategy,
    list_strategies,
)

pytestmark = pytest.mark.slow

ONE = Decimal(1)
HALF = Decimal("0.5")


def lay_out(*sizes: int, slicing: int | None = None, margins: tuple[Margin, ...] | None = None) -> Layout:
    return Layout(sizes, slicing, margins or tuple(every_margin(len(sizes))))


def move(layout: Layout, caps: Sequence[int] = ()) -> Moved:
    """One unit that comes or goes adds at most its slice's cap, or 1, to one cell."""

    def moved(kept: Margin, residual: bool) -> list[tuple[Fraction, Fraction]]:
        sizes = [layout.sizes[place] for place in kept if residual and place != layout.slicing]
        lines, squares = prod(2 * (size - 1) for size in sizes), prod(size * (size - 1) for size in sizes)
        reach = caps or [1] * layout.slices
        shown = reach if layout.keeps_slices(kept) else [max(reach)]
        return [(Fraction(cap * lines), Fraction(cap * cap * squares)) for cap in shown]

    return moved


def by_name(strategies: Sequence[MarginStrategy], noise: str) -> dict[str, MarginStrategy]:
    return {one.name: one for one in strategies if one.noise == noise}


def test_laplace_on_a_table_of_13_by_5_by_16() -> None:
    layout = lay_out(13, 5, 16)
    found = by_name(list_strategies(layout, moved=move(layout), epsilon=ONE), "laplace")
    assert list(found) == ["cells", "equal", "weighted"]
    # twice the mean for noise of variance 1/share²
    assert found["cells"].mean == pytest.approx(2 * 178.5)
    assert found["equal"].mean == pytest.approx(2 * 46.61064426)
    assert found["weighted"].mean == pytest.approx(2 * 35.9497, rel=1e-4)
    assert choose_strategy(list(found.values())) is found["weighted"]


def test_residuals_reach_the_optimum_of_plain_margins_with_gaussian_noise() -> None:
    layout = lay_out(13, 5, 16)
    found = by_name(list_strategies(layout, moved=move(layout), epsilon=ONE, rho=HALF), "gaussian")
    assert list(found) == ["cells", "equal", "weighted", "residual"]
    assert found["residual"].mean == pytest.approx(5.776217, rel=1e-6)
    assert found["residual"].mean <= found["weighted"].mean <= found["equal"].mean < found["cells"].mean
    assert found["weighted"].mean == pytest.approx(found["residual"].mean, rel=1e-4)
    assert [one.kept for one in found["residual"].measured] == list(every_margin(3))


def mean_with(layout: Layout, strategy: MarginStrategy, shares: NDArray[np.float64]) -> float:
    """The mean that a strategy would have with other shares of rho = 1/2, from the estimator itself."""
    moved = move(layout)
    observations = [
        Observation(one.kept, one.residual, (float(moved(one.kept, one.residual)[0][1]) / share,))
        for one, share in zip(strategy.measured, shares, strict=True)
    ]
    estimator = LinearEstimator(layout, observations)
    return float(np.mean([estimator.variances(margin).mean() for margin in layout.margins]))


@pytest.mark.parametrize("name", ["residual", "weighted"])
def test_no_other_shares_do_better_with_gaussian_noise(name: str) -> None:
    layout = lay_out(4, 3, margins=((0, 1), (1,), ()))
    strategy = by_name(list_strategies(layout, moved=move(layout), epsilon=ONE, rho=HALF), "gaussian")[name]
    shares = np.array([float(one.share) for one in strategy.measured])
    assert mean_with(layout, strategy, shares) == pytest.approx(strategy.mean)
    for more, less in permutations(range(len(shares)), 2):
        other = shares.copy()
        other[[more, less]] += [0.01, -0.01]
        assert mean_with(layout, strategy, other) > strategy.mean


@pytest.mark.parametrize(
    "layout",
    [
        lay_out(5),
        lay_out(30, 40),
        lay_out(7, 2, 3, margins=((0, 1, 2), (0, 1), ())),
        lay_out(13, 4, 3, slicing=0),
        lay_out(2, 3, 13, slicing=2, margins=((0, 1, 2), (2,), (0, 1))),
        lay_out(1, 6, 1, slicing=2),
        lay_out(2, 2, 2, 2, 2, 2, 2),
    ],
    ids=lambda layout: f"{layout.sizes} by {layout.slicing}",
)
def test_optimal_weights_are_never_worse_than_the_simple_ways(layout: Layout) -> None:
    caps = [3 * place + 1 for place in range(layout.slices)]
    strategies = list_strategies(layout, moved=move(layout, caps), epsilon=ONE, rho=HALF)
    for noise in ("laplace", "gaussian"):
        found = by_name(strategies, noise)
        assert found["weighted"].mean <= min(found["cells"].mean, found["equal"].mean)
        assert choose_strategy(list(found.values())).mean <= found["weighted"].mean * (1 + 1e-9)
        for one in found.values():
            assert set(one.expected) == set(layout.margins)
            assert one.mean == pytest.approx(np.mean(list(one.expected.values())))
            assert sum(measured.share for measured in one.measured) == 1


def test_weights_lie_on_their_grid() -> None:
    layout = lay_out(13, 13, 20, 5)
    weighted = by_name(list_strategies(layout, moved=move(layout), epsilon=ONE), "laplace")["weighted"]
    assert len(weighted.measured) > 4
    assert all((one.share * PARTS).denominator == 1 and one.share * PARTS >= LEAST for one in weighted.measured)


def test_the_choice_does_not_depend_on_the_budget_nor_on_the_unit() -> None:
    layout = lay_out(13, 5, 4, slicing=0)
    caps = list(range(2, 28, 2))

    def in_cents(kept: Margin, residual: bool) -> list[tuple[Fraction, Fraction]]:
        return [(100 * l1, 10_000 * squared) for l1, squared in move(layout, caps)(kept, residual)]

    first = list_strategies(layout, moved=move(layout, caps), epsilon=ONE, rho=HALF)
    again = list_strategies(layout, moved=move(layout, caps), epsilon=Decimal("0.01"), rho=Decimal("0.00005"))
    cents = list_strategies(layout, moved=in_cents, epsilon=ONE, rho=HALF)
    assert [one.measured for one in first] == [one.measured for one in again] == [one.measured for one in cents]
    for one, smaller, finer in zip(first, again, cents, strict=True):
        assert smaller.mean == pytest.approx(10_000 * one.mean)
        assert finer.mean == pytest.approx(10_000 * one.mean)


def test_expected_errors_follow_the_caps_of_the_slices() -> None:
    layout = lay_out(2, 3, slicing=0)
    cells = list_strategies(layout, moved=move(layout, [1, 10]), epsilon=Decimal(2))[0]
    assert cells.name == "cells"
    # each of three cells of a slice has variance 2 (cap/2)²
    assert cells.expected == pytest.approx({(0, 1): 25.25, (0,): 75.75, (1,): 50.5, (): 151.5})


def test_what_no_unit_can_move_is_not_measured() -> None:
    layout = lay_out(3, 4)

    def moved(kept: Margin, residual: bool) -> list[tuple[Fraction, Fraction]]:
        """A replaced unit keeps its public first key."""
        return [(Fraction(2), Fraction(2)) if 1 in kept else (Fraction(0), Fraction(0))]

    strategies = list_strategies(layout, moved=moved, epsilon=ONE, rho=HALF)
    assert {one.name for one in strategies} == {"cells", "equal", "weighted"}
    assert all(1 in measured.kept for one in strategies for measured in one.measured)
    with pytest.raises(ValueError, match="would be exact"):
        list_strategies(layout, moved=lambda kept, residual: [(Fraction(0), Fraction(0))], epsilon=ONE)


def test_bounds_for_the_wrong_number_of_slices_are_refused() -> None:
    layout = lay_out(3, 4, slicing=0)
    with pytest.raises(ValueError, match="moves in 3 slices"):
        list_strategies(layout, moved=lambda kept, residual: [(Fraction(1), Fraction(1))], epsilon=ONE)


def test_of_equals_the_simplest_is_chosen() -> None:
    cells, halves = MeasuredShare((0,), False, Fraction(1)), MeasuredShare((0,), False, Fraction(1, 2))
    two = MarginStrategy("equal", "laplace", (halves, halves), {(0,): 1.0}, 1.0)
    gaussian = MarginStrategy("cells", "gaussian", (cells,), {(0,): 1.0}, 1.0)
    laplace = MarginStrategy("cells", "laplace", (cells,), {(0,): 1.0}, 1.0 + 1e-12)
    worse = MarginStrategy("cells", "laplace", (cells,), {(0,): 2.0}, 2.0)
    assert choose_strategy([two, gaussian, worse]) is gaussian
    assert choose_strategy([two, gaussian, laplace, worse]) is laplace


def test_shares_that_do_not_add_up_are_refused() -> None:
    with pytest.raises(ValueError, match="add up to 1"):
        MarginStrategy("cells", "laplace", (MeasuredShare((0,), False, Fraction(1, 2)),), {}, 1.0)
    with pytest.raises(ValueError, match="above 0"):
        MeasuredShare((0,), False, Fraction(0))


@pytest.mark.parametrize("power", [1, 2])
@pytest.mark.parametrize("slicing", [None, 1])
def test_slopes_are_those_of_the_mean(power: int, slicing: int | None) -> None:
    layout = lay_out(3, 4, 2, slicing=slicing)
    random = np.random.default_rng(3)
    candidates = tuple(every_margin(3))
    groups = 1 if slicing is None else 2
    counts = np.array([1.0, 3.0])[-groups:] if slicing is not None else np.ones(1)
    goal = Goal(Components(layout), candidates, random.uniform(0.5, 2, size=(8, groups)), counts, power)
    shares = random.dirichlet(np.ones(8), size=2)
    _, slopes = goal.measure(shares)
    for number in range(8):
        step = 1e-6 * np.eye(8)[number]
        rise = (goal.measure(shares + step)[0] - goal.measure(shares - step)[0]) / 2e-6
        np.testing.assert_allclose(slopes[:, number], rise, rtol=1e-5)
