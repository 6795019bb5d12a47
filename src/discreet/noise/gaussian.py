"""Discrete Gaussian integers of rational variance parameter [CKS20, Algorithm 3]."""

from __future__ import annotations

import math
from fractions import Fraction

from discreet.noise.coin import bernoulli_exp_minus
from discreet.noise.entropy import Entropy
from discreet.noise.laplace import discrete_laplace, geometric

__all__ = ["discrete_gaussian", "gaussian_tail"]


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


def gaussian_tail(entropy: Entropy, *, variance: Fraction, start: int) -> int:
    """Z >= start, for start >= 1, with P(Z = z) proportional to exp(-z**2 / (2*variance)).

    Beyond `start` the weight is that of a geometric step g, times exp(-g**2 / (2*variance)), which is left to a coin.
    The coin holds often when start is at least sqrt(variance), and ever more rarely below.
    """
    if variance <= 0 or start < 1:
        raise ValueError("variance must be positive and start at least 1")
    while True:
        step = geometric(entropy, scale=variance / start)
        if bernoulli_exp_minus(entropy, step * step / (2 * variance)):
            return start + step
