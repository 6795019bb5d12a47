"""Exact draws from the exponential mechanism's law, over runs of equally scored candidates.

P(candidate) is proportional to exp(rate * score). Candidates come as runs (score, multiplicity), so a grid of
a million points with ten distinct scores costs ten steps. Runs are pooled by the whole part j of rate * (best
score - score); a pool is chosen with weight (its multiplicity) * exp(-j), a candidate uniformly inside it,
and the fractional part is left to one exact coin, which accepts with probability above 1/e.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from typing import Final, NamedTuple

from discreet.noise.coin import bernoulli_exp_minus
from discreet.noise.enclosure import enclose_exp_minus
from discreet.noise.entropy import Entropy
from discreet.noise.uniform import uniform_below

__all__ = ["Choice", "Run", "select"]

Run = tuple[int | Fraction, int]
_WORD: Final = 64


class Choice(NamedTuple):
    """A candidate: the index of its run, and its place inside the run, counted from 0."""

    run: int
    offset: int


@dataclass(frozen=True, slots=True)
class _Pool:
    """The runs with one whole part: indices, fractional parts times `denominator`, running multiplicities."""

    whole: int
    denominator: int
    runs: tuple[int, ...]
    rests: tuple[int, ...]
    cumulative: tuple[int, ...]

    @property
    def size(self) -> int:
        return self.cumulative[-1]


def select(entropy: Entropy, runs: Sequence[Run], *, rate: Fraction) -> Choice:
    """One candidate, with probability proportional to exp(rate * score). Empty runs are ignored."""
    pools = _pool(runs, rate)
    weights = _Weights(pools)
    while True:
        pool = pools[weights.draw(entropy)]
        place = uniform_below(entropy, pool.size)
        member = bisect_right(pool.cumulative, place)
        if bernoulli_exp_minus(entropy, Fraction(pool.rests[member], pool.denominator)):
            before = pool.cumulative[member - 1] if member else 0
            return Choice(pool.runs[member], place - before)


def _pool(runs: Sequence[Run], rate: Fraction) -> list[_Pool]:
    """The runs by whole part, best first; inside a pool in their given order."""
    if rate <= 0:
        raise ValueError("rate must be positive")
    if any(multiplicity < 0 for _, multiplicity in runs):
        raise ValueError("multiplicities must not be negative")
    present = [index for index, (_, multiplicity) in enumerate(runs) if multiplicity]
    if not present:
        raise ValueError("at least one candidate is needed")
    common = math.lcm(*{runs[index][0].denominator for index in present})
    scores = {index: int(runs[index][0] * common) for index in present}
    best = max(scores.values())
    denominator = rate.denominator * common
    members: dict[int, list[tuple[int, int]]] = {}
    for index, score in scores.items():
        whole, rest = divmod(rate.numerator * (best - score), denominator)
        members.setdefault(whole, []).append((index, rest))
    return [
        _Pool(
            whole=whole,
            denominator=denominator,
            runs=tuple(index for index, _ in pooled),
            rests=tuple(rest for _, rest in pooled),
            cumulative=tuple(accumulate(runs[index][1] for index, _ in pooled)),
        )
        for whole, pooled in sorted(members.items())
    ]


class _Weights:
    """Draws a pool with probability proportional to size * exp(-whole), digit by digit as far as needed."""

    def __init__(self, pools: Sequence[_Pool]) -> None:
        self._pools = pools
        self._enclose(128 + sum(pool.size for pool in pools).bit_length())

    def draw(self, entropy: Entropy) -> int:
        """The index of a pool. Reads nothing when there is only one."""
        if len(self._pools) == 1:
            return 0
        drawn = bits = 0
        while True:
            drawn = drawn << _WORD | int.from_bytes(entropy.read(_WORD // 8), "big")
            bits += _WORD
            first = self._boundaries_up_to(drawn, bits)
            if first == self._boundaries_up_to(drawn + 1, bits):
                return first

    def _boundaries_up_to(self, drawn: int, bits: int) -> int:
        """How many inner boundaries between pools lie at or below drawn / 2**bits, decided rigorously.

        A boundary is a ratio of two different polynomials in exp(-1), hence never rational: more precision
        always decides, and the ends 0 and 1 need none.
        """
        if drawn == 0:
            return 0
        if drawn == 1 << bits:
            return len(self._pools) - 1
        while True:
            below = bisect_right(self._high, drawn * self._total_low >> bits, hi=len(self._pools) - 1)
            above = bisect_right(self._low, drawn * self._total_high >> bits, hi=len(self._pools) - 1)
            if below == above:
                return below
            self._enclose(2 * self._precision)

    def _enclose(self, precision: int) -> None:
        pairs = [enclose_exp_minus(Fraction(pool.whole), bits=precision) for pool in self._pools]
        sizes = [pool.size for pool in self._pools]
        self._precision = precision
        self._low = list(accumulate(size * low for size, (low, _) in zip(sizes, pairs, strict=True)))
        self._high = list(accumulate(size * high for size, (_, high) in zip(sizes, pairs, strict=True)))
        self._total_low, self._total_high = self._low[-1], self._high[-1]
