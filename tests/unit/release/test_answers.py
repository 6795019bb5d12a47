"""Answers: what is stored, what is shown, what a spreadsheet may not run."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import pytest

from discreet.errors import ParameterInvalid
from discreet.guarantees.types import PureDP, Unproven
from discreet.mechanisms.discrete_laplace import DiscreteLaplace
from discreet.release.answers import Noisy, interval_level
from discreet.release.exports import neutralise


def test_stored_values_come_back_bit_for_bit() -> None:
    for mechanism in (DiscreteLaplace(scale=Fraction(7, 2)), None):
        noisy = Noisy((1, -2, 2**60), mechanism, PureDP(epsilon="0.1"), None)
        assert Noisy.from_bytes(noisy.to_bytes()) == noisy


def test_an_unproven_release_never_claims_the_charge_as_its_guarantee() -> None:
    noisy = Noisy((1,), None, PureDP(epsilon=1), "bounds were read from the rows")
    assert isinstance(noisy.guarantee, Unproven)
    assert Noisy.from_bytes(noisy.to_bytes()).guarantee == noisy.guarantee


@pytest.mark.parametrize("level", [0, 1, "1.5", "-0.1", "nan", "0.9999999"])
def test_levels_lie_between_zero_and_one(level: object) -> None:
    with pytest.raises(ParameterInvalid):
        interval_level(level)  # type: ignore[arg-type]


def test_levels_are_exact() -> None:
    assert interval_level(0.95) == Decimal("0.95")


@pytest.mark.parametrize("text", ["=1+1", "+cmd", "-cmd", "@x", "\tx", "\rx", "\nx", "-"])
def test_formulas_are_neutralised(text: str) -> None:
    assert neutralise(text) == f"'{text}"


@pytest.mark.parametrize("text", ["-12", "+3.5", "North", "", "10", "a=b"])
def test_numbers_and_words_stay(text: str) -> None:
    assert neutralise(text) == text
