"""What private training costs, from the card alone, and what a unit may contribute to it. Needs no torch."""

from __future__ import annotations

import os
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from discreet.errors import ParameterInvalid, Refused
from discreet.guarantees.types import ZCDP, Neighbours
from discreet.lab.generator.generator_rows import GeneratorRows, Shape
from discreet.lab.generator.protected.contribution import (
    WHOLE,
    average_by_unit,
    clip_to_bound,
    count_slots,
    number_units,
)
from discreet.lab.generator.protected.private_plan import PrivatePlan, PrivateSettings, plan_for
from discreet.lab.generator.protected.public_coding import encode_public, public_coding

SEX = Shape("sex", "category", categories=("f", "m"))
AGE = Shape("age", "integer", low=0, high=119)
HEIGHT = Shape("height", "number", step="0.01", low=100, high=220)
SHAPES = (SEX, AGE, HEIGHT)
SETTINGS = PrivateSettings(epochs=30)


def plan(neighbours: Neighbours = Neighbours.ADD_REMOVE, *, rho: str = "0.5", **changes: object) -> PrivatePlan:
    return plan_for(SHAPES, replace(SETTINGS, **changes), neighbours=neighbours, rho=rho)  # type: ignore[arg-type]


@pytest.mark.parametrize("rho", ["0.1", "0.5", "0.333333333", "7"])
@pytest.mark.parametrize(("neighbours", "counts", "turn"), [("add-remove", 1, 1), ("replace-one", 2, 4)])
def test_the_parts_cost_what_the_proof_says_and_no_more_than_was_asked(
    rho: str, neighbours: str, counts: int, turn: int
) -> None:
    made = plan(Neighbours(neighbours), rho=rho)
    marginals = Fraction(counts * len(SHAPES) * WHOLE**2) / (2 * made.marginals.scale**2)
    step = Fraction(turn * made.bound**2) / (2 * made.step.scale**2)
    assert Fraction(made.rho_marginals) - Fraction(1, 10**9) < marginals <= Fraction(made.rho_marginals)
    assert Fraction(made.rho_step) - Fraction(1, 10**9) < step <= Fraction(made.rho_step)
    assert made.guarantee == ZCDP(rho=made.rho_marginals + 30 * made.rho_step)
    assert Decimal(rho) - Decimal("1e-7") < made.guarantee.rho <= Decimal(rho)


def test_more_epochs_and_a_smaller_rho_mean_more_noise() -> None:
    noise = [made.step.scale / made.bound for made in (plan(rho="2"), plan(), plan(epochs=100))]
    assert noise == sorted(noise)
    assert plan(Neighbours.REPLACE_ONE).step.scale / plan(Neighbours.REPLACE_ONE).bound == pytest.approx(
        2 * float(plan().step.scale / plan().bound)
    )


def test_the_lattice_is_as_fine_for_wide_noise_and_a_rho_of_nothing_is_refused() -> None:
    assert plan(rho="10").bound == plan(rho="0.0001").bound
    with pytest.raises(ParameterInvalid, match="too small for so many epochs"):
        plan(rho="0.000000001")


def test_facts_are_exact_text() -> None:
    facts = plan().facts()
    assert all(isinstance(value, str) for value in facts.values())
    assert Fraction(facts["step_scale"]) == plan().step.scale
    assert Decimal(facts["rho"]) == plan().guarantee.rho


@pytest.mark.parametrize(
    ("shape", "words"),
    [
        (Shape("income", "integer"), "bounds of column 'income' are not in the card"),
        (replace(AGE, from_rows=True), "bounds of column 'age' were read from the rows"),
        (replace(SEX, from_rows=True), "categories of column 'sex' were read from the rows"),
    ],
)
def test_what_is_not_public_is_refused(shape: Shape, words: str) -> None:
    with pytest.raises(Refused, match=words):
        plan_for((shape,), SETTINGS, neighbours=Neighbours.ADD_REMOVE, rho=1)


def test_too_many_slots_are_refused() -> None:
    wide = tuple(Shape(f"code{i}", "category", categories=tuple(map(str, range(2000)))) for i in range(3))
    with pytest.raises(Refused, match="6003 slots in all"):
        plan_for(wide, SETTINGS, neighbours=Neighbours.ADD_REMOVE, rho=1)


