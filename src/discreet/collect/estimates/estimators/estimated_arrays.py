"""Arrays of estimates that know their variances and their intervals.

Intervals are normal ones around the estimate, unless ends are given. What a variance holds (privacy noise alone, or
the sampling of people too) is said by whoever made it.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np

from discreet.catalogue import say
from discreet.errors import ParameterInvalid

if TYPE_CHECKING:
    from numpy import float64
    from numpy.typing import NDArray

__all__ = ["EstimatedArray", "WithEnds", "normal_quantile"]


def normal_quantile(level: float) -> float:
    """How many standard deviations around its mean hold a normal variable with this probability."""
    if not 0 < level < 1:
        raise ParameterInvalid(parameter="level", rule=say("must lie between 0 and 1, both excluded"), given=str(level))
    return NormalDist().inv_cdf((1 + level) / 2)


@dataclass(frozen=True, slots=True, eq=False)
class EstimatedArray:
    """Estimates of one shape, with a variance each; an infinite variance means that nothing can be said."""

    estimates: NDArray[float64]
    variances: NDArray[float64]
    level: float

    def __post_init__(self) -> None:
        normal_quantile(self.level)
        if self.estimates.shape != self.variances.shape:
            raise ValueError("every estimate needs its variance")
        if not np.all(self.variances >= 0):
            raise ValueError("a variance is zero or more")

    @property
    def half_widths(self) -> NDArray[float64]:
        """How far the interval reaches to either side."""
        return normal_quantile(self.level) * np.sqrt(self.variances)

    @property
    def low(self) -> NDArray[float64]:
        """The lower ends of the intervals; -inf where nothing can be said."""
        return self._end(-1)

    @property
    def high(self) -> NDArray[float64]:
        """The upper ends of the intervals; inf where nothing can be said."""
        return self._end(1)

    def _end(self, side: int) -> NDArray[float64]:
        reach = side * self.half_widths
        return np.where(np.isinf(reach), reach, self.estimates + reach)


@dataclass(frozen=True, slots=True, eq=False)
class WithEnds(EstimatedArray):
    """Estimates whose intervals are not the normal ones: they come with their `ends`, low and high."""

    ends: tuple[NDArray[float64], NDArray[float64]]

    @property
    def low(self) -> NDArray[float64]:
        """The lower ends of the intervals; -inf where nothing can be said."""
        return self.ends[0]

    @property
    def high(self) -> NDArray[float64]:
        """The upper ends of the intervals; inf where nothing can be said."""
        return self.ends[1]
