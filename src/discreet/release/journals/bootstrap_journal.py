"""The log of bootstrap releases: one JSON line each, appended and flushed before the table leaves.

    bootstrap.jsonl     in the workspace folder; who, when, what was asked, the marker on the ledger, the noisy values

The values make the same question return the same table. Scales and sensitivities are never written, so that the log
tells no more than the releases did.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from decimal import Decimal
from typing import Final, Self

from discreet.catalogue import Numeral, say
from discreet.errors import DiscreetError
from discreet.guarantees import exact, text
from discreet.paths import AnyPath, as_path
from discreet.release.journals.journal import Journal
from discreet.workspace import Workspace

__all__ = ["LOG_FILE", "BootstrapEntry", "BootstrapLog", "Releases", "bootstrap_log", "list_releases"]

LOG_FILE: Final = "bootstrap.jsonl"


@dataclass(frozen=True, slots=True)
class BootstrapEntry:
    """One release. `membership` and `pool` say what the custodian declared; `marker` is its event on the ledger."""

    who: str
    when: str
    population: str
    dataset: str
    version: int
    plan_hash: str
    epsilon: str
    method: str
    membership: str
    pool: str
    marker: int
    request_id: str
    values: tuple[int, ...]

    def __post_init__(self) -> None:
        exact(self.epsilon, parameter="epsilon")
        if not all(isinstance(value, int) for value in self.values):
            raise ValueError("the log holds whole steps")

    @property
    def question(self) -> tuple[str, int, str, str, str, str]:
        """Equal for two releases that must be one and the same."""
        return self.dataset, self.version, self.plan_hash, self.epsilon, self.method, self.pool

    def to_line(self) -> str:
        return json.dumps(asdict(self), ensure_ascii=True, separators=(",", ":")) + "\n"

    def to_dict(self) -> dict[str, object]:
        """As the view of the log shows it: everything but the values."""
        fields = asdict(self)
        del fields["values"]
        return fields

    @classmethod
    def from_line(cls, line: str) -> Self:
        found = json.loads(line)
        return cls(**{**found, "values": tuple(found["values"])})


@dataclass(frozen=True, slots=True)
class Releases:
    """The bootstrap releases about a population, the oldest first; `fault` says why the log could not be read."""

    entries: tuple[BootstrapEntry, ...]
    fault: str | None = None

    @property
    def epsilon(self) -> Decimal:
        """The nominal epsilons added up. The sum bounds nothing for people outside the data."""
        return sum((Decimal(entry.epsilon) for entry in self.entries), Decimal(0))

    def describe(self, marker: int) -> str | None:
        """The release that left this marker, in words."""
        for entry in self.entries:
            if entry.marker == marker:
                return say(
                    "a bootstrap release, method ({method}), nominal epsilon {epsilon},",
                    method=entry.method,
                    epsilon=Numeral(entry.epsilon),
                )
        return None

    def sentences(self) -> list[str]:
        """What to know of them all; nothing where there are none."""
        if self.fault is not None:
            return [self.fault]
        if not self.entries:
            return []
        return [
            say(
                "bootstrap releases: {count}, nominal epsilon {epsilon} in all, for people in the data only and not "
                "part of the budget.",
                count=len(self.entries),
                epsilon=text(self.epsilon),
            )
        ]

    def to_dict(self) -> dict[str, object]:
        releases = [entry.to_dict() for entry in self.entries]
        return {"releases": releases, "nominal_epsilon": text(self.epsilon), "fault": self.fault}


def list_releases(workspace: Workspace, *, population: str) -> Releases:
    """The releases about a population, as a view of its budget shows them: a damaged log must not hide the rest."""
    try:
        found = bootstrap_log(workspace)
    except DiscreetError as error:
        return Releases((), fault=error.message)
    return Releases(tuple(entry for entry in found if entry.population == population))


def bootstrap_log(workspace: Workspace) -> list[BootstrapEntry]:
    """Every bootstrap release of the workspace, the oldest first."""
    return BootstrapLog(workspace.path).entries()


class BootstrapLog(Journal[BootstrapEntry]):
    """The file of a workspace."""

    def __init__(self, folder: AnyPath) -> None:
        super().__init__(as_path(folder, "folder") / LOG_FILE, BootstrapEntry.from_line)
