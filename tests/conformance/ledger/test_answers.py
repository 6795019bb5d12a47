"""Committed answers: which is given again, that a replay leases its request id, and that none is drawn twice."""

from __future__ import annotations

import random
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest

from discreet.errors import LedgerDamaged, RequestConflict
from discreet.guarantees.budget import PopulationTerms
from discreet.guarantees.types import ZCDP, ApproxDP, CentralGuarantee, PureDP
from discreet.ledger import Ledger, LedgerConfig, SpendRequest, StoredAnswer, open_ledger
from discreet.ledger.accounting import weigh
from discreet.ledger.committed_answers import suffices
from discreet.ledger.event_log import LogFilter, describe_event
from discreet.ledger.events import Event, EventKind, decode_guarantee

Terms = Callable[..., PopulationTerms]
Request = Callable[..., SpendRequest]
WHERE: dict[str, Any] = {"population": "cchs", "dataset": "survey", "version": 1, "plan_hash": "a" * 64}
INDEX = {
    "sqlite": "SELECT count(*) FROM sqlite_master WHERE type = 'index' AND name = 'answered'",
    "postgres": "SELECT count(*) FROM pg_indexes WHERE schemaname = current_schema() AND indexname = 'answered'",
}


def answered(ledger: Ledger, request: SpendRequest, answer: bytes = b"noisy") -> StoredAnswer:
    ledger.commit_answer(ledger.spend(request), answer)
    found = ledger.find_answer(**WHERE, analyst=request.analyst, request_id=request.request_id)
    assert found is not None
    return found


# Answered and gone


@pytest.mark.parametrize("indexed", [True, False])
def test_an_answer_that_is_gone_is_damage_and_not_drawn_again(
    ledger: Ledger, make_request: Request, vandal: Any, indexed: bool
) -> None:
    receipt = ledger.spend(make_request("r1"))
    ledger.commit_answer(receipt, b"noisy")
    stored = ledger.find_answer(**WHERE)
    assert stored is not None
    ledger.replay(stored, analyst="ben", request_id="b1")
    vandal.run("DELETE FROM answers", *([] if indexed else ["DROP INDEX answered"]))
    for attempt in (
        lambda: ledger.spend(make_request("r1")),
        lambda: ledger.spend(make_request("b1", analyst="ben")),
        lambda: ledger.commit_answer(receipt, b"another draw"),
        lambda: ledger.replay(stored, analyst="ada", request_id="again"),
        lambda: ledger.find_answer(**WHERE),
        lambda: ledger.find_answer(**WHERE, analyst="ada"),
        lambda: ledger.find_answer(**WHERE, analyst="ada", request_id="r1"),
    ):
        with pytest.raises(LedgerDamaged, match="it was answered and its answer is gone"):
            attempt()
    assert ledger.find_answer(**{**WHERE, "plan_hash": "b" * 64}) is None


def test_a_charge_that_was_never_answered_is_drawn(ledger: Ledger, make_request: Request) -> None:
    for number in range(12):
        assert ledger.spend(make_request(f"r{number}", epsilon="0.01")).answer is None
    assert ledger.find_answer(**WHERE) is None
    again = ledger.spend(make_request("r1", epsilon="0.01"))
    assert ledger.commit_answer(again, b"noisy") == b"noisy"
    assert ledger.spend(make_request("r11", epsilon="0.01")).answer is None


def test_an_earlier_ledger_gets_the_index(ledger: Ledger, config: LedgerConfig, vandal: Any) -> None:
    assert vandal.query(INDEX[config.store]) == [(1,)]
    vandal.run("DROP INDEX answered")
    assert vandal.query(INDEX[config.store]) == [(0,)]
    for _ in range(2):
        ledger.upgrade()
        assert vandal.query(INDEX[config.store]) == [(1,)]
    ledger.verify()


# A replay leases its request id


def test_a_free_replay_leases_its_request_id(ledger: Ledger, make_request: Request, config: LedgerConfig) -> None:
    stored = answered(ledger, make_request("r1", epsilon="0.3"))
    first = ledger.replay(stored, analyst="ada", request_id="again")
    head = ledger.head()
    assert ledger.replay(stored, analyst="ada", request_id="again") == first
    assert ledger.spend(make_request("again", epsilon="0.3")).answer == b"noisy"
    assert ledger.spend(make_request("again", epsilon="0.2")).answer == b"noisy"
    for other in ({"plan": "b"}, {"epsilon": "0.4"}, {"version": 2}):
        with pytest.raises(RequestConflict):
            ledger.spend(make_request("again", **other))
    other_answer = ledger.spend(make_request("r2", epsilon="0.4"))
    ledger.commit_answer(other_answer, b"other")
    better = ledger.find_answer(**WHERE)
    assert better is not None
    assert better.answer == b"other"
    with pytest.raises(RequestConflict):
        ledger.replay(better, analyst="ada", request_id="again")
    assert ledger.head()[0] == head[0] + 2
    with open_ledger(config) as again:
        assert again.state("cchs").analysts["ada"].epsilon_spent == Decimal("0.7")
        assert again.state("cchs").charges == 2
        again.verify()


