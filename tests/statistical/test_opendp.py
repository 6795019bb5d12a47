"""Our samplers and OpenDP's draw from one law.

Two samples of n = 8*ln(4/alpha)/gap**2 draws each stay within gap/4 of their own laws but for a probability
alpha in all, so equal laws come within gap/2 of each other and laws at distance gap do not. alpha = 1e-8 per
comparison, sixteen comparisons.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from fractions import Fraction

import pytest

from discreet.noise import SystemEntropy, discrete_gaussian, discrete_laplace, discrete_laplace_many
from discreet.noise.gaussian_array import discrete_gaussian_array
from tests.witness import Family, draw_by_opendp

pytestmark = [pytest.mark.statistical, pytest.mark.long]

ALPHA = 1e-8
ENTROPY = SystemEntropy()
SCALES = (Fraction(3, 4), Fraction(1 / 0.3))


def distance(one: list[int], other: list[int]) -> float:
    """The two-sample Kolmogorov-Smirnov distance."""
    left, right = Counter(one), Counter(other)
    apart = worst = 0.0
    for value in sorted({*left, *right}):
        apart += left[value] / len(one) - right[value] / len(other)
        worst = max(worst, abs(apart))
    return worst


def cdf_gap(weight: Callable[[int, float], float], scale: float, faulty: float) -> float:
    reach = range(-math.ceil(45 * faulty), math.ceil(45 * faulty) + 1)
    laws = [[weight(z, s) for z in reach] for s in (scale, faulty)]
    totals = [math.fsum(law) for law in laws]
    apart = worst = 0.0
    for one, other in zip(*laws, strict=True):
        apart += one / totals[0] - other / totals[1]
        worst = max(worst, abs(apart))
    return worst


def laplace(scale: Fraction, n: int) -> list[int]:
    return [discrete_laplace(ENTROPY, scale=scale) for _ in range(n)]


def laplace_many(scale: Fraction, n: int) -> list[int]:
    return discrete_laplace_many(ENTROPY, scale=scale, count=n)


def gaussian(scale: Fraction, n: int) -> list[int]:
    return [discrete_gaussian(ENTROPY, variance=scale * scale) for _ in range(n)]


def gaussian_array(scale: Fraction, n: int) -> list[int]:
    drawn: list[int] = discrete_gaussian_array(ENTROPY, variance=scale * scale, count=n).tolist()
    return drawn


def laplace_weight(z: int, scale: float) -> float:
    return math.exp(-abs(z) / scale)


def gaussian_weight(z: int, scale: float) -> float:
    return math.exp(-z * z / (2 * scale * scale))


@pytest.mark.parametrize(
    ("family", "ours", "weight", "scale"),
    [
        *(("laplace", laplace, laplace_weight, scale) for scale in SCALES),
        *(("laplace", laplace_many, laplace_weight, scale) for scale in SCALES),
        *(("gaussian", gaussian, gaussian_weight, scale) for scale in SCALES),
        *(("gaussian", gaussian_array, gaussian_weight, scale) for scale in (SCALES[0], Fraction(1000 / 3))),
    ],
)
def test_two_samples_agree_and_a_fault_does_not(
    family: Family, ours: Callable[[Fraction, int], list[int]], weight: Callable[[int, float], float], scale: Fraction
) -> None:
    gap = cdf_gap(weight, float(scale), float(scale) * 1.25)
    n = math.ceil(8 * math.log(4 / ALPHA) / gap**2)
    theirs = draw_by_opendp(n, family=family, scale=float(scale))
    assert distance(ours(scale, n), theirs) < gap / 2
    assert distance(ours(scale * 5 / 4, n), theirs) > gap / 2
