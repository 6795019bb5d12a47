"""Answers that are not differentially private, from the command line."""

from __future__ import annotations

import pytest

from discreet.session import Session
from tests.cli.clinic import CARD, ROWS, Run

SQL = "SELECT AVG(age) AS mean FROM clinic WHERE town = 'N'"
QUERY = ("query", SQL, "--epsilon", "0.5")
ASK = ("lab", "ask", SQL, "--epsilon", "0.5")


@pytest.fixture(scope="module")
def clinic(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A workspace whose card permits such answers; the tests below ask different things of it."""
    folder = tmp_path_factory.mktemp("unproven")
    (folder / "clinic.csv").write_text(ROWS, encoding="utf-8")
    (folder / "clinic.yaml").write_text(CARD.replace("columns:", "allow: [generated]\ncolumns:"), encoding="utf-8")
    with Session.create(folder / "w") as session:
        session.add(folder / "clinic.csv", confirm=lambda _: True)
        session.add_analyst("ana")
    return str(folder / "w")


def test_what_is_refused_leaves_nothing_behind(clinic: str, run: Run) -> None:
    for words, code, told in (
        (("--strategy", "local", "--fresh"), 2, "No such option: --fresh"),
        (("--model", "default"), 2, "Missing option '--strategy'"),
        (("--strategy", "smooth"), 2, "smooth"),
        (("--strategy", "replace"), 1, f"discreet gan train -w {clinic} clinic"),
    ):
        said = run(*ASK, "-w", clinic, *words, code=code).err
        assert told in " ".join(said.split()), words
    assert "unproven" not in run("budget", "-w", clinic).out


def test_local_answers_carry_their_words_into_every_format(clinic: str, run: Run) -> None:
    query = (*ASK, "-w", clinic, "--strategy", "local")
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
    budget = " ".join(run("budget", "-w", clinic).out.split())
    assert "an unproven answer by strategy local" in budget
    assert "no longer bounds everything" in budget


def test_the_default_is_the_proven_path(clinic: str, run: Run) -> None:
    plain = run(*QUERY, "-w", clinic, "--format", "json").json()
    named = run(*QUERY, "-w", clinic, "--strategy", "public", "--format", "json").json()
    assert named["replayed"] is True
    assert named["rows"] == plain["rows"]
    assert named["differentially_private"] is True
