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

from discreet.audit import clopper_pearson
from discreet.mechanisms.discrete_laplace import DiscreteLaplace
from discreet.noise.quantile import laplace_threshold
from discreet.sensitivity.privatebounds import CHANCE, FoundBounds, choose_bounds, edges, find_bounds

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

AUDITED = 1_000
WITH_UNIT = filled(b10=ROWS_PER_UNIT)
WITHOUT = filled()


def told(mechanism: DiscreteLaplace) -> float:
    """A lower bound, but for ALPHA, of the epsilon that bounds found with and without one unit show."""
    chosen = [[draw(counts, mechanism) for _ in range(AUDITED)] for counts in (WITH_UNIT, WITHOUT)]
    fresh = [[draw(counts, mechanism) for _ in range(AUDITED)] for counts in (WITH_UNIT, WITHOUT)]
    likelier = max(set(chosen[0]), key=lambda found: (chosen[0].count(found) + 1) / (chosen[1].count(found) + 1))
    hits, misses = (drawn.count(likelier) for drawn in fresh)
    low, _ = clopper_pearson(hits, AUDITED, alpha=ALPHA)
    _, high = clopper_pearson(misses, AUDITED, alpha=ALPHA)
    return math.log(low / high) if low else -math.inf


def test_bounds_tell_no_more_of_a_unit_than_was_paid() -> None:
    mechanism = DiscreteLaplace.calibrate(sensitivity=ROWS_PER_UNIT, epsilon=EPSILON)
    assert told(mechanism) <= EPSILON


def test_noise_that_forgets_the_rows_per_unit_tells_more() -> None:
    forgetful = DiscreteLaplace.calibrate(sensitivity=Fraction(1), epsilon=EPSILON)
    assert told(forgetful) > EPSILON
