"""`discreet doctor` as an alert reads it: a status, a code and subject for each check, an exit code."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import discreet
from discreet.guarantees.types import PureDP
from discreet.ledger import SpendRequest
from tests.cli.clinic import CARD, ROWS, Run
from tests.places import DOCS

COUNT = "SELECT COUNT(*) FROM clinic"


def examined(run: Run, *words: str, code: int = 0) -> dict[tuple[str, str], dict[str, Any]]:
    told = run("doctor", "-w", "w", "--format", "json", *words, code=code).json()
    found = {(check["code"], check["subject"]): check for check in told["checks"]}
    assert len(found) == len(told["checks"])
    statuses = {check["status"] for check in found.values()}
    assert statuses <= {"ok", "absent", "warning", "failed"}
    assert told["status"] == next((bad for bad in ("failed", "warning") if bad in statuses), "ok")
    return found


def failed(run: Run, *words: str) -> list[str]:
    found = examined(run, *words, code=1)
    return [code for (code, _), check in found.items() if check["status"] == "failed"]


@pytest.fixture
def keys(clinic: Path) -> Iterator[tuple[Path, Path]]:
    with discreet.open(clinic) as session:
        yield session.workspace.key, session.workspace.anchor


def test_a_workspace_in_order(clinic: Path, run: Run) -> None:
    found = examined(run, "--strict", "--verify")
    assert found["ledger", "SQLite"]["message"] == "reachable, 4 events"
    assert found["chain", ""]["message"] == "4 events, 0 charges, 0 answers hold"
    assert found["anchor", ""]["message"].endswith("newest head: event 4")
    assert found["budget", "patients"]["message"] == "epsilon 3 of 3 remains"
    assert found["dataset", "clinic"]["status"] == "ok"
    assert ("extra", "spark") in found
    shown = run("doctor", "-w", "w").out
    assert "budget patients" in shown
    assert "FAIL" not in shown


def test_every_code_is_on_the_page(clinic: Path, run: Run) -> None:
    page = (DOCS / "operations.md").read_text(encoding="utf-8")
    listed = set(re.findall(r"^\| `([a-z]+)` \|", page, re.MULTILINE))
    assert {code for code, _ in examined(run, "--verify")} | {"hold"} == listed


def test_no_row_can_be_told(clinic: Path, run: Run) -> None:
    """The same words for other rows."""
    before = run("doctor", "-w", "w", "--format", "json").out
    data = clinic / "datasets" / "clinic" / "v1" / "data.parquet"
    data.write_bytes(b"other rows")
    assert _without_disk(run("doctor", "-w", "w", "--format", "json").out) == _without_disk(before)
    data.unlink()
    assert failed(run) == ["dataset"]


def _without_disk(printed: str) -> str:
    return re.sub(r"[\d.]+ GB free", "", printed)


def test_a_missing_ledger(clinic: Path, run: Run) -> None:
    (clinic / "ledger.sqlite").unlink()
    assert failed(run) == ["ledger"]


def test_key_and_anchor(clinic: Path, run: Run, keys: tuple[Path, Path]) -> None:
    key, anchor = keys
    key.chmod(0o644)
    assert failed(run) == ["key", "ledger"]
    key.chmod(0o600)
    kept = anchor.read_bytes()
    anchor.unlink()
    assert failed(run) == ["anchor", "ledger"]
    anchor.write_bytes(kept + b"\n99 " + b"0" * 64 + b"\n")
    assert failed(run) == ["ledger"]  # its newest head is not in the chain
    anchor.write_bytes(kept)
    assert examined(run)["anchor", ""]["status"] == "ok"


def test_an_edited_event_is_found_by_verify_alone(clinic: Path, run: Run) -> None:
    import sqlite3

    store = sqlite3.connect(clinic / "ledger.sqlite")
    store.executescript("DROP TRIGGER events_stay; UPDATE events SET population = 'x' WHERE sequence = 2")
    store.close()
    examined(run)
    assert failed(run, "--verify") == ["chain"]


def test_a_suspended_dataset(clinic: Path, run: Run) -> None:
    with discreet.open(clinic) as session:
        session.ledger.suspend("clinic", population="patients", reason="secret 4711", who="discreet")
    told = examined(run, code=1)["dataset", "clinic"]
    assert "suspended" in told["message"]
    assert "discreet resume -w w clinic --custodian" in told["advice"]
    assert "4711" not in run("doctor", "-w", "w", code=1).out


def test_a_budget_nearly_spent_is_a_warning(clinic: Path, run: Run) -> None:
    run("query", "-w", "w", COUNT, "--epsilon", "1")
    assert examined(run, "--budget-left", "66")["budget", "patients"]["status"] == "ok"
    assert examined(run, "--budget-left", "67")["budget", "patients"]["status"] == "warning"
    assert examined(run, "--budget-left", "67", "--strict", code=1)["budget", "patients"]["status"] == "warning"
    for share in ("-1", "101", "many"):
        assert run("doctor", "-w", "w", "--budget-left", share, code=2).err.startswith("ParameterInvalid")


def test_a_hold_whose_time_is_over(clinic: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    request = SpendRequest(
        population="patients",
        dataset="clinic",
        version=1,
        analyst="ana",
        request_id="approved-7",
        plan_hash="a" * 64,
        mechanisms=(),
        guarantee=PureDP(epsilon="0.75"),
    )
    with discreet.open(clinic) as session:
        session.ledger.hold(request, who="rita", expires=datetime.now(UTC) + timedelta(days=1))
    assert ("hold", "patients") not in examined(run)
    monkeypatch.setattr("discreet.ledger.events.now", lambda: "9999-01-01T00:00:00.000000+00:00")
    assert "approved-7" in examined(run)["hold", "patients"]["message"]


def test_no_room_on_the_disk(clinic: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    for free, status in ((900_000_000, "warning"), (10_000, "failed")):
        monkeypatch.setattr(shutil, "disk_usage", lambda _, free=free: SimpleNamespace(free=free))
        found = examined(run, code=1 if status == "failed" else 0)
        assert (found["disk", "workspace"]["status"], found["disk", "anchor"]["status"]) == (status, status)


def test_without_a_workspace(run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    told = run("doctor", "--format", "json").json()
    assert [check["status"] for check in told["checks"] if check["code"] == "workspace"] == ["absent"]
    assert failed(run) == ["workspace"]
    monkeypatch.setenv("DISCREET_WORKSPACE", str(tmp_path / "nowhere"))
    run("doctor", code=1)


def test_a_ledger_in_postgresql(tmp_path: Path, run: Run, postgres_dsn: str, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "clinic.csv").write_text(ROWS, encoding="utf-8")
    (tmp_path / "clinic.yaml").write_text(CARD, encoding="utf-8")
    monkeypatch.setenv("CLINIC_DSN", postgres_dsn)
    run("init", "w", "--ledger-dsn-env", "CLINIC_DSN")
    run("add", "-w", "w", "clinic.csv")
    assert examined(run)["ledger", "PostgreSQL"]["status"] == "ok"
    monkeypatch.setenv("CLINIC_DSN", "host=127.0.0.1 port=1 connect_timeout=2 password=hush")
    assert failed(run) == ["ledger"]
    assert "hush" not in run("doctor", "-w", "w", code=1).out
