"""Laws of the shuffle's account. Blocks are laid out anew for each setting, so laws hold up to half a hundredth."""

from __future__ import annotations

from decimal import Decimal

from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.collect.mixing.amplification import amplified_epsilon, largest_local_epsilon

LOOSE = Decimal("1.005")

locals_ = st.integers(min_value=5, max_value=1_200).map(lambda hundredths: Decimal(hundredths) / 100)
people = st.integers(min_value=1, max_value=10**6)
deltas = st.integers(min_value=3, max_value=9).map(lambda power: Decimal(1).scaleb(-power))
kinds = st.sampled_from([None, 2, 3, 17, 300])


@settings(max_examples=60, deadline=None)
@given(locals_, people, deltas, kinds)
def test_never_above_local_and_monotone(local: Decimal, anonymity: int, delta: Decimal, categories: int | None) -> None:
    def account(local: Decimal, anonymity: int, delta: Decimal) -> Decimal:
        found = amplified_epsilon(local_epsilon=local, anonymity=anonymity, delta=delta, categories=categories)
        assert 0 < found.epsilon <= local
        return found.epsilon

    here = account(local, anonymity, delta)
    slack = Decimal("1e-8")
    assert account(local, anonymity + 1 + anonymity // 5, delta) <= here * LOOSE + slack
    assert account(local, anonymity, delta * 10) <= here * LOOSE + slack
    assert account(local + Decimal("0.1"), anonymity, delta) >= here / LOOSE - slack


@settings(max_examples=40, deadline=None)
@given(st.sampled_from(["0.1", "0.6", "1", "3"]), people, deltas, kinds)
def test_the_inverse_spends_what_it_may(epsilon: str, anonymity: int, delta: Decimal, categories: int | None) -> None:
    local = largest_local_epsilon(epsilon=epsilon, delta=delta, anonymity=anonymity, categories=categories)
    assert local >= Decimal(epsilon)
    if local > Decimal(epsilon):
        spent = amplified_epsilon(local_epsilon=local, anonymity=anonymity, delta=delta, categories=categories)
        assert spent.epsilon <= Decimal(epsilon) + Decimal("2e-9")
