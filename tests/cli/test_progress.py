"""Progress in a log: a line now and then, however many tasks there are."""

from __future__ import annotations

import itertools

import pytest

from discreet.cli.progress import show_progress


def test_a_log_is_not_flooded(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """A task takes a tenth of a second: 1,000 tasks of three stages are told in twenty lines or fewer."""
    clock = itertools.count()
    monkeypatch.setattr("time.monotonic", lambda: next(clock) / 10)
    with show_progress() as tell:
        for done in range(1000):
            tell(f"stage {done % 3}", done, 1000)
    lines = capsys.readouterr().err.splitlines()
    assert 5 <= len(lines) <= 20
    assert len({line.partition(":")[2] for line in lines}) == len(lines)


def test_what_is_done_at_once_is_told_by_its_result(capsys: pytest.CaptureFixture[str]) -> None:
    with show_progress() as tell:
        for done in range(100):
            tell("comparing", done, 100)
    assert capsys.readouterr().err == ""
