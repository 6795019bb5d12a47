"""What every test gets: keys and anchors of test workspaces never land in the developer's own folders."""

from __future__ import annotations

from pathlib import Path

import pytest

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"


@pytest.fixture(autouse=True)
def _own_keys(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DISCREET_KEYS", str(tmp_path_factory.mktemp("keys")))
    monkeypatch.setenv("DISCREET_ANALYST", "ana")
    monkeypatch.delenv("DISCREET_WORKSPACE", raising=False)
    monkeypatch.delenv("DISCREET_LANG", raising=False)
    monkeypatch.delenv("DISCREET_ROOTS", raising=False)
