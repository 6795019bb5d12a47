"""Noise: 100,000 cells by both central mechanisms, a million randomised answers, and our own samplers."""

from __future__ import annotations

import time
from collections.abc import Callable
from fractions import Fraction
from functools import partial

import numpy as np

from discreet.mechanisms.discrete_gaussian import DiscreteGaussian
from discreet.mechanisms.discrete_laplace import DiscreteLaplace
from discreet.mechanisms.measurement import _measure
from discreet.mechanisms.noisy_max import NoisyMax
from discreet.mechanisms.randomised_response import RandomisedResponse
from discreet.noise import SystemEntropy, discrete_gaussian, discrete_laplace, polya

CELLS = 100_000
ANSWERS = 1_000_000
SCALES = (1 / 3, 1, 10, 1e3, 1e6, 1e9)
DRAWS = 5_000
ROUNDS = 3


def run() -> dict[str, float]:
    return {**_central(), **_local(), **_samplers()}


def _central() -> dict[str, float]:
    cells, more = list(range(CELLS)), list(range(4 * CELLS))
    figures = {}
    for scale in SCALES:
        laplace = DiscreteLaplace(scale=Fraction(scale))
        laplace.release([0])
        figures[f"discrete Laplace, 100,000 cells, scale {scale:g} (s)"] = _best(partial(laplace.release, cells))
        figures[f"discrete Laplace, 400,000 cells, scale {scale:g} (s)"] = _best(partial(laplace.release, more))
    gaussian = DiscreteGaussian.calibrate(squared_sensitivity=1, rho="0.125")
    figures["discrete Gaussian, 100,000 cells, rho 0.125 (s)"] = _best(lambda: gaussian.release(cells))
    single = _best(lambda: _measure(CELLS, "laplace", 1.0))
    figures["OpenDP in a single call, Laplace (s)"] = single
    figures["  ratio of ours to it, Laplace"] = figures["discrete Laplace, 100,000 cells, scale 1 (s)"] / single
    single = _best(lambda: _measure(CELLS, "gaussian", 2.0))
    figures["OpenDP in a single call, Gaussian (s)"] = single
    figures["  ratio of ours to it, Gaussian"] = figures["discrete Gaussian, 100,000 cells, rho 0.125 (s)"] / single
    return figures


def _local() -> dict[str, float]:
    answers = np.arange(ANSWERS) % 13
    response = RandomisedResponse(epsilon=1, categories=13)
    few = answers[:DRAWS].tolist()
    return {
        "randomised response, 1,000,000 answers of 13 (s)": _best(lambda: response.release_array(answers)),
        "randomised response, one by one (microseconds each)": _each(lambda: response.release(few)),
    }


def _samplers() -> dict[str, float]:
    entropy, scale, variance = SystemEntropy(), Fraction(10), Fraction(100)
    runs = [(-abs(score - 50_000), 1 + score % 3) for score in range(100_000)]
    choice = NoisyMax.calibrate(sensitivity=1, epsilon="0.1")
    share = Fraction(1, 1000)
    return {
        "reference discrete Laplace, one by one (microseconds each)": _each(
            lambda: [discrete_laplace(entropy, scale=scale) for _ in range(DRAWS)]
        ),
        "reference discrete Gaussian, one by one (microseconds each)": _each(
            lambda: [discrete_gaussian(entropy, variance=variance) for _ in range(DRAWS)]
        ),
        "own Polya, shape 1/1000, scale 10 (microseconds each)": _each(
            lambda: [polya(entropy, shape=share, scale=scale) for _ in range(DRAWS)]
        ),
        "noisy max over 100,000 runs (s)": _best(lambda: choice.release(runs)),
    }


def _best(work: Callable[[], object]) -> float:
    seconds = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - start)
    return min(seconds)


def _each(work: Callable[[], object]) -> float:
    return _best(work) / DRAWS * 1e6
