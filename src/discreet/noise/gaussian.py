"""Discrete Gaussian integers of rational variance parameter [CKS20, Algorithm 3]."""

from __future__ import annotations

import math
from fractions import Fraction

from discreet.noise.coin import bernoulli_exp_minus
from discreet.noise.entropy import Entropy
from discreet.noise.laplace import discrete_laplace

__all__ = ["discrete_gaussian"]


def discrete_gaussian(entropy: Entropy, *, variance: Fraction) -> int:
    """Z with P(Z = z) proportional to exp(-z**2 / (2*variance))."""
    if variance <= 0:
        raise ValueError("variance must be positive")
    scale = Fraction(math.isqrt(variance.numerator // variance.denominator) + 1)
    while True:
        proposed = discrete_laplace(entropy, scale=scale)
        excess = abs(proposed) - variance / scale
        if bernoulli_exp_minus(entropy, excess * excess / (2 * variance)):
            return proposed
