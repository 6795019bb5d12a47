"""Laplace reports forced back into bounds: clipped, wrapped round, or made positive. For comparison only.

Guarantee: local DP, epsilon per answer: each is a Laplace report, worked on afterwards.
Requires:  a grid fixed before the answers are known; each respondent draws alone, once per answer.
Proof:     docs/proofs/local-numbers.md
Refs:      [R, Section 4]: abs() as used there, the modulo formula as proposed there.

They protect as much as plain Laplace reports, but their means are wrong by a bias that no number of respondents
averages away. `bias` states it; nothing here is ever chosen automatically.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np

from discreet.catalogue import say
from discreet.collect.randomisers.grid import LARGEST_TABLE, GridRandomiser, check_positions
from discreet.collect.randomisers.laplace_number import decay, laplace_scale, laplace_variance
from discreet.errors import ParameterInvalid
from discreet.guarantees import ExactLike, shown
from discreet.noise import Entropy, discrete_laplace_array

if TYPE_CHECKING:
    from numpy import float64, int64
    from numpy.typing import NDArray

__all__ = ["AbsoluteLaplace", "ClippedLaplace", "ModuloLaplace"]

_LARGEST_ORIGIN: Final = 1 << 48
_REACH: Final = 45


class _Comparison(GridRandomiser):
    """A Laplace report after some work on it; taken at face value, as the recipes do."""

    __slots__ = ()
    comparison_only: ClassVar[bool] = True

    def values(self, reports: NDArray[Any]) -> NDArray[float64]:
        """The report, as if it were the answer: biased."""
        return np.asarray(reports, dtype=np.float64)

    def variances(self, reports: NDArray[Any]) -> NDArray[float64]:
        """The variance of the plain noise, which clipping and folding can only shrink."""
        return np.full(len(reports), laplace_variance(self))

    def _noisy(self, entropy: Entropy, answers: NDArray[int64]) -> NDArray[int64]:
        positions = check_positions(answers, grid=self.grid)
        return positions + discrete_laplace_array(entropy, scale=laplace_scale(self), count=positions.size)


class ClippedLaplace(_Comparison):
    """The nearest position to a Laplace report: means are pulled to the middle of the grid."""

    __slots__ = ()
    name: ClassVar[str] = "clip"

    def report_range(self) -> tuple[int, int]:
        """The grid itself."""
        return 0, self.grid

    def randomise(self, entropy: Entropy, answers: NDArray[int64]) -> NDArray[int64]:
        """One independent report for each position."""
        return np.clip(self._noisy(entropy, answers), 0, self.grid)

    def variance(self, positions: NDArray[float64]) -> NDArray[float64]:
        """The mean square of the clipped noise, less the bias squared."""
        a, _ = decay(self)
        squares = self._clipped_squares(positions) + self._clipped_squares(self.grid - positions)
        return squares / (1 + a) - self.bias(positions) ** 2

    def bias(self, positions: NDArray[float64]) -> NDArray[float64]:
        """What is cut off below less what is cut off above."""
        return _overshoot(self, positions) - _overshoot(self, self.grid - positions)

    def _clipped_squares(self, room: NDArray[float64]) -> NDArray[float64]:
        """Σ (2j - 1)·a^j for j from 1 to `room`: (1 + a) times the mean of min(Z, room)² over Z > 0."""
        a, rest = decay(self)
        gone = np.expm1(-float(self.epsilon) / self.grid * room)  # a^room - 1, which may be tiny
        firsts = -a * gone / rest
        return np.asarray(2 * (firsts - room * a * (1 + gone)) / rest - firsts)


@dataclass(frozen=True, slots=True, init=False)
class _Placed(_Comparison):
    """A comparison that depends on where the grid lies: `origin` is its position 0 in steps of the measured unit."""

    origin: int

    def __init__(self, *, epsilon: ExactLike, grid: int, origin: int = 0) -> None:
        GridRandomiser.__init__(self, epsilon=epsilon, grid=grid)
        if isinstance(origin, bool) or not isinstance(origin, int) or abs(origin) > _LARGEST_ORIGIN:
            rule = say("must be a whole number of steps within ±{most}", most=_LARGEST_ORIGIN)
            raise ParameterInvalid(parameter="origin", rule=rule, given=shown(origin))
        object.__setattr__(self, "origin", origin)

    def parameters(self) -> dict[str, str]:
        """The exact parameters as text, for manifests and studies."""
        return {**GridRandomiser.parameters(self), "origin": str(self.origin)}


class AbsoluteLaplace(_Placed):
    """The absolute value of a noisy measurement: with b the scale and v the value, means rise by about b·e^(-v/b)."""

    __slots__ = ()
    name: ClassVar[str] = "abs"

    def report_range(self) -> tuple[int, int]:
        """From the measured 0 to 45 scales beyond the further end."""
        furthest = max(abs(self.origin), abs(self.origin + self.grid))
        return -self.origin, furthest + int(_REACH * laplace_scale(self)) + 1 - self.origin

    def randomise(self, entropy: Entropy, answers: NDArray[int64]) -> NDArray[int64]:
        """One independent report for each position."""
        return np.abs(self._noisy(entropy, answers) + self.origin) - self.origin

    def variance(self, positions: NDArray[float64]) -> NDArray[float64]:
        """The mean square of the noisy value, less the square of the folded mean."""
        measured = self.origin + positions
        return laplace_variance(self) + measured**2 - self._folded_mean(measured) ** 2

    def bias(self, positions: NDArray[float64]) -> NDArray[float64]:
        """The folded mean less the measured value."""
        measured = self.origin + positions
        return self._folded_mean(measured) - measured

    def _folded_mean(self, measured: NDArray[float64]) -> NDArray[float64]:
        size = np.abs(measured)
        return size + 2 * _overshoot(self, size)


class ModuloLaplace(_Placed):
    """((value + noise) % (max - min)) + min: wrapped round, and shifted even without noise unless min is a multiple.

    The formula takes the remainder of the measured value, not of its distance from min: with bounds 1.2 and 2.1 and no
    noise at all, 1.70 becomes 2.00. Wrapping then pulls every mean to the middle of the grid.
    """

    __slots__ = ()
    name: ClassVar[str] = "modulo"
    largest_grid: ClassVar[int] = LARGEST_TABLE

    def report_range(self) -> tuple[int, int]:
        """Remainders end one step below the grid."""
        return 0, self.grid - 1

    def randomise(self, entropy: Entropy, answers: NDArray[int64]) -> NDArray[int64]:
        """One independent report for each position."""
        return (self._noisy(entropy, answers) + self.origin) % self.grid

    def variances(self, reports: NDArray[Any]) -> NDArray[float64]:
        """A quarter of the squared range: wrapping can widen the noise, but no further."""
        return np.full(len(reports), (self.grid - 1) ** 2 / 4)

    def variance(self, positions: NDArray[float64]) -> NDArray[float64]:
        """From exact sums over the remainders; positions are rounded."""
        first, second = _wrapped_moments(self)
        start = self._remainders(positions)
        return second[start] - first[start] ** 2

    def bias(self, positions: NDArray[float64]) -> NDArray[float64]:
        """The mean remainder less the position; positions are rounded."""
        first, _ = _wrapped_moments(self)
        return first[self._remainders(positions)] - positions

    def _remainders(self, positions: NDArray[float64]) -> NDArray[int64]:
        return (np.rint(positions).astype(np.int64) + self.origin) % self.grid


def _overshoot(randomiser: GridRandomiser, room: NDArray[float64]) -> NDArray[float64]:
    """The mean of (Z - room)⁺ for room >= 0: a^(room+1)/(1 - a²)."""
    a, rest = decay(randomiser)
    return a ** (room + 1) / (rest * (1 + a))


@lru_cache(maxsize=8)
def _wrapped_moments(randomiser: ModuloLaplace) -> tuple[NDArray[float64], NDArray[float64]]:
    """The first two moments of (r + Z) mod grid, for each remainder r.

    Z mod grid is k with a chance proportional to a^k + a^(grid-k); k wraps where k >= grid - r.
    """
    size = randomiser.grid
    rate = float(randomiser.epsilon) / size
    steps = np.arange(size)
    chances = np.exp(-rate * steps) + np.exp(-rate * (size - steps))
    chances /= chances.sum()
    upper = [_tails(chances), _tails(chances * steps)]
    start, wraps, wrapped = steps, upper[0][size - steps], upper[1][size - steps]
    mean = start + upper[1][0] - size * wraps
    square = start**2 + 2 * start * upper[1][0] + float((chances * steps**2).sum())
    second = square - 2 * size * (start * wraps + wrapped) + size**2 * wraps
    return mean, second


def _tails(weights: NDArray[float64]) -> NDArray[float64]:
    """The sum from each place to the end, and 0 beyond it."""
    return np.append(np.cumsum(weights[::-1])[::-1], 0.0)
