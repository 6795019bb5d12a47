"""Workspaces on a small file, and the command line as a user runs it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.clinic import CARD, ROWS, Result, Run
from tests.cli.in_process import call_here
from tests.workspaces import fill


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """The command in the test's folder, without a terminal. In this process: see `process` for one of its own."""

    def call(*words: str, code: int | None = 0, stdin: str = "") -> Result:
        return expect(code, words, call_here(tmp_path, words, stdin))

    return call


@pytest.fixture
def process(tmp_path: Path) -> Run:
    """The command in a process of its own, for what only a process shows."""

    def call(*words: str, code: int | None = 0, stdin: str = "") -> Result:
        command = [sys.executable, "-m", "discreet", *words]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, input=stdin)
        return expect(code, words, Result(done.returncode, done.stdout, done.stderr))

    return call


@pytest.fixture
def clinic(tmp_path: Path) -> Path:
    """A workspace with the dataset 'clinic', and its file and card beside it."""
    return fill(tmp_path, "clinic", _make_clinic)


def _make_clinic(folder: Path) -> None:
    """By the commands a user would give."""
    (folder / "clinic.csv").write_text(ROWS, encoding="utf-8")
    (folder / "clinic.yaml").write_text(CARD, encoding="utf-8")
    for words in (("init", "w"), ("add", "-w", "w", "clinic.csv")):
        expect(0, words, call_here(folder, words, ""))


def expect(code: int | None, words: tuple[str, ...], result: Result) -> Result:
    if code is not None:
        assert result.code == code, (words, result.out, result.err)
    return result
