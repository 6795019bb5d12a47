"""Clear and protected respondents in one estimate."""

from __future__ import annotations

import math

import numpy as np
import pytest

from discreet.catalogue import speaking
from discreet.collect.estimates.estimators.estimated_arrays import EstimatedArray
from discreet.collect.estimates.hybrid_collection import combine, pool_samples
from discreet.errors import ParameterInvalid


def made(estimates: list[float], variances: list[float]) -> EstimatedArray:
    return EstimatedArray(estimates=np.array(estimates), variances=np.array(variances), level=0.95)


def test_strata_add() -> None:
    both = combine(made([100, 5], [0, 0]), made([50, -1], [9, 4]), relation="strata")
    assert both.estimates.tolist() == [150, 4]
    assert both.variances.tolist() == [9, 4]
    assert np.isnan(both.z).all()
    assert "not protected" in both.warning


def test_samples_are_weighted_by_the_inverse_of_their_variances() -> None:
    both = combine(made([10], [1]), made([14], [3]), relation="samples")
    assert both.estimates.tolist() == [11]
    assert both.variances.tolist() == [0.75]
    assert both.clear_share.tolist() == [0.75]
    assert both.z.tolist() == [-2]
    assert both.apart.tolist() == [True]
    assert "1 of 1" in both.warning
    with speaking("fr"):
        assert "Ici, ils diffèrent\u00a0: 1 des 1 estimations" in both.warning


def test_many_comparisons_need_larger_differences() -> None:
    both = pool_samples(made([10, 0, 0], [1, 1, 1]), made([14, 0, 0], [3, 3, 3]))
    assert not both.apart.any()
    assert "choose for themselves" in both.warning
    assert "differ:" not in both.warning


def test_planned_variances_fix_the_weights_only() -> None:
    both = pool_samples(made([10], [1]), made([14], [3]), planned=(np.array([1.0]), np.array([1.0])))
    assert both.estimates.tolist() == [12]
    assert both.variances.tolist() == [1]


def test_a_silent_group_leaves_the_word_to_the_other() -> None:
    both = pool_samples(
        made([math.nan, 10, math.nan], [math.inf, 1, math.inf]), made([4, 9, 0], [2, math.inf, math.inf])
    )
    assert both.estimates[:2].tolist() == [4, 10]
    assert both.variances.tolist() == [2, 1, math.inf]


def test_exact_parts_are_no_samples() -> None:
    with pytest.raises(ParameterInvalid, match="sampling of people"):
        pool_samples(made([10], [0]), made([14], [3]))


def test_calls_are_checked() -> None:
    with pytest.raises(ParameterInvalid, match="relation"):
        combine(made([1], [1]), made([1], [1]), relation="both")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="same cells"):
        combine(made([1], [1]), made([1, 2], [1, 1]), relation="strata")
