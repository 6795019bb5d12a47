"""The demonstration as a newcomer sees it: on a terminal, at once, on one page."""

from __future__ import annotations

import os
import pty
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.places import ROOT


@pytest.mark.long
def test_it_asks_nothing_and_stays_short(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = shutil.copytree(ROOT / "examples", tmp_path / "examples") / "demo.sh"
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent), prepend=os.pathsep)
    terminal, other = pty.openpty()
    seen = b""
    with subprocess.Popen(["bash", script], stdin=other, stdout=other, stderr=other) as running:
        os.close(other)
        try:
            while read := os.read(terminal, 4096):
                seen += read
        except OSError:  # the terminal's way to say that nobody writes to it any more
            pass
        os.close(terminal)
    assert running.returncode == 0, seen
    assert seen.count(b"\n") <= 60
    assert b"QueryRefused" in seen
    assert b"old spelling" not in seen
    assert {"smoking.xlsx", "smoking.svg"} <= {file.name for file in (tmp_path / "demo").iterdir()}
