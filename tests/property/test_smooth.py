"""Smooth sensitivity against every data set of a small world, and every pair of neighbours in it.

The world holds all multisets of at most five values from a domain of four. Neighbours differ by a unit of up to k
values: added or removed, or removed and others put in their place, in any number up to k.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.guarantees.types import Neighbours
from discreet.lab.strategies.smooth_noise import SmoothNoise
from discreet.lab.strategies.smooth_strategy import Smooth, smooth_bound
from discreet.lab.strategies.subject import AggregateKind, HeldValues, Subject
from discreet.lab.strategies.widest_gap import Core, Discount, widest_gap
from discreet.sql.algebra import Scan
from tests.algebra.columns import at, field

DOMAIN, MOST = (0, 1, 4, 5), 5
PROMISES = [(Decimal("1.5"), Decimal("1e-6")), (Decimal(12), Decimal("0.05"))]
ROUNDING = 1 + 1e-9

MEASURES = [
    (AggregateKind.MIN, None),
    (AggregateKind.MAX, None),
    (AggregateKind.QUANTILE, Fraction(1, 2)),
    (AggregateKind.QUANTILE, Fraction(1, 4)),
    (AggregateKind.QUANTILE, Fraction(9, 10)),
    (AggregateKind.TRIMMED, Fraction(1, 4)),
    (AggregateKind.TRIMMED, Fraction(2, 5)),
    (AggregateKind.TRIMMED, Fraction(0)),
]
CASES = [
    pytest.param(aggregate, rank, neighbours, rows, id=f"{aggregate.value}-{rank}-{neighbours.value}-{rows}")
    for aggregate, rank in MEASURES
    for neighbours in Neighbours
    for rows in (1, 2)
]
promises = pytest.mark.parametrize(
    ("epsilon", "delta"), [PROMISES[0], pytest.param(*PROMISES[1], marks=pytest.mark.long)]
)
cases = pytest.mark.parametrize(("aggregate", "rank", "neighbours", "rows"), CASES)


def subject(aggregate: AggregateKind, rank: Fraction | None, neighbours: Neighbours, rows: int) -> Subject:
    return Subject(
        aggregate=aggregate,
        source=Scan("survey", rows, ((at("age"), "age"),)),
        value=field("age"),
        step=Fraction(1),
        unit_rows=rows,
        neighbours=neighbours,
        low=DOMAIN[0],
        high=DOMAIN[-1],
        bounded=True,
        dataset="survey",
        column="age",
        text=f"{aggregate.value}(age)",
        rank=rank,
    )


def held(counts: tuple[int, ...]) -> HeldValues:
    return HeldValues(tuple((v, n) for v, n in zip(DOMAIN, counts, strict=True) if n), sum(counts))


@cache
def world() -> list[tuple[int, ...]]:
    return [
        tuple(chosen.count(value) for value in DOMAIN)
        for size in range(MOST + 1)
        for chosen in combinations_with_replacement(DOMAIN, size)
    ]


@cache
def adjacent(neighbours: Neighbours, rows: int) -> np.ndarray:
    counts = np.array(world())
    change = counts[None, :, :] - counts[:, None, :]
    added, removed = change.clip(min=0).sum(2), (-change).clip(min=0).sum(2)
    if neighbours is Neighbours.REPLACE_ONE:
        return np.asarray((added <= rows) & (removed <= rows))
    return np.asarray((added + removed <= rows) & ((added == 0) | (removed == 0)))


def answers(about: Subject) -> np.ndarray:
    """By the definition where there are values; without, as the proof note says."""
    nothing = {AggregateKind.MAX: Fraction(DOMAIN[0]), AggregateKind.TRIMMED: Fraction(DOMAIN[0] + DOMAIN[-1], 2)}
    exact = (held(counts).result(about) for counts in world())
    return np.array([float(nothing.get(about.aggregate, Fraction(DOMAIN[-1])) if a is None else a) for a in exact])


def bound_at(about: Subject, counts: tuple[int, ...], distance: int) -> float:
    """The proof's bound on the local sensitivity of all data sets at most so many units away."""
    values = [value for value, count in zip(DOMAIN, counts, strict=True) for _ in range(count)]
    size, rows, low, high = len(values), about.unit_rows, about.low, about.high
    if about.aggregate is AggregateKind.TRIMMED:
        assert about.rank is not None
        cut, kept = math.floor(about.rank * size), math.ceil((1 - 2 * about.rank) * size) + 1
        first, last = cut, size - cut + 1
    else:
        place = size if about.aggregate is AggregateKind.MAX else max(1, math.ceil((about.rank or 0) * size))
        first, last, kept = place - 1, place + 1, 1
    wider = (distance + 1) * rows - 1
    reach = kept + wider
    padded = [low] * (reach + 2) + values + [high] * (reach + 2)
    gap = max(
        padded[start + reach + reach + 1] - padded[start + reach + 1]
        for start in range(first - wider, last + wider - reach + 1)
    )
    if about.aggregate is not AggregateKind.TRIMMED:
        return gap
    assert about.rank is not None
    return min(high - low, gap * rows / max(1.0, float((1 - 2 * about.rank) * (size - wider))))


@dataclass(frozen=True)
class Law:
    """The noise that a data set gets: around what, and how wide."""

    centre: int
    scale: float


def excess(first: Law, second: Law, *, epsilon: float) -> float:
    """The sum over all outcomes of max(0, p - e^epsilon q)."""
    reach = int(60 * max(first.scale, second.scale)) + abs(first.centre - second.centre) + 2
    outcomes = np.arange(first.centre - reach, first.centre + reach + 1)
    p, q = (np.tanh(0.5 / law.scale) * np.exp(-np.abs(outcomes - law.centre) / law.scale) for law in (first, second))
    return float(np.maximum(0, p - np.exp(epsilon) * q).sum())


