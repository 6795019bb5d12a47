"""Flags by relative error, and the rule that leaves figures out."""

from __future__ import annotations

import math
from decimal import Decimal

import numpy as np
import pytest

from discreet.errors import ParameterInvalid
from discreet.results import Figure, Margin, Quality
from discreet.tables.quality import leave_out, rate, rate_many, relative_errors, suppress, suppress_many
from tests.releases import make_margins


@pytest.mark.parametrize(
    ("value", "error", "flag"),
    [
        (1000, 165, Quality.GOOD),
        (-1000, 165, Quality.GOOD),
        (1000, 166, Quality.CAUTION),
        (1000, 333, Quality.CAUTION),
        (1000, 334, Quality.UNRELIABLE),
        (0, 3, Quality.UNRELIABLE),
        (0, 0, Quality.GOOD),
        (5, 0, Quality.GOOD),
        (5, math.inf, Quality.UNRELIABLE),
        (math.nan, 3, Quality.NOT_RATED),
        (5, math.nan, Quality.NOT_RATED),
    ],
)
def test_flags_follow_the_relative_error(value: float, error: float, flag: Quality) -> None:
    assert rate(value, error) == flag


def test_sampling_adds_to_the_error() -> None:
    assert rate(1000, 120) == Quality.GOOD
    assert rate(1000, 120, sampling_variance=160.0**2) == Quality.CAUTION
    assert rate(1000, 120, sampling_variance=-50.0) == Quality.GOOD
    assert rate(0, 0, sampling_variance=4.0) == Quality.UNRELIABLE


def test_many_are_rated_like_one() -> None:
    values = np.array([1000.0, 40.0, 0.0, -30.0, math.nan])
    errors = np.full(5, 12.0)
    assert rate_many(values, errors) == [rate(value, 12.0) for value in values]
    assert rate_many(values, 12.0) == rate_many(values, errors)
    assert rate_many(values, 12.0, np.full(5, 100.0)) == [rate(v, 12.0, sampling_variance=100.0) for v in values]
    assert rate_many(values.reshape(5, 1), errors.reshape(5, 1)) == rate_many(values, errors)
    assert rate_many([], []) == []


def test_relative_errors_keep_the_shape() -> None:
    assert relative_errors([[10, 0], [-4, 5]], 2.0).tolist() == [[0.2, math.inf], [0.5, 0.4]]


def test_suppression_looks_at_noisy_values_alone() -> None:
    assert suppress(10, 4, above=Decimal("0.333"))
    assert not suppress(10, 4, above=Decimal("0.4"))
    assert suppress(0, 1, above=Decimal(10))
    assert suppress(10, 4, above=Decimal("0.4"), sampling_variance=1.0)
    assert suppress_many([10, 20, math.nan], 4.0, above=Decimal("0.3")).tolist() == [True, False, False]


@pytest.mark.parametrize("above", ["0", "-1", "NaN", "Infinity"])
def test_a_limit_is_positive(above: str) -> None:
    with pytest.raises(ParameterInvalid, match="positive relative error"):
        suppress(10, 4, above=Decimal(above))


def test_what_is_left_out_keeps_its_place_only() -> None:
    entry = Figure(("a", None), (1,), 3, 2.5, -1.0, 6.0, Quality.UNRELIABLE, uncalibrated=3)
    other = entry._replace(codes=("b", None))
    [columns] = make_margins([entry, other])
    hidden = Figure(("a", None), (1,), None, None, None, None, Quality.SUPPRESSED)
    assert list(leave_out(columns, [0])) == [hidden, other]
    assert list(leave_out(columns, [1], Quality.TOO_SMALL))[1].quality is Quality.TOO_SMALL
    assert leave_out(columns, []) is columns


def test_what_has_neither_interval_nor_estimate_of_its_own_is_left_out_whole() -> None:
    """The raw estimate of a figure without one of its own is its value: it must not stay behind."""
    [shown] = leave_out(Margin((), (["a"],), [3], quality=[Quality.GOOD]), [0])
    assert shown == Figure(("a",), (), None, None, None, None, Quality.SUPPRESSED)
