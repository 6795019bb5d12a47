"""Neighbours' histograms differ by at most what was derived for the search, and bounds always are an interval."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from discreet.cards.card import Card, parse_card
from discreet.release.measurement.private_bounds import REACH, choose_bounds, edges, search_plan
from discreet.sql.algebra import Plan
from discreet.sql.sensitivity import sensitivities
from tests.algebra.columns import field, scan
from tests.algebra.interpreter import measure

Values = Sequence[int | None]

NEAR_EDGES = st.builds(lambda edge, by: edge + by, st.sampled_from(edges()), st.sampled_from((-1, 0, 1)))
VALUES = st.one_of(st.none(), NEAR_EDGES, st.integers(-(10**15), 10**15))
ROWS = st.lists(VALUES, max_size=6)


def card(*, rows: int, neighbours: str) -> Card:
    return parse_card(
        f"""
dataset: t
unit: {{column: pid, rows: {rows}}}
neighbours: {neighbours}
budget: {{epsilon: 1}}
columns:
  pid: {{kind: id, type: integer}}
  x: {{kind: integer, bounds: private}}
""",
        file="t.yaml",
    )


def histogram(plan: Plan, own: Card, units: Sequence[Values]) -> list[int]:
    rows = [
        {"pid": pid, "x": value, "ord": order}
        for pid, values in enumerate(units)
        for order, value in enumerate(values, start=1)
    ]
    [found] = measure(plan, {"t": rows}, {"t": own}).columns
    assert all(isinstance(count, int) for count in found)
    return [count for count in found if isinstance(count, int)]


def apart(
    rows: int, neighbours: str, others: Sequence[Values], one: Values, two: Values | None
) -> tuple[int, Fraction]:
    """How far the histograms of two neighbours are apart, and how far they may be."""
    own = card(rows=rows, neighbours=neighbours)
    plan = search_plan(scan(own, rows), field("x"))
    first = histogram(plan, own, [*others, one])
    second = histogram(plan, own, [*others, *([] if two is None else [two])])
    moved = sum(abs(a - b) for a, b in zip(first, second, strict=True))
    return moved, sensitivities(plan, plan.measures[0], {"t": own}).largest.l1


@given(rows=st.integers(1, 4), others=st.lists(ROWS, max_size=3), one=ROWS)
def test_a_unit_that_comes_or_goes(rows: int, others: Sequence[Values], one: Values) -> None:
    moved, most = apart(rows, "add-remove", others, one, None)
    assert moved <= most


@given(rows=st.integers(1, 4), others=st.lists(ROWS, max_size=3), one=ROWS, two=ROWS)
def test_a_unit_that_is_replaced(rows: int, others: Sequence[Values], one: Values, two: Values) -> None:
    moved, most = apart(rows, "replace-one", others, one, two)
    assert moved <= most


def test_the_bound_is_reached() -> None:
    for rows in (1, 2, 5):
        moved, most = apart(rows, "add-remove", [], [7] * (rows + 2), None)
        assert moved == most == rows
        moved, most = apart(rows, "replace-one", [], [7] * (rows + 2), [-7] * rows)
        assert moved == most == 2 * rows


@given(
    noisy=st.lists(st.integers(-(10**6), 10**6), min_size=len(edges()), max_size=len(edges())),
    scale=st.sampled_from((Fraction(1, 4), Fraction(3), Fraction(10_000))),
    widest=st.one_of(st.just(REACH), st.integers(1, 10**6)),
)
def test_bounds_are_an_interval_within_the_widest(noisy: list[int], scale: Fraction, widest: int) -> None:
    found = choose_bounds(noisy, scale=scale, widest=widest)
    assert -widest <= found.low < found.high <= widest
