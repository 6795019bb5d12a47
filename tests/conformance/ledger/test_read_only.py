"""A ledger on media that can only be read: it is read and verified, and nothing is written."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from discreet.errors import LedgerDamaged, LedgerUnavailable
from discreet.ledger import Ledger, LedgerConfig, SpendRequest, create_ledger, open_ledger

Request = Callable[..., SpendRequest]
WHERE: dict[str, Any] = {"population": "cchs", "dataset": "survey", "version": 1, "plan_hash": "a" * 64}


def mounted(folder: Path) -> bool:
    """Whether the folder could be mounted over itself for reading only."""
    commands = (["mount", "--bind", str(folder), str(folder)], ["mount", "-o", "remount,bind,ro", str(folder)])
    try:
        for command in commands:
            if subprocess.run(command, capture_output=True).returncode:
                return False
    except OSError:
        return False
    return True


@pytest.fixture
def medium(tmp_path: Path) -> Iterator[Callable[[], Path]]:
    """A folder that can be written until the function is called which makes it read-only."""
    folder = tmp_path / "medium"
    folder.mkdir()
    made: list[str] = []

    def seal() -> Path:
        if os.geteuid() == 0:
            if not mounted(folder):
                subprocess.run(["umount", str(folder)], capture_output=True)
                pytest.skip("root may write everywhere, and nothing can be mounted here")
            made.append("mount")
        else:
            folder.chmod(0o555)
            made.append("mode")
        assert not os.access(folder, os.W_OK)
        return folder

    yield seal
    if "mount" in made:
        subprocess.run(["umount", str(folder)], check=True)
    folder.chmod(0o755)


@pytest.fixture
def there(tmp_path: Path, make_request: Request, make_terms: Any, medium: Callable[[], Path]) -> LedgerConfig:
    """A ledger whose newest events are in its log, on such a medium."""
    outside = tmp_path / "outside"
    config = LedgerConfig(
        workspace_id="w",
        store="sqlite",
        path=tmp_path / "ledger.sqlite",
        key_path=outside / "key",
        anchor_path=outside / "anchor",
    )
    assert config.path is not None
    with create_ledger(config) as ledger:
        ledger.register(make_terms())
        ledger.give_version("cchs", "survey", above=0, who="custodian")
        ledger.add_analyst("ada", who="custodian")
        ledger.commit_answer(ledger.spend(make_request("r1")), b"noisy")
        for suffix in ("", "-wal"):
            shutil.copy(f"{config.path}{suffix}", tmp_path / "medium" / f"ledger.sqlite{suffix}")
    assert (tmp_path / "medium" / "ledger.sqlite-wal").stat().st_size > 0
    return replace(config, path=medium() / "ledger.sqlite")


def copies(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Where copies are made."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    return folder


def test_it_is_read_and_verified(there: LedgerConfig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    temporary = copies(monkeypatch, tmp_path)
    with open_ledger(there) as ledger:
        assert ledger.verify().answers == 1
        assert ledger.state("cchs").charges == 1
        assert len(list(ledger.log())) == ledger.head()[0]
        found = ledger.find_answer(**WHERE)
        assert found is not None
        assert found.answer == b"noisy"
        assert len(list(temporary.iterdir())) == 1
    assert not list(temporary.iterdir())


def test_nothing_is_written(there: LedgerConfig, make_request: Request) -> None:
    assert there.path is not None
    with open_ledger(there) as ledger:
        before = ledger.head()
        for attempt in (
            lambda: ledger.spend(make_request("new")),
            lambda: ledger.spend(make_request("r1")),
            lambda: ledger.add_analyst("eve", who="custodian"),
            ledger.upgrade,
        ):
            with pytest.raises(LedgerUnavailable, match="its folder can only be read"):
                attempt()
        assert ledger.head() == before
        ledger.verify()


@pytest.mark.parametrize("config", ["sqlite"], indirect=True)
def test_damage_is_found_there_too(
    config: LedgerConfig, ledger: Ledger, make_request: Request, monkeypatch: pytest.MonkeyPatch, vandal: Any
) -> None:
    """Also what others, who may write there, do meanwhile: a copy is no older than what it was made of."""
    sequence = ledger.spend(make_request("r1")).sequence
    monkeypatch.setattr("discreet.ledger.chain_stores.sqlite_store._sealed_off", lambda path: True)
    with open_ledger(config) as reader:
        assert reader.state("cchs").charges == 1
        monkeypatch.setattr("discreet.ledger.chain_stores.sqlite_store._sealed_off", lambda path: False)
        ledger.spend(make_request("r2"))
        monkeypatch.setattr("discreet.ledger.chain_stores.sqlite_store._sealed_off", lambda path: True)
        assert reader.state("cchs").charges == 2
        reader.verify()
        vandal.run(f"UPDATE events SET request_id = 'x' WHERE sequence = {sequence}")
        with pytest.raises(LedgerDamaged):
            reader.verify()
