"""What non-negativity does to sparse tables, figure by figure, and how long a large table takes to be made consistent.

A table of 13 × 5 × 16 cells, nine of ten empty, is released many times as it would be: by the strategy that is chosen
for it, with discrete Laplace noise. The noise comes from a seed, so that the page can be made again.
"""

from __future__ import annotations

import statistics
import time
import tracemalloc
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import partial
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.page import PAGE, describe_machine, table, write_block
from discreet.tables import Layout, Margin, every_margin
from discreet.tables.linear.consistency import publish, weigh_margins
from discreet.tables.linear.estimation import LinearEstimator
from discreet.tables.linear.layout import Observation
from discreet.tables.linear.margin_strategies import MarginStrategy, choose_strategy, list_strategies

CONSISTENCY_PAGE = PAGE.parent / "tables-consistency.md"
SIZES = (13, 5, 16)
NAMES = ("province", "smoking", "age")
EPSILONS = ("0.1", "1")
RELEASES = 400
EMPTY_SHARE = 0.9
SMALL = 5
LARGE = (20, 20, 25, 10)
ROUNDS = 5
MOST_SECONDS = 5

Counts = NDArray[np.int64]
Array = NDArray[np.float64]
Pick = Callable[[NDArray[Any]], NDArray[Any]]


def run(*, releases: int = RELEASES, large: tuple[int, ...] = LARGE, page: Path = CONSISTENCY_PAGE) -> dict[str, float]:
    """Measure, and write what was found into `page`."""
    truth = _sparse(SIZES, seed=2021)
    errors = {epsilon: _release_often(truth, epsilon, releases) for epsilon in EPSILONS}
    speed = _time(large)
    write_block(page, "bias", _page_of_bias(truth, errors, releases))
    write_block(page, "speed", _page_of_speed(speed, large))
    text = {
        f"epsilon {epsilon}, {figures}: bias, {way}": float(found.bias[way])
        for epsilon, lines in errors.items()
        for figures, found in lines.items()
        for way in found.bias
    }
    return text | {f"{prod(large):,} cells made consistent: {what}": figure for what, figure in speed.items()}


# --- bias -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Found:
    """The mean error and its root mean square over figures and releases, by the way a table is published."""

    mean: float
    bias: Mapping[str, float]
    error: Mapping[str, float]


def _sparse(sizes: tuple[int, ...], *, seed: int) -> Counts:
    """Mostly empty cells; the others hold a few, rarely many: geometric with mean 8."""
    random = np.random.default_rng(seed)
    filled = random.random(sizes) >= EMPTY_SHARE
    return np.where(filled, random.geometric(1 / 8, size=sizes), 0)


def _release_often(truth: Counts, epsilon: str, releases: int) -> dict[str, Found]:
    """Release the table again and again; tell for each sort of figure how it errs."""
    random = np.random.default_rng(int(1000 * float(epsilon)))
    layout, strategy = _choose(truth.shape, epsilon)
    plain = {margin: 1 / variance for margin, variance in strategy.expected.items()}
    weights = weigh_margins(layout.sizes, strategy.expected)
    tables: dict[str, list[Array]] = {"raw": [], "clipped": [], "by variance": [], "published": []}
    for _ in range(releases):
        raw = _estimate(truth, layout, strategy, float(epsilon), random)
        tables["raw"].append(raw - truth)
        tables["clipped"].append(np.maximum(raw, 0) - truth)
        tables["by variance"].append(publish(raw, weights=plain, nonnegative=True) - truth)
        tables["published"].append(publish(raw, weights=weights, nonnegative=True) - truth)
    errors = {way: np.array(found) for way, found in tables.items()}
    return {name: _summarise(pick, truth, errors) for name, pick in _figures(layout, truth).items()}


def _choose(sizes: tuple[int, ...], epsilon: str) -> tuple[Layout, MarginStrategy]:
    layout = Layout(sizes, None, tuple(every_margin(len(sizes))))
    return layout, choose_strategy(list_strategies(layout, moved=_one_person, epsilon=Decimal(epsilon)))


def _one_person(_kept: Margin, _residual: bool) -> Sequence[tuple[Fraction, Fraction]]:
    return [(Fraction(1), Fraction(1))]


