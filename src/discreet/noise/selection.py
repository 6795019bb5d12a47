"""Exact draws from the exponential mechanism's law, over runs of equally scored candidates.

P(candidate) is proportional to exp(rate * score). Candidates come as runs (score, multiplicity), so a grid of
a million points with ten distinct scores costs ten steps. Runs are pooled by the whole part j of rate * (best
score - score); a pool is chosen with weight (its multiplicity) * exp(-j), a candidate uniformly inside it,
and the fractional part is left to one exact coin, which accepts with probability above 1/e.

Runs so far behind that exp(-j) is less than one unit of the precision in use are left out of the pools. Together they
weigh next to nothing, and only a draw that may have fallen among them asks for more precision, and so for more pools.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from typing import TYPE_CHECKING, Final, NamedTuple

from discreet.noise.coin import bernoulli_exp_minus
from discreet.noise.enclosure import ceil_divide, enclose_exp_minus
from discreet.noise.entropy import Entropy
from discreet.noise.uniform import uniform_below

if TYPE_CHECKING:
    from numpy import int64
    from numpy.typing import NDArray

__all__ = ["Choice", "Run", "RunArrays", "select"]

Run = tuple[int | Fraction, int]
_WORD: Final = 64
_SAFE: Final = 1 << 62


class Choice(NamedTuple):
    """A candidate: the index of its run, and its place inside the run, counted from 0."""

    run: int
    offset: int


@dataclass(frozen=True, slots=True, eq=False)
class RunArrays:
    """Many runs with whole scores. Scores lie less than 2**62 apart, and there are fewer candidates than that."""

    scores: NDArray[int64]
    multiplicities: NDArray[int64]


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


def select(entropy: Entropy, runs: Sequence[Run] | RunArrays, *, rate: Fraction) -> Choice:
    """One candidate, with probability proportional to exp(rate * score). Empty runs are ignored."""
    if rate <= 0:
        raise ValueError("rate must be positive")
    weights = _Weights(_RankedArrays(runs) if isinstance(runs, RunArrays) else _RankedList(runs), rate)
    while True:
        pool = weights.draw(entropy)
        index = uniform_below(entropy, pool.size)
        member = bisect_right(pool.cumulative, index)
        if bernoulli_exp_minus(entropy, Fraction(pool.rests[member], pool.denominator)):
            before = pool.cumulative[member - 1] if member else 0
            return Choice(pool.runs[member], index - before)


# --- runs by their distance from the best -----------------------------------------------------------------------------


class _Ranked(ABC):
    """Runs that are not empty, and how far their scores lie behind the best, in parts of a score."""

    size: int
    parts: int

    @abstractmethod
    def near(self, reach: int) -> Iterable[tuple[int, int, int]]:
        """(index, how far behind, multiplicity) of the runs less than `reach` behind, in their order."""

    def pools(self, rate: Fraction, limit: int) -> list[_Pool]:
        """The pools of whole parts below a limit, best first; inside a pool runs keep their order."""
        denominator = rate.denominator * self.parts
        members: dict[int, list[tuple[int, int, int]]] = {}
        for index, behind, multiplicity in self.near(ceil_divide(limit * denominator, rate.numerator)):
            whole, rest = divmod(rate.numerator * behind, denominator)
            members.setdefault(whole, []).append((index, rest, multiplicity))
        return [
            _Pool(
                whole=whole,
                denominator=denominator,
                runs=tuple(index for index, _, _ in pooled),
                rests=tuple(rest for _, rest, _ in pooled),
                cumulative=tuple(accumulate(multiplicity for _, _, multiplicity in pooled)),
            )
            for whole, pooled in sorted(members.items())
        ]


class _RankedList(_Ranked):
    def __init__(self, runs: Sequence[Run]) -> None:
        _require(all(multiplicity >= 0 for _, multiplicity in runs), any(multiplicity for _, multiplicity in runs))
        present = [(index, score, multiplicity) for index, (score, multiplicity) in enumerate(runs) if multiplicity]
        self.parts = math.lcm(*{score.denominator for _, score, _ in present})
        self.size = sum(multiplicity for _, _, multiplicity in present)
        best = max(int(score * self.parts) for _, score, _ in present)
        self._runs = [(index, best - int(score * self.parts), multiplicity) for index, score, multiplicity in present]

    def near(self, reach: int) -> Iterable[tuple[int, int, int]]:
        return (run for run in self._runs if run[1] < reach)


class _RankedArrays(_Ranked):
    parts = 1

    def __init__(self, runs: RunArrays) -> None:
        import numpy as np

        _require(bool((runs.multiplicities >= 0).all()), bool(runs.multiplicities.any()))
        self._present = np.flatnonzero(runs.multiplicities)
        scores, self._multiplicities = runs.scores[self._present], runs.multiplicities[self._present]
        self.size = sum(self._multiplicities.tolist())
        if max(int(scores.max()) - int(scores.min()), self.size) >= _SAFE:
            raise ValueError("scores must lie less than 2**62 apart, and candidates be fewer")
        self._behind = scores.max() - scores

    def near(self, reach: int) -> Iterable[tuple[int, int, int]]:
        kept = self._behind < min(reach, _SAFE)
        columns = (self._present[kept], self._behind[kept], self._multiplicities[kept])
        return zip(*(column.tolist() for column in columns), strict=True)


def _require(countable: bool, present: bool) -> None:
    if not countable:
        raise ValueError("multiplicities must not be negative")
    if not present:
        raise ValueError("at least one candidate is needed")


# --- one pool ---------------------------------------------------------------------------------------------------------


class _Weights:
    """Draws a pool with probability proportional to size * exp(-whole), digit by digit as far as needed.

    Pools stand in a line, best first, each as long as its weight. What lies behind the pools in use is the end of the
    line, at most one unit of precision for each candidate there.
    """

    def __init__(self, ranked: _Ranked, rate: Fraction) -> None:
        self._ranked, self._rate = ranked, rate
        self._enclose(128 + ranked.size.bit_length())

    def draw(self, entropy: Entropy) -> _Pool:
        """A pool. Reads nothing when there is only one."""
        if len(self._low) == 1:
            return self._pools[0]
        drawn = bits = 0
        while True:
            drawn = drawn << _WORD | int.from_bytes(entropy.read(_WORD // 8), "big")
            bits += _WORD
            first, last = self._places(drawn, bits)
            if first == last:
                return self._pools[first]

    def _places(self, drawn: int, bits: int) -> tuple[int, int]:
        """The pools at both ends of the stretch that was drawn, with as much precision as it takes to know them."""
        while True:
            precision = self._precision
            first, last = self._boundaries_up_to(drawn, bits), self._boundaries_up_to(drawn + 1, bits)
            if precision != self._precision:
                continue  # there are more pools now than when `first` was found
            if first < len(self._pools):
                return first, last
            self._enclose(2 * precision)

    def _boundaries_up_to(self, drawn: int, bits: int) -> int:
        """How many inner boundaries of the line lie at or below drawn / 2**bits, decided rigorously.

        A boundary is a ratio of two different polynomials in exp(-1), hence never rational: more precision
        always decides, and the ends 0 and 1 need none.
        """
        if drawn == 0:
            return 0
        while True:
            inner = len(self._low) - 1
            if drawn == 1 << bits:
                return inner
            below = bisect_right(self._high, drawn * self._total_low >> bits, hi=inner)
            above = bisect_right(self._low, drawn * self._total_high >> bits, hi=inner)
            if below == above:
                return below
            self._enclose(2 * self._precision)

    def _enclose(self, precision: int) -> None:
        self._precision = precision
        self._pools = self._ranked.pools(self._rate, precision)
        pairs = [enclose_exp_minus(Fraction(pool.whole), bits=precision) for pool in self._pools]
        sizes = [pool.size for pool in self._pools]
        lows = [size * low for size, (low, _) in zip(sizes, pairs, strict=True)]
        highs = [size * high for size, (_, high) in zip(sizes, pairs, strict=True)]
        if behind := self._ranked.size - sum(sizes):  # exp(-j) < 2**-j, and j is at least the precision
            lows.append(0)
            highs.append(behind)
        self._low, self._high = list(accumulate(lows)), list(accumulate(highs))
        self._total_low, self._total_high = self._low[-1], self._high[-1]
