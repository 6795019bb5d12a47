"""Several releases together, and groups of people."""

from __future__ import annotations

import pytest

from discreet.errors import ParameterInvalid
from discreet.guarantees import (
    ZCDP,
    ApproxDP,
    BootstrapDP,
    Guarantee,
    LocalDP,
    PureDP,
    ShuffleDP,
    Unproven,
)
from discreet.guarantees.composition import compose, group

SHUFFLED = ShuffleDP(epsilon="0.3", delta="1e-6", local_epsilon=4, anonymity=33_511)


def test_ten_tenths_are_exactly_one() -> None:
    assert compose(*[PureDP(epsilon=0.1)] * 10) == PureDP(epsilon=1)


def test_one_kind_adds_up() -> None:
    assert compose(ZCDP(rho=1, delta="1e-7"), ZCDP(rho="0.5")) == ZCDP(rho="1.5", delta="1e-7")
    assert compose(ApproxDP(epsilon=1, delta="1e-7"), ApproxDP(epsilon=2, delta="1e-7")) == ApproxDP(
        epsilon=3, delta="2e-7"
    )
    assert compose(LocalDP(epsilon=1), LocalDP(epsilon=2)) == LocalDP(epsilon=3)
    assert compose(SHUFFLED, SHUFFLED) == ShuffleDP(epsilon="0.6", delta="2e-6", local_epsilon=8, anonymity=33_511)


def test_shuffled_reports_hide_in_the_smallest_crowd() -> None:
    smaller = ShuffleDP(epsilon="0.5", delta="1e-6", local_epsilon=2, anonymity=770)
    joined = compose(SHUFFLED, smaller)
    assert isinstance(joined, ShuffleDP)
    assert joined.anonymity == 770


def test_a_report_that_promises_nothing_alone_takes_the_local_side_from_all() -> None:
    bare = ShuffleDP(epsilon="0.5", delta="1e-6", local_epsilon=None, anonymity=770)
    for other in (SHUFFLED, LocalDP(epsilon=1), bare):
        joined = compose(bare, other)
        assert isinstance(joined, ShuffleDP)
        assert joined.local_epsilon is None
    grouped = group(bare, 2)
    assert isinstance(grouped, ShuffleDP)
    assert grouped.local_epsilon is None


def test_mixed_kinds_go_to_the_weakest() -> None:
    pure, approximate, concentrated = PureDP(epsilon=1), ApproxDP(epsilon=1, delta="1e-7"), ZCDP(rho=1)
    assert compose(pure, approximate) == ApproxDP(epsilon=2, delta="1e-7")
    assert compose(pure, concentrated) == ZCDP(rho="1.5")
    assert compose(approximate, concentrated) == ZCDP(rho="1.5", delta="1e-7")
    assert compose(LocalDP(epsilon=1), pure) == PureDP(epsilon=2)
    assert compose(SHUFFLED, pure) == ApproxDP(epsilon="1.3", delta="1e-6")
    assert compose(SHUFFLED, LocalDP(epsilon=1)) == ShuffleDP(
        epsilon="1.3", delta="1e-6", local_epsilon=5, anonymity=33_511
    )


@pytest.mark.parametrize("outside", [BootstrapDP(epsilon=1), Unproven("a generated scale")])
def test_one_release_outside_takes_the_whole_outside(outside: Guarantee) -> None:
    joined = compose(PureDP(epsilon=1), outside, ZCDP(rho=1))
    assert isinstance(joined, Unproven)
    assert "not differentially private" in joined.reason
    assert joined.reason.endswith(str(outside).removeprefix("not differentially private: "))


def test_reasons_are_the_same_in_steps_and_at_once() -> None:
    first, second, pure = Unproven("b"), Unproven("a"), PureDP(epsilon=1)
    assert compose(compose(first, pure), second) == compose(first, pure, second) == compose(second, first)


def test_nothing_composes_to_nothing() -> None:
    with pytest.raises(ParameterInvalid, match="at least one"):
        compose()


def test_deltas_that_reach_one_are_refused() -> None:
    half = ApproxDP(epsilon=1, delta="0.5")
    with pytest.raises(ParameterInvalid, match="below 1"):
        compose(half, half)


def test_groups_of_each_kind() -> None:
    assert group(PureDP(epsilon="0.1"), 4) == PureDP(epsilon="0.4")
    assert group(LocalDP(epsilon="0.1"), 4) == LocalDP(epsilon="0.4")
    assert group(ZCDP(rho="0.1"), 4) == ZCDP(rho="1.6")
    assert group(ApproxDP(epsilon=1, delta=0), 4) == ApproxDP(epsilon=4, delta=0)
    # 1e-6·(1 + e + e²) = 1.1107337927e-5, rounded up to the grid.
    assert group(ApproxDP(epsilon=1, delta="1e-6"), 3) == ApproxDP(epsilon=3, delta="0.000011108")
    assert group(SHUFFLED, 2) == ShuffleDP(epsilon="0.6", delta="0.00000235", local_epsilon=8, anonymity=33_511)
    assert isinstance(group(BootstrapDP(epsilon=1), 2), Unproven)
    assert group(Unproven("why"), 2) == Unproven("why")


@pytest.mark.parametrize("size", [0, -1, True, 1.5, pytest.param(10**5000, id="huge")])
def test_a_group_has_a_sensible_size(size: int) -> None:
    with pytest.raises(ParameterInvalid, match="size"):
        group(PureDP(epsilon=1), size)


def test_groups_without_a_bound_are_refused() -> None:
    with pytest.raises(ParameterInvalid, match="below 1"):
        group(ApproxDP(epsilon=1, delta="1e-6"), 15)
    with pytest.raises(ParameterInvalid, match="below 1"):
        group(ApproxDP(epsilon=1, delta="1e-9"), 10**5)
    with pytest.raises(ParameterInvalid, match="approximate DP first"):
        group(ZCDP(rho=1, delta="1e-6"), 2)
