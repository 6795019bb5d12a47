"""Local sensitivity against every neighbour that the observed values can make."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from itertools import product

import pytest

from discreet.guarantees.types import Neighbours
from discreet.lab.strategies.local_strategy import Local, local_sensitivity
from discreet.lab.strategies.scaled_laplace import add_laplace, answer_of
from discreet.lab.strategies.subject import AggregateKind, HeldValues, Subject
from discreet.sql.algebra import Filter, Scan, Within
from tests.algebra.columns import at, field

SOURCE = Scan("t", 1, ((at("x"), "x"), (at("y"), "y")))
SUBJECT = Subject(
    aggregate=AggregateKind.SUM,
    source=SOURCE,
    value=field("x"),
    step=Fraction(1, 10),
    unit_rows=1,
    neighbours=Neighbours.ADD_REMOVE,
    low=-50,
    high=200,
    bounded=True,
    dataset="t",
    column="x",
    text="SUM(x)",
)
SPREAD = Filter(SOURCE, Within(field("y"), 0, 9))
DATA: tuple[tuple[int | None, ...], ...] = (
    (1, 2, 3, 10),
    (5, 5, 5),
    (-7, 0, 4, 4, 9, None),
    (3, None, None),
    (-50, 200),
    (2,),
    (None, None),
    (),
    (0, 0, 0, 1),
    tuple(range(-3, 9)),
)
RANKS = {AggregateKind.QUANTILE: Fraction(1, 3), AggregateKind.TRIMMED: Fraction(1, 4)}


def held_of(values: Sequence[int | None]) -> HeldValues:
    counted = Counter(value for value in values if value is not None)
    return HeldValues(tuple(sorted(counted.items())), len(values))


def neighbours(values: tuple[int | None, ...], subject: Subject) -> Iterator[tuple[int | None, ...]]:
    """Every data set at distance 1 with observed values; a missing value, or a row filtered out, is None."""
    observed: set[int | None] = set(values)
    may_leave = None in observed or subject.source == SPREAD
    if subject.neighbours is Neighbours.ADD_REMOVE:
        for place in range(len(values)):
            yield values[:place] + values[place + 1 :]
        for value in observed:
            yield (*values, value)
        return
    for place, value in product(range(len(values)), observed | ({None} if may_leave else set())):
        yield (*values[:place], value, *values[place + 1 :])
    if subject.source == SPREAD:  # a row that was filtered out comes in
        for value in observed:
            yield (*values, value)


def brute_force(values: tuple[int | None, ...], subject: Subject) -> Fraction:
    here = held_of(values).result(subject)
    there = [held_of(other).result(subject) for other in neighbours(values, subject)]
    moves = [abs(found - here) for found in there if found is not None and here is not None]
    return max(moves, default=Fraction(0))


@pytest.mark.parametrize("values", DATA)
@pytest.mark.parametrize("relation", list(Neighbours))
@pytest.mark.parametrize("source", [SOURCE, SPREAD])
@pytest.mark.parametrize("aggregate", [one for one in AggregateKind if one is not AggregateKind.COUNT])
def test_against_every_neighbour(
    values: tuple[int | None, ...], relation: Neighbours, source: Scan | Filter, aggregate: AggregateKind
) -> None:
    rank = RANKS.get(aggregate)
    subject = replace(SUBJECT, aggregate=aggregate, neighbours=relation, source=source, rank=rank)
    assert local_sensitivity(subject, held_of(values)) == brute_force(values, subject)


def test_known_figures() -> None:
    """A mean moves most when its farthest value leaves; where values are exchanged, by their range over n."""
    held = HeldValues(((2, 1), (51, 370), (54, 18), (90, 1), (196, 1)), 400)
    mean = Fraction(held.total, held.present)
    average = replace(SUBJECT, aggregate=AggregateKind.AVG, step=Fraction(1))
    assert local_sensitivity(average, held) == max(196 - mean, mean - 2) / (held.present - 1)
    assert local_sensitivity(replace(SUBJECT, step=Fraction(1)), held) == 196
    full = HeldValues(((2, 10), (90, 30)), 40)
    swapped = replace(average, neighbours=Neighbours.REPLACE_ONE)
    assert local_sensitivity(swapped, full) == Fraction(88, 40)
    assert local_sensitivity(replace(swapped, aggregate=AggregateKind.SUM), full) == 88


def test_units_of_several_rows_count_as_often() -> None:
    held = held_of((1, 2, 3))
    assert local_sensitivity(replace(SUBJECT, unit_rows=4), held) == 4 * local_sensitivity(SUBJECT, held)
    assert local_sensitivity(replace(SUBJECT, aggregate=AggregateKind.COUNT, unit_rows=4), held) == 4


@pytest.mark.parametrize(
    "held", [HeldValues((), 0), HeldValues((), 5), HeldValues(((0, 5),), 5), HeldValues(((7, 1),), 1)]
)
def test_what_no_neighbour_moves_still_gets_noise(held: HeldValues) -> None:
    for aggregate, relation in product(AggregateKind, Neighbours):
        subject = replace(SUBJECT, aggregate=aggregate, neighbours=relation, rank=RANKS.get(aggregate))
        strategy = Local.calibrate(subject, held, epsilon="0.1")
        assert strategy.sensitivity >= subject.step
        assert math.isfinite(strategy.draw().result)


def test_a_strategy_says_that_it_proves_nothing() -> None:
    strategy = Local.calibrate(SUBJECT, held_of((1, 2, 30)), epsilon="0.5")
    assert strategy.name == "local"
    assert "local sensitivity" in str(strategy.guarantee)
    assert not strategy.guarantee.differentially_private
    assert strategy.draw().sensitivity == 3.0


def test_nothing_to_speak_of_is_the_value_nearest_to_0() -> None:
    average = replace(SUBJECT, aggregate=AggregateKind.AVG)
    assert answer_of(average, HeldValues((), 3)) == 0
    assert answer_of(replace(average, low=20, high=30), HeldValues((), 3)) == 2
    assert answer_of(replace(average, low=-30, high=-20), HeldValues((), 3)) == -2


@pytest.mark.parametrize("sensitivity", [Fraction(1, 10**12), Fraction(1), Fraction(10**18)])
def test_noise_of_any_scale_can_be_drawn(sensitivity: Fraction) -> None:
    """The median of |noise| is ln 2 times the scale: of 400 draws, at least 100 and at most 300 are below it but with
    chance below 1e-20."""
    drawn = [add_laplace(Fraction(0), sensitivity=sensitivity, epsilon=Decimal("0.5")) for _ in range(400)]
    below = sum(abs(one) < math.log(2) * float(2 * sensitivity) for one in drawn)
    assert 100 <= below <= 300
