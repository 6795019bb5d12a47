"""Shuffle: one call of the accountant, either way, at a million people; the single-message protocol for a group."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from discreet.collect import CategoryQuestion, NumberQuestion, single_message
from discreet.collect.mixing import allowance, amplification
from discreet.collect.mixing import batch_question as question
from discreet.collect.mixing.amplification import amplified_epsilon, largest_local_epsilon
from discreet.noise import SystemEntropy

PEOPLE = 10**6
EPSILONS = ("0.01", "0.1", "0.5", "1", "2", "4", "6", "8", "10", "12")
DELTAS = ("1e-9", "1e-6", "1e-3")
KINDS = (None, 2, 3, 13, 500)
SIZES = (4000, 2000, 4700, 3300, 22000, 33500, 6300, 6400, 12600, 13600, 1000, 1000, 1000)  # as of thirteen provinces


def run() -> dict[str, float]:
    return {**_account(), **_groups()}


def _account() -> dict[str, float]:
    amplified_epsilon(local_epsilon=1, anonymity=1000, delta="1e-6")  # imports scipy
    slowest = {"epsilon": 0.0, "local epsilon": 0.0}
    for epsilon in EPSILONS:
        for delta in DELTAS:
            for kind in KINDS:
                facts: dict[str, Any] = {"anonymity": PEOPLE, "delta": delta, "categories": kind}
                there = partial(amplified_epsilon, local_epsilon=epsilon, **facts)
                back = partial(largest_local_epsilon, epsilon=epsilon, **facts)
                slowest["epsilon"] = max(slowest["epsilon"], _seconds(there))
                slowest["local epsilon"] = max(slowest["local epsilon"], _seconds(back))
    return {f"{what} at a million people, slowest of 150 settings (s)": worst for what, worst in slowest.items()}


def _groups() -> dict[str, float]:
    rng = np.random.default_rng(1)
    groups = [np.rint(20_000 * np.exp(0.8 * rng.standard_normal(size))).astype(np.int64) for size in SIZES]
    figures = {}
    for name, asked in (("5 categories", CategoryQuestion(5)), ("a number", NumberQuestion(900))):
        _forget()
        choose = partial(_choose, groups, asked)
        figures[f"classes of 13 groups, 5 epsilons, {name} (s)"] = _seconds(choose)
    protocol = single_message(groups[5], question=CategoryQuestion(5), epsilon=1, delta="1e-6")
    answers = rng.integers(0, 5, len(groups[5]))
    entropy = SystemEntropy()
    figures["encode and estimate 33,500 answers of 5 (s)"] = _seconds(
        lambda: protocol.estimate(protocol.encode(entropy, answers, groups[5]))
    )
    return figures


def _choose(groups: list[np.ndarray[tuple[int], np.dtype[np.int64]]], asked: CategoryQuestion | NumberQuestion) -> None:
    for epsilon in ("5.99", "3", "1", "0.8", "0.6"):
        for weights in groups:
            single_message(weights, question=asked, epsilon=epsilon, delta="1e-6")


def _forget() -> None:
    for kept in (
        allowance._allow,
        allowance._searched,
        amplification._amplified,
        amplification._largest,
        question._oracle,
        question._number,
        question._number_noise,
    ):
        kept.cache_clear()


def _seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start
