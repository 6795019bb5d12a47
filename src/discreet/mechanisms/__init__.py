"""Mechanisms: one file each, in one order: parameters, checks, guarantee, noise.

`MECHANISMS` names them all; `load_mechanism` imports one when it is needed, so that starting up stays fast.
No mechanism takes a seed or a source of randomness: what it draws comes from the operating system.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from discreet.doors import open_door
from discreet.errors import UnknownName

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
    "load_mechanism",
    "round_up",
]

MECHANISMS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "discrete-laplace": "discreet.mechanisms.discrete_laplace:DiscreteLaplace",
        "discrete-gaussian": "discreet.mechanisms.discrete_gaussian:DiscreteGaussian",
        "noisy-max": "discreet.mechanisms.noisy_max:NoisyMax",
    }
)


def load_mechanism(name: str) -> type[Mechanism]:
    """The class behind a name of `MECHANISMS`."""
    import importlib

    if name not in MECHANISMS:
        raise UnknownName(sort="mechanism", name=name, where="the list of mechanisms", known=MECHANISMS)
    module, _, member = MECHANISMS[name].partition(":")
    result: type[Mechanism] = getattr(importlib.import_module(module), member)
    return result
