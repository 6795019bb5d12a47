"""What people read in a table is what was asked, paid and marked."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.clinic import CARD, ROWS, Run

COUNT = "SELECT COUNT(*) AS n FROM clinic"


def test_the_budget_says_what_was_spent_and_what_remains(clinic: Path, run: Run) -> None:
    run("query", "-w", "w", COUNT, "--epsilon", "0.4")
    lines = [line.split() for line in run("budget", "-w", "w").out.splitlines()]
    assert ["population", "1", "3", "0.4", "2.6", "26"] in lines
    assert ["analyst", "ana", "1", "1", "0.4", "0.6", "6"] in lines
    told = run("budget", "-w", "w", "--format", "json").json()["populations"][0]
    assert told["population"]["questions_left"] == {"1": 2, "0.5": 5, "0.1": 26, "0.01": 260}


def test_an_answer_says_what_can_be_planned_with(clinic: Path, run: Run) -> None:
    query = ("query", "-w", "w", COUNT, "--epsilon", "0.4")
    assert "the largest single question is epsilon 0.6; 1 more like this one" in run(*query).out
    table = ("table", "-w", "w", "clinic", "--by", "town", "--epsilon", "0.2")
    assert "the largest single question is epsilon 0.4; 2 more like this one" in run(*table).out


def test_a_stored_answer_says_what_it_debits(clinic: Path, run: Run) -> None:
    run("analyst", "add", "-w", "w", "ben")
    query = ("query", "-w", "w", COUNT, "--epsilon")
    run(*query, "0.4")
    assert "charged nothing (a stored answer, the same as before); epsilon 0.6 remains" in run(*query, "0.4").out
    announced = run(*query, "0.1", "--analyst", "ben", "--explain").out
    assert "cost epsilon 0.4 for analyst 'ben', nothing for the population" in announced
    assert "--fresh draws anew for epsilon 0.1" in announced
    assert "cost epsilon 0.1" in run(*query, "0.1", "--analyst", "ben", "--explain", "--fresh").out
    given = run(*query, "0.1", "--analyst", "ben").out
    assert "charged the population nothing, you epsilon 0.4 (a stored answer" in given
    assert "epsilon 0.6 remains for you, 2.6 for population" in given


def test_intervals_have_the_level_that_was_asked_for(clinic: Path, run: Run) -> None:
    query = ("query", "-w", "w", COUNT, "--epsilon", "0.4")
    narrow, wide = (run(*query, "--level", level, "--format", "json").json() for level in ("0.5", "0.999"))
    assert wide["replayed"] is True
    (low, high), (lowest, highest) = (told["intervals"][0]["n"] for told in (narrow, wide))
    assert lowest < low < high < highest
    assert "99.9% interval" in run(*query, "--level", "0.999").out


def test_a_delta_that_was_paid_and_a_warning_are_told(tmp_path: Path, run: Run) -> None:
    card = CARD.replace("{epsilon: 3, per_analyst: 1}", "{epsilon: 3, delta: 1e-6}")
    (tmp_path / "clinic.csv").write_text(ROWS, encoding="utf-8")
    (tmp_path / "clinic.yaml").write_text(card.replace("110]", "110], provenance: from_rows"), encoding="utf-8")
    run("init", "w")
    run("add", "-w", "w", "clinic.csv")
    notes = ("query", "-w", "w", "SELECT note, COUNT(*) AS n FROM clinic GROUP BY note", "--epsilon", "1")
    shown = run(*notes, "--delta", "1e-7").out
    assert "charged epsilon 1 and delta 0.0000001;" in shown
    assert "no longer bounds" not in shown
    run("query", "-w", "w", f"{COUNT} WHERE age > 60", "--epsilon", "0.1")
    assert "no longer bounds" in run("query", "-w", "w", COUNT, "--epsilon", "0.1").out


def test_an_unforeseen_fault_shows_nothing_of_the_rows(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """As a library might fail: with a value in its words."""

    def fail(_: Path) -> None:
        raise ValueError("patient 17 is 93 years old")

    monkeypatch.delenv("DISCREET_DEBUG", raising=False)
    monkeypatch.setattr("discreet.cards.card.read_card", fail)
    told = run("card", "check", "clinic.yaml", code=1)
    assert told.out == ""
    assert told.err.startswith("InternalFault: discreet met an unforeseen ValueError.")
    assert "93" not in told.err
