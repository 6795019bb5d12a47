"""Every strategy on one query, as figures: what is said of each, and what drawing it many times gave."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import isnan
from statistics import fmean, median
from typing import TYPE_CHECKING, Final

from discreet.catalogue import Phrase, say
from discreet.errors import UnknownName
from discreet.guarantees import Guarantee

if TYPE_CHECKING:
    from fractions import Fraction

    from discreet.lab.strategies.released_strategies import RememberingEngine
    from discreet.lab.strategies.subject import SensitivityStrategy

__all__ = [
    "STRATEGIES",
    "UNPROVEN",
    "Contest",
    "ContestLine",
    "SeriesSpread",
    "Trials",
    "choose_strategies",
    "draw_trials",
]

STRATEGIES: Final = (
    "public",
    "private-bounds",
    "smooth",
    "elastic",
    "local",
    "generated",
    "replace",
    "global-type",
)

UNPROVEN: Final = frozenset({"local", "generated", "replace"})


def choose_strategies(names: Iterable[str] | None) -> tuple[str, ...]:
    """These strategies in the order of the table; all when none is named."""
    if names is None:
        return STRATEGIES
    wanted = list(names)
    for name in wanted:
        if name not in STRATEGIES:
            raise UnknownName(sort=Phrase("strategy"), name=name, where=say("the comparison"), known=STRATEGIES)
    return tuple(name for name in STRATEGIES if name in wanted)


@dataclass(frozen=True, slots=True)
class SeriesSpread:
    """Mean, median and ends of a series."""

    mean: float
    median: float
    least: float
    most: float

    @classmethod
    def of(cls, series: Sequence[float]) -> SeriesSpread:
        return cls(fmean(series), median(series), min(series), max(series))

    def to_dict(self) -> dict[str, float]:
        return {"mean": self.mean, "median": self.median, "min": self.least, "max": self.most}


@dataclass(frozen=True, slots=True)
class Trials:
    """What a strategy answered, run by run, beside the exact answer; all in the query's own units.

    In `unfound` of the runs private bounds were looked for and none stood out.
    """

    truth: float
    results: tuple[float, ...]
    sensitivities: tuple[float, ...]
    seconds: tuple[float, ...]
    unfound: int = 0

    @property
    def errors(self) -> tuple[float, ...]:
        return tuple(abs(result - self.truth) for result in self.results)

    @property
    def relative_errors(self) -> tuple[float, ...]:
        """Errors over the size of the exact answer; nothing where that is 0."""
        return tuple(error / abs(self.truth) for error in self.errors) if self.truth else ()

    @property
    def known_sensitivities(self) -> tuple[float, ...]:
        """Those that one number tells: a mean over a noisy count, a choice by rank and replaced rows have none."""
        return tuple(used for used in self.sensitivities if not isnan(used))

    def to_dict(self) -> dict[str, object]:
        relative = self.relative_errors
        return {
            **({"runs_without_bounds": self.unfound} if self.unfound else {}),
            "runs": len(self.results),
            "sensitivity": SeriesSpread.of(used).to_dict() if (used := self.known_sensitivities) else None,
            "error": SeriesSpread.of(self.errors).to_dict(),
            "relative_error": SeriesSpread.of(relative).to_dict() if relative else None,
            "seconds": SeriesSpread.of(self.seconds).to_dict(),
        }


@dataclass(frozen=True, slots=True)
class ContestLine:
    """One strategy. `expected` is an error that follows from public facts, else `told` says why there is none."""

    strategy: str
    guarantee: Guarantee | None
    expected: float | None = None
    told: str = ""
    trials: Trials | None = None

    def to_dict(self) -> dict[str, object]:
        return {
            "strategy": self.strategy,
            "guarantee": None if self.guarantee is None else str(self.guarantee),
            "differentially_private": self.guarantee is not None and self.guarantee.differentially_private,
            "expected_error": self.expected,
            "told": self.told,
            **({} if self.trials is None else {"custodian": self.trials.to_dict()}),
        }


@dataclass(frozen=True, slots=True)
class Contest:
    """The strategies side by side on one statement at one epsilon. `truth` is there for the custodian alone."""

    sql: str
    epsilon: str
    unit: str
    neighbours: str
    lines: tuple[ContestLine, ...]
    truth: float | None = None
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, object]:
        return {
            "statement": self.sql,
            "epsilon": self.epsilon,
            "unit": self.unit,
            "neighbours": self.neighbours,
            **({} if self.truth is None else {"exact_for_the_custodian": self.truth}),
            "strategies": [line.to_dict() for line in self.lines],
            "notes": list(self.notes),
        }


def draw_trials(
    ready: Callable[[], SensitivityStrategy],
    truth: Fraction,
    runs: int,
    engine: RememberingEngine,
    text: Callable[[], None] = lambda: None,
) -> Trials:
    """Answers, one after the other. Time is what a lone question would have taken: made ready, rows read anew."""
    results, used, seconds, unfound = [], [], [], 0
    saved, start = engine.saved, time.perf_counter()
    strategy = ready()
    before = time.perf_counter() - start + engine.saved - saved
    for _ in range(runs):
        saved, start = engine.saved, time.perf_counter()
        drawn = strategy.draw()
        seconds.append(before + time.perf_counter() - start + engine.saved - saved)
        results.append(drawn.result)
        used.append(drawn.sensitivity)
        unfound += not drawn.found
        text()
    return Trials(float(truth), tuple(results), tuple(used), tuple(seconds), unfound)
