"""Smooth sensitivity: what is offered, what is refused, the ends of its range, and how much the search looks at."""

from __future__ import annotations

import math
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

import pytest

from discreet.errors import ParameterInvalid, QueryRefused
from discreet.guarantees.types import ApproxDP, Neighbours
from discreet.lab.strategies.smooth_noise import SLACK, SmoothNoise
from discreet.lab.strategies.smooth_strategy import Smooth, smooth_bound
from discreet.lab.strategies.subject import AggregateKind, HeldValues, SensitivityStrategy, Subject
from discreet.lab.strategies.widest_gap import Core, Discount, widest_gap
from discreet.mechanisms.scale import LARGEST_SCALE
from discreet.sql.algebra import Scan
from tests.algebra.columns import at, field

EPSILON, DELTA = Decimal("0.5"), Decimal("1e-6")
SOURCE = Scan("survey", 1, ((at("age"), "age"),))
MEDIAN = Subject(
    aggregate=AggregateKind.QUANTILE,
    source=SOURCE,
    value=field("age"),
    step=Fraction(1, 10),
    unit_rows=1,
    neighbours=Neighbours.ADD_REMOVE,
    low=0,
    high=1000,
    bounded=True,
    dataset="survey",
    column="age",
    text="MEDIAN(age)",
    rank=Fraction(1, 2),
)
TRIMMED = replace(MEDIAN, aggregate=AggregateKind.TRIMMED, rank=Fraction(1, 10), text="TRIMMED_AVG(age)")
LOWEST = replace(MEDIAN, aggregate=AggregateKind.MIN, rank=None, text="MIN(age)")
HIGHEST = replace(MEDIAN, aggregate=AggregateKind.MAX, rank=None, text="MAX(age)")
NOTHING = HeldValues((), 0)
offered = pytest.mark.parametrize("subject", [MEDIAN, TRIMMED, LOWEST, HIGHEST], ids=lambda s: s.aggregate.value)


def even(count: int, *, apart: int = 1) -> HeldValues:
    return HeldValues(tuple((apart * place, 1) for place in range(count)), count)


@offered
def test_an_answer_carries_what_was_asked_for(subject: Subject) -> None:
    ready: SensitivityStrategy = Smooth.calibrate(subject, even(1000), epsilon=EPSILON, delta=DELTA)
    assert ready.name == "smooth"
    assert ready.guarantee == ApproxDP(epsilon=EPSILON, delta=DELTA)
    drawn = ready.draw()
    assert 0 <= drawn.result <= 100
    assert 0 < drawn.sensitivity <= 100 + 1e-6


@offered
def test_without_values_the_whole_width_is_used(subject: Subject) -> None:
    ready = Smooth.calibrate(subject, NOTHING, epsilon=EPSILON, delta=DELTA)
    assert ready.sensitivity == pytest.approx(100, abs=1e-6)
    assert 0 <= ready.draw().result <= 100


@pytest.mark.parametrize("aggregate", [AggregateKind.COUNT, AggregateKind.SUM, AggregateKind.AVG])
def test_what_smoothing_cannot_improve_is_refused(aggregate: AggregateKind) -> None:
    with pytest.raises(QueryRefused, match=f"not offered for {aggregate.value}"):
        Smooth.calibrate(replace(MEDIAN, aggregate=aggregate), even(10), epsilon=EPSILON, delta=DELTA)


def test_bounds_are_public_or_nothing() -> None:
    with pytest.raises(QueryRefused, match="needs public bounds"):
        Smooth.calibrate(replace(MEDIAN, bounded=False), even(10), epsilon=EPSILON, delta=DELTA)


@pytest.mark.parametrize(
    ("subject", "rank"),
    [(MEDIAN, Fraction(11, 10)), (MEDIAN, Fraction(-1, 10)), (TRIMMED, Fraction(1, 2)), (TRIMMED, Fraction(3, 5))],
)
def test_ranks_and_shares_are_within_reason(subject: Subject, rank: Fraction) -> None:
    with pytest.raises(QueryRefused, match="from 0 to"):
        Smooth.calibrate(replace(subject, rank=rank), even(10), epsilon=EPSILON, delta=DELTA)


@pytest.mark.parametrize(("epsilon", "delta"), [("0", "1e-6"), ("-1", "1e-6"), ("1", "0"), ("1", "1")])
def test_parameters_must_make_a_promise(epsilon: str, delta: str) -> None:
    with pytest.raises(ParameterInvalid):
        Smooth.calibrate(MEDIAN, even(10), epsilon=epsilon, delta=delta)


