"""Asking from the command line, as a user does."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.clinic import CARD, ROWS, Run

BY_TOWN = "SELECT town, COUNT(*) AS people FROM clinic GROUP BY town"


def test_json_answer(clinic: Path, run: Run) -> None:
    answer = run("query", "-w", "w", BY_TOWN, "--epsilon", "0.5", "--format", "json").json()
    assert [row["town"] for row in answer["rows"]] == ["N", "S", None]
    assert all(isinstance(row["people"], int) for row in answer["rows"])
    assert answer["labels"] == {"town": {"N": "North", "S": "South"}}
    assert answer["charge"] == {"epsilon": "0.5", "delta": "0"}
    assert answer["remaining"]["epsilon"] == "0.5"
    assert answer["remaining"]["population"]["epsilon"] == "2.5"
    assert answer["unit"].startswith("patient")
    assert answer["neighbours"] == "add-remove"
    assert answer["guarantee"] == "pure DP, epsilon = 0.5"
    assert answer["replayed"] is False
    # two rows of one patient may count: scale 2 / 0.5
    (mechanism,) = answer["mechanisms"]
    assert (mechanism["name"], mechanism["scale"], mechanism["sensitivity"]) == ("discrete-laplace", "4", "2")
    assert "at most 2 rows" in mechanism["derivation"]
    assert "privacy noise only" in answer["interval_meaning"]
    for row, interval in zip(answer["rows"], answer["intervals"], strict=True):
        low, high = interval["people"]
        assert low <= row["people"] <= high
    # 2,000 / 1,000 / 0 in truth; 200 is 50 scales away
    for row, truth in zip(answer["rows"], (2000, 1000, 0), strict=True):
        assert abs(row["people"] - truth) < 200


def test_table_answer_shows_labels(clinic: Path, run: Run) -> None:
    out = run("query", "-w", "w", BY_TOWN, "--epsilon", "0.5", "--lang", "fr").out
    assert "Nord" in out
    assert "(sans valeur)" in out
    assert "débité\u00a0: epsilon 0,5" in out


def test_details_explain_what_is_the_same_for_every_answer(clinic: Path, run: Run) -> None:
    asked = ("query", "-w", "w", BY_TOWN, "--epsilon", "0.5")
    brief, whole = run(*asked).out, run(*asked, "--details").out
    assert "intervals: privacy noise only; sampling and measurement error come on top (--details says more)" in brief
    assert "neighbours: one unit" not in brief
    assert "intervals: privacy noise only: each interval holds, with at least the stated probability" in whole
    assert "add-remove neighbours: one unit more or less" in whole


def test_csv_answer(clinic: Path, run: Run) -> None:
    lines = run("query", "-w", "w", BY_TOWN, "--epsilon", "0.5", "--format", "csv").out.splitlines()
    assert lines[0] == "town,town_label,people,people_low,people_high"
    assert lines[1].startswith("N,North,")
    assert lines[3].startswith(",,")


def test_ten_tenths_spend_exactly_one_and_the_eleventh_is_refused(clinic: Path, run: Run) -> None:
    for number in range(10):
        sql = f"SELECT COUNT(*) FROM clinic WHERE age > {number}"
        answer = run("query", "-w", "w", sql, "--epsilon", "0.1", "--format", "json").json()
    assert answer["remaining"]["analyst"]["epsilon"] == "0"
    before = run("ledger", "verify", "-w", "w", "--format", "json").json()
    refused = run("query", "-w", "w", "SELECT COUNT(*) FROM clinic WHERE age > 99", "--epsilon", "0.000000001", code=1)
    assert refused.err.startswith(
        "BudgetExceeded: this costs epsilon 0.000000001; epsilon 0 remains for analyst 'ana'."
    )
    assert run("ledger", "verify", "-w", "w", "--format", "json").json() == before
    state = run("budget", "-w", "w", "--format", "json").json()["populations"][0]
    assert state["population"]["epsilon_spent"] == "1"
    assert state["population"]["epsilon_remaining"] == "2"


def test_the_same_question_is_replayed_bit_for_bit(clinic: Path, run: Run) -> None:
    first = run("query", "-w", "w", BY_TOWN, "--epsilon", "0.4", "--format", "json").json()
    again = run("query", "-w", "w", BY_TOWN.lower(), "--epsilon", "0.3", "--format", "json").json()
    assert again["replayed"] is True
    assert again["rows"] == first["rows"]
    assert again["charge"]["epsilon"] == "0"
    better = run("query", "-w", "w", BY_TOWN, "--epsilon", "0.5", "--format", "json").json()
    assert better["replayed"] is False
    fresh = run("query", "-w", "w", BY_TOWN, "--epsilon", "0.1", "--fresh", "--format", "json").json()
    assert fresh["replayed"] is False
    assert fresh["remaining"]["analyst"]["epsilon"] == "0"


def test_replay_to_another_analyst_debits_that_analyst_alone(clinic: Path, run: Run) -> None:
    run("analyst", "add", "-w", "w", "bob")
    first = run("query", "-w", "w", BY_TOWN, "--epsilon", "0.4", "--format", "json").json()
    other = run("query", "-w", "w", BY_TOWN, "--epsilon", "0.4", "--analyst", "bob", "--format", "json").json()
    assert other["rows"] == first["rows"]
    assert other["remaining"]["population"]["epsilon"] == "2.6"
    assert other["remaining"]["analyst"]["epsilon"] == "0.6"
    state = run("budget", "-w", "w", "--format", "json").json()["populations"][0]
    assert state["population"]["epsilon_spent"] == "0.4"


def test_a_request_id_names_one_question(clinic: Path, run: Run) -> None:
    words = ("query", "-w", "w", BY_TOWN, "--epsilon", "0.2", "--request-id", "r1", "--format", "json")
    first = run(*words).json()
    assert run(*words, "--fresh").json()["rows"] == first["rows"]
    other = run("query", "-w", "w", "SELECT COUNT(*) FROM clinic", "--epsilon", "0.2", "--request-id", "r1", code=1)
    assert other.err.startswith("RequestConflict")


@pytest.mark.parametrize(
    "epsilon", ["0", "-1", "nan", "inf", "1e308", "5e-324", "0.0000000001", "1_0", "1,5", "true", ""]
)
def test_bad_epsilon_is_a_usage_error(clinic: Path, run: Run, epsilon: str) -> None:
    refused = run("query", "-w", "w", BY_TOWN, f"--epsilon={epsilon}", code=2)
    assert "epsilon" in refused.err


def test_errors_as_json(clinic: Path, run: Run) -> None:
    import json

    refused = run("query", "-w", "w", "SELECT * FROM clinic", "--epsilon", "1", "--format", "json", code=1)
    assert refused.out == ""
    assert json.loads(refused.err)["error"] == "QueryRefused"


def test_unknown_analyst_is_refused_and_nothing_is_charged(clinic: Path, run: Run) -> None:
    refused = run("query", "-w", "w", BY_TOWN, "--epsilon", "1", "--analyst", "anna", code=1)
    assert "Did you mean 'ana'?" in refused.err
    assert run("budget", "-w", "w", "--format", "json").json()["populations"][0]["charges"] == 0


def test_engine_failure_is_a_fixed_sentence_and_suspends(clinic: Path, run: Run) -> None:
    (clinic / "datasets" / "clinic" / "v1" / "data.parquet").write_bytes(b"nothing")
    failed = run("query", "-w", "w", BY_TOWN, "--epsilon", "0.5", code=3)
    assert failed.out == ""
    assert failed.err == (
        "ChargedNotAnswered: the question was charged but could not be answered, and 'clinic' is suspended. "
        "Ask the custodian; nothing more can be said here.\n"
    )
    assert run("query", "-w", "w", BY_TOWN, "--epsilon", "0.5", code=1).err.startswith("DatasetSuspended")
    state = run("budget", "-w", "w", "--format", "json").json()["populations"][0]
    assert state["population"]["epsilon_spent"] == "0.5"
    run("resume", "-w", "w", "clinic", code=1)
    run("resume", "-w", "w", "clinic", "--custodian")


def test_output_shape_does_not_depend_on_rows(tmp_path: Path, run: Run) -> None:
    shapes = []
    for name, rows in (("full", ROWS), ("empty", "patient,town,smokes,age,note\n")):
        (tmp_path / f"{name}.csv").write_text(rows, encoding="utf-8")
        (tmp_path / f"{name}.yaml").write_text(CARD, encoding="utf-8")
        run("init", f"w-{name}")
        shown = run("add", "-w", f"w-{name}", f"{name}.csv", "--card", f"{name}.yaml", "--yes").out
        shown = shown.replace(f"w-{name}", "w")
        sql = "SELECT smokes, town, COUNT(*) AS n FROM clinic WHERE age > 30 GROUP BY smokes, town"
        answer = run("query", "-w", f"w-{name}", sql, "--epsilon", "0.5", "--format", "json").json()
        keys = [{key: value for key, value in row.items() if key != "n"} for row in answer["rows"]]
        drop = {"rows", "intervals", "request_id"}
        shapes.append((shown, keys, {key: value for key, value in answer.items() if key not in drop}))
    assert shapes[0] == shapes[1]


def test_from_rows_bounds_make_the_release_unproven_and_leave_a_marker(tmp_path: Path, run: Run) -> None:
    (tmp_path / "clinic.csv").write_text(ROWS, encoding="utf-8")
    card = CARD.replace("bounds: [0, 110]", "bounds: [0, 110], provenance: from_rows")
    (tmp_path / "clinic.yaml").write_text(card, encoding="utf-8")
    run("init", "w")
    run("add", "-w", "w", "clinic.csv")
    clean = run("query", "-w", "w", BY_TOWN, "--epsilon", "0.1", "--format", "json").json()
    assert clean["differentially_private"] is True
    assert clean["warnings"] == []
    sql = "SELECT COUNT(*) FROM clinic WHERE age > 60"
    tainted = run("query", "-w", "w", sql, "--epsilon", "0.1", "--format", "json").json()
    assert tainted["differentially_private"] is False
    assert "not differentially private" in tainted["guarantee"]
    for shown in ("table", "csv", "json"):
        assert "not differentially private" in run("query", "-w", "w", sql, "--epsilon", "0.1", "--format", shown).out
    after = run("query", "-w", "w", "SELECT COUNT(*) FROM clinic", "--epsilon", "0.1", "--format", "json").json()
    assert "no longer bounds" in after["warnings"][0]
    shown = run("budget", "-w", "w").out
    assert "no longer bounds" in shown
    assert "an unproven release of clinic to ana" in shown
    assert len(run("budget", "-w", "w", "--format", "json").json()["populations"][0]["markers"]) == 1
