"""KSComplement, TVComplement and CorrelationSimilarity are SDMetrics' own."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest

from discreet.lab.generator.similarity import correlate, correlation_similarity, ks_complement, tv_complement

pytestmark = pytest.mark.slow


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(20240501)


def _blank(values: Any, share: float, rng: np.random.Generator) -> Any:
    gone = np.asarray(values, dtype=float).copy()
    gone[rng.random(gone.size) < share] = np.nan
    return gone


@pytest.mark.parametrize("size", [10, 50, 2000])
def test_ks_complement_equals_sdmetrics_with_ties_and_missing_values(size: int, rng: np.random.Generator) -> None:
    from sdmetrics.single_column import KSComplement

    for _ in range(20):
        real = _blank(rng.integers(0, 12, size), 0.1, rng)
        synthetic = _blank(rng.normal(6, 4, size // 2 + 2).round(1), 0.2, rng)
        expected = KSComplement.compute(real, synthetic)
        assert ks_complement(real, synthetic) == pytest.approx(expected, abs=1e-9, nan_ok=True)


def test_an_empty_side_has_no_ks_complement() -> None:
    assert math.isnan(ks_complement(np.array([np.nan]), np.array([1.0])))


def test_correlations_equal_pandas_and_their_similarity_sdmetrics(rng: np.random.Generator) -> None:
    from sdmetrics.column_pairs import CorrelationSimilarity

    real = pd.DataFrame({name: _blank(rng.integers(0, 9, 500), 0.15, rng) for name in "abc"})
    real["b"] += real["a"].fillna(0)
    synthetic = real + rng.normal(0, 3, real.shape)
    matrices = [correlate([frame[name].to_numpy() for name in "abc"]) for frame in (real, synthetic)]
    for matrix, frame in zip(matrices, (real, synthetic), strict=True):
        assert np.allclose(matrix, frame.corr().to_numpy(), rtol=0, atol=1e-9)
    for i, j in ((0, 1), (0, 2), (1, 2)):
        pair = ["abc"[i], "abc"[j]]
        expected = CorrelationSimilarity.compute(real[pair], synthetic[pair])
        assert correlation_similarity(matrices[0][i, j], matrices[1][i, j]) == pytest.approx(expected, abs=1e-9)


def test_large_means_lose_no_digits(rng: np.random.Generator) -> None:
    first = rng.normal(size=1000)
    second = first + rng.normal(size=1000)
    shifted = correlate([first + 1e9, second + 1e9])[0, 1]
    assert shifted == pytest.approx(np.corrcoef(first, second)[0, 1], abs=1e-6)


def test_a_column_that_does_not_vary_has_no_correlation(rng: np.random.Generator) -> None:
    assert np.isnan(correlate([np.full(50, 7.3), rng.normal(size=50)])[0, 1])


@pytest.mark.parametrize("size", [10, 50, 2000])
def test_tv_complement_equals_sdmetrics_with_missing_values_and_codes_of_one_side(
    size: int, rng: np.random.Generator
) -> None:
    from sdmetrics.single_column import TVComplement

    for _ in range(20):
        real = _blank(rng.integers(0, 6, size), 0.1, rng)
        synthetic = _blank(rng.integers(2, 9, size // 2 + 2), 0.2, rng)
        # SDMetrics counts a millionth of a row for a code that only the other side has.
        assert tv_complement(real, synthetic) == pytest.approx(TVComplement.compute(real, synthetic), abs=1e-6)


def test_an_empty_side_has_no_tv_complement() -> None:
    assert math.isnan(tv_complement(np.array([1.0]), np.array([np.nan])))
