"""Where events are kept: what the two stores share.

A store hands out transactions. A writing transaction holds the ledger's only write lock from its first
statement, so what it reads is what it writes after; others wait. Everything is durable when the transaction
has ended.
"""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, Generic, Protocol, TypeVar

from discreet.catalogue import say
from discreet.errors import LedgerDamaged, LedgerUnavailable
from discreet.ledger.events import Event, EventKind, KindUnknown, require_payload, sha256_hex

if TYPE_CHECKING:
    from discreet.ledger.chain_stores.sqlite_store import SqliteStore

__all__ = [
    "COLUMNS",
    "FORMAT",
    "KNOWN_FORMATS",
    "PATIENCE_SECONDS",
    "AnswerRow",
    "ChainStore",
    "Head",
    "Offer",
    "ProcessConnection",
    "StoreDialect",
    "Transaction",
    "answer_gone",
    "damaged",
    "lookups",
    "newer",
]

FORMAT: Final = 3
KNOWN_FORMATS: Final = frozenset({1, 2, 3})
PATIENCE_SECONDS: Final = 600
COLUMNS: Final = "sequence, kind, population, analyst, request_id, plan_hash, body, hash"
_QUESTIONS: Final = "kind IN ('charge', 'replay')"
_BATCH: Final = 500
_DIGEST: Final = re.compile(r"[0-9a-f]{64}")
_UNREADABLE: Final = (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError)
_SHAPES: Final[Mapping[str, type]] = {
    "agreement": str,
    "analyst": str,
    "asked": dict,
    "before": dict,
    "charge": int,
    "counters": str,
    "dataset": str,
    "guarantee": dict,
    "mechanisms": list,
    "plan_hash": str,
    "question": str,
    "request": str,
    "request_id": str,
    "reservation": str,
    "sample": str,
    "sha256": str,
    "version": int,
}
_SHAPED: Final = frozenset(
    {EventKind.CHARGE, EventKind.ANSWER, EventKind.REPLAY, EventKind.MARKER, EventKind.HOLD, EventKind.LINKED}
)
Connection = TypeVar("Connection")


@dataclass(frozen=True, slots=True)
class Head:
    """The last event, the standing after it, and the key's word for both."""

    sequence: int
    hash: str
    standing: str
    mac: str


@dataclass(frozen=True, slots=True)
class AnswerRow:
    """A committed answer and its hash, by the sequence number of its charge."""

    sequence: int
    sha256: str
    answer: bytes


@dataclass(frozen=True, slots=True)
class StoreDialect:
    """How a store reads from an event's bytes, as text.

    `charge` is the number of the charge that an answer or a replay names. It is the expression of an index, and so it
    is cut from the canonical bytes: SQLite takes no JSON in the schema of a file it does not trust. `field` is
    anything of a payload, with {} for its name.
    """

    charge: str
    field: str

    @property
    def indexes(self) -> tuple[str, ...]:
        """By which the answer of a charge and an analyst's questions are found.

        Ledgers made before them get them by `ChainStore.upgrade`.
        """
        return (
            f"CREATE INDEX IF NOT EXISTS answered ON events (({self.charge})) WHERE kind = 'answer'",
            f"CREATE INDEX IF NOT EXISTS asked ON events (analyst, sequence) WHERE {_QUESTIONS}",
        )


@dataclass(frozen=True, slots=True)
class Offer:
    """Answered charges of one price, read without checking: those the analyst `has`, or the others.

    `guarantee` is as in a payload, as JSON text.
    """

    guarantee: str
    has: bool
    first: int
    last: int


class ChainStore(Protocol):
    """A place for one ledger."""

    def create(self, event: Event, head: Head) -> None:
        """Make the ledger with its first event; refuse when anything is there."""

    def reading(self) -> AbstractContextManager[Transaction]:
        """A consistent view."""

    def writing(self) -> AbstractContextManager[Transaction]:
        """The one writer; waits for its turn, commits when the block ends and rolls back when it raises."""

    def install(self, source: SqliteStore) -> None:
        """Put a copy of another ledger in this one's place; what was here is kept beside it, out of use."""

    def upgrade(self) -> None:
        """Give a ledger of an earlier release the indexes of this one. It works without, only slower."""

    def inspect(self) -> None:
        """The store's own look at itself, beyond what the chain can tell; LedgerDamaged where it finds fault."""

    def close(self) -> None: ...


