"""Replicate weights: the debiased estimate again and again."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.collect.estimates.replicates import Replicated, replicate_variance, restore_privacy
from discreet.errors import ParameterInvalid

VALUES = np.array([1.0, 5.0])


def total(weights: np.ndarray[tuple[int], np.dtype[np.int64]]) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    return np.array([float(weights @ VALUES)])


def replicated(*replicates: tuple[int, int], fay: float = 0.0) -> Replicated:
    return replicate_variance(
        lambda sums: sums,
        total,
        weights=np.array([1, 1]),
        replicate_weights=(np.array(each) for each in replicates),
        fay=fay,
    )


def test_deviations_are_from_the_full_estimate() -> None:
    made = replicated((2, 0), (0, 2), (1, 1))
    assert made.estimates.tolist() == [6]
    assert made.variances.tolist() == [(16 + 16 + 0) / 3]
    assert made.replicates == 3


def test_fays_factor_undoes_what_replicates_keep() -> None:
    assert replicated((2, 0), (0, 2), fay=0.5).variances.tolist() == [16 / 0.25]


def test_privacy_is_put_back_in_full() -> None:
    made = restore_privacy(replicated((2, 0), (0, 2)), np.array([10.0]), sampled=0.3)
    assert made.variances.tolist() == [16 + 3]


def test_calls_are_checked() -> None:
    with pytest.raises(ParameterInvalid, match="replicate weights"):
        replicated((2, 0))
    with pytest.raises(ParameterInvalid, match="fay"):
        replicated((2, 0), (0, 2), fay=1)
    with pytest.raises(ParameterInvalid, match="sampled"):
        restore_privacy(replicated((2, 0), (0, 2)), np.array([10.0]), sampled=2)
    with pytest.raises(ValueError, match="one weight"):
        replicate_variance(lambda sums: sums, total, weights=np.array([1, 1]), replicate_weights=[np.array([1])] * 2)
