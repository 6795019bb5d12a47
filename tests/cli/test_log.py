"""`discreet ledger log` and the history of a budget, as a user sees them."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import discreet
from discreet.guarantees.types import PureDP
from discreet.ledger import SpendRequest
from tests.cli.clinic import CARD, Run

COUNT = "SELECT COUNT(*) FROM clinic"


def lines(printed: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in printed.splitlines()]


def test_who_did_what_when_and_what_it_cost(clinic: Path, run: Run) -> None:
    run("query", "-w", "w", COUNT, "--epsilon", "0.5", "--request-id", "q1")
    told = lines(run("ledger", "log", "-w", "w", "--format", "json").out)
    assert [line["kind"] for line in told] == ["opened", "analyst", "population", "dataset", "charge", "answer"]
    assert {line["who"] for line in told} == {"ana"}
    charge = told[4]
    assert charge["cost"] == {"type": "PureDP", "epsilon": "0.5"}
    assert (charge["population"], charge["dataset"], charge["version"], charge["request_id"]) == (
        "patients",
        "clinic",
        1,
        "q1",
    )
    shown = run("ledger", "log", "-w", "w").out.splitlines()
    assert shown[0].split()[:2] == ["event", "when"]
    assert shown[5].split()[3:6] == ["ana", "charge", "epsilon"]
    assert run("ledger", "log", "-w", "w", "--limit", "1").out.splitlines()[1].split()[0] == "6"
    today = datetime.now(UTC).date()
    assert len(lines(run("ledger", "log", "-w", "w", "--format", "json", "--until", str(today)).out)) == 6
    later = run("ledger", "log", "-w", "w", "--since", str(today + timedelta(days=1)), "--format", "json")
    assert later.out == ""
    assert "No event" in later.err


def test_wrong_words_are_named(clinic: Path, run: Run) -> None:
    assert "Did you mean 'charge'?" in run("ledger", "log", "-w", "w", "--kind", "chrage", code=2).err
    assert "must be a day or a time" in run("ledger", "log", "-w", "w", "--since", "monday", code=2).err
    assert run("ledger", "log", "-w", "w", "--analyst", "nobody", code=1).err.startswith("UnknownName")
    assert run("ledger", "log", "-w", "w", "--limit", "0", code=2)


def test_why_a_dataset_was_suspended_is_a_logged_view(clinic: Path, run: Run) -> None:
    with discreet.open(clinic) as session:
        session.ledger.suspend("clinic", population="patients", reason="it failed", who="discreet")
    assert "it failed" not in run("ledger", "log", "-w", "w").out
    shown = run("ledger", "log", "-w", "w", "--custodian")
    assert "it failed" in shown.out
    assert "CUSTODIAN VIEW" in shown.err
    assert run("ledger", "log", "-w", "w", "--kind", "view").out.count("the log with reasons") == 1


def test_a_raised_budget_shows_with_its_history(clinic: Path, run: Run, tmp_path: Path) -> None:
    assert "→" not in run("budget", "-w", "w").out
    for epsilon in ("4", "5"):
        (tmp_path / "more.yaml").write_text(CARD.replace("epsilon: 3", f"epsilon: {epsilon}"), encoding="utf-8")
        run("population", "change", "-w", "w", "--card", "more.yaml", "--custodian")
    (state,) = run("budget", "-w", "w", "--format", "json").json()["populations"]
    assert [change["changed"].get("epsilon") for change in state["history"]] == [
        {"from": None, "to": "3"},
        {"from": "3", "to": "4"},
        {"from": "4", "to": "5"},
    ]
    assert {change["who"] for change in state["history"]} == {"ana"}
    shown = run("budget", "-w", "w").out
    assert "epsilon 3 → 4, by ana" in shown
    assert "epsilon 4 → 5, by ana" in shown


def test_what_is_held_shows_in_the_budget(clinic: Path, run: Run) -> None:
    request = SpendRequest(
        population="patients",
        dataset="clinic",
        version=1,
        analyst="ana",
        request_id="approved-7",
        plan_hash="a" * 64,
        mechanisms=(),
        guarantee=PureDP(epsilon="0.75"),
    )
    with discreet.open(clinic) as session:
        hold = session.ledger.hold(request, who="rita", expires=datetime(2999, 1, 1, tzinfo=UTC))
    (state,) = run("budget", "-w", "w", "--format", "json").json()["populations"]
    assert state["holds"][0]["request_id"] == "approved-7"
    assert (state["population"]["epsilon_spent"], state["population"]["epsilon_remaining"]) == ("0", "2.25")
    shown = run("budget", "-w", "w").out
    assert f"event {hold.sequence}: epsilon 0.75 held for request approved-7 of analyst ana" in shown
    refused = run("query", "-w", "w", COUNT, "--epsilon", "0.5", code=1)
    assert "epsilon 0.25 remains for analyst 'ana'" in refused.err
    explained = run("query", "-w", "w", COUNT, "--epsilon", "0.5", "--explain").out
    assert "asked now, it would be refused" in explained
    assert run("show", "-w", "w", "clinic").out.count("epsilon 2.25") == 1