class Transaction:
    """The statements of the ledger. `run` executes SQL with '?' placeholders and returns a cursor."""

    def __init__(self, run: Callable[[str, Sequence[object]], Any], dialect: StoreDialect) -> None:
        self._run = run
        self._dialect = dialect
        self.format = FORMAT

    def head(self) -> Head:
        row = self._run("SELECT format, sequence, hash, standing, mac FROM head", ()).fetchone()
        if row is None:
            raise damaged(say("its head is missing"))
        if row[0] not in KNOWN_FORMATS:
            if isinstance(row[0], int) and row[0] > max(KNOWN_FORMATS):
                raise newer(say("its format is not one that this version knows"))
            raise damaged(say("its head is of no known format"))
        self.format = int(row[0])
        return _checked_head(row[1:])

    def upgrade(self) -> None:
        """What this release's format has beside an earlier one's. The head says so with the next event."""
        for index in self._dialect.indexes:
            self._run(index, ())
        self.format = FORMAT

    def insert_head(self, head: Head) -> None:
        values = (1, FORMAT, head.sequence, head.hash, head.standing, head.mac)
        self._run("INSERT INTO head (one, format, sequence, hash, standing, mac) VALUES (?, ?, ?, ?, ?, ?)", values)

    def fill(self, events: Iterable[Event], answers: Iterable[AnswerRow], head: Head) -> None:
        """All of a ledger, into an empty one."""
        for event in events:
            self.insert_event(event)
        for answer in answers:
            self.insert_answer(answer)
        self.insert_head(head)

    def replace_head(self, head: Head) -> None:
        values = (FORMAT, head.sequence, head.hash, head.standing, head.mac)
        self._run("UPDATE head SET format = ?, sequence = ?, hash = ?, standing = ?, mac = ?", values)

    def insert_event(self, event: Event) -> None:
        analyst, request_id, plan_hash = lookups(event)
        values = (event.sequence, event.kind.value, event.population, analyst, request_id, plan_hash)
        self._run(
            f"INSERT INTO events ({COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (*values, event.body, event.hash),
        )

    def insert_answer(self, row: AnswerRow) -> None:
        values = (row.sequence, row.sha256, row.answer)
        self._run("INSERT INTO answers (sequence, sha256, answer) VALUES (?, ?, ?)", values)

    def last_sequence(self) -> int:
        row = self._run("SELECT max(sequence) FROM events", ()).fetchone()
        return int(row[0] or 0)

    def event(self, sequence: int) -> Event | None:
        return self._one("sequence = ?", (sequence,))

    def find_request(self, *, analyst: str, request_id: str) -> Event | None:
        """The charge or replay that holds the lease on a request."""
        return self._one("analyst = ? AND request_id = ?", (analyst, request_id))

    def find_asked(self, *, analyst: str, ordinal: int) -> Event | None:
        """The charge or replay that has this place among an analyst's own, counted from 1."""
        return self._one(f"{_QUESTIONS} AND analyst = ? ORDER BY sequence LIMIT 1 OFFSET ?", (analyst, ordinal - 1))

    def place_asked(self, event: Event) -> int:
        """The place of a charge or replay among its analyst's own."""
        statement = f"SELECT COUNT(*) FROM events WHERE {_QUESTIONS} AND analyst = ? AND sequence <= ?"
        return int(self._run(statement, (event.payload["analyst"], event.sequence)).fetchone()[0])

    def find_replay(self, *, charge: int, plan_hash: str, analyst: str) -> Event | None:
        """A replay of a charge's answer to an analyst."""
        where = f"kind = 'replay' AND plan_hash = ? AND analyst = ? AND {self._dialect.charge} = CAST(? AS TEXT)"
        return self._one(f"{where} ORDER BY sequence LIMIT 1", (plan_hash, analyst, charge))

    def find_answered(self, *, charge: int) -> Event | None:
        """The event that says that a charge was answered, whether or not the answer is still there."""
        return self._one(f"{self._answering('CAST(? AS TEXT)')} ORDER BY sequence LIMIT 1", (charge,))

    def offers(
        self, *, population: str, dataset: str, version: int, plan_hash: str, analyst: str | None
    ) -> list[Offer]:
        """Answered charges for the same plan on the same version, by price and by whether the analyst has them.

        One statement reads them all; what is chosen among them is to be read anew and checked.
        """
        field, charge = self._dialect.field.format, self._dialect.charge
        rows = self._run(
            f"""
            SELECT guarantee, has, min(sequence), max(sequence), min(gone) FROM (
                SELECT {field("guarantee")} AS guarantee, charges.sequence AS sequence,
                    CASE WHEN analyst = ? THEN 1 WHEN CAST(charges.sequence AS TEXT) IN (
                        SELECT {charge} FROM events WHERE kind = 'replay' AND plan_hash = ? AND analyst = ?
                    ) THEN 1 ELSE 0 END AS has,
                    CASE WHEN answers.sequence IS NOT NULL THEN NULL WHEN EXISTS (
                        SELECT 1 FROM events WHERE {self._answering("CAST(charges.sequence AS TEXT)")}
                    ) THEN charges.sequence ELSE 0 END AS gone
                FROM events AS charges LEFT JOIN answers ON answers.sequence = charges.sequence
                WHERE kind = 'charge' AND plan_hash = ? AND population = ?
                    AND {field("dataset")} = ? AND {field("version")} = ?
            ) AS found GROUP BY guarantee, has, gone
            """,
            (analyst, plan_hash, analyst, plan_hash, population, dataset, str(version)),
        ).fetchall()
        for *_, gone in rows:
            if gone:
                raise answer_gone(gone)
        try:
            return [_checked_offer(row[:4]) for row in rows if row[4] is None]
        except _UNREADABLE:
            raise damaged(say("a charge is malformed")) from None

    def find_linked(self, *, reservation: str, question: str) -> Event | None:
        """The linked count that answered a question first."""
        where = "kind = 'linked' AND plan_hash = ? AND analyst = ? ORDER BY sequence LIMIT 1"
        return self._one(where, (question, reservation))

    def last_linked(self, *, reservation: str) -> Event | None:
        """The newest linked count under a reservation."""
        return self._one("kind = 'linked' AND analyst = ? ORDER BY sequence DESC LIMIT 1", (reservation,))

    def all_linked(self, *, reservation: str) -> list[Event]:
        """Every linked count under a reservation, the oldest first."""
        return self._many("kind = 'linked' AND analyst = ?", (reservation,))

    def find_markers(self, *, population: str) -> list[Event]:
        return self._many("kind = 'marker' AND population = ?", (population,))

    def find_kind(self, kind: EventKind) -> list[Event]:
        """Every event of a kind that is rare."""
        return self._many("kind = ?", (kind.value,))

    def find_datasets(self, *, population: str) -> list[Event]:
        return self._many("kind = 'dataset' AND population = ?", (population,))

    def answer(self, sequence: int) -> AnswerRow | None:
        """The committed answer of a charge, checked against its hash."""
        row = self._run("SELECT sequence, sha256, answer FROM answers WHERE sequence = ?", (sequence,)).fetchone()
        return None if row is None else _checked_answer(row)

    def has_answer(self, sequence: int) -> bool:
        """Whether the answer of a charge is there; nothing of it is read."""
        return self._run("SELECT 1 FROM answers WHERE sequence = ?", (sequence,)).fetchone() is not None

    def require_unanswered(self, charge: int) -> None:
        """LedgerDamaged where the chain says that a charge was answered: what is drawn again is another answer."""
        if self.find_answered(charge=charge) is not None:
            raise answer_gone(charge)

    def answers(self) -> Iterator[AnswerRow]:
        for row in self._batches("SELECT sequence, sha256, answer FROM answers ORDER BY sequence"):
            yield _checked_answer(row)

    def events(self) -> Iterator[Event]:
        """Every event in order, each checked on its own; the caller checks the chain."""
        for row in self._batches(f"SELECT {COLUMNS} FROM events ORDER BY sequence"):
            yield _checked_event(row)

    def page(
        self,
        *,
        low: int,
        high: int,
        kinds: Sequence[EventKind],
        population: str | None,
        analyst: str | None,
        newest_first: bool,
        size: int,
    ) -> list[Event]:
        """At most `size` events from `low` to `high` of these kinds, or of all, each checked on its own."""
        where = ["sequence BETWEEN ? AND ?"]
        values: list[object] = [low, high]
        if kinds:
            # Written out, so that an index on some kinds can be chosen.
            where.append(f"kind IN ({', '.join(repr(kind.value) for kind in kinds)})")
        for column, value in (("population", population), ("analyst", analyst)):
            if value is not None:
                where.append(f"{column} = ?")
                values.append(value)
        query = f"SELECT {COLUMNS} FROM events WHERE {' AND '.join(where)} ORDER BY sequence"
        rows = self._run(f"{query}{' DESC' if newest_first else ''} LIMIT {size:d}", values).fetchall()
        return [_checked_event(row) for row in rows]

    def _one(self, where: str, values: Sequence[object]) -> Event | None:
        row = self._run(f"SELECT {COLUMNS} FROM events WHERE {where}", values).fetchone()
        return None if row is None else _checked_event(row)

    def _many(self, where: str, values: Sequence[object]) -> list[Event]:
        rows = self._run(f"SELECT {COLUMNS} FROM events WHERE {where} ORDER BY sequence", values).fetchall()
        return [_checked_event(row) for row in rows]

    def _answering(self, charge: str) -> str:
        return f"kind = 'answer' AND {self._dialect.charge} = {charge}"

    def _batches(self, query: str) -> Iterator[Sequence[Any]]:
        cursor = self._run(query, ())
        while rows := cursor.fetchmany(_BATCH):
            yield from rows


