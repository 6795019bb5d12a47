"""Sums of vectors by one short message: one coordinate, rounded to a few levels, and now and then any level at all.

Guarantee: shuffle DP, (epsilon, delta), replace-one, in a batch of at least `clients` messages; local DP with
           epsilon0 = ln(1 + (1-γ)(levels+1)/γ) if the shuffler is not honest.
Requires:  coordinates on the grid 0, ..., `grid`, fixed before the answers are known; one message per respondent.
Proof:     docs/proofs/vector-sum.md
Refs:      [SCM22] (the protocol), [BBGN19] (the blanket); γ by shuffle.blanket, not by their closed forms.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, Final

from discreet.catalogue import say
from discreet.collect.mixing.blanket import smallest_gamma
from discreet.errors import ParameterInvalid
from discreet.guarantees import ExactLike, ShuffleDP, ceil_to_grid, exact, exp_down, ln_up, shown, text
from discreet.mechanisms import exact_level
from discreet.noise import Entropy, uniform_array_below

if TYPE_CHECKING:
    from numpy import float64, int64
    from numpy.typing import NDArray

__all__ = ["VectorSum", "VectorTotals", "choose_levels"]

_STEPS: Final = 1 << 32
_MOST_EPSILON: Final = 100
_MOST_LEVELS: Final = 64
_SHAPES: Final = 33


@dataclass(frozen=True, slots=True)
class VectorTotals:
    """Estimated totals per coordinate in steps of the grid, their estimated variances, and messages per coordinate."""

    estimates: NDArray[float64]
    variances: NDArray[float64]
    messages: NDArray[int64]

    def intervals(self, *, level: ExactLike) -> tuple[NDArray[float64], NDArray[float64]]:
        """The ends of an interval for each total, by the normal law: coordinates drawn, rounding and noise together."""
        import numpy as np

        reach = NormalDist().inv_cdf((1 + float(exact_level(level))) / 2) * np.sqrt(self.variances)
        return self.estimates - reach, self.estimates + reach


@dataclass(frozen=True, slots=True)
class VectorSum:
    """Totals of `coordinates` numbers over `clients` respondents, each number a position on the grid 0, ..., `grid`.

    For weighted totals the number is weight times answer in steps, and the grid ends at the largest such product.
    """

    epsilon: Decimal
    delta: Decimal
    clients: int
    coordinates: int
    grid: int
    levels: int
    gamma: Fraction = field(compare=False)

    def __init__(
        self,
        *,
        epsilon: ExactLike,
        delta: ExactLike,
        clients: int,
        coordinates: int,
        grid: int,
        levels: int | None = None,
    ) -> None:
        values: dict[str, object] = {
            "epsilon": exact(epsilon, parameter="epsilon", largest=_MOST_EPSILON),
            "delta": exact(delta, parameter="delta", below=1),
            "clients": _whole(clients, "clients", 2, 10**9),
            "coordinates": _whole(coordinates, "coordinates", 1, 1 << 20),
            "grid": _whole(grid, "grid", 1, _STEPS),
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)
        chosen = levels
        if chosen is None:
            chosen = choose_levels(epsilon=epsilon, delta=delta, clients=clients, coordinates=coordinates, grid=grid)
        object.__setattr__(self, "levels", _whole(chosen, "levels", 1, min(grid, 1 << 16)))
        object.__setattr__(self, "gamma", _gamma(self.epsilon, self.delta, clients, coordinates, self.levels))

    def parameters(self) -> dict[str, str]:
        """The exact parameters as text, for manifests and studies."""
        return {
            "epsilon": text(self.epsilon),
            "delta": text(self.delta),
            "clients": str(self.clients),
            "coordinates": str(self.coordinates),
            "grid": str(self.grid),
            "levels": str(self.levels),
            "gamma": str(self.gamma),
        }

    def local_epsilon(self) -> Decimal:
        """What one message gives away by itself. Which coordinate it speaks of is the same coin for everybody."""
        return ceil_to_grid(ln_up(1 + (1 - self.gamma) * (self.levels + 1) / self.gamma))

    def guarantee(self) -> ShuffleDP:
        """What the shuffled messages promise, and what remains when the shuffler is not honest."""
        return ShuffleDP(
            epsilon=self.epsilon, delta=self.delta, local_epsilon=self.local_epsilon(), anonymity=self.clients
        )

    @property
    def symbols(self) -> int:
        """How many different messages exist: coordinate times (levels + 1) plus level."""
        return self.coordinates * (self.levels + 1)

    @property
    def width(self) -> int:
        """The bytes of one message."""
        return max(1, ((self.symbols - 1).bit_length() + 7) // 8)

    def randomise(self, entropy: Entropy, values: NDArray[Any]) -> NDArray[int64]:
        """One message for each row of values, respondents x coordinates."""
        import numpy as np

        if values.dtype.kind not in "iu" or values.ndim != 2 or values.shape[1] != self.coordinates:
            raise ValueError(f"values are whole numbers, one row per respondent and {self.coordinates} coordinates")
        if values.size and (int(values.min()) < 0 or int(values.max()) > self.grid):
            raise ValueError(f"a value lies outside 0, ..., {self.grid}")
        count = len(values)
        drawn = uniform_array_below(entropy, self.coordinates, count=count)
        scaled = values[np.arange(count), drawn].astype(np.int64) * self.levels
        up = uniform_array_below(entropy, self.grid, count=count) < scaled % self.grid
        level = scaled // self.grid + up
        random = uniform_array_below(entropy, _STEPS, count=count) < int(self.gamma * _STEPS)
        anything = uniform_array_below(entropy, self.levels + 1, count=count)
        return drawn * (self.levels + 1) + np.where(random, anything, level)

    def analyse(self, messages: NDArray[int64]) -> VectorTotals:
        """Unbiased totals for all who sent. A batch smaller than `clients` is refused: it hides less than promised.

        The mean of the messages of a coordinate, cleared of random answers, stands for everybody: those who drew it
        are a simple random sample. A coordinate that nobody drew stays in the middle, with infinite variance. Few
        messages may happen to agree; their variance is never put below what the random answers alone give it.
        """
        import numpy as np

        if len(messages) < self.clients:
            rule = say("must be at least {least}", least=self.clients)
            raise ParameterInvalid(parameter="messages", rule=rule, given=str(len(messages)))
        if messages.min() < 0 or messages.max() >= self.symbols:
            raise ValueError(f"a message lies outside 0, ..., {self.symbols - 1}")
        table = np.bincount(messages, minlength=self.symbols).reshape(self.coordinates, self.levels + 1)
        level, number = np.arange(self.levels + 1, dtype=np.int64), table.sum(axis=1)
        first, second = table @ level, table @ level**2
        factor = len(messages) * self.grid / (self.levels * float(1 - self.gamma))
        middle = float(self.gamma) * self.levels / 2
        with np.errstate(divide="ignore", invalid="ignore"):
            means = np.where(number > 0, first / number, self.levels / 2)
            spread = np.where(number > 1, (second - first * means) / ((number - 1.0) * number), math.inf)
            least = self.least_variance() * (len(messages) * self.grid) ** 2 / number
        variances = np.maximum(spread * factor**2, least)
        return VectorTotals((means - middle) * factor, variances, number.astype(np.int64))

    def message_variance(self, position: float) -> float:
        """The variance of one message about its coordinate, as an estimate of a position in [0, 1]; by theory."""
        gamma, k = float(self.gamma), self.levels
        part = k * position - math.floor(k * position)
        square = gamma * k * (2 * k + 1) / 6 + (1 - gamma) * ((k * position) ** 2 + part * (1 - part))
        mean = gamma * k / 2 + (1 - gamma) * k * position
        return (square - mean**2) / (k * (1 - gamma)) ** 2

    def least_variance(self) -> float:
        """The smallest `message_variance` at any position: it is concave between levels, so one of them has it."""
        return min(self.message_variance(level / self.levels) for level in range(self.levels + 1))

    def variance(self, positions: NDArray[Any]) -> float:
        """The variance of the total of one coordinate in squared steps, when all send; positions as steps of the grid.

        Noise and rounding of those who drew it, and who drew it: n·d·mean(noise) + n·(d-1)·variance(positions), with
        the number of those who drew it put at its mean.
        """
        import numpy as np

        seen, counts = np.unique(positions, return_counts=True)
        noise = math.fsum(
            count * self.message_variance(value / self.grid)
            for value, count in zip(seen.tolist(), counts.tolist(), strict=True)
        )
        spread = float(np.var(positions / self.grid)) * len(positions)
        return (self.coordinates * noise + (self.coordinates - 1) * spread) * self.grid**2


def choose_levels(*, epsilon: ExactLike, delta: ExactLike, clients: int, coordinates: int, grid: int) -> int:
    """The number of levels with the smallest variance of a message, at the position where it is largest."""

    def worst(levels: int) -> float:
        protocol = VectorSum(
            epsilon=epsilon, delta=delta, clients=clients, coordinates=coordinates, grid=grid, levels=levels
        )
        return max(protocol.message_variance(i / (_SHAPES - 1)) for i in range(_SHAPES))

    best, least = 1, worst(1)
    # Rounding falls and random answers rise with the levels; after two steps upwards nothing better comes.
    for levels in range(2, min(grid, _MOST_LEVELS) + 1):
        found = worst(levels)
        if found < least:
            best, least = levels, found
        elif levels > best + 1:
            break
    return best


def _gamma(epsilon: Decimal, delta: Decimal, clients: int, coordinates: int, levels: int) -> Fraction:
    """The smaller of two chances: that of a blanket of this (ε, δ), and that of an ε-local message, rounded up."""
    exact_local = Fraction(levels + 1) / (exp_down(Fraction(epsilon)) + levels)
    local = Fraction(math.ceil(exact_local * _STEPS), _STEPS)
    blanket = smallest_gamma(
        epsilon=Fraction(epsilon),
        delta=Fraction(delta),
        clients=clients,
        symbols=coordinates * (levels + 1),
        most=min(local, 1 - Fraction(1, _STEPS)),
    )
    return local if blanket is None else blanket


def _whole(value: object, parameter: str, low: int, high: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        rule = say("must be a whole number between {low} and {high}", low=low, high=high)
        raise ParameterInvalid(parameter=parameter, rule=rule, given=shown(value))
    return value
