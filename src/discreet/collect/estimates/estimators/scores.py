"""What single reports say: which categories they support, and unbiased values with unbiased squares.

A report says little about its respondent; these arrays are only good for sums over many. Where a value is missing,
or may be missing under protection, `presence` is an unbiased estimate of 1 (there is a value) or 0 (there is none).
Some reports hold no square: those with two possible values around the middle look the same however the answers spread.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from discreet.collect.randomisers.bounded_laplace import BoundedLaplace
from discreet.collect.randomisers.hybrid import Hybrid
from discreet.collect.randomisers.laplace_number import LaplaceNumber
from discreet.collect.randomisers.missing_numbers import NumberOrMissing, SplitNumber
from discreet.collect.randomisers.piecewise import Piecewise
from discreet.collect.randomisers.randomiser import FrequencyOracle, NumberRandomiser

if TYPE_CHECKING:
    from numpy import bool_, float64, int64
    from numpy.typing import NDArray

__all__ = [
    "Scores",
    "names_one_category",
    "score_categories",
    "score_numbers",
    "score_numbers_or_missing",
    "score_truths",
    "supported",
]

_CHUNK: Final = 1 << 14
_EXACT_VARIANCES: Final = (LaplaceNumber, Piecewise, BoundedLaplace, Hybrid)


@dataclass(frozen=True, slots=True, eq=False)
class Scores:
    """For each respondent estimates of x·a, x²·a and a: x the value behind the report, a whether there is one.

    Without `squares` no variance of the column can be estimated, hence no correlation.
    """

    values: NDArray[float64]
    squares: NDArray[float64] | None
    presence: NDArray[float64]

    def __post_init__(self) -> None:
        if self.values.ndim != 1 or any(
            part is not None and part.shape != self.values.shape for part in (self.squares, self.presence)
        ):
            raise ValueError("every respondent needs a value, a square and a presence")

    def placed(self, rows: NDArray[Any], *, respondents: int) -> Scores:
        """The same among all respondents, when only those at `rows` reported; the others have no value."""
        return Scores(
            values=_scatter(self.values, rows, respondents),
            squares=None if self.squares is None else _scatter(self.squares, rows, respondents),
            presence=_scatter(self.presence, rows, respondents),
        )


def score_truths(values: NDArray[float64], *, present: NDArray[bool_] | None = None) -> Scores:
    """Scores of answers that were given in clear, such as static columns."""
    there = np.ones(values.shape, dtype=np.bool_) if present is None else present
    known = np.where(there, values, 0.0)
    return Scores(values=known, squares=known**2, presence=there.astype(np.float64))


def score_numbers(randomiser: NumberRandomiser, reports: NDArray[Any]) -> Scores:
    """Scores of randomised numbers; the square of a value is too large by its variance, which is taken off."""
    values = randomiser.values(reports)
    return Scores(values=values, squares=_squares(randomiser, reports, values), presence=np.ones(values.shape))


def score_numbers_or_missing(randomiser: NumberOrMissing, reports: NDArray[Any]) -> Scores:
    """Scores of numbers whose absence is protected."""
    pairs, squares = randomiser.pairs(reports), None
    if isinstance(randomiser, SplitNumber):
        inner = score_numbers(randomiser.number, reports[:, 1])
        middle = randomiser.grid // 2
        if inner.squares is not None:
            # whoever has no number reports the middle in its place
            squares = inner.squares - middle**2 * (1 - pairs.below)
    return Scores(values=pairs.above, squares=squares, presence=pairs.below)


def score_categories(
    oracle: FrequencyOracle,
    reports: NDArray[Any],
    *,
    scores: NDArray[float64] | None = None,
    missing: int | None = None,
) -> Scores:
    """Scores of randomised categories: their positions, or the `scores` given; `missing` is the category without one.

    The debiased indicators of a report are unbiased, so any weighted sum of them is: with weights s for the score,
    s² for its square, and 1 for presence.
    """
    marks = np.arange(oracle.categories, dtype=np.float64) if scores is None else np.array(scores, dtype=np.float64)
    if marks.shape != (oracle.categories,):
        raise ValueError("every category needs one score")
    present = np.ones(oracle.categories)
    if missing is not None:
        marks[missing] = present[missing] = 0.0
    values = _sum_debiased(oracle, reports, np.stack([marks, marks**2, present]))
    return Scores(
        values=values[0], squares=values[1], presence=np.ones_like(values[2]) if missing is None else values[2]
    )


def supported(oracle: FrequencyOracle, reports: NDArray[Any]) -> Iterator[tuple[slice, NDArray[int64]]]:
    """Which categories each report supports, as 0 and 1, reports × categories, some thousand reports at a time."""
    for start in range(0, len(reports), _CHUNK):
        part = reports[start : start + _CHUNK]
        people = np.arange(len(part), dtype=np.int64)
        tally = oracle.tally(part, cells=people, weights=np.ones_like(people), number=len(part))
        yield slice(start, start + len(part)), tally.support


def names_one_category(oracle: FrequencyOracle) -> bool:
    """Whether a report is itself the one category that it supports, so that tables can be looked up."""
    return oracle.name == "grr"


def _scatter(given: NDArray[float64], rows: NDArray[Any], respondents: int) -> NDArray[float64]:
    placed = np.zeros(respondents)
    placed[rows] = given
    return placed


def _squares(randomiser: NumberRandomiser, reports: NDArray[Any], values: NDArray[float64]) -> NDArray[float64] | None:
    """Unbiased squares of the positions, from randomisers whose variance estimates are exact on average."""
    if not isinstance(randomiser, _EXACT_VARIANCES):
        return None
    middle, heard = randomiser.grid / 2, 1.0
    if isinstance(randomiser, Hybrid):
        # where the coarse half speaks, square and variance estimate around the middle cancel and nothing is heard
        heard = 1 - randomiser.coarse_share()
        if heard == 0:
            return None
    around = ((values - middle) ** 2 - randomiser.variances(reports)) / heard
    return around + 2 * middle * values - middle**2


def _sum_debiased(oracle: FrequencyOracle, reports: NDArray[Any], marks: NDArray[float64]) -> NDArray[float64]:
    """For each row of `marks` and each report the sum over categories of mark times debiased indicator."""
    channel = oracle.channel()
    contrast = channel.p - channel.q
    constant = channel.q * marks.sum(axis=1) / contrast
    if names_one_category(oracle):
        table: NDArray[float64] = marks / contrast - constant[:, None]
        looked_up: NDArray[float64] = table[:, reports]
        return looked_up
    sums = np.empty((len(marks), len(reports)))
    for rows, support in supported(oracle, reports):
        # category by category, so that what a report adds up to does not depend on its place among the others
        for row, mark in zip(sums, marks, strict=True):
            part = np.zeros(len(support))
            for category, weight in enumerate(mark):
                if weight:
                    part += weight * support[:, category]
            row[rows] = part
    debiased: NDArray[float64] = sums / contrast - constant[:, None]
    return debiased
