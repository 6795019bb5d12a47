"""The one way through: check → lease → charge or mark → draw → commit → leave.

`release` is the only place that knows this order; docs/proofs/order.md proves what follows from it. What differs
between kinds of release is a `Passage`: what is asked, how it is drawn, what leaves. How it is paid for and kept is its
`Account`: a charge on the ledger, or a marker and a line in a journal.

What can go wrong before the charge or the marker depends on the text, the cards and the ledger alone. What goes wrong
after it is told in a fixed sentence, and the charge or the marker stays.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Generic, TypeVar

from discreet.cards import Card
from discreet.catalogue import say
from discreet.engines import Engine, Holding, Prepared
from discreet.errors import (
    ChargedNotAnswered,
    DatasetSuspended,
    DiscreetError,
    LedgerDamaged,
    LedgerUnanchored,
    LedgerUnavailable,
    PopulationConflict,
    Refused,
    RequestConflict,
)
from discreet.guarantees import BootstrapDP, CentralGuarantee, Unproven
from discreet.ledger import (
    FAILED_AFTER_CHARGE,
    FAILED_DURING_BOOTSTRAP,
    FAILED_DURING_UNPROVEN,
    Hold,
    Ledger,
    Receipt,
    SpendRequest,
)
from discreet.release.journals.journal import Journal, JournalEntry
from discreet.sql import Plan
from discreet.workspace import Dataset

__all__ = [
    "Account",
    "Charge",
    "Held",
    "Mark",
    "OpenEngine",
    "Passage",
    "PlacedMarker",
    "Request",
    "check_terms",
    "hold",
    "letting_go",
    "ready_engine",
    "release",
    "require_active",
]

Paid = TypeVar("Paid")
Drawn = TypeVar("Drawn")
Stored = TypeVar("Stored")
Given = TypeVar("Given")
Entry = TypeVar("Entry", bound=JournalEntry)

_READY: Final[ContextVar[list[Holding] | None]] = ContextVar("_READY", default=None)

OpenEngine = Callable[[Mapping[str, Dataset]], Engine]
"""Gives an engine for these datasets, perhaps one that is open already; whoever opens engines closes them."""


@dataclass(frozen=True, slots=True)
class Request:
    """What stands on the ledger with every release: who asks, under which id, what of which datasets.

    `datasets` holds every dataset of the plan by name; `first` names the one that the ledger notes. `words` are what
    was asked, as it was asked; `who` acts, where it is not the analyst.
    """

    datasets: Mapping[str, Dataset]
    first: str
    analyst: str
    request_id: str
    plan_hash: str
    words: Mapping[str, object] | None = None
    who: str | None = None

    @property
    def question(self) -> Mapping[str, object] | None:
        """What is kept of it on the ledger: its words, and the versions they were read against."""
        if self.words is None:
            return None
        return {**self.words, "versions": {name: item.version for name, item in self.datasets.items()}}

    @property
    def dataset(self) -> Dataset:
        return self.datasets[self.first]

    @property
    def population(self) -> str:
        return self.dataset.card.population

    def charge(self, guarantee: CentralGuarantee, mechanisms: Sequence[Mapping[str, str]]) -> SpendRequest:
        """What the ledger is asked to charge for it."""
        return SpendRequest(
            population=self.population,
            dataset=self.dataset.name,
            version=self.dataset.version,
            analyst=self.analyst,
            request_id=self.request_id,
            plan_hash=self.plan_hash,
            mechanisms=tuple(mechanisms),
            guarantee=guarantee,
            question=self.question,
        )


@dataclass(frozen=True, slots=True)
class Held(Generic[Paid, Stored]):
    """What stands for a request: the charge or marker that paid for it, and what was stored under it before."""

    paid: Paid
    stored: Stored | None


class Account(ABC, Generic[Paid, Drawn, Stored]):
    """How a release is paid for, and where what was drawn is kept."""

    request: Request

    @abstractmethod
    def lease(self, ledger: Ledger) -> AbstractContextManager[Held[Paid, Stored] | None]:
        """What answers the request already; nobody else settles the same request meanwhile, or meets what we did."""

    @abstractmethod
    def settle(self, ledger: Ledger) -> Held[Paid, Stored]:
        """Charge or mark, durably; or meet what the same request has left before."""

    @abstractmethod
    def commit(self, ledger: Ledger, paid: Paid, drawn: Drawn) -> Stored:
        """Keep what was drawn, durably; the first that is kept is the one that leaves."""

    @property
    @abstractmethod
    def failure(self) -> str:
        """Why a dataset is suspended when the draw fails."""

    @abstractmethod
    def unmade(self) -> DiscreetError:
        """The fixed words for a draw that failed."""

    def paused(self, ledger: Ledger, suspended: DatasetSuspended) -> DiscreetError:
        """What is told where a dataset is suspended before anything is settled now."""
        return suspended

    @abstractmethod
    def stopped(self, stopped: BaseException) -> BaseException:
        """What is told when something other than the draw stops a release that was settled."""


class Passage(ABC, Generic[Paid, Drawn, Stored, Given]):
    """One release on its way: what differs from every other."""

    @abstractmethod
    def check(self, ledger: Ledger) -> None:
        """Refuse what terms, analysts and the request itself speak against. No row is looked at."""

    @abstractmethod
    def account(self) -> Account[Paid, Drawn, Stored]:
        """Its price, and how it is paid."""

    @abstractmethod
    def prepare(self, ledger: Ledger) -> Callable[[], Drawn]:
        """Open and load everything that the draw needs; what fails here costs nothing.

        What is returned looks at the rows and adds noise. Only `release` calls it, once the charge or marker stands.
        """

    @abstractmethod
    def leave(self, ledger: Ledger, paid: Paid, stored: Stored) -> Given:
        """What was stored, as this analyst gets it now."""


def release(passage: Passage[Paid, Drawn, Stored, Given], ledger: Ledger) -> Given:
    """Release within the budget, or raise; never both charge and stay silent about it."""
    passage.check(ledger)
    account = passage.account()
    with letting_go(), account.lease(ledger) as found:
        try:
            draw = None if found is not None else passage.prepare(ledger)
        except DatasetSuspended as suspended:
            raise account.paused(ledger, suspended) from None
        held = account.settle(ledger) if found is None else found
        try:
            stored = held.stored
            if stored is None:
                assert draw is not None, "what a lease finds has been drawn"
                with _suspending(account, ledger, told=(LedgerUnavailable, LedgerDamaged)):
                    drawn = draw()
                with _suspending(account, ledger, told=(DiscreetError,)):
                    stored = account.commit(ledger, held.paid, drawn)
            return passage.leave(ledger, held.paid, stored)
        except (Refused, KeyboardInterrupt) as stopped:
            raise account.stopped(stopped) from None


def hold(
    passage: Passage[Receipt, Drawn, Stored, Given], ledger: Ledger, *, who: str, expires: datetime | None = None
) -> Hold:
    """Check a release and set its price aside; released under the same request id, its charge takes that place."""
    passage.check(ledger)
    account = passage.account()
    assert isinstance(account, Charge), "only charges can be set aside"
    with letting_go():
        passage.prepare(ledger)
    return ledger.hold(account.ways[0], who=who, expires=expires)


@contextmanager
def _suspending(
    account: Account[Paid, Drawn, Stored], ledger: Ledger, *, told: tuple[type[DiscreetError], ...]
) -> Iterator[None]:
    """Whatever fails here, but for what may be `told`, suspends the datasets and is told in fixed words.

    The cause may follow from the rows, so neither it nor its traceback is shown or chained.
    """
    try:
        yield
    except told:
        raise
    except Exception:
        request = account.request
        for name in request.datasets:
            ledger.suspend(name, population=request.population, reason=account.failure, who="discreet")
        raise account.unmade() from None


# --- accounts -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Charge(Account[Receipt, Drawn, bytes]):
    """Paid from the budget; what was drawn is committed on the ledger under the charge, by `keep`.

    `ways` are those in which it may be charged: by the first, unless the request id holds a charge made another way.
    `find` gives a stored answer that serves instead. `unproven` lists what no proof holds for, and why: each leaves a
    marker beside the charge.
    """

    request: Request
    ways: Sequence[SpendRequest]
    keep: Callable[[Ledger, Receipt, Drawn], bytes]
    find: Callable[[Ledger], Receipt | None] = lambda _: None
    unproven: Sequence[tuple[Request, str]] = ()
    failure: str = FAILED_AFTER_CHARGE

    @contextmanager
    def lease(self, ledger: Ledger) -> Iterator[Held[Receipt, bytes] | None]:
        """The ledger leases a request by the charge itself: whoever comes second meets the first one's."""
        found = self.find(ledger)
        yield None if found is None else Held(found, found.answer)

    def settle(self, ledger: Ledger) -> Held[Receipt, bytes]:
        receipt = self._charge(ledger)
        try:
            for request, reason in self.unproven if receipt.answer is None else ():
                _mark(ledger, request, Unproven(reason))
        except (Refused, KeyboardInterrupt) as stopped:
            raise self.stopped(stopped) from None
        return Held(receipt, receipt.answer)

    def _charge(self, ledger: Ledger) -> Receipt:
        """A retry may be charged otherwise than it was first: it then meets its charge under that way."""
        *others, last = self.ways
        for way in others:
            try:
                return _spend(way, ledger, who=self.request.who)
            except RequestConflict:
                continue
        return _spend(last, ledger, who=self.request.who)

    def commit(self, ledger: Ledger, paid: Receipt, drawn: Drawn) -> bytes:
        return self.keep(ledger, paid, drawn)

    def unmade(self) -> DiscreetError:
        return self._unanswered(suspended=True)

    def paused(self, ledger: Ledger, suspended: DatasetSuspended) -> DiscreetError:
        """Where the request was charged before, its charge stands."""
        request = self.request
        found = ledger.question(analyst=request.analyst, request_id=request.request_id)
        mine = found is not None and found.plan_hash in {way.plan_hash for way in self.ways}
        return self._unanswered(suspended=True) if mine else suspended

    def stopped(self, stopped: BaseException) -> BaseException:
        return stopped if isinstance(stopped, RequestConflict) else self._unanswered(suspended=False)

    def _unanswered(self, *, suspended: bool) -> ChargedNotAnswered:
        request = self.request
        return ChargedNotAnswered(dataset=request.first, request_id=request.request_id, suspended=suspended)


