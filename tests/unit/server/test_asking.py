"""Asking over HTTP: keys, charges, answers in every format, and jobs. What a user would try, and what goes wrong."""

from __future__ import annotations

import time
import uuid
from pathlib import Path
from typing import Any

import pytest

from discreet.results import read_release
from discreet.session import open as open_session
from discreet.work import Worker
from tests.unit.server.serving import COUNT, Asker, furnish, problem, serving

BY_TOWN = "SELECT town, COUNT(*) AS people FROM clinic GROUP BY town"
RELEASE = "application/vnd.discreet.release+json"


def key() -> str:
    return uuid.uuid4().hex


def left(ask: Asker) -> str:
    return str(ask("ada", "GET", "/v1/populations/patients/budget").json())


def test_an_answer_says_what_it_cost_and_where_it_can_be_had_again(ask: Asker) -> None:
    answer = ask.query("ada", BY_TOWN, epsilon="0.2")
    assert answer.status_code == 200
    assert answer.headers["cache-control"] == "no-store"
    assert [row["town"] for row in answer.json()["rows"]] == ["N", "S", None]
    again = ask("ada", "GET", answer.headers["location"])
    assert again.json()["rows"] == answer.json()["rows"]


def test_the_same_key_is_the_same_answer_for_nothing(ask: Asker) -> None:
    same = key()
    first = ask.query("ada", BY_TOWN, epsilon="0.11", key=same)
    before = left(ask)
    again = ask.query("ada", BY_TOWN, epsilon="0.11", key=same)
    assert again.json()["rows"] == first.json()["rows"]
    assert left(ask) == before


def test_another_question_under_a_key_is_refused(ask: Asker) -> None:
    same = key()
    ask.query("ada", BY_TOWN, epsilon="0.12", key=same)
    before = left(ask)
    refused = ask.query("ada", COUNT, epsilon="0.12", key=same)
    assert (refused.status_code, problem(refused)["error"]) == (409, "RequestConflict")
    assert left(ask) == before


def test_a_key_is_ones_own(ask: Asker) -> None:
    same = key()
    assert ask.query("ada", BY_TOWN, epsilon="0.13", key=same).status_code == 200
    assert ask.query("bob", COUNT, epsilon="0.13", key=same).status_code == 200


@pytest.mark.parametrize("given", [None, "", "a b", "é", "x" * 64, "x" * 10_000, "../a", "a\tb"])
def test_what_spends_needs_a_key_that_names_may_have(ask: Asker, given: str | None) -> None:
    before = left(ask)
    headers = {} if given is None else {"idempotency_key": given.encode("utf-8")}
    answer = ask("ada", "POST", "/v1/queries", {"sql": COUNT, "epsilon": "0.1"}, **headers)  # type: ignore[arg-type]
    assert answer.status_code == 400
    assert problem(answer)["charged"] is False
    assert left(ask) == before


@pytest.mark.parametrize(
    "epsilon",
    ["-1", "0", "NaN", "Infinity", "1e400", "5e-324", "\uff11", "1_0", "", 0.1, 1, True, None, ["1"], "1" * 61],
)
def test_an_epsilon_is_an_exact_decimal_as_text(ask: Asker, epsilon: Any) -> None:
    before = left(ask)
    answer = ask("ada", "POST", "/v1/queries", {"sql": COUNT, "epsilon": epsilon}, key=key())
    assert answer.status_code in (400, 422)
    assert problem(answer)["charged"] is False
    assert left(ask) == before


@pytest.mark.parametrize(
    "more",
    [
        {"seed": 1},
        {"noise": "none"},
        {"analyst": "bob"},
        {"request_id": "mine"},
        {"custodian": True},
        {"confirm": None},
        {"check": None},
        {"exact": True},
        {"slots": False},
        {"version": 1},
    ],
)
def test_there_is_no_word_for_less_protection(ask: Asker, more: dict[str, Any]) -> None:
    before = left(ask)
    answer = ask("ada", "POST", "/v1/queries", {"sql": COUNT, "epsilon": "0.1", **more}, key=key())
    assert problem(answer)["status"] == 400
    assert next(iter(more)) not in answer.text
    assert left(ask) == before


@pytest.mark.parametrize(
    ("sql", "status"),
    [
        ("SELECT * FROM clinic", 422),
        ("SELECT COUNT(*) FROM clinic; DROP TABLE clinic", 422),
        ("", 422),
        ("SELECT COUNT(*) FROM read_csv('/etc/passwd')", 422),
        ("SELECT COUNT(*) FROM nowhere", 404),
        ("SELECT COUNT(colour) FROM clinic", 404),
        ("(" * 5_000, 422),
        ("SELECT COUNT(*) FROM clinic WHERE note = '\x00'", 400),
    ],
)
def test_what_cannot_be_asked_costs_nothing(ask: Asker, sql: str, status: int) -> None:
    before = left(ask)
    answer = ask.query("ada", sql)
    assert answer.status_code == status, answer.text
    assert problem(answer)["charged"] is False
    assert left(ask) == before


