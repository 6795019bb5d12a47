"""The whole walk: every event, every hash, every total, every answer, the head and the anchors."""

from __future__ import annotations

from collections.abc import Mapping

from discreet.errors import ParameterInvalid
from discreet.ledger.book import authenticate
from discreet.ledger.events import GENESIS, Event, Kind
from discreet.ledger.records import Verification
from discreet.ledger.seal import Seal
from discreet.ledger.standing import Standing, fold
from discreet.ledger.store import Transaction, damaged

__all__ = ["verify_chain"]


def verify_chain(transaction: Transaction, seal: Seal, *, anchors: Mapping[str, int | None]) -> Verification:
    """Walk the chain and raise LedgerDamaged at the first event that does not hold.

    `anchors` maps hashes that must be in the chain to their sequence numbers, where these are known.
    """
    standing, previous, sequence = Standing(), GENESIS, 0
    charges: set[int] = set()
    answered: dict[int, str] = {}
    found: dict[str, int] = {}
    for event in transaction.events():
        sequence += 1
        if event.sequence != sequence:
            raise damaged("an event is missing", sequence=sequence)
        if event.previous != previous:
            raise damaged("it does not follow from the event before it", sequence=sequence)
        try:
            standing = fold(standing, event)
            if event.kind is Kind.ANSWER:
                _note_answer(event, charges, answered)
        except (ValueError, KeyError, TypeError, ParameterInvalid):
            raise damaged("it could not have been admitted", sequence=sequence) from None
        previous = event.hash
        if previous in anchors:
            found[previous] = sequence
        if event.kind is Kind.CHARGE:
            charges.add(sequence)
    if sequence == 0:
        raise damaged("it has no events")
    if authenticate(transaction.head(), transaction, seal) != standing:
        raise damaged("the standing beside its head is not what its events add up to", sequence=sequence)
    _verify_answers(transaction, answered)
    _verify_anchors(anchors, found, last=sequence)
    return Verification(
        events=sequence,
        head=previous,
        charges=len(charges),
        answers=len(answered),
        anchors=tuple(sorted(found.values())),
    )


def _note_answer(event: Event, charges: set[int], answered: dict[int, str]) -> None:
    charge = event.payload["charge"]
    if charge not in charges or charge in answered:
        raise ValueError("it answers no open charge")
    answered[charge] = event.payload["sha256"]


def _verify_answers(transaction: Transaction, answered: Mapping[int, str]) -> None:
    stored = {row.sequence: row.sha256 for row in transaction.answers()}
    for sequence in sorted({*stored, *answered}):
        if stored.get(sequence) != answered.get(sequence):
            raise damaged("its stored answer is not the one that was committed", sequence=sequence)


def _verify_anchors(anchors: Mapping[str, int | None], found: Mapping[str, int], *, last: int) -> None:
    for digest, sequence in anchors.items():
        if digest not in found or sequence not in {None, found[digest]}:
            raise damaged(
                "an anchored head is not in its chain, so an older copy was put back or its end was cut",
                sequence=last if sequence is None else sequence,
            )
