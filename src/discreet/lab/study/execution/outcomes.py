"""What a study asks and what each run of a model brings back.

A `StudyQuery` is asked of every group. A `StudyModel` answers all queries at one ε in one run, and says what error
theory expects. Everything here is computed beside the true data, and is for the custodian alone.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Protocol

from discreet.lab.study.frame import StudyFrame
from discreet.lab.study.seeded_entropy import SeededEntropy

if TYPE_CHECKING:
    from numpy import float64
    from numpy.random import Generator
    from numpy.typing import NDArray

__all__ = ["Answered", "Correlations", "Outcome", "Protected", "Streams", "StudyModel", "StudyQuery", "TheoryError"]


@dataclass(frozen=True, slots=True)
class StudyQuery:
    """A weighted count of one category of a column, or the weighted mean or sum of a number, in every group."""

    statistic: str
    column: str
    category: str | None
    label: str

    @property
    def name(self) -> str:
        return f"{self.column}={self.category}" if self.category is not None else f"{self.statistic} of {self.column}"


@dataclass(frozen=True, slots=True)
class Answered:
    """One query answered in every group; intervals may be infinite, estimates of empty groups are nan."""

    query: StudyQuery
    mechanism: str
    truth: NDArray[float64]
    estimate: NDArray[float64]
    low: NDArray[float64]
    high: NDArray[float64]


@dataclass(frozen=True, slots=True)
class TheoryError:
    """The mean absolute error that theory expects of a query in every group."""

    query: StudyQuery
    mechanism: str
    error: NDArray[float64]


@dataclass(frozen=True, slots=True)
class Protected:
    """A column as its receiver sees it.

    Basis `reports`: `values` holds a position for each respondent who reported (numbers may leave the grid), and
    `rows` says who. Basis `estimate`: `shares` is the estimated share of each category, or of each bin of a number.
    """

    column: str
    mechanism: str
    basis: str
    values: NDArray[Any] | None = None
    rows: NDArray[Any] | None = None
    shares: NDArray[float64] | None = None


@dataclass(frozen=True, slots=True)
class Correlations:
    """Correlations between columns as a receiver would compute them; nan where none can be given."""

    columns: tuple[str, ...]
    matrix: NDArray[float64]
    basis: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """Everything that one run of one model at one ε brings back."""

    answered: tuple[Answered, ...]
    protected: tuple[Protected, ...] = ()
    correlations: tuple[Correlations, ...] = ()
    notes: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Streams:
    """Seeded randomness of one run: a stream of its own for every column, whatever else the study asks."""

    label: str

    @classmethod
    def of_run(cls, *, seed: int, variant: str, epsilon: Decimal, run: int, rows: int | None = None) -> Streams:
        label = f"{seed}|{variant}|{epsilon.normalize():f}|{run}"
        return cls(label if rows is None else f"{label}|{rows}")

    def stream(self, name: str) -> SeededEntropy:
        """The bytes of a column's samplers."""
        return SeededEntropy(self._seed(name))

    def generator(self, name: str) -> Generator:
        """Floats for what claims no privacy: the report's recipe."""
        from numpy.random import default_rng

        return default_rng(self._seed(name))

    def _seed(self, name: str) -> int:
        digest = hashlib.sha256(f"{self.label}|{name}".encode()).digest()
        return int.from_bytes(digest[:16], "big")


class StudyModel(Protocol):
    """A way to protect answers: central, local, shuffled, or a recipe kept for comparison."""

    @property
    def name(self) -> str:
        """What the column `model` of the results says."""

    @property
    def variant(self) -> str:
        """Tells this model from others of the same name in one study, such as `shuffle multi-message`."""

    def run(
        self,
        frame: StudyFrame,
        queries: Sequence[StudyQuery],
        *,
        epsilon: Decimal,
        streams: Streams,
        detailed: bool = True,
    ) -> Outcome:
        """Protect, estimate, compare; correlations, which take longest, only where `detailed`."""

    def expect(self, frame: StudyFrame, queries: Sequence[StudyQuery], *, epsilon: Decimal) -> tuple[TheoryError, ...]:
        """The errors that theory expects; empty for a recipe without one."""
