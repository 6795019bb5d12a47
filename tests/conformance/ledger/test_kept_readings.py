"""What is kept between transactions is kept by its bytes: others' events, edits and older heads are met as they are."""

from __future__ import annotations

from collections.abc import Callable
from multiprocessing import get_context
from typing import Any

import pytest

from discreet.errors import BudgetExceeded, LedgerDamaged
from discreet.ledger import Ledger, LedgerConfig, SpendRequest, open_ledger
from tests.conformance.ledger.conftest import request_for

MakeRequest = Callable[..., SpendRequest]


def answer(ledger: Ledger, request: SpendRequest) -> None:
    ledger.commit_answer(ledger.spend(request), b"noisy")


def answer_elsewhere(config: LedgerConfig, name: str) -> None:
    with open_ledger(config) as ledger:
        answer(ledger, request_for(name))


def test_each_of_two_ledgers_meets_what_the_other_wrote(
    ledger: Ledger, reopen: Callable[[], Ledger], make_request: MakeRequest
) -> None:
    both = (ledger, reopen())
    for number in range(10):
        answer(both[number % 2], make_request(f"r{number}"))
        assert [each.standing("cchs").totals.charges for each in both] == [number + 1] * 2
        assert both[0].standing("cchs") == both[1].standing("cchs")
        assert both[0].head() == both[1].head()
    for each in both:  # a budget of 1, in tenths
        with pytest.raises(BudgetExceeded):
            each.spend(make_request("one too many"))
        each.verify()


def test_what_another_process_wrote_is_met(ledger: Ledger, config: LedgerConfig, make_request: MakeRequest) -> None:
    for number in range(2):
        answer(ledger, make_request(f"here {number}"))
        other = get_context("spawn").Process(target=answer_elsewhere, args=(config, f"there {number}"))
        other.start()
        other.join()
        assert other.exitcode == 0
        assert ledger.standing("cchs").totals.charges == 2 * (number + 1)
    ledger.verify()


def test_an_earlier_head_is_no_head_though_its_standing_was_read_before(
    ledger: Ledger, vandal: Any, make_request: MakeRequest
) -> None:
    answer(ledger, make_request("first"))
    ((sequence, digest, standing, mac),) = vandal.query("SELECT sequence, hash, standing, mac FROM head")
    answer(ledger, make_request("second"))
    vandal.run(
        f"UPDATE head SET sequence = {sequence}, hash = '{digest}', standing = '{standing}', mac = '{mac}'",
    )
    for look in (lambda: ledger.standing("cchs"), lambda: ledger.spend(make_request("third"))):
        with pytest.raises(LedgerDamaged):
            look()


def test_a_standing_that_was_read_before_needs_the_mac_of_its_own_head(
    ledger: Ledger, vandal: Any, make_request: MakeRequest
) -> None:
    ((standing,),) = vandal.query("SELECT standing FROM head")
    answer(ledger, make_request("first"))
    vandal.run(f"UPDATE head SET standing = '{standing}'")
    with pytest.raises(LedgerDamaged, match="the key does not vouch for its head"):
        ledger.standing("cchs")


@pytest.mark.parametrize(
    "edit",
    [
        "population = 'others'",
        "kind = 'view'",
        "body = replace(body, 'ada', 'ben')",
        f"hash = '{'0' * 64}'",
    ],
)
def test_the_last_event_is_held_against_its_columns_and_its_hash_each_time(
    ledger: Ledger, vandal: Any, make_request: MakeRequest, edit: str
) -> None:
    answer(ledger, make_request("first"))
    last, _ = ledger.head()
    vandal.run(f"UPDATE events SET {edit} WHERE sequence = {last}")
    with pytest.raises(LedgerDamaged):
        ledger.head()
