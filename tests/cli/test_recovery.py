"""`discreet ledger backup|restore|anchor|key|migrate`, and copies of a workspace folder, as a custodian meets them."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.cli.clinic import Result, Run

QUESTION = ("SELECT town, COUNT(*) AS n FROM clinic GROUP BY town", "--epsilon", "0.25", "--fresh")
FITTING = 4
"""How often the analyst can ask it."""


@pytest.fixture(autouse=True)
def _where_commands_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def ask(run: Run, folder: str) -> Result:
    return run("query", "-w", folder, *QUESTION, code=None)


def left(run: Run, folder: str) -> str:
    state = json.loads(run("budget", "-w", folder, "--format", "json").out)
    return str(state["populations"][0]["population"]["epsilon_remaining"])


def test_copies_of_a_folder_have_one_budget(clinic: Path, run: Run) -> None:
    for number in range(3):
        shutil.copytree("w", f"copy{number}")
    answered = [ask(run, folder).code for _ in range(FITTING + 2) for folder in ("w", "copy0", "copy1", "copy2")]
    assert answered.count(0) == FITTING
    refused = ask(run, "copy1")
    assert refused.code == 1
    assert "another copy of the workspace has been used since" in refused.err


def test_an_older_ledger_is_put_back_with_what_was_spent_since_written_off(clinic: Path, run: Run) -> None:
    whole = left(run, "w")
    assert ask(run, "w").code == 0
    run("ledger", "backup", "-w", "w", "kept.ledger")
    assert "there already" in run("ledger", "backup", "-w", "w", "kept.ledger", code=1).err
    absent = run("ledger", "backup", "-w", "w", "backups/x.sqlite", code=2).err
    assert "there is no folder 'backups'. Create it, or name another file." in absent
    assert ask(run, "w").code == 0
    before = left(run, "w")
    assert float(before) == float(whole) - 0.5
    assert "nothing to restore" in run("ledger", "restore", "-w", "w", "kept.ledger", "--custodian", code=1).err
    for file in Path("w").glob("ledger.sqlite*"):
        file.unlink()
    assert "--custodian" in run("ledger", "restore", "-w", "w", "kept.ledger", code=1).err
    done = json.loads(run("ledger", "restore", "-w", "w", "kept.ledger", "--custodian", "--format", "json").out)
    assert (done["lost"], done["wrote_off_everything"]) == (2, False)
    assert left(run, "w") == before
    assert "restored" in run("ledger", "log", "-w", "w").out
    run("ledger", "verify", "-w", "w")
    assert ask(run, "w").code == 0


def test_a_restored_ledger_is_told_in_words(clinic: Path, run: Run) -> None:
    run("ledger", "backup", "-w", "w", "kept.ledger")
    ask(run, "w")
    Path("w/ledger.sqlite").write_bytes(b"garbage")
    shown = run("ledger", "restore", "-w", "w", "kept.ledger", "--custodian").out
    assert "2 later events are lost" in shown
    assert "what was spent since, as the anchor knows it, was written off" in shown


def test_anchor_and_key_are_replaced(clinic: Path, run: Run) -> None:
    settings = json.loads(Path("w/workspace.json").read_text())
    assert run("ledger", "anchor", "-w", "w", "--to", "elsewhere", code=1).err.startswith("CustodianOnly")
    assert "already" in run("ledger", "anchor", "-w", "w", "--custodian", code=2).err
    run("ledger", "anchor", "-w", "w", "--to", "elsewhere", "--custodian")
    assert json.loads(Path("w/workspace.json").read_text())["anchor"] == str(Path("elsewhere").absolute())
    assert ask(run, "w").code == 0
    Path("elsewhere").unlink()
    assert ask(run, "w").code == 1
    run("ledger", "anchor", "-w", "w", "--lost", "--custodian")
    key = Path(settings["key"])
    old = key.read_text()
    run("ledger", "key", "-w", "w", "--custodian")
    assert key.read_text() != old
    key.unlink()
    assert ask(run, "w").code == 1
    run("ledger", "key", "-w", "w", "--lost", "--custodian")
    assert ask(run, "w").code == 0
    run("ledger", "verify", "-w", "w")
    log = run("ledger", "log", "-w", "w", "--format", "json").out
    kinds = [json.loads(line)["kind"] for line in log.splitlines()]
    assert [kinds.count(kind) for kind in ("anchored", "keyed")] == [2, 2]


@pytest.mark.parametrize("command", ["backup", "restore", "anchor", "key", "migrate"])
def test_each_command_explains_itself(run: Run, command: str) -> None:
    shown = run("ledger", command, "--help").out
    assert f"Example: discreet ledger {command}" in shown


def test_a_ledger_of_this_release_needs_no_migration(clinic: Path, run: Run) -> None:
    assert "already" in run("ledger", "migrate", "-w", "w").out
