"""Training of the generator with differential privacy: what it makes is proven.

Guarantee: zCDP, rho = rho_marginals + epochs * rho_step, for all rows of a unit together.
Requires:  bounds and categories of every column from the card, none of them read from the rows.
Proof:     docs/proofs/private-training.md
Refs:      [ACGMMTZ16] for clipped noisy gradients; discrete Gaussian [CKS20]; gradients of rows by Opacus [YSS21].

Two things are learned from the rows, each under exact integer noise: how often each slot of each column occurs, and the
sums of clipped gradients of the discriminator. The generator begins as columns drawn independently by those noisy
shares, and learns from the discriminator alone what the columns have to do with each other.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from discreet.lab.generator.generator_model import GeneratorModel
from discreet.lab.generator.protected.contribution import (
    STEPS,
    WHOLE,
    average_by_unit,
    clip_to_bound,
    count_slots,
    number_units,
)
from discreet.lab.generator.protected.private_plan import PrivatePlan, PrivateSettings, plan_private
from discreet.lab.generator.protected.public_coding import encode_public
from discreet.lab.generator.training_settings import Settings
from discreet.noise import SystemEntropy, discrete_gaussian_array, uniform_array_below

if TYPE_CHECKING:
    from numpy import float64, int64
    from numpy.typing import NDArray
    from torch import Tensor

    from discreet.lab.generator.coding import Coding
    from discreet.lab.generator.generator_rows import GeneratorRows
    from discreet.lab.generator.network import Generator
    from discreet.lab.generator.protected.critic import Critic

__all__ = ["PrivateEpoch", "PrivatePlan", "PrivateSettings", "plan_private", "train_private"]

_TEMPERATURE: Final = 0.2
# Gradients of so many entries are held at once.
_HELD: Final = 1 << 23
# A slot that was not seen stays possible, barely.
_FAINTEST: Final = 1e-4
# How much of the last layer's first weights is kept, for scalars and for slots.
_SPREAD: Final = 3.0
_QUIET: Final = 0.3


@dataclass(frozen=True, slots=True)
class PrivateEpoch:
    """How far private training is. No loss: those of the discriminator follow from the rows."""

    number: int
    of: int
    seconds_left: float


def train_private(
    rows: GeneratorRows,
    units: NDArray[Any],
    plan: PrivatePlan,
    *,
    progress: Callable[[PrivateEpoch], None] | None = None,
) -> GeneratorModel:
    """A model whose guarantee is the plan's. `units` names the unit of each row.

    Charge `plan.guarantee` first: what runs here is paid for, whether it ends or not. Nothing here fails because of
    what the rows hold.
    """
    from discreet.lab.generator.network import torch

    if rows.shapes != plan.shapes or len(units) != len(rows):
        raise ValueError("the rows have the plan's columns, and each row has its unit")
    settings = plan.settings
    data = _Contributions(rows, number_units(units), plan)
    shares, size = data.estimate_marginals()
    started = time.monotonic()
    # The caller's own random numbers are as they were once training is over.
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(secrets.randbits(63))
        contest = _Contest(plan, shares)
        for number in range(1, settings.epochs + 1):
            for batch in range(settings.batches):
                contest.step(data.sum_gradients(batch, contest.critic), units=size / settings.batches)
            if progress is not None:
                left = (time.monotonic() - started) / number * (settings.epochs - number)
                progress(PrivateEpoch(number, settings.epochs, left))
    network = Settings(epochs=settings.epochs, noise=settings.noise, hidden=settings.hidden)
    trained = {"units": round(size), "epochs": settings.epochs}
    return GeneratorModel(plan.shapes, plan.coding, network, contest.generator, trained, privacy=plan.facts())


class _Contributions:
    """All that touches the rows. Whatever leaves has its noise."""

    def __init__(self, rows: GeneratorRows, units: NDArray[int64], plan: PrivatePlan) -> None:
        order = np.argsort(units, kind="stable")
        encoded = encode_public(plan.coding, rows)
        self._plan, self._longest = plan, round(plan.settings.clip * STEPS)
        self._units, self._slots, self._scalars = units[order], encoded.slots[order], encoded.scalars[order]
        # A coin of each unit's own: which batch it falls in depends on no other unit.
        batches = uniform_array_below(SystemEntropy(), plan.settings.batches, count=int(units.max(initial=-1)) + 1)[
            self._units
        ]
        self._rows_of = [np.flatnonzero(batches == batch) for batch in range(plan.settings.batches)]

    def estimate_marginals(self) -> tuple[list[NDArray[float64]], float]:
        """The share of each slot in each block, and the number of units, both from the same noisy counts."""
        blocks = self._plan.coding.blocks
        counts = [
            count_slots(slots, self._units, width=block.width)
            for slots, block in zip(self._slots.T, blocks, strict=True)
        ]
        noisy = np.array(self._plan.marginals.release(np.concatenate(counts).tolist()), dtype=np.float64) / WHOLE
        columns = np.split(noisy, self._plan.coding.starts[1:-1])
        size = max(1.0, float(np.mean([column.sum() for column in columns])))
        return [_project(column, size) / size for column in columns], size

    def sum_gradients(self, batch: int, critic: Critic) -> NDArray[int64]:
        """The sum of the clipped gradients of the units of a batch, with noise."""
        total = discrete_gaussian_array(SystemEntropy(), variance=self._plan.step.scale**2, count=critic.entries)
        for chosen in self._pieces(self._rows_of[batch], critic.entries):
            gradients = critic.judge(self._vectors(chosen), real=True)
            means = average_by_unit(gradients, self._units[chosen])
            total += clip_to_bound(means, bound=self._plan.bound, longest=self._longest).sum(axis=0)
        return total

    def _pieces(self, chosen: NDArray[int64], entries: int) -> Iterator[NDArray[int64]]:
        """Pieces of a batch that hold whole units. Whole numbers are summed, so the cuts change nothing."""
        most = max(1, _HELD // entries)
        firsts = np.flatnonzero(np.diff(self._units[chosen], prepend=-1)).tolist()
        start = 0
        for first, end in pairwise([*firsts, len(chosen)]):
            if end - start > most and first > start:
                yield chosen[start:first]
                start = first
        if start < len(chosen):
            yield chosen[start:]

    def _vectors(self, chosen: NDArray[int64]) -> Tensor:
        return _vectors(self._plan.coding, self._scalars[chosen], self._slots[chosen])


class _Contest:
    """The two networks. Neither sees a row: the critic learns from noisy sums, the generator from the critic."""

    def __init__(self, plan: PrivatePlan, shares: list[NDArray[float64]]) -> None:
        from discreet.lab.generator.network import Generator, torch
        from discreet.lab.generator.protected.critic import Critic

        settings = plan.settings
        self._plan, self._coding, self._settings = plan, plan.coding, settings
        self.critic = Critic(plan.coding.width, hidden=settings.critic, rate=settings.critic_rate)
        self.generator = Generator(plan.coding, noise=settings.noise, hidden=settings.hidden)
        self._shares = torch.as_tensor(np.concatenate(shares), dtype=torch.float32)
        _begin_with(self.generator, plan.coding, shares)
        self._source = torch.Generator().manual_seed(secrets.randbits(63))
        self._optimiser = torch.optim.Adam(self.generator.parameters(), lr=settings.generator_rate, betas=(0.5, 0.9))

    def step(self, noisy: NDArray[int64], *, units: float) -> None:
        """One step of the critic along a noisy sum over about so many units, and some of the generator."""
        bound = self._plan.bound
        fakes = self.critic.judge(self._draw_rows(), real=False)
        false = clip_to_bound(fakes, bound=bound, longest=round(self._settings.clip * STEPS)).sum(axis=0)
        self.critic.learn((noisy / max(units, 1.0) + false / self._settings.fakes) / bound)
        for _ in range(self._settings.generator_steps):
            self._make()

    def _make(self) -> None:
        from discreet.lab.generator.network import activate

        fake = activate(self._propose(), self._coding, temperature=_TEMPERATURE)
        self._optimiser.zero_grad()
        slots = fake[:, self._coding.scalars :].mean(dim=0)
        # The noisy shares are paid for: holding on to them costs nothing more.
        astray = -(self._shares * (slots + _FAINTEST).log()).sum() * (self._settings.fakes * self._settings.hold)
        (self.critic.persuade(fake.double()) + astray).backward()
        self._optimiser.step()

    def _draw_rows(self) -> Tensor:
        """Rows as the model would give them, so that the critic cannot tell them by their looks."""
        from discreet.lab.generator.network import draw_slots, torch

        with torch.no_grad():
            made = self._propose()
            slots = draw_slots(made, self._coding, self._source)
            scalars = torch.tanh(made[:, : self._coding.scalars])
        return _vectors(self._coding, scalars.numpy(), slots.numpy())

    def _propose(self) -> Tensor:
        from discreet.lab.generator.network import torch

        made: Tensor = self.generator(
            torch.randn(self._settings.fakes, self._settings.noise),
            torch.zeros(self._settings.fakes, dtype=torch.int64),
        )
        return made


def _begin_with(generator: Generator, coding: Coding, shares: list[NDArray[float64]]) -> None:
    """Make the generator draw each column by its shares, almost whatever its noise is."""
    from discreet.lab.generator.network import torch

    last = generator.last.numbers
    logits = np.log(np.maximum(np.concatenate(shares), _FAINTEST))
    with torch.no_grad():
        last.weight[: coding.scalars] *= _SPREAD
        last.weight[coding.scalars :] *= _QUIET
        last.bias[: coding.scalars] = 0.0
        last.bias[coding.scalars :] = torch.as_tensor(logits, dtype=torch.float32)


def _vectors(coding: Coding, scalars: NDArray[Any], slots: NDArray[int64]) -> Tensor:
    """Scalars rounded to the critic's fineness, and a 1 in the slot of each block."""
    from discreet.lab.generator.network import torch
    from discreet.lab.generator.protected.critic import FINENESS

    vectors = torch.zeros(len(slots), coding.width, dtype=torch.float64)
    vectors[:, : coding.scalars] = torch.as_tensor(np.rint(scalars * 2.0**FINENESS) / 2.0**FINENESS)
    return vectors.scatter_(1, torch.as_tensor(slots + coding.starts[:-1] + coding.scalars), 1.0)


def _project(counts: NDArray[float64], total: float) -> NDArray[float64]:
    """The nearest counts that are not negative and have this total."""
    falling = np.sort(counts)[::-1]
    excess = (np.cumsum(falling) - total) / np.arange(1, len(counts) + 1)
    kept = np.flatnonzero(falling > excess)[-1]
    nearest: NDArray[float64] = np.maximum(counts - excess[kept], 0.0)
    return nearest
