"""A discriminator whose gradients are exact, so that no row's gradient depends on the rows beside it.

Sums of floats depend on their order, and the order in which a library multiplies matrices depends on their size: one
row more could move the gradient of every other. Here inputs, weights, activations and what flows back are multiples of
powers of two, few enough bits for 64-bit floats to hold each product and each sum exactly, in any order. The gradients
of single rows come from Opacus (docs/proofs/private-training.md).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

from discreet.catalogue import Phrase
from discreet.errors import ExtraMissing

try:
    import torch
    from opacus.grad_sample import GradSampleModule
    from torch import Tensor, nn
except ImportError:
    raise ExtraMissing(needed_for=Phrase("private training of the tabular generator"), extra="gan") from None

from discreet.lab.generator.protected.contribution import LONGEST, STEPS, WIDEST

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy import float64
    from numpy.typing import NDArray

__all__ = ["FINENESS", "Critic"]

# Bits after the point of: inputs and activations, weights, what flows back.
FINENESS: Final = 10
_WEIGHT: Final = 16
_BACK: Final = 20
# The largest activation, weight and backward value. Over WIDEST products, 6+2+12+10+16 and 1+2+12+20+16 bits are 51
# at most, and a float holds 53.
_LARGEST_ACTIVATION: Final = 2.0**6
_LARGEST_WEIGHT: Final = 2.0**2
_LARGEST_BACK: Final = 2.0
_SLOPE: Final = 0.25
_LOGIT: Final = 7
_REACH: Final = 16


def _round(values: Tensor, bits: int, largest: float) -> Tensor:
    return (values * 2.0**bits).round_().div_(2.0**bits).clamp_(-largest, largest)


class _Activation(torch.autograd.Function):
    """A leaky ramp of slope 1/4; values and what flows back are rounded."""

    @staticmethod
    def forward(ctx: Any, given: Tensor) -> Tensor:
        ctx.save_for_backward(given)
        return _round(torch.where(given > 0, given, given * _SLOPE), FINENESS, _LARGEST_ACTIVATION)

    @staticmethod
    def backward(ctx: Any, *back: Tensor) -> Tensor:
        (given,) = ctx.saved_tensors
        return _round(torch.where(given > 0, back[0], back[0] * _SLOPE), _BACK, _LARGEST_BACK)


class _Ramp(nn.Module):
    def forward(self, given: Tensor) -> Tensor:
        made: Tensor = _Activation.apply(given)
        return made


class Critic:
    """Scores rows: high for real ones. Weights are kept in full and used rounded."""

    def __init__(self, width: int, *, hidden: int, rate: float) -> None:
        if not 0 < max(width, hidden) <= WIDEST:
            raise ValueError("a critic of this width could not be exact")
        layers = nn.Sequential(
            nn.Linear(width, hidden), _Ramp(), nn.Linear(hidden, hidden), _Ramp(), nn.Linear(hidden, 1)
        )
        self._network = GradSampleModule(layers.double(), loss_reduction="sum")
        self._used = list(self._network.parameters())
        self._kept = [parameter.detach().clone().requires_grad_() for parameter in self._used]
        self._optimiser = torch.optim.Adam(self._kept, lr=rate, betas=(0.5, 0.9))
        self._sigmoid = _sigmoid_table()
        self._use()

    @property
    def entries(self) -> int:
        """How many weights there are."""
        return sum(parameter.numel() for parameter in self._used)

    def judge(self, vectors: Tensor, *, real: bool) -> NDArray[float64]:
        """The gradient of -log of the chance that each row is told right, row by row, in whole steps.

        What comes out for a row is a function of that row and of the weights alone.
        """
        self._network.enable_hooks()
        scores = self._network(vectors.requires_grad_())
        places = (scores.detach() * 2.0**_LOGIT).round().clamp(-_REACH << _LOGIT, _REACH << _LOGIT).long()
        signed = -self._sigmoid[(_REACH << _LOGIT) - places] if real else self._sigmoid[(_REACH << _LOGIT) + places]
        (scores * signed).sum().backward()
        found = [parameter.grad_sample.flatten(1) for parameter in self._used]
        for parameter in self._used:
            parameter.grad_sample = parameter.grad = None
        exact: NDArray[float64] = (torch.cat(found, dim=1) * STEPS).round_().clamp_(-LONGEST, LONGEST).numpy()
        return exact

    def learn(self, gradient: NDArray[float64]) -> None:
        """One step of the optimiser along a gradient of all weights."""
        sizes = [parameter.numel() for parameter in self._kept]
        for parameter, part in zip(self._kept, torch.as_tensor(gradient).split(sizes), strict=True):
            parameter.grad = part.reshape(parameter.shape)
        self._optimiser.step()
        self._use()

    def persuade(self, vectors: Tensor) -> Tensor:
        """What a generator minimises: the sum of -log of the chance that each row is taken for a real one."""
        self._network.disable_hooks()
        return nn.functional.softplus(-self._network(vectors)).sum()

    def _use(self) -> None:
        with torch.no_grad():
            for used, kept in zip(self._used, self._kept, strict=True):
                kept.clamp_(-_LARGEST_WEIGHT, _LARGEST_WEIGHT)
                used.copy_(_round(kept.clone(), _WEIGHT, _LARGEST_WEIGHT))


def _sigmoid_table() -> Tensor:
    """1/(1 + exp(-s)) for s from -16 to 16 in steps of 1/128. Looked up, because libraries round exp as they like."""
    values: Iterable[int] = range(-_REACH << _LOGIT, (_REACH << _LOGIT) + 1)
    exact = [1 / (1 + math.exp(-index / 2**_LOGIT)) for index in values]
    return _round(torch.tensor(exact, dtype=torch.float64), _BACK, 1.0)
