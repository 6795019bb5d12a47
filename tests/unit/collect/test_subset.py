"""Subset selection: sets of the right size, uniform among the others."""

from __future__ import annotations

import math
from collections import Counter
from decimal import Decimal
from itertools import combinations

import numpy as np
import pytest

from discreet.collect.randomisers import subset_selection as subset
from discreet.collect.randomisers.generalised_response import GeneralisedResponse
from discreet.collect.randomisers.subset_selection import SubsetSelection, choose_subset_size, draw_subsets
from discreet.noise import ByteTape, SystemEntropy
from discreet.noise.uniform import uniform_array_below


def test_floyd_draws_every_subset_equally_often() -> None:
    """Each of the 24 ways to draw below 2, 3 and 4, once: every three of four are found six times."""
    ways = [(a, b, c) for a in range(2) for b in range(3) for c in range(4)]
    tape = ByteTape(bytes(byte for column in zip(*ways, strict=True) for byte in column))
    drawn = draw_subsets(tape, below=4, size=3, count=len(ways))
    found = Counter(tuple(sorted(row)) for row in drawn.tolist())
    assert found == dict.fromkeys(combinations(range(4), 3), 6)


@pytest.mark.parametrize("size", [1, 8, 9, 30])
def test_floyd_replaces_what_a_subset_holds_already(size: int) -> None:
    """Subsets of few categories and of many go through different steps to the same sets, in the same order."""
    written = bytes(np.random.default_rng().integers(0, 256, 40_000, dtype=np.uint8))
    drawn, columns = draw_subsets(ByteTape(written), below=40, size=size, count=50), ByteTape(written)
    sets: list[list[int]] = [[] for _ in range(50)]
    for last in range(40 - size, 40):
        for chosen, value in zip(sets, uniform_array_below(columns, last + 1, count=50).tolist(), strict=True):
            chosen.append(last if value in chosen else value)
    assert drawn.tolist() == sets


@pytest.mark.parametrize("epsilon", ["0.1", "0.6", "1", "3", "5.99", "50"])
@pytest.mark.parametrize("categories", [2, 3, 13, 97, 1000])
def test_the_size_is_rounded_and_leaves_some_out(epsilon: str, categories: int) -> None:
    size = choose_subset_size(Decimal(epsilon), categories)
    assert size == max(1, round(categories / (math.exp(float(epsilon)) + 1)))
    assert 1 <= size < categories


def test_reports_are_strictly_rising_categories() -> None:
    made = SubsetSelection(epsilon="0.3", categories=11)
    reports = made.randomise(SystemEntropy(), np.arange(5000) % 11)
    assert reports.shape == (5000, 5)
    assert (np.diff(reports, axis=1) > 0).all()
    assert 0 <= reports.min() <= reports.max() < 11


def test_a_high_epsilon_keeps_the_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subset, "_BLOCK", 50)
    answers = np.arange(200) % 13
    assert (
        SubsetSelection(epsilon=50, categories=13).randomise(SystemEntropy(), answers)[:, 0].tolist()
        == answers.tolist()
    )


@pytest.mark.parametrize("value", [[0, 0, 1], [1, 0, 2], [0, 1], [0, 1, 2, 3], [0, 1, 13], [0, 1, 2.0]])
def test_only_rising_lists_of_the_right_size_are_reports(value: object) -> None:
    made = SubsetSelection(epsilon=1, categories=13)
    assert made.parameters()["subset_size"] == "3"
    assert made.read_reports([value, [0, 1, 2]])[1].tolist() == [False, True]


@pytest.mark.parametrize("epsilon", ["0.1", "0.6", "1", "2", "3", "5.99"])
def test_it_is_never_worse_than_generalised_response(epsilon: str) -> None:
    for categories in range(2, 200):
        simple = GeneralisedResponse(epsilon=epsilon, categories=categories)
        made = SubsetSelection(epsilon=epsilon, categories=categories)
        share = 1 / categories
        assert made.expected_variance(share=share) <= simple.expected_variance(share=share) * (1 + 1e-9)
        if made.subset_size() == 1:
            assert made.channel().p == pytest.approx(simple.channel().p)
            assert made.channel().q == pytest.approx(simple.channel().q)


@pytest.mark.parametrize("size", range(1, 8))
def test_sets_are_put_in_order(size: int) -> None:
    sets = np.random.default_rng(size).permuted(np.tile(np.arange(9), (500, 1)), axis=1)[:, :size].copy()
    wanted = np.sort(sets, axis=1)
    subset._sort_each(sets)
    np.testing.assert_array_equal(sets, wanted)
