"""Workspaces on a small file, and the command line as a user runs it."""

from __future__ import annotations

import gc
import io
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from discreet.cli import main
from tests.cli.clinic import CARD, ROWS, Result, Run
from tests.workspaces import fill


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """The command in the test's folder, without a terminal. In this process: see `process` for one of its own."""

    def call(*words: str, code: int | None = 0, stdin: str = "") -> Result:
        return expect(code, words, _in_process(tmp_path, words, stdin))

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
        expect(0, words, _in_process(folder, words, ""))


def expect(code: int | None, words: tuple[str, ...], result: Result) -> Result:
    if code is not None:
        assert result.code == code, (words, result.out, result.err)
    return result


def _in_process(folder: Path, words: tuple[str, ...], stdin: str) -> Result:
    with _own_streams(folder, words, stdin) as (out, err), pytest.raises(SystemExit) as left:
        main()
    code = left.value.code
    assert code is None or isinstance(code, int), code
    return Result(code or 0, out.getvalue().decode(), err.getvalue().decode())


@contextmanager
def _own_streams(folder: Path, words: tuple[str, ...], stdin: str) -> Iterator[tuple[io.BytesIO, io.BytesIO]]:
    """What a process would have of its own: words, folder, streams, and how often memory is swept."""
    out, err, swept = io.BytesIO(), io.BytesIO(), gc.get_threshold()
    writers = [io.TextIOWrapper(stream, encoding="utf-8", write_through=True) for stream in (out, err)]
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setattr(sys, "argv", ["discreet", *words])
        patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin.encode()), encoding="utf-8"))
        patch.setattr(sys, "stdout", writers[0])
        patch.setattr(sys, "stderr", writers[1])
        try:
            yield out, err
        finally:
            gc.set_threshold(*swept)
            for writer in writers:
                writer.detach()
