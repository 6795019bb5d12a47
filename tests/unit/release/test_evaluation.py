"""Outputs: exact values, intervals that hold whatever lies in the box, numbers as they are shown."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from discreet.mechanisms.discrete_laplace import DiscreteLaplace
from discreet.mechanisms.noisy_max import NoisyMax
from discreet.release.cells.evaluation import (
    Interval,
    enclose,
    evaluate,
    is_whole,
    joint_level,
    measures_with_noise,
    round_out,
    shown,
    shown_interval,
)
from discreet.release.cells.output_columns import NoiseReach, show_intervals, show_values
from discreet.sql.outputs import Arithmetic, Constant, Magnitude, Mean, Noted, Output, Pick, Spread

pytestmark = pytest.mark.slow

ONE = Fraction(1)
AVERAGE = Mean(
    total=0,
    size=1,
    total_step=Fraction(1, 100),
    size_step=ONE,
    centre=Fraction(7, 4),
    floor=ONE,
    low=ONE,
    high=Fraction(5, 2),
)
VARIANCE = Spread(total=0, squares=2, size=1, step=Fraction(1, 2), high=Fraction(100), root=False)
DEVIATION = Spread(total=0, squares=2, size=1, step=Fraction(1, 2), high=Fraction(100), root=True)


def noted(place: int) -> Noted:
    return Noted(place, ONE)


def outputs() -> st.SearchStrategy[Output]:
    leaves: st.SearchStrategy[Output] = st.one_of(
        st.builds(Noted, st.integers(0, 2), st.sampled_from([ONE, Fraction(1, 100), Fraction(3)])),
        st.builds(Constant, st.fractions(min_value=-5, max_value=5, max_denominator=7)),
        st.sampled_from([AVERAGE, VARIANCE, DEVIATION]),
    )
    return st.recursive(
        leaves,
        lambda below: st.one_of(
            st.builds(Arithmetic, st.sampled_from(["+", "-", "*", "/"]), below, below),
            st.builds(Magnitude, below),
            st.builds(Pick, st.booleans(), st.lists(below, min_size=1, max_size=3).map(tuple)),
        ),
        max_leaves=6,
    )


BOXES = st.tuples(
    *[st.tuples(st.integers(-40, 40), st.integers(0, 30)).map(lambda pair: (pair[0], pair[0] + pair[1]))] * 3
)


def ends(output: Output, box: Any) -> Any:
    """The interval, to be compared with whole numbers."""
    return enclose(output, box)


def holds(interval: Interval, value: Fraction) -> bool:
    low, high = interval
    return (low is None or low <= value) and (high is None or value <= high)


@settings(deadline=None, max_examples=300)
@given(output=outputs(), box=BOXES, data=st.data())
def test_an_interval_holds_every_value_inside_its_box(output: Output, box: Any, data: st.DataObject) -> None:
    values = [data.draw(st.one_of(st.sampled_from(side), st.integers(*side))) for side in box]
    value = evaluate(output, values)
    assume(value is not None)
    assert value is not None
    interval = enclose(output, box)
    slack = Fraction(1, 2**60)  # roots are rounded once in a value, outwards in an interval, and then multiplied
    low, high = interval
    widened = (None if low is None else low - slack * abs(low), None if high is None else high + slack * abs(high))
    assert holds(widened, value)


@settings(deadline=None, max_examples=150)
@given(output=outputs(), cells=st.lists(st.tuples(*[st.integers(-60, 60)] * 3), min_size=1, max_size=4), data=st.data())
def test_columns_are_what_cells_are(output: Output, cells: list[tuple[int, ...]], data: st.DataObject) -> None:
    measures = list(zip(*cells, strict=True))
    places = data.draw(st.lists(st.sampled_from(range(len(cells))), unique=True))
    slices = [data.draw(st.integers(0, 1)) for _ in cells]
    margins = {0: NoiseReach((7,)), 1: NoiseReach((3, 11), slices), 2: NoiseReach((0,), ends=(-4, 9))}
    whole = is_whole(output)
    assert show_values(output, measures, places) == [shown(evaluate(output, cells[p]), whole=whole) for p in places]
    expected = []
    for place in places:
        first, second, _ = cells[place]
        half = (3, 11)[slices[place]]
        box = ((first - 7, first + 7), (second - half, second + half), (-4, 9))
        expected.append(shown_interval(enclose(output, box), whole=whole))
    assert show_intervals(output, measures, places, margins) == expected


def test_a_mean_is_centred_divided_and_clamped() -> None:
    assert evaluate(AVERAGE, (-500, 100)) == Fraction(17, 10)
    assert evaluate(AVERAGE, (-500, -3)) == 1  # a size below one row counts as one row, and the result is clamped
    assert evaluate(AVERAGE, (10**6, 1)) == Fraction(5, 2)


def test_the_interval_of_a_mean_uses_that_there_is_something_to_average() -> None:
    assert enclose(AVERAGE, ((-600, -400), (90, 110))) == (
        Fraction(7, 4) - Fraction(600, 9000),
        Fraction(7, 4) - Fraction(400, 11000),
    )
    assert ends(AVERAGE, ((-600, 600), (-50, 50))) == (1, Fraction(5, 2))


def test_a_sample_variance_is_that_of_the_textbook() -> None:
    sample = [3, 5, 8, 8]  # in steps of a half
    values = (sum(sample), len(sample), sum(x * x for x in sample))
    mean = Fraction(sum(sample), 4)
    exact = sum((x - mean) ** 2 for x in sample) / 3 / 4
    assert evaluate(VARIANCE, values) == exact
    deviation = evaluate(DEVIATION, values)
    assert deviation is not None
    assert float(deviation) == math.sqrt(exact)


def test_a_noisy_variance_is_never_negative_nor_above_what_is_possible() -> None:
    assert evaluate(VARIANCE, (100, 3, 0)) == 0
    assert evaluate(VARIANCE, (0, -5, 10**9)) == 100


def test_roots_are_rounded_outwards() -> None:
    low, high = enclose(DEVIATION, ((0, 0), (2, 2), (8, 8)))  # variance 8 / 4 = 2
    assert low is not None
    assert high is not None
    assert low**2 < 2 < high**2
    assert high - low < Fraction(1, 2**90)
    exact = ends(DEVIATION, ((0, 0), (2, 2), (16, 16)))  # variance 4
    assert exact == (2, 2)


@pytest.mark.parametrize(
    ("over", "under", "expected"),
    [
        ((2, 4), (1, 2), (1, 4)),
        ((2, 4), (0, 2), (1, None)),
        ((-4, -2), (0, 2), (None, -1)),
        ((-4, 4), (0, 2), (None, None)),
        ((2, 4), (-2, 0), (None, -1)),
        ((2, 4), (-1, 1), (None, None)),
        ((2, 4), (0, 0), (None, None)),
    ],
)
def test_division_runs_away_only_where_it_can(over: Any, under: Any, expected: Any) -> None:
    assert enclose(Arithmetic("/", noted(0), noted(1)), (over, under)) == expected


def test_what_ran_away_can_come_back() -> None:
    share = Arithmetic("/", noted(0), noted(1))
    assert ends(Pick(True, (share, Constant(ONE))), ((2, 4), (0, 2))) == (1, None)
    assert ends(Arithmetic("/", Constant(ONE), share), ((2, 4), (0, 2))) == (0, 1)
    assert ends(Arithmetic("*", Constant(Fraction(0)), share), ((2, 4), (-1, 2))) == (0, 0)
    assert ends(Magnitude(Arithmetic("-", Constant(ONE), share)), ((2, 4), (0, 2))) == (0, None)


def test_what_may_be_null_leaves_the_other_part_though_it_does_not_run_away() -> None:
    for nothing in (
        Arithmetic("/", Constant(Fraction(0)), noted(1)),
        Arithmetic("*", Constant(Fraction(0)), Arithmetic("/", noted(0), noted(1))),
    ):
        assert ends(Pick(True, (nothing, Constant(ONE))), ((2, 4), (0, 2))) == (0, 1)
        assert ends(Pick(True, (nothing, Constant(ONE))), ((2, 4), (1, 2))) == (0, 0)


def test_division_by_nothing_is_null_and_passes_through() -> None:
    share = Arithmetic("/", noted(0), noted(1))
    assert evaluate(share, (5, 0)) is None
    assert evaluate(Arithmetic("+", share, noted(0)), (5, 0)) is None
    assert evaluate(Magnitude(share), (5, 0)) is None
    assert evaluate(Pick(True, (share, noted(0))), (5, 0)) == 5
    assert evaluate(Pick(False, (share,)), (5, 0)) is None


def test_levels_of_parts_hold_together() -> None:
    assert joint_level(Decimal("0.95"), 1) == joint_level(Decimal("0.95"), 0) == Decimal("0.95")
    assert joint_level(Decimal("0.95"), 2) == Decimal("0.975")
    third = joint_level(Decimal("0.95"), 3)
    assert third is not None
    assert 3 * (1 - Fraction(third)) <= Fraction(5, 100) < 3 * (1 - Fraction(third) + Fraction(1, 10**9))
    assert joint_level(Decimal("0.999999"), 1001) is None


def test_only_noise_shares_the_level() -> None:
    laplace, chosen = DiscreteLaplace(scale=ONE), NoisyMax(rate=ONE)
    mechanisms = [(laplace,), (None,), (chosen,), (None, laplace)]
    assert measures_with_noise({3, 0, 1, 2}, mechanisms) == [0, 3]


def test_wholeness_is_a_matter_of_form() -> None:
    assert is_whole(Arithmetic("-", noted(0), Arithmetic("*", noted(1), Constant(Fraction(2)))))
    assert is_whole(Pick(True, (Magnitude(noted(0)), noted(1))))
    for other in (AVERAGE, VARIANCE, Noted(0, Fraction(1, 2)), Arithmetic("/", noted(0), noted(1))):
        assert not is_whole(other)
    assert isinstance(shown(Fraction(3), whole=False), float)
    assert isinstance(shown(Fraction(3), whole=True), int)


@given(st.fractions())
def test_ends_are_rounded_outwards_or_print_exactly(end: Fraction) -> None:
    low, high = (round_out(end.numerator, end.denominator, up=up) for up in (False, True))
    assert Fraction(low) <= end or Fraction(repr(low)) == end
    assert Fraction(high) >= end or Fraction(repr(high)) == end
    nearest = float(end)
    assert math.nextafter(nearest, -math.inf) <= low <= high <= math.nextafter(nearest, math.inf)


def test_decimals_stay_decimals() -> None:
    assert shown_interval((Fraction("-0.07"), Fraction("123456789012.34")), whole=False) == [-0.07, 123456789012.34]
    assert shown_interval((None, Fraction(1, 3)), whole=False) == [None, 0.33333333333333337]


def test_numbers_beyond_floats_are_still_shown() -> None:
    huge = Fraction(10**400, 3)
    assert shown(huge, whole=False) == round(huge)
    assert round_out(10**400, 3, up=True) == round_out(10**400, 3, up=False) + 1


@pytest.mark.parametrize("root", [False, True])
def test_a_variance_is_never_said_to_lie_in_nothing(root: bool) -> None:
    """A box that holds no variance has missed: everything that a variance may be is said, and not 0 to 0."""
    spread = Spread(0, 1, 2, Fraction(1), Fraction(50), root)
    below = enclose(spread, [(0, 10), (-90, -40), (90, 110)])
    above = enclose(spread, [(0, 0), (900_000, 990_000), (90, 110)])
    assert below == above == enclose(spread, [(0, 0), (-10, 10**9), (90, 110)])
    assert below[0] == 0
    assert below[1] is not None
    assert below[1] > 7
