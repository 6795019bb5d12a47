"""`discreet table` as a user runs it: what is published, what is refused, and what a refusal costs."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import discreet
from discreet.catalogue import localise
from discreet.cli import main
from tests.cli.clinic import Result, Run

Say = Callable[..., Result]

TABLE = ("table", "-w", "w", "clinic", "--by", "town,smokes", "--epsilon", "0.5")


@pytest.fixture
def say(clinic: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Say:
    """The command in this process: many words in little time."""
    monkeypatch.chdir(clinic.parent)

    def call(*words: str) -> Result:
        monkeypatch.setattr(sys, "argv", ["discreet", *words])
        with pytest.raises(SystemExit) as left:
            main()
        told = capsys.readouterr()
        return Result(int(left.value.code or 0), told.out, told.err)

    return call


def spent(run: Run) -> dict[str, Any]:
    (state,) = run("budget", "-w", "w", "--format", "json").json()["populations"]
    found: dict[str, Any] = state["population"]
    return found


def head_of(workspace: Path) -> tuple[int, str]:
    """The last event of the ledger."""
    with discreet.open(workspace) as session:
        return session.ledger.head()


REFUSED: dict[str, tuple[int, str, tuple[str, ...]]] = {
    "unknown dataset": (1, "UnknownName", ("klinic", "--by", "town", "--epsilon", "1")),
    "unknown key": (1, "UnknownName", ("clinic", "--by", "twon", "--epsilon", "1")),
    "unknown value": (1, "UnknownName", ("clinic", "--by", "town", "--value", "aeg", "--epsilon", "1")),
    "unknown code": (1, "UnknownName", ("clinic", "--by", "smokes", "--leave-out", "smokes=3", "--epsilon", "1")),
    "a code of nothing": (2, "ParameterInvalid", ("clinic", "--by", "town", "--leave-out", "town", "--epsilon", "1")),
    "unknown margin": (1, "UnknownName", ("clinic", "--by", "town", "--margins", "smokes", "--epsilon", "1")),
    "unknown edges": (2, "ParameterInvalid", ("clinic", "--by", "town", "--edges", "aeg=0,9", "--epsilon", "1")),
    "edges without numbers": (2, "ParameterInvalid", ("clinic", "--by", "age", "--edges", "age", "--epsilon", "1")),
    "edges that miss the bounds": (
        2,
        "ParameterInvalid",
        ("clinic", "--by", "age", "--edges", "age=0,50", "--epsilon", "1"),
    ),
    "a category added up": (1, "QueryRefused", ("clinic", "--by", "town", "--value", "smokes", "--epsilon", "1")),
    "open text": (1, "QueryRefused", ("clinic", "--by", "note", "--epsilon", "1")),
    "no weight": (1, "QueryRefused", ("clinic", "--by", "town", "--weighted", "--epsilon", "1")),
    "a mean of nothing": (2, "ParameterInvalid", ("clinic", "--by", "town", "--mean", "--epsilon", "1")),
    "too many keys": (2, "ParameterInvalid", ("clinic", "--by", "a,b,c,d,e,f,g", "--epsilon", "1")),
    "a bracket closed": (
        1,
        "QueryRefused",
        ("clinic", "--by", "town", "--where", "age > 1) OR (age < 9", "--epsilon", "1"),
    ),
    "both margins and none": (
        2,
        "UsageError",
        ("clinic", "--by", "town", "--margins", "none", "--margins", "total", "--epsilon", "1"),
    ),
    "epsilon 0": (2, "ParameterInvalid", ("clinic", "--by", "town", "--epsilon", "0")),
    "a negative epsilon": (2, "ParameterInvalid", ("clinic", "--by", "town", "--epsilon=-1")),
    "an enormous epsilon": (2, "ParameterInvalid", ("clinic", "--by", "town", "--epsilon", "1e30")),
    "an epsilon beyond the budget": (1, "BudgetExceeded", ("clinic", "--by", "town", "--epsilon", "1000")),
    "nan": (2, "ParameterInvalid", ("clinic", "--by", "town", "--epsilon", "nan")),
    "Gaussian noise": (2, "ParameterInvalid", ("clinic", "--by", "town", "--epsilon", "1", "--noise", "gaussian")),
    "a level of 1": (2, "ParameterInvalid", ("clinic", "--by", "town", "--epsilon", "1", "--level", "1")),
    "an unknown public table": (
        1,
        "UnknownName",
        ("clinic", "--by", "town", "--epsilon", "1", "--calibrate", "towns.people"),
    ),
    "no column of totals": (
        2,
        "ParameterInvalid",
        ("clinic", "--by", "town", "--epsilon", "1", "--calibrate", "towns"),
    ),
    "an unknown analyst": (1, "UnknownName", ("clinic", "--by", "town", "--epsilon", "1", "--analyst", "nobody")),
}


def test_what_is_refused_says_why_and_costs_nothing(say: Say, run: Run, clinic: Path) -> None:
    before = head_of(clinic)
    for case, (code, name, words) in REFUSED.items():
        told = say("table", "-w", "w", *words)
        assert (told.code, told.out) == (code, ""), case
        assert told.err.startswith(f"{name}: "), (case, told.err)
        machine = say("table", "-w", "w", *words, "--format", "json")
        assert machine.code == code, case
        error = json.loads(machine.err or machine.out)
        assert error["error"] == name, case
        assert error["message"] in told.err.replace("\n", " ").strip(), case
    assert head_of(clinic) == before
    assert spent(run)["charges"] == 0


def test_words_that_are_no_options_are_usage(say: Say) -> None:
    for words in (
        ("--format", "docx"),
        ("--noise", "pink"),
        ("--method", "swap"),
        ("--nothing",),
        ("--out", "pie=p.svg"),
    ):
        assert say(*TABLE, *words).code == 2


def test_json_is_the_table_that_people_see(say: Say) -> None:
    told = say(*TABLE, "--format", "json", "--request-id", "mine").json()
    assert told["cells"][0]["keys"] == {"town": "N", "smokes": "1"}
    assert len(told["cells"]) == 9
    assert [one["over"] for one in told["margins"]] == [["smokes"]] * 3 + [["town"]] * 3 + [["town", "smokes"]]
    total = told["margins"][-1]
    assert total["value"] == sum(cell["value"] for cell in told["cells"])
    assert total["keys"] == {"town": None, "smokes": None}
    assert (told["request_id"], told["replayed"], told["charge"]["epsilon"]) == ("mine", False, "0.5")
    again = say(*TABLE, "--format", "json").json()
    assert again["replayed"]
    assert [again[name] for name in ("cells", "margins")] == [told[name] for name in ("cells", "margins")]
    shown = say(*TABLE, "--lang", "fr").out
    assert localise(f"{total['value']:,}", "fr") in shown
    assert "Nord" in shown
    assert "Ensemble" in shown


def test_details_explain_what_is_the_same_for_every_table(say: Say) -> None:
    brief, whole = say(*TABLE).out, say(*TABLE, "--details").out
    assert "privacy noise only, around the raw estimate; sampling" in brief
    assert "(--details says more)" in brief
    assert "--details" not in whole
    assert "each interval belongs to the raw estimate and holds, with at least the stated probability" in whole
    assert "for such sums take the raw estimates" in whole
    assert "add-remove neighbours: one unit more or less" in whole


def test_margins_are_those_asked_for(say: Say) -> None:
    some = say(*TABLE, "--margins", "total", "--margins", "smokes", "--format", "json").json()
    assert [one["over"] for one in some["margins"]] == [["town"]] * 3 + [["town", "smokes"]]
    assert say(*TABLE, "--margins", "none", "--format", "json").json()["margins"] == []


def test_cells_and_sql_share_one_answer(say: Say, run: Run) -> None:
    table = say(*TABLE, "--margins", "none", "--format", "json").json()
    sql = "SELECT town, smokes, COUNT(*) AS n FROM clinic GROUP BY town, smokes"
    answer = say("query", "-w", "w", sql, "--epsilon", "0.5", "--format", "json").json()
    assert answer["replayed"]
    assert answer["plan_hash"] == table["plan_hash"]
    assert [row["n"] for row in answer["rows"]] == [cell["raw"] for cell in table["cells"]]
    assert spent(run)["epsilon_spent"] == "0.5"


def test_bands_means_and_conditions(say: Say) -> None:
    words = ("table", "-w", "w", "clinic", "--by", "age", "--edges", "age=0,30,60,110", "--where", "town = 'N'")
    told = say(*words, "--epsilon", "0.2", "--format", "json").json()
    assert [one["keys"]["age"] for one in told["cells"]] == ["0-29", "30-59", "60-110", None]
    assert told["cells"][-1]["value"] < 500
    means = ("table", "-w", "w", "clinic", "--by", "town", "--value", "age", "--mean")
    mean = say(*means, "--epsilon", "0.5", "--format", "json").json()
    truth = sum(20 + patient % 50 for patient in range(1, 3001)) / 3000
    assert mean["margins"][0]["low"] <= truth + 4
    assert mean["margins"][0]["high"] >= truth - 4


def test_keys_are_left_out_as_asked(say: Say) -> None:
    told = say(*TABLE, "--leave-out", "missing", "--leave-out", "smokes=2", "--format", "json").json()
    assert {figure["keys"]["smokes"] for figure in told["cells"]} == {"1"}
    assert None not in {figure["keys"]["town"] for figure in told["cells"]}
    assert told["table"]["no_missing"] is True
    assert told["table"]["leave_out"] == {"smokes": ["2"]}
    french = say(*TABLE, "--leave-out", "missing", "--leave-out", "smokes=2", "--lang", "fr")
    assert "sans les valeurs manquantes" in french.out
    assert "Hors du tableau" in french.out


def test_an_explanation_asks_nothing(say: Say, run: Run) -> None:
    told = say(*TABLE, "--explain")
    assert told.code == 0
    assert "cells" in told.out
    assert "weighted" in told.out
    machine = say(*TABLE, "--explain", "--format", "json").json()
    assert [one["name"] for one in machine["measures"][0]["strategies"]] == ["cells", "equal", "weighted"]
    assert spent(run)["charges"] == 0


def test_the_command_in_a_process_of_its_own(run: Run, clinic: Path) -> None:
    assert run(*TABLE, "--format", "csv").out.startswith("town")
    refused = run("table", "-w", "w", "clinic", "--by", "twon", "--epsilon", "1", code=1)
    assert "Did you mean 'town'?" in refused.err
