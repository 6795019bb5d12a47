"""Mechanisms: one file each, in one order: parameters, checks, guarantee, noise.

`MECHANISMS` says by name where each one is; none is loaded before it is needed, so that starting up stays fast.
No mechanism takes a seed or a source of randomness: what it draws comes from the operating system.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from discreet.doors import open_door

if TYPE_CHECKING:
    from discreet.mechanisms.discrete_gaussian import DiscreteGaussian
    from discreet.mechanisms.discrete_laplace import DiscreteLaplace
    from discreet.mechanisms.mechanism import Mechanism, exact_level
    from discreet.mechanisms.noisy_max import NoisyMax
    from discreet.mechanisms.scale import LARGEST_SCALE, round_up
else:
    __getattr__, __dir__ = open_door(__name__)

__all__ = [
    "LARGEST_SCALE",
    "MECHANISMS",
    "DiscreteGaussian",
    "DiscreteLaplace",
    "Mechanism",
    "NoisyMax",
    "exact_level",
    "round_up",
]

MECHANISMS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "discrete-laplace": "discreet.mechanisms.discrete_laplace:DiscreteLaplace",
        "discrete-gaussian": "discreet.mechanisms.discrete_gaussian:DiscreteGaussian",
        "noisy-max": "discreet.mechanisms.noisy_max:NoisyMax",
    }
)
