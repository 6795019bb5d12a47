"""Mechanisms: one file each, in one order: parameters, checks, guarantee, noise.

`MECHANISMS` names them all; `load_mechanism` imports one when it is needed, so that starting up stays fast.
No mechanism takes a seed or a source of randomness: what it draws comes from the operating system.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from discreet.errors import UnknownName

if TYPE_CHECKING:
    from discreet.mechanisms.base import Mechanism

__all__ = ["MECHANISMS", "load_mechanism"]

MECHANISMS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "discrete-laplace": "discreet.mechanisms.discrete_laplace:DiscreteLaplace",
        "discrete-gaussian": "discreet.mechanisms.discrete_gaussian:DiscreteGaussian",
        "noisy-max": "discreet.mechanisms.noisy_max:NoisyMax",
        "randomised-response": "discreet.mechanisms.randomised_response:RandomisedResponse",
    }
)


def load_mechanism(name: str) -> type[Mechanism]:
    """The class behind a name of `MECHANISMS`."""
    import importlib

    if name not in MECHANISMS:
        raise UnknownName(sort="mechanism", name=name, where="the list of mechanisms", known=MECHANISMS)
    module, _, member = MECHANISMS[name].partition(":")
    found: type[Mechanism] = getattr(importlib.import_module(module), member)
    return found