class ProcessConnection(Generic[Connection]):
    """One connection per process, used by one thread at a time; a forked child opens its own."""

    def __init__(self, connect: Callable[[], Connection], disconnect: Callable[[Connection], None]) -> None:
        self._connect = connect
        self._disconnect = disconnect
        self._inherited: list[Connection] = []
        self._connection: Connection | None = None
        self._adopt()

    @contextmanager
    def turn(self) -> Iterator[None]:
        """This thread's turn on the connection."""
        if self._process != os.getpid():
            # Closing an inherited connection would end the parent's; keeping it also keeps it from being
            # collected.
            if self._connection is not None:
                self._inherited.append(self._connection)
            self._adopt()
        with self._lock:
            yield

    def get(self) -> Connection:
        """The open connection; call it within a turn."""
        if self._connection is None:
            self._connection = self._connect()
        return self._connection

    def drop(self) -> None:
        """Close the connection; the next turn opens another."""
        connection, self._connection = self._connection, None
        if connection is not None:
            self._disconnect(connection)

    def close(self) -> None:
        with self.turn():
            self.drop()

    def _adopt(self) -> None:
        self._connection = None
        self._process = os.getpid()
        self._lock = threading.Lock()


def lookups(event: Event) -> tuple[str | None, str | None, str | None]:
    """The columns by which an event is found again: analyst, request id, plan hash.

    All repeat its payload. A hold leases no request id: the charge that takes its place does. A linked count is found
    by its reservation, whose name no analyst can have.
    """
    payload = event.payload
    if event.kind is EventKind.LINKED:
        return payload["reservation"], payload["request"], payload.get("question")
    if event.kind in {EventKind.HOLD, EventKind.REQUESTED}:
        return payload["analyst"], None, None
    if event.kind not in {EventKind.CHARGE, EventKind.REPLAY, EventKind.MARKER}:
        return None, None, None
    return payload["analyst"], payload.get("request_id"), payload["plan_hash"]


