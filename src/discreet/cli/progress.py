"""How far a long task is: a bar with the time left for a person, lines for a log."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from discreet.cli.screen import show_note

__all__ = ["show_progress"]

_TENTHS = 10


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
        task = bar.add_task("starting", total=None)
        yield lambda stage, done, total: bar.update(task, description=stage, completed=done, total=total)


def _tell_lines() -> Callable[[str, int, int], None]:
    last = [""]

    def tell(stage: str, done: int, total: int) -> None:
        tenth = done * _TENTHS // max(total, 1)
        line = f"{stage}: {done} of {total} tasks"
        if (key := f"{stage}{tenth}") != last[0]:
            last[0] = key
            show_note(line)

    return tell
