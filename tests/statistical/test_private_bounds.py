"""Searches drawn many times: how often they hold the rows they promise, how seldom they find what is not there, and
what they tell of one unit.

Shares are held against Hoeffding's bound and audits against Clopper-Pearson, each with a false-positive probability of
at most 1e-7; there are five of them, so a false alarm has probability below 1e-6. Every statement is also put to a
search with a planted fault, which must break it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from decimal import Decimal
from fractions import Fraction

import pytest

from discreet.lab.audit import AuditResult, audit_loss
from discreet.mechanisms.discrete_laplace import DiscreteLaplace
from discreet.noise.quantile import laplace_threshold
from discreet.release.measurement.private_bounds import CHANCE, FoundBounds, choose_bounds, edges, find_bounds

pytestmark = pytest.mark.statistical

ALPHA = 1e-7
EDGES = edges()
MIDDLE = len(EDGES) // 2

EPSILON = Decimal(2)
ROWS_PER_UNIT = 8


def filled(**bins: int) -> list[int]:
    counts = [0] * len(EDGES)
    for name, count in bins.items():
        counts[MIDDLE + int(name[1:])] = count
    return counts


def draw(counts: Sequence[int], mechanism: DiscreteLaplace) -> FoundBounds:
    return find_bounds(counts, mechanism=mechanism)


def share(event: Callable[[], bool], draws: int) -> float:
    return sum(event() for _ in range(draws)) / draws


def slack(draws: int) -> float:
    """How far a share of independent draws may lie beyond its probability."""
    return math.sqrt(math.log(1 / ALPHA) / (2 * draws))


# --- coverage -------------------------------------------------------------------------------------------------------

DRAWS = 1_000
MECHANISM = DiscreteLaplace.calibrate(sensitivity=1, epsilon="0.05")


def promised() -> list[int]:
    """Bins side by side, each with as many rows as the note promises to keep and no row more.

    The middle one has enough for a first bin.
    """
    scale = MECHANISM.scale
    missed = laplace_threshold(scale=scale, probability=CHANCE / len(EDGES))
    joined = laplace_threshold(scale=scale, probability=CHANCE) + missed
    return filled(b8=joined, b9=joined, b10=10_000, b11=joined, b12=joined)


def holds(found: FoundBounds) -> bool:
    return found.found and found.low <= EDGES[MIDDLE + 8] and found.high >= EDGES[MIDDLE + 13] - 1


def test_the_bounds_hold_every_row_that_is_promised() -> None:
    counts = promised()
    kept = share(lambda: holds(draw(counts, MECHANISM)), DRAWS)
    assert kept >= 1 - CHANCE - slack(DRAWS)


def test_a_search_that_takes_its_noise_for_larger_than_it_is_breaks_the_promise() -> None:
    counts = promised()
    kept = share(lambda: holds(choose_bounds(MECHANISM.release(counts), scale=4 * MECHANISM.scale)), DRAWS)
    assert kept < 1 - CHANCE - slack(DRAWS)


# --- what is not there ----------------------------------------------------------------------------------------------


def wide(found: FoundBounds) -> bool:
    return max(-found.low, found.high) >= 16


def test_where_there_is_nothing_wide_bounds_are_rare() -> None:
    """Noise starts at a bin b from 0 with a chance of at most CHANCE / 2^|b|: below 1/20 for all bins from 2 on."""
    counts = filled()
    assert share(lambda: wide(draw(counts, MECHANISM)), DRAWS) <= CHANCE + slack(DRAWS)


def test_a_search_that_takes_its_noise_for_smaller_than_it_is_finds_wide_bounds_in_nothing() -> None:
    counts = filled()
    found = share(lambda: wide(choose_bounds(MECHANISM.release(counts), scale=MECHANISM.scale / 8)), DRAWS)
    assert found > CHANCE + slack(DRAWS)


# --- audit ----------------------------------------------------------------------------------------------------------

SAMPLES = 2_000
WITH_UNIT = filled(b10=ROWS_PER_UNIT)
WITHOUT = filled()


def compare(mechanism: DiscreteLaplace) -> AuditResult:
    """What bounds that were found with and without one unit show, each numbered as it first comes."""
    numbers: dict[FoundBounds, int] = {}
    sides = [
        [numbers.setdefault(draw(counts, mechanism), len(numbers)) for _ in range(SAMPLES)]
        for counts in (WITH_UNIT, WITHOUT)
    ]
    return audit_loss(*sides, claimed=float(EPSILON), alpha=ALPHA)


def test_bounds_tell_no_more_of_a_unit_than_was_paid() -> None:
    assert not compare(DiscreteLaplace.calibrate(sensitivity=ROWS_PER_UNIT, epsilon=EPSILON)).refuted


def test_noise_that_forgets_the_rows_per_unit_tells_more() -> None:
    assert compare(DiscreteLaplace.calibrate(sensitivity=Fraction(1), epsilon=EPSILON)).refuted
