"""How far a long task is: a bar with the time left for a person, lines for a log."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

from discreet.cli.screen import show_note

if TYPE_CHECKING:
    from discreet.generator.private import PrivateEpoch
    from discreet.generator.settings import Epoch

__all__ = ["show_progress", "show_training"]

_TENTHS = 10
_SECONDS_APART = 5


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
    """A line where a tenth more is done, and never two within a few seconds: a log is read, not watched."""
    told, last = _tenth("", 0, 1), time.monotonic()

    def tell(stage: str, done: int, total: int) -> None:
        nonlocal told, last
        if (tenth := _tenth(stage, done, total)) != told and time.monotonic() >= last + _SECONDS_APART:
            told, last = tenth, time.monotonic()
            show_note(f"{stage}: {done} of {total} tasks")

    return tell


def _tenth(stage: str, done: int, total: int) -> tuple[str, int]:
    return stage, done * _TENTHS // max(total, 1)


@contextmanager
def show_training() -> Iterator[Callable[[Epoch | PrivateEpoch], None]]:
    """How far a training is, epoch by epoch; with its losses, where there are any to show."""
    if not sys.stderr.isatty():
        yield _tell_epochs()
        return
    with ExitStack() as stack:
        bars: list[Callable[[str, int, int], None]] = []

        def tell(epoch: Epoch | PrivateEpoch) -> None:
            # Not before the first epoch: a bar that runs would be drawn over the question before the training.
            if not bars:
                bars.append(stack.enter_context(show_progress()))
            bars[0](_describe(epoch), epoch.number, epoch.of)

        yield tell


def _tell_epochs() -> Callable[[Epoch | PrivateEpoch], None]:
    told, last = -1, time.monotonic()

    def tell(epoch: Epoch | PrivateEpoch) -> None:
        nonlocal told, last
        _, tenth = _tenth("", epoch.number, epoch.of)
        if tenth != told and time.monotonic() >= last + _SECONDS_APART:
            told, last = tenth, time.monotonic()
            left = f"about {epoch.seconds_left:.0f} s left"
            show_note(f"{_describe(epoch)}: epoch {epoch.number} of {epoch.of}, {left}")

    return tell


def _describe(epoch: Epoch | PrivateEpoch) -> str:
    from discreet.generator.settings import Epoch

    if not isinstance(epoch, Epoch):
        return "training privately"
    return f"training, losses {epoch.generator_loss:+.3f} (generator) {epoch.discriminator_loss:+.3f} (discriminator)"
