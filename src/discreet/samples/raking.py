"""Tables fitted to published totals, rounded without drift, and dealt out to people.

`draw` is the whole way: a plausible seed table, one row per group of like people and one column per answer,
is scaled until its rows add up to the groups and its parts to the published totals; it is rounded to whole
people; and each group's answers are dealt to its members at random. `rake` does for survey weights what `fit`
does for tables.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Floats", "Integers", "TableMargin", "WeightMargin", "deal", "draw", "fit", "rake", "round_rows"]

Floats = NDArray[np.float64]
Integers = NDArray[np.signedinteger]

_SWEEPS = 60
_CLOSE = 1e-5


@dataclass(frozen=True, slots=True)
class TableMargin:
    """Totals for blocks of a table: row i and column j belong to the block totals[rows[i], columns[j]]."""

    rows: Integers
    columns: Integers
    totals: Floats

    def __post_init__(self) -> None:
        if self.totals.ndim != 2 or self.rows.max() >= self.totals.shape[0]:
            raise ValueError("a margin needs one row of totals for each row label")
        if self.columns.max() >= self.totals.shape[1]:
            raise ValueError("a margin needs one column of totals for each column label")


@dataclass(frozen=True, slots=True)
class WeightMargin:
    """Totals for people's weights: person i belongs to the block totals[codes[i]]."""

    codes: Integers
    totals: Floats


def fit(seed: Floats, sizes: Floats | Integers, margins: Sequence[TableMargin]) -> Floats:
    """The table nearest the seed (in relative entropy) whose blocks have the margins' totals.

    Zeros of the seed stay zero. Row sums equal `sizes` exactly, the margins as nearly as they agree with each
    other, the last of them best.
    """
    table = seed.astype(np.float64)
    blocks = [m.rows[:, None].astype(np.int64) * m.totals.shape[1] + m.columns[None, :] for m in margins]
    table *= _ratio(sizes, table.sum(axis=1))[:, None]
    for _ in range(_SWEEPS):
        worst = 0.0
        for margin, block in zip(margins, blocks, strict=True):
            reached = np.bincount(block.ravel(), weights=table.ravel(), minlength=margin.totals.size)
            factor = _ratio(margin.totals.ravel(), reached)
            worst = max(worst, _distance(factor, margin.totals.ravel()))
            table *= factor[block]
        table *= _ratio(sizes, table.sum(axis=1))[:, None]
        if worst < _CLOSE:
            break
    return table


def round_rows(expected: Floats) -> NDArray[np.int64]:
    """Whole numbers near `expected`, with the same row sums and nearly the same column sums.

    What rounding takes from a row is carried to the next, so that errors do not add up over the rows: any run
    of neighbouring rows keeps its column sums too. A cell that expects nobody gets nobody.
    """
    counts = np.zeros(expected.shape, dtype=np.int64)
    carried = [0.0] * expected.shape[1]
    sizes = np.rint(expected.sum(axis=1)).astype(np.int64)
    # Rows are short and depend on each other: plain numbers are quicker than arrays.
    for row in np.flatnonzero(sizes).tolist():
        means = expected[row].tolist()
        wanted = [mean + owed if mean > 0 else 0.0 for mean, owed in zip(means, carried, strict=True)]
        whole = [max(math.floor(value), 0) for value in wanted]
        while short := int(sizes[row]) - sum(whole):
            sign = 1 if short > 0 else -1
            owed = [
                (-sign * (wanted[index] - whole[index]), index)
                for index, mean in enumerate(means)
                if mean > 0 and (short > 0 or whole[index] > 0)
            ]
            for _, index in sorted(owed)[: abs(short)]:
                whole[index] += sign
        carried = [owed + (mean - got) for owed, mean, got in zip(carried, means, whole, strict=True)]
        counts[row] = whole
    return counts


def deal(rng: np.random.Generator, groups: Integers, counts: NDArray[np.int64]) -> NDArray[np.int8]:
    """For each person the column dealt to them, so that group g gets column k exactly counts[g, k] times."""
    shuffled = rng.permutation(len(groups))
    order = shuffled[np.argsort(groups[shuffled], kind="stable")]
    columns = np.tile(np.arange(counts.shape[1], dtype=np.int8), counts.shape[0])
    dealt = np.empty(len(groups), dtype=np.int8)
    dealt[order] = np.repeat(columns, counts.ravel())
    return dealt


def draw(rng: np.random.Generator, groups: Integers, seed: Floats, margins: Sequence[TableMargin]) -> NDArray[np.int8]:
    """An answer for each person: the seed says how groups lean, the margins what must come out."""
    sizes = np.bincount(groups, minlength=len(seed))
    return deal(rng, groups, round_rows(fit(seed, sizes, margins)))


def rake(weights: Floats, margins: Sequence[WeightMargin], *, least: float, most: float, pinned: Integers) -> Floats:
    """Weights scaled, margin by margin, until all totals hold; kept within [least, most].

    The people `pinned` keep the weight they came with, and the others make up for it.
    """
    raked, kept = weights.copy(), weights[pinned]
    blocks = [margin.codes.astype(np.intp) for margin in margins]
    factors = np.empty_like(raked)
    for _ in range(_SWEEPS):
        worst = 0.0
        for margin, block in zip(margins, blocks, strict=True):
            reached = np.bincount(block, weights=raked, minlength=margin.totals.size)
            factor = _ratio(margin.totals, reached)
            worst = max(worst, _distance(factor, margin.totals))
            raked *= np.take(factor, block, out=factors, mode="clip")  # no code lies outside; looking would take longer
        np.clip(raked, least, most, out=raked)
        raked[pinned] = kept
        if worst < _CLOSE:
            break
    return raked


def _ratio(wanted: Floats | Integers, reached: Floats | Integers) -> Floats:
    """wanted / reached, and 1 where there is nothing to scale."""
    ratio: Floats = np.divide(wanted, reached, out=np.ones(reached.shape), where=reached > 0)
    return ratio


def _distance(factor: Floats, totals: Floats) -> float:
    """How far the blocks are from their totals, weighed by size: one person cannot hold up the rest."""
    return float(np.abs(factor - 1) @ totals / max(totals.sum(), 1.0))
