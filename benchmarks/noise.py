"""Noise: 100,000 cells by both central mechanisms, Gaussian noise beside OpenDP's, a million randomised answers.

Ratios are of times measured in turn, in one process: below 1 ours is the quicker.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from fractions import Fraction
from functools import partial

import numpy as np

from discreet.mechanisms import DiscreteGaussian, DiscreteLaplace, NoisyMax
from discreet.noise import SystemEntropy, discrete_gaussian, discrete_laplace, polya, respond_array
from discreet.noise.gaussian_table import make_table
from tests.witness import draw_by_opendp

CELLS = 100_000
ANSWERS = 1_000_000
SCALES = (1 / 3, 1, 10, 1e3, 1e6, 1e9)
GAUSSIAN_SCALES = (0.5, 3, 100, 1e3, 1e5, 1e7, 2.0**40, 2.0**52 - 1)
GAUSSIAN_COUNTS = (1, 10, 100, 1_000, 100_000)
FIRST = {
    "ours": "from discreet.noise import SystemEntropy; from discreet.noise.gaussian_array import *; "
    "from fractions import Fraction; discrete_gaussian_array(SystemEntropy(), variance=Fraction(10**6), count=1)",
    "OpenDP's": "from tests.witness import draw_by_opendp; draw_by_opendp(1, family='gaussian', scale=1e3)",
    "nothing": "import fractions",
}
DRAWS = 5_000
ROUNDS = 5


def run() -> dict[str, float]:
    return {**_central(), **_gaussian(), **_first_draws(), **_local(), **_samplers()}


def _central() -> dict[str, float]:
    cells, more = list(range(CELLS)), list(range(4 * CELLS))
    figures = {}
    for scale in SCALES:
        laplace = DiscreteLaplace(scale=Fraction(scale))
        laplace.release([0])
        figures[f"discrete Laplace, 100,000 cells, scale {scale:g} (s)"] = _best(partial(laplace.release, cells))
        figures[f"discrete Laplace, 400,000 cells, scale {scale:g} (s)"] = _best(partial(laplace.release, more))
    theirs = _best(lambda: draw_by_opendp(CELLS, family="laplace", scale=1.0))
    figures["OpenDP in a single call, Laplace, scale 1 (s)"] = theirs
    figures["  ratio of ours to it"] = figures["discrete Laplace, 100,000 cells, scale 1 (s)"] / theirs
    return figures


def _gaussian() -> dict[str, float]:
    figures = {}
    for scale in GAUSSIAN_SCALES:
        for count in GAUSSIAN_COUNTS:
            mechanism, zeros = DiscreteGaussian(scale=Fraction(scale)), [0] * count
            again, theirs, fresh = _in_turn(
                partial(mechanism.release, zeros),
                partial(draw_by_opendp, count, family="gaussian", scale=float(scale)),
                partial(_release_afresh, mechanism, zeros),
            )
            name = f"discrete Gaussian, {count:,} cells, scale {scale:.6g}"
            figures[f"{name} (microseconds)"] = fresh * 1e6
            figures[f"{name}: ratio to OpenDP"] = fresh / theirs
            figures[f"{name}: ratio, with a table made before"] = again / theirs
    return figures


def _release_afresh(mechanism: DiscreteGaussian, zeros: list[int]) -> list[int]:
    """A release of a scale that has not been used before: its table is made, as OpenDP's measurement is."""
    make_table.cache_clear()
    return mechanism.release(zeros)


def _first_draws() -> dict[str, float]:
    """A process of its own that imports what it needs and draws once."""
    ours, theirs, nothing = _in_turn(*(partial(_start, FIRST[name]) for name in ("ours", "OpenDP's", "nothing")))
    return {
        "first Gaussian draw of a process, ours (s beyond an empty process)": ours - nothing,
        "first Gaussian draw of a process, OpenDP's (s beyond an empty process)": theirs - nothing,
    }


def _start(script: str) -> None:
    subprocess.run([sys.executable, "-c", script], check=True)


def _local() -> dict[str, float]:
    answers = np.arange(ANSWERS) % 13
    reports = _best(lambda: respond_array(SystemEntropy(), answers, epsilon=Fraction(1), categories=13))
    return {"randomised response, 1,000,000 answers of 13 (s)": reports}


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
    return _in_turn(work)[0]


def _in_turn(*works: Callable[[], object]) -> list[float]:
    """The best seconds of each, taken in turn, so that a busy machine is busy for all of them."""
    seconds: list[list[float]] = [[] for _ in works]
    for _ in range(ROUNDS):
        for work, spent in zip(works, seconds, strict=True):
            start = time.perf_counter()
            work()
            spent.append(time.perf_counter() - start)
    return [min(spent) for spent in seconds]


def _each(work: Callable[[], object]) -> float:
    return _best(work) / DRAWS * 1e6
