"""The chain as a log: who did what, when, and what it cost.

It is read in pages, so that a long ledger is never whole in memory and no transaction waits for a slow reader.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from datetime import UTC, date, datetime, timedelta
from typing import Any, Final

from discreet.catalogue import Phrase, say
from discreet.errors import ParameterInvalid, UnknownName
from discreet.guarantees import PopulationTerms
from discreet.ledger.accounting import cost_of
from discreet.ledger.book import Book
from discreet.ledger.chain_stores.store import ChainStore
from discreet.ledger.events import Event, EventKind, decode_guarantee, decode_terms, encode_terms
from discreet.ledger.holds import read_time
from discreet.ledger.standing import is_free_replay
from discreet.ledger.stored_reasons import tell_stored

__all__ = ["LogEntry", "LogFilter", "TermsChange", "describe_event", "read_history", "read_log", "read_moment"]

PAGE: Final = 500
_FIXED_SPACES: Final = "\N{NO-BREAK SPACE}\N{NARROW NO-BREAK SPACE}"
_LONGEST: Final = 200
_SHOWN_APART: Final = frozenset(
    {
        "analyst",
        "dataset",
        "version",
        "request_id",
        "guarantee",
        "before",
        "mechanisms",
        "terms",
        "plan_hash",
        "free",
        "asked",
    }
)
_TOLD: Final = {
    fact.template: fact
    for fact in (
        Phrase("act"),
        Phrase("agreement"),
        Phrase("change"),
        Phrase("charge"),
        Phrase("decision"),
        Phrase("expires"),
        Phrase("hold"),
        Phrase("link"),
        Phrase("person"),
        Phrase("proposal"),
        Phrase("purpose"),
        Phrase("request"),
        Phrase("reservation"),
        Phrase("role"),
        Phrase("roles"),
        Phrase("token"),
        Phrase("workspace"),
    )
}
_COUNTED: Final = frozenset({EventKind.CHARGE, EventKind.REPLAY, EventKind.HOLD, EventKind.RESERVED})


@dataclass(frozen=True, slots=True)
class LogFilter:
    """Which events are wanted. `since` and `until` are times as events have them; `until` itself is too late.

    An analyst's events are charges, replays, markers, holds and requests. `limit` keeps the newest; what comes `after`
    an event is read without what came before it.
    """

    analyst: str | None = None
    population: str | None = None
    dataset: str | None = None
    kinds: frozenset[EventKind] = frozenset()
    since: str | None = None
    until: str | None = None
    limit: int | None = None
    after: int = 0

    def __post_init__(self) -> None:
        if self.limit is not None and self.limit < 1:
            raise ParameterInvalid(parameter="limit", rule=say("must be 1 or more"), given=str(self.limit))

    def check_names(self, book: Book) -> None:
        """A name that nothing was ever written about is a slip of the pen, not an empty log."""
        if self.population is not None:
            book.population(self.population)
        if self.analyst is not None:
            book.require_analyst(self.analyst)
        if self.dataset is not None and self.dataset not in book.standing.datasets:
            raise UnknownName(
                sort=Phrase("dataset"), name=self.dataset, where=say("the ledger"), known=book.standing.datasets
            )

    def admits(self, event: Event) -> bool:
        """What the store could not decide by its columns."""
        return (
            (self.dataset is None or event.payload.get("dataset") == self.dataset)
            and (self.since is None or self.since <= event.when)
            and (self.until is None or event.when < self.until)
        )


def read_log(store: ChainStore, wanted: LogFilter, *, last: int) -> Iterator[Event]:
    """The wanted events up to the `last`, oldest first. No transaction is open between two of them."""
    if wanted.limit is None:
        yield from _walk(store, wanted, last=last, newest_first=False)
        return
    newest = []
    for event in _walk(store, wanted, last=last, newest_first=True):
        newest.append(event)
        if len(newest) == wanted.limit:
            break
    yield from reversed(newest)


def _walk(store: ChainStore, wanted: LogFilter, *, last: int, newest_first: bool) -> Iterator[Event]:
    low, high = wanted.after + 1, last
    while low <= high:
        with store.reading() as transaction:
            page = transaction.page(
                low=low,
                high=high,
                kinds=sorted(wanted.kinds),
                population=wanted.population,
                analyst=wanted.analyst,
                newest_first=newest_first,
                size=PAGE,
            )
        yield from filter(wanted.admits, page)
        if len(page) < PAGE:
            return
        low, high = (low, page[-1].sequence - 1) if newest_first else (page[-1].sequence + 1, high)


@dataclass(frozen=True, slots=True)
class LogEntry:
    """One line of the log. `cost` is None for what costs nothing."""

    sequence: int
    when: str
    who: str
    kind: str
    population: str
    analyst: str | None
    dataset: str | None
    version: int | None
    request_id: str | None
    cost: Mapping[str, str] | None
    cost_text: str
    what: str

    def to_dict(self) -> dict[str, object]:
        return {field.name: getattr(self, field.name) for field in fields(self)}


def describe_event(event: Event, *, reasons: bool) -> LogEntry:
    """An event for people and machines; why a dataset was suspended only with `reasons`, which custodians may see."""
    payload = event.payload
    cost = payload["guarantee"] if event.kind in _COUNTED and not is_free_replay(event) else None
    return LogEntry(
        sequence=event.sequence,
        when=event.when,
        who=event.who,
        kind=event.kind.value,
        population=event.population,
        analyst=payload.get("analyst"),
        dataset=payload.get("dataset"),
        version=payload.get("version"),
        request_id=payload.get("request_id", payload.get("request")),
        cost=cost,
        cost_text="" if cost is None else _tell_cost(event.kind, str(cost_of(decode_guarantee(cost)))),
        what=_tell(event, reasons=reasons),
    )


def _tell_cost(kind: EventKind, cost: str) -> str:
    if kind is EventKind.REPLAY:
        return say("{cost} (analyst's cap only)", cost=cost)
    if kind is EventKind.HOLD:
        return say("{cost} (held)", cost=cost)
    return say("{cost} (reserved)", cost=cost) if kind is EventKind.RESERVED else cost


def _tell(event: Event, *, reasons: bool) -> str:
    payload = event.payload
    analyst = payload.get("analyst", event.who)
    parts = [say("for {analyst}", analyst=analyst)] if analyst != event.who else []
    if "terms" in payload:
        parts.append(decode_terms(payload["terms"]).budget.tell())
    if "plan_hash" in payload:
        parts.append(say("plan {hash}", hash=payload["plan_hash"][:12]))
    if event.kind is EventKind.MARKER:
        reason = payload["guarantee"].get("reason")
        why = say("bootstrap") if reason is None else tell_stored(reason)
        parts.append(say("not differentially private: {reason}", reason=why))
    if event.kind is EventKind.RESTORED:
        parts.append(_tell_restored(payload))
    hidden = _SHOWN_APART if reasons or event.kind is not EventKind.SUSPENDED else _SHOWN_APART | {"reason"}
    parts += [_tell_fact(name, value) for name, value in payload.items() if _plain(name, value, hidden)]
    text = say("; ").join(parts)
    # A space that does not break is what French has before some signs, and no letter to be hidden.
    return "".join(
        letter if letter.isprintable() or letter in _FIXED_SPACES else "\N{REPLACEMENT CHARACTER}" for letter in text
    )[:_LONGEST]


def _tell_restored(payload: Mapping[str, Any]) -> str:
    if payload["spent"] is None or payload["anchor"] is None:
        return say("an older ledger was put back, all that remained is written off")
    return say(
        "an older ledger was put back, spent up to event {sequence} of the ledger before is written off",
        sequence=payload["anchor"]["sequence"],
    )


def _tell_fact(name: str, value: str | int) -> str:
    """A fact under the name that the payload gives it; those that people ask for are told in their language."""
    if name == "reason":
        return say("reason {reason}", reason=tell_stored(str(value)))
    told = _TOLD.get(name)
    return f"{name} {_short(value)}" if told is None else f"{told} {_short(value)}"


def _plain(name: str, value: object, hidden: Iterable[str]) -> bool:
    return name not in hidden and isinstance(value, str | int)


def _short(value: str | int) -> str:
    """Digests are told by their beginning."""
    shown = str(value)
    return shown[:12] if len(shown) >= 32 and set(shown) <= set("0123456789abcdef") else shown


@dataclass(frozen=True, slots=True)
class TermsChange:
    """Terms put in place: by whom, when, and in place of which; `before` is None for a population's first."""

    sequence: int
    when: str
    who: str
    before: PopulationTerms | None
    after: PopulationTerms

    def changed(self) -> dict[str, tuple[str | None, str]]:
        """What differs, from and to, as exact text."""
        old: Mapping[str, str | None] = {} if self.before is None else encode_terms(self.before)
        new = encode_terms(self.after)
        return {name: (old.get(name), value) for name, value in new.items() if old.get(name) != value}

    def to_dict(self) -> dict[str, Any]:
        changed = {name: {"from": old, "to": new} for name, (old, new) in self.changed().items()}
        return {"sequence": self.sequence, "when": self.when, "who": self.who, "changed": changed}


def read_history(events: Iterable[Event]) -> tuple[TermsChange, ...]:
    """The terms of a population one after the other, from the events that put them in place."""
    history: list[TermsChange] = []
    for event in events:
        before = history[-1].after if history else None
        after = decode_terms(event.payload["terms"])
        history.append(TermsChange(event.sequence, event.when, event.who, before, after))
    return tuple(history)


def read_moment(given: str | None, *, parameter: str, end: bool = False) -> str | None:
    """A day, or a time, as events have it; without a zone it is UTC. A day that is an `end` is meant whole."""
    if given is None:
        return None
    try:
        day = date.fromisoformat(given)
    except ValueError:
        day = None
    try:
        if day is not None:
            moment = datetime(day.year, day.month, day.day, tzinfo=UTC) + timedelta(days=1 if end else 0)
        else:
            moment = datetime.fromisoformat(given)
            moment = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
        return read_time(moment)
    except (ValueError, OverflowError):
        rule = say("must be a day or a time, such as 2026-11-17 or 2026-11-17T09:30")
        raise ParameterInvalid(parameter=parameter, rule=rule, given=ascii(given[:40])) from None
