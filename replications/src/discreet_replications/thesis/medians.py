"""Medians of the benchmark's columns, where `smooth` applies: beside the default, which chooses by rank."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from discreet.catalogue import say
from discreet.lab.strategies.contest import Trials, draw_trials
from discreet_replications.thesis.benchmark_runs import House, Made, Progress
from discreet_replications.thesis.methods import PUBLIC

if TYPE_CHECKING:
    from discreet_replications.thesis.setting import ThesisSetting

__all__ = ["Median", "run_medians"]

_COMPARED: Final = ("public", "smooth")
# The median of an identifier says nothing, and has a hundred thousand values to choose from.
_IDENTIFIERS: Final = frozenset({"encounter_id", "patient_nbr"})


@dataclass(frozen=True, slots=True)
class Median:
    """One median answered one way, many times; values are clipped to the card's ranges."""

    dataset: str
    column: str
    strategy: str
    epsilon: str
    guarantee: str
    trials: Trials

    @property
    def mean_error(self) -> float | None:
        """The mean relative error; None where the median is 0."""
        errors = self.trials.relative_errors
        return sum(errors) / len(errors) if errors else None

    def to_dict(self) -> dict[str, Any]:
        return {
            "dataset": self.dataset,
            "query": f"MEDIAN({self.column})",
            "strategy": self.strategy,
            "epsilon": self.epsilon,
            "guarantee": self.guarantee,
            "exact": self.trials.truth,
            "relative_error": self.mean_error,
        }


def run_medians(house: House, setting: ThesisSetting, *, progress: Progress) -> tuple[Median, ...]:
    """The median of every column that the benchmark asks about, identifiers apart."""
    return tuple(_run(house, setting, progress))


def _run(house: House, setting: ThesisSetting, progress: Progress) -> Iterator[Median]:
    asked = dict.fromkeys((query.dataset, query.column) for query in house.queries(PUBLIC.variant))
    columns = [(dataset, column) for dataset, column in asked if column not in _IDENTIFIERS]
    for done, (dataset, column) in enumerate(columns):
        progress(say("drawing medians"), done, len(columns))
        for epsilon in setting.epsilons:
            sql = f"SELECT MEDIAN({column}) FROM {dataset}"
            bench = house.bench(sql, PUBLIC.variant, dataset, epsilon=epsilon, model=None)
            truth = bench.truth()
            if truth is None:
                continue
            for name in _COMPARED:
                made = Made(bench, name)
                trials = draw_trials(made, truth, setting.runs, bench.engine)
                yield Median(dataset, column, name, epsilon, str(made.strategy.guarantee), trials)
