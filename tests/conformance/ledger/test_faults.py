"""A store that cannot be written answers nothing and charges nothing."""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from discreet.errors import ExtraMissing, LedgerUnavailable
from discreet.ledger import Ledger, LedgerConfig, SpendRequest, create_ledger, open_ledger

Request = Callable[..., SpendRequest]
NOBODY = 65534


@contextmanager
def full_disk(room: int) -> Iterator[None]:
    """No file of this process may grow beyond `room` bytes."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


@contextmanager
def without_root() -> Iterator[None]:
    """Root may write everywhere: step down for a while."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


def add_analyst(config: LedgerConfig) -> None:
    with open_ledger(config) as ledger:
        ledger.add_analyst("ada", who="custodian")


def spend_and_look(ledger: Ledger, request: SpendRequest) -> tuple[int, str]:
    receipt = ledger.spend(request)
    return receipt.sequence, receipt.event_hash


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that any user can reach."""
    folder = Path(tempfile.mkdtemp(prefix="discreet-ledger-", dir="/tmp"))
    folder.chmod(0o755)
    yield folder
    for path in [folder, *folder.rglob("*")]:
        path.chmod(0o755 if path.is_dir() else 0o644)
    shutil.rmtree(folder)


@pytest.mark.parametrize("config", ["sqlite"], indirect=True)
@pytest.mark.parametrize("room", [0, 1000, 4096, 8192])
def test_a_full_disk_refuses_and_charges_nothing(
    ledger: Ledger, config: LedgerConfig, make_request: Request, room: int
) -> None:
    assert config.path is not None
    ledger.spend(make_request("r1"))
    before = ledger.head()
    log = Path(f"{config.path}-wal")
    refused = False
    with full_disk(log.stat().st_size + room if room else 0):
        for number in range(40):
            try:
                before = spend_and_look(ledger, make_request(f"full{number}", epsilon="0.01"))
            except LedgerUnavailable:
                refused = True
                break
    assert refused
    assert ledger.head() == before
    ledger.verify()
    ledger.spend(make_request("after"))
    with open_ledger(config) as again:
        assert again.verify().events == before[0] + 1


@pytest.mark.parametrize("config", ["sqlite"], indirect=True)
def test_a_read_only_folder_refuses(config: LedgerConfig, open_folder: Path, make_request: Request) -> None:
    inside = open_folder / "workspace"
    inside.mkdir()
    moved = replace(
        config,
        path=inside / "ledger.sqlite",
        key_path=open_folder / "key",
        anchor_path=open_folder / "anchor",
    )
    create_ledger(moved).close()
    for path in (moved.key_path, open_folder / "anchor"):
        if os.geteuid() == 0:
            os.chown(path, NOBODY, NOBODY)
    for path in inside.iterdir():
        path.chmod(0o444)
    inside.chmod(0o555)
    with without_root(), pytest.raises(LedgerUnavailable):
        add_analyst(moved)
    inside.chmod(0o755)
    for path in inside.iterdir():
        path.chmod(0o644)
    with open_ledger(moved) as ledger:
        assert ledger.verify().events == 1


def test_a_read_only_anchor_refuses_before_the_charge(
    ledger: Ledger, config: LedgerConfig, make_request: Request, open_folder: Path
) -> None:
    anchor = open_folder / "anchor"
    assert config.anchor_path is not None
    shutil.copy(config.anchor_path, anchor)
    anchor.chmod(0o444)
    with open_ledger(replace(config, anchor_path=anchor)) as other:
        before = other.head()
        with without_root(), pytest.raises(LedgerUnavailable, match="The anchor"):
            other.spend(make_request("r1"))
        assert ledger.head() == before


def test_an_anchor_that_fails_after_the_charge_lets_no_receipt_out(
    ledger: Ledger, config: LedgerConfig, make_request: Request, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(descriptor: int, data: bytes) -> int:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("discreet.ledger.trust.anchor.os.write", full)
        with pytest.raises(LedgerUnavailable, match="ask again with the same request id"):
            ledger.spend(make_request("r1"))
    receipt = ledger.spend(make_request("r1"))
    assert receipt.replayed
    assert ledger.state("cchs").charges == 1
    assert ledger.verify().anchors == (receipt.sequence,)


@pytest.mark.parametrize("config", ["postgres"], indirect=True)
def test_a_read_only_server_refuses(
    ledger: Ledger, config: LedgerConfig, make_request: Request, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = ledger.head()
    assert config.dsn_env is not None
    dsn = os.environ[config.dsn_env]
    monkeypatch.setenv(config.dsn_env, f"{dsn} options='-c default_transaction_read_only=on'")
    with open_ledger(config) as other:
        assert other.head() == before
        with pytest.raises(LedgerUnavailable, match="ReadOnlySqlTransaction"):
            other.spend(make_request("r1"))
    monkeypatch.setenv(config.dsn_env, dsn)
    assert ledger.head() == before


@pytest.mark.parametrize("config", ["postgres"], indirect=True)
def test_a_lost_connection_refuses_once_and_heals(ledger: Ledger, make_request: Request, vandal: Any) -> None:
    before = ledger.head()
    # its own connection only: tests beside this one use the same server
    pid = ledger._store._connection.get().info.backend_pid  # type: ignore[attr-defined]
    vandal.run(f"SELECT pg_terminate_backend({pid})")
    with pytest.raises(LedgerUnavailable, match="once the server is well"):
        ledger.spend(make_request("r1"))
    assert ledger.head() == before
    assert not ledger.spend(make_request("r1")).replayed


@pytest.mark.parametrize("config", ["postgres"], indirect=True)
def test_the_connection_string_is_named_and_never_shown(
    config: LedgerConfig, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert config.dsn_env is not None
    monkeypatch.delenv(config.dsn_env)
    with pytest.raises(LedgerUnavailable, match=f"'{config.dsn_env}' is not set"):
        open_ledger(config)
    monkeypatch.setenv(config.dsn_env, "host=/nonexistent password=hunter2")
    with pytest.raises(LedgerUnavailable) as caught:
        open_ledger(config)
    assert "hunter2" not in str(caught.value.to_dict())
    assert "nonexistent" not in str(caught.value.to_dict())


def test_without_psycopg_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    monkeypatch.setenv("SOME_DSN", "host=/tmp")
    config = LedgerConfig(workspace_id="w", store="postgres", dsn_env="SOME_DSN", key_path=tmp_path / "key")
    with pytest.raises(ExtraMissing, match=r"discreet\[postgres\]"):
        create_ledger(config)


def test_the_ledger_loads_no_driver_before_it_is_needed() -> None:
    code = "import sys, discreet.ledger; assert not {'sqlite3', 'psycopg', 'numpy'} & set(sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
