"""Where jobs wait: who takes one up has it until its lease runs out, and then somebody else may.

Owners take turns, so that whoever asks much waits for themselves; and nobody has more than MOST_OPEN jobs at a time.

Every change is one statement of a durable transaction, but for the renewal of a lease: one that is lost with the
machine ends earlier, which costs nothing but a second run. Leases are read by the clock of whoever claims; clocks of
machines that share a store should agree to some seconds.

A row that was not written here counts for nobody (`read_job`), and whoever meets it in the queue removes it.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, Final

from discreet.catalogue import Phrase, say
from discreet.errors import Refused, RequestConflict, UnknownName
from discreet.ledger import check_name
from discreet.stores import Rows, Run, Store
from discreet.work.jobs import (
    COLUMNS,
    Attest,
    Job,
    JobState,
    attest_job,
    in_microseconds,
    read_job,
    tell_failure,
    write_json,
)
from discreet.work.slots import next_slot

__all__ = ["MOST_KEPT", "MOST_LOST", "MOST_OPEN", "WRITING", "JobStore"]

MOST_LOST: Final = 5
"""So many lost leases end a job: its question may be what kills the workers."""

MOST_OPEN: Final = 20
"""So many jobs of one owner may be open, as the owner sees it."""

MOST_KEPT: Final = 1_000
"""So many jobs that have ended are kept for one owner; older ones are forgotten earlier than `sweep` does."""

WRITING: Final = timedelta(milliseconds=100)
"""An end is written before its slot comes: what is written later would be seen later, and tell when it was ready."""

_KEPT: Final = timedelta(days=30)
_ID: Final = re.compile(r"[0-9a-f]{32}", re.ASCII)

_SUBMIT: Final = f"""
INSERT INTO jobs (id, owner, kind, request_id, body, language, asked, word, state)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, 'waiting') RETURNING {COLUMNS}
"""
_FIND_ASKED: Final = f"SELECT {COLUMNS} FROM jobs WHERE owner = ? AND request_id = ?"
_REMOVE_ASKED: Final = "DELETE FROM jobs WHERE owner = ? AND request_id = ?"
_REMOVE: Final = "DELETE FROM jobs WHERE id = ?"
_OPEN: Final = "state <> 'cancelled' AND (leaves IS NULL OR leaves > ?)"
_FIND_OPEN: Final = f"SELECT {COLUMNS} FROM jobs WHERE owner = ? AND {_OPEN}"
_FORGET: Final = f"""
DELETE FROM jobs WHERE id IN (
    SELECT id FROM jobs WHERE owner = ? AND NOT ({_OPEN}) ORDER BY asked DESC, id LIMIT 1000000 OFFSET {MOST_KEPT}
)
"""
_REVIVE: Final = f"""
UPDATE jobs SET
    state = 'charging', language = ?, asked = ?, word = ?, leaves = NULL, charge = NULL, problem = NULL, lost = 0
WHERE id = ? RETURNING {COLUMNS}
"""
_CLAIM: Final = f"""
UPDATE jobs SET
    state = CASE state WHEN 'waiting' THEN 'running' ELSE state END,
    lost = lost + CASE WHEN worker IS NULL THEN 0 ELSE 1 END,
    claims = claims + 1, worker = ?, taken = ?, lease = ?
