"""How far the noise reaches: half-widths that cover at least a level, decided with rigorous bounds."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Context, Decimal
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate
from typing import Final

from discreet.noise.enclosure import ceil_divide, enclose_exp_minus, lower_erf_of_root

__all__ = ["gaussian_half_width", "laplace_half_width", "laplace_threshold", "selection_half_width"]

_BITS: Final = 192
_MOST_BITS: Final = 1 << 14
_SUMMED_SCALE: Final = 32

_ROUGH: Final = Context(prec=12)


def laplace_half_width(*, scale: Fraction, level: Fraction) -> int:
    """The smallest t with P(|Z| <= t) >= level for the discrete Laplace law.

    P(|Z| > t) = 2*exp(-(t+1)/scale) / (1 + exp(-1/scale)), compared with 1 - level by enclosures.
    """
    return _laplace_reach(scale, 1 - level)


def _laplace_reach(scale: Fraction, missing: Fraction) -> int:
    """The smallest t >= 0 with P(|Z| > t) <= missing."""
    return _smallest(lambda t: _laplace_covers(t, scale, missing), near=_laplace_guess(scale, missing))


def _laplace_guess(scale: Fraction, missing: Fraction) -> int:
    """About where P(|Z| > t) = missing, to some digits: where to look first."""
    size = _ROUGH.divide(Decimal(scale.numerator), Decimal(scale.denominator))
    tail = _ROUGH.ln(_ROUGH.divide(Decimal(2 * missing.denominator), Decimal(missing.numerator)))
    # Noise of so small a scale is 0 all but always: what lies at 0 adds nothing to see.
    both = 1 + (_ROUGH.exp(_ROUGH.divide(Decimal(-1), size)) if size * 100 > 1 else Decimal(0))
    return max(0, int(_ROUGH.multiply(size, _ROUGH.subtract(tail, _ROUGH.ln(both)))))


@lru_cache(maxsize=256)
def laplace_threshold(*, scale: Fraction, probability: Fraction) -> int:
    """The smallest t with P(Z >= t) <= probability for the discrete Laplace law, 0 < probability < 1.

    P(|Z| > u) = 2*P(Z >= u+1) for u >= 0. A t below 1, for a probability above one half, is found on the other side,
    where P(Z >= 1-u) = 1 - P(Z >= u).
    """
    if scale <= 0 or not 0 < probability < 1:
        raise ValueError("a threshold needs a positive scale and a probability strictly between 0 and 1")
    above = _laplace_reach(scale, 2 * probability)
    return 1 + above if above else 1 - _laplace_reach(scale, 2 * (1 - probability))


def _laplace_covers(t: int, scale: Fraction, missing: Fraction) -> bool:
    """Whether P(|Z| > t) <= missing. exp of a rational is transcendental, so some precision decides."""
    bits = _BITS
    while True:
        tail_low, tail_high = enclose_exp_minus((t + 1) / scale, bits=bits)
        step_low, step_high = enclose_exp_minus(1 / scale, bits=bits)
        item = 1 << bits
        if 2 * tail_high * missing.denominator <= missing.numerator * (item + step_low):
            return True
        if 2 * tail_low * missing.denominator > missing.numerator * (item + step_high):
            return False
        bits *= 2


def gaussian_half_width(*, scale: Fraction, level: Fraction) -> int:
    """A t with P(|Z| <= t) >= level for the discrete Gaussian law with parameter sigma = scale.

    The smallest such t where the law can be summed (scale below 32); above that, at most one more than the
    smallest.
    """
    if scale < _SUMMED_SCALE:
        return _summed_half_width(scale * scale, level)
    return _smallest(lambda t: _normal_covers(t, scale * scale, level))


def _normal_covers(t: int, variance: Fraction, level: Fraction) -> bool:
    """Whether a lower bound of P(|Z| <= t), from the normal law on [-(t+1/2), t+1/2], reaches the level.

    The density is concave within one sigma of 0 and convex beyond, so each integer's weight is at least
    (inside) or at most (outside) the integral over its unit interval; the lattice's total exceeds the
    integral by a factor below 1 + 2**-1000 for scales of 32 and more (docs/proofs/discrete-gaussian.md).
    """
    reach = Fraction((2 * t + 1) ** 2, 8) / variance
    if reach >= 64:
        return True  # beyond 11 sigma less than 1e-27 is missing; levels stop at 1 - 1e-9
    covered = Fraction(lower_erf_of_root(reach, bits=_BITS), (1 << _BITS) + 1)
    return covered >= level


def selection_half_width(*, rate: Fraction, candidates: int, level: Fraction) -> int:
    """The smallest whole t with candidates * exp(-rate*t) <= 1 - level, which bounds P(score < best - t)."""
    if candidates < 1:
        raise ValueError("at least one candidate is needed")
    missing = 1 - level
    return _smallest(lambda t: _selection_covers(rate * t, candidates, missing))


def _selection_covers(exponent: Fraction, candidates: int, missing: Fraction) -> bool:
    bits = _BITS + candidates.bit_length()
    _, high = enclose_exp_minus(exponent, bits=bits)
    return candidates * high * missing.denominator <= missing.numerator << bits


def _summed_half_width(variance: Fraction, level: Fraction) -> int:
    bits = _BITS
    while True:
        low, high = _summed_weights(variance, bits)
        sure = _first_covering(low, high, level)
        possible = _first_covering(high, low, level)
        # At the last precision the sure side is taken: wider than needed at worst, never below the level.
        if sure == possible or bits >= _MOST_BITS:
            return sure
        bits *= 2


def _summed_weights(variance: Fraction, bits: int) -> tuple[list[int], list[int]]:
    """Lower and upper weights of |Z| = 0, 1, 2, ..., the last upper one standing for the whole tail."""
    low, high = [1 << bits], [1 << bits]
    k = 0
    while high[-1] > 2:
        k += 1
        below, above = enclose_exp_minus(Fraction(k * k) / (2 * variance), bits=bits)
        low.append(2 * below)
        high.append(2 * above)
    # sum over j >= 1 of exp(-(k+j)**2/2v) <= integral from k <= (v/k) * exp(-k**2/2v)
    high[-1] += high[-1] * ceil_divide(variance.numerator, variance.denominator * k)
    return low, high


def _first_covering(inner: list[int], outer: list[int], level: Fraction) -> int:
    """The first t at which the inner weights up to t reach the level against the outer weights beyond t."""
    beyond = sum(outer)
    for t, (covered, passed) in enumerate(zip(accumulate(inner), accumulate(outer), strict=True)):
        if covered * level.denominator >= level.numerator * (covered + beyond - passed):
            return t
    return len(inner) - 1


def _smallest(covers: Callable[[int], bool], near: int = 0) -> int:
    """The smallest t >= 0 for which a monotone condition holds; it is looked for from `near` outwards."""
    low, high, step = near - 1, near, 1
    if covers(near):
        while low >= 0 and covers(low):
            low, high, step = low - 2 * step, low, 2 * step
        low = max(low, -1)
    else:
        low, high = near, near + 1
        while not covers(high):
            low, high, step = high, high + 2 * step, 2 * step
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if covers(middle) else (middle, high)
    return high
