"""A worker does jobs one at a time, keeps its lease, and lets nobody see when an end was ready."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from discreet.catalogue import language
from discreet.errors import RecordsUnavailable
from discreet.stores.sqlite_office import SqliteOffice
from discreet.work import JOB_TABLES, Job, JobOutcome, JobState, JobStore, Worker, job_worker
from discreet.work.job_store import MOST_LOST
from discreet.work.jobs import tell_failure
from tests.conformance.stores.job_client import vouch

PATIENCE = 60
"""Seconds, of which hardly any are used."""

BeforeCharge = Callable[[], bool]
Perform = Callable[[Job, BeforeCharge], JobOutcome]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteOffice]:
    made = SqliteOffice(tmp_path / "office.sqlite", JOB_TABLES)
    yield made
    made.close()


@pytest.fixture
def jobs(store: SqliteOffice) -> JobStore:
    return JobStore(store, vouch)


def now() -> datetime:
    return datetime.now(UTC)


def ask(jobs: JobStore, request_id: str = "r1", *, owner: str = "ada", language: str = "en", ago: float = 0) -> Job:
    asked = now() - timedelta(seconds=ago)
    return jobs.submit(owner, "query", request_id, {"sql": "SELECT 1"}, language=language, asked=asked)


def worker(jobs: JobStore, perform: Perform, *, name: str = "one", slots: bool = False, seconds: int = 600) -> Worker:
    return Worker(jobs, perform, name=name, slots=slots, seconds=seconds)


def answer(job: Job, before_charge: BeforeCharge) -> JobOutcome:
    assert before_charge()
    return JobOutcome(7, None)


# --- done -----------------------------------------------------------------------------------------------------------


def test_a_job_is_done_and_then_there_is_none(jobs: JobStore) -> None:
    made, seen = ask(jobs, language="fr"), list[Any]()

    def perform(job: Job, before_charge: BeforeCharge) -> JobOutcome:
        seen.append((job.id, job.state, jobs.find("ada", job.id).state, language()))
        assert before_charge()
        seen.append(jobs.find("ada", job.id).state)
        return JobOutcome(7, None)

    one = worker(jobs, perform)
    assert [one.run_one(), one.run_one()] == [True, False]
    assert seen == [(made.id, JobState.RUNNING, JobState.RUNNING, "fr"), JobState.CHARGING]
    done = jobs.find("ada", made.id)
    assert (done.state, done.charge, done.problem) == (JobState.DONE, 7, None)
    assert done.ended(now())
    assert language() == "en"


def test_a_problem_is_kept_as_it_was_told(jobs: JobStore) -> None:
    made, problem = ask(jobs), {"error": "BudgetExceeded", "message": "no", "charged": False}
    worker(jobs, lambda job, before: JobOutcome(None, problem)).run_one()
    failed = jobs.find("ada", made.id)
    assert (failed.state, failed.charge, failed.problem) == (JobState.FAILED, None, problem)


def test_a_job_that_was_cancelled_meanwhile_is_not_charged(jobs: JobStore) -> None:
    made, asked = ask(jobs), []

    def perform(job: Job, before_charge: BeforeCharge) -> JobOutcome:
        jobs.cancel("ada", job.id)
        asked.append(before_charge())
        return JobOutcome(7, None)

    assert worker(jobs, perform).run_one()
    assert asked == [False]
    cancelled = jobs.find("ada", made.id)
    assert (cancelled.state, cancelled.charge) == (JobState.CANCELLED, None)


# --- errors ---------------------------------------------------------------------------------------------------------


class Panic(BaseException):
    """As libraries in Rust raise it."""


@pytest.mark.parametrize("error", [ValueError("row 88 has 412000"), Panic("row 88"), MemoryError()], ids=repr)
@pytest.mark.parametrize("charging", [False, True])
def test_an_error_ends_the_job_in_a_fixed_sentence(
    jobs: JobStore, capsys: pytest.CaptureFixture[str], error: BaseException, charging: bool
) -> None:
    made = ask(jobs, language="fr")

    def perform(job: Job, before_charge: BeforeCharge) -> JobOutcome:
        assert not charging or before_charge()
        raise error

    assert worker(jobs, perform).run_one()
    failed = jobs.find("ada", made.id)
    assert (failed.state, failed.charge) == (JobState.FAILED, None)
    assert failed.problem is not None
    assert failed.problem["charged"] is charging
    assert failed.problem["error"] == ("ChargedNotAnswered" if charging else "Refused")
    assert failed.problem == tell_failure(made, charging=charging), "in the language of its owner"
    assert ("r1" in failed.problem["message"]) is charging
    told = capsys.readouterr().err
    assert told == f"A worker met an unforeseen {type(error).__name__}.\n"
    assert "88" not in str(failed.problem)


def test_an_error_of_a_job_that_was_being_charged_may_have_charged_it(jobs: JobStore) -> None:
    """Whoever had it before may have: this worker did not come so far."""
    made = ask(jobs)
    first = jobs.claim("lost", seconds=0, now=now())
    assert first is not None
    assert jobs.begin_charge(first, "lost")

    def perform(job: Job, before_charge: BeforeCharge) -> JobOutcome:
        raise ValueError

    assert worker(jobs, perform).run_one()
    failed = jobs.find("ada", made.id)
    assert failed.problem is not None
    assert failed.problem["charged"] is True


@pytest.mark.parametrize("end", [KeyboardInterrupt, SystemExit])
def test_a_process_that_ends_leaves_the_job_to_another(jobs: JobStore, end: type[BaseException]) -> None:
    made = ask(jobs)

    def perform(job: Job, before_charge: BeforeCharge) -> JobOutcome:
        raise end

    with pytest.raises(end):
        worker(jobs, perform).run_one()
    assert jobs.find("ada", made.id).state is JobState.RUNNING
    assert jobs.claim("two", seconds=1, now=now()) is None, "its lease holds"
    assert not [thread for thread in threading.enumerate() if thread.name == "lease of one"]
    again = jobs.claim("two", seconds=1, now=now() + timedelta(seconds=601))
    assert again is not None
    assert again.id == made.id


def test_a_job_that_lost_too_many_workers_is_not_done_again(jobs: JobStore) -> None:
    made = ask(jobs)
    for number in range(MOST_LOST):
        assert jobs.claim(f"lost {number}", seconds=0, now=now()) is not None
    done: list[str] = []
    other = ask(jobs, "r2")

    def perform(job: Job, before_charge: BeforeCharge) -> JobOutcome:
        done.append(job.id)
        return answer(job, before_charge)

    one = worker(jobs, perform)
    assert [one.run_one(), one.run_one()] == [True, False]
    assert done == [other.id]
    assert jobs.find("ada", made.id).state is JobState.FAILED


# --- the lease ------------------------------------------------------------------------------------------------------


def lease_of(store: SqliteOffice, job: Job) -> int:
    with store.reading() as run:
        [(found,)] = run("SELECT lease FROM jobs WHERE id = ?", job.id)
    return int(found)


def until(met: Callable[[], bool]) -> None:
    """Wait for it; a test that waits in vain fails."""
    end = threading.Event()
    for _ in range(PATIENCE * 50):
        if met():
            return
        end.wait(0.02)
    pytest.fail("waited in vain")


def wait_for_renewal(store: SqliteOffice, job: Job) -> None:
    before = lease_of(store, job)
    until(lambda: lease_of(store, job) > before)


def test_a_lease_is_renewed_while_the_job_is_done(store: SqliteOffice, jobs: JobStore) -> None:
    made = ask(jobs)

    def perform(job: Job, before_charge: BeforeCharge) -> JobOutcome:
        for _ in range(2):
            wait_for_renewal(store, job)
        return answer(job, before_charge)

    assert worker(jobs, perform, seconds=1).run_one()
    assert jobs.find("ada", made.id).state is JobState.DONE
    assert not [thread for thread in threading.enumerate() if thread.name == "lease of one"]


def test_a_lease_that_could_not_be_renewed_is_tried_again(
    store: SqliteOffice, jobs: JobStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask(jobs)
    renew, faults = jobs.renew, iter([RecordsUnavailable("away"), OSError()])

    def fail_first(*arguments: Any, **options: Any) -> bool:
        if (fault := next(faults, None)) is not None:
            raise fault
        return renew(*arguments, **options)

    monkeypatch.setattr(jobs, "renew", fail_first)

    def perform(job: Job, before_charge: BeforeCharge) -> JobOutcome:
        wait_for_renewal(store, job)
        return answer(job, before_charge)

    assert worker(jobs, perform, seconds=1).run_one()


def test_who_lost_the_lease_neither_charges_nor_ends_the_job(
    jobs: JobStore, capsys: pytest.CaptureFixture[str]
) -> None:
    made, asked = ask(jobs), []

    def take_over(job: Job, before_charge: BeforeCharge) -> JobOutcome:
        second = jobs.claim("two", seconds=600, now=now() + timedelta(seconds=601))
        assert second is not None
        until(lambda: not [thread for thread in threading.enumerate() if thread.name == "lease of one"])
        asked.append(before_charge())
        assert jobs.begin_charge(second, "two")
        assert jobs.finish(second, "two", charge=8, problem=None, leaves=now)
        return JobOutcome(7, None)

    assert worker(jobs, take_over, seconds=1).run_one()
    assert asked == [False]
    assert jobs.find("ada", made.id).charge == 8
    assert capsys.readouterr().err == ""


# --- slots ----------------------------------------------------------------------------------------------------------


def is_slot(taken: timedelta) -> bool:
    quarters = taken / timedelta(milliseconds=250)
    return quarters == int(quarters) and int(quarters).bit_count() == 1


@pytest.mark.parametrize("ago", [0, 0.2, 3, 70])
@pytest.mark.parametrize("problem", [None, {"error": "Refused", "charged": False}])
def test_an_end_leaves_at_a_slot_after_it_was_written(
    jobs: JobStore, ago: float, problem: dict[str, Any] | None
) -> None:
    made = ask(jobs, ago=ago)
    before = now()
    worker(jobs, lambda job, charge: JobOutcome(None if problem else 7, problem), slots=True).run_one()
    ended = jobs.find("ada", made.id)
    assert ended.leaves is not None
    assert ended.leaves > before
    assert is_slot(ended.leaves - made.asked)


def test_an_end_that_had_to_wait_to_be_written_leaves_at_a_later_slot(store: SqliteOffice, jobs: JobStore) -> None:
    """Otherwise it would be seen between two slots, as soon as it is written."""
    made, held, over = ask(jobs), threading.Event(), threading.Event()
    other = SqliteOffice(store._path, JOB_TABLES)

    def hold() -> datetime:
        with other.writing():
            held.set()
            assert over.wait(PATIENCE)
            until(lambda: now() - made.asked > timedelta(seconds=0.6))
            return now()

    with ThreadPoolExecutor(1) as pool:
        holding = []

        def perform(job: Job, before_charge: BeforeCharge) -> JobOutcome:
            assert before_charge()
            holding.append(pool.submit(hold))
            assert held.wait(PATIENCE)
            over.set()
            return JobOutcome(7, None)

        worker(jobs, perform, slots=True).run_one()
        freed = holding[0].result()
    other.close()
    ended = jobs.find("ada", made.id)
    assert ended.leaves is not None
    assert ended.leaves > freed
    assert is_slot(ended.leaves - made.asked)


def test_without_slots_an_end_leaves_at_once(jobs: JobStore) -> None:
    made = ask(jobs)
    worker(jobs, answer).run_one()
    assert jobs.find("ada", made.id).ended(now())


# --- on and on ------------------------------------------------------------------------------------------------------


@pytest.fixture
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(job_worker, "_SHORTEST", 0.001)
    monkeypatch.setattr(job_worker, "_LONGEST", 0.01)


@pytest.fixture
def stop() -> threading.Event:
    return threading.Event()


def start(one: Worker, stop: threading.Event) -> threading.Thread:
    thread = threading.Thread(target=one.run, args=(stop,))
    thread.start()
    return thread


def end(thread: threading.Thread, stop: threading.Event) -> None:
    stop.set()
    thread.join(PATIENCE)
    assert not thread.is_alive()


@pytest.mark.usefixtures("hurried")
def test_jobs_are_done_as_they_come_each_by_one_worker(jobs: JobStore, stop: threading.Event) -> None:
    done: list[str] = []

    def perform(job: Job, before_charge: BeforeCharge) -> JobOutcome:
        done.append(job.request_id)
        return answer(job, before_charge)

    threads = [start(worker(jobs, perform, name=name), stop) for name in ("one", "two", "three")]
    for batch in range(2):
        for number in range(15):
            ask(jobs, f"r{batch}-{number}")
        until(lambda batch=batch: len(done) == 15 * (batch + 1))  # type: ignore[misc]
    for thread in threads:
        end(thread, stop)
    assert len(set(done)) == 30
    assert {job.state for job in jobs.list("ada", 100)} == {JobState.DONE}


def test_a_worker_that_is_told_to_stop_does_what_it_began_and_no_more(jobs: JobStore, stop: threading.Event) -> None:
    for number in range(3):
        ask(jobs, f"r{number}")

    def perform(job: Job, before_charge: BeforeCharge) -> JobOutcome:
        stop.set()
        return answer(job, before_charge)

    worker(jobs, perform).run(stop)
    states = sorted(job.state for job in jobs.list("ada", 10))
    assert states == [JobState.DONE, JobState.WAITING, JobState.WAITING]
    worker(jobs, perform).run(stop)
    assert sorted(job.state for job in jobs.list("ada", 10)) == states, "told before, it does nothing"


@pytest.mark.usefixtures("hurried")
def test_a_store_that_is_away_is_asked_again_and_told_of_once(
    jobs: JobStore, stop: threading.Event, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    claim = jobs.claim
    away = RecordsUnavailable("host=secret")
    faults = iter([away, away, away, KeyError("secret"), away, None, away])

    def claim_later(*arguments: Any, **options: Any) -> Job | None:
        if (fault := next(faults, None)) is not None:
            raise fault
        return claim(*arguments, **options)

    monkeypatch.setattr(jobs, "claim", claim_later)
    made = ask(jobs)
    thread = start(worker(jobs, answer), stop)
    until(lambda: jobs.find("ada", made.id).state is JobState.DONE and next(faults, None) is None)
    end(thread, stop)
    told = capsys.readouterr().err.splitlines()
    names = [line.removeprefix("A worker met an unforeseen ").removesuffix(".") for line in told]
    assert names[:3] == ["RecordsUnavailable", "KeyError", "RecordsUnavailable"]
    assert len(names) <= 4
    assert "secret" not in "".join(told)


@pytest.mark.usefixtures("hurried")
def test_an_end_that_cannot_be_written_is_met_again_when_the_lease_has_run_out(
    jobs: JobStore, stop: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    finish, faults, done = jobs.finish, iter([RecordsUnavailable("full")]), []

    def fail_first(*arguments: Any, **options: Any) -> bool:
        if (fault := next(faults, None)) is not None:
            raise fault
        return finish(*arguments, **options)

    def perform(job: Job, before_charge: BeforeCharge) -> JobOutcome:
        done.append(job.state)
        return answer(job, before_charge)

    monkeypatch.setattr(jobs, "finish", fail_first)
    made = ask(jobs)
    thread = start(worker(jobs, perform, seconds=0), stop)
    until(lambda: jobs.find("ada", made.id).state is JobState.DONE)
    end(thread, stop)
    assert done == [JobState.RUNNING, JobState.CHARGING]


@pytest.mark.usefixtures("hurried")
def test_a_worker_sweeps_when_it_begins(jobs: JobStore, stop: threading.Event) -> None:
    month = 31 * 86_400
    old, young = ask(jobs, "old", ago=month), ask(jobs, "young", ago=month - 2 * 86_400)
    for job in (old, young):
        jobs.cancel("ada", job.id)
    thread = start(worker(jobs, answer), stop)
    until(lambda: [job.id for job in jobs.list("ada", 10)] == [young.id])
    end(thread, stop)