@dataclass(frozen=True, slots=True)
class PlacedMarker:
    """The marker of a release: its number on the ledger, and whether the release was made before."""

    number: int
    replayed: bool


@dataclass(frozen=True, slots=True)
class Mark(Account[PlacedMarker, Drawn, Entry]):
    """Not differentially private: a permanent marker on the ledger, and what was drawn in a journal of its own.

    `questions` are what the journal may know the request by, `entry` makes its line. `kind` and `made` name the release
    and what it makes, for the words.
    """

    request: Request
    guarantee: Unproven | BootstrapDP
    journal: Journal[Entry]
    questions: Sequence[tuple[object, ...]]
    entry: Callable[[int, Drawn], Entry]
    kind: str
    made: str

    @contextmanager
    def lease(self, ledger: Ledger) -> Iterator[Held[PlacedMarker, Entry] | None]:
        """The journal is held until the release has left, so that one question asked twice at once is drawn once."""
        with self.journal.held():
            self._check_request_id()
            found = self.journal.find(*self.questions)
            yield None if found is None else Held(PlacedMarker(found.marker, replayed=True), found)

    def _check_request_id(self) -> None:
        request_id = self.request.request_id
        held = self.journal.find_request(who=self.request.analyst, request_id=request_id)
        if held is not None and held.question not in self.questions:
            raise RequestConflict(
                say(
                    "request id {request_id} was used for another {kind}. Choose a new one; nothing was released.",
                    request_id=request_id,
                    kind=self.kind,
                ),
                request_id=request_id,
            )

    def settle(self, ledger: Ledger) -> Held[PlacedMarker, Entry]:
        return Held(PlacedMarker(_mark(ledger, self.request, self.guarantee), replayed=False), None)

    def commit(self, ledger: Ledger, paid: PlacedMarker, drawn: Drawn) -> Entry:
        entry = self.entry(paid.number, drawn)
        self.journal.append(entry)
        return entry

    @property
    def failure(self) -> str:
        return FAILED_DURING_BOOTSTRAP if isinstance(self.guarantee, BootstrapDP) else FAILED_DURING_UNPROVEN

    def unmade(self) -> DiscreetError:
        first = self.request.first
        return Refused(
            say(
                "{made} could not be made, and '{dataset}' is suspended. Its marker stays; nothing was released or "
                "charged. Ask the custodian; nothing more can be said here.",
                made=self.made,
                dataset=first,
            ),
            dataset=first,
        )

    def stopped(self, stopped: BaseException) -> BaseException:
        return stopped