def worst(laws: list[Law], near: np.ndarray, *, epsilon: Decimal) -> float:
    """The largest excess of all pairs of neighbours, both ways."""
    pairs = {(laws[i], laws[j]) for i, j in zip(*np.nonzero(near), strict=True) if laws[i] != laws[j]}
    return max((excess(first, second, epsilon=float(epsilon)) for first, second in pairs), default=0.0)


@cases
def test_no_data_set_at_a_distance_has_a_larger_local_sensitivity(
    aggregate: AggregateKind, rank: Fraction | None, neighbours: Neighbours, rows: int
) -> None:
    about = subject(aggregate, rank, neighbours, rows)
    near, values = adjacent(neighbours, rows), answers(about)
    local = np.where(near, np.abs(values[:, None] - values[None, :]), 0).max(1)
    reached, tight = np.eye(len(values), dtype=bool), False
    for distance in range(4):
        truth = np.where(reached, local[None, :], 0).max(1)
        bound = np.array([bound_at(about, counts, distance) for counts in world()])
        assert (truth <= bound + 1e-12).all()
        tight = tight or bool((truth > 0.4 * bound).any())
        ranked = aggregate is not AggregateKind.TRIMMED and neighbours is Neighbours.REPLACE_ONE
        if ranked and (rows == 1 or distance):
            # Where the world is large enough to hold the neighbours, the bound is the truth itself.
            assert (truth == bound)[[sum(counts) <= 4 for counts in world()]].all()
        reached = reached @ near
    assert tight  # two fifths of the bound would be exceeded


@cases
@promises
def test_the_bound_is_smooth_and_covers_every_neighbour(
    aggregate: AggregateKind, rank: Fraction | None, neighbours: Neighbours, rows: int, epsilon: Decimal, delta: Decimal
) -> None:
    about, base = subject(aggregate, rank, neighbours, rows), SmoothNoise.calibrate(epsilon=epsilon, delta=delta).base
    near, values = adjacent(neighbours, rows), answers(about)
    bounds = np.array([float(smooth_bound(about, held(counts), base=base)) for counts in world()])
    for counts, bound in zip(world(), bounds, strict=True):
        discounted = max(float(base) ** distance * bound_at(about, counts, distance) for distance in range(MOST + 2))
        assert bound * ROUNDING >= discounted
        if rows == 1 and aggregate is not AggregateKind.TRIMMED:
            assert bound <= max(discounted, 1e-9) * ROUNDING
    moves = np.where(near, np.abs(values[:, None] - values[None, :]), 0).max(1)
    assert (moves <= bounds * ROUNDING).all()
    ratios = np.where(near, bounds[:, None] / bounds[None, :], 0)
    assert ratios.max() <= 1 / float(base) * ROUNDING
    if aggregate is not AggregateKind.TRIMMED:
        assert ratios.max() > float(base) ** -0.5  # half the smoothness would be exceeded


@cases
@promises
def test_the_noise_drawn_keeps_its_promise_for_every_pair(
    aggregate: AggregateKind,
    rank: Fraction | None,
    neighbours: Neighbours,
    rows: int,
    epsilon: Decimal,
    delta: Decimal,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Trimmed means on a grid of tenths: one of millionths has too many outcomes to add up.
    monkeypatch.setattr("discreet.lab.strategies.smooth_strategy._MOST_DECIMALS", 1)
    about = subject(aggregate, rank, neighbours, rows)
    ready = [Smooth.calibrate(about, held(counts), epsilon=epsilon, delta=delta) for counts in world()]
    laws = [Law(one.exact, float(one.mechanism.scale)) for one in ready]
    assert worst(laws, adjacent(neighbours, rows), epsilon=epsilon) <= float(delta) * ROUNDING


@pytest.mark.parametrize(
    ("share", "less_smooth"),
    [pytest.param(Fraction(1, 2), 1, id="half the scale"), pytest.param(Fraction(1), 2, id="half as smooth")],
)
def test_a_planted_fault_breaks_the_promise(share: Fraction, less_smooth: int) -> None:
    epsilon, delta = PROMISES[0]
    about = subject(AggregateKind.QUANTILE, Fraction(1, 2), Neighbours.REPLACE_ONE, 1)
    base = SmoothNoise.calibrate(epsilon=epsilon, delta=delta).base ** less_smooth
    laws = [
        Law(int(value), float(share * smooth_bound(about, held(counts), base=base) / (Fraction(epsilon) / 2)))
        for counts, value in zip(world(), answers(about), strict=True)
    ]
    assert worst(laws, adjacent(Neighbours.REPLACE_ONE, 1), epsilon=epsilon) > float(delta)


@given(
    st.dictionaries(st.integers(0, 60), st.integers(1, 9), max_size=25),
    st.integers(1, 12),
    st.fractions(0, 1),
    st.fractions(Fraction(1, 1000), 3),
)
def test_the_search_finds_the_widest_window(counts: dict[int, int], rows: int, rank: Fraction, beta: Fraction) -> None:
    histogram = tuple(sorted(counts.items()))
    values = [0, *(v for v, n in histogram for _ in range(n)), 60]
    place = max(1, min(len(values) - 1, round(rank * (len(values) - 2))))
    discount = Discount.over(rows, exponent=beta)
    found = widest_gap(histogram, Core(place, place, 1), low=0, high=60, free=rows, discount=discount).gap
    wanted = max(
        (values[end] - values[start]) * np.exp(-float(beta) / rows * max(0, end - start - rows))
        for start in range(place + 1)
        for end in range(place, len(values))
    )
    assert float(found) == pytest.approx(wanted, rel=1e-9, abs=2e-12)
