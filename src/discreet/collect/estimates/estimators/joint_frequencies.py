"""Cross-tables and correlations of columns that the same respondents randomised one by one.

Guarantee: post-processing of reports; costs nothing.
Requires:  the reports of a respondent are drawn independently of each other, given the answers; public weights.
Proof:     docs/proofs/local-estimates.md
Refs:      [WBLJ17] for one column; the tensor product of two channels is inverted side by side.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.catalogue import say
from discreet.collect.estimates.estimators.estimated_arrays import EstimatedArray
from discreet.collect.estimates.estimators.frequencies import Moments, inclusion_chance, widen
from discreet.collect.estimates.estimators.scores import Scores, names_one_category, supported
from discreet.collect.estimates.estimators.sums import multiply_columns, split_weights, sum_terms
from discreet.collect.estimates.estimators.tallies import WeightedCells
from discreet.collect.randomisers.randomiser import Channel, FrequencyOracle

if TYPE_CHECKING:
    from numpy import bool_, float64, int64
    from numpy.typing import NDArray

__all__ = ["CorrelationMatrix", "JointFrequencies", "correlation_matrix", "estimate_joint"]


@dataclass(frozen=True, slots=True, eq=False)
class JointFrequencies(EstimatedArray):
    """Estimated weighted counts, cells × left categories × right categories; variances as in `Frequencies`."""


@dataclass(frozen=True, slots=True)
class _Sums:
    """Exact sums of weights over reports that support a pair, the left, the right category, and over all of them."""

    pair: NDArray[int64]
    left: NDArray[int64]
    right: NDArray[int64]
    all: NDArray[int64]


def estimate_joint(
    left: FrequencyOracle,
    left_reports: NDArray[Any],
    right: FrequencyOracle,
    right_reports: NDArray[Any],
    *,
    cells: NDArray[int64],
    weights: NDArray[int64],
    number: int,
    inclusion: float | Fraction = 1.0,
    level: float = 0.95,
) -> JointFrequencies:
    """Unbiased weighted counts of every pair of categories, from respondents who reported both columns.

    `inclusion` is the chance with which a respondent was asked both (`Plan.pair_inclusion`).
    """
    chance = inclusion_chance(inclusion)
    WeightedCells(cells, weights, number)  # checked here: sums of these weights and of their squares are exact
    sides = ((left, left_reports), (right, right_reports))
    channels = left.channel(), right.channel()
    first, second = (
        _sum_pairs(sides, cells=cells, weights=scale, number=number) for scale in (weights, weights * weights)
    )
    estimates = _invert(first, channels) / chance
    variances = _variances(second, channels, chance)
    unheard = (np.bincount(cells, minlength=number) == 0)[:, None, None] & (chance < 1)
    return JointFrequencies(estimates=estimates, variances=np.where(unheard, np.inf, variances), level=level)


def _sum_pairs(
    sides: tuple[tuple[FrequencyOracle, NDArray[Any]], tuple[FrequencyOracle, NDArray[Any]]],
    *,
    cells: NDArray[int64],
    weights: NDArray[int64],
    number: int,
) -> _Sums:
    (left, left_reports), (right, right_reports) = sides
    shape = (number, left.categories, right.categories)
    if names_one_category(left) and names_one_category(right):
        index = (cells * left.categories + left_reports) * right.categories + right_reports
        pair = _count(index, weights, int(np.prod(shape))).reshape(shape)
        return _Sums(pair, pair.sum(axis=2), pair.sum(axis=1), pair.sum(axis=(1, 2)))
    sums = _Sums(
        np.zeros(shape, dtype=np.int64),
        np.zeros(shape[:2], dtype=np.int64),
        np.zeros((number, right.categories), dtype=np.int64),
        _count(cells, weights, number),
    )
    chunks = zip(supported(left, left_reports), supported(right, right_reports), strict=True)
    for (rows, supports), (_, others) in chunks:
        _add_chunk(sums, (supports, others), cells[rows], weights[rows])
    return sums


def _add_chunk(
    sums: _Sums, supports: tuple[NDArray[int64], NDArray[int64]], cells: NDArray[int64], weights: NDArray[int64]
) -> None:
    for cell in np.unique(cells):
        here = cells == cell
        left, right = (support[here].astype(np.float64) for support in supports)
        for power, part in split_weights(weights[here]):
            # zeros, ones and parts below 2**26: these float products are whole numbers and exact
            weighted = left * part[:, None]
            sums.pair[cell] += (weighted.T @ right).astype(np.int64) << power
            sums.left[cell] += weighted.sum(axis=0).astype(np.int64) << power
            sums.right[cell] += (right * part[:, None]).sum(axis=0).astype(np.int64) << power


def _count(index: NDArray[int64], weights: NDArray[int64], number: int) -> NDArray[int64]:
    total = np.zeros(number, dtype=np.int64)
    for power, part in split_weights(weights):
        total += np.bincount(index, weights=part, minlength=number).astype(np.int64) << power
    return total


def _invert(sums: _Sums, channels: tuple[Channel, Channel]) -> NDArray[float64]:
    """The tensor inverse of both channels, applied to the sums of pairs."""
    one, two = channels
    contrast = (one.p - one.q) * (two.p - two.q)
    rest = one.q * two.q * sums.all[:, None, None]
    margins = two.q * sums.left[:, :, None] + one.q * sums.right[:, None, :]
    inverted: NDArray[float64] = (sums.pair - margins + rest) / contrast
    return inverted


def _variances(squares: _Sums, channels: tuple[Channel, Channel], chance: float) -> NDArray[float64]:
    one, two = (Moments.of(channel) for channel in channels)
    total = squares.all[:, None, None] / chance
    left, right = (
        (sums - channel.q * squares.all[:, None]) / ((channel.p - channel.q) * chance)
        for sums, channel in zip((squares.left, squares.right), channels, strict=True)
    )
    parts = (
        (one.own * two.other / chance, left[:, :, None]),
        (one.other * two.own / chance, right[:, None, :]),
        (one.own * two.own / chance - 1, _invert(squares, channels) / chance),
    )
    variances = one.other * two.other / chance * total
    for coefficient, sums in parts:
        variances = variances + widen(coefficient, sums, total)
    return np.maximum(variances, 0.0)


@dataclass(frozen=True, slots=True, eq=False)
class CorrelationMatrix:
    """Corrected correlations of each pair of columns: nan where none can be given, and then `reasons` says why.

    `clipped` marks those that noise had carried beyond −1 or 1. The diagonal is 1 where the column's own variance
    estimate is positive.
    """

    matrix: NDArray[float64]
    clipped: NDArray[bool_]
    reasons: Mapping[tuple[int, int], str]


def correlation_matrix(columns: Sequence[Scores], *, weights: NDArray[int64]) -> CorrelationMatrix:
    """Weighted correlations of the values behind the reports, each over respondents who have both values.

    Covariances of independent reports need no correction; variances are estimated from the unbiased squares. The
    same whatever the order of the rows.
    """
    both, sums, products, squares = _moments(columns, weights)
    heard = both > 0
    divisor = np.where(heard, both, 1.0)
    means = sums / divisor
    variances = squares / divisor - means**2
    covariances = products / divisor - means * means.T
    known = np.array([column.squares is not None for column in columns])
    positive = heard & (variances > 0) & (variances.T > 0) & known & known[:, None]
    scale = np.sqrt(np.where(positive, variances * variances.T, 1.0))
    raw = np.where(positive, covariances / scale, np.nan)
    matrix = np.clip(raw, -1.0, 1.0)
    clipped = np.abs(np.where(positive, raw, 0.0)) > 1
    np.fill_diagonal(matrix, np.where(np.diag(positive), 1.0, np.nan))
    np.fill_diagonal(clipped, False)
    reasons = {
        (one, two): _reason(bool(heard[one, two]), known=bool(known[one] and known[two]))
        for one, two in np.argwhere(~positive).tolist()
    }
    return CorrelationMatrix(matrix=matrix, clipped=clipped, reasons=reasons)


def _moments(
    columns: Sequence[Scores], weights: NDArray[int64]
) -> tuple[NDArray[float64], NDArray[float64], NDArray[float64], NDArray[float64]]:
    """For each pair (a, b) the weighted sums of presences, of a's values, of products, of a's squares where b is."""
    size, scale, root = len(columns), weights.astype(np.float64), np.sqrt(weights)
    parts = [_centred(column, scale) for column in columns]
    own = np.array([sums for _, sums in parts]).T[:, :, None]
    if all(bool(np.all(column.presence == 1)) for column in columns):
        values = np.stack([root * centred[1] for centred, _ in parts]).T
        present, sums, squares = (np.broadcast_to(alone, (size, size)) for alone in own)
        return present, sums, multiply_columns(values, values), squares
    blocks = np.empty((3, size, len(scale)))
    for index, (centred, _) in enumerate(parts):
        for block, part in zip(blocks, centred, strict=True):
            np.multiply(root, part, out=block[index])
    together = blocks.reshape(3 * size, -1).T
    products = multiply_columns(together, together)[: 2 * size]
    shared = [products[:size, part * size : (part + 1) * size].T for part in range(3)]
    # a column's presence and squares come from one report: only between two columns is their product unbiased
    same = np.eye(size, dtype=np.bool_)
    present, sums, squares = (np.where(same, alone, table) for alone, table in zip(own, shared, strict=True))
    return present, sums, products[size:, size : 2 * size], squares


def _centred(column: Scores, scale: NDArray[float64]) -> tuple[list[NDArray[float64]], list[float]]:
    """Presence, values and squares around about the mean, and their sums; any centre gives the same correlations."""
    unbiased = np.zeros(len(scale)) if column.squares is None else column.squares
    presence, values, squares = (sum_terms(scale * part) for part in (column.presence, column.values, unbiased))
    centre = values / presence if presence > 0 else 0.0
    parts = [
        column.presence,
        column.values - centre * column.presence,
        unbiased - 2 * centre * column.values + centre**2 * column.presence,
    ]
    return parts, [presence, values - centre * presence, squares - 2 * centre * values + centre**2 * presence]


def _reason(heard: bool, *, known: bool) -> str:
    if not known:
        return say("the reports of one of the two columns do not tell how far its answers spread")
    if not heard:
        return say("nobody is known to have values in both columns")
    return say("a variance estimate is not positive: the noise outweighs what the answers hold")
