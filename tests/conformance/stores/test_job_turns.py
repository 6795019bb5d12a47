"""Whose job is next: owners take turns, and whoever asks without end waits for themselves."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from discreet.errors import Refused
from discreet.work import JOB_TABLES, Job, JobState, JobStore, job_store
from discreet.work.job_store import MOST_OPEN
from tests.conformance.stores.conftest import OpenStore
from tests.conformance.stores.job_client import vouch

ASKED = datetime(2026, 3, 1, 12, tzinfo=UTC)
SECOND = timedelta(seconds=1)
LEASE = 30
SQL = {"sql": "SELECT COUNT(*) FROM survey"}


@pytest.fixture
def jobs(open_place: OpenStore) -> JobStore:
    return JobStore(open_place(JOB_TABLES), vouch)


def ask(jobs: JobStore, owner: str, request_id: str, *, after: float = 0) -> Job:
    return jobs.submit(owner, "query", request_id, SQL, language="en", asked=ASKED + after * SECOND)


def fill(jobs: JobStore, owner: str, *, after: float = 0) -> list[Job]:
    """As many jobs as somebody may have."""
    return [ask(jobs, owner, f"r{number:02}", after=after) for number in range(MOST_OPEN)]


def claim(jobs: JobStore, worker: str = "one", *, after: float = 0) -> Job | None:
    return jobs.claim(worker, seconds=LEASE, now=ASKED + after * SECOND)


def finish(jobs: JobStore, job: Job, worker: str = "one", *, after: float) -> None:
    assert jobs.finish(job, worker, charge=1, problem=None, leaves=lambda: ASKED + after * SECOND)


# --- turns ----------------------------------------------------------------------------------------------------------


def test_who_asked_a_lot_does_not_hold_up_who_asked_once(jobs: JobStore) -> None:
    fill(jobs, "ada")
    for place, owner in enumerate(("ben", "eve"), start=1):
        ask(jobs, owner, "r1", after=place)
    turns = []
    for second in range(10, 17):
        job = claim(jobs, after=second)
        assert job is not None
        turns.append(job.owner)
        finish(jobs, job, after=second)
    assert turns == ["ada", "ben", "eve", "ada", "ada", "ada", "ada"]


def test_of_one_owner_the_oldest_is_next(jobs: JobStore) -> None:
    for number in (3, 1, 2):
        ask(jobs, "ada", f"a{number}", after=number)
        ask(jobs, "ben", f"b{number}", after=number + 10)
    turns = [job.request_id for second in range(20, 26) if (job := claim(jobs, f"w{second}", after=second))]
    assert turns == ["a1", "b1", "a2", "b2", "a3", "b3"]


def test_who_comes_while_others_are_at_work_is_next(jobs: JobStore) -> None:
    fill(jobs, "ada")
    for worker in range(3):
        claim(jobs, f"w{worker}", after=1)
    ask(jobs, "ben", "late", after=2)
    for turn in ("ben", "ada"):
        job = claim(jobs, "free", after=3)
        assert job is not None
        assert job.owner == turn


def test_what_kills_its_workers_waits_its_turn_as_well(jobs: JobStore) -> None:
    poison = ask(jobs, "ada", "poison")
    ask(jobs, "ben", "r1", after=5)
    lost = claim(jobs, after=6)
    assert lost is not None
    assert lost.id == poison.id
    after = claim(jobs, after=6 + LEASE)
    assert after is not None
    assert after.owner == "ben"


# --- how many -------------------------------------------------------------------------------------------------------


def test_nobody_has_more_than_so_many_that_are_open(jobs: JobStore) -> None:
    made = fill(jobs, "ada")
    for _ in range(2):
        with pytest.raises(Refused, match=r"^you have 20 jobs that have not ended.*Nothing was charged") as refused:
            ask(jobs, "ada", "more", after=1)
        assert refused.value.fields == {"most": MOST_OPEN}
    assert len(jobs.list("ada", 100)) == MOST_OPEN, "what is refused is not kept"
    assert ask(jobs, "ada", made[0].request_id, after=2) == made[0], "the same again is the same job"
    ask(jobs, "ben", "more", after=1)
    assert jobs.cancel("ada", made[3].id).state is JobState.CANCELLED
    ask(jobs, "ada", "more", after=3)
    with pytest.raises(Refused):
        ask(jobs, "ada", "and-more", after=4)


def test_that_one_more_is_taken_tells_of_no_end_before_it_may_leave(jobs: JobStore) -> None:
    fill(jobs, "ada")
    job = claim(jobs, after=1)
    assert job is not None
    finish(jobs, job, after=8)
    with pytest.raises(Refused, match="have not ended"):
        ask(jobs, "ada", "more", after=7.999)
    ask(jobs, "ada", "more", after=8)


def test_what_ended_is_forgotten_beyond_so_many(jobs: JobStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(job_store, "_FORGET", job_store._FORGET.replace(f"OFFSET {job_store.MOST_KEPT}", "OFFSET 3"))
    for number in range(6):
        jobs.cancel("ada", ask(jobs, "ada", f"a{number}", after=number).id)
        ask(jobs, "ben", f"b{number}", after=number)
    open_one = ask(jobs, "ada", "open", after=9)
    assert [job.request_id for job in jobs.list("ada", 100)] == ["open", "a5", "a4", "a3"]
    assert len(jobs.list("ben", 100)) == 6, "what is open stays, and what is others'"
    assert jobs.find("ada", open_one.id) == open_one
