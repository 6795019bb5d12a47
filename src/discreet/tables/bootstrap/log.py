"""The log of bootstrap releases: one JSON line each, appended and flushed before the table leaves.

    bootstrap.jsonl     in the workspace folder; who, when, what was asked, the marker on the ledger, the noisy values

The values make the same question return the same table. Scales and sensitivities are never written, so that the log
tells no more than the releases did. A line that a crash cut short never left: it is dropped with the next append.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from decimal import Decimal
from pathlib import Path
from typing import Final, Self

from discreet.data.workspace import Workspace
from discreet.errors import DiscreetError, LedgerUnavailable, Refused
from discreet.guarantees.numbers import exact, text

__all__ = ["LOG_FILE", "BootstrapLog", "LogEntry", "Releases", "bootstrap_log", "list_releases"]

LOG_FILE: Final = "bootstrap.jsonl"


@dataclass(frozen=True, slots=True)
class LogEntry:
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

    entries: tuple[LogEntry, ...]
    fault: str | None = None

    @property
    def epsilon(self) -> Decimal:
        """The nominal epsilons added up. The sum bounds nothing for people outside the data."""
        return sum((Decimal(entry.epsilon) for entry in self.entries), Decimal(0))

    def describe(self, marker: int) -> str | None:
        """The release that left this marker, in words."""
        for entry in self.entries:
            if entry.marker == marker:
                return f"a bootstrap release, method ({entry.method}), nominal epsilon {entry.epsilon},"
        return None

    def sentences(self) -> list[str]:
        """What to know of them all; nothing where there are none."""
        if self.fault is not None:
            return [self.fault]
        if not self.entries:
            return []
        return [
            f"bootstrap releases: {len(self.entries)}, nominal epsilon {text(self.epsilon)} in all, for people in the "
            "data only and beside the budget."
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


def bootstrap_log(workspace: Workspace) -> list[LogEntry]:
    """Every bootstrap release of the workspace, the oldest first."""
    return BootstrapLog(workspace.path).entries()


class BootstrapLog:
    """The file. Whoever releases holds it, so that one question asked twice at once is drawn once."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / LOG_FILE

    @contextmanager
    def held(self) -> Iterator[None]:
        """Nobody else looks for a stored table, or draws one, meanwhile."""
        try:
            handle = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise self._unwritable(error) from None
        try:
            with suppress(ImportError):  # without such locks commands take turns by hand, as for the workspace
                import fcntl

                fcntl.flock(handle, fcntl.LOCK_EX)
            yield
        finally:
            os.close(handle)

    def entries(self) -> list[LogEntry]:
        """Every whole line; Refused when one of them cannot be read."""
        try:
            content = self._path.read_bytes()
        except FileNotFoundError:
            return []
        except OSError as error:
            raise self._unwritable(error) from None
        lines = content[: content.rfind(b"\n") + 1].splitlines()
        return [self._entry(number, line) for number, line in enumerate(lines, start=1)]

    def find(self, question: tuple[str, int, str, str, str, str]) -> LogEntry | None:
        """The release that answered this question, if there is one."""
        return next((entry for entry in self.entries() if entry.question == question), None)

    def find_request(self, *, who: str, request_id: str) -> LogEntry | None:
        """The release that was made under a request id, if there is one."""
        asked = (entry for entry in self.entries() if (entry.who, entry.request_id) == (who, request_id))
        return next(asked, None)

    def append(self, entry: LogEntry) -> None:
        """Write a line so that it outlives a crash, or raise; called while the log is held."""
        try:
            with self._path.open("r+b") as stream:
                stream.truncate(self._end(stream.read()))
                stream.seek(0, os.SEEK_END)
                stream.write(entry.to_line().encode("ascii"))
                stream.flush()
                os.fsync(stream.fileno())
        except OSError as error:
            raise self._unwritable(error) from None

    @staticmethod
    def _end(content: bytes) -> int:
        return content.rfind(b"\n") + 1

    def _entry(self, number: int, line: bytes) -> LogEntry:
        try:
            return LogEntry.from_line(line.decode("ascii"))
        except (ValueError, TypeError, KeyError, AttributeError, DiscreetError):
            raise Refused(
                f"line {number} of '{LOG_FILE}' cannot be read; restore the file from a copy. Nothing was released.",
                file=LOG_FILE,
                line=number,
            ) from None

    def _unwritable(self, error: OSError) -> LedgerUnavailable:
        why = error.strerror or "the system refused"
        return LedgerUnavailable(f"'{LOG_FILE}' of the workspace cannot be used: {why}.", file=LOG_FILE)
