"""Pólya integers: the negative binomial law with a fractional shape, drawn without gamma variables.

A geometric total is spread over the cycles of a uniform random permutation, and each cycle is kept with
probability `shape`. The length of the first cycle is uniform on what remains, then that of the second, and so
on, so about log(total) coins are enough. By the exponential formula the kept part has the generating function
((1-a)/(1-a*z))**shape with a = exp(-1/scale): exactly the law wanted. n independent draws of shape 1/n add up
to one geometric draw, and the difference of two such sums is a discrete Laplace draw.

Refs: [FS09] II.4 (permutations by cycles, exponential formula).
"""

from __future__ import annotations

from fractions import Fraction

from discreet.noise.coin import bernoulli
from discreet.noise.entropy import Entropy
from discreet.noise.laplace import geometric
from discreet.noise.uniform import uniform_below

__all__ = ["polya"]


def polya(entropy: Entropy, *, shape: Fraction, scale: Fraction) -> int:
    """X >= 0, negative binomial with this shape and ratio exp(-1/scale)."""
    if shape <= 0:
        raise ValueError("shape must be positive")
    whole = shape.numerator // shape.denominator
    drawn = sum(geometric(entropy, scale=scale) for _ in range(whole))
    part = shape - whole
    if part == 0:
        return drawn
    remaining = geometric(entropy, scale=scale)
    while remaining:
        cycle = 1 + uniform_below(entropy, remaining)
        if bernoulli(entropy, part):
            drawn += cycle
        remaining -= cycle
    return drawn
