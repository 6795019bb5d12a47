"""Seconds to an answer by the thesis' recipe: its Tables 8 and 9, printed and here.

The thesis generates rows for every answer, and opens the model before the first. Discreet keeps how far generated
columns reach, so that rows are generated once for each model and size; both are shown.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from discreet.catalogue import Phrase
from discreet.lab.strategies.contest import SeriesSpread
from discreet_replications.thesis.data.compared_columns import GeneratorSample
from discreet_replications.thesis.data.thesis_queries import SECONDS, SECONDS_WARM, Summary
from discreet_replications.thesis.methods import ThesisMethod
from discreet_replications.thesis.run_records import Records

__all__ = ["Timing", "judge_timings"]


@dataclass(frozen=True, slots=True)
class Timing:
    """One way of answering at one epsilon. Printed figures are there for the thesis' own settings.

    `whole` generates rows for every answer and opens the model before the first of each data set (Table 8), `warm`
    leaves out these first answers (Table 9), `kept` reads what was kept of generated rows. They are None where there is
    no generator, for the reason in `why`.
    """

    method: ThesisMethod
    epsilon: str
    whole: SeriesSpread | None = None
    warm: SeriesSpread | None = None
    kept: SeriesSpread | None = None
    why: Phrase | None = None

    @property
    def printed(self) -> tuple[Summary | None, Summary | None]:
        setting = (self.epsilon, self.method.sample_size or 0)
        return SECONDS.get(setting), SECONDS_WARM.get(setting)

    def to_dict(self) -> dict[str, Any]:
        return {
            "strategy": self.method.name,
            "epsilon": self.epsilon,
            **_flat("table_8_printed", self.printed[0]),
            **_flat("table_8", self.whole),
            **_flat("table_9_printed", self.printed[1]),
            **_flat("table_9", self.warm),
            **_flat("kept", self.kept),
            "why": None if self.why is None else self.why.en,
        }


def _flat(name: str, figures: Summary | SeriesSpread | None) -> dict[str, float | None]:
    names = ("mean", "median", "least", "most")
    return {f"{name}_{item}": None if figures is None else getattr(figures, item) for item in names}


def judge_timings(records: Records, sampled: Mapping[str, GeneratorSample]) -> tuple[Timing, ...]:
    """Every setting of `generated`; without generators what the thesis prints of it."""
    found = []
    for method in records.methods:
        if method.sample_size is None:
            continue
        for epsilon in records.epsilons:
            whole: list[float] = []
            warm: list[float] = []
            kept: list[float] = []
            met: set[str] = set()
            for record in records.pick(method, epsilon):
                made = sampled[record.query.dataset]
                answers = [made.seconds[method.sample_size] + item for item in record.trials.seconds]
                kept += record.trials.seconds
                if record.query.dataset not in met:
                    met.add(record.query.dataset)
                    whole.append(made.loading + answers.pop(0))
                whole += answers
                warm += answers
            found.append(
                Timing(method, epsilon, SeriesSpread.of(whole), SeriesSpread.of(warm or whole), SeriesSpread.of(kept))
            )
    left = [(method, why) for method, why in records.skipped if method.sample_size is not None]
    found += [Timing(method, epsilon, why=why) for method, why in left for epsilon in records.epsilons]
    return tuple(item for item in found if item.whole is not None or any(item.printed))
