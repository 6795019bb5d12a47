"""What every local randomiser is: a channel from an answer to a report, drawn once, by the respondent.

Answers are whole numbers: the position of a category in its list, or of a number on its grid. The real ε is that of
the channel as drawn, never of a formula it approximates. Estimates are made from reports alone, so they cost nothing.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any, ClassVar

from discreet.guarantees import LocalDP
from discreet.noise import Entropy

if TYPE_CHECKING:
    from numpy import bool_, float64, int64
    from numpy.typing import NDArray

__all__ = ["Channel", "FrequencyOracle", "NumberRandomiser", "Randomiser", "ReportTally"]

Report = int | str | list[int]


@dataclass(frozen=True, slots=True)
class Channel:
    """How often a report supports a category: with chance `p` when it is the true one, `q` when it is not."""

    p: float
    q: float

    def __post_init__(self) -> None:
        if not 0 <= self.q < self.p <= 1:
            raise ValueError("a channel needs 0 <= q < p <= 1")


@dataclass(frozen=True, slots=True)
class ReportTally:
    """What frequency estimates need of the reports, as exact integers, cell by cell.

    `support` and `support_squares` are cells × categories: the sums of w and of w² over the reports that support a
    category. `weights`, `weight_squares` and `reports` are the sums of w, w² and 1 over all reports of a cell.
    """

    support: NDArray[int64]
    support_squares: NDArray[int64]
    weights: NDArray[int64]
    weight_squares: NDArray[int64]
    reports: NDArray[int64]


class Randomiser(ABC):
    """One question's randomiser: immutable, built from public facts, the same for every respondent."""

    __slots__ = ()
    name: ClassVar[str]
    comparison_only: ClassVar[bool] = False

    epsilon: Decimal

    def guarantee(self) -> LocalDP:
        """What one report costs its respondent."""
        return LocalDP(epsilon=self.epsilon)

    @abstractmethod
    def parameters(self) -> dict[str, str]:
        """The exact parameters as text, for manifests and studies."""

    @abstractmethod
    def randomise(self, entropy: Entropy, answers: NDArray[int64]) -> NDArray[Any]:
        """One independent report for each answer; the first axis is the respondents'."""

    def wire_form(self, reports: NDArray[Any]) -> NDArray[Any]:
        """The reports as they are sent: whole numbers, rows of whole numbers, or ASCII texts that need no escapes."""
        return reports

    def write_reports(self, reports: NDArray[Any]) -> list[Report]:
        """The reports as values that JSON can hold."""
        sent = self.wire_form(reports)
        written: list[Report] = (sent.astype("U") if sent.dtype.kind == "S" else sent).tolist()
        return written

    @abstractmethod
    def read_reports(self, values: Sequence[object]) -> tuple[NDArray[Any], NDArray[bool_]]:
        """The reports of those values and which values are reports at all; the others hold a place without meaning."""


class FrequencyOracle(Randomiser):
    """A randomiser of one category among `categories`, from whose reports counts can be estimated."""

    __slots__ = ()
    categories: int

    @classmethod
    @abstractmethod
    def objection(cls, *, epsilon: Decimal, categories: int) -> str | None:
        """Why this randomiser does not support such a question; None when it does."""

    @classmethod
    def supports(cls, *, epsilon: Decimal, categories: int) -> bool:
        """Whether this randomiser suits so many categories at this epsilon; `objection` says why not."""
        return cls.objection(epsilon=epsilon, categories=categories) is None

    @abstractmethod
    def channel(self) -> Channel:
        """The chances of supporting the true category and any other."""

    @abstractmethod
    def tally(
        self, reports: NDArray[Any], *, cells: NDArray[int64], weights: NDArray[int64], number: int
    ) -> ReportTally:
        """Exact sums over the reports; `cells` holds each report's cell, from 0 to `number` - 1."""


class NumberRandomiser(Randomiser):
    """A randomiser of a position on the grid 0, ..., `grid`, from whose reports means can be estimated."""

    __slots__ = ()
    grid: int

    @classmethod
    @abstractmethod
    def objection(cls, *, epsilon: Decimal, grid: int) -> str | None:
        """Why this randomiser does not support such a question; None when it does."""

    @classmethod
    def supports(cls, *, epsilon: Decimal, grid: int) -> bool:
        """Whether this randomiser suits such a grid at this epsilon; `objection` says why not."""
        return cls.objection(epsilon=epsilon, grid=grid) is None

    @abstractmethod
    def values(self, reports: NDArray[Any]) -> NDArray[float64]:
        """For each report an unbiased estimate of the position behind it (biased only in comparisons)."""

    @abstractmethod
    def variances(self, reports: NDArray[Any]) -> NDArray[float64]:
        """For each report an estimate of the variance of its value; on average the true variance or more."""

    @abstractmethod
    def variance(self, positions: NDArray[float64]) -> NDArray[float64]:
        """The variance of the value reported for each position, by theory."""

    def bias(self, positions: NDArray[float64]) -> NDArray[float64]:
        """How far the mean value lies from each position: 0, except in comparisons."""
        return positions * 0.0
