"""Committed answers: which one may be given again, and to whom it is free."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace

from discreet.catalogue import say
from discreet.errors import ParameterInvalid
from discreet.guarantees import CentralGuarantee, PureDP
from discreet.ledger.accounting import weigh
from discreet.ledger.chain_stores.store import Offer, Transaction, answer_gone, damaged
from discreet.ledger.events import Event, EventKind, decode_guarantee
from discreet.ledger.records import StoredAnswer

__all__ = ["Wanted", "best_answer", "is_free", "leased_charge", "stored_answer", "suffices"]


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which answers would do: to this plan on this version, at least as accurate as `at_least`."""

    population: str
    dataset: str
    version: int
    plan_hash: str
    at_least: CentralGuarantee | None

    def admits(self, guarantee: CentralGuarantee) -> bool:
        return self.at_least is None or suffices(guarantee, self.at_least)

    def agrees(self, charge: Event) -> bool:
        payload = charge.payload
        asked = (self.population, self.dataset, self.version, self.plan_hash)
        return asked == (charge.population, payload["dataset"], payload["version"], payload["plan_hash"])


def best_answer(
    transaction: Transaction, wanted: Wanted, *, analyst: str | None, request_id: str | None = None
) -> StoredAnswer | None:
    """The preferred answer: what the request stands for, else the best the analyst has, else the cheapest.

    Charges are compared by what their columns say; the chosen one is read and checked.
    """
    if analyst is not None and request_id is not None:
        held = transaction.find_request(analyst=analyst, request_id=request_id)
        if held is not None and wanted.agrees(held):
            return _leased_answer(transaction, wanted, held)
    offers = [
        (weighed, offer)
        for offer in transaction.offers(
            population=wanted.population,
            dataset=wanted.dataset,
            version=wanted.version,
            plan_hash=wanted.plan_hash,
            analyst=analyst,
        )
        if (weighed := _weigh_offer(offer, wanted)) is not None
    ]
    # Of equal prices the first charge is preferred where accuracy counts, and the last where the price does.
    free = [(weighed, -offer.first) for weighed, offer in offers if offer.has or analyst is None]
    if free:
        return _chosen(transaction, wanted, -max(free)[1], analyst=analyst)
    others = [(weighed, -offer.last) for weighed, offer in offers]
    return _chosen(transaction, wanted, -min(others)[1], analyst=None) if others else None


def _weigh_offer(offer: Offer, wanted: Wanted) -> tuple[int, int] | None:
    """Rho and delta of an offer that would do."""
    try:
        guarantee = decode_guarantee(json.loads(offer.guarantee))
    except (ValueError, KeyError, TypeError, AttributeError, ArithmeticError, RecursionError, ParameterInvalid):
        raise damaged(say("the price of a charge is malformed"), sequence=offer.first) from None
    if not wanted.admits(guarantee):
        return None
    cost = weigh(guarantee)
    return cost.rho, cost.delta


def _chosen(transaction: Transaction, wanted: Wanted, sequence: int, *, analyst: str | None) -> StoredAnswer:
    """The answer of a charge that was chosen by its columns, which must be what they said."""
    charge = transaction.event(sequence)
    if charge is None or charge.kind is not EventKind.CHARGE or not wanted.agrees(charge):
        raise damaged(say("a charge does not agree with the columns by which it was found"), sequence=sequence)
    found = stored_answer(transaction, charge)
    if not wanted.admits(found.charge) or not (analyst is None or is_free(transaction, charge, analyst=analyst)):
        raise damaged(say("a charge does not agree with the columns by which it was found"), sequence=sequence)
    return replace(found, free=analyst is not None)


def _leased_answer(transaction: Transaction, wanted: Wanted, held: Event) -> StoredAnswer | None:
    """The answer that a request id stands for already. Where there is none yet, its charge is met, and no other."""
    charge = leased_charge(transaction, held)
    if transaction.answer(charge.sequence) is None:
        transaction.require_unanswered(charge.sequence)
        return None
    found = stored_answer(transaction, charge)
    return replace(found, free=True) if wanted.admits(found.charge) else None


def leased_charge(transaction: Transaction, held: Event) -> Event:
    """The charge that a lease is for: itself, or the one whose answer was replayed."""
    if held.kind is EventKind.CHARGE:
        return held
    charge = transaction.event(held.payload["charge"])
    if charge is None or charge.kind is not EventKind.CHARGE:
        raise damaged(say("a replay's charge is not in the chain"), sequence=held.sequence)
    return charge


def suffices(charged: CentralGuarantee, asked: CentralGuarantee) -> bool:
    """Whether what was charged bought at least the accuracy asked for, of the same sort."""
    if isinstance(charged, PureDP) and isinstance(asked, PureDP):
        return charged.epsilon >= asked.epsilon
    if isinstance(charged, PureDP) or isinstance(asked, PureDP) or type(charged) is not type(asked):
        return False
    return weigh(charged).rho >= weigh(asked).rho and charged.delta >= asked.delta


def stored_answer(transaction: Transaction, charge: Event) -> StoredAnswer:
    """The committed answer of a charge that has one."""
    row = transaction.answer(charge.sequence)
    if row is None:
        raise answer_gone(charge.sequence)
    payload = charge.payload
    return StoredAnswer(
        sequence=charge.sequence,
        event_hash=charge.hash,
        population=charge.population,
        dataset=payload["dataset"],
        version=payload["version"],
        plan_hash=payload["plan_hash"],
        analyst=payload["analyst"],
        charge=decode_guarantee(payload["guarantee"]),
        answer=row.answer,
    )


def is_free(transaction: Transaction, charge: Event, *, analyst: str) -> bool:
    """Whether the analyst paid for the answer or had it replayed before."""
    if charge.payload["analyst"] == analyst:
        return True
    plan_hash = charge.payload["plan_hash"]
    replay = transaction.find_replay(charge=charge.sequence, plan_hash=plan_hash, analyst=analyst)
    return replay is not None and replay.payload["charge"] == charge.sequence
