"""The ledger of a workspace: one transaction checks and spends, and nothing it acknowledged is lost.

The order of a release: `spend` (lease and durable charge) → noise → `commit_answer` → the
answer leaves. A retry meets its own charge again; the first committed answer is the only one there will be.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import datetime
from types import TracebackType
from typing import Self

from discreet.catalogue import say
from discreet.errors import (
    ChargedNotAnswered,
    LedgerDamaged,
    LedgerUnanchored,
    LedgerUnavailable,
    PopulationConflict,
    QueryRefused,
)
from discreet.guarantees import BootstrapDP, CentralGuarantee, PopulationTerms, PureDP, Unproven
from discreet.ledger.admission import admit, drop_hold, end_hold, place_hold, refuse_leased, require_room, usable_hold
from discreet.ledger.book import Book, first_page
from discreet.ledger.chain_stores.store import FORMAT, AnswerRow, ChainStore, Head, Transaction, damaged
from discreet.ledger.committed_answers import Wanted, best_answer, is_free, leased_charge, stored_answer
from discreet.ledger.event_log import LogFilter, TermsChange, read_history, read_log
from discreet.ledger.events import Event, EventKind, encode_guarantee, encode_terms, require_name, sha256_hex
from discreet.ledger.holds import Hold, Reservation
from discreet.ledger.ledger_config import LedgerConfig, choose_store
from discreet.ledger.past_questions import PastQuestion, number_questions, read_question
from discreet.ledger.people_log import NO_MARK, ChainMark, PeopleLog, has_news, read_people
from discreet.ledger.receipts import (
    charge_payload,
    make_receipt,
    read_marker,
    replay_payload,
    request_conflict,
    same_request,
    terms_conflict,
)
from discreet.ledger.records import (
    BudgetState,
    Receipt,
    SpendRequest,
    StoredAnswer,
    Verification,
    require_central,
    require_plan_hash,
    require_version,
    warn_of_markers,
)
from discreet.ledger.reservations import (
    LinkedUse,
    close_reservation,
    has_lost_uses,
    list_uses,
    read_use,
    record_use,
    reserve,
)
from discreet.ledger.standing import PopulationStanding, Standing
from discreet.ledger.trust.anchor import Anchor, AnchorLine
from discreet.ledger.trust.seal import Seal, create_key
from discreet.ledger.trust.verification import require_descent, verify_chain

__all__ = ["Ledger", "create_ledger", "open_ledger"]

CUSTODIAN = "custodian"
_TURN = 100


def create_ledger(config: LedgerConfig, *, who: str = CUSTODIAN) -> Ledger:
    """Make a workspace's ledger, with its key unless there is one.

    Refuses when a ledger or an anchor is there.
    """
    anchor = _anchor(config)
    if anchor is not None:
        anchor.require_absent()
    create_key(config.key_path)
    seal = Seal(path=config.key_path, workspace_id=config.workspace_id)
    ledger = Ledger(choose_store(config), seal, anchor)
    try:
        ledger.begin(workspace_id=config.workspace_id, who=who)
    except BaseException:
        ledger.close()
        raise
    return ledger


def open_ledger(config: LedgerConfig) -> Ledger:
    """Open what `create_ledger` made; it fails closed and never makes one.

    Checks the head's MAC, the end of the chain and the anchor. `Ledger.verify` walks the whole chain.
    """
    seal = Seal(path=config.key_path, workspace_id=config.workspace_id)
    ledger = Ledger(choose_store(config), seal, _anchor(config))
    try:
        ledger.check()
    except BaseException:
        ledger.close()
        raise
    return ledger


def _anchor(config: LedgerConfig) -> Anchor | None:
    return None if config.anchor_path is None else Anchor(config.anchor_path)


class Ledger:
    """Made by `create_ledger` and `open_ledger`.

    Threads may share one; a forked process may go on using it.
    """

    def __init__(self, store: ChainStore, seal: Seal, anchor: Anchor | None) -> None:
        self._store = store
        self._seal = seal
        self._anchor = anchor
        self._seen = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self._store.close()

    def begin(self, *, workspace_id: str, who: str) -> None:
        """Write the first event; `create_ledger` calls it once."""
        event, head = first_page(self._seal, workspace_id=workspace_id, who=who)
        self._store.create(event, head)
        if self._anchor is not None:
            self._anchor.create(self._line(head, Standing.from_text(head.standing)))

    # Populations, analysts, datasets

    def register(self, terms: PopulationTerms, *, who: str = CUSTODIAN) -> None:
        """Fix a population's terms. Equal terms are no news; others are refused, naming what differs."""
        require_name(terms.population, what="population")
        with self._writing() as book:
            known = book.standing.populations.get(terms.population)
            if known is None:
                self._append_terms(book, EventKind.POPULATION, terms, who=who)
            elif known.terms != terms:
                raise terms_conflict(known.terms, terms)

    def change(self, terms: PopulationTerms, *, who: str) -> None:
        """Put other terms in place of a population's; what was spent stays spent.

        Whom the charges protect cannot change under them: with the first charge, neighbours and unit are fixed.
        """
        with self._writing() as book:
            known = book.population(terms.population)
            if (known.totals.charges or known.holds) and not known.terms.protects_as(terms):
                raise PopulationConflict(
                    say(
                        "Population '{population}' has been charged for: its neighbours and unit are fixed, because "
                        "what was released was priced for them. Its budget may change.",
                        population=terms.population,
                    ),
                    population=terms.population,
                )
            if known.reservations and not terms.budget.pure:
                raise PopulationConflict(
                    say(
                        "Budget of '{population}' is reserved for a service that keeps accounts of its own, which is "
                        "proven for pure budgets. Leave its delta at 0.",
                        population=terms.population,
                    ),
                    population=terms.population,
                )
            if known.terms != terms:
                self._append_terms(book, EventKind.CHANGED, terms, who=who)

    def terms(self, population: str) -> PopulationTerms:
        with self._reading() as book:
            return book.population(population).terms

    def populations(self) -> tuple[str, ...]:
        with self._reading() as book:
            return tuple(sorted(book.standing.populations))

    def add_analyst(self, name: str, *, who: str) -> None:
        """Register an analyst; a registered one is no news."""
        require_name(name, what="analyst")
        with self._writing() as book:
            if name not in book.standing.analysts:
                book.append(EventKind.ANALYST, who=who, payload={"analyst": name})

    def analysts(self) -> tuple[str, ...]:
        with self._reading() as book:
            return book.standing.analysts

    def give_version(self, population: str, dataset: str, *, above: int, who: str) -> int:
        """Give out the number of a dataset's next version: larger than `above` and than any given out before.

        A number is given once, whichever copies of a folder ask, so that no two of them mean different rows by it.
        One that is never used is lost and missed by nobody. A dataset never moves to another population.
        """
        require_name(dataset, what="dataset")
        require_version(above + 1)
        with self._writing() as book:
            book.population(population)
            known = book.standing.datasets.get(dataset)
            if known is not None and known.population != population:
                raise PopulationConflict(
                    say(
                        "'{dataset}' belongs to population '{population}' and cannot move to '{other}'. Add the file "
                        "under another dataset name.",
                        dataset=dataset,
                        population=known.population,
                        other=population,
                    ),
                    dataset=dataset,
                    population=known.population,
                )
            version = max(above, book.newest_version(dataset)) + 1
            payload = {"dataset": dataset, "version": version}
            book.append(EventKind.DATASET, who=who, population=population, payload=payload)
            return version

    def record_view(self, what: str, *, who: str) -> None:
        """A custodian looked at something that analysts may not see."""
        with self._writing() as book:
            book.append(EventKind.VIEW, who=who, payload={"what": what})

    # People

    def record_people(self, act: str, person: str, *, who: str, after: ChainMark, **facts: str | int) -> Event | None:
        """Record what was done about a person. `facts` are public, and hold no secret.

        Nothing is recorded, and None is given, where anything was written about people since the mark `after`: what
        was checked then may no longer hold.
        """
        require_name(person, what="person")
        with self._writing() as book:
            if has_news(book, after):
                return None
            return book.append(EventKind.PEOPLE, who=who, payload={"act": act, "person": person, **facts})

    def read_people(self, after: ChainMark = NO_MARK) -> PeopleLog:
        """What was done about people after a mark; all of it where this chain does not have that mark."""
        with self._reading() as book:
            return read_people(book, after)

    def attest(self, *parts: str | int) -> str:
        """The key's word for something that is kept beside the ledger.

        Whoever can write there but has not the key cannot forge it. Another key's word is another.
        """
        return self._seal.attest(parts)

    # Spending

    def spend(self, request: SpendRequest, *, who: str | None = None) -> Receipt:
        """Charge a request once, durably, or refuse it and change nothing.

        The same analyst, request id, plan, dataset version and guarantee meet the charge already made:
        nothing is charged, and the receipt holds the committed answer when there is one. A charge takes the place
        of the hold of its request. `who` acts, where it is not the analyst.
        """
        require_central(request.guarantee)
        with self._writing() as book:
            held = book.transaction.find_request(analyst=request.analyst, request_id=request.request_id)
            if held is not None:
                return self._resume(book, request, held)
            hold = usable_hold(book, request)
            before = admit(book, request, hold)
            event = book.append(
                EventKind.CHARGE,
                who=who or request.analyst,
                population=request.population,
                payload=charge_payload(request, before, hold),
            )
            return make_receipt(event, before, lease=event, replayed=False, answer=None, analyst=request.analyst)

    def hold(self, request: SpendRequest, *, who: str, expires: datetime | None = None) -> Hold:
        """Set aside what a request will cost, or refuse it as a charge would be refused.

        Until it is charged, released or expires, everything is admitted as if it had been charged already. A request
        that is held is no news.
        """
        require_central(request.guarantee)
        with self._writing() as book:
            hold = usable_hold(book, request)
            if hold is None:
                refuse_leased(book, request)
                admit(book, request, None)
                hold = place_hold(book, request, who=who, expires=expires)
            return hold

    def release_hold(self, hold: int, *, who: str, reason: str = "") -> None:
        """Give back what an open hold set aside; `hold` is the sequence number of its event."""
        with self._writing() as book:
            end_hold(book, hold, EventKind.HOLD_RELEASED, who=who, reason=reason)

    def expire_hold(self, hold: int, *, who: str) -> None:
        """Note that an open hold has reached the time at which it expires: until then and without one it does not."""
        with self._writing() as book:
            end_hold(book, hold, EventKind.HOLD_EXPIRED, who=who)

    def requested(self, *, analyst: str, request_id: str) -> str | None:
        """The hash of the plan that the analyst has asked for under this id; `spend` meets it, or refuses another."""
        with self._reading() as book:
            held = book.transaction.find_request(analyst=analyst, request_id=request_id)
            return None if held is None else str(held.payload["plan_hash"])

    def commit_answer(self, receipt: Receipt, answer: bytes) -> bytes:
        """Commit the answer of a charge. The first one wins and is what everybody gets."""
        with self._writing() as book:
            charge = book.transaction.event(receipt.sequence)
            if charge is None or charge.hash != receipt.event_hash or charge.kind is not EventKind.CHARGE:
                raise damaged(say("a receipt's charge is not in the chain"), sequence=receipt.sequence)
            return _commit(book, charge, answer)

    # Services that keep accounts of their own

    def reserve(
        self, population: str, name: str, *, agreement: str, guarantee: PureDP, property: str, who: str
    ) -> bool:
        """Spend the whole of a service of linked counts at once; False where the same was reserved before."""
        with self._writing() as book:
            return reserve(book, population, name, agreement=agreement, guarantee=guarantee, property=property, who=who)

    def reservation(self, population: str, name: str) -> Reservation | None:
        """What was reserved under a name."""
        return self.standing(population).reservations.get(name)

    def record_use(self, population: str, name: str, use: LinkedUse, *, after: int, who: str) -> LinkedUse:
        """Record one use of a reservation, durably, before anything is drawn; `after` is the use before it."""
        with self._writing() as book:
            return record_use(book, population, name, use, after=after, who=who)

    def find_use(self, name: str, *, request: str = "", question: str = "") -> LinkedUse | None:
        """The use of a reservation by a request, the first that answered a question, or the newest of all."""
        with self._reading() as book:
            if request:
                event = book.transaction.find_request(analyst=name, request_id=request)
            elif question:
                event = book.transaction.find_linked(reservation=name, question=question)
            else:
                event = book.transaction.last_linked(reservation=name)
            return None if event is None else read_use(book, event)

    def list_uses(self, name: str) -> tuple[LinkedUse, ...]:
        """Every use of a reservation, the oldest first."""
        with self._reading() as book:
            return tuple(list_uses(book, name))

    def has_lost_uses(self, name: str) -> bool:
        """Whether uses of a reservation may be missing, because an older ledger was put back since."""
        with self._reading() as book:
            return has_lost_uses(book, name)

    def commit_use(self, use: LinkedUse, answer: bytes) -> bytes:
        """Commit the answer of a use. The first one wins and is the only one there will be."""
        with self._writing() as book:
            event = book.transaction.event(use.sequence)
            if event is None or event.kind is not EventKind.LINKED or event.payload["request"] != use.request:
                raise damaged(say("a use of a reservation is not in the chain"), sequence=use.sequence)
            return _commit(book, event, answer)

    def close_reservation(self, population: str, name: str, *, reason: str, who: str) -> bool:
        """End a service; what it reserved stays spent. False where it was closed before."""
        with self._writing() as book:
            return close_reservation(book, population, name, reason=reason, who=who)

    def find_answer(
        self,
        *,
        population: str,
        dataset: str,
        version: int,
        plan_hash: str,
        at_least: CentralGuarantee | None = None,
        analyst: str | None = None,
        request_id: str | None = None,
    ) -> StoredAnswer | None:
        """The best committed answer to the same plan on the same version, at least as accurate as `at_least`.

        With `analyst`, one that costs this analyst nothing goes first, then the cheapest that is good enough;
        without, the most accurate. Before all others goes what the analyst's `request_id` stands for already.
        """
        with self._reading() as book:
            return best_answer(
                book.transaction,
                Wanted(population, dataset, version, plan_hash, at_least),
                analyst=analyst,
                request_id=request_id,
            )

    def replay(
        self,
        stored: StoredAnswer,
        *,
        analyst: str,
        request_id: str,
        question: Mapping[str, object] | None = None,
        who: str | None = None,
    ) -> Receipt:
        """Give a committed answer again, bit for bit, and lease the request id to it.

        Free for whoever paid for it or had it replayed before; another analyst's own cap is debited (and may
        refuse), never the population's budget. What was held for the request is released.
        """
        require_name(request_id, what="request_id")
        with self._writing() as book:
            book.require_analyst(analyst)
            charge = book.transaction.event(stored.sequence)
            if charge is None or charge.hash != stored.event_hash:
                raise damaged(say("a stored answer's charge is not in the chain"), sequence=stored.sequence)
            answer = stored_answer(book.transaction, charge).answer
            held = book.transaction.find_request(analyst=analyst, request_id=request_id)
            if held is not None and held.payload.get("charge", held.sequence) != charge.sequence:
                raise request_conflict(request_id)
            drop_hold(book, stored, analyst=analyst, request_id=request_id)
            before = book.population(charge.population)
            lease = held
            if lease is None:
                free = is_free(book.transaction, charge, analyst=analyst)
                if not free:
                    require_room(before, analyst, stored.charge, population=False)
                payload = replay_payload(
                    charge, before, analyst=analyst, request_id=request_id, free=free, question=question
                )
                lease = book.append(EventKind.REPLAY, who=who or analyst, population=charge.population, payload=payload)
            return make_receipt(charge, before, lease=lease, replayed=True, answer=answer, analyst=analyst)

    def mark(
        self,
        population: str,
        *,
        guarantee: BootstrapDP | Unproven,
        analyst: str,
        plan_hash: str,
        dataset: str,
        version: int,
        who: str | None = None,
    ) -> int:
        """Record for good that something not differentially private was released about a population: as which event."""
        if not isinstance(guarantee, BootstrapDP | Unproven):
            raise QueryRefused(
                say(
                    "A marker is for releases that are not differentially private; received {name}. Spend it instead.",
                    name=type(guarantee).__name__,
                ),
                guarantee=type(guarantee).__name__,
            )
        require_plan_hash(plan_hash)
        require_version(version)
        with self._writing() as book:
            book.population(population)
            book.require_analyst(analyst)
            book.require_dataset(dataset, population=population, version=version)
            payload = {
                "analyst": analyst,
                "dataset": dataset,
                "guarantee": encode_guarantee(guarantee),
                "plan_hash": plan_hash,
                "version": version,
            }
            return book.append(EventKind.MARKER, who=who or analyst, population=population, payload=payload).sequence

    # Suspension

    def suspend(self, dataset: str, *, population: str, reason: str, who: str) -> None:
        """Stop new charges on a dataset until a custodian has looked. `reason` is for custodians only."""
        with self._writing() as book:
            book.require_dataset(dataset, population=population)
            if dataset not in book.standing.suspended:
                payload = {"dataset": dataset, "reason": reason}
                book.append(EventKind.SUSPENDED, who=who, population=population, payload=payload)

    def resume(self, dataset: str, *, who: str) -> None:
        with self._writing() as book:
            if dataset in book.standing.suspended:
                population = book.standing.datasets[dataset].population
                book.append(EventKind.RESUMED, who=who, population=population, payload={"dataset": dataset})

    def suspended(self, dataset: str) -> bool:
        with self._reading() as book:
            return dataset in book.standing.suspended

    def suspended_since(self, dataset: str) -> str | None:
        """When a dataset that is suspended was; None for others."""
        with self._reading() as book:
            if dataset not in book.standing.suspended:
                return None
            events = book.transaction.find_kind(EventKind.SUSPENDED)
        return next((event.when for event in reversed(events) if event.payload["dataset"] == dataset), None)

    # Looking

    def state(self, population: str) -> BudgetState:
        """Spent and remaining, for the population and each analyst who has asked, with every marker."""
        with self._reading() as book:
            standing = book.population(population)
            events = book.transaction.find_markers(population=population)
        if len(events) != standing.markers - standing.lost_markers:
            raise damaged(say("a marker is missing"))
        holders = sorted({*standing.analysts, *(hold.analyst for hold in standing.holds.values())})
        return BudgetState(
            terms=standing.terms,
            population=standing.balance(),
            analysts={name: standing.analyst_balance(name) for name in holders},
            markers=tuple(read_marker(event) for event in events),
            holds=tuple(standing.holds.values()),
            lost_markers=standing.lost_markers,
        )

    def log(self, wanted: LogFilter | None = None) -> Iterator[Event]:
        """The events that are wanted, oldest first, as they stand now; they are read as the caller goes along."""
        found = wanted or LogFilter()
        with self._reading() as book:
            found.check_names(book)
        return read_log(self._store, found, last=book.head.sequence)

    def questions(self, *, analyst: str | None = None, limit: int | None = None) -> list[PastQuestion]:
        """What was charged and replayed, the newest first; of one analyst where one is named."""
        kinds = frozenset({EventKind.CHARGE, EventKind.REPLAY})
        events = list(self.log(LogFilter(analyst=analyst, kinds=kinds, limit=limit)))[::-1]
        with self._reading() as book:
            numbered = list(number_questions(book, events))
        found = []
        for first in range(0, len(numbered), _TURN):
            with self._reading() as book:  # others have their turns between
                found += [read_question(book, event, place) for event, place in numbered[first : first + _TURN]]
        return [question for question in found if question is not None]

    def question(
        self, *, number: int | None = None, analyst: str = "", request_id: str = "", ordinal: int = 0
    ) -> PastQuestion | None:
        """The question of an event; or of an analyst, under a request id or by its place among their own."""
        with self._reading() as book:
            if number is not None:
                event = book.transaction.event(number) if 1 <= number <= book.head.sequence else None
            elif ordinal:
                known = 1 <= ordinal <= book.head.sequence
                event = book.transaction.find_asked(analyst=analyst, ordinal=ordinal) if known else None
            else:
                event = book.transaction.find_request(analyst=analyst, request_id=request_id)
            return None if event is None else read_question(book, event)

    def history(self, population: str) -> tuple[TermsChange, ...]:
        """Every change of a population's terms, the first terms first."""
        return read_history(
            self.log(LogFilter(population=population, kinds=frozenset({EventKind.POPULATION, EventKind.CHANGED})))
        )

    def standing(self, population: str) -> PopulationStanding:
        """Terms and totals as they are now: what the next charge would be held against."""
        with self._reading() as book:
            return book.population(population)

    def warnings(self, population: str) -> tuple[str, ...]:
        """What every release must say, as `BudgetState.warnings`, without reading every marker."""
        return warn_of_markers(population, self.standing(population).markers)

    def require_analyst(self, name: str) -> None:
        """Refuse a name that is not registered, as a charge would."""
        with self._reading() as book:
            book.require_analyst(name)

    def head(self) -> tuple[int, str]:
        """Sequence number and hash of the last event: what an anchor remembers."""
        with self._reading() as book:
            return book.head.sequence, book.head.hash

    def upgrade(self) -> None:
        """Give a ledger of an earlier release the indexes of this one; it works without, only slower."""
        self._store.upgrade()

    def check(self) -> None:
        """The quick look of `open_ledger`: head, end of the chain, anchor."""
        # The anchor is read first: others may be charging, and it must not be newer than the view it is held
        # against.
        newest = None if self._anchor is None else self._anchor.newest()
        with self._reading() as book:
            if newest is not None:
                require_descent(book.transaction, newest)

    def verify(self, *, anchor: str | None = None) -> Verification:
        """Walk the whole chain; LedgerDamaged names the first event that does not hold.

        `anchor` is the hash of a head noted down earlier: it must be in the chain.
        """
        noted = None if anchor is None else anchor.strip().lower()
        lines = [] if self._anchor is None else self._anchor.lines()
        with self._store.reading() as transaction:
            self._open_book(transaction)
            result = verify_chain(transaction, self._seal, lines=lines, noted=noted)
        self._store.inspect()
        return result

    # Transactions

    @contextmanager
    def _reading(self) -> Iterator[Book]:
        with self._store.reading() as transaction:
            yield self._open_book(transaction)

    @contextmanager
    def _writing(self) -> Iterator[Book]:
        """A transaction on the only chain the anchor knows, whose head is anchored before anything can leave."""
        if self._anchor is None:
            with self._store.writing() as transaction:
                book = self._open_book(transaction)
                yield book
            self._seen = max(self._seen, book.head.sequence)
            return
        with self._anchor.hold() as held:
            with self._store.writing() as transaction:
                book = self._open_book(transaction)
                require_descent(transaction, held.newest)
                yield book
            self._seen = max(self._seen, book.head.sequence)
            try:
                held.cover(self._line(book.head, book.standing))
            except LedgerUnavailable as error:
                raise LedgerUnanchored(error.message, **error.fields) from None

    def _line(self, head: Head, standing: Standing) -> AnchorLine:
        return AnchorLine.sealed(self._seal, sequence=head.sequence, hash=head.hash, spent=standing.spent)

    def _open_book(self, transaction: Transaction) -> Book:
        try:
            book = Book(transaction, self._seal)
        except LedgerDamaged:
            book = self._open_renewed(transaction)
        if book.head.sequence < self._seen:
            raise damaged(say("it is older than what this process has seen"), sequence=book.head.sequence)
        self._seen = book.head.sequence
        return book

    def _open_renewed(self, transaction: Transaction) -> Book:
        """With the key that replaced this ledger's since it was opened, or is about to; else the damage stands."""
        for seal in self._seal.renewals():
            with suppress(LedgerDamaged):
                book = Book(transaction, seal)
                self._seal = seal.settle()
                return book
        return Book(transaction, self._seal)

    # What custodians replace

    def begin_anchor(self, fresh: Anchor, *, lost: bool, who: str) -> None:
        """Go on with another anchor, as an event that the one before it remembers too."""
        fresh.require_absent()
        with self._writing() as book:
            book.append(EventKind.ANCHORED, who=who, payload={"lost": lost})
        fresh.create(self._line(book.head, book.standing))
        self._anchor = fresh

    def renew_key(self, seal: Seal, *, lost: bool, who: str) -> None:
        """Go on with another key, as an event that it signs."""
        before = self._seal
        try:
            with self._writing() as book:
                book.renew(seal)
                book.append(EventKind.KEYED, who=who, payload={"lost": lost})
                self._seal = seal
        except BaseException:
            self._seal = before
            raise

    def migrate(self, *, who: str) -> int:
        """Bring the store to this release's format; which one it had."""
        with self._writing() as book:
            before = book.transaction.format
            if before != FORMAT:
                book.append(EventKind.MIGRATED, who=who, payload={"format": FORMAT})
            return before

    # Steps of a spend

    def _resume(self, book: Book, request: SpendRequest, held: Event) -> Receipt:
        """Meet one's own charge again, or find that the request id stands for something else."""
        if not same_request(held, request):
            raise request_conflict(request.request_id)
        charge = leased_charge(book.transaction, held)
        answer = book.transaction.answer(charge.sequence)
        if answer is None:
            book.transaction.require_unanswered(charge.sequence)
        if answer is None and request.dataset in book.standing.suspended:  # the charge stands all the same
            raise ChargedNotAnswered(dataset=request.dataset, request_id=request.request_id, suspended=True)
        standing = book.population(request.population)
        shown = None if answer is None else answer.answer
        return make_receipt(charge, standing, lease=held, replayed=True, answer=shown, analyst=request.analyst)

    @staticmethod
    def _append_terms(book: Book, kind: EventKind, terms: PopulationTerms, *, who: str) -> None:
        book.append(kind, who=who, population=terms.population, payload={"terms": encode_terms(terms)})


def _commit(book: Book, charge: Event, answer: bytes) -> bytes:
    """The committed answer of an event that has a price: the one there is, else this one."""
    committed = book.transaction.answer(charge.sequence)
    if committed is not None:
        return committed.answer
    book.transaction.require_unanswered(charge.sequence)
    digest = sha256_hex(answer)
    book.transaction.insert_answer(AnswerRow(charge.sequence, digest, answer))
    payload = {"charge": charge.sequence, "sha256": digest}
    book.append(EventKind.ANSWER, who=charge.who, population=charge.population, payload=payload)
    return answer
