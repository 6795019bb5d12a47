"""Geometric and two-sided geometric (discrete Laplace) integers of rational scale [CKS20, Algorithm 2]."""

from __future__ import annotations

import math
from fractions import Fraction

from discreet.noise.coin import bernoulli_exp_minus_part
from discreet.noise.entropy import Entropy
from discreet.noise.uniform import uniform_below

__all__ = ["discrete_laplace", "geometric"]


def geometric(entropy: Entropy, *, scale: Fraction) -> int:
    """X >= 0 with P(X = x) proportional to exp(-x/scale)."""
    if scale <= 0:
        raise ValueError("scale must be positive")
    modulus = scale.numerator
    while True:
        remainder = uniform_below(entropy, modulus)
        common = math.gcd(remainder, modulus)
        if bernoulli_exp_minus_part(entropy, remainder // common, modulus // common):
            break
    quotient = 0
    while bernoulli_exp_minus_part(entropy, 1, 1):
        quotient += 1
    return (remainder + modulus * quotient) // scale.denominator


def discrete_laplace(entropy: Entropy, *, scale: Fraction) -> int:
    """Z with P(Z = z) proportional to exp(-|z|/scale)."""
    while True:
        negative = uniform_below(entropy, 2) == 1
        magnitude = geometric(entropy, scale=scale)
        if magnitude or not negative:  # zero has one sign, or it would come twice as often
            return -magnitude if negative else magnitude
