"""What every route needs, made once for a worker: the open workspace, its people, its jobs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Self

from discreet.ledger import PastQuestion
from discreet.people import LocalIdentity, People, RequestFacts
from discreet.server.turns import Turns
from discreet.session import Session
from discreet.session import open as open_session
from discreet.stores import open_store
from discreet.work import JOB_TABLES, JobStore, next_slot

__all__ = ["OfficeSettings", "ServedOffice", "last_minute"]


def last_minute() -> str:
    """The last full minute, as the ledger writes times: what is told as of it tells of no moment since."""
    return datetime.now(UTC).replace(second=0, microsecond=0).isoformat(timespec="microseconds")


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
    turns: Turns = field(default_factory=Turns)

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
            JobStore(open_store(session.workspace, JOB_TABLES), session.ledger.attest, session.ledger.head),
        )

    def require_stores(self) -> None:
        """Read from the ledger and from every table beside it, or raise what keeps them from being read."""
        self.session.ledger.head()
        self.identity.authenticate(RequestFacts(bearer=None, session="nobody's", address=""))
        self.jobs.list("nobody", limit=1)

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

    def is_suspended(self, dataset: str) -> bool:
        """As of the last full minute: the moment at which a draw failed is nobody's to see."""
        since = self.session.ledger.suspended_since(dataset)
        return since is not None and since < last_minute()

    def has_left(self, asked: PastQuestion) -> bool:
        leaves = self.leaves(asked)
        return leaves is not None and leaves <= datetime.now(UTC)

    def close(self) -> None:
        self.jobs.close()
        self.people.close()
        self.session.close()
