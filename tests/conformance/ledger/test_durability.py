"""What is acknowledged is on the disk: a power cut forgets no charge and no anchored head."""

from __future__ import annotations

import os
from collections.abc import Callable

import pytest

from discreet.ledger import Ledger, LedgerConfig, SpendRequest, open_ledger

Request = Callable[..., SpendRequest]
SYNCED_AT_EVERY_COMMIT = 2


@pytest.mark.parametrize("config", ["sqlite"], indirect=True)
def test_a_commit_is_on_the_disk_before_it_is_acknowledged(ledger: Ledger) -> None:
    with ledger._store.writing() as transaction:
        assert transaction._run("PRAGMA synchronous", ()).fetchone() == (SYNCED_AT_EVERY_COMMIT,)


@pytest.mark.parametrize("config", ["sqlite"], indirect=True)
def test_the_anchor_is_on_the_disk_before_a_receipt_leaves(
    ledger: Ledger, config: LedgerConfig, make_request: Request, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert config.anchor_path is not None
    synced, sync = [], os.fsync

    def note(descriptor: int) -> None:
        synced.append(os.fstat(descriptor).st_ino)
        sync(descriptor)

    monkeypatch.setattr("discreet.ledger.trust.anchor.os.fsync", note)
    ledger.spend(make_request())
    assert synced == [config.anchor_path.stat().st_ino]


@pytest.mark.parametrize("config", ["postgres"], indirect=True)
def test_a_server_that_acknowledges_early_is_overruled(
    ledger: Ledger, config: LedgerConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert config.dsn_env is not None
    hurried = f"{os.environ[config.dsn_env]} options='-c synchronous_commit=off'"
    monkeypatch.setenv(config.dsn_env, hurried)
    with open_ledger(config) as other, other._store.writing() as transaction:
        assert transaction._run("SHOW synchronous_commit", ()).fetchone() == ("on",)
