"""Budget that a service spends at once: how it is reserved, what is recorded of each use, and how it ends.

A service of linked counts keeps an account for every unit. The ledger holds its whole loss as one charge, and beside it
an event for each use, with digests of the sample and of all accounts after it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from discreet.catalogue import say
from discreet.errors import BudgetExceeded, PopulationConflict, Refused, RequestConflict
from discreet.guarantees import PureDP
from discreet.ledger.accounting import admits, caps, cost_of, weigh
from discreet.ledger.book import Book
from discreet.ledger.events import Event, EventKind, encode_guarantee
from discreet.ledger.holds import Reservation
from discreet.ledger.standing import encode_totals

__all__ = [
    "WRITE_OFF",
    "LinkedUse",
    "close_reservation",
    "has_lost_uses",
    "list_uses",
    "read_use",
    "record_use",
    "reserve",
    "stale_accounts",
]

WRITE_OFF: Final = "write-off"
"""The question of a use that counted nothing: accounts put in the place of lost ones, each at most its charge."""


@dataclass(frozen=True, slots=True)
class LinkedUse:
    """One use of a reservation. `charge` is in parts of the accounts; digests are hexadecimal.

    `sequence` is the number of its event, 0 before it has one, `receipt` the event's hash, `when` its time; `answer`
    is what was committed for it.
    """

    request: str
    question: str
    agreement: str
    charge: int
    sample: str
    counters: str
    sequence: int = 0
    receipt: str = ""
    answer: bytes | None = None
    when: str = ""


def reserve(
    book: Book, population: str, name: str, *, agreement: str, guarantee: PureDP, property: str, who: str
) -> bool:
    """Spend the whole of a service on the population's budget; False where the same was reserved before."""
    standing = book.population(population)
    made = Reservation("linked", agreement, guarantee)
    known = standing.reservations.get(name)
    if known is not None:
        if known.closed:
            raise Refused(
                say("its accounts are closed, and what was reserved for them is spent. Agree on another study.")
            )
        if known.guarantee != guarantee:
            raise Refused(say("accounts for this property were opened with another epsilon. Agree on the same policy."))
        return False
    if not standing.terms.budget.pure:
        raise PopulationConflict(
            say(
                "Linked counts are proven for pure budgets, and that of '{population}' has a delta. Give the "
                "dataset a population with delta 0.",
                population=population,
            ),
            population=population,
        )
    after = standing.totals + weigh(guarantee)
    if not admits(caps(standing.terms.budget)[0], after + standing.held()):
        remaining = standing.balance().describe(cost=guarantee)
        raise BudgetExceeded(cost=cost_of(guarantee), remaining=remaining, limit="population", holder=population)
    payload = {
        "reservation": name,
        "purpose": made.purpose,
        "agreement": agreement,
        "guarantee": encode_guarantee(guarantee),
        "property": property,
        "before": {"population": encode_totals(standing.totals)},
    }
    book.append(EventKind.RESERVED, who=who, population=population, payload=payload)
    return True


def record_use(book: Book, population: str, name: str, use: LinkedUse, *, after: int, who: str) -> LinkedUse:
    """Record a use, durably before anything is drawn; the same request again meets its own event.

    `after` is the event that the accounts were made by: another in between means that they are not the newest.
    """
    held = book.transaction.find_request(analyst=name, request_id=use.request)
    if held is not None:
        found = read_use(book, held)
        if (found.question, found.sample) != (use.question, use.sample):
            raise RequestConflict(say("this request has been counted with another sample or question. Ask anew."))
        return found
    known = book.population(population).reservations.get(name)
    if known is None or known.closed:
        raise Refused(say("the service is closed, or was never opened here. Nothing was counted or charged."))
    last = book.transaction.last_linked(reservation=name)
    if (0 if last is None else last.sequence) != after:
        raise stale_accounts()
    payload = {
        "reservation": name,
        "agreement": use.agreement,
        "request": use.request,
        "question": use.question,
        "charge": use.charge,
        "sample": use.sample,
        "counters": use.counters,
    }
    return read_use(book, book.append(EventKind.LINKED, who=who, population=population, payload=payload))


def list_uses(book: Book, name: str) -> Iterator[LinkedUse]:
    """Every use of a reservation, the oldest first."""
    return (read_use(book, event) for event in book.transaction.all_linked(reservation=name))


def has_lost_uses(book: Book, name: str) -> bool:
    """Whether an older ledger was put back after the newest use that it knows: there may have been others since."""
    last = book.transaction.last_linked(reservation=name)
    if last is None:
        made = book.transaction.find_kind(EventKind.RESERVED)
        last = next((event for event in made if event.payload["reservation"] == name), None)
    if last is None:
        return False
    since = book.transaction.page(
        low=last.sequence + 1,
        high=book.head.sequence,
        kinds=[EventKind.RESTORED],
        population=None,
        analyst=None,
        newest_first=True,
        size=1_000,
    )
    return any(_lost_events(book, event) for event in since)


def _lost_events(book: Book, restored: Event) -> bool:
    """Unless the head that its anchor spoke of is in the chain, and nothing was lost."""
    given_up = restored.payload["anchor"]
    kept = None if given_up is None else book.transaction.event(given_up["sequence"])
    return kept is None or kept.hash != given_up["hash"]


def stale_accounts(fault: str = "other") -> Refused:
    """What is said of accounts that the chain has gone beyond, or that do not have the digest it names."""
    return Refused(
        say(
            "the accounts are not the ones that the ledger speaks of: an older copy was put back, or another office "
            "folder counts under the same study. Nothing was counted. Look with: discreet linked verify"
        ),
        fault=fault,
    )


def read_use(book: Book, event: Event) -> LinkedUse:
    payload = event.payload
    answer = book.transaction.answer(event.sequence)
    if answer is None:
        book.transaction.require_unanswered(event.sequence)
    return LinkedUse(
        payload["request"],
        payload.get("question", ""),
        payload["agreement"],
        payload["charge"],
        payload["sample"],
        payload["counters"],
        event.sequence,
        event.hash,
        None if answer is None else answer.answer,
        event.when,
    )


def close_reservation(book: Book, population: str, name: str, *, reason: str, who: str) -> bool:
    """End a service for good; what it reserved stays spent. False where it was closed before."""
    known = book.population(population).reservations.get(name)
    if known is None:
        raise Refused(say("nothing was reserved under this name."))
    if known.closed:
        return False
    payload = {"reservation": name, "reason": reason}
    book.append(EventKind.RESERVATION_CLOSED, who=who, population=population, payload=payload)
    return True