def _mark(ledger: Ledger, request: Request, guarantee: Unproven | BootstrapDP) -> int:
    dataset = request.dataset
    return ledger.mark(
        request.population,
        guarantee=guarantee,
        analyst=request.analyst,
        plan_hash=request.plan_hash,
        dataset=dataset.name,
        version=dataset.version,
        who=request.who,
    )


def _spend(request: SpendRequest, ledger: Ledger, *, who: str | None) -> Receipt:
    """Charge, and tell the request id wherever the ledger cannot say what became of it."""
    try:
        return ledger.spend(request, who=who)
    except LedgerUnanchored:
        raise ChargedNotAnswered(dataset=request.dataset, request_id=request.request_id, suspended=False) from None
    except LedgerUnavailable as error:
        # A connection lost while committing may have charged: the id makes asking again safe either way.
        told = say("{message} The request id was {request_id}.", message=error.message, request_id=request.request_id)
        raise LedgerUnavailable(told, **{**error.fields, "request_id": request.request_id}) from None


# --- what passages check and prepare with ---------------------------------------------------------------------------


def check_terms(cards: Sequence[Card], ledger: Ledger) -> None:
    """A card added before its population's terms changed would price for other neighbours than it is charged for."""
    population = cards[0].population
    terms = ledger.terms(population)
    for card in cards:
        assert card.population == population, "a plan is about one population"
        if not terms.protects_as(card.terms()):
            raise PopulationConflict(
                say(
                    "The terms of population '{population}' have changed since '{dataset}' was added. The custodian "
                    "adds it again, with a card that agrees and --replace.",
                    population=card.population,
                    dataset=card.dataset,
                ),
                population=card.population,
                dataset=card.dataset,
            )


