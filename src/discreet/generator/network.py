"""The two networks of the generator, after [XSCV19], section 4.4: one makes rows, one tells them from real ones.

The only door to torch: whoever needs it takes it from here, so that its absence is told in one way.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from discreet.errors import ExtraMissing

try:
    import torch
    from torch import Tensor, nn
    from torch.nn import functional
except ImportError:
    raise ExtraMissing(needed_for="the tabular generator", extra="gan") from None

if TYPE_CHECKING:
    from discreet.generator.coding import Coding, Group

__all__ = ["Discriminator", "Generator", "activate", "condition_loss", "draw_slots", "fit_threads", "torch"]

_NARROW: Final = 1_000


@contextmanager
def fit_threads(coding: Coding) -> Iterator[None]:
    """One thread for narrow networks, whose threads wait for each other longer than they work; the caller's after."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1 if coding.width < _NARROW else threads)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


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
        made: Tensor = self.numbers(given)
        return made if self.asked is None else made + self.asked(asked)


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
        places = asked[:, None]
        # Each layer sees all that came before it, side by side.
        given = torch.cat([functional.relu(self.first_norm(self.first(noise, places))), noise], dim=1)
        given = torch.cat([functional.relu(self.second_norm(self.second(given, places))), given], dim=1)
        made: Tensor = self.last(given, places)
        return made


class Discriminator(nn.Module):
    """One score for `pac` rows at a time [LKFO18], with their conditions."""

    def __init__(self, coding: Coding, *, pac: int, hidden: int, dropout: float) -> None:
        super().__init__()
        conditions = len(coding.conditions)
        self.pac, self.width = pac, pac * coding.width
        self.first = _Layer(self.width, pac * conditions, hidden)
        self.rest = nn.Sequential(
            nn.LeakyReLU(0.2),
            nn.Dropout(dropout),
            nn.Linear(hidden, hidden),
            nn.LeakyReLU(0.2),
            nn.Dropout(dropout),
            nn.Linear(hidden, 1),
        )
        # Each row of a pack has conditions of its own.
        self.register_buffer("_places", torch.arange(pac) * conditions, persistent=False)

    def forward(self, vectors: Tensor, asked: Tensor) -> Tensor:
        places = asked.reshape(-1, self.pac) + self._places if len(asked) else asked
        scores: Tensor = self.rest(self.first(vectors.reshape(-1, self.width), places))
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
