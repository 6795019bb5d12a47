"""Accounts: charged while there is room, then left out without a word."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.linkage.accounts import Accounts


def test_a_unit_is_counted_as_often_as_its_account_holds() -> None:
    accounts = Accounts(3, cap=415)
    counted = [bool(accounts.charge(np.array([1]), 10)[0]) for _ in range(50)]
    assert counted == [True] * 41 + [False] * 9
    assert accounts.counters.tolist() == [0, 410, 0]


def test_what_has_no_room_for_a_large_charge_may_have_some_for_a_small_one() -> None:
    accounts = Accounts(1, cap=415)
    for _ in range(41):
        accounts.charge(np.array([0]), 10)
    assert not accounts.charge(np.array([0]), 10)[0]
    assert accounts.charge(np.array([0]), 5)[0]


def test_members_pay_together_and_one_is_not_counted_alone() -> None:
    accounts = Accounts(2, cap=40)
    counted = [accounts.charge(np.array([0, 1]), 10, members=np.array([3, 1])).tolist() for _ in range(2)]
    assert counted == [[True, True], [False, True]]
    assert accounts.counters.tolist() == [30, 20]


def test_a_charge_beyond_what_a_counter_holds_is_no_charge_that_wraps() -> None:
    accounts = Accounts(1, cap=65_535)
    assert accounts.charge(np.array([0]), 65_000)[0]
    assert not accounts.charge(np.array([0]), 536, members=np.array([2**40]))[0]
    assert accounts.charge(np.array([0]), 535)[0]
    assert accounts.counters.tolist() == [65_535]


@pytest.mark.parametrize(
    ("units", "charge", "members"), [([0, 0], 1, None), ([0], 0, None), ([0], 1, [0]), ([0], 1, [1, 1])]
)
def test_a_sample_names_a_unit_once_and_charges_something(
    units: list[int], charge: int, members: list[int] | None
) -> None:
    accounts = Accounts(2, cap=10)
    with pytest.raises(ValueError, match=r"unit|charge"):
        accounts.charge(np.array(units), charge, members=None if members is None else np.array(members))
    assert accounts.counters.tolist() == [0, 0]


def test_counters_are_not_changed_from_outside() -> None:
    accounts = Accounts(1, cap=10)
    with pytest.raises(ValueError, match="read-only"):
        accounts.counters[0] = 9
    assert accounts.counters.tolist() == [0]


@pytest.mark.parametrize("cap", [0, 65_536])
def test_an_account_fits_its_counter(cap: int) -> None:
    with pytest.raises(ValueError, match="65,535"):
        Accounts(1, cap=cap)
