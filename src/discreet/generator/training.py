"""Training of the generator on rows, without protection: conditional, packed, Wasserstein with gradient penalty.

Guarantee: none. A model remembers its rows in ways that nobody bounds, and so does all that it generates.
Requires:  rows, two packs or more.
Proof:     none
Refs:      [XSCV19], sections 4.3 and 4.4.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from discreet.errors import Refused
from discreet.generator.coding import fit_coding
from discreet.generator.model import Model
from discreet.generator.settings import Settings

if TYPE_CHECKING:
    from discreet.generator.rows import Rows

__all__ = ["Epoch", "Settings", "train"]

_SMOOTHING: Final = 0.1


@dataclass(frozen=True, slots=True)
class Epoch:
    """How far training is: losses are means over the epoch, `seconds_left` an estimate."""

    number: int
    of: int
    generator_loss: float
    discriminator_loss: float
    seconds_left: float


def train(rows: Rows, settings: Settings, *, progress: Callable[[Epoch], None] | None = None) -> Model:
    """A model of the rows. An interrupt passes through, and leaves nothing behind.

    With `patience`, training ends early once the distance between real and generated rows that the discriminator sees,
    smoothed over about ten epochs, has found no new least value for so many epochs.
    """
    from discreet.generator.contest import Contest, own_randomness
    from discreet.generator.network import fit_threads

    least = 2 * settings.pac_for(len(rows))
    if not rows.shapes or len(rows) < least:
        raise Refused(
            f"a generator needs columns, and {least} rows or more to train on; {len(rows.shapes)} columns and "
            f"{len(rows)} rows came. Add rows, or train with a smaller pac.",
            rows=len(rows),
        )
    rng = np.random.default_rng(settings.seed)
    coding = fit_coding(rows, modes=settings.modes_for(len(rows)), rng=rng)
    started, least_distance, since, smoothed, number = time.monotonic(), math.inf, 0, math.nan, 0
    with own_randomness(rng), fit_threads(coding):
        contest = Contest(coding, coding.encode(rows, rng), settings, rng)
        for number in range(1, settings.epochs + 1):
            generator_loss, discriminator_loss, distance = contest.run_epoch()
            if progress is not None:
                left = (time.monotonic() - started) / number * (settings.epochs - number)
                progress(Epoch(number, settings.epochs, generator_loss, discriminator_loss, left))
            smoothed = distance if number == 1 else smoothed + _SMOOTHING * (distance - smoothed)
            least_distance, since = (smoothed, 0) if smoothed < least_distance else (least_distance, since + 1)
            if settings.patience is not None and since >= settings.patience:
                break
    return Model(rows.shapes, coding, settings, contest.average, trained={"rows": len(rows), "epochs": number})
