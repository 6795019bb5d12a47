"""Binomial laws in floating point, with a stated error, for the account of the shuffle.

Every function is accurate to a relative error of `SLACK`, up to a hundred million trials; a test holds them against
exact integers. Needs the extra 'study' (scipy): the accountant imports this module only where it is installed.
"""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np
from numpy import float64
from numpy.typing import ArrayLike, NDArray
from scipy.special import betainc, xlog1py

__all__ = ["SLACK", "at_least", "below", "point"]

Floats = NDArray[float64]

SLACK: Final = 1e-9
_SERIES_FROM: Final = 16
_TABLED: Final = 1 << 12


def at_least(least: ArrayLike, trials: ArrayLike, chance: float) -> Floats:
    """P(X ≥ least) for X ~ Bin(trials, chance), accurate also where it is tiny."""
    x, n = np.asarray(least, dtype=float), np.asarray(trials, dtype=float)
    inside = (x >= 1) & (x <= n)
    if inside.all():
        return _floats(betainc(x, n - x + 1, chance))
    tail = betainc(np.where(inside, x, 1.0), np.where(inside, n - x + 1, 1.0), chance)
    return _floats(np.where(inside, tail, np.where(x <= n, 1.0, 0.0)))


def below(limit: ArrayLike, trials: ArrayLike, chance: float) -> Floats:
    """P(X < limit) for X ~ Bin(trials, chance), accurate also where it is tiny."""
    x, n = np.asarray(limit, dtype=float), np.asarray(trials, dtype=float)
    inside = (x >= 1) & (x <= n)
    if inside.all():
        return _floats(betainc(n - x + 1, x, 1 - chance))
    tail = betainc(np.where(inside, n - x + 1, 1.0), np.where(inside, x, 1.0), 1 - chance)
    return _floats(np.where(inside, tail, np.where(x <= n, 0.0, 1.0)))


def point(value: ArrayLike, trials: ArrayLike, chance: float) -> Floats:
    """P(X = value) for X ~ Bin(trials, chance), 0 < chance < 1, by Loader's saddle-point form."""
    x, n = np.asarray(value, dtype=float), np.asarray(trials, dtype=float)
    inside = (x > 0) & (x < n)
    everywhere = bool(inside.all())
    # What depends on the trials alone is computed before it is spread over all values.
    hits, total = x if everywhere else np.where(inside, x, 1.0), np.maximum(n, 2.0)
    misses = total - hits
    exponent = _stirling(total) - _stirling(hits) - _stirling(misses)
    exponent -= _deviance(hits, total * chance) + _deviance(misses, total * (1 - chance))
    middle = np.exp(exponent) * np.sqrt(total / (2 * math.pi * hits * misses))
    if everywhere:
        return _floats(middle)
    none, all_hits = np.exp(n * math.log1p(-chance)), np.exp(n * math.log(chance))
    edge = np.where(x == 0, none, np.where(x == n, all_hits, 0.0))
    return _floats(np.where(inside, middle, edge))


def _deviance(x: Floats, mean: Floats) -> Floats:
    """x·ln(x/mean) + mean − x, without the loss of digits where x is near its mean."""
    off = (x - mean) / mean
    return _floats(mean * (xlog1py(1 + off, off) - off))


def _stirling(x: Floats) -> Floats:
    """ln x! less Stirling's formula, for whole x above 0."""
    few = x < _TABLED
    if few.all():
        return _floats(_STIRLING[x.astype(np.intp)])
    series = _series(x)
    if few.any():
        series = np.where(few, _STIRLING[np.minimum(x, 1.0 * (_TABLED - 1)).astype(np.intp)], series)
    return _floats(series)


def _series(x: Floats) -> Floats:
    """The same where x is not small."""
    inverse = 1 / x
    square = inverse * inverse
    return _floats(inverse * (1 / 12 - square * (1 / 360 - square * (1 / 1260 - square / 1680))))


def _tabulate() -> Floats:
    """The same for small x, of which the account asks again and again."""
    table = _series(np.maximum(np.arange(1.0 * _TABLED), 1.0))
    for x in range(1, _SERIES_FROM):
        table[x] = math.lgamma(x + 1) - (x + 0.5) * math.log(x) + x - math.log(2 * math.pi) / 2
    return table


def _floats(values: Any) -> Floats:
    return np.asarray(values, dtype=float64)


_STIRLING: Final = _tabulate()
