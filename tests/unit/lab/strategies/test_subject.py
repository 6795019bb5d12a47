"""What rows say about one aggregate: exact answers by hand, and nothing of them in print."""

from __future__ import annotations

from fractions import Fraction

import pytest

from discreet.guarantees.types import Neighbours
from discreet.lab.strategies.subject import AggregateKind, HeldValues, Subject
from discreet.sql.algebra import Scan
from tests.algebra.columns import at, field

HELD = HeldValues(((1, 1), (2, 2), (7, 1), (9, 1)), rows=8)


def subject(aggregate: AggregateKind, rank: Fraction | None = None) -> Subject:
    return Subject(
        aggregate=aggregate,
        source=Scan("t", 1, ((at("x"), "x"),)),
        value=field("x"),
        step=Fraction(1, 10),
        unit_rows=1,
        neighbours=Neighbours.ADD_REMOVE,
        low=0,
        high=10,
        bounded=True,
        dataset="t",
        column="x",
        text="x",
        rank=rank,
    )


@pytest.mark.parametrize(
    ("aggregate", "rank", "expected"),
    [
        (AggregateKind.COUNT, None, 5),
        (AggregateKind.SUM, None, Fraction(21, 10)),
        (AggregateKind.AVG, None, Fraction(21, 50)),
        (AggregateKind.MIN, None, Fraction(1, 10)),
        (AggregateKind.MAX, None, Fraction(9, 10)),
        (AggregateKind.QUANTILE, Fraction(1, 100), Fraction(1, 10)),
        (AggregateKind.QUANTILE, Fraction(1, 5), Fraction(1, 10)),
        (AggregateKind.QUANTILE, Fraction(1, 4), Fraction(2, 10)),
        (AggregateKind.QUANTILE, Fraction(1, 2), Fraction(2, 10)),
        (AggregateKind.QUANTILE, Fraction(3, 5), Fraction(2, 10)),
        (AggregateKind.QUANTILE, Fraction(2, 3), Fraction(7, 10)),
        (AggregateKind.QUANTILE, Fraction(9, 10), Fraction(9, 10)),
        (AggregateKind.TRIMMED, Fraction(1, 10), Fraction(21, 50)),
        (AggregateKind.TRIMMED, Fraction(1, 5), Fraction(11, 30)),
        (AggregateKind.TRIMMED, Fraction(2, 5), Fraction(2, 10)),
    ],
)
def test_exact_answers(aggregate: AggregateKind, rank: Fraction | None, expected: Fraction) -> None:
    assert HELD.result(subject(aggregate, rank)) == expected


def test_what_the_rows_say_is_not_printed() -> None:
    assert repr(HELD) == "HeldValues()"
