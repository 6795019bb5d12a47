"""Workspaces that many tests start from: made once by the product, then copied for each test."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

__all__ = ["fill"]

_SHELF: Final = tempfile.TemporaryDirectory(prefix="discreet-templates-")
_MADE: Final[dict[str, Path]] = {}


def fill(folder: Path, content: str, make: Callable[[Path], None], *, workspace: str = "w") -> Path:
    """Give `folder` what `make` would put there, a workspace among it; returns the workspace.

    `make` runs once for each `content`. A copy has its key and its anchor to itself; it shares id and salt with other
    copies, so where those matter, call `make`.
    """
    if content not in _MADE:
        _MADE[content] = _make(make)
    shutil.copytree(_MADE[content], folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns("keys"))
    file, keys = folder / workspace / "workspace.json", Path(os.environ["DISCREET_KEYS"]) / uuid.uuid4().hex
    keys.mkdir(parents=True)
    described = json.loads(file.read_text(encoding="utf-8"))
    for kind in ("key", "anchor"):
        described[kind] = shutil.copy2(described[kind], keys)
    file.write_text(json.dumps(described), encoding="utf-8")
    return folder / workspace


def _make(make: Callable[[Path], None]) -> Path:
    template = Path(_SHELF.name) / str(len(_MADE))
    template.mkdir()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DISCREET_KEYS", str(template / "keys"))
        make(template)
    return template