def damaged(what: str, *, sequence: int | None = None) -> LedgerDamaged:
    """The refusal of a ledger that is not what it was: `what` is wrong with it."""
    if sequence is None:
        told = say(
            "The ledger does not hold: {what}. Nothing is answered until a custodian restores it from a copy that "
            "passes verification (discreet ledger verify).",
            what=what,
        )
    else:
        told = say(
            "The ledger does not hold at event {sequence}: {what}. Nothing is answered until a custodian restores it "
            "from a copy that passes verification (discreet ledger verify).",
            sequence=sequence,
            what=what,
        )
    return LedgerDamaged(told, sequence=sequence)


def newer(what: str) -> LedgerUnavailable:
    """What a later version wrote is no damage; and not knowing what it does to the budget, this one answers nothing."""
    return LedgerUnavailable(
        say(
            "The ledger was written by a newer version of Discreet: {what}. Nothing was answered; install that "
            "version.",
            what=what,
        )
    )


def answer_gone(charge: int) -> LedgerDamaged:
    return damaged(say("it was answered and its answer is gone; it is not drawn again"), sequence=charge)


def _checked_head(row: Sequence[Any]) -> Head:
    sequence, digest, standing, mac = row
    if not (_is_number(sequence) and _is_digest(digest) and _is_digest(mac) and isinstance(standing, str)):
        raise damaged(say("its head is malformed"))
    return Head(sequence, digest, standing, mac)


