"""The custodian's commands, as a user runs them."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.clinic import CARD, ROWS, Run


def test_init_registers_the_default_analyst_and_keeps_the_key_outside(tmp_path: Path, run: Run) -> None:
    out = run("init", "w").out
    assert "ana" in out
    assert run("analyst", "list", "-w", "w", "--format", "json").json() == {"analysts": ["ana"]}
    assert not list((tmp_path / "w").rglob("*.key"))
    assert run("init", "w", code=None).code in (1, 2)


def test_workspace_from_environment(clinic: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    refused = run("datasets", code=2)
    assert refused.err.startswith("WorkspaceMissing")
    assert "discreet init" in refused.err
    monkeypatch.setenv("DISCREET_WORKSPACE", str(clinic))
    assert run("datasets", "--format", "json").json()["datasets"][0]["dataset"] == "clinic"


def test_add_says_nothing_that_depends_on_rows(clinic: Path, run: Run) -> None:
    out = run("add", "-w", "w", "clinic.csv", "--replace").out
    assert "version 2" in out
    assert "3000" not in out
    assert "3,000" not in out


def test_custodian_views_carry_a_banner_and_are_logged(clinic: Path, run: Run) -> None:
    before = run("ledger", "verify", "-w", "w", "--format", "json").json()["events"]
    shown = run("show", "-w", "w", "clinic", "--custodian")
    assert "CUSTODIAN VIEW" in shown.err
    assert "3,000" in shown.out or "3000" in shown.out
    assert run("ledger", "verify", "-w", "w", "--format", "json").json()["events"] == before + 1


def test_public_face(clinic: Path, run: Run) -> None:
    face = run("show", "-w", "w", "clinic", "--format", "json", "--lang", "fr").json()
    assert face["title"] == "Clinique"
    assert face["unit"] == {"column": "patient", "rows": 2}
    columns = {column["name"]: column for column in face["columns"]}
    assert columns["town"]["categories"] == {"N": "Nord", "S": "Sud"}
    assert columns["age"]["bounds"] == ["0", "110"]
    table = run("show", "-w", "w", "clinic").out
    for word in ("patient", "North", "0 to 110", "epsilon 3", "add-remove"):
        assert word in table


def test_public_face_is_the_same_without_rows(clinic: Path, run: Run) -> None:
    before = run("show", "-w", "w", "clinic").out, run("datasets", "-w", "w").out
    (clinic / "datasets" / "clinic" / "v1" / "data.parquet").unlink()
    (clinic / "datasets" / "clinic" / "v1" / "report.json").unlink()
    assert (run("show", "-w", "w", "clinic").out, run("datasets", "-w", "w").out) == before


def test_adding_twice_needs_replace(clinic: Path, run: Run) -> None:
    refused = run("add", "-w", "w", "clinic.csv", code=1)
    assert "--replace" in refused.err
    run("query", "-w", "w", "SELECT COUNT(*) FROM clinic", "--epsilon", "0.5")
    run("add", "-w", "w", "clinic.csv", "--replace")
    answer = run("query", "-w", "w", "SELECT COUNT(*) FROM clinic", "--epsilon", "0.5", "--format", "json").json()
    assert answer["replayed"] is False  # a new version is new data
    assert answer["remaining"]["epsilon"] == "0"  # under the same budget


def test_a_further_population_must_be_confirmed(clinic: Path, run: Run, tmp_path: Path) -> None:
    other = CARD.replace("dataset: clinic", "dataset: other").replace("population: patients", "population: more")
    (tmp_path / "other.yaml").write_text(other, encoding="utf-8")
    refused = run("add", "-w", "w", "clinic.csv", "--card", "other.yaml", code=1)
    assert refused.err.startswith("PopulationConflict")
    assert "--yes" in refused.err
    assert len(run("datasets", "-w", "w", "--format", "json").json()["datasets"]) == 1
    run("add", "-w", "w", "clinic.csv", "--card", "other.yaml", "--yes")
    assert len(run("budget", "-w", "w", "--format", "json").json()["populations"]) == 2


def test_the_same_population_in_a_second_workspace_must_be_confirmed(tmp_path: Path, run: Run) -> None:
    (tmp_path / "clinic.csv").write_text(ROWS, encoding="utf-8")
    (tmp_path / "clinic.yaml").write_text(CARD, encoding="utf-8")
    for workspace in ("w", "second"):
        run("init", workspace)
    told = run("add", "-w", "w", "clinic.csv")
    assert "the first of this workspace" in told.err
    refused = run("add", "-w", "second", "clinic.csv", code=1)
    assert refused.err.startswith("PopulationConflict")
    for words in (str(tmp_path / "w"), "epsilon 3", "add up", "--yes"):
        assert words in " ".join(refused.err.split())
    assert run("datasets", "-w", "second", "--format", "json").json()["datasets"] == []
    run("add", "-w", "second", "clinic.csv", "--yes")
    run("add", "-w", "second", "clinic.csv", "--replace")


def test_a_dataset_stays_in_its_population(clinic: Path, run: Run, tmp_path: Path) -> None:
    (tmp_path / "moved.yaml").write_text(CARD.replace("population: patients", "population: more"), encoding="utf-8")
    words = ("add", "-w", "w", "clinic.csv", "--card", "moved.yaml", "--replace", "--yes")
    assert run(*words, code=1).err.startswith("PopulationConflict")
    assert run("datasets", "-w", "w", "--format", "json").json()["datasets"][0]["version"] == 1
    run("query", "-w", "w", "SELECT COUNT(*) FROM clinic", "--epsilon", "0.1")


def test_a_terminal_is_asked_about_a_new_population(tmp_path: Path, run: Run) -> None:
    (tmp_path / "clinic.csv").write_text(ROWS, encoding="utf-8")
    (tmp_path / "clinic.yaml").write_text(CARD, encoding="utf-8")
    run("init", "w")
    master, slave = pty.openpty()
    words = [sys.executable, "-m", "discreet", "add", "-w", "w", "clinic.csv"]
    with subprocess.Popen(words, cwd=tmp_path, stdin=slave, stdout=slave, stderr=slave) as process:
        os.close(slave)
        os.write(master, b"n\n")
        seen = b""
        while process.poll() is None or not seen:
            try:
                seen += os.read(master, 4096)
            except OSError:
                break
        process.wait(60)
    os.close(master)
    assert b"new population" in seen
    assert b"Reading" not in seen, "a bar stands in the question"
    assert process.returncode == 1
    assert run("datasets", "-w", "w", "--format", "json").json()["datasets"] == []


@pytest.mark.parametrize(
    "change",
    [
        ("epsilon: 3", "epsilon: 4"),
        ("epsilon: 3", "epsilon: 3, delta: 1e-6"),
        ("neighbours: add-remove", "neighbours: replace-one"),
        ("kind: id, type: integer", "kind: id, type: text"),
    ],
)
def test_later_cards_agree_with_their_population(
    clinic: Path, run: Run, tmp_path: Path, change: tuple[str, str]
) -> None:
    (tmp_path / "later.yaml").write_text(
        CARD.replace("dataset: clinic", "dataset: later").replace(*change), encoding="utf-8"
    )
    assert run("add", "-w", "w", "clinic.csv", "--card", "later.yaml", code=1).err.startswith("PopulationConflict")
    assert run("population", "change", "-w", "w", "--card", "later.yaml", code=1).err.startswith("CustodianOnly")
    run("population", "change", "-w", "w", "--card", "later.yaml", "--custodian")
    run("add", "-w", "w", "clinic.csv", "--card", "later.yaml")


def test_card_init_and_check(tmp_path: Path, run: Run) -> None:
    (tmp_path / "clinic.csv").write_text(ROWS, encoding="utf-8")
    shown = run("card", "init", "clinic.csv").out
    assert (tmp_path / "clinic.yaml").read_text(encoding="utf-8") == shown
    (tmp_path / "clinic.yaml").write_text("mine", encoding="utf-8")
    assert run("card", "init", "clinic.csv").out == shown
    assert (tmp_path / "clinic.yaml").read_text(encoding="utf-8") == "mine"
    run("card", "init", "clinic.csv", "--out", "draft.yaml")
    text = (tmp_path / "draft.yaml").read_text(encoding="utf-8")
    assert "DECIDE" in text
    refused = run("card", "check", "draft.yaml", code=1)
    assert refused.err.startswith("CardUndecided")
    assert "draft.yaml:" in refused.err
    assert run("card", "init", "clinic.csv", "--out", "draft.yaml", code=2).err.startswith("PathInvalid")
    (tmp_path / "good.yaml").write_text(CARD, encoding="utf-8")
    assert "ok" in run("card", "check", "good.yaml").out
    (tmp_path / "bad.yaml").write_text(CARD.replace("categories: {1:", "catagories: {1:"), encoding="utf-8")
    wrong = run("card", "check", "bad.yaml", code=1)
    assert "bad.yaml:11" in wrong.err
    assert "categories" in wrong.err


def test_a_missing_ledger_fails_closed_and_is_not_made_anew(clinic: Path, run: Run) -> None:
    for file in clinic.glob("ledger.sqlite*"):
        file.unlink()
    for words in (
        ("query", "-w", "w", "SELECT COUNT(*) FROM clinic", "--epsilon", "1"),
        ("budget", "-w", "w"),
    ):
        refused = run(*words, code=1)
        assert refused.err.startswith("LedgerUnavailable")
    assert not list(clinic.glob("ledger.sqlite*"))


def test_rollback_is_found(clinic: Path, run: Run, tmp_path: Path) -> None:
    import shutil

    head = run("ledger", "verify", "-w", "w", "--format", "json").json()["head"]
    shutil.copytree(clinic, tmp_path / "copy")
    run("query", "-w", "w", "SELECT COUNT(*) FROM clinic", "--epsilon", "1")
    assert run("ledger", "verify", "-w", "w", "--anchor", head).code == 0
    later = run("ledger", "verify", "-w", "w", "--format", "json").json()["head"]
    shutil.rmtree(clinic)
    shutil.move(tmp_path / "copy", clinic)
    assert run("query", "-w", "w", "SELECT COUNT(*) FROM clinic", "--epsilon", "1", code=1).err.startswith(
        "LedgerDamaged"
    )
    assert run("ledger", "verify", "-w", "w", "--anchor", later, code=1).err.startswith("LedgerDamaged")
