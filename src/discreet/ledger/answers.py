"""Committed answers: which one may be given again, and to whom it is free."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from discreet.guarantees.types import CentralGuarantee, PureDP
from discreet.ledger.accounting import weigh
from discreet.ledger.events import Event, decode_guarantee
from discreet.ledger.records import StoredAnswer
from discreet.ledger.store import Transaction, damaged

__all__ = ["best_answer", "is_free", "stored_answer", "suffices"]


def best_answer(
    transaction: Transaction,
    *,
    where: Mapping[str, object],
    population: str,
    at_least: CentralGuarantee | None,
    analyst: str | None,
) -> StoredAnswer | None:
    """The preferred answer among the charges whose payload agrees with `where`."""
    found = [
        stored_answer(transaction, charge)
        for charge in transaction.find_charges(plan_hash=str(where["plan_hash"]))
        if charge.population == population
        and all(charge.payload[name] == value for name, value in where.items())
        and (at_least is None or suffices(decode_guarantee(charge.payload["guarantee"]), at_least))
        and transaction.answer(charge.sequence) is not None
    ]
    free = found if analyst is None else [a for a in found if _held_by(transaction, a, analyst)]
    if free:
        return replace(max(free, key=_accuracy), free=analyst is not None)
    return min(found, key=_accuracy, default=None)


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
        raise damaged("its committed answer is missing", sequence=charge.sequence)
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
    return _seen(transaction, charge.sequence, charge.payload["analyst"], charge.payload["plan_hash"], analyst)


def _held_by(transaction: Transaction, answer: StoredAnswer, analyst: str) -> bool:
    return _seen(transaction, answer.sequence, answer.analyst, answer.plan_hash, analyst)


def _seen(transaction: Transaction, sequence: int, payer: str, plan_hash: str, analyst: str) -> bool:
    if payer == analyst:
        return True
    replays = transaction.find_replays(plan_hash=plan_hash, analyst=analyst)
    return any(replay.payload["charge"] == sequence for replay in replays)


def _accuracy(answer: StoredAnswer) -> tuple[int, int, int]:
    cost = weigh(answer.charge)
    return cost.rho, cost.delta, -answer.sequence
