"""A workspace whose ledger is in PostgreSQL, from init to verify."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.cli.clinic import CARD, ROWS, Run


def test_a_ledger_in_postgresql(tmp_path: Path, run: Run, postgres_dsn: str, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "clinic.csv").write_text(ROWS, encoding="utf-8")
    (tmp_path / "clinic.yaml").write_text(CARD, encoding="utf-8")
    refused = run("init", "w", "--ledger-dsn-env", "CLINIC_DSN", code=None)
    assert refused.code != 0
    assert not (tmp_path / "w").exists()
    monkeypatch.setenv("CLINIC_DSN", postgres_dsn)
    run("init", "w", "--ledger-dsn-env", "CLINIC_DSN")
    run("add", "-w", "w", "clinic.csv")
    sql = "SELECT town, COUNT(*) AS n FROM clinic GROUP BY town"
    first = run("query", "-w", "w", sql, "--epsilon", "0.75", "--format", "json").json()
    again = run("query", "-w", "w", sql, "--epsilon", "0.75", "--format", "json").json()
    assert again["rows"] == first["rows"]
    assert run("query", "-w", "w", sql, "--epsilon", "0.5", "--fresh", code=1).err.startswith("BudgetExceeded")
    assert run("ledger", "verify", "-w", "w", "--format", "json").json()["charges"] == 1
    assert not list((tmp_path / "w").glob("ledger*"))
    assert postgres_dsn not in (tmp_path / "w" / "workspace.json").read_text(encoding="utf-8")
    monkeypatch.setenv("CLINIC_DSN", "host=127.0.0.1 port=1 connect_timeout=2")
    closed = run("query", "-w", "w", sql, "--epsilon", "0.1", code=1)
    assert closed.err.startswith("LedgerUnavailable")


def test_copies_of_a_folder_get_versions_of_their_own(
    tmp_path: Path, run: Run, postgres_dsn: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLINIC_DSN", postgres_dsn)
    (tmp_path / "clinic.csv").write_text(ROWS, encoding="utf-8")
    (tmp_path / "clinic.yaml").write_text(CARD, encoding="utf-8")
    run("init", "w", "--ledger-dsn-env", "CLINIC_DSN")
    run("add", "-w", "w", "clinic.csv")
    shutil.copytree(tmp_path / "w", tmp_path / "copy")
    lines = ROWS.splitlines(keepends=True)
    for workspace, kept in (("w", 1001), ("copy", 11)):
        (tmp_path / "clinic.csv").write_text("".join(lines[:kept]), encoding="utf-8")
        run("add", "-w", workspace, "clinic.csv", "--replace")
    found = {}
    for workspace in ("w", "copy", "w", "copy"):
        words = ("SELECT COUNT(*) AS n FROM clinic", "--epsilon", "0.5", "--format", "json")
        answer = run("query", "-w", workspace, *words).json()
        assert answer["replayed"] is (workspace in found)
        found[workspace] = (answer["version"], answer["rows"][0]["n"])
    assert {workspace: version for workspace, (version, _) in found.items()} == {"w": 2, "copy": 3}
    assert found["w"][1] - found["copy"][1] > 500
    run("ledger", "verify", "-w", "copy")
