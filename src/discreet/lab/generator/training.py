"""Training of the generator on rows, without protection: conditional, packed, Wasserstein with gradient penalty.

Guarantee: none. A model remembers its rows in ways that nobody bounds, and so does all that it generates.
Requires:  rows, two packs or more.
Proof:     none
Refs:      [XSCV19], sections 4.3 and 4.4; gradient penalty [GAADC17].
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from contextlib import ExitStack
from typing import Final

import numpy as np
from numpy import int64
from numpy.typing import NDArray

from discreet.catalogue import say
from discreet.errors import Refused
from discreet.lab.generator.coding import Coding, Encoded, fit_coding
from discreet.lab.generator.generator_model import GeneratorModel
from discreet.lab.generator.generator_rows import GeneratorRows
from discreet.lab.generator.network import (
    AveragedModel,
    Discriminator,
    Generator,
    Tensor,
    activate,
    condition_loss,
    torch,
)
from discreet.lab.generator.training_settings import Epoch, Settings

__all__ = ["Epoch", "Settings", "train"]

_NARROW: Final = 1_000
_PENALTY: Final = 10.0
_TEMPERATURE: Final = 0.2
_MEMORY: Final = 0.995
_SMOOTHING: Final = 0.1


def train(
    rows: GeneratorRows, settings: Settings, *, progress: Callable[[Epoch], None] | None = None
) -> GeneratorModel:
    """A model of the rows. An interrupt passes through, and leaves nothing behind.

    With `patience`, training ends early once the distance between real and generated rows that the discriminator sees,
    smoothed over about ten epochs, has found no new least value for so many epochs.
    """
    least = 2 * settings.pac_for(len(rows))
    if not rows.shapes or len(rows) < least:
        raise Refused(
            say(
                "a generator needs columns, and {least} rows or more to train on; there are fewer. Add rows.",
                least=least,
            )
        )
    rng = np.random.default_rng(settings.seed)
    coding = fit_coding(rows, modes=settings.modes_for(len(rows)), rng=rng)
    started, least_distance, since, smoothed, number = time.monotonic(), math.inf, 0, math.nan, 0
    # The caller's random numbers and threads are afterwards as if nothing had happened.
    with torch.random.fork_rng(devices=[]), ExitStack() as after:
        torch.manual_seed(int(rng.integers(2**63)))
        after.callback(torch.set_num_threads, torch.get_num_threads())
        if coding.width < _NARROW:
            # Threads of a narrow network wait for each other longer than they work.
            torch.set_num_threads(1)
        contest = _Contest(coding, coding.encode(rows, rng), settings, rng)
        for number in range(1, settings.epochs + 1):
            generator_loss, discriminator_loss, distance = contest.run_epoch()
            if progress is not None:
                left = (time.monotonic() - started) / number * (settings.epochs - number)
                progress(Epoch(number, settings.epochs, generator_loss, discriminator_loss, left))
            smoothed = distance if number == 1 else smoothed + _SMOOTHING * (distance - smoothed)
            least_distance, since = (smoothed, 0) if smoothed < least_distance else (least_distance, since + 1)
            if settings.patience is not None and since >= settings.patience:
                break
    return GeneratorModel(
        rows.shapes, coding, settings, contest.average.module, trained={"rows": len(rows), "epochs": number}
    )


class _Conditions:
    """A column, a slot of it by the logarithm of its frequency, and a row that has it; all by table look-up."""

    def __init__(self, coding: Coding, slots: NDArray[int64], rng: np.random.Generator) -> None:
        self._rng, self._rows = rng, len(slots)
        self.blocks = np.searchsorted(coding.starts, coding.conditions, side="right") - 1
        self._counts = np.bincount((slots + coding.starts[:-1]).ravel(), minlength=coding.starts[-1])[coding.conditions]
        self._holders = np.argsort(slots[:, np.unique(self.blocks)], axis=0).ravel(order="F")
        self._firsts = np.cumsum(self._counts) - self._counts
        logs = np.log1p(self._counts)
        self._reached = np.cumsum(logs / np.bincount(self.blocks, logs)[self.blocks])

    def draw(self, size: int) -> tuple[Tensor, NDArray[int64]]:
        """Places in `Coding.conditions`, and rows that fulfil them; any rows where there is nothing to ask for."""
        if not len(self._reached):
            return torch.zeros(size, dtype=torch.int64), self._rng.integers(self._rows, size=size)
        indices = np.searchsorted(self._reached, self._rng.random(size) * self._reached[-1], side="right")
        chosen = self._holders[self._firsts[indices] + self._rng.integers(self._counts[indices])]
        return torch.as_tensor(indices), chosen


class _Contest:
    """The two networks, their optimisers and the rows they learn from.

    The two circle around where they should meet: the generator's moving average over some 200 steps is closer to it
    than any single step [YFWYC19].
    """

    def __init__(self, coding: Coding, encoded: Encoded, settings: Settings, rng: np.random.Generator) -> None:
        rows = len(encoded.slots)
        self._coding, self._noise, self._batch = coding, settings.noise, settings.batch_for(rows)
        self._steps = max(1, rows // self._batch)
        self._scalars = torch.as_tensor(encoded.scalars, dtype=torch.float32)
        self._slots = torch.as_tensor(encoded.slots + coding.starts[:-1] + coding.scalars)
        self._conditions = _Conditions(coding, encoded.slots, rng)
        self._asked, self._blocks = torch.as_tensor(coding.conditions), torch.as_tensor(self._conditions.blocks)
        self._generator = Generator(coding, noise=settings.noise, hidden=settings.hidden)
        # At first the average forgets faster, or the untrained start would linger.
        mix = lambda mean, now, steps: mean + (now - mean) * max(1 - _MEMORY, 9 / (10 + int(steps)))  # noqa: E731
        self.average = AveragedModel(self._generator, avg_fn=mix, use_buffers=True)
        self._judge = Discriminator(coding, pac=settings.pac_for(rows), hidden=settings.hidden)
        self._optimisers = {
            network: torch.optim.Adam(network.parameters(), lr=2e-4, betas=(0.5, 0.9), weight_decay=1e-6, fused=True)
            for network in (self._generator, self._judge)
        }

    def run_epoch(self) -> list[float]:
        """As many steps as batches fit in the rows: mean losses of both, and the distance the discriminator sees."""
        steps = [torch.stack([self._make_step(), *self._judge_step()]) for _ in range(self._steps)]
        means: list[float] = torch.stack(steps).mean(dim=0).tolist()
        return means

    def _judge_step(self) -> tuple[Tensor, Tensor]:
        asked, chosen = self._conditions.draw(self._batch)
        with torch.no_grad():
            _, fake = self._fake(asked)
        real = self._real(chosen)
        of_real, of_fake = self._judge(torch.cat([real, fake]), asked).chunk(2)
        distance = of_real.mean() - of_fake.mean()
        loss = self._penalty(real, fake, asked) - distance
        self._improve(self._judge, loss)
        return loss.detach(), distance.detach()

    def _make_step(self) -> Tensor:
        asked, _ = self._conditions.draw(self._batch)
        made, fake = self._fake(asked)
        loss = -self._judge(fake, asked).mean()
        if len(self._asked):
            loss = loss + condition_loss(made, self._coding, self._asked[asked], self._blocks[asked])
        self._improve(self._generator, loss)
        self.average.update_parameters(self._generator)
        return loss.detach()

    def _improve(self, network: Generator | Discriminator, loss: Tensor) -> None:
        """A step against the loss; only this network's gradients are worked out."""
        self._optimisers[network].zero_grad()
        loss.backward(inputs=list(network.parameters()))
        self._optimisers[network].step()

    def _fake(self, asked: Tensor) -> tuple[Tensor, Tensor]:
        made = self._generator(torch.randn(self._batch, self._noise), asked)
        return made, activate(made, self._coding, temperature=_TEMPERATURE)

    def _real(self, chosen: NDArray[int64]) -> Tensor:
        vectors = torch.zeros(len(chosen), self._coding.width)
        vectors[:, : self._coding.scalars] = self._scalars[chosen]
        return vectors.scatter_(1, self._slots[chosen], 1.0)

    def _penalty(self, real: Tensor, fake: Tensor, asked: Tensor) -> Tensor:
        """How far the slope of the discriminator is from 1, between real and generated packs of the same conditions."""
        packs = real.reshape(-1, self._judge.width)
        share = torch.rand(len(packs), 1)
        between = (share * packs + (1 - share) * fake.reshape(packs.shape)).requires_grad_()
        [slopes] = torch.autograd.grad(self._judge(between, asked).sum(), between, create_graph=True)
        return _PENALTY * ((slopes.norm(dim=1) - 1) ** 2).mean()