def test_refusals_come_in_the_language_that_was_asked_for(ask: Asker) -> None:
    body = {"sql": "SELECT * FROM clinic", "epsilon": "0.1"}
    said = {
        wanted: ask("ada", "POST", "/v1/queries", body, key=key(), accept_language=wanted).json()["message"]
        for wanted in ("fr-CA,fr;q=0.9,en;q=0.8", "en", "de", "fr;q=0.1,en;q=0.9", "fr;q=x", "")
    }
    assert len(set(said.values())) == 2
    assert said["fr-CA,fr;q=0.9,en;q=0.8"] != said["en"]
    assert said["de"] == said["fr;q=0.1,en;q=0.9"] == said[""] == said["en"]


@pytest.mark.parametrize(
    ("format", "begins"),
    [
        ("json", b"{"),
        ("csv", b""),
        ("sdmx-csv", b""),
        ("xlsx", b"PK"),
        ("parquet", b"PAR1"),
        ("html", b"<!DOCTYPE html>"),
        ("svg", b"<?xml"),
        ("pdf", b"%PDF"),
        ("txt", b""),
        ("release", b'{"format":1'),
    ],
)
def test_an_answer_can_be_had_in_every_format(ask: Asker, format: str, begins: bytes) -> None:
    number = ask.query("ada", BY_TOWN, epsilon="0.2", key="formats").headers["location"]
    answer = ask("ada", "GET", f"{number}?format={format}")
    assert answer.status_code == 200, answer.text
    assert answer.content.lstrip(b"\xef\xbb\xbf").startswith(begins)
    assert f'filename="answer-{number.rpartition("/")[2]}.' in answer.headers["content-disposition"]


def test_an_unknown_format_is_refused_without_repeating_it(ask: Asker) -> None:
    number = ask.query("ada", BY_TOWN, epsilon="0.2", key="formats").headers["location"]
    answer = ask("ada", "GET", f"{number}?format=docm")
    assert problem(answer)["status"] == 400
    assert "docm" not in answer.text


def test_a_release_comes_back_as_the_release_that_it_was(ask: Asker) -> None:
    body = {"sql": BY_TOWN, "epsilon": "0.2"}
    answer = ask("ada", "POST", "/v1/queries", body, key="formats", accept=RELEASE)
    release = read_release(answer.content)
    assert [row["people"] for row in ask("ada", "GET", answer.headers["location"]).json()["rows"]] == [
        row["people"] for row in release.rows
    ]


def test_what_would_be_asked_is_told_without_a_charge(ask: Asker) -> None:
    before = left(ask)
    explained = ask("ada", "POST", "/v1/explanations", {"sql": COUNT, "epsilon": "0.1"})
    assert explained.status_code == 200
    assert explained.json()["lines"]
    assert ask("ada", "POST", "/v1/targets", {"sql": COUNT, "within": {"people": "50"}}).status_code == 200
    table = {"dataset": "clinic", "by": ["town"], "epsilon": "0.1"}
    assert ask("ada", "POST", "/v1/tables/plan", table).status_code == 200
    assert left(ask) == before


def test_a_table_and_a_workload_are_answered(ask: Asker) -> None:
    table = ask("ada", "POST", "/v1/tables", {"dataset": "clinic", "by": ["town"], "epsilon": "0.1"}, key=key())
    assert table.status_code == 200, table.text
    words = f"questions:\n  - name: towns\n    sql: {BY_TOWN}\n  - name: all\n    sql: {COUNT}\nepsilon: 0.1\n"
    assert ask("ada", "POST", "/v1/workloads/plan", {"workload": words}).status_code == 200
    asked = ask("ada", "POST", "/v1/workloads", {"workload": words}, key=key())
    assert asked.status_code == 200, asked.text
    for answer in (table, asked):
        assert ask("ada", "GET", f"{answer.headers['location']}?format=xlsx").status_code == 200


@pytest.mark.parametrize("method", ["HEAD", "OPTIONS", "TRACE", "PATCH"])
def test_other_methods_reach_no_handler(ask: Asker, method: str) -> None:
    answer = ask("ada", method, "/v1/datasets", origin="https://evil.example", access_control_request_method="POST")
    assert answer.status_code == 405
    assert not [name for name in answer.headers if name.startswith("access-control")]


def test_nothing_is_echoed(ask: Asker) -> None:
    marker = "zebra7"
    for body in ({"sql": COUNT, marker: 1}, {"sql": 1, "epsilon": marker}, {"sql": {marker: marker}}, [marker], marker):
        answer = ask("ada", "POST", "/v1/queries", body, key=key())
        assert problem(answer)["status"] == 400
        assert marker not in answer.text
    assert marker not in ask("ada", "GET", f"/v1/{marker}").text
    assert marker not in ask("ada", "GET", f"/v1/history?limit={marker}").text


def test_a_spent_budget_is_refused_with_what_remains(tmp_path: Path) -> None:
    with serving(furnish(tmp_path, budget="1", per_analyst="1")) as ask:
        assert ask.query("ada", epsilon="0.7").status_code == 200
        refused = ask.query("ada", BY_TOWN, epsilon="0.7")
        assert (refused.status_code, problem(refused)["error"]) == (409, "BudgetExceeded")
        assert problem(refused)["charged"] is False
        assert ask.query("bob", BY_TOWN, epsilon="0.3").status_code == 200
        assert ask.query("ada", "SELECT SUM(age) AS age FROM clinic", epsilon="0.1").status_code == 409


