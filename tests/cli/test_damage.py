"""A damaged ledger and a read-only one, as a user meets them: one sentence, an exit code, and nothing is answered."""

from __future__ import annotations

import os
import sqlite3
import subprocess
from pathlib import Path

import pytest

from tests.cli.clinic import Run

COUNT = "SELECT COUNT(*) FROM clinic"
COMMANDS = (
    ("ledger", "verify", "-w", "w"),
    ("ledger", "log", "-w", "w"),
    ("budget", "-w", "w"),
    ("query", "-w", "w", COUNT, "--epsilon", "0.5", "--request-id", "q1"),
    ("query", "-w", "w", COUNT, "--epsilon", "0.5", "--request-id", "q2"),
)


def test_a_damaged_ledger_is_told_in_one_sentence(clinic: Path, run: Run) -> None:
    run("query", "-w", "w", COUNT, "--epsilon", "0.5", "--request-id", "q1")
    file = clinic / "ledger.sqlite"
    store = sqlite3.connect(file)
    store.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    store.close()
    whole = file.read_bytes()
    outside = [path for path in Path(os.environ["DISCREET_KEYS"]).rglob("*") if path.is_file()]
    keys = {path: path.read_bytes() for path in outside}
    refused = right = 0
    inhabited = [place for place in range(100, len(whole)) if any(whole[place - 2 : place + 3])]
    for place in (*range(16, 100, 23), *inhabited[::1777]):
        spoilt = bytearray(whole)
        spoilt[place] ^= 0xFF
        for words in COMMANDS:
            for leftover in clinic.glob("ledger.sqlite*"):
                leftover.unlink()
            file.write_bytes(spoilt)
            for path, content in keys.items():
                path.write_bytes(content)
            given = run(*words, code=None)
            assert given.code in {0, 1}, (place, words, given.err)
            right += given.code == 0
            if given.code == 1:
                refused += 1
                assert given.err.startswith(("LedgerDamaged: ", "LedgerUnavailable: ")), (place, words, given.err)
                assert "\n" not in given.err.strip().replace("\n  ", " "), given.err
    assert min(refused, right) > 10


def test_a_newer_ledger_says_so(clinic: Path, run: Run) -> None:
    store = sqlite3.connect(clinic / "ledger.sqlite", isolation_level=None)
    store.execute("UPDATE head SET format = 99")
    store.close()
    for words in COMMANDS:
        assert "written by a newer version of Discreet" in " ".join(run(*words, code=1).err.split())


def test_a_read_only_workspace_is_read_and_verified(clinic: Path, run: Run) -> None:
    asked = run("query", "-w", "w", COUNT, "--epsilon", "0.5", "--request-id", "q1", "--format", "json").json()
    if os.geteuid() != 0 or subprocess.run(["mount", "--bind", clinic, clinic], capture_output=True).returncode:
        pytest.skip("nothing can be mounted here")
    try:
        subprocess.run(["mount", "-o", "remount,bind,ro", clinic], check=True, capture_output=True)
        assert run("ledger", "verify", "-w", "w", "--format", "json").json()["answers"] == 1
        assert len(run("ledger", "log", "-w", "w", "--format", "json").out.splitlines()) > 4
        assert run("budget", "-w", "w").code == 0
        told = run("doctor", "-w", "w", "--verify", "--format", "json", code=None).json()
        assert [check["status"] for check in told["checks"] if check["code"] == "chain"] == ["ok"]
        refused = run("query", "-w", "w", COUNT, "--epsilon", "0.5", "--request-id", "q2", code=1).err
        assert refused.startswith("LedgerUnavailable: ")
        assert "its folder can only be read" in " ".join(refused.split())
    finally:
        subprocess.run(["umount", clinic], check=True)
    again = run("query", "-w", "w", COUNT, "--epsilon", "0.5", "--request-id", "q2", "--format", "json").json()
    assert again["rows"] == asked["rows"]
