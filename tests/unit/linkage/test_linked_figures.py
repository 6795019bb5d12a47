"""Noisy cells as figures: exact intervals, and ratios that hold whenever both of their parts do."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import ParameterInvalid
from discreet.linkage.linked_figures import CellNoise, Estimated, NoisySum
from discreet.noise import laplace_half_width

NOISE = CellNoise.of(scale=30, level="0.95")
TOGETHER = CellNoise.of(scale=30, level="0.975")
REACH = laplace_half_width(scale=Fraction(30), level=Fraction("0.975"))
COUNTS = st.integers(0, 2_000)
DRAWS = st.integers(-REACH, REACH)
FACTORS = st.fractions(Fraction(1, 10), 10, max_denominator=50)


def cell(value: int, factor: Fraction = Fraction(1)) -> NoisySum:
    return NoisySum((value,), (factor,))


def test_a_count_has_the_interval_of_its_noise() -> None:
    half = laplace_half_width(scale=Fraction(30), level=Fraction("0.95"))
    assert NOISE.amount(cell(40)) == Estimated(40, 40 - half, 40 + half)
    assert half == 90


def test_a_count_is_negative_where_noise_made_it_so() -> None:
    assert NOISE.amount(cell(-500)).value == -500


def test_the_interval_of_two_cells_is_wider_than_of_one_and_narrower_than_of_both() -> None:
    found = NOISE.amount(NoisySum.join([cell(40), cell(60)]))
    assert found.value == 100
    assert found.low is not None
    assert 90 < 100 - found.low < 180


def test_a_factor_scales_the_interval() -> None:
    found = NOISE.amount(cell(40, Fraction(1, 3)))
    assert found.value == pytest.approx(40 / 3)
    assert found.low is not None
    assert found.high is not None
    assert found.low <= (40 - 90) / 3
    assert found.high >= (40 + 90) / 3


@given(COUNTS, COUNTS, DRAWS, DRAWS, FACTORS, FACTORS)
def test_a_share_holds_whenever_both_cells_do(
    part: int, rest: int, one: int, other: int, first: Fraction, second: Fraction
) -> None:
    found = NOISE.share(cell(part + one, first), cell(rest + other, second))
    if found.value is None:
        assert found == Estimated()
        return
    assert found.low is not None
    assert found.high is not None
    assert 0 <= found.low <= found.value <= found.high <= 1
    if part + rest:
        assert found.low <= part * first / (part * first + rest * second) <= found.high


@given(COUNTS, COUNTS, DRAWS, DRAWS, FACTORS)
def test_a_ratio_holds_whenever_both_cells_do(top: int, bottom: int, one: int, other: int, factor: Fraction) -> None:
    found = NOISE.ratio(cell(top + one), cell(bottom + other, factor))
    if found.value is None:
        assert bottom + other <= REACH
        return
    assert found.low is not None
    assert found.high is not None
    assert bottom > 0
    assert 0 <= found.low <= found.value <= found.high
    assert found.low <= top / (bottom * factor) <= found.high


@given(st.integers(-2_000, 2_000), st.integers(-2_000, 2_000))
def test_ratios_of_any_noise_are_shares_or_nothing(part: int, rest: int) -> None:
    share, whole = NOISE.share(cell(part), cell(rest)), TOGETHER.amount(NoisySum.join([cell(part), cell(rest)]))
    assert whole.low is not None
    assert (share.value is None) == (whole.low <= 0)
    assert share.value is None or 0 <= share.value <= 1
    assert (NOISE.ratio(cell(part), cell(rest)).value is None) == (rest <= REACH)


def test_a_higher_level_is_wider() -> None:
    wide = CellNoise.of(scale=30, level="0.99")
    narrow, wider = NOISE.share(cell(500), cell(900)), wide.share(cell(500), cell(900))
    assert narrow.low is not None
    assert wider.low is not None
    assert wider.low < narrow.low


@pytest.mark.parametrize("level", ["0", "1", "95", "0.999999999", "x"])
def test_levels_that_are_none_are_refused(level: str) -> None:
    with pytest.raises(ParameterInvalid, match="level"):
        CellNoise.of(scale=30, level=level)