@pytest.mark.parametrize(
    ("subject", "high", "epsilon", "grid"),
    [
        (TRIMMED, 1000, EPSILON, Fraction(1, 10**7)),
        (TRIMMED, 10**12, EPSILON, Fraction(1, 10**3)),
        (MEDIAN, 10**14, EPSILON, Fraction(1, 10)),
        (MEDIAN, 10**15, EPSILON, Fraction(1)),
        (MEDIAN, 10**16, EPSILON, Fraction(10)),
        (HIGHEST, 1 << 62, "1e-9", Fraction(10**12)),
    ],
)
@pytest.mark.parametrize("held", [NOTHING, even(500), HeldValues(((5, 10**6),), 10**6)])
def test_noise_can_be_drawn_whatever_the_rows(
    subject: Subject, high: int, epsilon: Decimal | str, grid: Fraction, held: HeldValues
) -> None:
    about = replace(subject, low=-high, high=high)
    ready = Smooth.calibrate(about, held, epsilon=epsilon, delta=DELTA)
    assert ready.grid == grid
    assert ready.mechanism.scale <= LARGEST_SCALE
    assert abs(ready.draw().result) <= high / 10
    exact = held.result(about)
    assert exact is None or abs(ready.exact * grid - exact) <= grid / 2


def test_the_noise_covers_what_rounding_to_the_grid_adds() -> None:
    """Medians of 49 and of 50 hundredths of the grid's step lie next to each other and are rounded apart."""
    wide = replace(MEDIAN, low=-(10**16), high=10**16)
    halves = (HeldValues(((49, 10**6), (50, more)), 10**6 + more) for more in (10**6, 10**6 + 1))
    here, there = (Smooth.calibrate(wide, held, epsilon=EPSILON, delta=DELTA) for held in halves)
    moved = there.exact - here.exact
    assert moved == 1
    assert moved * here.grid <= min(here.sensitivity, there.sensitivity)


def test_a_confidential_scale_is_not_printed() -> None:
    ready = Smooth.calibrate(MEDIAN, even(7), epsilon=EPSILON, delta=DELTA)
    assert "scale" not in repr(ready)
    assert "sensitivity" not in repr(ready)
    assert "exact" not in repr(ready)


def test_the_scale_is_the_bound_over_half_of_epsilon() -> None:
    ready = Smooth.calibrate(MEDIAN, even(1000), epsilon=EPSILON, delta=DELTA)
    noise = SmoothNoise.calibrate(epsilon=EPSILON, delta=DELTA)
    bound = smooth_bound(MEDIAN, even(1000), base=noise.base)
    assert (ready.noise, ready.sensitivity) == (noise, bound / 10)
    assert bound / Fraction(1, 4) <= ready.mechanism.scale < bound / Fraction(1, 4) * (1 + SLACK / 4)


def test_even_values_have_the_known_bound() -> None:
    # Values one step apart: the largest of (t + 1) * base^t, rounded up.
    base = Fraction(19, 20)
    wanted = max((t + 1) * base**t for t in range(200))
    assert wanted <= smooth_bound(MEDIAN, even(1001), base=base) <= wanted * (1 + SLACK / 4)


def test_a_trimmed_mean_of_many_values_moves_by_what_it_keeps() -> None:
    # 10,001 values of 0 to 1000, a tenth cut at each end: values 100 to 900 over 8,001 rows, one row more or less.
    held = HeldValues(tuple((value, 10 if value else 11) for value in range(1000)), 10_001)
    bound = smooth_bound(TRIMMED, held, base=Fraction(9, 10))
    assert 800 / 8001 < bound < 820 / 8000


def test_equal_values_need_almost_no_noise() -> None:
    ready = Smooth.calibrate(MEDIAN, HeldValues(((400, 10**6),), 10**6), epsilon=EPSILON, delta=DELTA)
    assert ready.sensitivity < Fraction(1, 10**12)
    assert {ready.draw().result for _ in range(50)} == {40.0}


def test_more_rows_of_a_unit_never_lower_the_bound() -> None:
    for subject in (MEDIAN, TRIMMED, LOWEST, HIGHEST):
        bounds = [
            smooth_bound(replace(subject, unit_rows=rows), even(300, apart=3), base=Fraction(4, 5))
            for rows in (1, 2, 5, 40)
        ]
        assert bounds == sorted(bounds)


def test_one_point_wide_columns_work() -> None:
    ready = Smooth.calibrate(replace(MEDIAN, low=5, high=5), HeldValues(((5, 3),), 3), epsilon=EPSILON, delta=DELTA)
    assert ready.draw().result == 0.5


@pytest.mark.parametrize("count", [1000, 30_000])
def test_the_search_looks_at_a_logarithm_of_gaps_for_each_value(count: int) -> None:
    histogram = tuple((value * value, 1) for value in range(count))
    middle = count // 2
    found = widest_gap(
        histogram,
        Core(middle, middle, 1),
        low=0,
        high=count * count,
        free=1,
        discount=Discount.over(1, exponent=Fraction(1, 10_000)),
    )
    assert count / 2 < found.looks <= 2 * count * (math.log2(count) + 1)


def test_values_too_far_away_to_count_are_not_looked_at() -> None:
    found = widest_gap(
        tuple((value, 1) for value in range(30_000)),
        Core(15_000, 15_000, 1),
        low=0,
        high=30_000,
        free=1,
        discount=Discount.over(1, exponent=Fraction(1)),
    )
    assert found.looks < 1000
