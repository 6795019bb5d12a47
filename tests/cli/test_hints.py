"""Next steps can be typed as they stand: they repeat the workspace that was given, and say how a number is written."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from discreet.cli import hints
from tests.cli.clinic import CARD, ROWS, Run

COUNT = "SELECT COUNT(*) AS n FROM clinic"


def test_refusals_repeat_the_workspace(run: Run, clinic: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    words = (COUNT, "--epsilon", "0.1", "--analyst", "ben")
    assert "discreet analyst add -w w ben" in run("query", "-w", "w", *words, code=1).err
    assert "discreet analyst add -w w ben" in run("query", "--workspace=w", *words, code=1).err
    told = json.loads(run("query", "-w", "w", *words, "--format", "json", code=1).err)
    assert "discreet analyst add -w w ben" in told["message"]
    monkeypatch.setenv("DISCREET_WORKSPACE", "w")
    assert "discreet analyst add ben" in run("query", *words, code=1).err


def test_results_repeat_the_workspace(run: Run, tmp_path: Path) -> None:
    (tmp_path / "clinic.csv").write_text(ROWS, encoding="utf-8")
    (tmp_path / "clinic.yaml").write_text(CARD, encoding="utf-8")
    assert "discreet analyst add -w 'my office' NAME" in run("init", "my office").out
    given = ("-w", "my office")
    assert "discreet add -w 'my office' FILE" in run("datasets", *given).out
    assert "discreet add -w 'my office' FILE" in run("budget", *given).out
    assert "discreet gan train -w 'my office' DATASET" in run("gan", "list", *given).out
    assert "discreet show -w 'my office' clinic --custodian" in run("add", *given, "clinic.csv").out
    checks = run("doctor", *given, "--format", "json").json()["checks"]
    assert any("discreet ledger verify -w 'my office'" in check["advice"] for check in checks)
    assert not any("-w" in check["advice"] for check in run("doctor", "--format", "json").json()["checks"])


def test_commands_without_a_workspace_stay_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    hints.remember(Path("w"))
    try:
        assert hints.repeat("Make one with: discreet init x") == "Make one with: discreet init x"
        assert hints.repeat("then: discreet card check c.yaml") == "then: discreet card check c.yaml"
        assert hints.repeat("discreet met an unforeseen") == "discreet met an unforeseen"
        assert hints.repeat("discreet add -w DIR FILE") == "discreet add -w DIR FILE"
        told = hints.repeat("look (discreet resume x --custodian), `discreet query`, discreet public list")
        assert told == "look (discreet resume -w w x --custodian), `discreet query -w w`, discreet public list -w w"
    finally:
        hints.remember(None)
    assert hints.repeat("discreet budget") == "discreet budget"


@pytest.mark.parametrize(
    ("words", "number"),
    [
        (("query", "-w", "w", COUNT, "--epsilon", "0,1"), "0.1"),
        (("query", "-w", "w", COUNT, "--epsilon", "0.1", "--delta", "1,5"), "1.5"),
        (("query", "-w", "w", COUNT, "--epsilon", "0.1", "--level", "0,9"), "0.9"),
        (("query", "-w", "w", COUNT, "--within", "n=2,5"), "2.5"),
        (("query", "-w", "w", COUNT, "--epsilon", "0.1", "--assume", "n=10,5", "--explain"), "10.5"),
        (("query", "-w", "w", COUNT + " WHERE age > 1,5", "--epsilon", "0.1"), "1.5"),
        (("table", "-w", "w", "clinic", "--by", "town", "--epsilon", "0,1"), "0.1"),
        (("table", "-w", "w", "clinic", "--by", "town", "--epsilon", "1", "--suppress-above", "0,3"), "0.3"),
        (("lab", "compare", "-w", "w", "clinic", "--by", "town", "--epsilon", "0,5", "--custodian"), "0.5"),
        (("table", "-w", "w", "clinic", "--by", "town", "--epsilon", "1", "--where", "age > 1,5"), "1.5"),
        (("doctor", "-w", "w", "--budget-left", "7,5"), "7.5"),
        (("local", "estimate", "m.json", "r.jsonl", "--level", "0,9"), "0.9"),
    ],
)
def test_a_decimal_comma_is_told_to_be_a_point(run: Run, clinic: Path, words: tuple[str, ...], number: str) -> None:
    told = run(*words, code=None)
    assert told.code in (1, 2)
    assert f"se a point: write {number}" in told.err


def test_a_decimal_comma_in_files(run: Run, clinic: Path, tmp_path: Path) -> None:
    (tmp_path / "c.yaml").write_text(CARD.replace("epsilon: 3,", 'epsilon: "3,5",'), encoding="utf-8")
    assert "use a point: write 3.5" in run("card", "check", "c.yaml", code=None).err
    question = f"questions:\n  - {{name: a, sql: '{COUNT}', within: {{n: '2,5'}}}}\n"
    (tmp_path / "p.yaml").write_text(question, encoding="utf-8")
    assert "use a point: write 2.5" in run("plan", "-w", "w", "p.yaml", code=None).err
    (tmp_path / "p.yaml").write_text("level: '0,9'\n" + question.replace("2,5", "2"), encoding="utf-8")
    assert "use a point: write 0.9" in run("plan", "-w", "w", "p.yaml", code=None).err


def test_a_code_that_is_its_own_label_is_shown_once(run: Run, tmp_path: Path) -> None:
    categories = "{N: {en: North, fr: Nord}, S: {en: South, fr: Sud}}"
    (tmp_path / "clinic.csv").write_text(ROWS, encoding="utf-8")
    (tmp_path / "clinic.yaml").write_text(CARD.replace(categories, "[N, S]"), encoding="utf-8")
    run("init", "w")
    run("add", "-w", "w", "clinic.csv")
    shown = run("show", "-w", "w", "clinic").out
    assert "N; S" in shown
    assert "N N" not in shown
    assert "1 yes; 2 no" in shown


@pytest.mark.parametrize("where", ["town = 'North'", "town = 'nord'", "town IN ('S', 'Nrth')"])
def test_wrong_codes_are_told_what_was_meant(run: Run, clinic: Path, where: str) -> None:
    for words in (
        ("query", "-w", "w", f"{COUNT} WHERE {where}", "--epsilon", "0.1"),
        ("table", "-w", "w", "clinic", "--by", "smokes", "--where", where, "--epsilon", "0.1"),
    ):
        assert "Did you mean 'N' (North)?" in run(*words, code=1).err


def test_mistyped_words_of_sql(run: Run, clinic: Path) -> None:
    told = run("query", "-w", "w", COUNT.replace("SELECT", "SELEC"), "--epsilon", "0.1", code=1).err
    assert "Did you mean SELECT" in told
    table = ("table", "-w", "w", "clinic", "--by", "smokes", "--epsilon", "0.1", "--where")
    assert "Did you mean AND" in run(*table, "town = 'N' ADN age > 3", code=1).err
