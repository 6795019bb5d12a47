"""Error bounds with 1 - gamma, gains over public bounds, and advice on the farms."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from discreet.errors import ParameterInvalid
from discreet.lab.bootstrap.bootstrap_accuracy import (
    compare_methods,
    error_bound,
    gain_ratio,
    gamma_accuracy,
    noisier_cells,
    recommend,
)
from discreet.lab.bootstrap.bootstrap_sensitivity import (
    CellSummary,
    PublicBounds,
    ScaleMethod,
    TableKind,
    count_summary,
    summarise,
)

Cells = dict[tuple[str, str], CellSummary]


def test_the_bound_holds_with_one_minus_gamma() -> None:
    """Continuous noise exceeds it with chance gamma / k for each value; discrete noise its next whole step."""
    bound = error_bound(sensitivity=10, epsilon="0.5", values=9, gamma="0.05")
    assert bound == pytest.approx(math.log(180) * 20)
    decay = math.exp(-1 / 20)
    steps = math.ceil(bound)
    assert 2 * decay ** (steps + 1) / (1 + decay) <= 0.05 / 9
    assert 2 * decay ** (math.floor(bound / 2) + 1) / (1 + decay) > 0.05 / 9


def test_gamma_accuracy_is_one_over_the_bound() -> None:
    assert gamma_accuracy(sensitivity=1, epsilon=1, values=1, gamma="0.5") == pytest.approx(1 / math.log(2))
    assert gamma_accuracy(sensitivity=0, epsilon=1, values=1, gamma="0.5") == math.inf


@pytest.mark.parametrize("gamma", ["0", "1", "-0.1"])
def test_gamma_is_a_chance(gamma: str) -> None:
    with pytest.raises(ParameterInvalid, match="gamma"):
        error_bound(sensitivity=1, epsilon=1, values=1, gamma=gamma)


def test_gains_of_the_farms(farms: Cells) -> None:
    gains = [gain_ratio(public=17610, bootstrap=summary.spread) for summary in farms.values()]
    printed = [2.009, 6.773, 5.831, 1.005, 1.492, 2.185, 1.228, 57.738, 9.268]
    assert [round(float(gain or 0), 3) for gain in gains] == printed
    assert gain_ratio(public=3, bootstrap=0) is None
    assert gain_ratio(public=3, bootstrap=2) == Fraction(3, 2)


def test_two_cells_of_the_farms_are_noisier_under_the_maximum(farms: Cells) -> None:
    both = [("share", "mixed"), ("share", "trad")]
    assert noisier_cells(farms, statistic=TableKind.TOTAL, printed=True) == both
    corrected = noisier_cells(farms, statistic=TableKind.TOTAL)
    assert corrected == [cell for cell, summary in farms.items() if 9 * summary.high < 32130]


def test_advice_for_the_farms(farms: Cells) -> None:
    advice = recommend(farms, statistic=TableKind.TOTAL, public=PublicBounds(0, 100_000), name="/".join)
    assert advice.method is ScaleMethod.PAIR
    assert advice.helps
    assert advice.leave_out == (("share", "mixed"),)
    told = " ".join(advice.table)
    assert "share/mixed" in told
    assert "promises nothing to people outside the data" in told
    assert "(i) would be less noisy here" in advice.cells["owner", "high"]


def test_public_membership_opens_the_third_method(farms: Cells) -> None:
    advice = recommend(farms, statistic=TableKind.TOTAL, public=PublicBounds(0, 17610), membership_public=True)
    assert advice.method is ScaleMethod.MEMBERSHIP


def test_tight_public_bounds_make_bootstrap_useless() -> None:
    cells = summarise({"a": [0, 10], "b": [0, 10]})
    advice = recommend(cells, statistic=TableKind.TOTAL, public=PublicBounds(0, 10))
    assert not advice.helps
    assert "Use --method dp" in " ".join(advice.table)


def test_counts_are_better_released_with_differential_privacy() -> None:
    cells = {"a": count_summary(9), "b": count_summary(20)}
    advice = recommend(cells, statistic=TableKind.COUNT, public=PublicBounds(1, 1), membership_public=True)
    assert not advice.helps
    assert "--method dp" in " ".join(advice.table)


def test_the_least_noisy_methods_are_named_cell_by_cell() -> None:
    cells = summarise({"a": [1, 2], "b": [1, 100]})
    comparison = compare_methods(cells, statistic=TableKind.TOTAL, public=PublicBounds(0, 1000))
    assert comparison.least_noisy("a") == (ScaleMethod.SPLIT, ScaleMethod.PAIR)
    assert comparison.least_noisy("b") == (ScaleMethod.MAXIMUM,)
    assert comparison.best() is ScaleMethod.MAXIMUM
