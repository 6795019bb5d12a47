"""The order of cells; margins and residuals from the cells of a plan, exact whatever their size."""

from __future__ import annotations

import random

import pytest

from discreet.engines.cell_order import in_order, take_margin
from discreet.sql.algebra import Key, Marginal, Measure, Plan, Residual, Rows, Total
from tests.algebra.columns import field, scan
from tests.conformance.engines.operators import PEOPLE

AGE, GAIN, REGION = field("age"), field("gain"), field("region")
FAR = 1 << 61


def test_cells_of_open_keys_stand_in_one_order_however_they_are_found() -> None:
    towns, ages = ("", "Z", "a", "ab", "é", "\U0001f600", None), (-3, 0, 7, 10**20, None)
    cells = [(town, age) for town in towns for age in ages]
    for seed in range(20):
        found = random.Random(seed).sample(cells, len(cells))
        assert [found[place] for place in in_order(found)] == cells
        alone = [(town,) for town, age in found if age == 7]
        assert [alone[place] for place in in_order(alone)] == [(town,) for town in towns]
    assert in_order([]) == []
    assert in_order([()]) == [0]


def test_margins_and_residuals() -> None:
    by = (Key(REGION, (0, 1)), Key(AGE, (3, 4, None)))
    plan = Plan(scan(PEOPLE), by, (Rows(None),))
    cells = [1, 2, 3, 10, 20, 40]
    expected: dict[Measure, list[int]] = {
        Marginal(Rows(None), ()): [76],
        Marginal(Rows(None), (0,)): [6, 70],
        Marginal(Rows(None), (1,)): [11, 22, 43],
        Residual(Rows(None), (0,)): [2 * 6 - 76, 2 * 70 - 76],
        Residual(Rows(None), (0, 1), whole=(0,)): [3 - 6, 6 - 6, 9 - 6, 30 - 70, 60 - 70, 120 - 70],
        Residual(Rows(None), (0, 1), whole=(0, 1)): cells,
    }
    for measure, values in expected.items():
        assert take_margin(plan, measure, cells) == values, measure
    assert take_margin(plan, Rows(None), cells) == cells


@pytest.mark.parametrize("sign", [1, -1])
def test_residuals_beyond_64_bits(sign: int) -> None:
    """The cells fit in 64 bits and what is made of them does not."""
    plan = Plan(scan(PEOPLE), (Key(AGE, tuple(range(8))),), (Total(GAIN),))
    found = take_margin(plan, Residual(Total(GAIN), (0,)), [sign * FAR, *[0] * 7])
    assert found == [sign * 7 * FAR, *[-sign * FAR] * 7]