# --- jobs ---------------------------------------------------------------------------------------------------------


def long_workload(questions: int = 30) -> dict[str, str]:
    listed = "".join(f"  - name: q{one}\n    sql: {BY_TOWN} HAVING COUNT(*) > {one}\n" for one in range(questions))
    return {"workload": f"questions:\n{listed}epsilon: 0.5\n"}


def ended(ask: Asker, who: str, job: str) -> dict[str, Any]:
    late = time.monotonic() + 60
    while time.monotonic() < late:
        found: dict[str, Any] = ask(who, "GET", f"/v1/jobs/{job}").json()
        if found["state"] in ("done", "failed", "cancelled"):
            return found
        time.sleep(0.05)
    raise AssertionError("a job did not end")


def test_a_long_question_becomes_a_job_whose_answer_is_in_the_history(ask: Asker) -> None:
    same, body = key(), long_workload()
    accepted = ask("ada", "POST", "/v1/workloads", body, key=same)
    assert accepted.status_code == 202, accepted.text
    job = accepted.json()["job"]
    assert accepted.headers["location"] == f"/v1/jobs/{job['id']}"
    assert int(accepted.headers["retry-after"]) >= 1
    done = ended(ask, "ada", job["id"])
    assert (done["state"], done["problem"]) == ("done", None)
    answer = ask("ada", "GET", f"/v1/answers/{done['answer']}")
    assert answer.status_code == 200
    before = left(ask)
    again = ask("ada", "POST", "/v1/workloads", body, key=same)
    assert again.json()["job"]["answer"] == done["answer"]
    assert left(ask) == before
    assert ask("ada", "GET", "/v1/jobs").json()["jobs"][0]["id"] == job["id"]


def test_a_job_is_its_owners(ask: Asker) -> None:
    job = ask("ada", "POST", "/v1/workloads", long_workload(31), key=key()).json()["job"]["id"]
    for method in ("GET", "DELETE"):
        others, none = (ask("bob", method, f"/v1/jobs/{one}") for one in (job, "0" * 32))
        assert others.status_code == none.status_code == 404
        assert others.text.replace(job, "X") == none.text.replace("0" * 32, "X")
    ended(ask, "ada", job)


def test_a_job_that_cannot_be_paid_fails_without_a_charge(tmp_path: Path) -> None:
    with serving(furnish(tmp_path, budget="1", per_analyst="1")) as ask:
        assert ask.query("ada", epsilon="0.7").status_code == 200
        job = ask("ada", "POST", "/v1/workloads", long_workload(), key=key()).json()["job"]["id"]
        failed = ended(ask, "ada", job)
        assert failed["state"] == "failed"
        assert failed["problem"]["error"] == "BudgetExceeded"
        assert failed["problem"]["charged"] is False


def test_a_job_is_cancelled_before_it_is_charged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Worker, "run", lambda self, stop: None)  # nobody works, so it waits
    house = furnish(tmp_path)
    with serving(house) as ask:
        job = ask("ada", "POST", "/v1/workloads", long_workload(), key=key()).json()["job"]["id"]
        assert ask("ada", "DELETE", f"/v1/jobs/{job}").json()["state"] == "cancelled"
        assert ask("ada", "DELETE", f"/v1/jobs/{job}").json()["state"] == "cancelled"
    with open_session(house.path) as session:
        assert session.history() == []


def test_a_job_of_somebody_who_lost_the_grant_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = Worker.run
    monkeypatch.setattr(Worker, "run", lambda self, stop: None)
    house = furnish(tmp_path)
    with serving(house) as ask:
        job = ask("ada", "POST", "/v1/workloads", long_workload(), key=key()).json()["job"]["id"]
        ask("carl", "DELETE", "/v1/grants/ada/clinic")
    monkeypatch.setattr(Worker, "run", run)
    with serving(house) as ask:
        failed = ended(ask, "ada", job)
        assert failed["problem"]["error"] == "UnknownName"
        assert failed["problem"]["charged"] is False


def test_another_form_of_a_release_is_refused_before_anything_is_charged(ask: Asker) -> None:
    sql = "SELECT COUNT(*) AS n FROM clinic WHERE age > 78"
    for accept, status in ((f"{RELEASE}; form=2", 400), (f"text/csv, {RELEASE};form=1", 200), (RELEASE, 200)):
        answer = ask("ada", "POST", "/v1/queries", {"sql": sql, "epsilon": "0.1"}, key="form", accept=accept)
        assert answer.status_code == status
        if status == 400:
            assert problem(answer)["charged"] is False
            assert "form" not in [item["key"] for item in ask("ada", "GET", "/v1/history").json()["history"]]
        else:
            assert answer.headers["content-type"] == RELEASE
    assert [item["key"] for item in ask("ada", "GET", "/v1/history").json()["history"]].count("form") == 1
