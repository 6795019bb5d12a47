"""What drawing gave: for each query and way of answering, its runs and what they say about each quantity."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from discreet.catalogue import Phrase
from discreet.guarantees import Guarantee
from discreet.lab.strategies.contest import SeriesSpread, Trials
from discreet_replications.thesis.data.thesis_queries import ThesisQuery
from discreet_replications.thesis.methods import ThesisMethod
from discreet_replications.thesis.thesis_truth import Truth

__all__ = ["QUANTITIES", "Record", "Records"]

QUANTITIES: Final = {
    "result": Phrase("result"),
    "error": Phrase("error"),
    "relative_error": Phrase("relative error"),
    "sensitivity": Phrase("sensitivity used"),
    "relative_sensitivity_error": Phrase("relative error of the sensitivity"),
    "seconds": Phrase("seconds"),
}


@dataclass(frozen=True, slots=True)
class Record:
    """One query answered one way, many times. `epsilon` is None where none is spent.

    Errors are against the exact answer of the rows as they are, before any clipping. The sensitivity is held against
    the thesis' own, a fact about the rows; `generated` is what its rule says of generated rows.
    """

    truth: Truth
    method: ThesisMethod
    epsilon: str | None
    guarantee: Guarantee
    trials: Trials
    generated: float | None = None

    def __post_init__(self) -> None:
        if self.method.spends != (self.epsilon is not None):
            raise ValueError("a way of answering has an epsilon when it spends one")

    @property
    def query(self) -> ThesisQuery:
        return self.truth.query

    @property
    def runs(self) -> int:
        return len(self.trials.results)

    @property
    def real_sensitivity(self) -> float:
        return float(self.truth.thesis_sensitivity)

    def series(self, quantity: str) -> Sequence[float]:
        """One of `QUANTITIES`, run by run; empty where a way of answering has none."""
        match quantity:
            case "result":
                return self.trials.results
            case "error":
                return self.trials.errors
            case "relative_error":
                return self.trials.relative_errors
            case "sensitivity":
                return self.trials.known_sensitivities
            case "relative_sensitivity_error":
                real = self.real_sensitivity
                return tuple((used - real) / real for used in self.trials.known_sensitivities) if real else ()
            case "seconds":
                return self.trials.seconds
        raise ValueError(f"{quantity} is not a quantity of the benchmark")

    def spread(self, quantity: str) -> SeriesSpread | None:
        found = self.series(quantity)
        return SeriesSpread.of(found) if found else None

    def rows(self) -> Iterator[dict[str, Any]]:
        """One line for each quantity, plain values."""
        for quantity in QUANTITIES:
            spread = self.spread(quantity)
            if spread is None:
                continue
            yield {
                "number": self.query.number,
                "query": self.query.name,
                "dataset": self.query.dataset,
                "strategy": self.method.strategy,
                "terms": str(self.method.variant),
                "epsilon": self.epsilon,
                "sample_size": self.method.sample_size,
                "differentially_private": self.guarantee.differentially_private,
                "runs": self.runs,
                "exact": self.trials.truth,
                "quantity": quantity,
                **spread.to_dict(),
            }


@dataclass(frozen=True, slots=True)
class Records:
    """All that was drawn, and which ways of answering could not be (`skipped`: which, and why)."""

    found: tuple[Record, ...]
    skipped: tuple[tuple[ThesisMethod, Phrase], ...] = ()

    @property
    def methods(self) -> tuple[ThesisMethod, ...]:
        return tuple(dict.fromkeys(record.method for record in self.found))

    @property
    def epsilons(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(record.epsilon for record in self.found if record.epsilon is not None))

    @property
    def queries(self) -> tuple[ThesisQuery, ...]:
        asked = {record.query.number: record.query for record in self.found}
        return tuple(asked[number] for number in sorted(asked))

    def pick(self, method: ThesisMethod, epsilon: str) -> tuple[Record, ...]:
        """The records of one way of answering at one epsilon, by query; those that spend none belong to each."""
        chosen = (item for item in self.found if item.method == method and item.epsilon in {epsilon, None})
        return tuple(sorted(chosen, key=lambda item: item.query.number))
