"""Exact integer noise.

One door to randomness (`entropy`) and, behind it, samplers of integers that use no floating point anywhere.
docs/noise.md states which bytes each of them reads, so that another implementation can be tested byte for
byte.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.doors import open_door

if TYPE_CHECKING:
    from discreet.noise.bits import discrete_laplace_many
    from discreet.noise.chance import Chance, toss_array
    from discreet.noise.coin import bernoulli, bernoulli_exp_minus
    from discreet.noise.enclosure import enclose_exp_minus
    from discreet.noise.entropy import ByteTape, Entropy, SystemEntropy, TapeExhausted
    from discreet.noise.gaussian import discrete_gaussian, gaussian_tail
    from discreet.noise.gaussian_array import discrete_gaussian_array
    from discreet.noise.laplace import discrete_laplace, geometric
    from discreet.noise.laplace_array import discrete_laplace_array, geometric_array
    from discreet.noise.negative_binomial import polya
    from discreet.noise.quantile import gaussian_half_width, laplace_half_width, laplace_threshold, selection_half_width
    from discreet.noise.response import respond_array
    from discreet.noise.selection import Choice, Run, RunArrays, select
    from discreet.noise.uniform import uniform_array_below, uniform_below
    from discreet.noise.vectors import make_vectors
else:
    __getattr__, __dir__ = open_door(__name__)

__all__ = [
    "ByteTape",
    "Chance",
    "Choice",
    "Entropy",
    "Run",
    "RunArrays",
    "SystemEntropy",
    "TapeExhausted",
    "bernoulli",
    "bernoulli_exp_minus",
    "discrete_gaussian",
    "discrete_gaussian_array",
    "discrete_laplace",
    "discrete_laplace_array",
    "discrete_laplace_many",
    "enclose_exp_minus",
    "gaussian_half_width",
    "gaussian_tail",
    "geometric",
    "geometric_array",
    "laplace_half_width",
    "laplace_threshold",
    "make_vectors",
    "polya",
    "respond_array",
    "select",
    "selection_half_width",
    "toss_array",
    "uniform_array_below",
    "uniform_below",
]
