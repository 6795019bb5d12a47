"""Workspaces on a small file, and the command line as a user runs it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.clinic import CARD, ROWS, Result, Run


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """The command in a process of its own, in the test's folder, without a terminal."""

    def call(*words: str, code: int | None = 0, stdin: str = "") -> Result:
        done = subprocess.run(
            [sys.executable, "-m", "discreet", *words],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            input=stdin,
        )
        if code is not None:
            assert done.returncode == code, (words, done.stdout, done.stderr)
        return Result(done.returncode, done.stdout, done.stderr)

    return call


@pytest.fixture
def clinic(tmp_path: Path, run: Run) -> Path:
    """A workspace with the dataset 'clinic'."""
    (tmp_path / "clinic.csv").write_text(ROWS, encoding="utf-8")
    (tmp_path / "clinic.yaml").write_text(CARD, encoding="utf-8")
    run("init", "w")
    run("add", "-w", "w", "clinic.csv")
    return tmp_path / "w"
