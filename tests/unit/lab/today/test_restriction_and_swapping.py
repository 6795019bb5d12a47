"""Set-size restriction refuses what it says; trackers undo it. Swapping keeps the margins it should."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.errors import ParameterInvalid
from discreet.lab.today.holdings import Holdings
from discreet.lab.today.restriction import QueryService, SetSizeRestriction, track
from discreet.lab.today.swapping import RecordSwapping


def test_small_and_large_sets_are_refused(sparse: Holdings) -> None:
    published = SetSizeRestriction(least=5).apply(sparse)
    assert published.hidden[0, 1].sum() == 2
    assert published.values(()) is None
    assert published.values((0,)) == [162, 406, 26, 126]


def test_trackers_find_what_is_refused(sparse: Holdings) -> None:
    service = QueryService(sparse, 5)
    for cell in np.ndindex(sparse.layout.sizes):
        asked = np.zeros(sparse.layout.sizes, dtype=bool)
        asked[cell] = True
        assert track(service, asked) == sparse.counts[cell]
        assert (service.ask(asked) is None) == bool(sparse.counts[cell] < 5)
    assert service.ask(np.ones(sparse.layout.sizes, dtype=bool)) is None


def test_there_may_be_no_tracker() -> None:
    held = Holdings.of_counts(np.array([3, 4]))
    assert track(QueryService(held, 5), np.array([True, False])) is None


def test_swapping_keeps_its_margins() -> None:
    held = Holdings.of_counts(np.random.default_rng().integers(20, 90, (4, 2, 3)))
    published = RecordSwapping(share=0.5).apply(held)
    for margin, figures in published.figures.items():
        kept = not {0, 2} <= set(margin)
        assert np.array_equal(figures, held.margin(margin)) == kept
    assert all(published.reach[margin] == 0 for margin in published.figures if 0 not in margin)


def test_totals_move_with_their_people() -> None:
    rng = np.random.default_rng()
    rows = np.column_stack([np.repeat(np.arange(6), 40), rng.integers(1, 1000, 240), np.ones(240, dtype=int)])
    held = Holdings.of_contributions((2, 3), rows)
    swapping = RecordSwapping(share=0.5)
    swap = swapping.swap(held)
    figures = swapping.retabulate(held, swap)
    assert not np.array_equal(figures, held.figures)
    assert np.array_equal(figures.sum(axis=0), held.figures.sum(axis=0))
    counts = held.counts.ravel().copy()
    np.subtract.at(counts, held.rows()[0][swap.rows], 1)
    np.add.at(counts, swap.after, 1)
    assert np.array_equal(counts, held.counts.ravel())


def test_nobody_is_drawn_twice_and_partners_trade() -> None:
    held = Holdings.of_counts(np.full((3, 4), 50))
    swap = RecordSwapping(share=0.2).swap(held)
    assert len(set(swap.people.tolist())) == 120
    moved = held.rows()[0][swap.rows] != swap.after
    assert moved.sum() >= 80


def test_share_of_nothing_and_of_all(sparse: Holdings) -> None:
    assert RecordSwapping(share=0).apply(sparse).values((0, 1)) == sparse.counts.tolist()
    assert RecordSwapping(share=1).apply(sparse).values((0,)) == sparse.margin((0,)).tolist()
    one = RecordSwapping(share=1).apply(Holdings.of_counts(np.array([4, 9])))
    assert one.values((0,)) == [4, 9]
    assert "every count stays" in one.did
    assert RecordSwapping().apply(Holdings.of_counts(np.zeros((2, 2), dtype=int))).values(()) == 0


def test_bad_parameters_are_refused(sparse: Holdings) -> None:
    for share in (-0.1, 1.1, float("nan")):
        with pytest.raises(ParameterInvalid, match="share"):
            RecordSwapping(share=share)
    with pytest.raises(ParameterInvalid, match="exchanged"):
        RecordSwapping(exchanged=2).apply(sparse)
    with pytest.raises(ParameterInvalid, match="matched"):
        RecordSwapping(matched=(0,)).apply(sparse)
    for least in (0, -1):
        with pytest.raises(ParameterInvalid, match="least"):
            SetSizeRestriction(least=least)
