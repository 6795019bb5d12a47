"""Answers that are not differentially private, as they are kept.

    unproven.jsonl      in the workspace folder; who, when, what was asked, the marker on the ledger, the value

Neither a scale nor a sensitivity, an interval or a time is kept or shown: each would tell about single rows.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Final, Self

from discreet.catalogue import Numeral, say
from discreet.errors import DiscreetError
from discreet.guarantees import Unproven, exact
from discreet.paths import AnyPath, as_path
from discreet.release.journals.journal import Journal
from discreet.workspace import Workspace

__all__ = ["JOURNAL_FILE", "UnprovenEntry", "UnprovenJournal", "describe_marker"]

JOURNAL_FILE: Final = "unproven.jsonl"


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

    def __init__(self, folder: AnyPath) -> None:
        super().__init__(as_path(folder, "folder") / JOURNAL_FILE, _read_entry)


def describe_marker(workspace: Workspace, *, population: str, marker: int) -> str | None:
    """The answer that left this marker, in words; None where it left none, or the journal cannot be read."""
    try:
        found = UnprovenJournal(workspace.path).entries()
    except DiscreetError:
        return None
    for entry in found:
        if (entry.population, entry.marker) == (population, marker):
            if not entry.epsilon:
                return say("an unproven answer by strategy {strategy},", strategy=entry.strategy)
            return say(
                "an unproven answer by strategy {strategy}, nominal epsilon {epsilon},",
                strategy=entry.strategy,
                epsilon=Numeral(entry.epsilon),
            )
    return None
