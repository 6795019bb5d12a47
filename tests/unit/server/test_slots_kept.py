"""When an answer leaves tells nobody when it was ready: not the answer itself, and nothing beside it."""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from discreet.session import open as open_session
from tests.unit.server.serving import COUNT, Asker, furnish, problem, serving

FIRST = 0.25


@pytest.fixture(scope="module")
def slow(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Asker]:
    folder: Path = tmp_path_factory.mktemp("slots")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DISCREET_KEYS", str(folder / "keys"))
        with serving(furnish(folder, budget="1000", per_analyst="500"), slots=True) as asker:
            yield asker


def seconds(ask: Asker, body: dict[str, Any]) -> tuple[int, float]:
    begun = time.monotonic()
    answer = ask("ada", "POST", "/v1/queries", body, key=uuid.uuid4().hex)
    return answer.status_code, time.monotonic() - begun


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"sql": COUNT, "epsilon": "0.1"}, 200),
        ({"sql": COUNT, "epsilon": "0.1", "level": "0.9"}, 200),  # stored already
        ({"sql": "SELECT SUM(age) AS age FROM clinic", "epsilon": "900"}, 409),
        ({"sql": "SELECT * FROM clinic", "epsilon": "0.1"}, 422),
        ({"sql": "SELECT COUNT(*) FROM ward", "epsilon": "0.1"}, 404),
    ],
)
def test_answers_and_refusals_leave_at_a_slot(slow: Asker, body: dict[str, Any], status: int) -> None:
    found, took = seconds(slow, body)
    assert found == status
    assert took >= FIRST


def test_an_answer_that_is_stored_but_has_not_left_is_not_told_elsewhere(
    slow: Asker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With slots of seconds: everything that could tell of the answer is asked while its slot has not come."""
    monkeypatch.setattr("discreet.work.slots._FIRST", timedelta(seconds=4))
    key, came = uuid.uuid4().hex, []
    sql = "SELECT COUNT(*) AS n FROM clinic WHERE age > 40"
    thread = Thread(target=lambda: came.append(slow.query("ada", sql, epsilon="0.3", key=key)))
    thread.start()
    late = time.monotonic() + 30
    while not (found := [one for one in history(slow) if one["key"] == key]):
        assert time.monotonic() < late
        time.sleep(0.02)
    place = f"/v1/answers/{found[0]['answer']}"
    with open_session(slow.path) as session:
        while not session.history(analyst="ada", limit=1)[0].answered:
            assert time.monotonic() < late
            time.sleep(0.02)
    assert found[0]["answered"] is False
    assert [one["answered"] for one in history(slow) if one["key"] == key] == [False]
    refused = slow("ada", "GET", place)
    assert (refused.status_code, problem(refused)["error"]) == (503, "ChargedNotAnswered")
    begun = time.monotonic()
    again = slow.query("ada", sql, epsilon="0.3", key=key)  # nor does asking again bring it out before its own slot
    assert time.monotonic() - begun >= 3
    thread.join()
    assert came[0].status_code == again.status_code == 200
    assert [one["answered"] for one in history(slow) if one["key"] == key] == [True]
    assert slow("ada", "GET", place).json()["rows"] == came[0].json()["rows"]


def history(ask: Asker) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = ask("ada", "GET", "/v1/history").json()["history"]
    return found


def test_the_public_head_is_of_a_full_minute(slow: Asker) -> None:
    slow.query("ada", "SELECT COUNT(*) AS n FROM clinic WHERE age > 41", epsilon="0.1")
    head = slow(None, "GET", "/v1/ledger/head").json()
    events = [json.loads(line) for line in slow("aud", "GET", "/v1/ledger/events?limit=10000").text.splitlines()]
    shown = [event for event in events if event["sequence"] == head["sequence"]]
    minute = datetime.now(UTC).replace(second=0, microsecond=0)
    assert all(datetime.fromisoformat(event["when"]) < minute for event in shown)
    assert [event["hash"] for event in shown] == ([head["hash"]] if head["sequence"] else [])


def test_a_job_that_has_ended_is_not_told_before_its_slot(slow: Asker) -> None:
    listed = "".join(f"  - name: q{one}\n    sql: {COUNT} WHERE age > {one}\n" for one in range(25))
    key = uuid.uuid4().hex
    accepted = slow("ada", "POST", "/v1/workloads", {"workload": f"questions:\n{listed}epsilon: 1\n"}, key=key)
    assert accepted.status_code == 202
    place, late = accepted.headers["location"], time.monotonic() + 60
    while time.monotonic() < late:
        job = slow("ada", "GET", place).json()
        if job["state"] == "done":  # then the answer has left too
            assert slow("ada", "GET", f"/v1/answers/{job['answer']}").status_code == 200
            return
        assert job["state"] == "running"
        assert job["answer"] is None
        time.sleep(0.02)
    raise AssertionError("the job did not end")


def test_the_moment_of_a_failure_is_told_nobody(slow: Asker, monkeypatch: pytest.MonkeyPatch) -> None:
    """A dataset that is suspended is listed so from the next full minute on."""
    with open_session(slow.path) as session:
        session.ledger.suspend("clinic", population="patients", reason="for this test", who="discreet")
        try:
            for minute, shown in ((datetime.now(UTC) - timedelta(minutes=1), False), (datetime.now(UTC), True)):
                told = minute.isoformat(timespec="microseconds")
                monkeypatch.setattr("discreet.server.office.last_minute", lambda told=told: told)
                assert slow("bob", "GET", "/v1/datasets/clinic").json()["suspended"] is shown
                listed = slow("bob", "GET", "/v1/datasets").json()["datasets"]
                assert [item["suspended"] for item in listed] == [shown]
            assert slow.query("bob", "SELECT COUNT(*) AS n FROM clinic WHERE age > 77").status_code == 423
        finally:
            session.ledger.resume("clinic", who="ana")
        assert slow("bob", "GET", "/v1/datasets/clinic").json()["suspended"] is False
