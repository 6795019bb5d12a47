"""Quantiles and extremes: a choice among all values a column can have, by how well they split the rows.

Guarantee: pure DP, epsilon = 2 * sensitivity * rate, over all cells together.
Requires:  a unit moves the scores, added up over cells, by at most the sensitivity of `plan.calculus`; the candidates
           are the whole steps between two public ends.
Proof:     docs/proofs/quantiles.md
Refs:      [MT07].

The candidates are never listed: between two neighbouring values of the rows all of them have one score, so they form
a run, and a run costs as much as a single point.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import lru_cache, reduce
from typing import Any, Final

from discreet.engines import Histogram, HistogramArrays
from discreet.mechanisms import NoisyMax
from discreet.noise import RunArrays
from discreet.sql import Extreme, Quantile

__all__ = ["DEPTH_LEVEL", "choose", "depth"]

# How surely the chosen extreme does not lie beyond the rows: it decides how deep the choice aims.
DEPTH_LEVEL: Final = "0.95"

Score = Callable[[Any, Any], Any]
_SAFE: Final = 1 << 60


def choose(
    measure: Quantile | Extreme, histogram: Histogram, mechanism: NoisyMax, *, candidates: tuple[int, int]
) -> int:
    """One of the candidates, likelier the better it splits the rows of a cell."""
    if isinstance(histogram, HistogramArrays) and len(histogram) and _fits(measure, histogram, mechanism, candidates):
        return _choose_in_arrays(measure, histogram, mechanism, candidates)
    stretches = list(_stretches(histogram, candidates))
    parts, score = _score(measure, sum(count for _, count in histogram), mechanism, candidates)
    # Scores in whole parts of a row, at a rate per part: the same law, without a fraction for every run.
    finer = replace(mechanism, rate=mechanism.rate / parts)
    chosen = finer.release([(score(below, above), length) for _, length, below, above in stretches])
    return stretches[chosen.run][0] + chosen.offset


def _fits(
    measure: Quantile | Extreme, histogram: HistogramArrays, mechanism: NoisyMax, candidates: tuple[int, int]
) -> bool:
    """Whether no score and no candidate leaves 64 bits."""
    rows = sum(histogram.counts.tolist())
    largest = measure.rank.denominator * rows if isinstance(measure, Quantile) else rows
    return bool(max(largest, depth(mechanism, candidates=candidates), *map(abs, candidates)) < _SAFE)


def _choose_in_arrays(
    measure: Quantile | Extreme, histogram: HistogramArrays, mechanism: NoisyMax, candidates: tuple[int, int]
) -> int:
    """The same choice for a long histogram: its stretches stand in arrays, empty ones among them."""
    import numpy as np

    values, rows = histogram.values, np.cumsum(histogram.counts)
    first, length = np.empty(2 * len(values) + 1, dtype=np.int64), np.ones(2 * len(values) + 1, dtype=np.int64)
    below, above = np.empty_like(first), np.empty_like(first)
    first[1::2] = values
    first[0::2] = np.concatenate([[candidates[0]], values + 1])
    length[0::2] = np.concatenate([values, [candidates[1] + 1]]) - first[0::2]
    below[1::2], above[1::2] = rows - histogram.counts, rows[-1] - rows
    below[0::2] = np.concatenate([[0], rows])
    above[0::2] = rows[-1] - below[0::2]
    parts, score = _score(measure, int(rows[-1]), mechanism, candidates, lambda *each: reduce(np.maximum, each))
    chosen = replace(mechanism, rate=mechanism.rate / parts).release(RunArrays(score(below, above), length))
    return int(first[chosen.run]) + chosen.offset


@lru_cache(maxsize=256)
def depth(mechanism: NoisyMax, *, candidates: tuple[int, int]) -> int:
    """How many rows a chosen maximum aims to leave above it, a minimum below it; public.

    A score that only counted rows above would be the same for every point beyond the last row, and such points may be
    many. Aiming this deep, all of them together are chosen with probability at most 1 - DEPTH_LEVEL, when the cell has
    that many rows.
    """
    return mechanism.half_width(DEPTH_LEVEL, candidates=candidates[1] - candidates[0] + 1)


def _score(
    measure: Quantile | Extreme,
    total: int,
    mechanism: NoisyMax,
    candidates: tuple[int, int],
    most: Callable[..., Any] = max,
) -> tuple[int, Score]:
    """In how many parts a row is counted, and the score of a point by the rows below and above it; never above 0.

    With a `most` for arrays it gives the scores of many points.
    """
    if isinstance(measure, Quantile):
        share, parts = measure.rank.numerator, measure.rank.denominator
        most_below, most_above = share * total, (parts - share) * total
        return parts, lambda below, above: -most(0, parts * below - most_below, parts * above - most_above)
    aim = depth(mechanism, candidates=candidates)
    if measure.largest:
        return 1, lambda _, above: -abs(above - aim)
    return 1, lambda below, _: -abs(below - aim)


def _stretches(histogram: Histogram, candidates: tuple[int, int]) -> Iterator[tuple[int, int, int, int]]:
    """(first candidate, how many, rows below, rows above) of the maximal stretches between and at the rows' values."""
    start, last = candidates
    above = sum(count for _, count in histogram)
    below = 0
    for value, count in histogram:
        if value > start:
            yield start, value - start, below, above
        above -= count
        yield value, 1, below, above
        below += count
        start = value + 1
    if start <= last:
        yield start, last - start + 1, below, above
