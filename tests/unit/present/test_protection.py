"""What a release promises, in words for readers of statistics: whom it protects, against what, how strongly."""

from __future__ import annotations

from dataclasses import replace

import pytest

from discreet.guarantees.types import (
    ZCDP,
    ApproxDP,
    BootstrapDP,
    Guarantee,
    LocalDP,
    Neighbours,
    PureDP,
    ShuffleDP,
    Unit,
)
from discreet.present.protection import tell_protected, tell_protection, tell_strength
from discreet.present.table_words import small_print
from discreet.results import Release


def promise(release: Release, guarantee: Guarantee) -> Release:
    return replace(release, claim=replace(release.claim, guarantee=guarantee))


@pytest.mark.parametrize(
    ("column", "who"),
    [
        ("person_id", "person"),
        ("household", "household"),
        ("pid", "unit"),
        ("person_household", "unit"),
        ("id", "unit"),
    ],
)
def test_the_unit_is_named_only_where_its_column_says_it_plainly(counted: Release, column: str, who: str) -> None:
    table = replace(counted, claim=replace(counted.claim, unit=Unit(column, 3)))
    assert tell_protection(table, "en").startswith(f"Protects each {who}: ")
    assert tell_protected(table, "en") == f"each {who}, of whose rows at most 3 count"
    assert column not in tell_protection(table, "fr").split()


def test_neighbours_are_told_without_their_name(counted: Release) -> None:
    assert "whether or not any one person had taken part" in tell_protection(counted, "en")
    replaced = replace(counted, claim=replace(counted.claim, neighbours=Neighbours.REPLACE_ONE))
    assert "if the data of any one person were different" in tell_protection(replaced, "en")


@pytest.mark.parametrize(
    ("guarantee", "said"),
    [
        (PureDP(epsilon=1), "epsilon = 1: no result is more than 2.72 times as likely"),
        (PureDP(epsilon=10), "more than 22,100 times as likely"),
        (PureDP(epsilon=25), "epsilon = 25"),
        (LocalDP(epsilon=2), "more than 7.39 times as likely"),
        (ApproxDP(epsilon=1, delta="1e-6"), "at most 1 in 1,000,000 that the protection is weaker"),
        (ApproxDP(epsilon=1, delta="3e-6"), "at most 1 in 333,333 that the protection is weaker"),
        (ShuffleDP(epsilon=1, delta="1e-6", local_epsilon=4, anonymity=1000), "at most 1 in 1,000,000"),
        (ZCDP(rho="0.1"), "rho = 0.1, that is epsilon = "),
        (ZCDP(rho="0.1", delta="0.001"), "rho = 0.1; there is a chance of at most 1 in 1,000 that"),
    ],
)
def test_strength_is_told_in_numbers_that_are_never_too_small(
    counted: Release, guarantee: Guarantee, said: str
) -> None:
    table = promise(counted, guarantee)
    assert said in tell_strength(table, "en")
    assert "likely" not in tell_strength(table, "fr")


def test_who_answered_in_clear_is_not_protected(counted: Release) -> None:
    table = promise(counted, LocalDP(epsilon=2))
    clear = replace(table, claim=replace(table.claim, in_clear=1200))
    assert "It does not protect the 1,200 respondents who answered in clear." in tell_protection(clear, "en")


def test_what_is_not_private_promises_nothing(counted: Release) -> None:
    table = promise(counted, BootstrapDP(epsilon=1))
    assert tell_protection(table, "en") == ""
    assert tell_strength(table, "en") == ""
    assert small_print(table, "en").startswith("Not differentially private: ")
