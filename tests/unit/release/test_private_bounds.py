"""Private bounds without noise: the grid, the plan that counts, and what is made of counts written by hand."""

from __future__ import annotations

from bisect import bisect_right
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise

import pytest

from discreet.cards.card import Card, parse_card
from discreet.errors import ParameterInvalid
from discreet.noise.quantile import laplace_threshold
from discreet.release.measurement.private_bounds import (
    CHANCE,
    REACH,
    FoundBounds,
    bin_value,
    calibrate_search,
    choose_bounds,
    edges,
    find_bounds,
    search_plan,
    split,
)
from discreet.sql.sensitivity import sensitivities
from tests.algebra.columns import at, field, scan
from tests.algebra.interpreter import evaluate, measure

SCALE = Fraction(10)
EDGES = edges()
MIDDLE = len(EDGES) // 2


def counts(**filled: int) -> list[int]:
    """Counts by bin, named p3 for the third above 0, m3 for its mirror, p0 for 0 itself."""
    found = [0] * len(EDGES)
    for name, count in filled.items():
        found[MIDDLE + int(name[1:]) * (1 if name[0] == "p" else -1)] = count
    return found


def bounds(**filled: int) -> tuple[int, int]:
    found = choose_bounds(counts(**filled), scale=SCALE)
    assert found.found
    return found.low, found.high


def least(rarer: int) -> int:
    return laplace_threshold(scale=SCALE, probability=CHANCE / rarer)


def card(*, rows: int, neighbours: str) -> Card:
    return parse_card(
        f"""
dataset: t
unit: {{column: pid, rows: {rows}}}
neighbours: {neighbours}
budget: {{epsilon: 1}}
columns:
  pid: {{kind: id, type: integer}}
  x: {{kind: integer, bounds: private}}
""",
        file="t.yaml",
    )


CARD = card(rows=1, neighbours="add-remove")


# --- the grid and the plan ------------------------------------------------------------------------------------------


def test_bins_follow_each_other_and_double() -> None:
    assert all(one < two for one, two in pairwise(EDGES))
    assert EDGES[MIDDLE : MIDDLE + 4] == (0, 1, 2, 4)
    assert EDGES[MIDDLE - 3 : MIDDLE] == (-7, -3, -1)
    assert EDGES[-1] == REACH // 2
    assert EDGES[0] == 1 - REACH


def test_the_plan_puts_every_value_in_its_bin() -> None:
    binned = bin_value(field("value"))
    values = {edge + by for edge in EDGES for by in (-1, 0, 1)} | {REACH, -REACH, 10**15, -(10**15)}
    for value in values:
        expected = max(0, bisect_right(EDGES, value) - 1) - MIDDLE
        assert evaluate(binned, {at("value"): value}) == expected, value


def test_rows_are_counted_by_bin_and_those_without_the_value_are_not() -> None:
    cards = {"t": card(rows=2, neighbours="add-remove")}
    values = [5, 7, None, 0, -1, 10**15, -(10**15), None]
    rows = [{"pid": pid, "x": value, "ord": 1} for pid, value in enumerate(values)]
    rows.append({"pid": 0, "x": 5, "ord": 3})
    plan = search_plan(scan(CARD, 2), field("x"))
    [found] = measure(plan, {"t": rows}, cards).columns
    assert list(found) == counts(p3=2, p0=1, m1=1, p40=1, m40=1)


@pytest.mark.parametrize(("neighbours", "moved"), [("add-remove", 3), ("replace-one", 6)])
def test_the_noise_covers_all_rows_of_a_unit(neighbours: str, moved: int) -> None:
    plan = search_plan(scan(CARD, 3), field("x"))
    found = sensitivities(plan, plan.measures[0], {"t": card(rows=3, neighbours=neighbours)})
    assert found.largest.l1 == moved
    assert calibrate_search(found, epsilon=Decimal("0.5")).scale == 2 * moved


# --- the rule -------------------------------------------------------------------------------------------------------


