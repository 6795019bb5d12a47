"""How often respondents must speak at random for one truthful message to be lost among theirs.

Guarantee: when each of n respondents sends, with chance γ, any of the symbols at random, else one that depends on the
           answer, the shuffled messages are (ε, δ)-DP, replace-one, for the δ stated here.
Requires:  random messages that do not depend on answers; the other messages may be known to all.
Proof:     docs/proofs/vector-sum.md
Refs:      [BBGN19] Section 3 (the privacy blanket).
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from typing import Final

__all__ = ["blanket_delta", "channel_delta", "smallest_gamma"]

_STEPS: Final = 1 << 32
_CUT: Final = 1e-4
_SLACK: Final = 1e-6
_STALE: Final = 100.0
_NEGLIGIBLE: Final = 1e-18
_LARGEST_MEAN: Final = 2_000_000


def blanket_delta(*, epsilon: float, clients: int, cover: float, cut: float) -> float:
    """An upper bound on δ(ε) when one respondent surely sends the symbol a, or surely the symbol b.

    Each other respondent sends a at random with chance `cover`, and b likewise. So C ~ Bin(n - 1, 2·cover) random
    messages fall on the two, A ~ Bin(C, 1/2) of them on a. The sum runs over the C that matter; the rest, of
    probability at most `cut`, is added as if it gave everything away.
    """
    trials, chance = clients - 1, 2 * cover
    low, high = _window(trials, chance, cut)
    chances = _binomial(trials, chance, low, high)
    total = math.fsum(p * gain for p, gain in zip(chances, _gains(low, high, epsilon), strict=True))
    return total * (1 + _SLACK) + cut


def channel_delta(*, epsilon: float, clients: int, gamma: float, symbols: int, cut: float) -> float:
    """An upper bound on δ(ε) when the respondent, too, speaks at random with chance γ, over all `symbols`.

    That part is the same for every answer, so the rest needs to be hidden at a larger ε' only (joint convexity).
    """
    within = math.log1p(math.expm1(epsilon) / (1 - gamma))
    return (1 - gamma) * blanket_delta(epsilon=within, clients=clients, cover=gamma / symbols, cut=cut)


@lru_cache(maxsize=1024)
def smallest_gamma(
    *, epsilon: Fraction, delta: Fraction, clients: int, symbols: int, most: Fraction
) -> Fraction | None:
    """About the smallest γ (surely enough) for this ε and δ; None when `most`, a γ below 1, is not enough."""
    at_epsilon, at_delta = float(epsilon) * (1 - 1e-12), float(delta)
    largest = min(math.floor(most * _STEPS), math.floor(Fraction(_LARGEST_MEAN * symbols, clients) * _STEPS))

    def holds(steps: int) -> bool:
        cut = _CUT * at_delta
        found = channel_delta(epsilon=at_epsilon, clients=clients, gamma=steps / _STEPS, symbols=symbols, cut=cut)
        return found <= at_delta

    if largest < 1 or not holds(largest):
        return None
    low, high = 0, largest
    while high - low > max(1, high >> 10):
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return Fraction(high, _STEPS)


def _window(trials: int, chance: float, cut: float) -> tuple[int, int]:
    """Counts outside of which a binomial falls with chance at most `cut`, by Chernoff's and Bernstein's bounds."""
    mean, log_term = trials * chance, math.log(2 / cut)
    low = math.floor(mean - math.sqrt(2 * mean * log_term))
    high = math.ceil(mean + log_term / 3 + math.sqrt(log_term**2 / 9 + 2 * mean * log_term))
    return max(0, low), min(trials, high)


def _binomial(trials: int, chance: float, low: int, high: int) -> list[float]:
    """At least P(C = c) for c = low, ..., high: their ratios are exact, and all of them together are put at 1.

    So the digits that factorials of a large number of trials lose do not matter.
    """
    if chance >= 1:
        return [0.0] * (high - low) + [1.0]
    odds = chance / (1 - chance)
    # The first term may underflow although later ones count, so factors are added up as logarithms.
    logs = [0.0]
    for count in range(low, high):
        logs.append(logs[-1] + math.log((trials - count) / (count + 1) * odds))
    highest = max(logs)
    terms = [math.exp(value - highest) for value in logs]
    total = math.fsum(terms)
    return [term / total for term in terms]


def _gains(low: int, high: int, epsilon: float) -> list[float]:
    """For each c: the divergence of (A + 1, c - A) from (A, c - A + 1), A ~ Bin(c, 1/2).

    The likelihood ratio is (A + 1)/(c - A), so the sum of its excess telescopes to P(A = a) - (e^ε - 1)·P(A > a) at
    the first a with a + 1 > e^ε (c - a). One more trial adds half of P(A = a) to P(A > a). What is subtracted from
    P(A > a) leaves errors behind, so it is summed anew whenever it has become much smaller.
    """
    growth = math.expm1(epsilon)
    reached = _first(low, epsilon)
    beyond = peak = _beyond(low, reached)
    gains = []
    for count in range(low, high + 1):
        while reached < _first(count, epsilon):
            reached += 1
            beyond -= _half(count, reached)
        if beyond < peak / _STALE:
            beyond = peak = _beyond(count, reached)
        own = _half(count, reached)
        gains.append(max(0.0, own - growth * beyond))
        beyond += own / 2
        peak = max(peak, beyond)
    return gains


def _first(count: int, epsilon: float) -> int:
    """The first a with a + 1 > e^ε (count - a): never above count, for there nothing is left on the other side."""
    factor = math.exp(epsilon)
    return min(count, math.floor((factor * count - 1) / (1 + factor)) + 1)


def _beyond(count: int, value: int) -> float:
    """P(A > value) for A ~ Bin(count, 1/2) and a value of at least its mean, or nearly."""
    total, term = 0.0, _half(count, value + 1)
    for passed in range(value + 1, count + 1):
        total += term
        term *= (count - passed) / (passed + 1)
        if term <= total * _NEGLIGIBLE:
            break
    return total


def _half(count: int, value: int) -> float:
    """P(A = value) for A ~ Bin(count, 1/2)."""
    if not 0 <= value <= count:
        return 0.0
    logarithm = math.lgamma(count + 1) - math.lgamma(value + 1) - math.lgamma(count - value + 1)
    return math.exp(logarithm - count * math.log(2))