WHERE id = (
    SELECT id FROM jobs AS free WHERE state IN ('waiting', 'running', 'charging') AND (lease IS NULL OR lease <= ?)
    ORDER BY (SELECT MAX(taken) FROM jobs AS own WHERE own.owner = free.owner), asked, id LIMIT 1
)
RETURNING {COLUMNS}, lost
"""
_OWN: Final = "id = ? AND worker = ? AND claims = ? AND state IN ('running', 'charging') RETURNING id"
_RENEW: Final = f"UPDATE jobs SET lease = ? WHERE {_OWN}"
_BEGIN_CHARGE: Final = f"UPDATE jobs SET state = 'charging' WHERE {_OWN}"
_FINISH: Final = f"""
UPDATE jobs SET state = ?, charge = ?, problem = ?, leaves = ?, worker = NULL, lease = NULL WHERE {_OWN}
"""
_CANCEL: Final = """
UPDATE jobs SET state = 'cancelled', worker = NULL, lease = NULL
WHERE owner = ? AND id = ? AND state IN ('waiting', 'running') RETURNING id
"""
_SWEEP: Final = """
DELETE FROM jobs WHERE state IN ('done', 'failed', 'cancelled') AND COALESCE(leaves, asked) <= ? RETURNING id
"""


class JobStore:
    """The jobs of everybody who asks here. `store` has the tables JOB_TABLES; `attest` gives the word of the key.

    `look` reads the ledger: a worker that was idle learns by it of another key, and removes nothing that is ours.
    Jobs from before another key count for nobody.
    """

    def __init__(self, store: Store, attest: Attest, look: Callable[[], object] = lambda: None) -> None:
        self._store = store
        self._attest = attest
        self._look = look

    def close(self) -> None:
        self._store.close()

    # --- who asks ---------------------------------------------------------------------------------------------------

    def submit(
        self, owner: str, kind: str, request_id: str, body: Mapping[str, Any], *, language: str, asked: datetime
    ) -> Job:
        """A job that waits. The same again is the same job; another under its request id is a RequestConflict.

        One that failed although it may have been charged is taken up again, and meets its charge. Refused where the
        owner has too many.
        """
        check_name(request_id, parameter=Phrase("request id"))
        text, moment = write_json(body), in_microseconds(asked)
        with self._store.writing() as run:
            job = self._read_first(run(_FIND_ASKED, owner, request_id))
            if job is None:
                run(_REMOVE_ASKED, owner, request_id)
                said = (secrets.token_hex(16), owner, kind, request_id, text, language, moment)
                made = run(_SUBMIT, *said, attest_job(self._attest, said))
                self._require_few(run, owner, moment)
                run(_FORGET, owner, moment)
                return self._read_own(made)
            if (job.kind, write_json(job.body)) != (kind, text):
                raise _conflict(request_id)
            if _may_be_taken_up_again(job, asked):
                said = (job.id, owner, kind, request_id, text, language, moment)
                return self._read_own(run(_REVIVE, language, moment, attest_job(self._attest, said), job.id))
            return job

    def find(self, owner: str, id: str) -> Job:
        """A job of this owner; UnknownName for anybody else's, in the same words as for one that never was."""
        with self._store.reading() as run:
            return self._find(run, owner, id)

    def list(self, owner: str, limit: int) -> tuple[Job, ...]:
        """The owner's newest jobs."""
        statement = f"SELECT {COLUMNS} FROM jobs WHERE owner = ? ORDER BY asked DESC, id LIMIT ?"
        with self._store.reading() as run:
            found = [read_job(row, self._attest) for row in run(statement, owner, limit)]
        return tuple(job for job in found if job is not None)

    def cancel(self, owner: str, id: str) -> Job:
        """End a job before it is charged; Refused from then on, whatever became of it."""
        with self._store.writing() as run:
            job = self._find(run, owner, id)
            if run(_CANCEL, owner, id):
                return replace(job, state=JobState.CANCELLED)
        if job.state is not JobState.CANCELLED:
            raise Refused(
                say(
                    "this job can no longer be cancelled: it may have been charged. Its answer, or what kept it from "
                    "one, is given when it may leave."
                ),
                job=job.id,
            )
        return job

    # --- who works --------------------------------------------------------------------------------------------------

    def claim(self, worker: str, *, seconds: int, now: datetime, slots: bool = True) -> Job | None:
        """A job that waits, or whose lease has run out, for so many seconds. Two workers never get one.

        It is the oldest of the owner who was served the longest ago. Jobs that lost too many leases end here; with
        `slots` their owners learn of it at a public time.
        """
        moment, until = in_microseconds(now), in_microseconds(now + timedelta(seconds=seconds))
        with self._store.writing() as run:
            while claimed := run(_CLAIM, worker, moment, until, moment):
                *row, lost = claimed[0]
                job = self._read_anew(tuple(row))
                if job is None:
                    run(_REMOVE, row[0])
                    continue
                if lost < MOST_LOST:
                    return job
                problem = tell_failure(job, charging=job.state is JobState.CHARGING)
                leaves = next_slot(job.asked, now + WRITING) if slots else now
                _finish(run, job, worker, charge=None, problem=problem, leaves=leaves)
        return None

    def renew(self, job: Job, worker: str, *, seconds: int, now: datetime) -> bool:
        """Keep a job for so many seconds from now; False where it is no longer this worker's."""
        until = in_microseconds(now + timedelta(seconds=seconds))
        with self._store.jotting() as run:
            return bool(run(_RENEW, until, job.id, worker, job.claims))

    def begin_charge(self, job: Job, worker: str) -> bool:
        """Whether the job may be charged now. It is asked before anything of it stands on the ledger.

        False where the owner has cancelled it, or where it is no longer this worker's.
        """
        with self._store.writing() as run:
            return bool(run(_BEGIN_CHARGE, job.id, worker, job.claims))

    def finish(
        self,
        job: Job,
        worker: str,
        *,
        charge: int | None,
        problem: Mapping[str, Any] | None,
        leaves: Callable[[], datetime],
    ) -> bool:
        """End a job: failed where there is a problem, else done. False where it is no longer this worker's.

        When it `leaves` is asked once it can be written: who waits for others to write may miss a slot.
        """
        with self._store.writing() as run:
            return _finish(run, job, worker, charge=charge, problem=problem, leaves=leaves())

    def sweep(self, now: datetime) -> int:
        """Forget jobs that ended thirty days ago, and say how many. Charges and answers stay on the ledger."""
        with self._store.writing() as run:
            return len(run(_SWEEP, in_microseconds(now - _KEPT)))

    # --- rows -------------------------------------------------------------------------------------------------------

    def _read_first(self, rows: Rows) -> Job | None:
        return read_job(rows[0], self._attest) if rows else None

    def _read_anew(self, row: tuple[Any, ...]) -> Job | None:
        job = read_job(row, self._attest)
        if job is None:
            self._look()
            job = read_job(row, self._attest)
        return job

    def _read_own(self, rows: Rows) -> Job:
        job = self._read_first(rows)
        assert job is not None, "it was written in this transaction"
        return job

    def _find(self, run: Run, owner: str, id: str) -> Job:
        """Only what may be an id is looked up: a database refuses some texts in words of its own."""
        found = run(f"SELECT {COLUMNS} FROM jobs WHERE owner = ? AND id = ?", owner, id) if _ID.fullmatch(id) else []
        job = self._read_first(found)
        if job is None:
            raise UnknownName(sort=Phrase("Job"), name=id[:40], where=Phrase("your jobs"))
        return job

    def _require_few(self, run: Run, owner: str, moment: int) -> None:
        """Counted as the owner sees them: that one more is taken must not tell of an end before it may leave."""
        found = [row for row in run(_FIND_OPEN, owner, moment) if read_job(row, self._attest) is not None]
        if len(found) > MOST_OPEN:
            raise Refused(
                say(
                    "you have {count} jobs that have not ended, and there may be no more. Nothing was charged; ask "
                    "again when one of them has ended, or cancel one.",
                    count=MOST_OPEN,
                ),
                most=MOST_OPEN,
            )


def _finish(
    run: Run, job: Job, worker: str, *, charge: int | None, problem: Mapping[str, Any] | None, leaves: datetime
) -> bool:
    state = JobState.DONE if problem is None else JobState.FAILED
    told = None if problem is None else write_json(problem)
    return bool(run(_FINISH, str(state), charge, told, in_microseconds(leaves), job.id, worker, job.claims))


def _may_be_taken_up_again(job: Job, now: datetime) -> bool:
    """Not before its owner may know of the failure: that it is taken up again would tell of it."""
    return job.problem is not None and job.problem.get("charged") is True and job.ended(now)


def _conflict(request_id: str) -> RequestConflict:
    return RequestConflict(
        say(
            "request id {request_id} was used for another question. Choose a new one; nothing was released or charged.",
            request_id=request_id,
        ),
        request_id=request_id,
    )
