"""Where events are kept: what the two stores share.

A store hands out transactions. A writing transaction holds the ledger's only write lock from its first
statement, so what it reads is what it writes after; others wait. Everything is durable when the transaction
has ended.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Generic, Protocol, TypeVar

from discreet.errors import LedgerDamaged, LedgerUnavailable
from discreet.ledger.events import Event, Kind, KindUnknown, sha256_hex

if TYPE_CHECKING:
    from discreet.ledger.sqlite import SqliteStore

__all__ = [
    "COLUMNS",
    "FORMAT",
    "PATIENCE_SECONDS",
    "AnswerRow",
    "Head",
    "ProcessConnection",
    "Store",
    "Transaction",
    "damaged",
    "lookups",
    "newer",
]

FORMAT: Final = 1
PATIENCE_SECONDS: Final = 600
COLUMNS: Final = "sequence, kind, population, analyst, request_id, plan_hash, body, hash"
_BATCH: Final = 500
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


class Store(Protocol):
    """A place for one ledger."""

    def create(self, event: Event, head: Head) -> None:
        """Make the ledger with its first event; refuse when anything is there."""

    def reading(self) -> AbstractContextManager[Transaction]:
        """A consistent view."""

    def writing(self) -> AbstractContextManager[Transaction]:
        """The one writer; waits for its turn, commits when the block ends and rolls back when it raises."""

    def install(self, source: SqliteStore) -> None:
        """Put a copy of another ledger in this one's place; what was here is kept beside it, out of use."""

    def close(self) -> None: ...


class Transaction:
    """The statements of the ledger. `run` executes SQL with '?' placeholders and returns a cursor."""

    def __init__(self, run: Callable[[str, Sequence[object]], Any]) -> None:
        self._run = run

    def head(self) -> Head:
        row = self._run("SELECT format, sequence, hash, standing, mac FROM head", ()).fetchone()
        if row is None or row[0] != FORMAT:
            raise damaged("its head is missing or of another format")
        return Head(*row[1:])

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
        values = (head.sequence, head.hash, head.standing, head.mac)
        self._run("UPDATE head SET sequence = ?, hash = ?, standing = ?, mac = ?", values)

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

    def find_charges(self, *, plan_hash: str) -> list[Event]:
        return self._many("kind = 'charge' AND plan_hash = ?", (plan_hash,))

    def find_replays(self, *, plan_hash: str, analyst: str) -> list[Event]:
        return self._many("kind = 'replay' AND plan_hash = ? AND analyst = ?", (plan_hash, analyst))

    def find_markers(self, *, population: str) -> list[Event]:
        return self._many("kind = 'marker' AND population = ?", (population,))

    def find_kind(self, kind: Kind) -> list[Event]:
        """Every event of a kind that is rare."""
        return self._many("kind = ?", (kind.value,))

    def find_datasets(self, *, population: str) -> list[Event]:
        return self._many("kind = 'dataset' AND population = ?", (population,))

    def answer(self, sequence: int) -> AnswerRow | None:
        """The committed answer of a charge, checked against its hash."""
        row = self._run("SELECT sequence, sha256, answer FROM answers WHERE sequence = ?", (sequence,)).fetchone()
        return None if row is None else _checked_answer(row)

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
        kinds: Sequence[Kind],
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

    All repeat its payload. A hold leases no request id: the charge that takes its place does.
    """
    payload = event.payload
    if event.kind in {Kind.HOLD, Kind.REQUESTED}:
        return payload["analyst"], None, None
    if event.kind not in {Kind.CHARGE, Kind.REPLAY, Kind.MARKER}:
        return None, None, None
    return payload["analyst"], payload.get("request_id"), payload["plan_hash"]


def damaged(what: str, *, sequence: int | None = None) -> LedgerDamaged:
    where = "" if sequence is None else f" at event {sequence}"
    return LedgerDamaged(
        f"The ledger does not hold{where}: {what}. Nothing is answered until a custodian restores it from a "
        "copy that verifies (discreet ledger verify).",
        sequence=sequence,
    )


def newer(what: str) -> LedgerUnavailable:
    """What a later version wrote is no damage; and not knowing what it does to the budget, this one answers nothing."""
    return LedgerUnavailable(
        f"The ledger was written by a newer version of Discreet: {what}. Nothing was answered; install that version."
    )


def _checked_event(row: Sequence[Any]) -> Event:
    sequence, kind, population, analyst, request_id, plan_hash, body, stored_hash = row
    if sha256_hex(body.encode()) != stored_hash:
        raise damaged("its bytes do not have the hash stored beside them", sequence=sequence)
    try:
        event = Event.from_body(body)
        columns = (event.sequence, event.kind.value, event.population, *lookups(event))
    except KindUnknown:
        raise newer(f"its event {sequence} is of a kind that this version does not know") from None
    except (ValueError, KeyError):
        raise damaged("its bytes are not an event", sequence=sequence) from None
    if columns != (sequence, kind, population, analyst, request_id, plan_hash):
        raise damaged("its columns disagree with its bytes", sequence=sequence)
    return event


def _checked_answer(row: Sequence[Any]) -> AnswerRow:
    answer = AnswerRow(sequence=row[0], sha256=row[1], answer=bytes(row[2]))
    if sha256_hex(answer.answer) != answer.sha256:
        raise damaged("the stored answer does not have the hash stored beside it", sequence=answer.sequence)
    return answer
