"""How far to trust a figure: its error as a flag, and a rule that leaves unreliable figures out.

The flags follow the habit of statistical agencies to grade estimates by their coefficient of variation; the limits
are those of the Canadian Community Health Survey [CCHS09]. They grade what is released, from noisy values and known
standard errors alone, so they disclose nothing more. Under differential privacy small or dominated cells need no
special treatment. Suppression here is about reliability, not secrecy: a figure left out may be worked out from its
neighbours by anyone who likes, so no complementary suppression is needed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Final, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.catalogue import say
from discreet.errors import ParameterInvalid
from discreet.results import Margin, Quality

__all__ = [
    "GOOD_PART",
    "GOOD_UP_TO",
    "USABLE_PART",
    "USABLE_UP_TO",
    "leave_out",
    "rate",
    "rate_many",
    "rate_widths",
    "relative_errors",
    "suppress",
    "suppress_many",
]

T = TypeVar("T")

GOOD_UP_TO: Final = 0.165
"""Relative errors up to this are good."""

USABLE_UP_TO: Final = 0.333
"""Relative errors up to this ask for caution; above it a figure is unreliable."""


GOOD_PART: Final = 0.05
"""The mean of a column that does not begin at 0 is good when its half-width is at most this part of the range."""

USABLE_PART: Final = 0.1
"""Up to this part of the range it asks for caution."""


def relative_errors(
    values: ArrayLike, standard_errors: ArrayLike, sampling: ArrayLike | None = None
) -> NDArray[np.float64]:
    """Standard error ÷ |published value|, one for each value; `sampling` are sampling variances to be added.

    A value of 0 has an infinite relative error unless it is exact. NaN, where there is no figure or no error, stays.
    Standard errors and variances may be single numbers for all values. An estimated variance below 0 counts as 0.
    """
    sizes = np.abs(np.asarray(values, dtype=np.float64))
    errors = np.asarray(standard_errors, dtype=np.float64)
    if sampling is not None:
        errors = np.sqrt(errors**2 + np.maximum(np.asarray(sampling, dtype=np.float64), 0))
    sizes, errors = np.broadcast_arrays(sizes, errors)
    relative = np.full(sizes.shape, np.inf)
    np.divide(errors, sizes, out=relative, where=sizes != 0)
    relative[errors == 0] = 0.0
    relative[np.isnan(errors) | np.isnan(sizes)] = np.nan
    return relative


def rate(value: float, standard_error: float, *, sampling_variance: float | None = None) -> Quality:
    """The flag of one published value."""
    return rate_many([value], [standard_error], None if sampling_variance is None else [sampling_variance])[0]


def rate_many(values: ArrayLike, standard_errors: ArrayLike, sampling: ArrayLike | None = None) -> list[Quality]:
    """The flags of many published values, in their order; NOT_RATED where there is no figure or no error."""
    return _grade(relative_errors(values, standard_errors, sampling).ravel(), (GOOD_UP_TO, USABLE_UP_TO))


def rate_widths(half_widths: NDArray[np.float64], limits: tuple[float, float]) -> list[Quality]:
    """The flags of many means by their half-widths: good up to the first limit, caution up to the second."""
    return _grade(half_widths, limits)


def _grade(errors: NDArray[np.float64], limits: tuple[float, float]) -> list[Quality]:
    grades = np.searchsorted(limits, errors, side="left")
    grades[np.isnan(errors)] = 3
    order = (Quality.GOOD, Quality.CAUTION, Quality.UNRELIABLE, Quality.NOT_RATED)
    return [order[grade] for grade in grades.tolist()]


def suppress(value: float, standard_error: float, *, above: Decimal, sampling_variance: float | None = None) -> bool:
    """Whether one published value is left out: its relative error is above the limit."""
    sampling: Sequence[float] | None = None if sampling_variance is None else [sampling_variance]
    return bool(suppress_many([value], [standard_error], sampling, above=above)[0])


def suppress_many(
    values: ArrayLike, standard_errors: ArrayLike, sampling: ArrayLike | None = None, *, above: Decimal
) -> NDArray[np.bool_]:
    """Which of many published values are left out. What has no relative error stays as it is."""
    if not above.is_finite() or above <= 0:
        raise ParameterInvalid(
            parameter="suppress above",
            rule=say("must be a positive relative error, such as {usable_up_to}", usable_up_to=USABLE_UP_TO),
            given=str(above),
        )
    left_out: NDArray[np.bool_] = relative_errors(values, standard_errors, sampling) > float(above)
    return left_out


def leave_out(columns: Margin, indices: Sequence[int], why: Quality = Quality.SUPPRESSED) -> Margin:
    """The figures without the numbers at these places, marked with the reason."""
    if not indices:
        return columns

    def without(column: Sequence[T] | None, mark: T) -> list[T] | None:
        if column is None:
            return None
        kept = list(column)
        for index in indices:
            kept[index] = mark
        return kept

    return replace(
        columns,
        values=without(columns.values, None) or [],
        raw=without(columns.raw, None),
        low=without(columns.low, None),
        high=without(columns.high, None),
        quality=without(columns.quality, why),
        uncalibrated=without(columns.uncalibrated, None),
    )