def require_active(datasets: Mapping[str, Dataset], ledger: Ledger, *, beside: str | None = None) -> None:
    """Nothing new is drawn from a suspended dataset; what was stored is still given.

    A charge itself looks at the dataset that it names: `beside` leaves that one out.
    """
    for name in datasets:
        if name != beside and ledger.suspended(name):
            raise DatasetSuspended(dataset=name)


@contextmanager
def letting_go() -> Iterator[None]:
    """Engines that were made ready and not used, because a charge was refused, let go of what they hold for it."""
    ready: list[Holding] = []
    before = _READY.set(ready)
    try:
        yield
    finally:
        _READY.reset(before)
        for engine in ready:
            with suppress(Exception):  # what an engine says is never shown, and what was answered leaves
                engine.let_go()


def ready_engine(open_engine: OpenEngine, datasets: Mapping[str, Dataset], plan: Plan, *, undone: str) -> Engine:
    """An engine that is ready for the plan; what fails here leaves nothing `charged`, or no marker."""
    try:
        engine = open_engine(datasets)
        if isinstance(engine, Prepared):
            engine.prepare(plan)
        if isinstance(engine, Holding) and (ready := _READY.get()) is not None:
            ready.append(engine)
        return engine
    except DiscreetError:
        raise
    except Exception:
        name = plan.dataset
        raise Refused(
            say(
                "the engine that holds the rows of '{name}' cannot be reached. Nothing was charged; ask again later, "
                "or ask the custodian.",
                name=name,
            )
            if undone == "charged"
            else say(
                "the engine that holds the rows of '{name}' cannot be reached. Nothing was released or marked; ask "
                "again later, or ask the custodian.",
                name=name,
            ),
            dataset=name,
        ) from None