def test_what_a_request_stands_for_is_found_before_what_is_better(ledger: Ledger, make_request: Request) -> None:
    stored = answered(ledger, make_request("r1", epsilon="0.3"))
    ledger.replay(stored, analyst="ada", request_id="again")
    answered(ledger, make_request("r2", epsilon="0.4"), b"other")

    def find(request_id: str, epsilon: str) -> bytes | None:
        at_least = PureDP(epsilon=epsilon)
        found = ledger.find_answer(**WHERE, at_least=at_least, analyst="ada", request_id=request_id)
        return None if found is None else found.answer

    assert find("again", "0.3") == find("r1", "0.1") == b"noisy"
    assert find("again", "0.4") is None  # it stands for less: `spend` then refuses
    assert find("new", "0.3") == b"other"
    ledger.spend(make_request("r3", epsilon="0.1"))
    assert find("r3", "0.1") is None  # its own charge is met and drawn for


def test_a_free_replay_is_told_as_free(ledger: Ledger, make_request: Request) -> None:
    stored = answered(ledger, make_request("r1", epsilon="0.3"))
    ledger.replay(stored, analyst="ada", request_id="again")
    ledger.replay(stored, analyst="ben", request_id="mine")
    own, others = (
        describe_event(event, reasons=False) for event in ledger.log(LogFilter(kinds=frozenset({EventKind.REPLAY})))
    )
    assert (own.cost, own.cost_text, others.cost_text) == (None, "", "epsilon 0.3 (analyst's cap only)")
    assert "free" not in own.what


def test_a_replay_is_free_only_for_who_has_the_answer(
    ledger: Ledger, make_request: Request, monkeypatch: pytest.MonkeyPatch
) -> None:
    stored = answered(ledger, make_request("r1", epsilon="0.3"))
    monkeypatch.setattr("discreet.ledger.workspace_ledger.is_free", lambda *_, **__: True)
    ledger.replay(stored, analyst="ben", request_id="mine")
    with pytest.raises(LedgerDamaged, match="it could not have been admitted"):
        ledger.verify()


# Which answer is preferred


def reference(
    events: list[Event], *, at_least: CentralGuarantee | None, analyst: str | None
) -> tuple[int, bool] | None:
    """The preference written as plainly as possible, over every event."""
    done = {event.payload["charge"] for event in events if event.kind is EventKind.ANSWER}
    found = [
        event
        for event in events
        if event.kind is EventKind.CHARGE
        and event.sequence in done
        and {"population": event.population, **{name: event.payload[name] for name in WHERE if name != "population"}}
        == WHERE
        and (at_least is None or suffices(decode_guarantee(event.payload["guarantee"]), at_least))
    ]
    replayed = {
        event.payload["charge"]
        for event in events
        if event.kind is EventKind.REPLAY and event.payload["analyst"] == analyst
    }

    def accuracy(event: Event) -> tuple[int, int, int]:
        cost = weigh(decode_guarantee(event.payload["guarantee"]))
        return cost.rho, cost.delta, -event.sequence

    free = [one for one in found if analyst in {None, one.payload["analyst"]} or one.sequence in replayed]
    if free:
        return max(free, key=accuracy).sequence, analyst is not None
    return (min(found, key=accuracy).sequence, False) if found else None


@pytest.mark.parametrize("seed", range(4))
def test_the_preferred_answer_is_that_of_the_plain_rule(
    ledger: Ledger, make_terms: Terms, make_request: Request, seed: int
) -> None:
    chance = random.Random(seed)
    ledger.change(make_terms(epsilon="100", delta="0.01"), who="custodian")
    ledger.give_version("cchs", "other", above=1, who="custodian")
    ledger.give_version("cchs", "survey", above=1, who="custodian")
    prices: list[CentralGuarantee] = [
        *(PureDP(epsilon=one) for one in ("0.1", "0.10", "0.2", "0.3")),
        *(ZCDP(rho=one, delta=other) for one in ("0.01", "0.02") for other in ("0", "1e-8")),
        *(ApproxDP(epsilon="0.1", delta=one) for one in ("1e-8", "2e-8")),
    ]
    people = ("ada", "ben")
    for number in range(30):
        request = make_request(
            f"r{number}",
            analyst=chance.choice(people),
            plan=chance.choice("aaaab"),
            version=chance.choice((1, 1, 1, 2)),
            dataset=chance.choice(("survey", "survey", "survey", "other")),
            guarantee=chance.choice(prices),
        )
        receipt = ledger.spend(request)
        if chance.random() < 0.7:
            ledger.commit_answer(receipt, f"answer {number}".encode())
        if chance.random() < 0.3:
            analyst = chance.choice(people)
            found = ledger.find_answer(**WHERE, at_least=chance.choice([None, *prices]), analyst=chance.choice(people))
            if found is not None:
                ledger.replay(found, analyst=analyst, request_id=f"again {number}")
    events = list(ledger.log())
    answers = {event.payload["charge"] for event in events if event.kind is EventKind.ANSWER}
    assert len(answers) > 10
    for who in (None, *people):
        for at_least in (None, *prices):
            found = ledger.find_answer(**WHERE, at_least=at_least, analyst=who)
            expected = reference(events, at_least=at_least, analyst=who)
            assert (None if found is None else (found.sequence, found.free)) == expected


def test_only_the_chosen_charge_is_read(ledger: Ledger, make_request: Request, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(9):
        answered(ledger, make_request(f"r{number}"))
    read: list[int] = []
    check = Event.from_body.__func__  # type: ignore[attr-defined]

    def count(cls: type[Event], body: str) -> Event:
        event: Event = check(cls, body)
        read.append(event.sequence)
        return event

    monkeypatch.setattr(Event, "from_body", classmethod(count))
    ledger.find_answer(**WHERE)
    assert len(read) <= 2  # the last of the chain, and the chosen one
