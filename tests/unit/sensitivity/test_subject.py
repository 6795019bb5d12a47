"""What rows say about one aggregate: exact answers by hand, and nothing of them in print."""

from __future__ import annotations

from fractions import Fraction

import pytest

from discreet.guarantees.types import Neighbours
from discreet.plan.algebra import Scan
from discreet.sensitivity.subject import Aggregate, Held, Subject
from tests.algebra.columns import at, field

HELD = Held(((1, 1), (2, 2), (7, 1), (9, 1)), rows=8)


def subject(aggregate: Aggregate, rank: Fraction | None = None) -> Subject:
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
        (Aggregate.COUNT, None, 5),
        (Aggregate.SUM, None, Fraction(21, 10)),
        (Aggregate.AVG, None, Fraction(21, 50)),
        (Aggregate.MIN, None, Fraction(1, 10)),
        (Aggregate.MAX, None, Fraction(9, 10)),
        (Aggregate.QUANTILE, Fraction(1, 100), Fraction(1, 10)),
        (Aggregate.QUANTILE, Fraction(1, 5), Fraction(1, 10)),
        (Aggregate.QUANTILE, Fraction(1, 4), Fraction(2, 10)),
        (Aggregate.QUANTILE, Fraction(1, 2), Fraction(2, 10)),
        (Aggregate.QUANTILE, Fraction(3, 5), Fraction(2, 10)),
        (Aggregate.QUANTILE, Fraction(2, 3), Fraction(7, 10)),
        (Aggregate.QUANTILE, Fraction(9, 10), Fraction(9, 10)),
        (Aggregate.TRIMMED, Fraction(1, 10), Fraction(21, 50)),
        (Aggregate.TRIMMED, Fraction(1, 5), Fraction(11, 30)),
        (Aggregate.TRIMMED, Fraction(2, 5), Fraction(2, 10)),
    ],
)
def test_exact_answers(aggregate: Aggregate, rank: Fraction | None, expected: Fraction) -> None:
    assert HELD.result(subject(aggregate, rank)) == expected


def test_what_the_rows_say_is_not_printed() -> None:
    assert repr(HELD) == "Held()"
