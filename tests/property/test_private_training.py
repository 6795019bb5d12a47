"""Neighbours move the released sums by no more than private training is charged for, whatever the rows hold."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from discreet.guarantees.types import Neighbours
from discreet.lab.generator.protected.contribution import LONGEST, WHOLE, average_by_unit, clip_to_bound, count_slots
from discreet.lab.generator.protected.private_plan import _squared_marginals, _squared_step

BOUND = 200
Clip = Callable[..., NDArray[np.int64]]

entries = st.one_of(
    st.integers(-3 * LONGEST, 3 * LONGEST).map(float), st.sampled_from([0.0, 1.0, 1e300, np.nan, np.inf, -np.inf])
)
units_of_rows = st.lists(
    arrays(np.float64, st.tuples(st.integers(1, 4), st.just(6)), elements=entries), min_size=1, max_size=6
)


def release(units: list[NDArray[Any]], clip: Clip) -> NDArray[np.int64]:
    """The exact sum that noise is added to."""
    if not units:
        return np.zeros(6, dtype=np.int64)
    numbers = np.repeat(np.arange(len(units)), [len(rows) for rows in units])
    with np.errstate(invalid="ignore"):
        means = average_by_unit(np.concatenate(units), numbers)
        return np.asarray(clip(means, bound=BOUND, longest=50).sum(axis=0))


def squared(one: NDArray[np.int64], other: NDArray[np.int64]) -> int:
    return sum(int(step) ** 2 for step in (one - other).tolist())


@given(units=units_of_rows)
def test_removing_any_unit_moves_the_sum_of_gradients_by_the_bound_at_most(units: list[NDArray[Any]]) -> None:
    whole = release(units, clip_to_bound)
    for gone in range(len(units)):
        rest = release(units[:gone] + units[gone + 1 :], clip_to_bound)
        assert squared(whole, rest) <= _squared_step(BOUND, Neighbours.ADD_REMOVE)


@given(units=units_of_rows, others=units_of_rows)
def test_replacing_any_unit_moves_the_sum_by_twice_the_bound_at_most(
    units: list[NDArray[Any]], others: list[NDArray[Any]]
) -> None:
    whole = release(units, clip_to_bound)
    for place in range(len(units)):
        for other in others:
            changed = release([*units[:place], other, *units[place + 1 :]], clip_to_bound)
            assert squared(whole, changed) <= _squared_step(BOUND, Neighbours.REPLACE_ONE)


def test_the_bounds_are_reached() -> None:
    """Nearly: a unit of one large entry fills its bound but for what rounding is left, and can turn round."""
    large = np.zeros((1, 6))
    large[0, 0] = LONGEST
    assert squared(release([large], clip_to_bound), release([], clip_to_bound)) > 0.95 * BOUND**2
    assert squared(release([large], clip_to_bound), release([-large], clip_to_bound)) > 0.95 * 4 * BOUND**2


@pytest.mark.parametrize("fault", ["no clipping", "no check after rounding up"])
def test_a_planted_fault_is_caught(fault: str) -> None:
    def unclipped(gradients: NDArray[Any], *, bound: int, longest: int) -> NDArray[np.int64]:
        return np.asarray(np.rint(gradients), dtype=np.int64)

    def rounded_up(gradients: NDArray[Any], *, bound: int, longest: int) -> NDArray[np.int64]:
        lengths = np.sqrt((gradients**2).sum(axis=1, keepdims=True))
        return np.asarray(np.ceil(gradients * bound / np.maximum(lengths, longest)), dtype=np.int64)

    clip = unclipped if fault == "no clipping" else rounded_up
    unit = np.full((1, 6), 1000.0)
    assert squared(release([unit], clip), release([], clip)) > _squared_step(BOUND, Neighbours.ADD_REMOVE)
    assert squared(release([unit], clip_to_bound), release([], clip_to_bound)) <= BOUND**2


slots_of_units = st.lists(st.lists(st.integers(0, 3), min_size=1, max_size=5), min_size=1, max_size=5)


def count(units: list[list[int]]) -> NDArray[np.int64]:
    numbers = np.repeat(np.arange(len(units)), [len(rows) for rows in units])
    return count_slots(np.array([slot for rows in units for slot in rows], dtype=np.int64), numbers, width=4)


@given(units=slots_of_units, others=slots_of_units)
def test_a_unit_moves_the_counts_of_a_column_by_what_is_charged(
    units: list[list[int]], others: list[list[int]]
) -> None:
    whole = count(units)
    for place in range(len(units)):
        rest = units[:place] + units[place + 1 :]
        assert squared(whole, count(rest)) <= _squared_marginals(1, Neighbours.ADD_REMOVE)
        for other in others:
            changed = count([*units[:place], other, *units[place + 1 :]])
            assert squared(whole, changed) <= _squared_marginals(1, Neighbours.REPLACE_ONE)
    assert _squared_marginals(1, Neighbours.ADD_REMOVE) == squared(count([[0]]), count([])) == WHOLE**2
    assert _squared_marginals(1, Neighbours.REPLACE_ONE) == squared(count([[0]]), count([[1]]))
