"""Budget set aside for an approved request: counted like a charge, given back or used once; the same on every store."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from discreet.errors import (
    BudgetExceeded,
    DatasetSuspended,
    LedgerDamaged,
    ParameterInvalid,
    PopulationConflict,
    QueryRefused,
    Refused,
    RequestConflict,
    UnknownName,
)
from discreet.guarantees.budget import PopulationTerms
from discreet.guarantees.types import ZCDP, Neighbours
from discreet.ledger import Ledger, SpendRequest
from discreet.ledger.events import EventKind
from discreet.ledger.receipts import charge_payload
from discreet.ledger.standing import PopulationStanding, Standing, encode_totals

Terms = Callable[..., PopulationTerms]
Request = Callable[..., SpendRequest]
LATER = datetime.now(UTC) + timedelta(days=1)


def remaining(ledger: Ledger, analyst: str | None = None) -> Decimal:
    state = ledger.state("cchs")
    return (state.population if analyst is None else state.analysts[analyst]).epsilon_remaining


def test_what_is_held_is_not_spent_and_does_not_remain(ledger: Ledger, make_request: Request) -> None:
    ledger.spend(make_request("r1", epsilon="0.1"))
    hold = ledger.hold(make_request("r2", epsilon="0.7"), who="rita", expires=LATER)
    state = ledger.state("cchs")
    assert state.holds == (hold,)
    assert (state.charges, state.population.epsilon_spent) == (1, Decimal("0.1"))
    assert remaining(ledger) == remaining(ledger, "ada") == Decimal("0.2")
    told: Any = state.to_dict()["holds"]
    [shown] = told
    assert (shown["hold"], shown["analyst"], shown["request_id"]) == (hold.sequence, "ada", "r2")
    with pytest.raises(BudgetExceeded, match=r"epsilon 0\.2 remains for population 'cchs'"):
        ledger.spend(make_request("r3", epsilon="0.3", analyst="ben"))
    with pytest.raises(BudgetExceeded):
        ledger.hold(make_request("r3", epsilon="0.3", analyst="ben"), who="rita")
    after = ledger.spend(make_request("r3", epsilon="0.2", analyst="ben")).population_after
    assert (after.epsilon_spent, after.epsilon_remaining) == (Decimal("0.3"), Decimal(0))
    ledger.verify()


def test_it_says_whose_cap_is_held(ledger: Ledger, make_request: Request, make_terms: Terms) -> None:
    ledger.change(make_terms(per_analyst="0.5"), who="custodian")
    ledger.hold(make_request("r1", epsilon="0.4"), who="rita")
    with pytest.raises(BudgetExceeded, match=r"epsilon 0\.1 remains for analyst 'ada'"):
        ledger.spend(make_request("r2", epsilon="0.2"))
    ledger.spend(make_request("r2", epsilon="0.5", analyst="ben"))


def test_running_turns_a_hold_into_its_charge(
    ledger: Ledger, make_request: Request, reopen: Callable[[], Ledger]
) -> None:
    ledger.spend(make_request("r1", epsilon="0.2", analyst="ben"))
    hold = ledger.hold(make_request("r2", epsilon="0.8"), who="rita")
    events, _ = ledger.head()
    receipt = reopen().spend(make_request("r2", epsilon="0.8"), who="carl")
    assert ledger.head()[0] == events + 1
    assert (receipt.population_before.epsilon_remaining, receipt.population_after.epsilon_remaining) == (
        Decimal("0.8"),
        Decimal(0),
    )
    assert ledger.state("cchs").holds == ()
    again = ledger.spend(make_request("r2", epsilon="0.8"))
    assert again == replace(receipt, replayed=True)
    with pytest.raises(Refused, match=f"Hold {hold.sequence} is not open"):
        ledger.release_hold(hold.sequence, who="rita")
    with pytest.raises(RequestConflict):
        ledger.hold(make_request("r2", epsilon="0.8"), who="rita")
    ledger.verify()


def test_receipts_count_what_is_held_for_others(ledger: Ledger, make_request: Request) -> None:
    ledger.hold(make_request("r1", epsilon="0.5", analyst="ben"), who="rita")
    first = ledger.spend(make_request("r2", epsilon="0.1"))
    assert first.population_after.epsilon_remaining == Decimal("0.4")
    assert first.analyst_after.epsilon_remaining == Decimal("0.9")
    ledger.release_hold(ledger.state("cchs").holds[0].sequence, who="rita")
    assert ledger.spend(make_request("r2", epsilon="0.1")).population_after == first.population_after
    ledger.verify()


@pytest.mark.parametrize("other", [{"plan": "b"}, {"version": 2}, {"epsilon": "0.2"}, {"dataset": "more"}])
def test_only_what_was_held_for_may_use_it(ledger: Ledger, make_request: Request, other: dict[str, Any]) -> None:
    ledger.give_version("cchs", "more", above=0, who="custodian")
    ledger.give_version("cchs", "survey", above=1, who="custodian")
    ledger.hold(make_request("r1"), who="rita")
    head = ledger.head()
    for attempt in (ledger.spend, lambda request: ledger.hold(request, who="rita")):
        with pytest.raises(RequestConflict):
            attempt(make_request("r1", **other))
    assert ledger.hold(make_request("r1"), who="somebody").sequence == head[0]
    assert ledger.head() == head
    assert ledger.spend(make_request("r1", analyst="ben", **other)).replayed is False


def test_a_held_request_is_not_charged_to_another_population(
    ledger: Ledger, make_request: Request, make_terms: Terms
) -> None:
    ledger.register(make_terms(population="other"))
    ledger.give_version("other", "theirs", above=0, who="custodian")
    ledger.hold(make_request("r1"), who="rita")
    with pytest.raises(RequestConflict):
        ledger.spend(make_request("r1", population="other", dataset="theirs"))


def test_released_and_expired_holds_come_back_once(ledger: Ledger, make_request: Request) -> None:
    hold = ledger.hold(make_request("r1", epsilon="0.6"), who="rita")
    with pytest.raises(Refused, match="has no end and has not expired"):
        ledger.expire_hold(hold.sequence, who="discreet")
    ledger.release_hold(hold.sequence, who="ada", reason="withdrawn")
    for end in (ledger.release_hold, ledger.expire_hold):
        with pytest.raises(Refused, match="is not open"):
            end(hold.sequence, who="ada")
    assert remaining(ledger) == 1
    again = ledger.hold(make_request("r1", epsilon="0.6"), who="rita", expires=LATER)
    with pytest.raises(Refused, match="lasts until"):
        ledger.expire_hold(again.sequence, who="discreet")
    assert remaining(ledger) == Decimal("0.4")
    ledger.verify()


def test_time_alone_ends_nothing(ledger: Ledger, make_request: Request, monkeypatch: pytest.MonkeyPatch) -> None:
    """A hold whose time is over can no longer be used, and counts until somebody writes that it has expired."""
    hold = ledger.hold(make_request("r1", epsilon="0.6"), who="rita", expires=LATER)
    monkeypatch.setattr("discreet.ledger.admission.now", lambda: "9999-01-01T00:00:00.000000+00:00")
    with pytest.raises(QueryRefused, match="Have it approved again"):
        ledger.spend(make_request("r1", epsilon="0.6"))
    assert remaining(ledger) == Decimal("0.4")
    ledger.expire_hold(hold.sequence, who="discreet")
    assert remaining(ledger) == 1
    ledger.verify()


def test_a_hold_is_refused_as_its_charge_would_be(ledger: Ledger, make_request: Request) -> None:
    for request, error in (
        (make_request(epsilon="1.1"), BudgetExceeded),
        (make_request(analyst="eve"), UnknownName),
        (make_request(dataset="other"), UnknownName),
        (make_request(guarantee=ZCDP(rho="0.1")), QueryRefused),
    ):
        with pytest.raises(error):
            ledger.hold(request, who="rita")
    for past in (datetime.now(UTC) - timedelta(seconds=1), datetime(2999, 1, 1)):
        with pytest.raises(ParameterInvalid, match="must be a time to come, with its zone"):
            ledger.hold(make_request(), who="rita", expires=past)
    ledger.suspend("survey", population="cchs", reason="it failed", who="discreet")
    with pytest.raises(DatasetSuspended):
        ledger.hold(make_request(), who="rita")


def test_what_is_held_composes_in_the_filter(ledger: Ledger, make_request: Request, make_terms: Terms) -> None:
    """Held rho closes the way of the additive sum while it is held, and opens it again when it is released."""
    ledger.register(make_terms(population="open", epsilon="3", delta="1e-6"))
    ledger.give_version("open", "open", above=0, who="custodian")
    where: dict[str, Any] = {"population": "open", "dataset": "open"}
    hold = ledger.hold(make_request("r1", guarantee=ZCDP(rho="0.02"), **where), who="rita")
    with pytest.raises(BudgetExceeded):
        ledger.spend(make_request("r2", epsilon="3", **where))
    ledger.release_hold(hold.sequence, who="rita")
    ledger.spend(make_request("r2", epsilon="3", **where))
    ledger.verify()


def test_terms_change_around_a_hold(ledger: Ledger, make_request: Request, make_terms: Terms) -> None:
    hold = ledger.hold(make_request("r1", epsilon="0.6"), who="rita")
    with pytest.raises(PopulationConflict):
        ledger.change(replace(make_terms(), neighbours=Neighbours.REPLACE_ONE), who="custodian")
    ledger.change(make_terms(epsilon="0.5"), who="custodian")
    with pytest.raises(BudgetExceeded, match=r"this costs epsilon 0\.6; epsilon 0\.5 remains"):
        ledger.spend(make_request("r1", epsilon="0.6"))
    ledger.change(make_terms(epsilon="2"), who="custodian")
    ledger.spend(make_request("r1", epsilon="0.6"))
    assert ledger.state("cchs").holds == ()
    assert hold.sequence < ledger.verify().events


def test_a_stored_answer_releases_what_was_held(ledger: Ledger, make_request: Request, make_terms: Terms) -> None:
    ledger.change(make_terms(epsilon="2", per_analyst="1"), who="custodian")
    ledger.commit_answer(ledger.spend(make_request("r1", epsilon="0.4")), b"noisy")
    stored = ledger.find_answer(population="cchs", dataset="survey", version=1, plan_hash="a" * 64)
    assert stored is not None
    ledger.hold(make_request("same", epsilon="0.4", analyst="ben"), who="rita")
    ledger.hold(make_request("another", epsilon="0.1", analyst="ben", plan="b"), who="rita")
    ledger.hold(make_request("finer", epsilon="0.5", analyst="ben"), who="rita")
    for name in ("another", "finer"):
        with pytest.raises(RequestConflict):
            ledger.replay(stored, analyst="ben", request_id=name)
    assert ledger.replay(stored, analyst="ben", request_id="same").analyst_after.epsilon_remaining == 0
    assert [hold.request_id for hold in ledger.state("cchs").holds] == ["another", "finer"]
    ledger.verify()


def test_holders_at_once_never_hold_more_than_there_is(ledger: Ledger, make_request: Request) -> None:
    got: list[int] = []

    def ask(number: int) -> None:
        try:
            got.append(ledger.hold(make_request(f"r{number}", epsilon="0.2"), who="rita").sequence)
            ledger.spend(make_request(f"r{number}", epsilon="0.2"))
        except BudgetExceeded:
            pass

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(got) == 5
    assert ledger.state("cchs").population.epsilon_spent == 1
    assert ledger.verify().charges == 5


@pytest.mark.parametrize("reason", ["released twice", "charged after release", "charged past its hold"])
def test_verification_refuses_what_holds_forbid(
    ledger: Ledger, make_request: Request, monkeypatch: pytest.MonkeyPatch, reason: str
) -> None:
    """A writer with the key whose fold looks the other way: the honest walk finds it."""
    honest = PopulationStanding.without
    hold = ledger.hold(make_request("r1", epsilon="0.6"), who="rita")
    bad = ledger.head()[0] + (1 if reason == "charged past its hold" else 2)
    with monkeypatch.context() as patched, ledger._writing() as book:
        patched.setattr("discreet.ledger.book.fold", lambda standing, _: standing)
        payload: dict[str, object] = {"hold": hold.sequence}
        if reason != "charged past its hold":
            book.append(EventKind.HOLD_RELEASED, who="rita", population="cchs", payload=payload)
        if reason == "released twice":
            book.append(EventKind.HOLD_RELEASED, who="rita", population="cchs", payload=payload)
        else:
            before = honest(book.standing.populations["cchs"], hold)
            used = hold if reason == "charged after release" else None
            charge = charge_payload(make_request("r1", epsilon="0.6"), before, used)
            book.append(EventKind.CHARGE, who="ada", population="cchs", payload=charge)
    with pytest.raises(LedgerDamaged, match="it could not have been admitted") as caught:
        ledger.verify()
    assert caught.value.fields["sequence"] == bad


def test_records_and_reservations_stand_in_the_chain(
    ledger: Ledger, make_request: Request, make_terms: Terms, reopen: Callable[[], Ledger]
) -> None:
    digest, guarantee = "d" * 64, {"type": "PureDP", "epsilon": "0.4"}
    ledger.hold(make_request("r1", epsilon="0.1"), who="rita")
    with ledger._writing() as book:
        totals = book.standing.populations["cchs"].totals
        before = {"population": encode_totals(totals)}
        reserved = {"reservation": "language", "purpose": "linked", "agreement": digest, "guarantee": guarantee}
        used = {"reservation": "language", "agreement": digest, "request": "q", "charge": 10, "sample": digest}
        for kind, payload in (
            (
                EventKind.REQUESTED,
                {"request": "r1", "analyst": "ada", "digest": digest, "label": "Diabetes by province"},
            ),
            (EventKind.DECIDED, {"request": "r1", "digest": digest, "decision": "approved"}),
            (EventKind.PUBLISHED, {"release": "2026-01", "request": "r1"}),
            (EventKind.WITHDRAWN, {"release": "2026-01"}),
            (EventKind.RESERVED, {**reserved, "before": before}),
            (EventKind.LINKED, {**used, "counters": digest}),
            (EventKind.RESERVATION_CLOSED, {"reservation": "language"}),
        ):
            book.append(kind, who="rita", population="cchs", payload=payload)
    assert reopen().verify().events == ledger.head()[0]
    state = ledger.state("cchs")
    assert (state.population.epsilon_spent, state.population.epsilon_remaining) == (Decimal("0.4"), Decimal("0.5"))
    assert "ada" in state.analysts
    assert state.analysts["ada"].epsilon_spent == 0
    with pytest.raises(PopulationConflict, match="proven for pure budgets"):
        ledger.change(make_terms(delta="1e-6"), who="custodian")
    standing = ledger.standing("cchs")
    assert Standing.from_text(Standing({"cchs": standing}).text).populations["cchs"] == standing
