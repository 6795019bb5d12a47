"""The sensitivity of a type: a bound that holds because values are clamped to it, and an error to match."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import ParameterInvalid
from discreet.guarantees.types import Neighbours, PureDP
from discreet.lab.strategies.global_type import WIDTH, GlobalType
from discreet.lab.strategies.subject import AggregateKind, HeldValues, Subject
from discreet.sql.algebra import Scan
from tests.algebra.columns import at, field

SOURCE = Scan("t", 1, ((at("x"), "x"),))
SUBJECT = Subject(
    aggregate=AggregateKind.SUM,
    source=SOURCE,
    value=field("x"),
    step=Fraction(1, 4),
    unit_rows=1,
    neighbours=Neighbours.ADD_REMOVE,
    low=0,
    high=10**15,
    bounded=True,
    dataset="t",
    column="x",
    text="SUM(x)",
)
RANKS = {AggregateKind.QUANTILE: Fraction(1, 3), AggregateKind.TRIMMED: Fraction(1, 4)}
ENDS = (-(10**15), -1, 0, 1, 3, 10**9, 4 * WIDTH, 10**15)
values = st.one_of(st.sampled_from(ENDS), st.integers(-(10**15), 10**15), st.none())


def answer(aggregate: AggregateKind, rows: list[int | None], *, signed: bool) -> int:
    counted = Counter(value for value in rows if value is not None)
    held = HeldValues(tuple(sorted(counted.items())), len(rows))
    low = -(10**15) if signed else 0
    subject = replace(SUBJECT, aggregate=aggregate, low=low, rank=RANKS.get(aggregate))
    return GlobalType.calibrate(subject, held, epsilon=1).answer


@given(st.lists(values, max_size=6), values, values, st.booleans(), st.sampled_from(list(AggregateKind)))
def test_no_neighbour_moves_farther(
    rows: list[int | None], one: int | None, other: int | None, signed: bool, aggregate: AggregateKind
) -> None:
    """A row comes, goes or becomes another, with a value or without."""
    if not signed:
        rows, one, other = [None if v is None else abs(v) for v in rows], one and abs(one), other and abs(other)
    found = [answer(aggregate, extended, signed=signed) for extended in (rows, [*rows, one], [*rows, other])]
    assert all(abs(left - right) <= WIDTH for left, right in product(found, found))


def test_units_of_several_rows_move_sums_as_often() -> None:
    held = HeldValues(((4, 3),), 3)
    several = replace(SUBJECT, unit_rows=40)
    assert GlobalType.calibrate(several, held, epsilon=1).sensitivity == 40 * WIDTH
    mean = replace(several, aggregate=AggregateKind.AVG)
    assert GlobalType.calibrate(mean, held, epsilon=1).sensitivity == WIDTH


def test_within_the_range_the_answer_is_that_of_the_rows() -> None:
    held = HeldValues(((4, 3), (40, 1)), 5)
    assert GlobalType.calibrate(SUBJECT, held, epsilon=1).answer == 13
    assert GlobalType.calibrate(replace(SUBJECT, aggregate=AggregateKind.AVG), held, epsilon=1).answer == 3
    beyond = HeldValues(((10**15, 2),), 2)
    assert GlobalType.calibrate(SUBJECT, beyond, epsilon=1).answer == 2 * WIDTH
    assert GlobalType.calibrate(replace(SUBJECT, low=-1), beyond, epsilon=1).answer == WIDTH


def test_it_is_proven_and_useless() -> None:
    """Noise of scale 2^32 / 0.01 below a million has chance 2.4e-6, four times in a row below 1e-22."""
    strategy = GlobalType.calibrate(SUBJECT, HeldValues(((4, 3),), 3), epsilon="0.01")
    assert strategy.name == "global-type"
    assert strategy.guarantee == PureDP(epsilon="0.01")
    drawn = [strategy.draw() for _ in range(4)]
    assert any(abs(one.result) > 10**6 for one in drawn)
    assert all(math.isfinite(one.result) and one.sensitivity == WIDTH for one in drawn)


def test_too_small_an_epsilon_is_refused_whatever_the_rows() -> None:
    with pytest.raises(ParameterInvalid, match="scale"):
        GlobalType.calibrate(SUBJECT, HeldValues((), 0), epsilon="0.000000001").draw()
