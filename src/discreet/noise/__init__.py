"""Exact integer noise.

One door to randomness (`entropy`) and, behind it, samplers of integers that use no floating point anywhere.
docs/noise.md states which bytes each of them reads, so that another implementation can be tested byte for
byte.
"""

from discreet.noise.bits import discrete_laplace_many
from discreet.noise.coin import bernoulli, bernoulli_exp_minus
from discreet.noise.entropy import ByteTape, Entropy, SystemEntropy, TapeExhausted
from discreet.noise.gaussian import discrete_gaussian, gaussian_tail
from discreet.noise.laplace import discrete_laplace, geometric
from discreet.noise.negative_binomial import polya
from discreet.noise.response import respond, respond_array
from discreet.noise.selection import Choice, Run, RunArrays, select
from discreet.noise.uniform import uniform_array_below, uniform_below

__all__ = [
    "ByteTape",
    "Choice",
    "Entropy",
    "Run",
    "RunArrays",
    "SystemEntropy",
    "TapeExhausted",
    "bernoulli",
    "bernoulli_exp_minus",
    "discrete_gaussian",
    "discrete_laplace",
    "discrete_laplace_many",
    "gaussian_tail",
    "geometric",
    "polya",
    "respond",
    "respond_array",
    "select",
    "uniform_array_below",
    "uniform_below",
]
