"""The two networks of the generator, after [XSCV19], section 4.4: one makes rows, one tells them from real ones.

The door to torch: who needs it takes it from here, so that its absence is told in one way and its threads wait well.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from discreet.catalogue import Phrase
from discreet.errors import ExtraMissing

# Threads that have nothing to do sleep: on a busy machine their spinning made an epoch four times as long.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
try:
    import torch
    from torch import Tensor, nn
    from torch.nn import functional
    from torch.optim.swa_utils import AveragedModel
except ImportError:
    raise ExtraMissing(needed_for=Phrase("the tabular generator"), extra="gan") from None

if TYPE_CHECKING:
    from discreet.lab.generator.coding import Coding

__all__ = ["AveragedModel", "Discriminator", "Generator", "Tensor", "activate", "condition_loss", "draw_slots", "torch"]


class _Layer(nn.Module):
    """A linear layer over numbers and conditions. A condition is one of many slots: its part is looked up."""

    def __init__(self, width: int, conditions: int, made: int) -> None:
        super().__init__()
        self.numbers = nn.Linear(width, made)
        self.asked = nn.EmbeddingBag(conditions, made, mode="sum") if conditions else None
        bound = (width + conditions) ** -0.5
        for parameter in self.parameters():
            nn.init.uniform_(parameter, -bound, bound)

    def forward(self, given: Tensor, asked: Tensor) -> Tensor:
        """`given` may hold several sets of rows, one below the other, for the same conditions."""
        # Laid out this way, the product takes three quarters of the time on some processors.
        turned = torch.addmm(self.numbers.bias[:, None], self.numbers.weight, given.T)
        made = turned.T.contiguous()
        if self.asked is None:
            return made
        known = self.asked(asked)
        return (made.view(-1, *known.shape) + known).flatten(0, 1)


class Generator(nn.Module):
    """From noise and conditions to the scalars and the logits of the slots, before `activate`.

    `asked` holds a place in `Coding.conditions` for each row; it is not looked at where there are no conditions.
    """

    def __init__(self, coding: Coding, *, noise: int, hidden: int) -> None:
        super().__init__()
        conditions = len(coding.conditions)
        self.first = _Layer(noise, conditions, hidden)
        self.first_norm = nn.BatchNorm1d(hidden)
        self.second = _Layer(noise + hidden, conditions, hidden)
        self.second_norm = nn.BatchNorm1d(hidden)
        self.last = _Layer(noise + 2 * hidden, conditions, coding.width)

    def forward(self, noise: Tensor, asked: Tensor) -> Tensor:
        indices = asked[:, None]
        # Each layer sees all that came before it, side by side.
        given = torch.cat([functional.relu(self.first_norm(self.first(noise, indices))), noise], dim=1)
        given = torch.cat([functional.relu(self.second_norm(self.second(given, indices))), given], dim=1)
        made: Tensor = self.last(given, indices)
        return made


class Discriminator(nn.Module):
    """One score for `pac` rows at a time [LKFO18], with their conditions. Always at its training: it is not kept."""

    def __init__(self, coding: Coding, *, pac: int, hidden: int) -> None:
        super().__init__()
        conditions = len(coding.conditions)
        self.width = pac * coding.width
        self.first = _Layer(self.width, pac * conditions, hidden)
        self.second, self.last = nn.Linear(hidden, hidden), nn.Linear(hidden, 1)
        # Each row of a pack has conditions of its own.
        self._places = torch.arange(pac) * conditions

    def forward(self, vectors: Tensor, asked: Tensor) -> Tensor:
        indices = asked.reshape(-1, len(self._places)) + self._places
        scores: Tensor = self.first(vectors.reshape(-1, self.width), indices)
        for layer in (self.second, self.last):
            scores = layer(functional.dropout(functional.leaky_relu(scores, 0.2), 0.5))
        return scores


def activate(made: Tensor, coding: Coding, *, temperature: float) -> Tensor:
    """A vector like those of real rows: scalars between -1 and 1, slots by Gumbel-softmax."""
    parts = [torch.tanh(made[:, : coding.scalars])]
    for logits in _split_logits(made, coding):
        # A single slot is always set; leaving it to the softmax would cost noise and change nothing.
        alone = logits.shape[2] == 1
        soft = torch.ones_like(logits) if alone else functional.gumbel_softmax(logits, tau=temperature)
        parts.append(soft.flatten(1))
    return torch.cat(parts, dim=1)


def condition_loss(made: Tensor, coding: Coding, asked: Tensor, blocks: Tensor) -> Tensor:
    """How far the rows are from the slots asked for: the mean cross-entropy within each row's block."""
    normalisers = torch.cat([logits.logsumexp(dim=2) for logits in _split_logits(made, coding)], dim=1)
    chosen = made.gather(1, coding.scalars + asked[:, None])
    return (normalisers.gather(1, blocks[:, None]) - chosen).mean()


def draw_slots(made: Tensor, coding: Coding, source: torch.Generator) -> Tensor:
    """One slot of each block, drawn by its probability: what Gumbel-softmax tends to as it gets cold."""
    drawn = []
    for logits in _split_logits(made, coding):
        reached = logits.softmax(dim=2).cumsum_(dim=2)
        uniform = torch.rand(*reached.shape[:2], 1, generator=source)
        drawn.append(torch.searchsorted(reached, uniform).squeeze(2).clamp_(max=logits.shape[2] - 1))
    return torch.cat(drawn, dim=1)


def _split_logits(made: Tensor, coding: Coding) -> list[Tensor]:
    """The logits of blocks of one width at a time: rows × blocks × slots of a block."""
    parts = made[:, coding.scalars :].split([blocks * width for blocks, width in coding.groups], dim=1)
    return [part.unflatten(1, group) for part, group in zip(parts, coding.groups, strict=True)]