def _checked_event(row: Sequence[Any]) -> Event:
    sequence, kind, population, analyst, request_id, plan_hash, body, stored_hash = row
    text = sequence if _is_number(sequence) else None
    try:
        if sha256_hex(body.encode()) != stored_hash:
            raise damaged(say("its bytes do not have the hash stored beside them"), sequence=text)
        event = _read_event(body)
        columns = (event.sequence, event.kind.value, event.population, *lookups(event))
    except KindUnknown:
        raise newer(say("its event {sequence} is of a kind that this version does not know", sequence=text)) from None
    except _UNREADABLE:
        raise damaged(say("its bytes are not an event"), sequence=text) from None
    if columns != (sequence, kind, population, analyst, request_id, plan_hash):
        raise damaged(say("its columns disagree with its bytes"), sequence=text)
    return event


@lru_cache(maxsize=4)
def _read_event(body: str) -> Event:
    """Kept for a few: every transaction of a question reads the end of the chain, and some read it twice."""
    event = Event.from_body(body)
    _check_shape(event)
    return event


def _check_shape(event: Event) -> None:
    """ValueError where what readers rely on is of another type."""
    if not _is_number(event.sequence) or not isinstance(event.payload, dict):
        raise ValueError("not an event")
    if not all(isinstance(part, str) for part in (event.when, event.population, event.previous)):
        raise ValueError("not an event")
    if event.kind in _SHAPED:
        require_payload(event.kind, event.payload)
        for name in _SHAPES.keys() & event.payload.keys():
            if type(event.payload[name]) is not _SHAPES[name]:
                raise ValueError("a payload of another shape")


def _checked_answer(row: Sequence[Any]) -> AnswerRow:
    sequence, digest, content = row
    text = sequence if _is_number(sequence) else None
    if text is None or not _is_digest(digest) or not isinstance(content, bytes | bytearray | memoryview):
        raise damaged(say("a stored answer is malformed"), sequence=text)
    answer = AnswerRow(sequence=sequence, sha256=digest, answer=bytes(content))
    if sha256_hex(answer.answer) != answer.sha256:
        raise damaged(say("the stored answer does not have the hash stored beside it"), sequence=text)
    return answer


def _checked_offer(row: Sequence[Any]) -> Offer:
    guarantee, has, first, last = row
    if not (isinstance(guarantee, str) and _is_number(first) and _is_number(last)):
        raise ValueError("not a charge")
    return Offer(guarantee, bool(has), first, last)


def _is_number(value: object) -> bool:
    return type(value) is int and value >= 1


def _is_digest(value: object) -> bool:
    return isinstance(value, str) and _DIGEST.fullmatch(value) is not None