@pytest.mark.parametrize("change", [{"epochs": 0}, {"epochs": -3}, {"batches": 0}, {"cells": 0}, {"critic": 10**4}])
def test_settings_have_limits(change: dict[str, int]) -> None:
    with pytest.raises(ParameterInvalid, match=next(iter(change))):
        PrivateSettings(**change)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "change", [{"clip": 0.0}, {"clip": 1e-6}, {"critic_rate": -1.0}, {"marginal_share": Fraction(1)}]
)
def test_rates_and_shares_have_limits(change: dict[str, float]) -> None:
    with pytest.raises(ParameterInvalid):
        PrivateSettings(**change)  # type: ignore[arg-type]


def rows_of(sex: list[float], age: list[float], height: list[float]) -> GeneratorRows:
    columns = {"sex": sex, "age": age, "height": height}
    return GeneratorRows(SHAPES, {name: np.array(column, dtype=np.float64) for name, column in columns.items()})


def test_the_coding_follows_from_the_card_and_comes_back() -> None:
    coding = public_coding(SHAPES, cells=8)
    rows = rows_of([0, 1, np.nan, 1], [0, 119, 37, np.nan], [100, 220, np.nan, 171])
    back = coding.decode(encode_public(coding, rows), SHAPES)
    for name, column in rows.values.items():
        np.testing.assert_allclose(back.values[name], column, atol=1)
        assert np.array_equal(np.isnan(back.values[name]), np.isnan(column))
    assert public_coding(SHAPES, cells=8) == coding


def test_a_rows_code_depends_on_that_row_alone() -> None:
    coding = public_coding(SHAPES, cells=8)
    one = encode_public(coding, rows_of([1], [44], [180]))
    many = encode_public(coding, rows_of([0, 1, np.nan], [3, 44, 119], [100, 180, np.nan]))
    assert np.array_equal(one.slots[0], many.slots[1])
    assert np.array_equal(one.scalars[0], many.scalars[1])


def test_values_beyond_the_bounds_are_held_within_them() -> None:
    coding = public_coding(SHAPES, cells=8)
    wild = encode_public(coding, rows_of([7, -1], [10**6, -5], [0, 10**9]))
    held = encode_public(coding, rows_of([1, 0], [119, 0], [100, 220]))
    assert np.array_equal(wild.slots, held.slots)
    assert np.array_equal(wild.scalars, held.scalars)


def test_a_unit_counts_once_however_many_rows_it_has() -> None:
    units = number_units(np.array(["a", "b", "b", "b", "c", "c"]))
    slots = np.array([0, 1, 1, 2, 0, 2])
    assert count_slots(slots, units, width=3).tolist() == [
        WHOLE + WHOLE // 2,
        WHOLE * 2 // 3,
        WHOLE // 3 + WHOLE // 2,
    ]
    assert count_slots(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64), width=3).tolist() == [0, 0, 0]


def test_rows_of_a_unit_are_averaged() -> None:
    gradients = np.array([[2, 4], [3, -6], [4, -5], [7, 7]], dtype=np.float64)
    assert average_by_unit(gradients, np.array([0, 3, 3, 5])).tolist() == [[2, 4], [3, -6], [7, 7]]
    assert average_by_unit(gradients, np.array([0, 1, 2, 3])).tolist() == gradients.tolist()


def test_a_short_gradient_keeps_its_length_and_a_long_one_its_direction() -> None:
    gradients = np.array([[300, 400], [3000, 4000], [30000, 40000]], dtype=np.float64)
    clipped = clip_to_bound(gradients, bound=1000, longest=5000)
    lengths = np.sqrt((clipped**2).sum(axis=1))
    assert lengths == pytest.approx([100, 998, 998], abs=2)
    assert (clipped[:, 1] / clipped[:, 0]) == pytest.approx([4 / 3] * 3, abs=0.02)


def test_what_is_not_a_number_counts_as_zero() -> None:
    wild = np.array([[np.nan, 1], [np.inf, -np.inf], [5, 0]])
    clipped = clip_to_bound(wild, bound=100, longest=5)
    assert clipped[0].tolist() == [0, 0]
    assert (clipped**2).sum(axis=1).max() <= 100**2


def test_a_bound_leaves_room_for_rounding() -> None:
    with pytest.raises(ValueError, match="no room"):
        clip_to_bound(np.zeros((1, 10_000)), bound=50, longest=1)


def test_clipping_one_row_does_not_look_at_the_others() -> None:
    rng = np.random.default_rng(int.from_bytes(os.urandom(8)))
    gradients = np.rint(rng.normal(scale=3000, size=(40, 301)))
    together = clip_to_bound(gradients, bound=4096, longest=16384)
    for i in range(0, 40, 7):
        assert np.array_equal(together[i : i + 1], clip_to_bound(gradients[i : i + 1], bound=4096, longest=16384))
