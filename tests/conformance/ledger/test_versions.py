"""Versions are the ledger's to give out: each number once, whoever asks, and no charge for one that was not given."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from discreet.errors import PopulationConflict, QueryRefused
from discreet.guarantees.budget import PopulationTerms
from discreet.guarantees.types import Unproven
from discreet.ledger import Ledger, SpendRequest
from discreet.ledger.events import EventKind

Terms = Callable[..., PopulationTerms]
Request = Callable[..., SpendRequest]


def give(ledger: Ledger, *, above: int, dataset: str = "survey") -> int:
    return ledger.give_version("cchs", dataset, above=above, who="custodian")


def test_a_number_is_given_once(ledger: Ledger) -> None:
    assert [give(ledger, above=1), give(ledger, above=1), give(ledger, above=0)] == [2, 3, 4]
    assert [give(ledger, above=9), give(ledger, above=1)] == [10, 11]
    assert give(ledger, above=0, dataset="visits") == 1
    ledger.verify()


def test_those_who_ask_together_get_different_numbers(reopen: Callable[[], Ledger], ledger: Ledger) -> None:
    offices = [ledger, reopen(), reopen()]
    with ThreadPoolExecutor(len(offices)) as pool:
        given = list(pool.map(lambda place: give(offices[place % len(offices)], above=1), range(12)))
    assert sorted(given) == list(range(2, 14))
    assert ledger.verify().events == ledger.head()[0]


def test_nothing_is_charged_for_a_version_that_was_not_given(ledger: Ledger, make_request: Request) -> None:
    head = ledger.head()
    asked = make_request("r1", version=2)
    for attempt in (ledger.spend, lambda request: ledger.hold(request, who="rita")):
        with pytest.raises(QueryRefused, match="has not given out version 2 of 'survey': its newest is 1"):
            attempt(asked)
    with pytest.raises(QueryRefused, match="has not given out"):
        ledger.mark("cchs", guarantee=Unproven("x"), analyst="ada", plan_hash="c" * 64, dataset="survey", version=2)
    assert ledger.head() == head
    assert give(ledger, above=1) == 2
    ledger.spend(asked)
    ledger.spend(make_request("r2", version=1))  # a copy of the folder that was not added to still answers


def test_a_dataset_that_cannot_move_costs_no_number(ledger: Ledger, make_terms: Terms) -> None:
    ledger.register(make_terms(population="other"))
    head = ledger.head()
    with pytest.raises(PopulationConflict, match="belongs to population 'cchs'"):
        ledger.give_version("other", "survey", above=1, who="custodian")
    assert ledger.head() == head


def test_numbers_that_copies_once_counted_for_themselves_are_not_given_again(
    ledger: Ledger, make_request: Request
) -> None:
    for version in (2, 3, 2):  # as earlier releases wrote them, from two copies of a folder
        with ledger._writing() as book:
            payload = {"dataset": "survey", "version": version}
            book.append(EventKind.DATASET, who="custodian", population="cchs", payload=payload)
    ledger.spend(make_request("r1", version=3))
    with pytest.raises(QueryRefused, match="its newest is 3"):
        ledger.spend(make_request("r2", version=4))
    assert give(ledger, above=2) == 4
    ledger.verify()
