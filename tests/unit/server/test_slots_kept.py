"""When an answer leaves tells nobody when it was ready: not the answer itself, and nothing beside it."""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest

from discreet.server.spending_questions import SpendingQuestion
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
    stored, look = Event(), Event()
    read = SpendingQuestion.read

    def reads(self: SpendingQuestion, *given: Any, **named: Any) -> Any:
        found = read(self, *given, **named)

        def answer() -> Any:
            released = found.answer()
            stored.set()
            assert look.wait(20)  # as if it left later
            return released

        return type(found)(found.asks, answer)

    monkeypatch.setattr(SpendingQuestion, "read", reads)
    key, came = uuid.uuid4().hex, []
    sql = "SELECT COUNT(*) AS n FROM clinic WHERE age > 40"
    thread = Thread(target=lambda: came.append(slow.query("ada", sql, epsilon="0.3", key=key)))
    thread.start()
    try:
        assert stored.wait(20)
        [item] = [one for one in slow("ada", "GET", "/v1/history").json()["history"] if one["key"] == key]
        assert item["answered"] is False
        refused = slow("ada", "GET", f"/v1/answers/{item['answer']}")
        assert (refused.status_code, problem(refused)["error"]) == (503, "ChargedNotAnswered")
    finally:
        look.set()
        thread.join()
    assert came[0].status_code == 200
    [item] = [one for one in slow("ada", "GET", "/v1/history").json()["history"] if one["key"] == key]
    assert item["answered"] is True
    assert slow("ada", "GET", f"/v1/answers/{item['answer']}").json()["rows"] == came[0].json()["rows"]


def test_a_job_that_has_ended_is_not_told_before_its_slot(slow: Asker) -> None:
    listed = "".join(f"  - name: q{one}\n    sql: {COUNT} WHERE age > {one}\n" for one in range(25))
    key = uuid.uuid4().hex
    accepted = slow("ada", "POST", "/v1/workloads", {"workload": f"questions:\n{listed}epsilon: 1\n"}, key=key)
    assert accepted.status_code == 202
    place, late = accepted.headers["location"], time.monotonic() + 60
    while time.monotonic() < late:
        history = [one for one in slow("ada", "GET", "/v1/history").json()["history"] if one["key"] == key]
        state = slow("ada", "GET", place).json()["state"]
        if history and history[0]["answered"]:
            assert state == "done"
            return
        time.sleep(0.02)
    raise AssertionError("the job did not end")
