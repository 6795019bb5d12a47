"""Jobs on both stores: claimed by one worker at a time, done once whoever dies, and seen by nobody but their owner."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest

from discreet.errors import DiscreetError, ParameterInvalid, Refused, RequestConflict, UnknownName
from discreet.ledger import Ledger, LedgerConfig, create_ledger
from discreet.work import Job, JobState, JobStore, job_store, next_slot
from discreet.work.job_store import MOST_LOST, MOST_OPEN
from tests.conformance.ledger.conftest import DSN_ENV, terms
from tests.conformance.stores.job_client import jobs_beside, open_tables, perform_with, vouch
from tests.places import ROOT

CLIENT = Path(__file__).with_name("job_client.py")
ASKED = datetime(2026, 3, 1, 12, tzinfo=UTC)
SECOND = timedelta(seconds=1)
LEASE = 30
SQL = {"sql": "SELECT COUNT(*) FROM survey", "epsilon": "0.1"}
ANSWERED: dict[str, Any] = {"charge": 7, "problem": None}


@pytest.fixture(params=["sqlite", "postgres"])
def job_place(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> LedgerConfig:
    """Where a ledger is, and jobs are beside it."""
    keys: dict[str, Any] = {"key_path": tmp_path / "outside" / "key", "anchor_path": tmp_path / "outside" / "anchor"}
    if request.param == "sqlite":
        return LedgerConfig(workspace_id=str(uuid.uuid4()), store="sqlite", path=tmp_path / "ledger.sqlite", **keys)
    monkeypatch.setenv(DSN_ENV, request.getfixturevalue("postgres_dsn"))
    return LedgerConfig(workspace_id=str(uuid.uuid4()), store="postgres", dsn_env=DSN_ENV, **keys)


@pytest.fixture
def jobs(job_place: LedgerConfig) -> Iterator[JobStore]:
    with jobs_beside(job_place) as opened:
        yield opened


@pytest.fixture
def charged_ledger(job_place: LedgerConfig) -> Iterator[Ledger]:
    with create_ledger(job_place) as made:
        made.register(terms())
        made.give_version("cchs", "survey", above=0, who="custodian")
        made.add_analyst("ada", who="custodian")
        yield made


def ask(jobs: JobStore, request_id: str = "r1", *, owner: str = "ada", after: int = 0) -> Job:
    return jobs.submit(owner, "query", request_id, SQL, language="en", asked=ASKED + after * SECOND)


def at(moment: datetime) -> Callable[[], datetime]:
    return lambda: moment


def claim(jobs: JobStore, worker: str = "one", *, after: int = 0) -> Job | None:
    return jobs.claim(worker, seconds=LEASE, now=ASKED + after * SECOND)


def claimed(jobs: JobStore, worker: str = "one", *, after: int = 0) -> Job:
    job = claim(jobs, worker, after=after)
    assert job is not None
    return job


# --- asked ----------------------------------------------------------------------------------------------------------


def test_the_same_question_again_is_the_same_job(jobs: JobStore) -> None:
    made = ask(jobs)
    again = jobs.submit("ada", "query", "r1", dict(reversed(SQL.items())), language="fr", asked=ASKED + SECOND)
    assert again == made == jobs.find("ada", made.id)
    assert (made.state, made.body, made.asked, made.language) == (JobState.WAITING, SQL, ASKED, "en")
    assert ask(jobs, owner="ben").id != made.id


@pytest.mark.parametrize(("kind", "body"), [("workload", SQL), ("query", {**SQL, "epsilon": "0.2"})])
def test_another_question_under_a_request_id_is_refused(jobs: JobStore, kind: str, body: dict[str, str]) -> None:
    made = ask(jobs)
    with pytest.raises(RequestConflict, match="request id r1 was used for another question"):
        jobs.submit("ada", kind, "r1", body, language="en", asked=ASKED)
    assert jobs.list("ada", 10) == (made,)


def test_what_was_asked_is_kept_as_it_was(jobs: JobStore) -> None:
    body = {"sql": "SELECT 'é\u2028\0' -- ? %s", "list": [1, 0.1, None, True], "deep": {"b": {}, "a": "\ud800"}}
    made = jobs.submit("ada", "query", "r1", body, language="fr", asked=ASKED + timedelta(microseconds=1))
    assert made.body == body
    assert jobs.find("ada", made.id) == made
    assert jobs.submit("ada", "query", "r1", body, language="fr", asked=ASKED) == made


def test_a_request_id_is_a_name(jobs: JobStore) -> None:
    with pytest.raises(ParameterInvalid):
        ask(jobs, "two words")


def test_others_see_no_more_of_a_job_than_of_one_that_never_was(jobs: JobStore) -> None:
    made = ask(jobs)
    ask(jobs, owner="ben")

    def told(owner: str, id: str) -> set[str]:
        words = set()
        for see in (jobs.find, jobs.cancel):
            with pytest.raises(UnknownName) as refused:
                see(owner, id)
            words.add(refused.value.message.replace(id, "ID"))
            assert refused.value.fields["nearest"] is None
        return words

    assert told("ben", made.id) == told("ben", "0" * 32) == told("eve", made.id) == {"Job 'ID' is not in your jobs."}
    assert told("ada", made.id[:-1]) == told("ada", "%") == {"Job 'ID' is not in your jobs."}
    for odd in ("\0", "\ud800", made.id.upper() + "G"):
        with pytest.raises(UnknownName):
            jobs.find("ada", odd)
    assert jobs.find("ada", made.id).state is JobState.WAITING
    assert jobs.list("eve", 10) == ()


def test_an_owner_has_a_list_with_the_newest_first(jobs: JobStore) -> None:
    for number in range(4):
        ask(jobs, f"r{number}", after=number)
        ask(jobs, f"r{number}", owner="ben", after=number)
    listed = jobs.list("ada", 3)
    assert [job.request_id for job in listed] == ["r3", "r2", "r1"]
    assert {job.owner for job in listed} == {"ada"}


# --- rows that were not written here --------------------------------------------------------------------------------


def write(jobs: JobStore, *statements: str) -> None:
    """What is done by who can write the tables and has not the key."""
    with jobs._store.writing() as run:
        for statement in statements:
            run(statement)


@pytest.mark.parametrize(
    "change",
    [
        "owner = 'eve'", "kind = 'workload'", "request_id = 'other'", "language = 'fr'", "asked = asked + 1",
        """body = '{"epsilon":"9","sql":"SELECT 1"}'""", "body = 'no JSON'", "body = ''", "word = ''", "word = 'é'",
        f"id = '{'0' * 32}'",
    ],
)  # fmt: skip
def test_a_row_that_somebody_changed_counts_for_nobody(jobs: JobStore, change: str) -> None:
    made, other = ask(jobs), ask(jobs, "r2", after=1)
    write(jobs, f"UPDATE jobs SET {change} WHERE id = '{made.id}'")
    for owner in ("ada", "eve"):
        for id in (made.id, "0" * 32):
            for see in (jobs.find, jobs.cancel):
                with pytest.raises(UnknownName):
                    see(owner, id)
        assert jobs.list(owner, 10) == ((other,) if owner == "ada" else ())
    assert claimed(jobs, after=2) == replace(other, state=JobState.RUNNING, claims=1), "the queue goes on"
    assert claim(jobs, after=2) is None
    again = ask(jobs, after=3)
    assert again.id != made.id
    assert jobs.list("ada", 10) == (again, jobs.find("ada", other.id))


def test_what_the_key_vouches_for_but_cannot_be_read_is_passed_over(jobs: JobStore) -> None:
    for number, body in enumerate(("{", "[]", "[" * 100_000, "null", '{"a": NaN')):
        said = (f"{number:032}", "ada", "query", f"broken{number}", body, "en", 1)
        with jobs._store.writing() as run:
            run(job_store._SUBMIT, *said, vouch("job", *said))
    other = ask(jobs)
    assert claimed(jobs).id == other.id
    assert jobs.list("ada", 10) == (jobs.find("ada", other.id),)


@pytest.mark.parametrize("column", ["state = 'odd'", "problem = '{'", "problem = '3'", f"leaves = {2**62}"])
def test_what_is_not_vouched_for_does_not_stop_anybody(jobs: JobStore, column: str) -> None:
    made, other = ask(jobs), ask(jobs, "r2", after=1)
    write(jobs, f"UPDATE jobs SET {column} WHERE id = '{made.id}'")
    assert jobs.list("ada", 10) == (other,)
    assert claimed(jobs, after=2).id == other.id
    assert ask(jobs, after=3).id != made.id


def test_rows_of_nobody_take_nobodys_place(jobs: JobStore) -> None:
    others = ask(jobs, owner="ben", after=1)
    columns = "owner, kind, body, language, asked, word, state"
    for number in range(MOST_OPEN):
        place = f"'{number:032}', 'forged{number}'"
        copied = f"SELECT {place}, 'ada', kind, body, language, 1, word, 'waiting' FROM jobs WHERE id = '{others.id}'"
        write(jobs, f"INSERT INTO jobs (id, request_id, {columns}) {copied}")
    made = ask(jobs)
    assert jobs.list("ada", 100) == (made,)
    assert [claimed(jobs, after=2).id, claimed(jobs, "two", after=2).id] == [made.id, others.id]
    assert claim(jobs, "three", after=2) is None


def test_a_worker_that_has_not_heard_of_another_key_removes_nothing(job_place: LedgerConfig) -> None:
    key = ["old"]
    idle = JobStore(open_tables(job_place), lambda *parts: vouch(*key, *parts), lambda: key.__setitem__(0, "new"))
    asked = JobStore(open_tables(job_place), lambda *parts: vouch("new", *parts))
    made = ask(asked)
    assert claimed(idle).id == made.id
    assert asked.find("ada", made.id).state is JobState.RUNNING
    for store in (idle, asked):
        store.close()


def test_a_question_that_is_taken_up_again_is_vouched_for_anew(jobs: JobStore) -> None:
    ask(jobs)
    job = claimed(jobs)
    assert jobs.begin_charge(job, "one")
    assert jobs.finish(job, "one", charge=None, problem={"charged": True}, leaves=at(ASKED + SECOND))
    again = jobs.submit("ada", "query", "r1", SQL, language="fr", asked=ASKED + 9 * SECOND)
    assert jobs.find("ada", again.id) == again
    assert (again.id, again.language) == (job.id, "fr")
    assert claimed(jobs, "two", after=9).id == job.id


# --- claimed --------------------------------------------------------------------------------------------------------


def test_the_oldest_is_claimed_first_and_by_one_worker(jobs: JobStore) -> None:
    for number in (2, 0, 1):
        ask(jobs, f"r{number}", after=number)
    taken = [claimed(jobs, worker, after=3) for worker in ("one", "two", "one")]
    assert [job.request_id for job in taken] == ["r0", "r1", "r2"]
    assert {job.state for job in taken} == {JobState.RUNNING}
    assert claim(jobs, "three", after=3) is None


def test_a_lease_that_runs_out_is_somebody_elses(jobs: JobStore) -> None:
    ask(jobs)
    job = claimed(jobs)
    assert claim(jobs, "two", after=LEASE - 1) is None
    assert claimed(jobs, "two", after=LEASE).id == job.id
    assert not jobs.renew(job, "one", seconds=LEASE, now=ASKED)
    assert not jobs.begin_charge(job, "one")
    assert not jobs.finish(job, "one", **ANSWERED, leaves=at(ASKED))
    assert jobs.find("ada", job.id).state is JobState.RUNNING


def test_a_renewed_lease_holds_longer(jobs: JobStore) -> None:
    ask(jobs)
    job = claimed(jobs)
    assert jobs.renew(job, "one", seconds=LEASE, now=ASKED + 20 * SECOND)
    assert claim(jobs, "two", after=LEASE + 19) is None
    assert jobs.finish(job, "one", **ANSWERED, leaves=at(ASKED))
    assert not jobs.renew(job, "one", seconds=LEASE, now=ASKED)
    assert claim(jobs, "two", after=10 * LEASE) is None


def test_a_worker_that_took_its_own_job_up_again_is_another(jobs: JobStore) -> None:
    ask(jobs)
    first, second = claimed(jobs), claimed(jobs, after=LEASE)
    assert not jobs.renew(first, "one", seconds=LEASE, now=ASKED)
    assert not jobs.begin_charge(first, "one")
    assert not jobs.finish(first, "one", **ANSWERED, leaves=at(ASKED))
    assert jobs.begin_charge(second, "one")
    assert jobs.finish(second, "one", **ANSWERED, leaves=at(ASKED))


def test_what_was_being_charged_goes_on_to_be_charged(jobs: JobStore) -> None:
    ask(jobs)
    job = claimed(jobs)
    assert jobs.begin_charge(job, "one")
    again = claimed(jobs, "two", after=LEASE)
    assert again.state is JobState.CHARGING
    assert jobs.begin_charge(again, "two")
    assert jobs.begin_charge(again, "two"), "asked twice it says the same"


@pytest.mark.parametrize("charging", [False, True])
def test_a_question_that_kills_its_workers_ends(jobs: JobStore, charging: bool) -> None:
    made = jobs.submit("ada", "query", "r1", SQL, language="fr", asked=ASKED)
    other = ask(jobs, "r2", after=1)
    for time in range(MOST_LOST):
        job = claimed(jobs, f"worker {time}", after=time * LEASE)
        assert job.id == made.id
        assert not charging or jobs.begin_charge(job, f"worker {time}")
    assert claimed(jobs, "last", after=MOST_LOST * LEASE).id == other.id, "the next one is not kept waiting"
    failed = jobs.find("ada", made.id)
    assert (failed.state, failed.charge) == (JobState.FAILED, None)
    assert failed.leaves == next_slot(ASKED, ASKED + MOST_LOST * LEASE * SECOND)
    assert failed.problem is not None
    assert failed.problem["charged"] is charging
    assert failed.problem["error"] == ("ChargedNotAnswered" if charging else "Refused")
    assert ("r1" in failed.problem["message"]) is charging


def test_a_job_that_waited_through_lost_leases_of_others_is_not_ended(jobs: JobStore) -> None:
    ask(jobs)
    for time in range(MOST_LOST - 1):
        claimed(jobs, f"worker {time}", after=time * LEASE)
    job = claimed(jobs, "last", after=MOST_LOST * LEASE)
    assert jobs.finish(job, "last", **ANSWERED, leaves=at(ASKED))


# --- charged or cancelled -------------------------------------------------------------------------------------------


def test_a_cancelled_job_is_never_charged(jobs: JobStore) -> None:
    waiting, running = ask(jobs, "r1", after=1), ask(jobs, "r0")
    job = claimed(jobs, after=2)
    assert job.id == running.id
    for made in (waiting, running):
        assert jobs.cancel("ada", made.id).state is JobState.CANCELLED
        assert jobs.cancel("ada", made.id).state is JobState.CANCELLED, "cancelled twice it stays so"
        assert jobs.find("ada", made.id).face(ASKED)["state"] == "cancelled"
    assert not jobs.begin_charge(job, "one")
    assert not jobs.finish(job, "one", **ANSWERED, leaves=at(ASKED))
    assert claim(jobs, "two", after=10 * LEASE) is None
    assert ask(jobs, "r0").state is JobState.CANCELLED, "a request that is sent again does not bring it back"


def test_a_job_that_may_have_been_charged_is_not_cancelled(jobs: JobStore) -> None:
    made = ask(jobs)
    job = claimed(jobs)
    assert jobs.begin_charge(job, "one")
    told = []
    for finish in (False, True):
        assert not finish or jobs.finish(job, "one", **ANSWERED, leaves=at(ASKED + SECOND))
        with pytest.raises(Refused, match="it may have been charged") as refused:
            jobs.cancel("ada", made.id)
        told.append(refused.value.to_dict())
    assert told[0] == told[1], "what is said tells nobody whether it has ended"
    assert jobs.find("ada", made.id).state is JobState.DONE


def test_a_cancel_that_races_with_the_charge_ends_in_one_of_them(job_place: LedgerConfig, jobs: JobStore) -> None:
    rounds = 40
    for number in range(rounds):
        ask(jobs, f"r{number}", owner=f"owner{number % 2}", after=number)
    taken = [claimed(jobs, after=rounds) for _ in range(rounds)]
    start = Barrier(2)

    def charge(job: Job) -> bool:
        start.wait()
        return jobs.begin_charge(job, "one")

    def cancel(job: Job) -> bool:
        start.wait()
        try:
            owners.cancel(job.owner, job.id)
        except Refused:
            return False
        return True

    with jobs_beside(job_place) as owners, ThreadPoolExecutor(2) as pool:
        for job in taken:
            charging, cancelling = pool.submit(charge, job), pool.submit(cancel, job)
            assert charging.result() is not cancelling.result()
            kept = jobs.find(job.owner, job.id).state
            assert kept is (JobState.CHARGING if charging.result() else JobState.CANCELLED)


# --- ended ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("problem", [None, {"error": "BudgetExceeded", "charged": False}])
def test_an_end_is_not_seen_before_it_may_leave(jobs: JobStore, problem: dict[str, object] | None) -> None:
    made = ask(jobs)
    leaves = next_slot(ASKED, ASKED + 5 * SECOND)
    running = {**made.face(ASKED), "state": "running"}
    assert made.face(ASKED) == running, "that nobody has begun it is not seen either"
    assert running["next_look"] == (ASKED + timedelta(milliseconds=250)).isoformat()
    job = claimed(jobs)
    assert jobs.begin_charge(job, "one")
    charge = 7 if problem is None else None
    assert jobs.finish(job, "one", charge=charge, problem=problem, leaves=at(leaves))
    ended = jobs.find("ada", made.id)
    assert leaves == ASKED + 8 * SECOND
    assert ended.face(leaves - timedelta(microseconds=1)) == {**running, "next_look": leaves.isoformat()}
    state = "done" if problem is None else "failed"
    assert ended.face(leaves) == {**running, "state": state, "next_look": None, "charge": charge, "problem": problem}


@pytest.mark.parametrize("charged", [True, False])
def test_a_failure_that_may_have_been_charged_is_taken_up_again(jobs: JobStore, charged: bool) -> None:
    made = ask(jobs)
    job = claimed(jobs)
    assert jobs.begin_charge(job, "one")
    assert jobs.finish(job, "one", charge=None, problem={"charged": charged}, leaves=at(ASKED + 8 * SECOND))
    assert ask(jobs, after=7).state is JobState.FAILED, "before it may leave, asking again tells nothing"
    again = ask(jobs, after=9)
    if not charged:
        assert again.state is JobState.FAILED
        return
    assert (again.id, again.state, again.asked) == (made.id, JobState.CHARGING, ASKED + 9 * SECOND)
    assert again.face(ASKED + 9 * SECOND)["state"] == "running"
    with pytest.raises(Refused, match="may have been charged"):
        jobs.cancel("ada", made.id)
    second = claimed(jobs, "two", after=9)
    assert jobs.finish(second, "two", **ANSWERED, leaves=at(ASKED + 10 * SECOND))
    assert ask(jobs, after=20).charge == 7, "what is done stays done"


def test_jobs_are_forgotten_after_thirty_days(jobs: JobStore) -> None:
    made = {name: ask(jobs, name, after=number) for number, name in enumerate(("done", "cancelled", "waits"))}
    job = claimed(jobs, after=3)
    assert jobs.finish(job, "one", **ANSWERED, leaves=at(ASKED + 3 * SECOND))
    jobs.cancel("ada", made["cancelled"].id)
    month = timedelta(days=30)
    assert jobs.sweep(ASKED + month) == 0
    assert jobs.sweep(ASKED + month + 2 * SECOND) == 1
    assert jobs.sweep(ASKED + month + 3 * SECOND) == 1
    assert jobs.list("ada", 10) == (made["waits"],)


# --- many at once, and the dead -------------------------------------------------------------------------------------


def test_two_threads_claim_each_of_two_hundred_jobs_once(job_place: LedgerConfig, jobs: JobStore) -> None:
    made = [ask(jobs, f"r{number}", owner=f"owner{number % 10}").id for number in range(200)]
    start = Barrier(2)

    def take(worker: str) -> list[str]:
        with jobs_beside(job_place) as own:
            start.wait()
            found = []
            while job := claim(own, worker):
                found.append(job.id)
            return found

    with ThreadPoolExecutor(2) as pool:
        taken = [id for found in pool.map(take, ("one", "two")) for id in found]
    assert sorted(taken) == sorted(made)


def test_two_processes_claim_each_of_two_hundred_jobs_once(
    job_place: LedgerConfig, jobs: JobStore, tmp_path: Path
) -> None:
    made = [ask(jobs, f"r{number}", owner=f"owner{number % 10}").id for number in range(200)]
    clients = [start_client(job_place, tmp_path, name, "take") for name in ("one", "two")]
    for client in clients:
        assert client.stdout is not None
        assert client.stdout.readline() == "ready\n"
    for client in clients:
        assert client.stdin is not None
        client.stdin.write("\n")
        client.stdin.flush()
    taken = [id for client in clients for id in client.communicate(timeout=120)[0].split()]
    assert [client.returncode for client in clients] == [0, 0]
    assert sorted(taken) == sorted(made)


@pytest.mark.parametrize(
    ("point", "left"),
    [
        ("claiming", JobState.WAITING),
        ("running", JobState.RUNNING),
        ("charging", JobState.CHARGING),
        ("charged", JobState.CHARGING),
        ("answered", JobState.CHARGING),
        ("finishing", JobState.CHARGING),
        ("done", JobState.DONE),
    ],
)
def test_what_a_killed_worker_left_is_done_once_by_another(
    job_place: LedgerConfig, jobs: JobStore, charged_ledger: Ledger, tmp_path: Path, point: str, left: JobState
) -> None:
    asked = datetime.now(UTC)
    made = jobs.submit("ada", "query", "r1", SQL, language="en", asked=asked)
    client = start_client(job_place, tmp_path, "killed", point)
    assert client.communicate(timeout=120)[0] == ""
    assert client.returncode == -signal.SIGKILL
    assert jobs.find("ada", made.id).state is left

    soon, late = datetime.now(UTC), datetime.now(UTC) + timedelta(days=1)
    assert (jobs.claim("next", seconds=600, now=soon) is None) is (point != "claiming"), "its lease holds"
    job = jobs.claim("next", seconds=600, now=late)
    assert (job is None) is (left is JobState.DONE)
    if job is not None:
        outcome = perform_with(charged_ledger, lambda _: None)(job, lambda: jobs.begin_charge(job, "next"))
        assert jobs.finish(job, "next", charge=outcome.charge, problem=outcome.problem, leaves=at(late))
    done = jobs.find("ada", made.id)
    verified = charged_ledger.verify()
    assert done.state is JobState.DONE
    assert (verified.charges, verified.answers) == (1, 1)
    assert done.charge == jobs_charge(charged_ledger)


def start_client(config: LedgerConfig, folder: Path, name: str, point: str) -> subprocess.Popen[str]:
    file = folder / "config.json"
    file.write_text(json.dumps(asdict(config), default=str))
    return subprocess.Popen(
        [sys.executable, str(CLIENT), str(file), name, point],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env=os.environ,
    )


def jobs_charge(ledger: Ledger) -> int:
    """The number of the one charge on a ledger."""
    from discreet.guarantees.types import PureDP

    found = ledger.find_answer(
        population="cchs",
        dataset="survey",
        version=1,
        plan_hash="e" * 64,
        at_least=PureDP(epsilon="0.1"),
        analyst="ada",
    )
    assert found is not None
    return found.sequence


def test_a_problem_in_the_store_is_ours_to_tell(tmp_path: Path) -> None:
    """Whatever the driver says stays behind."""
    config = LedgerConfig(
        workspace_id="w", store="sqlite", path=tmp_path / "absent" / "ledger.sqlite", key_path=tmp_path / "key"
    )
    with jobs_beside(config) as jobs, pytest.raises(DiscreetError, match="what this office keeps"):
        claim(jobs)
