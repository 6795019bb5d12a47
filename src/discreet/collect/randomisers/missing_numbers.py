"""Numbers that may be missing, where being missing is itself protected.

Guarantee: local DP, epsilon per answer, missing or not, for the respondent who gave it (or gave none).
Requires:  a grid fixed before the answers are known; each respondent draws alone, once per answer.
Proof:     docs/proofs/local-numbers.md
Refs:      [KOV16] for the three answers; sequential composition for the split.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np

from discreet.catalogue import say
from discreet.collect.estimates.estimators.means import ReportPairs
from discreet.collect.randomisers.duchi import round_to_ends
from discreet.collect.randomisers.generalised_response import GeneralisedResponse
from discreet.collect.randomisers.grid import GridRandomiser, check_positions, grid_fault
from discreet.collect.randomisers.number_choice import choose_number, middle_half, number_randomiser
from discreet.collect.randomisers.randomiser import Channel, Randomiser, ReportTally
from discreet.collect.reporting.wire import read_numbers
from discreet.errors import ParameterInvalid
from discreet.guarantees import ExactLike, exact, floor_to_grid, text

if TYPE_CHECKING:
    from numpy import bool_, float64, int64
    from numpy.typing import NDArray

    from discreet.noise import Entropy

__all__ = ["MISSING", "NumberOrMissing", "SplitNumber", "TernaryNumber", "choose_with_missing"]

MISSING: Final = -1
_HIGH, _ABSENT = 1, 2
_SHARES: Final = tuple(Fraction(twentieths, 20) for twentieths in range(2, 19))


class NumberOrMissing(Randomiser):
    """A randomiser of a position on the grid 0, ..., `grid`, or of `MISSING` in its place."""

    __slots__ = ()
    grid: int

    @abstractmethod
    def pairs(self, reports: NDArray[Any]) -> ReportPairs:
        """Above the line the position, or 0 where it is missing; below it 1, or 0. Both unbiased, per report.

        The ratio of their sums estimates the mean position of those who have one. Variances are those of the reports
        given the answers, on average exact or larger.
        """

    @abstractmethod
    def mean_variance(self, positions: NDArray[float64], *, missing: float) -> NDArray[float64]:
        """Respondents times the variance of the mean, if this share is missing and the others stand at one position."""


@dataclass(frozen=True, slots=True)
class TernaryNumber(NumberOrMissing):
    """A number rounded at random to the low or high end, or missing: one of three answers, reported with all of ε."""

    epsilon: Decimal
    grid: int
    name: ClassVar[str] = "ternary"
    categories: ClassVar[int] = 3

    def __init__(self, *, epsilon: ExactLike, grid: int) -> None:
        object.__setattr__(self, "epsilon", exact(epsilon, parameter="epsilon"))
        object.__setattr__(self, "grid", grid)
        fault = grid_fault(name=self.name, epsilon=self.epsilon, grid=grid)
        if fault:
            raise fault

    @classmethod
    def objection(cls, *, epsilon: Decimal, grid: int) -> str | None:
        """Why this randomiser does not support such a question; None when it does."""
        fault = grid_fault(name=cls.name, epsilon=epsilon, grid=grid)
        return fault.message if fault else None

    def parameters(self) -> dict[str, str]:
        """The exact parameters as text, for manifests and studies."""
        return {"epsilon": text(self.epsilon), "grid": str(self.grid)}

    def randomise(self, entropy: Entropy, answers: NDArray[int64]) -> NDArray[int64]:
        """0 for low, 1 for high, 2 for missing; one independent report for each answer."""
        positions = check_positions(answers, grid=self.grid, lowest=MISSING)
        ends = round_to_ends(entropy, positions, grid=self.grid)
        return self._response().randomise(entropy, np.where(positions == MISSING, _ABSENT, ends))

    def channel(self) -> Channel:
        """The chances of reporting the rounded answer and any other of the three."""
        return self._response().channel()

    def tally(
        self, reports: NDArray[Any], *, cells: NDArray[int64], weights: NDArray[int64], number: int
    ) -> ReportTally:
        """Exact sums over the reports, for counts of low, high and missing."""
        return self._response().tally(reports, cells=cells, weights=weights, number=number)

    def pairs(self, reports: NDArray[Any]) -> ReportPairs:
        """The variance above the line takes ¼ for the rounding, its largest value."""
        p, q = self._chances()
        high, absent = ((np.equal(reports, index) - q) / (p - q) for index in (_HIGH, _ABSENT))
        kept = [(q * (1 - q) + (p - q) * (1 - p - q) * share) / (p - q) ** 2 for share in (high, absent)]
        return ReportPairs(
            above=self.grid * high,
            below=1 - absent,
            above_variances=float(self.grid) ** 2 * (kept[0] + (1 - absent) / 4),
            below_variances=kept[1],
            covariances=self.grid * q * (q + (p - q) * (high + absent)) / (p - q) ** 2,
        )

    def mean_variance(self, positions: NDArray[float64], *, missing: float) -> NDArray[float64]:
        """By the delta method."""
        p, q = self._chances()
        share = np.asarray(positions, dtype=np.float64) / self.grid
        low, high = share**2, (1 - share) ** 2
        offset = (q * (1 - 2 * share)) ** 2
        present = high * (q + (p - q) * share) + low * (q + (p - q) * (1 - share)) - offset
        absent = q * (high + low) - offset
        spread = ((1 - missing) * present + missing * absent) / (1 - missing) ** 2
        return float(self.grid) ** 2 * spread / (p - q) ** 2

    def read_reports(self, values: Sequence[object]) -> tuple[NDArray[int64], NDArray[bool_]]:
        """The reports of those values and which values are reports at all."""
        return read_numbers(values, below=self.categories)

    def _chances(self) -> tuple[float, float]:
        channel = self.channel()
        return channel.p, channel.q

    def _response(self) -> GeneralisedResponse:
        return GeneralisedResponse(epsilon=self.epsilon, categories=self.categories)


@dataclass(frozen=True, slots=True)
class SplitNumber(NumberOrMissing):
    """Part of ε tells whether the number is there, the rest tells the number, or the middle in its place."""

    epsilon: Decimal
    grid: int
    missing_epsilon: Decimal
    number: GridRandomiser
    name: ClassVar[str] = "split"

    def __init__(
        self, *, epsilon: ExactLike, grid: int, missing_epsilon: ExactLike, randomiser: str | None = None
    ) -> None:
        total = exact(epsilon, parameter="epsilon")
        part = exact(missing_epsilon, parameter="missing_epsilon", below=Fraction(total))
        rest = total - part
        number = number_randomiser(randomiser, epsilon=rest, grid=grid) if randomiser else None
        if number is not None and number.comparison_only:
            rule = say("must have an unbiased value")
            raise ParameterInvalid(parameter="randomiser", rule=rule, given=f"'{randomiser}'")
        object.__setattr__(self, "epsilon", total)
        object.__setattr__(self, "grid", grid)
        object.__setattr__(self, "missing_epsilon", part)
        object.__setattr__(self, "number", number or choose_number(epsilon=rest, grid=grid))

    def parameters(self) -> dict[str, str]:
        """The exact parameters as text, for manifests and studies."""
        return {
            "epsilon": text(self.epsilon),
            "grid": str(self.grid),
            "missing_epsilon": text(self.missing_epsilon),
            "randomiser": self.number.name,
        }

    def randomise(self, entropy: Entropy, answers: NDArray[int64]) -> NDArray[int64]:
        """A column that is 1 where the number is said to be there, and a column of reports of the number."""
        positions = check_positions(answers, grid=self.grid, lowest=MISSING)
        present = positions != MISSING
        phrase = self._response().randomise(entropy, present.astype(np.int64))
        return np.stack([phrase, self.number.randomise(entropy, np.where(present, positions, self._middle()))], axis=1)

    def pairs(self, reports: NDArray[Any]) -> ReportPairs:
        """The number's distance from the middle is 0 on average where it is missing, so it needs no correction."""
        channel = self._response().channel()
        spread = self._told_variance()
        present = (reports[:, 0] - channel.q) / (channel.p - channel.q)
        middle = self._middle()
        return ReportPairs(
            above=self.number.values(reports[:, 1]) - middle + middle * present,
            below=present,
            above_variances=self.number.variances(reports[:, 1]) + middle**2 * spread,
            below_variances=np.full(len(reports), spread),
            covariances=np.full(len(reports), middle * spread),
        )

    def mean_variance(self, positions: NDArray[float64], *, missing: float) -> NDArray[float64]:
        """By the delta method."""
        middle = float(self._middle())
        centre = float(self.number.variance(np.array([middle]))[0])
        number = (1 - missing) * self.number.variance(positions) + missing * centre
        phrase = (positions - middle) ** 2 * self._told_variance()
        return np.asarray((number + phrase) / (1 - missing) ** 2)

    def read_reports(self, values: Sequence[object]) -> tuple[NDArray[int64], NDArray[bool_]]:
        """The reports of those values and which values are reports at all."""
        shaped = [value if type(value) is list and len(value) == 2 else (None, None) for value in values]
        phrase, first = read_numbers([value[0] for value in shaped], below=2)
        number, second = self.number.read_reports([value[1] for value in shaped])
        return np.stack([phrase, number], axis=1), first & second

    def _middle(self) -> int:
        return self.grid // 2

    def _told_variance(self) -> float:
        """p·q/(p - q)² of the binary response, the same whether the number is there or not."""
        return 1 / (2 * math.sinh(float(self.missing_epsilon) / 2)) ** 2

    def _response(self) -> GeneralisedResponse:
        return GeneralisedResponse(epsilon=self.missing_epsilon, categories=2)


def choose_with_missing(
    *, epsilon: ExactLike, grid: int, missing: float = 0.05, position: float | None = None
) -> NumberOrMissing:
    """The randomiser with the smallest expected variance of the mean, if about this share is missing.

    Splits give between a tenth and nine tenths of ε to being missing, so that the number missing can be told as well.
    """
    if not 0 <= missing < 1:
        raise ParameterInvalid(parameter="missing", rule=say("must lie between 0 and 1"), given=str(missing))
    total = exact(epsilon, parameter="epsilon")
    indices = middle_half(grid) if position is None else np.array([float(position)])
    candidates: list[NumberOrMissing] = [TernaryNumber(epsilon=total, grid=grid)]
    for share in _SHARES:
        part = floor_to_grid(Fraction(total) * share)
        if part and grid_fault(name=SplitNumber.name, epsilon=total - part, grid=grid) is None:
            candidates.append(SplitNumber(epsilon=total, grid=grid, missing_epsilon=part))
    return min(candidates, key=lambda each: float(each.mean_variance(indices, missing=missing).mean()))
