"""What is checked before a charge or a hold is written, and how holds are placed and ended."""

from __future__ import annotations

from datetime import UTC, datetime

from discreet.catalogue import say
from discreet.errors import BudgetExceeded, DatasetSuspended, ParameterInvalid, QueryRefused, Refused
from discreet.guarantees import CentralGuarantee
from discreet.ledger.accounting import caps, cost_of, require_priceable, weigh
from discreet.ledger.book import Book
from discreet.ledger.committed_answers import suffices
from discreet.ledger.events import EventKind, now
from discreet.ledger.holds import Hold, read_time
from discreet.ledger.receipts import request_conflict
from discreet.ledger.records import SpendRequest, StoredAnswer
from discreet.ledger.standing import PopulationStanding
from discreet.ledger.stored_reasons import ANSWER_GIVEN

__all__ = ["admit", "drop_hold", "end_hold", "place_hold", "refuse_leased", "require_room", "usable_hold"]


def admit(book: Book, request: SpendRequest, hold: Hold | None) -> PopulationStanding:
    """What a request is measured against: the standing without the hold whose place it takes. Else a refusal."""
    standing = book.population(request.population).without(hold)
    book.require_analyst(request.analyst)
    book.require_dataset(request.dataset, population=request.population, version=request.version)
    if request.dataset in book.standing.suspended:
        raise DatasetSuspended(dataset=request.dataset)
    require_room(standing, request.analyst, request.guarantee, population=True)
    return standing


def require_room(standing: PopulationStanding, analyst: str, cost: CentralGuarantee, *, population: bool) -> None:
    """Refuse what does not fit beside everything charged and held."""
    name = standing.terms.population
    require_priceable(caps(standing.terms.budget)[0], cost, population=name)
    after = standing.debit(analyst, weigh(cost), population=population)
    limit = after.overspent(analyst, population=population)
    if limit is None:
        return
    left = standing.balance() if limit == "population" else standing.analyst_balance(analyst)
    holder = name if limit == "population" else analyst
    raise BudgetExceeded(cost=cost_of(cost), remaining=left.describe(cost=cost), limit=limit, holder=holder)


def usable_hold(book: Book, request: SpendRequest) -> Hold | None:
    """The open hold of a request; refused where it is for another question or its time is over."""
    population, hold = _find_hold(book, request.analyst, request.request_id)
    if hold is None:
        return None
    if population != request.population or not hold.agrees(request.to_payload()):
        raise request_conflict(request.request_id)
    if hold.expires is not None and hold.expires <= now():
        raise QueryRefused(
            say(
                "What was held for request '{request_id}' could be used until {expires}. Have it approved again, "
                "or ask under a new request id. Nothing was released or charged.",
                request_id=request.request_id,
                expires=hold.expires,
            ),
            request_id=request.request_id,
            hold=hold.sequence,
        )
    return hold


def drop_hold(book: Book, stored: StoredAnswer, *, analyst: str, request_id: str) -> None:
    """Release the hold of a request that is met by a stored answer, as accurate as approved, to the same question."""
    population, hold = _find_hold(book, analyst, request_id)
    if hold is None:
        return
    asked = (population, hold.dataset, hold.version, hold.plan_hash)
    found = (stored.population, stored.dataset, stored.version, stored.plan_hash)
    if asked != found or not suffices(stored.charge, hold.guarantee):
        raise request_conflict(request_id)
    end_hold(book, hold.sequence, EventKind.HOLD_RELEASED, who=analyst, reason=ANSWER_GIVEN)


def _find_hold(book: Book, analyst: str, request_id: str) -> tuple[str, Hold | None]:
    for name, standing in book.standing.populations.items():
        if (hold := standing.hold_for(analyst, request_id)) is not None:
            return name, hold
    return "", None


def refuse_leased(book: Book, request: SpendRequest) -> None:
    """A request id that was charged or replayed stands for that; nothing more can be held for it."""
    if book.transaction.find_request(analyst=request.analyst, request_id=request.request_id) is not None:
        raise request_conflict(request.request_id)


def place_hold(book: Book, request: SpendRequest, *, who: str, expires: datetime | None) -> Hold:
    if expires is not None and (expires.tzinfo is None or expires <= datetime.now(UTC)):
        raise ParameterInvalid(
            parameter="expires", rule=say("must be a time to come, with its zone"), given=str(expires)
        )
    hold = Hold(
        sequence=book.head.sequence + 1,
        analyst=request.analyst,
        dataset=request.dataset,
        version=request.version,
        request_id=request.request_id,
        plan_hash=request.plan_hash,
        guarantee=request.guarantee,
        expires=None if expires is None else read_time(expires),
    )
    book.append(EventKind.HOLD, who=who, population=request.population, payload=hold.to_fields())
    return hold


def end_hold(book: Book, sequence: int, kind: EventKind, *, who: str, reason: str = "") -> None:
    """Release an open hold, or let it expire once its time has come."""
    for name, standing in book.standing.populations.items():
        if (hold := standing.holds.get(sequence)) is None:
            continue
        if kind is EventKind.HOLD_EXPIRED and (hold.expires is None or hold.expires > now()):
            raise Refused(
                say("Hold {sequence} has no end and has not expired. Release it instead.", sequence=sequence)
                if hold.expires is None
                else say(
                    "Hold {sequence} lasts until {expires} and has not expired. Release it instead.",
                    sequence=sequence,
                    expires=hold.expires,
                ),
                hold=sequence,
            )
        text = {"reason": reason} if reason else {}
        book.append(kind, who=who, population=name, payload={"hold": sequence, **text})
        return
    raise Refused(
        say(
            "Hold {sequence} is not open: there was none, or it was charged, released or has expired. Look "
            "with: discreet budget",
            sequence=sequence,
        ),
        hold=sequence,
    )
