"""Holdings check themselves, and know the table without a person."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.errors import ParameterInvalid
from discreet.lab.today.holdings import HeldPerson, Holdings, require_whole
from discreet.tables.linear.layout import keep_keys


def test_totals_follow_from_contributions(incomes: Holdings) -> None:
    assert incomes.counts.tolist() == [[7, 20], [30, 27]]
    assert incomes.figures.tolist() == [[1120, 2000], [2700, 2870]]
    assert incomes.magnitude
    assert incomes.nonnegative
    assert incomes.margin((0,)).tolist() == [3120, 5570]
    assert incomes.margin(()).item() == 8690


def test_the_table_without_a_person(incomes: Holdings, sparse: Holdings) -> None:
    less = incomes.without(HeldPerson((0, 0), 1000))
    assert less.figures.tolist() == [[120, 2000], [2700, 2870]]
    assert less.counts[0, 0] == 6
    assert less.contributions is not None
    assert 1000 not in less.contributions[:, 1]
    assert sparse.without(HeldPerson((2, 2), 1)).counts[2, 2] == 0
    with pytest.raises(ParameterInvalid, match="must be in the table"):
        incomes.without(HeldPerson((0, 0), 7))
    with pytest.raises(ParameterInvalid, match="must be in the table"):
        Holdings.of_counts(np.array([0, 3])).without(HeldPerson((0,), 1))


def test_everyone_may_be_drawn(incomes: Holdings) -> None:
    rng = np.random.default_rng()
    drawn = {incomes.draw_person(rng) for _ in range(5000)}
    assert drawn <= {
        HeldPerson((0, 0), 1000),
        HeldPerson((0, 0), 20),
        HeldPerson((0, 1), 100),
        HeldPerson((1, 0), 90),
    } | {
        HeldPerson((1, 1), 110),
        HeldPerson((1, 1), 60),
    }
    # Missing one of 84 people in 5000 draws has the chance 84·(83/84)^5000 < 1e-23.
    assert len(drawn) == 6


@pytest.mark.parametrize(
    "counts", [np.array(3), np.zeros((0, 2), dtype=int), np.array([1.5, 2.0]), np.array([-1, 2]), np.array(["a"])]
)
def test_what_is_no_table_is_refused(counts: np.ndarray[tuple[int, ...], np.dtype[np.int64]]) -> None:
    with pytest.raises(ParameterInvalid):
        Holdings.of_counts(counts)


def test_contributions_stay_within_the_table() -> None:
    for rows in ([(4, 1, 1)], [(-1, 1, 1)], [(0, 1, 0)], [(0, 2**60, 2**5)]):
        with pytest.raises(ParameterInvalid):
            Holdings.of_contributions((2, 2), np.array(rows))
    with pytest.raises(ParameterInvalid, match="margins"):
        Holdings.of_counts(np.ones((2, 2), dtype=int), margins=[(1, 0)])


def test_margins_may_be_chosen() -> None:
    held = Holdings.of_counts(np.ones((2, 3), dtype=int), margins=[(1,)])
    assert held.layout.margins == ((0, 1), (1,))
    assert keep_keys(held.counts, (1,)).tolist() == [2, 2, 2]


def test_whole_numbers_only() -> None:
    assert require_whole(np.int64(4), parameter="base", least=2) == 4
    for bad in (True, 1, 2.0, "3", None):
        with pytest.raises(ParameterInvalid, match="base"):
            require_whole(bad, parameter="base", least=2)
