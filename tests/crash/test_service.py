"""The server under load and under kill -9: the budget to the last step, and every answer that was told stands.

Of its workers, of its parent, and of who does jobs; on SQLite and on PostgreSQL. `python -m benchmarks service` does
the same for longer and measures it.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from decimal import Decimal
from functools import partial
from pathlib import Path

import pytest

from benchmarks.http_asker import HttpAsker, HttpReply, NotReached
from benchmarks.killed_workers import kill_workers
from benchmarks.served_house import ANALYSTS, DSN_ENV, ServedHouse, Serving, furnish, kill, runs
from benchmarks.slow_sockets import measure_slowness
from benchmarks.swarm import COST, Witness, ask_all, count_of, swarm
from discreet.ledger import EventKind, LogFilter
from discreet.stores import open_store
from discreet.work import JOB_TABLES, Job, JobState, JobStore

pytestmark = pytest.mark.long

ROOT = Path(__file__).parents[2]
AMPLE = ("100", "100")
BUDGETS = {
    "first": ("3", "1"),  # the analysts' own shares end first
    "second": ("1.5", "1"),  # the population's ends first
    "third": ("2", "1"),  # both end at once
    "killed": AMPLE,
    "jobs": AMPLE,
    "slow": AMPLE,
}
EXPECTED = {"first": 40, "second": 30, "third": 40}
COST_OF_A_JOB = Decimal("0.5")
LEASE = 6  # so long that a job is not lost too often while others die


@pytest.fixture
def sqlite_house(tmp_path: Path) -> ServedHouse:
    return furnish(tmp_path, BUDGETS)


@pytest.fixture
def postgres_house(tmp_path: Path, postgres_dsn: str, monkeypatch: pytest.MonkeyPatch) -> ServedHouse:
    monkeypatch.setenv(DSN_ENV, postgres_dsn)
    return furnish(tmp_path, BUDGETS, dsn_env=DSN_ENV)


@pytest.fixture(params=["sqlite", "postgres"])
def house(request: pytest.FixtureRequest) -> ServedHouse:
    found: ServedHouse = request.getfixturevalue(f"{request.param}_house")
    return found


def test_many_at_once_are_answered_to_the_last_step_of_the_budget(house: ServedHouse) -> None:
    with house.serve(workers=3 if "postgres" in _store(house) else 2) as serving:
        for dataset, expected in EXPECTED.items():
            first, again = swarm(serving, house, dataset, expected=expected)
            assert first.faults == again.faults == ()
            assert max(first.slowest, again.slowest) < 30
    with house.open() as session:
        session.verify()


def test_killed_workers_lose_nothing_and_spend_nothing_twice(postgres_house: ServedHouse) -> None:
    with postgres_house.serve(workers=3) as serving:
        killing = kill_workers(serving, postgres_house, "killed", kills=8)
        assert killing.faults == []
        assert killing.kills == 8
        assert killing.retried > 0, "nobody was hit"


def test_workers_end_with_a_parent_that_was_killed_and_the_next_server_tells_the_same(
    sqlite_house: ServedHouse,
) -> None:
    house, witness = sqlite_house, Witness()
    with house.serve(workers=2) as serving:
        workers = serving.workers()
        assert len(workers) == 2
        questions = [partial(_told, witness, number) for number in range(60)]
        _ask_all(serving, house, [partial(_kill_parent, serving, witness, 15), *questions])
        assert serving.process.wait(30) == -signal.SIGKILL
        _await(lambda: not any(map(runs, workers)), 30, "workers outlive their parent")
    assert len(witness.answers) >= 15
    with house.open() as session:
        session.verify()
    with house.serve(workers=2) as serving:
        _ask_all(serving, house, [partial(_told_again, witness, number) for number in range(60)])
    assert witness.faults == []
    assert _spent(house, "killed") == 60 * COST


PLACES = (
    ("discreet.work.job_store:JobStore.claim", "after"),
    ("discreet.work.job_store:JobStore.begin_charge", "after"),
    ("discreet.ledger.workspace_ledger:Ledger.spend", "before"),
    ("discreet.ledger.workspace_ledger:Ledger.spend", "after"),
    ("discreet.engines.embedded:EmbeddedEngine.measure", "after"),
    ("discreet.ledger.workspace_ledger:Ledger.commit_answer", "after"),
    ("discreet.work.job_store:JobStore.finish", "before"),
)


def test_jobs_of_killed_workers_are_taken_up_and_charged_once(house: ServedHouse) -> None:
    jobs = [_submit(house, f"job{number}") for number in range(len(PLACES))]
    with _dying_workers() as die:
        for place, when in PLACES:
            assert die(house, place, when) == -signal.SIGKILL
    before = _charges(house)
    assert 0 < len(before) < len(jobs), "some died before the charge and some after it"
    with _working(house) as process:
        _await(lambda: all(_ended(house, job) for job in jobs), 60, "jobs of killed workers are left")
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 0
    for job in jobs:
        assert _face(house, job)["state"] == JobState.DONE
    assert _charges(house) == sorted(job.request_id for job in jobs)
    assert _spent(house, "jobs") == len(jobs) * COST_OF_A_JOB
    with house.open() as session:
        assert session.verify().answers == len(jobs)


def test_slow_senders_hold_up_nobody(sqlite_house: ServedHouse) -> None:
    with sqlite_house.serve(workers=1, most_files=128) as serving:
        slow = measure_slowness(serving, sqlite_house, "slow", many=500, seconds=7)
        assert slow.most_open == 500, "more than the files that it began with"
        assert slow.ended >= 400, "each has a deadline"
        assert slow.slowest < 20
        assert "failed" not in serving.said


# --- clients ----------------------------------------------------------------------------------------------------------


def _store(house: ServedHouse) -> str:
    with house.open() as session:
        return session.workspace.ledger.store


def _ask_all(serving: Serving, house: ServedHouse, questions: list[Callable[[HttpAsker], None]]) -> None:
    ask_all([serving.asker(house.tokens[ANALYSTS[0]], seconds=30) for _ in range(12)], questions)


def _told(witness: Witness, number: int, asker: HttpAsker) -> None:
    """What the server says of a question, if it is still there to say it."""
    with suppress(NotReached):
        witness.hear(f"told{number}", _asked(number, asker))


def _told_again(witness: Witness, number: int, asker: HttpAsker) -> None:
    witness.hear(f"told{number}", _asked(number, asker))


def _asked(number: int, asker: HttpAsker) -> HttpReply:
    return asker.query(count_of("killed"), epsilon=str(COST), key=f"told{number}")


def _spent(house: ServedHouse, dataset: str) -> Decimal:
    with house.open() as session:
        return Decimal(session.ledger.state(dataset).population.epsilon_spent)


def _kill_parent(serving: Serving, witness: Witness, answers: int, asker: HttpAsker) -> None:
    """Once so many were answered."""
    _await(lambda: len(witness.answers) >= answers, 60, "nobody is answered")
    assert kill(serving.process.pid)


def _await(is_so: Callable[[], bool], seconds: float, told: str) -> None:
    until = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < until, told
        time.sleep(0.1)


# --- jobs -------------------------------------------------------------------------------------------------------------


@contextmanager
def _jobs(house: ServedHouse) -> Iterator[JobStore]:
    with house.open() as session:
        store = JobStore(open_store(session.workspace, JOB_TABLES), session.ledger.attest)
        try:
            yield store
        finally:
            store.close()


def _submit(house: ServedHouse, key: str) -> Job:
    words = {"sql": count_of("jobs"), "epsilon": str(COST_OF_A_JOB), "fresh": True}
    with _jobs(house) as jobs:
        return jobs.submit(ANALYSTS[0], "query", key, words, language="en", asked=datetime.now(UTC))


def _face(house: ServedHouse, job: Job) -> dict[str, object]:
    with _jobs(house) as jobs:
        return jobs.find(job.owner, job.id).face(datetime.now(UTC))


def _ended(house: ServedHouse, job: Job) -> bool:
    return _face(house, job)["state"] not in {JobState.WAITING, JobState.RUNNING, JobState.CHARGING}


def _charges(house: ServedHouse) -> list[str]:
    with house.open() as session:
        wanted = LogFilter(population="jobs", kinds=frozenset({EventKind.CHARGE}))
        return sorted(event.payload["request_id"] for event in session.ledger.log(wanted))


@contextmanager
def _dying_workers() -> Iterator[Callable[[ServedHouse, str, str], int]]:
    """Workers of jobs that die at a place, one after the other; each tells how it ended."""
    command = [sys.executable, "-m", "tests.crash.job_worker"]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        to, told = process.stdin, process.stdout

        def die(house: ServedHouse, place: str, when: str) -> int:
            task = {"workspace": str(house.path), "seconds": LEASE, "place": place, "when": when}
            to.write(json.dumps(task) + "\n")
            to.flush()
            return int(told.readline())

        yield die
        to.close()
        process.wait(timeout=60)


@contextmanager
def _working(house: ServedHouse) -> Iterator[subprocess.Popen[bytes]]:
    """`discreet work`, as a custodian starts it."""
    with subprocess.Popen([sys.executable, "-m", "discreet", "work", "-w", str(house.path)]) as process:
        try:
            yield process
        finally:
            process.kill()
