"""Hidden figures stay hidden: no sum gives them away, and their feasible intervals are wide."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import ParameterInvalid
from discreet.lab.today.feasibility import Pattern
from discreet.lab.today.holdings import Holdings, Published
from discreet.lab.today.suppression import Suppression

pytestmark = pytest.mark.slow


def least_width(rule: Suppression, held: Holdings, published: Published) -> float:
    pattern = Pattern(held, published.hidden)
    ends = [
        pattern.interval((margin, int(place)))
        for margin, mask in rule.find_unsafe(held).items()
        for place in np.flatnonzero(mask)
    ]
    return min((high - low for low, high in ends), default=np.inf)


def test_small_cells_and_their_complements_are_hidden(sparse: Holdings) -> None:
    published = Suppression().apply(sparse)
    cells = published.hidden[0, 1]
    assert cells[0, 1]
    assert cells[2, 2]
    assert not any((cells.sum(axis=axis) == 1).any() for axis in (0, 1))
    assert published.values((0, 1))[0][1] is None
    assert published.values((0, 1))[1][0] == 300
    assert not published.guarantee.differentially_private
    assert least_width(Suppression(), sparse, published) >= 5


def test_primary_suppression_alone_gives_cells_away(sparse: Holdings) -> None:
    """The audit is able to fail: without complements a hidden cell has one value."""
    only = Suppression().find_unsafe(sparse)
    assert Pattern(sparse, only).interval(((0, 1), 1)) == pytest.approx((2, 2))
    assert Pattern(sparse, only).find_narrow({((0, 1), 1): 5.0}, until=np.inf) == [((0, 1), 1)]


def test_two_hidden_parts_may_still_be_too_tight() -> None:
    """A pair of cells of 1 and 2 satisfies the line rule but is known within 3; the audit hides more."""
    held = Holdings.of_counts(np.array([[1, 2, 50], [2, 1, 60], [40, 70, 80]]))
    assert Suppression(protection=2).apply(held).hidden[0, 1].sum() == 4
    wide = Suppression(protection=10).apply(held)
    assert wide.hidden[0, 1].sum() > 4
    assert least_width(Suppression(), held, wide) >= 10 - 1e-6


@given(
    st.sampled_from([(5,), (3, 4), (2, 3, 3)]),
    st.lists(st.integers(0, 30), min_size=18, max_size=18),
    st.integers(1, 8),
    st.booleans(),
)
@settings(max_examples=25, deadline=None)
def test_nothing_unsafe_follows_from_what_is_shown(
    sizes: tuple[int, ...], counts: list[int], threshold: int, show_zeros: bool
) -> None:
    held = Holdings.of_counts(np.array(counts[: int(np.prod(sizes))]).reshape(sizes))
    rule = Suppression(threshold=threshold, show_zeros=show_zeros)
    published = rule.apply(held)
    assert least_width(rule, held, published) >= threshold - 1e-6
    for margin, mask in published.hidden.items():
        assert np.array_equal(published.figures[margin][~mask], held.margin(margin)[~mask])
        assert (mask | ~rule.find_unsafe(held)[margin]).all()


def test_zeros_are_shown_or_not() -> None:
    held = Holdings.of_counts(np.array([[0, 20], [30, 40]]))
    assert not Suppression().apply(held).hidden[0, 1].any()
    assert Suppression(show_zeros=False).apply(held).hidden[0, 1][0, 0]


def test_dominated_totals_are_hidden(incomes: Holdings) -> None:
    unsafe = Suppression().find_unsafe(incomes)[0, 1]
    assert unsafe.tolist() == [[True, False], [False, False]]
    assert not Suppression(percent=90).find_unsafe(incomes)[0, 1].any()
    assert Suppression(dominant=2, percent=91).find_unsafe(incomes)[0, 1].tolist() == [[True, False], [False, False]]
    published = Suppression().apply(incomes)
    assert published.hidden[0, 1].all()
    low, high = Pattern(incomes, published.hidden).interval(((0, 1), 0))
    assert high - low >= 0.2 * 1120


def test_negative_contributions_have_no_bounds() -> None:
    rows = np.array([(0, -5, 2), (0, 4, 9), (1, 3, 20), (2, 3, 20), (3, -1, 20)])
    held = Holdings.of_contributions((2, 2), rows)
    assert not held.nonnegative
    hidden = {margin: np.zeros(held.layout.shape(margin), dtype=bool) for margin in held.layout.margins}
    hidden[0, 1][:] = True
    assert Pattern(held, hidden).interval(((0, 1), 0)) == (-np.inf, np.inf)


@pytest.mark.parametrize("counts", [[3], [0], [7], [[3]], [0, 0, 0]])
def test_tiny_and_empty_tables(counts: list[int]) -> None:
    held = Holdings.of_counts(np.array(counts))
    published = Suppression().apply(held)
    few = 0 < held.people < 5
    assert published.hidden[held.layout.cells].any() == few
    assert bool(published.hidden[()]) == few


@pytest.mark.parametrize(
    "bad",
    [
        {"threshold": 0},
        {"threshold": -3},
        {"percent": 101},
        {"dominant": 0},
        {"protection": 0},
        {"protection_percent": 0},
        {"seconds": 0},
    ],
)
def test_bad_parameters_are_refused(bad: dict[str, int]) -> None:
    with pytest.raises(ParameterInvalid):
        Suppression(**bad)  # type: ignore[arg-type]


def test_it_says_when_the_audit_stopped(sparse: Holdings) -> None:
    published = Suppression(seconds=1e-9).apply(sparse)
    assert published.parameters["audited"] is False
    assert "The audit stopped" in published.did
