"""How far a training is: a bar for a person, lines for a log."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

from discreet.catalogue import say
from discreet.cli import SECONDS_APART, reach_tenth, show_note, show_progress
from discreet.lab.generator.training_settings import Epoch

if TYPE_CHECKING:
    from discreet.lab.generator.protected.private_training import PrivateEpoch

__all__ = ["show_training"]


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
        _, tenth = reach_tenth("", epoch.number, epoch.of)
        if tenth != told and time.monotonic() >= last + SECONDS_APART:
            told, last = tenth, time.monotonic()
            show_note(
                say(
                    "{stage}: epoch {number} of {epochs}, about {seconds:.0f} s left",
                    stage=_describe(epoch),
                    number=epoch.number,
                    epochs=epoch.of,
                    seconds=epoch.seconds_left,
                )
            )

    return tell


def _describe(epoch: Epoch | PrivateEpoch) -> str:
    if not isinstance(epoch, Epoch):
        return say("training privately")
    return say(
        "training, losses {generator:+.3f} (generator) {discriminator:+.3f} (discriminator)",
        generator=epoch.generator_loss,
        discriminator=epoch.discriminator_loss,
    )