def test_nothing_is_found_in_nothing() -> None:
    assert choose_bounds(counts(), scale=SCALE) == FoundBounds(0, 1, found=False)
    assert choose_bounds([-1000] * len(EDGES), scale=SCALE) == FoundBounds(0, 1, found=False)


@pytest.mark.parametrize("place", [0, 1, 2, 10, 40])
def test_the_first_bin_must_be_rarer_the_further_it_is_from_0(place: int) -> None:
    needed = least(2**place)
    for side in "pm":
        assert choose_bounds(counts(**{f"{side}{place}": needed}), scale=SCALE).found
        assert not choose_bounds(counts(**{f"{side}{place}": needed - 1}), scale=SCALE).found


def test_bounds_are_the_ends_of_the_bins_believed() -> None:
    assert bounds(p10=500) == (512, 1023)
    assert bounds(m10=500) == (-1023, -512)
    assert bounds(m2=500, p10=500) == (-3, 1023)
    assert bounds(p40=5000) == (REACH // 2, REACH - 1)


def test_bins_beside_those_found_are_believed_readily() -> None:
    assert bounds(p10=500, p11=least(1), p9=least(1)) == (256, 2047)
    assert bounds(p10=500, p11=least(1) - 1, p9=least(1) - 1) == (512, 1023)
    assert bounds(p10=500, p11=least(1), p12=least(1), p13=least(1)) == (512, 8191)


def test_bins_further_out_must_be_rarer_with_every_empty_bin_between() -> None:
    for empty in (1, 2, 10, 29):
        name = f"p{11 + empty}"
        assert bounds(p10=10**6, **{name: least(8**empty)}) == (512, 2 ** (11 + empty) - 1)
        assert bounds(p10=10**6, **{name: least(8**empty) - 1}) == (512, 1023)


def test_what_lies_across_0_pays_for_two_empty_bins_and_its_doublings() -> None:
    assert bounds(p10=10**6, m10=least(8**2)) == (-1023, 1023)
    assert bounds(p10=10**6, m10=least(8**2) - 1) == (512, 1023)
    assert bounds(p10=10**6, m12=least(8**4)) == (-4095, 1023)
    assert bounds(p10=10**6, m12=least(8**4) - 1) == (512, 1023)


def test_a_single_value_gets_bounds_that_reach_to_0() -> None:
    assert bounds(p0=500) == (0, 1)
    assert bounds(p1=500) == (0, 1)
    assert bounds(m1=500) == (-1, 0)


def test_bounds_stay_within_the_widest() -> None:
    for filled, expected in (
        ({"p10": 500}, (512, 600)),
        ({"p20": 500}, (0, 600)),
        ({"m20": 500}, (-600, 0)),
        ({"m20": 500, "p20": 500}, (-600, 600)),
    ):
        found = choose_bounds(counts(**filled), scale=SCALE, widest=600)
        assert (found.low, found.high) == expected


def test_bounds_that_are_no_interval_are_refused() -> None:
    with pytest.raises(ValueError, match="below"):
        FoundBounds(3, 3, found=True)


def test_a_search_with_hardly_any_noise_finds_the_ends() -> None:
    plan = search_plan(scan(CARD, 1), field("x"))
    moved = sensitivities(plan, plan.measures[0], {"t": card(rows=1, neighbours="add-remove")})
    mechanism = calibrate_search(moved, epsilon=Decimal(1000))
    found = find_bounds(counts(p3=9, p5=40), mechanism=mechanism)
    assert found == FoundBounds(4, 31, found=True)


# --- what is paid ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("epsilon", ["2e-9", "3e-9", "0.01", "0.1", "1", "0.333333333"])
def test_the_parts_add_up_to_epsilon(epsilon: str) -> None:
    search, remaining = split(Decimal(epsilon))
    assert search + remaining == Decimal(epsilon)
    assert 0 < search <= remaining <= search + Decimal("1e-9")


def test_an_epsilon_that_cannot_be_split_is_refused() -> None:
    with pytest.raises(ParameterInvalid, match="at least 2e-9"):
        split(Decimal("1e-9"))
