"""Answers that are not differentially private, from the command line."""

from __future__ import annotations

from pathlib import Path

from tests.cli.clinic import CARD, ROWS, Run

SQL = "SELECT AVG(age) AS mean FROM clinic WHERE town = 'N'"


def add_clinic(folder: Path, run: Run, card: str) -> None:
    (folder / "clinic.csv").write_text(ROWS, encoding="utf-8")
    (folder / "clinic.yaml").write_text(card, encoding="utf-8")
    run("init", "w")
    run("add", "-w", "w", "clinic.csv")


def test_local_answers_carry_their_words_into_every_format(tmp_path: Path, run: Run) -> None:
    add_clinic(tmp_path, run, CARD.replace("columns:", "allow: [generated]\ncolumns:"))
    query = ("query", "-w", "w", SQL, "--epsilon", "0.5", "--strategy", "local")
    shown = run(*query).out
    assert "not differentially private" in shown
    assert "interval" not in shown.splitlines()[0]
    told = run(*query, "--format", "json").json()
    assert told["replayed"] is True
    assert told["differentially_private"] is False
    assert told["unproven"]["nominal_epsilon"] == "0.5"
    header, line = run(*query, "--format", "csv").out.splitlines()
    assert header == "mean,guarantee"
    assert line.startswith(f"{told['rows'][0]['mean']},")
    assert "not differentially private" in line
    budget = run("budget", "-w", "w").out
    assert "an unproven answer by strategy local" in " ".join(budget.split())
    assert "no longer bounds everything" in " ".join(budget.split())


def test_refusals_say_what_to_do(clinic: Path, run: Run) -> None:
    refused = run("query", "-w", "w", SQL, "--epsilon", "0.5", "--strategy", "local", code=1).err
    assert "allow: [generated]" in " ".join(refused.split())
    for words, told in (
        (("--strategy", "local", "--explain"), "--explain goes with --strategy public"),
        (("--strategy", "local", "--fresh"), "--fresh goes with --strategy public"),
        (("--model", "default"), "--model and --sample-size belong to --strategy generated"),
        (("--sample-size", "10"), "--model and --sample-size belong to --strategy generated"),
        (("--strategy", "smooth"), "smooth"),
    ):
        said = run("query", "-w", "w", SQL, "--epsilon", "0.5", *words, code=2).err
        assert told in " ".join(said.split()), words
    assert "unproven" not in run("budget", "-w", "w").out


def test_the_default_is_the_proven_path(clinic: Path, run: Run) -> None:
    plain = run("query", "-w", "w", SQL, "--epsilon", "0.5", "--format", "json").json()
    named = run("query", "-w", "w", SQL, "--epsilon", "0.5", "--strategy", "public", "--format", "json").json()
    assert named["replayed"] is True
    assert named["rows"] == plain["rows"]
    assert named["differentially_private"] is True
