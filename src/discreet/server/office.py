"""What every route needs, made once for a worker: the open workspace, its people, its jobs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Self

from discreet.people import LocalIdentity, People
from discreet.session import Session
from discreet.session import open as open_session
from discreet.stores import open_store
from discreet.work import JOB_TABLES, UNDERWAY_TABLES, JobStore, Underway

__all__ = ["Office", "OfficeSettings"]


@dataclass(frozen=True, slots=True)
class OfficeSettings:
    """How an office serves. All of it is public: nothing here can change noise, charges or who may do what.

    `slots` lets answers leave at public times only; without, on networks where everybody is trusted, at once. Limits
    are requests in a minute.
    """

    workspace: str
    slots: bool = True
    per_person: int = 600
    per_address: int = 3_000
    proxies: tuple[str, ...] = ()

    def to_settings(self) -> dict[str, str]:
        """As text, for a process that serves."""
        found = {name: str(getattr(self, name)) for name in ("workspace", "per_person", "per_address")}
        return {**found, "slots": "on" if self.slots else "off", "proxies": " ".join(self.proxies)}

    @classmethod
    def of(cls, settings: Mapping[str, str]) -> Self:
        return cls(
            workspace=settings["workspace"],
            slots=settings["slots"] == "on",
            per_person=int(settings["per_person"]),
            per_address=int(settings["per_address"]),
            proxies=tuple(settings["proxies"].split()),
        )


@dataclass(frozen=True, slots=True)
class Office:
    """One worker's hold on the workspace. Threads share it."""

    settings: OfficeSettings
    session: Session
    people: People
    identity: LocalIdentity
    jobs: JobStore
    underway: Underway

    @classmethod
    def open(cls, settings: OfficeSettings) -> Office:
        session = open_session(settings.workspace)
        people = People(session.workspace, session.ledger)
        people.catch_up()
        return cls(
            settings,
            session,
            people,
            LocalIdentity(people),
            JobStore(open_store(session.workspace, JOB_TABLES)),
            Underway(open_store(session.workspace, UNDERWAY_TABLES)),
        )

    def warm(self) -> None:
        """Load and open what the first question would otherwise wait for. No row is looked at."""
        from discreet.server.warming import warm

        warm(self.session)
        self.underway.sweep(datetime.now(UTC))

    def not_given(self, analyst: str) -> frozenset[str]:
        """The request ids whose answers have not left yet, though they may be stored: none where there are no slots."""
        if not self.settings.slots:
            return frozenset()
        now = datetime.now(UTC)
        return self.underway.of(analyst, now=now) | self.jobs.unended(analyst, now=now)

    def close(self) -> None:
        self.underway.close()
        self.jobs.close()
        self.people.close()
        self.session.close()
