"""Exact parameters: what is taken, what is refused, and which way each rounding goes."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import pytest

from discreet.errors import ParameterInvalid
from discreet.guarantees.numbers import (
    LARGEST,
    ceil_to_grid,
    exact,
    floor_to_grid,
    from_units,
    shown,
    text,
    to_units,
)

TAKEN = [
    ("0.1", "0.1"),
    (0.1, "0.1"),
    (1, "1"),
    ("1e-6", "0.000001"),
    ("1E-9", "0.000000001"),
    (Decimal("2.50"), "2.5"),
    (Fraction(1, 8), "0.125"),
    (".5", "0.5"),
    ("5.", "5"),
    ("010", "10"),
    (1e6, "1000000"),
    ("0.100000000000000000", "0.1"),
]
REFUSED = [
    True,
    False,
    float("nan"),
    float("inf"),
    float("-inf"),
    Decimal("NaN"),
    Decimal("sNaN"),
    Decimal("Infinity"),
    "nan",
    "inf",
    "Infinity",
    "1_000",
    "1,000",
    "1 000",
    "1'000",
    1e308,
    5e-324,
    "1e308",
    "5e-324",
    "1e-10",
    "0.0000000001",
    Fraction(1, 3),
    -1,
    "-1",
    -0.5,
    0,
    "0",
    "-0",
    0.0,
    "١",
    "１",
    "²",
    "½",
    "",
    " ",
    " 1",
    "1 ",
    "1\n",
    "\t1",
    "+1",
    "--1",
    "1/2",
    "0x10",
    "1e",
    "e5",
    ".",
    "1e999999999",
    "1e-999999999",
    "-1e999999999",
    "9" * 100_000,
    Decimal("1e999999"),
    Decimal("1e-999999"),
    10**5000,
    -(10**5000),
    Fraction(1, 10**5000),
    LARGEST + 1,
    "true",
    b"1",
    None,
    [1],
    1j,
]


@pytest.mark.parametrize(("given", "wanted"), TAKEN)
def test_plain_decimals_are_taken_as_they_look(given: str | float | Decimal | Fraction, wanted: str) -> None:
    assert text(exact(given, parameter="epsilon")) == wanted


@pytest.mark.parametrize("given", REFUSED, ids=shown)
def test_everything_else_is_refused_at_once_and_in_few_words(given: object) -> None:
    with pytest.raises(ParameterInvalid) as refused:
        exact(given, parameter="epsilon")  # type: ignore[arg-type]
    assert refused.value.fields["parameter"] == "epsilon"
    assert len(refused.value.message) < 160
    assert "\n" not in refused.value.message


def test_zero_and_limits_are_admitted_only_where_asked_for() -> None:
    assert exact(0, parameter="delta", zero=True, below=1) == 0
    assert exact("-0", parameter="delta", zero=True) == 0
    assert exact(LARGEST, parameter="epsilon") == LARGEST
    assert exact(LARGEST + 1, parameter="scale", largest=LARGEST + 1) == LARGEST + 1
    with pytest.raises(ParameterInvalid, match="below 1"):
        exact(1, parameter="delta", zero=True, below=1)
    with pytest.raises(ParameterInvalid, match="must not be negative"):
        exact(-1, parameter="delta", zero=True)


def test_a_float_subclass_counts_by_its_number_alone() -> None:
    class Loud(float):
        def __repr__(self) -> str:
            return f"Loud({float.__repr__(self)})"

    assert exact(Loud(0.1), parameter="epsilon") == Decimal("0.1")


def test_costs_round_up_and_allowances_down() -> None:
    third = Fraction(1, 3)
    assert text(ceil_to_grid(third)) == "0.333333334"
    assert text(floor_to_grid(third)) == "0.333333333"
    assert ceil_to_grid(Fraction(1, 8)) == floor_to_grid(Fraction(1, 8)) == Decimal("0.125")


def test_units_and_decimals_are_the_same_numbers() -> None:
    for units in (0, 1, -1, 999_999_999, 10**9, -(10**15) - 1):
        assert to_units(from_units(units)) == units
    with pytest.raises(ValueError, match="grid"):
        to_units(Fraction(1, 3))
    assert text(Decimal("100")) == "100"
    assert text(Decimal("1E+3")) == "1000"


def test_what_came_is_shown_on_one_short_line() -> None:
    assert shown("a\nb") == "'a\\nb'"
    assert len(shown("x" * 1000)) < 50
    assert shown(10**5000) == "a huge number"


def test_what_was_taken_as_a_decimal_is_no_excuse_for_another_type_or_limit() -> None:
    assert exact(Decimal("1.0"), parameter="epsilon") == exact(Decimal(1), parameter="epsilon")
    assert str(exact(Decimal("1.0"), parameter="epsilon")) == "1"
    for given, limits in ((True, {}), (Decimal(1), {"below": 1}), (Decimal("sNaN"), {}), (Decimal("1E-10"), {})):
        with pytest.raises(ParameterInvalid):
            exact(given, parameter="epsilon", **limits)  # type: ignore[arg-type]


def test_a_text_is_checked_by_the_rule_of_each_parameter() -> None:
    assert exact("0", parameter="delta", zero=True) == 0
    assert exact("2", parameter="epsilon") == 2
    for _ in range(2):
        with pytest.raises(ParameterInvalid, match="epsilon must be positive"):
            exact("0", parameter="epsilon")
        with pytest.raises(ParameterInvalid, match="delta must be below 1"):
            exact("2", parameter="delta", below=1)
        with pytest.raises(ParameterInvalid, match="share must be at most 1"):
            exact("2", parameter="share", largest=1)