def _estimate(
    truth: Counts, layout: Layout, strategy: MarginStrategy, epsilon: float, random: np.random.Generator
) -> Array:
    values, observations = [], []
    for item in strategy.measured:
        over = tuple(index for index in range(truth.ndim) if index not in item.kept)
        share = float(item.share) * epsilon
        chance = -np.expm1(-share)
        drawn = [random.geometric(chance, size=layout.shape(item.kept)) for _ in range(2)]
        values.append(truth.sum(axis=over) + drawn[0] - drawn[1])
        observations.append(Observation(item.kept, item.residual, (2 * (1 - chance) / chance**2,)))
    return LinearEstimator(layout, observations).estimate(values)


def _figures(layout: Layout, truth: Counts) -> dict[str, Pick]:
    """Sorts of figures, each as a function from tables to those figures."""
    sorts = {
        "empty cells": truth == 0,
        f"cells of 1 to {SMALL}": (truth > 0) & (truth <= SMALL),
        f"cells above {SMALL}": truth > SMALL,
    }
    picks: dict[str, Pick] = {name: partial(_masked, mask) for name, mask in sorts.items()}
    for margin in layout.margins:
        if margin != layout.cells:
            over = tuple(index - truth.ndim for index in range(truth.ndim) if index not in margin)
            name = " × ".join(NAMES[index] for index in margin) or "grand total"
            picks[name] = partial(np.sum, axis=over)
    return picks


def _masked(mask: NDArray[np.bool_], tables: NDArray[Any]) -> NDArray[Any]:
    return np.asarray(tables[..., mask])


def _summarise(pick: Pick, truth: Counts, errors: Mapping[str, NDArray[Any]]) -> Found:
    picked = {way: pick(found) for way, found in errors.items()}
    return Found(
        mean=float(pick(truth).mean()),
        bias={way: float(found.mean()) for way, found in picked.items()},
        error={way: float(np.sqrt(np.square(found).mean())) for way, found in picked.items()},
    )


# --- speed ----------------------------------------------------------------------------------------------------------


def _time(sizes: tuple[int, ...]) -> dict[str, float]:
    """Seconds and working memory for one release of a sparse table at epsilon 1."""
    truth = _sparse(sizes, seed=7)
    layout, strategy = _choose(sizes, "1")
    raw = _estimate(truth, layout, strategy, 1.0, np.random.default_rng(7))
    weights = weigh_margins(sizes, strategy.expected)
    seconds = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        publish(raw, weights=weights, nonnegative=True)
        seconds.append(time.perf_counter() - start)
    tracemalloc.start()
    publish(raw, weights=weights, nonnegative=True)
    peak = tracemalloc.get_traced_memory()[1] / 1024**2
    tracemalloc.stop()
    return {"median (s)": statistics.median(seconds), "working memory (MB)": peak}


# --- the page -------------------------------------------------------------------------------------------------------


def _page_of_bias(truth: Counts, errors: Mapping[str, Mapping[str, Found]], releases: int) -> list[str]:
    sizes = " × ".join(map(str, truth.shape))
    lines = [
        f"{sizes} cells, {100 * (truth == 0).mean():.0f}% of them empty, {int(truth.sum())} people in all; "
        f"{releases} releases.",
        "Bias is the mean error; error is the root of the mean squared error.",
    ]
    for epsilon, found in errors.items():
        ways = next(iter(found.values())).bias
        head = [f"ε = {epsilon}", "true mean", *(f"bias, {way}" for way in ways), *(f"error, {way}" for way in ways)]
        rows = [
            [
                name,
                f"{item.mean:.1f}",
                *map(_signed, item.bias.values()),
                *(f"{error:,.1f}" for error in item.error.values()),
            ]
            for name, item in found.items()
        ]
        lines += ["", *table(head, rows)]
    return lines


def _signed(figure: float) -> str:
    return f"{figure:+,.2f}".replace("-", "−")


def _page_of_speed(speed: Mapping[str, float], sizes: tuple[int, ...]) -> list[str]:
    return [
        f"{prod(sizes):,} cells ({' × '.join(map(str, sizes))}), mostly empty, all {2 ** len(sizes)} margins, ε = 1; "
        f"median of {ROUNDS} runs, at most {MOST_SECONDS} s allowed:",
        f"**{speed['median (s)']:.2f} s** and {speed['working memory (MB)']:.0f} MB of working memory.",
        describe_machine(),
    ]
