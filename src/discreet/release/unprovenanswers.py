"""Answers that are not differentially private, as they are kept and as they leave: a value, and words that say so.

    unproven.jsonl      in the workspace folder; who, when, what was asked, the marker on the ledger, the value

Neither a scale nor a sensitivity, an interval or a time is kept or shown: each would tell about single rows.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from typing import Final, Self

from discreet.data.card import Card
from discreet.data.workspace import Workspace
from discreet.errors import DiscreetError
from discreet.guarantees.numbers import exact
from discreet.guarantees.types import Unproven
from discreet.pages.spreadsheets import csv_text
from discreet.release.answers import Remaining
from discreet.release.journal import Journal

__all__ = ["JOURNAL_FILE", "UnprovenAnswer", "UnprovenEntry", "UnprovenJournal", "describe_marker"]

JOURNAL_FILE: Final = "unproven.jsonl"
NO_INTERVAL: Final = "none: an interval would tell the noise, and the noise tells single rows"
CAUTIONS: Final = (
    "This value is not differentially private: nothing bounds what it tells about a person in the data.",
    "Its nominal epsilon, if it has one, is not part of the budget and bounds nothing.",
)


@dataclass(frozen=True, slots=True)
class UnprovenEntry:
    """One answer. `epsilon` is empty where the strategy has none.

    `steps`, a fraction as text, is the value as its plan knows it, from which every statement of that plan is answered:
    SUM(height) and SUM(100 * height) differ only in what a step is worth.
    """

    who: str
    when: str
    population: str
    dataset: str
    version: int
    plan_hash: str
    epsilon: str
    strategy: str
    model: str
    model_sha256: str
    sample_size: int
    reason: str
    marker: int
    request_id: str
    steps: str

    def __post_init__(self) -> None:
        if self.epsilon:
            exact(self.epsilon, parameter="epsilon")
        Fraction(self.steps)

    @property
    def question(self) -> tuple[object, ...]:
        """Equal for two answers that must be one and the same."""
        asked = (self.dataset, self.version, self.plan_hash, self.epsilon, self.strategy)
        return (*asked, self.model, self.model_sha256, self.sample_size)

    @property
    def guarantee(self) -> Unproven:
        return Unproven(self.reason)

    def to_line(self) -> str:
        return json.dumps(asdict(self), ensure_ascii=True, separators=(",", ":")) + "\n"

    @classmethod
    def from_line(cls, line: str) -> Self:
        return cls(**json.loads(line))


# Every answer is looked for among all that were given before, and lines never change.
_read_entry = lru_cache(maxsize=1 << 14)(UnprovenEntry.from_line)


class UnprovenJournal(Journal[UnprovenEntry]):
    """The file of a workspace."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder / JOURNAL_FILE, _read_entry)


def describe_marker(workspace: Workspace, *, population: str, marker: int) -> str | None:
    """The answer that left this marker, in words; None where it left none, or the journal cannot be read."""
    try:
        found = UnprovenJournal(workspace.path).entries()
    except DiscreetError:
        return None
    for entry in found:
        if (entry.population, entry.marker) == (population, marker):
            nominal = f", nominal epsilon {entry.epsilon}" if entry.epsilon else ""
            return f"an unproven answer by strategy {entry.strategy}{nominal},"
    return None


@dataclass(frozen=True, slots=True)
class UnprovenAnswer:
    """One answer as an analyst gets it: so many steps from the centre.

    `whole`: the value is a whole number whatever the rows are.
    """

    name: str
    entry: UnprovenEntry
    card: Card
    versions: Mapping[str, int]
    step: Fraction
    centre: Fraction
    whole: bool
    remaining: Remaining
    request_id: str
    replayed: bool
    warnings: tuple[str, ...]

    @property
    def value(self) -> int | float:
        found = self.centre + Fraction(self.entry.steps) * self.step
        return int(found) if self.whole else float(found)

    @property
    def rows(self) -> list[dict[str, int | float]]:
        return [{self.name: self.value}]

    @property
    def guarantee(self) -> Unproven:
        return self.entry.guarantee

    def to_dict(self, language: str = "en") -> dict[str, object]:
        """The fields of any JSON answer, with what a strategy adds to them and without its noise."""
        entry = self.entry
        return {
            "rows": self.rows,
            "labels": {},
            "intervals": [{self.name: [None, None]}],
            "level": None,
            "interval_meaning": NO_INTERVAL,
            "charge": {"epsilon": "0", "delta": "0"},
            "remaining": self.remaining.to_dict(),
            "guarantee": str(self.guarantee),
            "differentially_private": self.guarantee.differentially_private,
            "unit": str(self.card.unit),
            "neighbours": str(self.card.neighbours),
            "population": entry.population,
            "mechanisms": [{"name": entry.strategy, "noise": "not shown"}],
            "unproven": {
                "strategy": entry.strategy,
                "nominal_epsilon": entry.epsilon or None,
                "model": entry.model or None,
                "sample_size": entry.sample_size or None,
                "marker": entry.marker,
            },
            "dataset": entry.dataset,
            "version": entry.version,
            "datasets": dict(self.versions),
            "plan_hash": entry.plan_hash,
            "request_id": self.request_id,
            "replayed": self.replayed,
            "warnings": list(self.warnings),
        }

    def to_csv(self) -> str:
        """One line, with the guarantee beside the value."""
        return csv_text((self.name, "guarantee"), [(self.value, str(self.guarantee))])
