"""Coins of rational probability, and of probability exp(-gamma) for rational gamma [CKS20, Algorithm 1]."""

from __future__ import annotations

from fractions import Fraction

from discreet.noise.entropy import Entropy
from discreet.noise.uniform import uniform_below

__all__ = ["bernoulli", "bernoulli_exp_minus", "bernoulli_exp_minus_part"]


def bernoulli(entropy: Entropy, probability: Fraction) -> bool:
    """True with exactly this probability. Reads nothing when it is 0 or 1."""
    if not 0 <= probability <= 1:
        raise ValueError("a probability lies between 0 and 1")
    return uniform_below(entropy, probability.denominator) < probability.numerator


def bernoulli_exp_minus(entropy: Entropy, gamma: Fraction) -> bool:
    """True with probability exactly exp(-gamma), for gamma >= 0."""
    if gamma < 0:
        raise ValueError("gamma must not be negative")
    whole, rest = divmod(gamma.numerator, gamma.denominator)
    for _ in range(whole):
        if not bernoulli_exp_minus_part(entropy, 1, 1):
            return False
    return bernoulli_exp_minus_part(entropy, rest, gamma.denominator)


def bernoulli_exp_minus_part(entropy: Entropy, numerator: int, denominator: int) -> bool:
    """The same for gamma = numerator/denominator <= 1 in lowest terms, by which bytes are read.

    It is whether the first k whose coin of gamma/k fails is odd.
    """
    k = 1
    while uniform_below(entropy, denominator * k) < numerator:
        k += 1
    return k % 2 == 1
