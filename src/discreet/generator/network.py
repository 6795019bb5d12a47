"""The two networks of the generator, after [XSCV19], section 4.4: one makes rows, one tells them from real ones.

The only door to torch: whoever needs it takes it from here, so that its absence is told in one way.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.errors import ExtraMissing

try:
    import torch
    from torch import Tensor, nn
    from torch.nn import functional
except ImportError:
    raise ExtraMissing(needed_for="the tabular generator", extra="gan") from None

if TYPE_CHECKING:
    from discreet.generator.coding import Coding, Group

__all__ = ["Discriminator", "Generator", "activate", "condition_loss", "draw_slots", "torch"]


class _Residual(nn.Module):
    """Adds what a layer makes of its input to that input, side by side."""

    def __init__(self, width: int, hidden: int) -> None:
        super().__init__()
        self.layer = nn.Linear(width, hidden)
        self.norm = nn.BatchNorm1d(hidden)

    def forward(self, given: Tensor) -> Tensor:
        return torch.cat([functional.relu(self.norm(self.layer(given))), given], dim=1)


class Generator(nn.Module):
    """From noise and a condition to the scalars and the logits of the slots, before `activate`."""

    def __init__(self, coding: Coding, *, noise: int, hidden: int) -> None:
        super().__init__()
        width = noise + len(coding.conditions)
        self.layers = nn.Sequential(
            _Residual(width, hidden),
            _Residual(width + hidden, hidden),
            nn.Linear(width + 2 * hidden, coding.width),
        )

    def forward(self, noise: Tensor, condition: Tensor) -> Tensor:
        made: Tensor = self.layers(torch.cat([noise, condition], dim=1))
        return made


class Discriminator(nn.Module):
    """One score for `pac` rows at a time, with their conditions [LKFO18]."""

    def __init__(self, coding: Coding, *, pac: int, hidden: int, dropout: float) -> None:
        super().__init__()
        self.width = pac * (coding.width + len(coding.conditions))
        self.layers = nn.Sequential(
            nn.Linear(self.width, hidden),
            nn.LeakyReLU(0.2),
            nn.Dropout(dropout),
            nn.Linear(hidden, hidden),
            nn.LeakyReLU(0.2),
            nn.Dropout(dropout),
            nn.Linear(hidden, 1),
        )

    def forward(self, vectors: Tensor) -> Tensor:
        scores: Tensor = self.layers(vectors.reshape(-1, self.width))
        return scores


def activate(made: Tensor, coding: Coding, *, temperature: float) -> Tensor:
    """A vector like those of real rows: scalars between -1 and 1, slots by Gumbel-softmax."""
    parts = [torch.tanh(made[:, : coding.scalars])]
    for group in coding.groups:
        logits = _logits(made, coding, group)
        # One slot is always set; leaving it to the softmax would cost noise and change nothing.
        soft = torch.ones_like(logits) if group.width == 1 else functional.gumbel_softmax(logits, tau=temperature)
        parts.append(soft.flatten(1))
    return torch.cat(parts, dim=1)


def condition_loss(made: Tensor, coding: Coding, asked: Tensor, blocks: Tensor) -> Tensor:
    """How far the rows are from the slots asked for: the mean cross-entropy within each row's block."""
    normalisers = torch.cat([_logits(made, coding, group).logsumexp(dim=2) for group in coding.groups], dim=1)
    chosen = made.gather(1, coding.scalars + asked[:, None])
    return (normalisers.gather(1, blocks[:, None]) - chosen).mean()


def draw_slots(made: Tensor, coding: Coding, source: torch.Generator) -> Tensor:
    """One slot of each block, drawn by its probability: what Gumbel-softmax tends to as it gets cold."""
    drawn = []
    for group in coding.groups:
        reached = _logits(made, coding, group).softmax(dim=2).cumsum_(dim=2)
        uniform = torch.rand(*reached.shape[:2], 1, generator=source)
        drawn.append((reached < uniform).sum(dim=2).clamp_(max=group.width - 1))
    return torch.cat(drawn, dim=1)


def _logits(made: Tensor, coding: Coding, group: Group) -> Tensor:
    """The logits of a group: rows × blocks × slots of a block."""
    first = coding.scalars + group.start
    return made[:, first : first + group.blocks * group.width].unflatten(1, (group.blocks, group.width))
