"""The contest of the two networks: Wasserstein loss with gradient penalty [GAADC17], training by sampling [XSCV19]."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy
from typing import TYPE_CHECKING, Final

import numpy as np

from discreet.generator.network import Discriminator, Generator, activate, condition_loss, torch

if TYPE_CHECKING:
    from numpy import int64
    from numpy.typing import NDArray
    from torch import Tensor

    from discreet.generator.coding import Coding, Encoded
    from discreet.generator.settings import Settings

__all__ = ["Contest", "own_randomness"]

_PENALTY: Final = 10.0
_TEMPERATURE: Final = 0.2
_DROPOUT: Final = 0.5
_MEMORY: Final = 0.995


@contextmanager
def own_randomness(rng: np.random.Generator) -> Iterator[None]:
    """Random numbers of our own inside; the caller's go on afterwards as if nothing had been drawn."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(int(rng.integers(2**63)))
        yield


class _Conditions:
    """A column, a slot of it by the logarithm of its frequency, and a row that has it; all by table look-up."""

    def __init__(self, coding: Coding, slots: NDArray[int64], rng: np.random.Generator) -> None:
        self._rng, self._rows = rng, len(slots)
        columns = [index for index, block in enumerate(coding.blocks) if block.conditional]
        counts = [np.bincount(slots[:, index], minlength=coding.blocks[index].width) for index in columns]
        weights = [np.log1p(found) / np.log1p(found).sum() for found in counts]
        none = np.zeros(0, dtype=np.int64)
        self._holders = np.concatenate([none, *(np.argsort(slots[:, index], kind="stable") for index in columns)])
        self._counts = np.concatenate([none, *counts])
        self._firsts = np.cumsum(self._counts) - self._counts
        self._reached = np.cumsum(np.concatenate([none, *weights]))
        self.blocks = np.repeat(np.array(columns, dtype=np.int64), [len(found) for found in counts])

    def draw(self, size: int) -> tuple[NDArray[int64], NDArray[int64]]:
        """Places in `Coding.conditions`, and rows that fulfil them; any rows where there is nothing to ask for."""
        if not len(self._reached):
            return np.zeros(0, dtype=np.int64), self._rng.integers(self._rows, size=size)
        places = np.searchsorted(self._reached, self._rng.random(size) * self._reached[-1], side="right")
        return places, self._holders[self._firsts[places] + self._rng.integers(self._counts[places])]


class Contest:
    """The two networks, their optimisers and the rows they learn from.

    The two circle around where they should meet: `average`, the generator's moving average over some 200 steps, is
    closer to it than any single step [YFWYC19].
    """

    def __init__(self, coding: Coding, encoded: Encoded, settings: Settings, rng: np.random.Generator) -> None:
        rows = len(encoded.slots)
        self._coding, self._noise, self._batch = coding, settings.noise, settings.batch_for(rows)
        self._steps = max(1, rows // self._batch)
        self._scalars = torch.as_tensor(encoded.scalars, dtype=torch.float32)
        self._slots = torch.as_tensor(encoded.slots + coding.starts[:-1] + coding.scalars)
        self._conditions = _Conditions(coding, encoded.slots, rng)
        self._asked = torch.as_tensor(coding.conditions)
        self._blocks = torch.as_tensor(self._conditions.blocks)
        self.generator = Generator(coding, noise=settings.noise, hidden=settings.hidden)
        self.average, self._made = deepcopy(self.generator), 0
        self._judge = Discriminator(coding, pac=settings.pac_for(rows), hidden=settings.hidden, dropout=_DROPOUT)
        self._optimisers = {
            network: torch.optim.Adam(network.parameters(), lr=2e-4, betas=(0.5, 0.9), weight_decay=1e-6, fused=True)
            for network in (self.generator, self._judge)
        }

    def run_epoch(self) -> tuple[float, float, float]:
        """As many steps as batches fit in the rows: mean losses of both, and the distance the discriminator sees."""
        steps = [torch.stack([self._make_step(), *self._judge_step()]) for _ in range(self._steps)]
        generator_loss, discriminator_loss, distance = torch.stack(steps).mean(dim=0).tolist()
        return generator_loss, discriminator_loss, distance

    def _judge_step(self) -> tuple[Tensor, Tensor]:
        places, chosen = self._conditions.draw(self._batch)
        asked = torch.as_tensor(places)
        with torch.no_grad():
            fake = self._fake(asked)[1]
        real = self._real(chosen)
        distance = self._judge(real, asked).mean() - self._judge(fake, asked).mean()
        loss = self._penalty(real, fake, asked) - distance
        self._improve(self._judge, loss)
        return loss.detach(), distance.detach()

    def _make_step(self) -> Tensor:
        places, _ = self._conditions.draw(self._batch)
        asked = torch.as_tensor(places)
        made, fake = self._fake(asked)
        loss = -self._judge(fake, asked).mean()
        if len(asked):
            loss = loss + condition_loss(made, self._coding, self._asked[asked], self._blocks[asked])
        self._improve(self.generator, loss)
        self._remember()
        return loss.detach()

    def _remember(self) -> None:
        """One step of the average; at first it forgets faster, or the untrained start would linger."""
        self._made += 1
        kept = min(_MEMORY, (1 + self._made) / (10 + self._made))
        now = self.generator.state_dict()
        for name, mean in self.average.state_dict().items():
            if mean.is_floating_point():
                mean.lerp_(now[name], 1 - kept)

    def _improve(self, network: Generator | Discriminator, loss: Tensor) -> None:
        """A step against the loss; only this network's gradients are worked out."""
        parameters = list(network.parameters())
        for parameter, gradient in zip(parameters, torch.autograd.grad(loss, parameters), strict=True):
            parameter.grad = gradient
        self._optimisers[network].step()

    def _fake(self, asked: Tensor) -> tuple[Tensor, Tensor]:
        made = self.generator(torch.randn(self._batch, self._noise), asked)
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
