"""Rounding stays beside the figure; controlled rounding adds up and is the nearest that does."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import ParameterInvalid
from discreet.lab.today.controlled_rounding import ControlledRounding
from discreet.lab.today.holdings import Holdings, Integers
from discreet.lab.today.rounding import RandomRounding, SystematicRounding
from discreet.tables.linear.layout import keep_keys


def brute_force(held: Holdings, base: int) -> float | None:
    """The least distance of any table of multiples beside the figures that adds up, by trying all."""
    flat = held.figures.ravel()
    choices = [(f // base * base,) if f % base == 0 else (f // base * base, f // base * base + base) for f in flat]
    best = None
    for cells in product(*choices):
        table = np.array(cells).reshape(held.layout.sizes)
        distances = [np.abs(keep_keys(table, margin) - held.margin(margin)) for margin in held.layout.margins]
        if all((distance < base).all() for distance in distances):
            total = sum(float(distance.sum()) for distance in distances)
            best = total if best is None else min(best, total)
    return best


def distance(held: Holdings, cells: Integers) -> float:
    return sum(float(np.abs(keep_keys(cells, margin) - held.margin(margin)).sum()) for margin in held.layout.margins)


def test_systematic_rounding_goes_to_the_nearest() -> None:
    published = SystematicRounding(base=5).apply(Holdings.of_counts(np.array([0, 2, 3, 7, 8, 10])))
    assert published.values((0,)) == [0, 0, 5, 5, 10, 10]
    assert published.values(()) == 30
    assert published.additive()
    assert not SystematicRounding(base=5).apply(Holdings.of_counts(np.array([2, 2, 2]))).additive()


def test_negative_totals_round_too() -> None:
    held = Holdings.of_contributions((2,), np.array([(0, -13, 1), (1, 13, 1)]))
    assert SystematicRounding(base=10).apply(held).values((0,)) == [-10, 10]
    assert set(RandomRounding(base=10).apply(held).values((0,))) <= {-20, -10, 10, 20}


@given(st.lists(st.integers(0, 12), min_size=6, max_size=6), st.integers(2, 6))
@settings(max_examples=30, deadline=None)
def test_controlled_rounding_of_two_keys_is_the_nearest(counts: list[int], base: int) -> None:
    held = Holdings.of_counts(np.array(counts).reshape(2, 3))
    published = ControlledRounding(base=base).apply(held)
    assert published.found
    assert published.parameters["search"] == "optimal"
    assert published.additive()
    for margin, figures in published.figures.items():
        assert (figures % base == 0).all()
        assert (np.abs(figures - held.margin(margin)) < base).all()
    assert distance(held, published.figures[0, 1]) == pytest.approx(brute_force(held, base))


def test_three_keys_may_have_no_solution() -> None:
    held = Holdings.of_counts(np.array([[[1, 2], [2, 0]], [[2, 1], [1, 0]]]))
    assert brute_force(held, 2) is None
    published = ControlledRounding(base=2).apply(held)
    assert not published.found
    assert published.parameters["search"] == "not found: no such table exists"
    assert published.figures == {}


def test_three_keys_with_a_solution_say_so() -> None:
    held = Holdings.of_counts(np.arange(8).reshape(2, 2, 2))
    published = ControlledRounding(base=5).apply(held)
    assert published.found
    assert "limited to 10 s" in published.did
    assert distance(held, published.figures[0, 1, 2]) == brute_force(held, 5)


def test_the_search_stops_in_time() -> None:
    held = Holdings.of_counts(np.random.default_rng().integers(0, 40, (9, 8, 7)))
    published = ControlledRounding(base=5, seconds=1e-3).apply(held)
    search = str(published.parameters["search"])
    assert search.startswith("not") or search == "optimal"
    assert published.found == (not search.startswith("not found"))


@pytest.mark.parametrize("method", [SystematicRounding, RandomRounding, ControlledRounding])
@pytest.mark.parametrize("base", [-5, 0, 1, 2.5])
def test_bad_bases_are_refused(method: type[SystematicRounding], base: int) -> None:
    with pytest.raises(ParameterInvalid, match="base"):
        method(base=base)


@pytest.mark.parametrize("seconds", [0, -1, float("nan"), 1e9])
def test_bad_limits_are_refused(seconds: float) -> None:
    with pytest.raises(ParameterInvalid, match="seconds"):
        ControlledRounding(seconds=seconds)


@pytest.mark.parametrize("method", [SystematicRounding(), RandomRounding(), ControlledRounding()])
def test_tables_of_one_cell_and_without_people(method: SystematicRounding) -> None:
    assert method.apply(Holdings.of_counts(np.array([10]))).values((0,)) == [10]
    assert method.apply(Holdings.of_counts(np.zeros((2, 2), dtype=int))).values((0, 1)) == [[0, 0], [0, 0]]
