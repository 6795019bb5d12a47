"""A server that is ended while something is drawn: the charge stands, nothing is suspended, the next answer is free."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from threading import Thread
from typing import Any

import httpx
import pytest

from discreet.ledger import EventKind, LogFilter
from discreet.server import Guard
from discreet.server.problems import refuse
from discreet.session import open as open_session
from discreet.stores import open_store
from discreet.work import JOB_TABLES
from tests.places import ROOT
from tests.unit.server.listening import until
from tests.unit.server.serving import COUNT, Asker, House, furnish, problem, serving

LEFT = "What was being drawn is left. Asked again under its key, it costs nothing more."


@contextmanager
def slow_office(
    house: House, mark: Path, slots: str = "--no-slots", *, first_slot: float = 0.25
) -> Iterator[tuple[subprocess.Popen[str], Asker]]:
    paths = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    with subprocess.Popen(
        [sys.executable, "-m", "tests.unit.server.slow_office", str(house.path), str(mark), slots, str(first_slot)],
        env={**os.environ, "PYTHONPATH": paths},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            assert process.stderr is not None
            said = process.stderr.readline()
            port = int(said.partition("127.0.0.1:")[2].partition(",")[0])
            yield process, Asker(port, house.path, house.tokens)
        finally:
            process.kill()


def end(process: subprocess.Popen[str], mark: Path) -> None:
    """Once it draws."""
    for _ in until(30):
        if mark.with_suffix(".drawing").exists():
            break
    process.send_signal(signal.SIGTERM)


def kinds(house: House) -> list[EventKind]:
    wanted = {EventKind.CHARGE, EventKind.ANSWER, EventKind.SUSPENDED}
    with open_session(house.path) as session:
        return [event.kind for event in session.ledger.log(LogFilter(kinds=frozenset(wanted)))]


def test_a_question_that_is_cut_off_is_charged_and_answered_when_it_is_asked_again(tmp_path: Path) -> None:
    house, mark, came = furnish(tmp_path), tmp_path / "mark", []
    with slow_office(house, mark) as (process, ask):
        thread = Thread(target=lambda: came.append(ask.query("ada", key="cut-off")))
        thread.start()
        end(process, mark)
        assert process.wait(20) == 0
        thread.join(20)
        assert process.stderr is not None
        assert process.stderr.read().splitlines()[1:] == [LEFT]
    told = problem(came[0])
    assert (told["status"], told["error"], told["charged"]) == (503, "ChargedNotAnswered", True)
    assert told["fields"] == {"request_id": "cut-off"}
    assert kinds(house) == [EventKind.CHARGE]
    with serving(house) as ask:
        assert ask.query("ada", key="cut-off").status_code == 200
    assert kinds(house) == [EventKind.CHARGE, EventKind.ANSWER]


def test_a_job_that_is_cut_off_is_somebody_elses(tmp_path: Path) -> None:
    house, mark = furnish(tmp_path), tmp_path / "mark"
    listed = "".join(f"  - name: q{one}\n    sql: {COUNT} WHERE age > {one}\n" for one in range(21))
    with slow_office(house, mark) as (process, ask):
        body = {"workload": f"questions:\n{listed}epsilon: 0.5\n"}
        accepted: httpx.Response = ask("ada", "POST", "/v1/workloads", body, key="job")
        assert accepted.status_code == 202
        end(process, mark)
        assert process.wait(20) == 0, "a thread that draws does not make the process fall"
    assert kinds(house) == [EventKind.CHARGE]
    end_leases(house)
    with serving(house, per_person=100_000, per_address=100_000) as ask:
        for _ in until(30):
            if ask("ada", "GET", accepted.headers["location"]).json()["state"] == "done":
                break
        assert kinds(house) == [EventKind.CHARGE, EventKind.ANSWER]


def end_leases(house: House) -> None:
    """As time does."""
    with (
        open_session(house.path) as session,
        closing(open_store(session.workspace, JOB_TABLES)) as store,
        store.writing() as run,
    ):
        run("UPDATE jobs SET lease = 0")


def test_whatever_is_cut_off_is_told_in_the_one_shape() -> None:
    """Not in a library's words: also where nothing is spent."""
    sent: list[Any] = []

    async def wait(scope: Any, receive: Any, send: Any) -> None:
        await asyncio.Event().wait()

    async def receive() -> Any:
        raise AssertionError("there is no body")

    async def send(message: Any) -> None:
        sent.append(message)

    async def play() -> None:
        scope = {"type": "http", "method": "GET", "path": "/a", "raw_path": b"/a", "query_string": b""}
        scope |= {"headers": [(b"host", b"office")], "client": ("127.0.0.1", 1), "scheme": "http"}
        task = asyncio.create_task(Guard(wait, refuse=refuse)(scope, receive, send))
        await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(play())
    start, body = sent
    assert (start["status"], dict(start["headers"])[b"content-type"]) == (503, b"application/problem+json")
    assert json.loads(body["body"])["charged"] is False


def test_an_answer_that_waits_for_its_slot_when_the_server_ends_was_charged(tmp_path: Path) -> None:
    house, came = furnish(tmp_path), []
    (tmp_path / "mark").touch()  # it is drawn at once
    with slow_office(house, tmp_path / "mark", "--slots", first_slot=30) as (process, ask):
        thread = Thread(target=lambda: came.append(ask.query("ada", key="waits")))
        thread.start()
        for _ in until(30):
            if EventKind.ANSWER in kinds(house):
                break
        process.send_signal(signal.SIGTERM)
        thread.join(20)
        assert process.wait(20) == 0
    told = problem(came[0])
    assert (told["status"], told["charged"], told["fields"]) == (503, True, {"request_id": "waits"})
