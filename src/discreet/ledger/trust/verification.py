"""The whole walk: every event, every hash, every total, every answer, the head and the anchors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from discreet.catalogue import say
from discreet.errors import ParameterInvalid
from discreet.ledger.book import authenticate
from discreet.ledger.chain_stores.store import Transaction, damaged
from discreet.ledger.events import GENESIS, Event, EventKind
from discreet.ledger.records import Verification
from discreet.ledger.standing import Standing, fold, is_free_replay
from discreet.ledger.trust.anchor import AnchorLine, complete
from discreet.ledger.trust.seal import Seal

__all__ = ["require_descent", "verify_chain"]


def verify_chain(
    transaction: Transaction, seal: Seal, *, lines: Sequence[AnchorLine] = (), noted: str | None = None
) -> Verification:
    """Walk the chain and raise LedgerDamaged at the first event that does not hold.

    `lines` are all those of its anchor, in their order; `noted` is the hash of a head that must be in the chain.
    """
    walk = _Walk(frozenset({*(line.hash for line in lines), *([] if noted is None else [noted])}))
    for event in transaction.events():
        walk.take(event)
    if walk.sequence == 0:
        raise damaged(say("it has no events"))
    if authenticate(transaction.head(), transaction, seal) != walk.standing:
        raise damaged(say("the standing beside its head is not what its events add up to"), sequence=walk.sequence)
    _verify_answers(transaction, walk.answered)
    if noted is not None and noted not in walk.found:
        raise damaged(say("the head that was noted down is not in its chain"), sequence=walk.sequence)
    _verify_lines(list(complete(lines)), walk, seal)
    newest = [] if not lines else [walk.found[line.hash] for line in lines[-1:] if line.hash in walk.found]
    return Verification(
        events=walk.sequence,
        head=walk.previous,
        charges=len(walk.charges),
        answers=len(walk.answered),
        anchors=tuple(sorted({*newest, *([] if noted is None else [walk.found[noted]])})),
        anchored=len(lines),
    )


class _Walk:
    """What has been seen of a chain so far."""

    def __init__(self, wanted: frozenset[str]) -> None:
        self.standing, self.previous, self.sequence = Standing(), GENESIS, 0
        self.charges: set[int] = set()
        self.answerable: set[int] = set()
        self.answered: dict[int, str] = {}
        self.holders: set[tuple[int, str]] = set()
        self.found: dict[str, int] = {}
        self.restored: list[Event] = []
        self.keyed = 0
        self._wanted = wanted

    def take(self, event: Event) -> None:
        self.sequence += 1
        if event.sequence != self.sequence:
            raise damaged(say("an event is missing"), sequence=self.sequence)
        if event.previous != self.previous:
            raise damaged(say("it does not follow from the event before it"), sequence=self.sequence)
        try:
            self.standing = fold(self.standing, event)
            if event.kind is EventKind.ANSWER:
                _note_answer(event, self.answerable, self.answered)
            if event.kind in {EventKind.CHARGE, EventKind.REPLAY}:
                _note_holder(event, self.answered, self.holders)
        except (ValueError, KeyError, TypeError, ParameterInvalid):
            raise damaged(say("it could not have been admitted"), sequence=self.sequence) from None
        self.previous = event.hash
        if self.previous in self._wanted:
            self.found[self.previous] = self.sequence
        if event.kind in {EventKind.CHARGE, EventKind.LINKED}:
            self.answerable.add(self.sequence)
        if event.kind is EventKind.CHARGE:
            self.charges.add(self.sequence)
        elif event.kind is EventKind.RESTORED:
            self.restored.append(event)
        elif event.kind is EventKind.KEYED:
            self.keyed = self.sequence


def require_descent(transaction: Transaction, newest: AnchorLine) -> None:
    """The newest head of the anchor is in the chain, or was given up when an older ledger was put in its place."""
    event = transaction.event(newest.sequence)
    if event is not None and event.hash == newest.hash:
        return
    given_up = transaction.find_kind(EventKind.RESTORED)
    if any(_gives_up(item, newest) for item in given_up):
        return
    raise damaged(
        say(
            "its anchor speaks of a head that is not in its chain; another copy of the workspace has been "
            "used since, an older copy was put back, or its end was cut"
        ),
        sequence=newest.sequence,
    )


def _gives_up(restored: Event, line: AnchorLine) -> bool:
    return bool(restored.payload["anchor"] == {"sequence": line.sequence, "hash": line.hash})


def _note_answer(event: Event, answerable: set[int], answered: dict[int, str]) -> None:
    charge = event.payload["charge"]
    if charge not in answerable or charge in answered:
        raise ValueError("it answers no open charge")
    answered[charge] = event.payload["sha256"]


def _note_holder(event: Event, answered: Mapping[int, str], holders: set[tuple[int, str]]) -> None:
    """Who has which answer: whoever paid for it or had it replayed, and only they have it replayed for nothing."""
    charge = event.sequence
    if event.kind is EventKind.REPLAY:
        charge = event.payload["charge"]
        if charge not in answered:
            raise ValueError("it gives an answer that was not committed")
        if is_free_replay(event) and (charge, event.payload["analyst"]) not in holders:
            raise ValueError("it is free for somebody who does not have the answer")
    holders.add((charge, event.payload["analyst"]))


def _verify_answers(transaction: Transaction, answered: Mapping[int, str]) -> None:
    stored = {row.sequence: row.sha256 for row in transaction.answers()}
    for sequence in sorted({*stored, *answered}):
        if stored.get(sequence) != answered.get(sequence):
            raise damaged(say("its stored answer is not the one that was recorded"), sequence=sequence)


def _verify_lines(lines: Sequence[AnchorLine], walk: _Walk, seal: Seal) -> None:
    """Every head of the anchor is in the chain, but for those that a restored ledger gave up; the key vouches for all.

    Lines from before the key was replaced are another key's.
    """
    excused = {line for event in walk.restored for line in _given_up(lines, event)}
    elsewhere = [line for line in lines if walk.found.get(line.hash) != line.sequence and line not in excused]
    if elsewhere:
        first = elsewhere[0].sequence
        if first <= walk.sequence:
            what = say(
                "{count} of the {all} heads of its anchor are of another chain, the first at event {first}; the chain "
                "forks there, because another copy of the workspace was used beside this one",
                count=len(elsewhere),
                all=len(lines),
                first=first,
            )
        else:
            what = say(
                "{count} of the {all} heads of its anchor are of another chain, the first at event {first}; an older "
                "copy was put back or its end was cut",
                count=len(elsewhere),
                all=len(lines),
                first=first,
            )
        raise damaged(what, sequence=first)
    for line in lines:
        if line.sequence > walk.keyed and line not in excused and not line.holds(seal):
            raise damaged(say("the key does not vouch for what its anchor says"), sequence=line.sequence)


def _given_up(lines: Sequence[AnchorLine], restored: Event) -> Iterator[AnchorLine]:
    """The lines that were written after the events which a restored ledger has, up to the one it names."""
    last = next((index for index, line in enumerate(lines) if _gives_up(restored, line)), -1)
    return (line for line in lines[: last + 1] if line.sequence >= restored.sequence)
