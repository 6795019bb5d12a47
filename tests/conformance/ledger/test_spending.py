"""Charging, refusing, retrying and replaying: the same on every store."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from discreet.errors import (
    BudgetExceeded,
    ChargedNotAnswered,
    DatasetSuspended,
    PopulationConflict,
    QueryRefused,
    RequestConflict,
    UnknownName,
)
from discreet.guarantees.budget import PopulationTerms
from discreet.guarantees.types import ZCDP, ApproxDP, BootstrapDP, LocalDP, Neighbours, PureDP, Unproven
from discreet.ledger import Ledger, SpendRequest, StoredAnswer

Terms = Callable[..., PopulationTerms]
Request = Callable[..., SpendRequest]
WHERE = {"population": "cchs", "dataset": "survey", "version": 1, "plan_hash": "a" * 64}


def find(ledger: Ledger, **more: object) -> StoredAnswer | None:
    return ledger.find_answer(**{**WHERE, **more})  # type: ignore[arg-type]


def test_ten_charges_of_a_tenth_spend_exactly_one(ledger: Ledger, make_request: Request) -> None:
    for number in range(10):
        ledger.spend(make_request(f"r{number}"))
    assert ledger.state("cchs").population.epsilon_spent == Decimal(1)
    assert ledger.state("cchs").population.epsilon_remaining == 0
    with pytest.raises(BudgetExceeded, match=r"this costs epsilon 0\.000000001; epsilon 0 remains for population"):
        ledger.spend(make_request("r10", epsilon="1e-9"))


def test_a_refusal_changes_nothing(
    ledger: Ledger, make_request: Request, vandal: object, reopen: Callable[[], Ledger]
) -> None:
    ledger.spend(make_request("r1", epsilon="0.9"))
    query = vandal.query  # type: ignore[attr-defined]
    before = query("SELECT * FROM head"), query("SELECT * FROM events ORDER BY sequence")
    for request in (
        make_request("r2", epsilon="0.2"),
        make_request("r2", analyst="nobody"),
        make_request("r2", population="other"),
        make_request("r2", dataset="other"),
        make_request("r2", guarantee=ZCDP(rho="0.001")),
        make_request("r1", epsilon="0.05"),
    ):
        with pytest.raises((BudgetExceeded, UnknownName, QueryRefused, RequestConflict)):
            ledger.spend(request)
    assert (query("SELECT * FROM head"), query("SELECT * FROM events ORDER BY sequence")) == before
    assert reopen().spend(make_request("r2", epsilon="0.1")).population_after.epsilon_remaining == 0


def test_a_receipt_shows_the_exact_charge(ledger: Ledger, make_request: Request) -> None:
    ledger.spend(make_request("r1", epsilon="0.3"))
    receipt = ledger.spend(make_request("r2", epsilon="0.1", analyst="ben"))
    assert receipt.charge == PureDP(epsilon="0.1")
    assert not receipt.replayed
    assert receipt.population_before.epsilon_remaining == Decimal("0.7")
    assert receipt.population_after.epsilon_remaining == Decimal("0.6")
    assert receipt.analyst_after.epsilon_spent == Decimal("0.1")
    assert ledger.head() == (receipt.sequence, receipt.event_hash)


def test_a_retry_meets_its_own_charge(ledger: Ledger, make_request: Request, reopen: Callable[[], Ledger]) -> None:
    first = ledger.spend(make_request("r1", epsilon="0.4"))
    ledger.spend(make_request("r2", epsilon="0.4"))
    again = reopen().spend(make_request("r1", epsilon="0.4"))
    assert again == replace(first, replayed=True)
    assert again.population_after == first.population_after
    assert ledger.state("cchs").population.epsilon_spent == Decimal("0.8")


def test_the_first_committed_answer_is_the_only_one(
    ledger: Ledger, make_request: Request, reopen: Callable[[], Ledger]
) -> None:
    first, second = ledger.spend(make_request("r1")), reopen().spend(make_request("r1"))
    assert second.answer is None
    assert ledger.commit_answer(first, b"one draw") == b"one draw"
    assert reopen().commit_answer(second, b"another draw") == b"one draw"
    assert ledger.spend(make_request("r1")).answer == b"one draw"
    assert ledger.verify().answers == 1


@pytest.mark.parametrize("other", [{"plan": "b"}, {"version": 2}, {"epsilon": "0.2"}])
def test_a_request_id_stands_for_one_question(ledger: Ledger, make_request: Request, other: dict[str, object]) -> None:
    ledger.spend(make_request("r1"))
    with pytest.raises(RequestConflict, match="Request id 'r1' already stands for another question"):
        ledger.spend(make_request("r1", **other))
    ledger.give_version("cchs", "survey", above=1, who="custodian")
    assert not ledger.spend(make_request("r1", analyst="ben", **other)).replayed


def test_an_analysts_cap_rations(ledger: Ledger, make_request: Request, make_terms: Terms) -> None:
    ledger.change(make_terms(epsilon="1", per_analyst="0.5"), who="custodian")
    ledger.spend(make_request("r1", epsilon="0.5"))
    with pytest.raises(BudgetExceeded, match=r"epsilon 0 remains for analyst 'ada'"):
        ledger.spend(make_request("r2", epsilon="0.1"))
    ledger.spend(make_request("r2", epsilon="0.5", analyst="ben"))
    assert ledger.state("cchs").population.epsilon_remaining == 0


def test_a_pure_budget_takes_pure_charges_only(ledger: Ledger, make_request: Request) -> None:
    for guarantee in (ZCDP(rho="0.001"), ApproxDP(epsilon="0.1", delta="1e-9")):
        with pytest.raises(QueryRefused, match="has a pure budget and takes pure charges only"):
            ledger.spend(make_request(guarantee=guarantee))


def test_what_is_not_central_dp_cannot_be_spent(make_request: Request) -> None:
    for guarantee in (LocalDP(epsilon=1), BootstrapDP(epsilon=1), Unproven("no proof")):
        with pytest.raises(QueryRefused, match="leaves a marker instead"):
            make_request(guarantee=guarantee)


def test_an_approximate_budget_takes_both_routes(ledger: Ledger, make_request: Request, make_terms: Terms) -> None:
    for population in ("pure", "mixed"):
        ledger.register(make_terms(population=population, epsilon="3", delta="1e-6"))
        ledger.give_version(population, population, above=0, who="custodian")
    pure = {"population": "pure", "dataset": "pure"}
    for number in range(3):
        receipt = ledger.spend(make_request(f"p{number}", epsilon="1", **pure))
    assert receipt.population_after.epsilon_spent == 3
    with pytest.raises(BudgetExceeded):
        ledger.spend(make_request("p3", epsilon="1e-9", **pure))
    with pytest.raises(BudgetExceeded, match=r"this costs rho 0\.01; rho 0 and delta 0\.0000005 remains"):
        ledger.spend(make_request("p3", guarantee=ZCDP(rho="0.01"), **pure))
    mixed = {"population": "mixed", "dataset": "mixed"}
    ledger.spend(make_request("m1", guarantee=ZCDP(rho="0.1"), **mixed))
    ledger.spend(make_request("m2", guarantee=ApproxDP(epsilon="0.1", delta="5e-7"), **mixed))
    ledger.spend(make_request("m3", epsilon="0.1", **mixed))
    with pytest.raises(BudgetExceeded):
        ledger.spend(make_request("m4", guarantee=ApproxDP(epsilon="1e-9", delta="1e-9"), **mixed))
    with pytest.raises(BudgetExceeded):
        ledger.spend(make_request("m4", epsilon="1", **mixed))
    state = ledger.state("mixed").population
    assert state.rho_spent == Decimal("0.11")
    assert state.delta_spent == Decimal("5e-7")
    assert 2 < state.epsilon_spent < 3
    assert ledger.verify().charges == 6


def test_a_stored_answer_is_found_by_plan_and_version(ledger: Ledger, make_request: Request) -> None:
    assert find(ledger) is None
    coarse = ledger.spend(make_request("r1", epsilon="0.1"))
    assert find(ledger) is None
    ledger.commit_answer(coarse, b"coarse")
    ledger.commit_answer(ledger.spend(make_request("r2", epsilon="0.3")), b"fine")
    best = find(ledger)
    assert best is not None
    assert best.answer == b"fine"
    for wanted, answer in (("0.1", b"coarse"), ("0.2", b"fine")):
        found = find(ledger, at_least=PureDP(epsilon=wanted), analyst="ben")
        assert found is not None
        assert found.answer == answer
    assert find(ledger, at_least=PureDP(epsilon="0.31")) is None
    assert find(ledger, at_least=ZCDP(rho="0.001")) is None
    for other in ({"version": 2}, {"plan_hash": "b" * 64}, {"dataset": "other"}, {"population": "other"}):
        assert find(ledger, **other) is None


def test_an_answer_of_a_smaller_delta_does_not_stand_for_a_larger_one(
    ledger: Ledger, make_request: Request, make_terms: Terms
) -> None:
    """A smaller delta hides more keys: whoever pays for a larger one shall see what it shows."""
    ledger.register(make_terms(population="open", delta="1e-6"))
    ledger.give_version("open", "open", above=0, who="custodian")
    charge = ApproxDP(epsilon="0.1", delta="2e-8")
    receipt = ledger.spend(make_request(population="open", dataset="open", guarantee=charge))
    ledger.commit_answer(receipt, b"noisy")
    for delta, found in (("1e-8", True), ("2e-8", True), ("3e-8", False)):
        asked = ApproxDP(epsilon="0.1", delta=delta)
        assert (find(ledger, population="open", dataset="open", at_least=asked) is not None) is found


def test_a_replay_is_free_for_the_payer_and_debits_another(
    ledger: Ledger, make_request: Request, make_terms: Terms
) -> None:
    ledger.change(make_terms(epsilon="1", per_analyst="0.4"), who="custodian")
    ledger.commit_answer(ledger.spend(make_request("r1", epsilon="0.3")), b"noisy")
    stored = find(ledger)
    assert stored is not None
    own = ledger.replay(stored, analyst="ada", request_id="again")
    assert (own.answer, own.analyst_after.epsilon_spent, own.debited_analyst) == (b"noisy", Decimal("0.3"), False)
    other = ledger.replay(stored, analyst="ben", request_id="mine")
    assert (other.answer, other.analyst_after.epsilon_spent) == (b"noisy", Decimal("0.3"))
    assert ledger.replay(stored, analyst="ben", request_id="once more").answer == b"noisy"
    head = ledger.head()
    for request_id in ("mine", "once more"):
        assert ledger.replay(stored, analyst="ben", request_id=request_id).answer == b"noisy"
    assert ledger.spend(make_request("mine", epsilon="0.3", analyst="ben")).answer == b"noisy"
    assert ledger.head() == head
    state = ledger.state("cchs")
    assert state.population.epsilon_spent == Decimal("0.3")
    assert state.analysts["ben"].epsilon_spent == Decimal("0.3")
    assert ledger.verify().charges == 1


def test_a_replay_keeps_to_the_analysts_cap_and_request(
    ledger: Ledger, make_request: Request, make_terms: Terms
) -> None:
    ledger.commit_answer(ledger.spend(make_request("r1", epsilon="0.3")), b"noisy")
    ledger.spend(make_request("b1", epsilon="0.1", analyst="ben", plan="b"))
    stored = find(ledger)
    assert stored is not None
    with pytest.raises(RequestConflict):
        ledger.replay(stored, analyst="ben", request_id="b1")
    with pytest.raises(UnknownName):
        ledger.replay(stored, analyst="eve", request_id="e1")
    ledger.change(make_terms(epsilon="1", per_analyst="0.3"), who="custodian")
    with pytest.raises(BudgetExceeded, match="remains for analyst 'ben'"):
        ledger.replay(stored, analyst="ben", request_id="b2")


def test_a_suspended_dataset_takes_no_charge(ledger: Ledger, make_request: Request) -> None:
    open_charge = make_request("r1")
    ledger.spend(open_charge)
    ledger.commit_answer(ledger.spend(make_request("r2")), b"noisy")
    ledger.suspend("survey", population="cchs", reason="the engine failed", who="ada")
    assert ledger.suspended("survey")
    with pytest.raises(DatasetSuspended):
        ledger.spend(make_request("r3"))
    with pytest.raises(ChargedNotAnswered, match="suspended"):  # its charge stands, whatever else is so
        ledger.spend(open_charge)
    assert ledger.spend(make_request("r2")).answer == b"noisy"
    ledger.resume("survey", who="custodian")
    assert not ledger.suspended("survey")
    assert ledger.spend(open_charge).replayed


def test_a_marker_stays(ledger: Ledger, make_request: Request, reopen: Callable[[], Ledger]) -> None:
    where = {"analyst": "ada", "plan_hash": "c" * 64, "dataset": "survey", "version": 1}
    with pytest.raises(QueryRefused, match="Spend it instead"):
        ledger.mark("cchs", guarantee=PureDP(epsilon=1), **where)  # type: ignore[arg-type]
    assert ledger.state("cchs").bounds_everything
    assert ledger.warnings("cchs") == ()
    number = ledger.mark("cchs", guarantee=Unproven("local sensitivity"), **where)  # type: ignore[arg-type]
    state = reopen().state("cchs")
    assert [marker.sequence for marker in state.markers] == [number]
    assert ledger.warnings("cchs") == state.warnings() != ()
    assert not state.bounds_everything
    assert [marker.guarantee for marker in state.markers] == [{"type": "Unproven", "reason": "local sensitivity"}]
    assert state.population.epsilon_spent == 0
    assert state.to_dict()["bounds_everything"] is False


def test_terms_are_fixed_by_the_first_card(ledger: Ledger, make_terms: Terms) -> None:
    head = ledger.head()
    ledger.register(make_terms())
    assert ledger.head() == head
    with pytest.raises(PopulationConflict, match="epsilon is 1, the card says 2; per_analyst is 1, the card says 2"):
        ledger.register(make_terms(epsilon="2"))
    ledger.change(make_terms(epsilon="2"), who="custodian")
    ledger.register(make_terms(epsilon="2"))
    assert ledger.terms("cchs") == make_terms(epsilon="2")
    assert ledger.populations() == ("cchs",)
    with pytest.raises(UnknownName, match="Did you mean 'cchs'"):
        ledger.terms("cchz")


@pytest.mark.parametrize("other", [{"neighbours": Neighbours.REPLACE_ONE}, {"unit_column": "household"}])
def test_whom_charges_protect_cannot_change_under_them(
    ledger: Ledger, make_request: Request, make_terms: Terms, other: dict[str, Any]
) -> None:
    changed = replace(make_terms(), **other)
    for terms in (changed, make_terms()):
        ledger.change(terms, who="custodian")
        assert ledger.terms("cchs") == terms
    ledger.spend(make_request())
    with pytest.raises(PopulationConflict, match="has been charged for"):
        ledger.change(changed, who="custodian")
    assert ledger.terms("cchs") == make_terms()


def test_a_dataset_is_charged_to_its_own_population(ledger: Ledger, make_request: Request, make_terms: Terms) -> None:
    ledger.register(make_terms(population="richer", epsilon="9"))
    with pytest.raises(UnknownName, match="dataset 'survey' is not in population 'richer'"):
        ledger.spend(make_request(population="richer"))
    assert ledger.state("richer").charges == 0


def test_a_new_version_shares_the_budget(ledger: Ledger, make_request: Request, make_terms: Terms) -> None:
    ledger.spend(make_request("r1", epsilon="0.6"))
    ledger.give_version("cchs", "survey", above=1, who="custodian")
    with pytest.raises(BudgetExceeded):
        ledger.spend(make_request("r2", epsilon="0.6", version=2))
    ledger.register(make_terms(population="other"))
    with pytest.raises(PopulationConflict, match="belongs to population 'cchs'"):
        ledger.give_version("other", "survey", above=2, who="custodian")


def test_a_lowered_budget_forgets_nothing(ledger: Ledger, make_request: Request, make_terms: Terms) -> None:
    ledger.spend(make_request("r1", epsilon="0.6"))
    ledger.change(make_terms(epsilon="0.5"), who="custodian")
    state = ledger.state("cchs").population
    assert (state.epsilon_spent, state.epsilon_remaining) == (Decimal("0.6"), Decimal(0))
    with pytest.raises(BudgetExceeded):
        ledger.spend(make_request("r2", epsilon="1e-9"))
    assert ledger.verify().charges == 1


def test_views_and_analysts_are_on_the_record(ledger: Ledger) -> None:
    ledger.record_view("ingest report of 'survey'", who="custodian")
    head = ledger.head()
    ledger.add_analyst("ada", who="custodian")
    assert ledger.head() == head
    assert ledger.analysts() == ("ada", "ben")
    assert ledger.verify().events == head[0]


def test_names_in_any_script_survive(ledger: Ledger, make_request: Request, make_terms: Terms) -> None:
    ledger.add_analyst("Zoé O'Ñeil — 統計", who="custodian")
    receipt = ledger.spend(make_request("demande n° 1 ?", analyst="Zoé O'Ñeil — 統計"))
    assert ledger.commit_answer(receipt, bytes(range(256))) == bytes(range(256))
    assert ledger.spend(make_request("demande n° 1 ?", analyst="Zoé O'Ñeil — 統計")).answer == bytes(range(256))
    ledger.verify()
