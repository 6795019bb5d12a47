"""What every route needs, made once for a worker: the open workspace, its people, its jobs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Self

from discreet.ledger import PastQuestion
from discreet.people import LocalIdentity, People
from discreet.session import Session
from discreet.session import open as open_session
from discreet.stores import open_store
from discreet.work import JOB_TABLES, JobStore, next_slot

__all__ = ["OfficeSettings", "ServedOffice"]


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
class ServedOffice:
    """One worker's hold on the workspace. Threads share it."""

    settings: OfficeSettings
    session: Session
    people: People
    identity: LocalIdentity
    jobs: JobStore

    @classmethod
    def open(cls, settings: OfficeSettings) -> ServedOffice:
        session = open_session(settings.workspace)
        people = People(session.workspace, session.ledger)
        people.catch_up()
        return cls(
            settings,
            session,
            people,
            LocalIdentity(people),
            JobStore(open_store(session.workspace, JOB_TABLES)),
        )

    def warm(self) -> None:
        """Load and open what the first question would otherwise wait for. No row is looked at."""
        from discreet.server.warming import warm

        warm(self.session)

    def leaves(self, asked: PastQuestion) -> datetime | None:
        """When an answer may be known of, wherever somebody looks; None where there is none.

        It is a slot of its charge: whoever sees it no earlier cannot tell how long the draw took.
        """
        if asked.committed is None:
            return None
        committed = datetime.fromisoformat(asked.committed)
        return next_slot(datetime.fromisoformat(asked.charged), committed) if self.settings.slots else committed

    def has_left(self, asked: PastQuestion) -> bool:
        leaves = self.leaves(asked)
        return leaves is not None and leaves <= datetime.now(UTC)

    def close(self) -> None:
        self.jobs.close()
        self.people.close()
        self.session.close()
