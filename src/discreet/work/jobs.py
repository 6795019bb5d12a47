"""Jobs: questions that take too long for one request, kept until somebody has done them and their owner has seen it.

A job may be run twice, by a worker that was thought lost and by the next one: its request id meets its own charge on
the ledger, so it is charged once. What is kept here may be lost too; charges and answers stay on the ledger.

A row has the word of the ledger's key for who asks what: whoever can write the table asks as nobody by it.
"""

from __future__ import annotations

import hmac
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Any, Final

from discreet.catalogue import say, speaking
from discreet.errors import ChargedNotAnswered, Refused
from discreet.stores import Tables
from discreet.work.slots import next_slot

__all__ = [
    "COLUMNS",
    "JOB_TABLES",
    "Attest",
    "Job",
    "JobState",
    "attest_job",
    "in_microseconds",
    "read_job",
    "tell_failure",
    "write_json",
]

JOB_TABLES: Final = Tables(
    "work",
    (
        """
        CREATE TABLE jobs (
            id text PRIMARY KEY NOT NULL,
            owner text NOT NULL,
            kind text NOT NULL,
            request_id text NOT NULL,
            body text NOT NULL,
            language text NOT NULL,
            state text NOT NULL,
            asked bigint NOT NULL,
            leaves bigint,
            charge bigint,
            problem text,
            worker text,
            lease bigint,
            taken bigint NOT NULL DEFAULT 0,
            claims bigint NOT NULL DEFAULT 0,
            lost bigint NOT NULL DEFAULT 0,
            word text NOT NULL,
            UNIQUE (owner, request_id)
        )
        """,
        "CREATE INDEX jobs_by_state ON jobs (state, asked)",
        "CREATE INDEX jobs_by_owner ON jobs (owner, taken)",
    ),
)
"""Times are microseconds since 1970. A job that nobody has leased has neither `worker` nor `lease`; `taken` is when it
was last taken up, or 0. `word` is the key's."""

COLUMNS: Final = "id, owner, kind, request_id, body, language, asked, word, state, leaves, charge, problem, claims"

Attest = Callable[..., str]
"""The word of the ledger's key for texts and numbers: `Ledger.attest`."""

_START: Final = datetime(1970, 1, 1, tzinfo=UTC)


class JobState(StrEnum):
    """How far a job is. What may have been charged is `CHARGING`; the last three are ends."""

    WAITING = "waiting"
    RUNNING = "running"
    CHARGING = "charging"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True)
class Job:
    """A question of `owner`, to be asked under `request_id`; `body` is what it is, as JSON, and `kind` its sort.

    Once it has ended, `charge` is the number of the charge that paid for its answer and `problem` what kept it from
    one, in `language`; neither is shown before `leaves`. `claims` counts how often it was taken up: who has an earlier
    number is no longer its worker, whatever its name.
    """

    id: str
    owner: str
    kind: str
    request_id: str
    body: Mapping[str, Any] = field(repr=False)
    state: JobState
    asked: datetime
    leaves: datetime | None
    charge: int | None
    problem: Mapping[str, Any] | None = field(repr=False)
    language: str
    claims: int = 0

    def ended(self, now: datetime) -> bool:
        """Whether its owner may know that it has ended."""
        return self.state is JobState.CANCELLED or (self.leaves is not None and self.leaves <= now)

    def face(self, now: datetime) -> dict[str, object]:
        """What its owner sees, as JSON: `running` until it may leave, and nothing of when or by whom it was begun.

        How many wait before it is not told: that moves when somebody else's job ends, which tells how long it took.
        `next_look` is when its end could be seen next, which follows from when it was asked.
        """
        ended = self.ended(now)
        return {
            "id": self.id,
            "kind": self.kind,
            "request_id": self.request_id,
            "asked": self.asked.isoformat(),
            "state": str(self.state if ended else JobState.RUNNING),
            "next_look": None if ended else next_slot(self.asked, now).isoformat(),
            "charge": self.charge if ended else None,
            "problem": dict(self.problem) if ended and self.problem is not None else None,
        }


def tell_failure(job: Job, *, charging: bool) -> dict[str, object]:
    """The problem of a job that ended without its worker's word, in the job's language.

    The sentences are fixed, because the cause may follow from the rows.
    """
    with speaking(job.language):
        if not charging:
            message = say(
                "this could not be worked out, and nothing was charged. Ask again under another request id, or ask the "
                "custodian; nothing more can be said here."
            )
            return {**Refused(message).to_dict(), "charged": False}
        message = say(
            "this could not be worked out, and it may have been charged. Ask again under the request id {request_id}: "
            "what was charged is not charged again.",
            request_id=job.request_id,
        )
    return {
        "error": ChargedNotAnswered.__name__,
        "message": message,
        "fields": {"request_id": job.request_id},
        "charged": True,
    }


# --- how a job stands in its row ------------------------------------------------------------------------------------


def attest_job(attest: Attest, said: tuple[str | int, ...]) -> str:
    """The key's word for who asks what: for the columns up to `asked`, as they stand in the row."""
    return attest("job", *said)


def read_job(row: tuple[Any, ...], attest: Attest) -> Job | None:
    """The job in a row of COLUMNS; None where the key's word does not hold, or where it cannot be read."""
    *said, word, state, leaves, charge, problem, claims = row
    if [type(one) for one in (*said, word)] != [*[str] * 6, int, str]:
        return None
    if not hmac.compare_digest(word.encode(), attest_job(attest, tuple(said)).encode()):
        return None
    id, owner, kind, request_id, body, language, asked = said
    try:
        return Job(
            id=id,
            owner=owner,
            kind=kind,
            request_id=request_id,
            body=_read_object(body),
            state=JobState(state),
            asked=_moment(asked),
            leaves=None if leaves is None else _moment(leaves),
            charge=charge,
            problem=None if problem is None else _read_object(problem),
            language=language,
            claims=claims,
        )
    except (ValueError, TypeError, OverflowError, RecursionError):
        return None


def write_json(found: Mapping[str, Any]) -> str:
    """The same text for the same content, in letters that every database takes."""
    return json.dumps(found, sort_keys=True, separators=(",", ":"), allow_nan=False)


def _read_object(text: str) -> dict[str, Any]:
    found = json.loads(text)
    if not isinstance(found, dict):
        raise TypeError("neither a question nor a problem")
    return found


def in_microseconds(moment: datetime) -> int:
    return (moment - _START) // timedelta(microseconds=1)


def _moment(microseconds: int) -> datetime:
    return _START + timedelta(microseconds=microseconds)
