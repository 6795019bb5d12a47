"""Bounded Laplace: a report on the grid itself, the less likely the further from the position.

Guarantee: local DP, epsilon per answer, for the respondent who gave it.
Requires:  a grid fixed before the answers are known; each respondent draws alone, once per answer.
Proof:     docs/proofs/local-numbers.md
Refs:      [HABM18]; over the whole grid its fixed point is the plain scale grid/ε.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import accumulate
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from discreet.collect.randomisers.grid import LARGEST_TABLE, GridRandomiser, check_positions
from discreet.collect.randomisers.laplace_number import decay, laplace_scale
from discreet.noise import Entropy, geometric_array

if TYPE_CHECKING:
    from numpy import float64, int64
    from numpy.typing import NDArray

__all__ = ["BoundedLaplace"]


class BoundedLaplace(GridRandomiser):
    """Reports y from 0 to grid with a chance proportional to exp(-|y - x|·ε/grid), normalised for each x.

    Reports look like answers, but their plain mean is biased towards the middle. The one unbiased value weighs the
    two ends so heavily that its variance grows with the cube of the grid: use it on coarse grids only.
    """

    __slots__ = ()
    name: ClassVar[str] = "bounded-laplace"
    largest_grid: ClassVar[int] = LARGEST_TABLE

    def report_range(self) -> tuple[int, int]:
        """The grid itself."""
        return 0, self.grid

    def randomise(self, entropy: Entropy, answers: NDArray[int64]) -> NDArray[int64]:
        """One independent report for each position, by rejection; each round accepts with a chance of at least half."""
        positions = check_positions(answers, grid=self.grid)
        reports = np.empty_like(positions)
        pending = np.arange(positions.size)
        while pending.size:
            # the remainder of a geometric draw is a geometric draw cut off at the grid
            drawn = geometric_array(entropy, scale=laplace_scale(self), count=pending.size) % (self.grid + 1)
            downwards = np.frombuffer(entropy.read(pending.size), dtype=np.uint8) & 1 == 1
            tried = positions[pending] + np.where(downwards, -drawn, drawn)
            # staying in place has one sign, or it would come twice as often
            accepted = (tried >= 0) & (tried <= self.grid) & ~(downwards & (drawn == 0))
            reports[pending[accepted]] = tried[accepted]
            pending = pending[~accepted]
        return reports

    def values(self, reports: NDArray[Any]) -> NDArray[float64]:
        """The only unbiased value there is: the channel has as many reports as positions and can be inverted."""
        return np.asarray(_first_values(self)[reports] + self.grid / 2)

    def variances(self, reports: NDArray[Any]) -> NDArray[float64]:
        """An estimate for each report whose mean is exactly the variance at its position; it may be negative."""
        return np.asarray((_first_values(self) ** 2 - _second_values(self))[reports])

    def variance(self, positions: NDArray[float64]) -> NDArray[float64]:
        """From exact sums over all reports; between positions on a straight line."""
        return np.interp(positions, np.arange(self.grid + 1), _variance_table(self))


def _powers(randomiser: BoundedLaplace) -> tuple[NDArray[float64], NDArray[float64]]:
    """a^(y+1) and a^(grid-y+1) for every y."""
    rate = float(randomiser.epsilon) / randomiser.grid
    steps = np.arange(1, randomiser.grid + 2)
    rising = np.exp(-rate * steps)
    return rising, rising[::-1]


@lru_cache(maxsize=8)
def _first_values(randomiser: BoundedLaplace) -> NDArray[float64]:
    """f(y) with E[f] = τ, the position's distance from the middle; the ends carry what lies beyond them."""
    a, rest = decay(randomiser)
    from_low, from_high = _powers(randomiser)
    values = np.arange(randomiser.grid + 1) - randomiser.grid / 2 + (from_high - from_low) / rest
    end = a**2 * (1 - from_high[0]) / (rest**2 * (1 + a))
    values[0] -= end
    values[-1] += end
    values.setflags(write=False)
    return values


@lru_cache(maxsize=8)
def _second_values(randomiser: BoundedLaplace) -> NDArray[float64]:
    """The same for E = τ²."""
    a, rest = decay(randomiser)
    from_low, from_high = _powers(randomiser)
    centred = np.arange(randomiser.grid + 1) - randomiser.grid / 2
    spread = (1 + a**2) / (rest * (1 + a))
    values = np.asarray(centred**2 - 2 * a / rest**2, dtype=np.float64)
    values += (from_low * (spread - 2 * centred) + from_high * (spread + 2 * centred)) / rest
    end = a**2 * (1 - from_high[0]) * (randomiser.grid + 1) / (rest**2 * (1 + a))
    values[0] += end
    values[-1] += end
    values.setflags(write=False)
    return values


@lru_cache(maxsize=8)
def _variance_table(randomiser: BoundedLaplace) -> NDArray[float64]:
    """The variance at each position, by running sums from both ends: Σ a^|y-x| f(y)² over Σ a^|y-x|."""
    squares = _first_values(randomiser) ** 2
    centred = np.arange(randomiser.grid + 1) - randomiser.grid / 2
    table = _spread_sums(randomiser, squares) / _spread_sums(randomiser, squares**0) - centred**2
    table.setflags(write=False)
    return table


def _spread_sums(randomiser: BoundedLaplace, values: NDArray[float64]) -> NDArray[float64]:
    a, _ = decay(randomiser)
    upwards = np.array(list(accumulate(values.tolist(), lambda total, value: a * total + value)))
    downwards = np.array(list(accumulate(values[::-1].tolist(), lambda total, value: a * total + value)))[::-1]
    return np.asarray(upwards + downwards - values)
