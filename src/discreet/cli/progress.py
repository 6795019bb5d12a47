"""How far a long task is: a bar with the time left for a person, lines for a log."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from discreet.catalogue import say
from discreet.cli.screen import show_note

__all__ = ["SECONDS_APART", "reach_tenth", "show_progress"]

_TENTHS = 10
SECONDS_APART: Final = 5


@contextmanager
def show_progress() -> Iterator[Callable[[str, int, int], None]]:
    """A bar with the time left on a terminal; elsewhere a line now and then. Never a value."""
    if not sys.stderr.isatty():
        yield _tell_lines()
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, TimeRemainingColumn(), console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(say("starting"), total=None)
        yield lambda stage, done, total: bar.update(task, description=stage, completed=done, total=total)


def _tell_lines() -> Callable[[str, int, int], None]:
    """A line where a tenth more is done, and never two within a few seconds: a log is read, not watched."""
    told, last = reach_tenth("", 0, 1), time.monotonic()

    def tell(stage: str, done: int, total: int) -> None:
        nonlocal told, last
        if (tenth := reach_tenth(stage, done, total)) != told and time.monotonic() >= last + SECONDS_APART:
            told, last = tenth, time.monotonic()
            show_note(say("{stage}: {done} of {total} tasks", stage=stage, done=done, total=total))

    return tell


def reach_tenth(stage: str, done: int, total: int) -> tuple[str, int]:
    """The stage and how many tenths of it are done."""
    return stage, done * _TENTHS // max(total, 1)
