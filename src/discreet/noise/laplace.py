"""Geometric and two-sided geometric (discrete Laplace) integers of rational scale [CKS20, Algorithm 2]."""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from discreet.noise.coin import bernoulli_exp_minus
from discreet.noise.entropy import Entropy
from discreet.noise.uniform import uniform_below

__all__ = ["discrete_laplace", "geometric"]

_ONE: Final = Fraction(1)


def geometric(entropy: Entropy, *, scale: Fraction) -> int:
    """X >= 0 with P(X = x) proportional to exp(-x/scale)."""
    if scale <= 0:
        raise ValueError("scale must be positive")
    modulus = scale.numerator
    while True:
        remainder = uniform_below(entropy, modulus)
        if bernoulli_exp_minus(entropy, Fraction(remainder, modulus)):
            break
    quotient = 0
    while bernoulli_exp_minus(entropy, _ONE):
        quotient += 1
    return (remainder + modulus * quotient) // scale.denominator


def discrete_laplace(entropy: Entropy, *, scale: Fraction) -> int:
    """Z with P(Z = z) proportional to exp(-|z|/scale)."""
    while True:
        negative = uniform_below(entropy, 2) == 1
        magnitude = geometric(entropy, scale=scale)
        if magnitude or not negative:  # zero has one sign, or it would come twice as often
            return -magnitude if negative else magnitude
