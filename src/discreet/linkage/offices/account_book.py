"""The accounts of one property on disk: counters, and a journal of each use until it has been answered.

    accounts.bin          a line of JSON, then one 16-bit counter for each unit; replaced in one step
    use-REQUEST.journal   a line of JSON, then the units counted and their new counters
    digest.key            the key of the digests that the ledger holds

The order of a use: journal, ledger, counters, noise, answer, then the journal goes. New counters are stored, not
increments, so that what a crash has left can be applied again. The ledger's newest event says which counters are the
right ones: an older file is found, whoever put it there.

Counters that are lost are written off: in their place stand some that are nowhere lower, and the ledger names those.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from discreet.catalogue import say
from discreet.errors import Refused, RequestConflict
from discreet.files import locked, sync, write_whole
from discreet.ledger import WRITE_OFF, Ledger, LinkedUse, stale_accounts
from discreet.linkage.accounts import Accounts
from discreet.paths import read_regular

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["AccountBook", "AccountFault", "PendingUse", "WrittenOff"]

_FILE: Final = "accounts.bin"
_KEY: Final = "digest.key"
_FORMAT: Final = "discreet-accounts-1"
_JOURNAL: Final = "discreet-journal-1"
_KEY_BYTES: Final = 32


class AccountFault(StrEnum):
    """What is wrong with accounts."""

    POOL = "pool"
    """What they are accounts of is lost; they cannot be mended."""
    KEY = "key"
    """The key of their digests is lost."""
    FILE = "file"
    """The counters are lost, or cannot be read."""
    OLDER = "older"
    """The ledger knows later uses."""
    OTHER = "other"
    """They do not have the digest that the ledger names, or are of a use that it does not know."""
    LEDGER = "ledger"
    """An older ledger was put back, and uses may be missing in it."""


@dataclass(frozen=True, slots=True)
class WrittenOff:
    """Accounts put in the place of lost ones. `since` is the event after which the old ones were known for certain.

    `uses` are those after it, charged to everybody; `fullest` is the fullest account now. `all` says that every account
    is used up, because there may have been uses that the ledger does not know.
    """

    since: int
    uses: int
    fullest: int
    all: bool


@dataclass(frozen=True)
class PendingUse:
    """A use that was charged: which units it counts. `use` has its answer, where one was committed."""

    use: LinkedUse
    units: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class _Journal:
    path: Path
    use: LinkedUse
    units: NDArray[np.int64]
    after: NDArray[np.uint16]


class AccountBook:
    """Open while its lock is held. `reservation` is its name on the ledger of the population."""

    def __init__(self, folder: Path, ledger: Ledger, *, population: str, reservation: str, cap: int) -> None:
        self._folder = folder
        self._ledger = ledger
        self._population = population
        self._reservation = reservation
        self._key = _read_key(folder)
        self.event, counters = _read_counters(folder / _FILE)
        self.accounts = Accounts(counters, cap=cap)
        self._recover()

    @staticmethod
    def create(folder: Path, *, units: int) -> None:
        """New accounts, all empty, in a folder that has none."""
        write_whole(folder / _KEY, secrets.token_hex(_KEY_BYTES) + "\n", mode=0o600, fresh=True)
        _write_counters(folder / _FILE, np.zeros(units, dtype=np.uint16), event=0)

    @staticmethod
    def exists(folder: Path) -> bool:
        return (folder / _FILE).is_file() and (folder / _KEY).is_file()

    @classmethod
    @contextmanager
    def hold(
        cls, folder: Path, ledger: Ledger, *, population: str, reservation: str, cap: int
    ) -> Iterator[AccountBook]:
        """The book, while no other process has it."""
        with locked(folder / "lock"):
            yield cls(folder, ledger, population=population, reservation=reservation, cap=cap)

    def digest_sample(self, request: str, content: bytes) -> str:
        """A digest of a sample that nobody without the key can try guesses on."""
        return hmac.digest(self._key, f"sample\n{request}\n".encode() + content, hashlib.sha256).hex()

    def use(
        self,
        use: LinkedUse,
        units: NDArray[np.int64],
        *,
        members: NDArray[np.int64],
        who: str,
    ) -> PendingUse:
        """Charge a use durably: the units that have room. The same request again finds its own.

        `counters` of the use is filled in here.
        """
        known = self._ledger.find_use(self._reservation, request=use.request)
        if known is not None:
            if (known.question, known.sample) != (use.question, use.sample):
                raise RequestConflict(say("other bytes came for this request before. Make a new request."))
            return self.resume(known)
        counted, after = self.accounts.price(units, use.charge, members=members)
        kept = units[counted]
        before = self.accounts.counters[kept]
        self.accounts.settle(kept, after)
        digest = _digest(self._key, use.request, self.accounts.counters)
        told = LinkedUse(use.request, use.question, use.agreement, use.charge, use.sample, digest)
        journal = _Journal(self._journal(use.request), told, kept, after)
        _write_journal(journal)
        try:
            made = self._ledger.record_use(self._population, self._reservation, told, after=self.event, who=who)
        except BaseException:
            # Whether it was recorded is for the ledger to say, when the book is next opened.
            self.accounts.settle(kept, before)
            raise
        if made.counters != told.counters:
            raise stale_accounts()  # a copy of this book has recorded the request, with other accounts
        self._store(made.sequence)
        return PendingUse(made, kept)

    def finish(self, use: LinkedUse) -> None:
        """Forget who was counted: the answer is committed."""
        self._journal(use.request).unlink(missing_ok=True)
        sync(self._folder)

    def check(self) -> None:
        """Refuse counters that are not the ones the ledger speaks of."""
        newest = self._ledger.find_use(self._reservation)
        last = 0 if newest is None else newest.sequence
        if self._ledger.has_lost_uses(self._reservation):
            raise stale_accounts(AccountFault.LEDGER)
        if last != self.event:
            raise stale_accounts(AccountFault.OLDER if self.event < last else AccountFault.OTHER)
        if newest is None and self.accounts.counters.any():
            raise stale_accounts(AccountFault.OTHER)
        if newest is not None and not self._has_digest(newest):
            raise stale_accounts(AccountFault.OTHER)

    @property
    def pending(self) -> tuple[str, ...]:
        """Requests that were charged and not answered."""
        return tuple(sorted(path.stem.removeprefix("use-") for path in self._folder.glob("use-*.journal")))

    @classmethod
    def write_off(
        cls,
        folder: Path,
        ledger: Ledger,
        *,
        population: str,
        reservation: str,
        units: int,
        members: int,
        cap: int,
        who: str,
    ) -> WrittenOff | None:
        """Put counters in the place of lost ones, none of them lower than the truth; None where nothing is lost.

        They begin with what is known for certain: the file, if the ledger names its digest, else how full the fullest
        account was when accounts were last written off, else nothing. Each use since is charged to every unit, for as
        many members as a unit has: who was in it is not known. The ledger names the new ones, as after any use.
        """
        with locked(folder / "lock"):
            try:
                cls(folder, ledger, population=population, reservation=reservation, cap=cap)
            except Refused:
                pass
            else:
                return None
            known = ledger.reservation(population, reservation)
            if known is None or known.closed:
                raise Refused(
                    say("these accounts are closed. Nothing more is counted with them, and nothing needs repair.")
                )
            uses, key = ledger.list_uses(reservation), _keep_key(folder)
            since, counters = _known_counters(folder, uses, key, units)
            accounts = Accounts(counters, cap=cap)
            unknown = [use for use in uses if use.sequence > since]
            for use in unknown:
                accounts.write_off(use.charge * members)
            everything = ledger.has_lost_uses(reservation)
            if everything:
                accounts.write_off(cap)
            counters = accounts.counters
            fullest, request = int(counters.max(initial=0)), secrets.token_hex(16)
            told = LinkedUse(request, WRITE_OFF, known.agreement, fullest, "", _digest(key, request, counters))
            # Should it end between these two, the accounts are lost as before and are written off again.
            last = uses[-1].sequence if uses else 0
            made = ledger.record_use(population, reservation, told, after=last, who=who)
            _write_counters(folder / _FILE, counters, event=made.sequence)
            return WrittenOff(since, len(unknown), fullest, everything)

    # --- steps ------------------------------------------------------------------------------------------------------

    def resume(self, known: LinkedUse) -> PendingUse:
        """A use that was charged before: as it is answered, or whom it counts."""
        if known.answer is not None:
            return PendingUse(known, np.zeros(0, dtype=np.int64))
        journal = _read_journal(self._journal(known.request))
        if journal is None:
            raise Refused(
                say(
                    "this request was charged, and what it would count is lost. Nothing more is drawn for it: ask anew."
                )
            )
        return PendingUse(known, journal.units)

    def _recover(self) -> None:
        """Apply what was recorded and not stored; drop what never was, and what has been answered."""
        if self._ledger.has_lost_uses(self._reservation):
            raise stale_accounts(AccountFault.LEDGER)  # before a journal is dropped that the ledger no longer knows
        charged: list[tuple[LinkedUse, _Journal]] = []
        for path in self._folder.glob("use-*.journal"):
            journal = _read_journal(path)
            known = None if journal is None else self._ledger.find_use(self._reservation, request=journal.use.request)
            if journal is None or known is None:
                path.unlink()  # half written, or not charged: nothing was drawn for it
            else:
                charged.append((known, journal))
        for known, journal in sorted(charged, key=lambda pair: pair[0].sequence):
            if known.sequence > self.event:
                self.accounts.settle(journal.units, journal.after)
                if not self._has_digest(known):  # the file is older than the use before this one: leave it as it is
                    raise stale_accounts(AccountFault.OLDER)
                self._store(known.sequence)
            if known.answer is not None:
                journal.path.unlink()
        self.check()

    def _store(self, event: int) -> None:
        _write_counters(self._folder / _FILE, self.accounts.counters, event=event)
        self.event = event

    def _has_digest(self, use: LinkedUse) -> bool:
        return hmac.compare_digest(use.counters, _digest(self._key, use.request, self.accounts.counters))

    def _journal(self, request: str) -> Path:
        return self._folder / f"use-{request}.journal"


def _known_counters(
    folder: Path, uses: tuple[LinkedUse, ...], key: bytes, units: int
) -> tuple[int, NDArray[np.uint16]]:
    """Counters that are certain, and the event after which they were so."""
    off = next((use for use in reversed(uses) if use.question == WRITE_OFF), None)
    since, fullest = (0, 0) if off is None else (off.sequence, off.charge)
    try:
        event, counters = _read_counters(folder / _FILE)
    except Refused:
        event, counters = -1, np.zeros(0, dtype=np.uint16)
    use = next((use for use in uses if use.sequence == event >= since), None)
    if (
        use is not None
        and len(counters) == units
        and hmac.compare_digest(use.counters, _digest(key, use.request, counters))
    ):
        return event, counters
    return since, np.full(units, fullest, dtype=np.uint16)


def _digest(key: bytes, request: str, counters: NDArray[np.uint16]) -> str:
    """Of all counters, keyed, and salted by the request after which they are so."""
    found = hashlib.blake2b(f"counters\n{request}\n".encode(), key=key, digest_size=32)
    found.update(np.ascontiguousarray(counters, dtype="<u2").data)
    return found.hexdigest()


def _read_key(folder: Path) -> bytes:
    try:
        key = bytes.fromhex(read_regular(folder / _KEY).decode("ascii").strip())
    except (OSError, ValueError):
        key = b""
    if len(key) != _KEY_BYTES:
        raise stale_accounts(AccountFault.KEY)
    return key


def _keep_key(folder: Path) -> bytes:
    """The key that is there, or a new one in the place of a lost one."""
    try:
        return _read_key(folder)
    except Refused:
        write_whole(folder / _KEY, secrets.token_hex(_KEY_BYTES) + "\n", mode=0o600)
        return _read_key(folder)


def _read_counters(path: Path) -> tuple[int, NDArray[np.uint16]]:
    try:
        head, _, data = read_regular(path).partition(b"\n")
        header = json.loads(head)
        counters = np.frombuffer(data, dtype="<u2").astype(np.uint16)
        if header["format"] != _FORMAT or len(counters) != header["units"]:
            raise ValueError("not these accounts")
        return int(header["event"]), counters
    except (OSError, ValueError, KeyError, TypeError):
        raise stale_accounts(AccountFault.FILE) from None


def _write_counters(path: Path, counters: NDArray[np.uint16], *, event: int) -> None:
    header = {"format": _FORMAT, "units": len(counters), "event": event}
    write_whole(path, (json.dumps(header).encode() + b"\n", counters.astype("<u2").tobytes()), mode=0o600)


def _write_journal(journal: _Journal) -> None:
    use = journal.use
    header = {
        "format": _JOURNAL,
        "request": use.request,
        "question": use.question,
        "agreement": use.agreement,
        "charge": use.charge,
        "sample": use.sample,
        "counters": use.counters,
        "units": len(journal.units),
    }
    parts = (
        json.dumps(header).encode() + b"\n",
        journal.units.astype("<i8").tobytes(),
        journal.after.astype("<u2").tobytes(),
    )
    write_whole(journal.path, parts, mode=0o600)


def _read_journal(path: Path) -> _Journal | None:
    """None for what was only half written: a journal takes its name when it is whole."""
    try:
        data = read_regular(path)
        start = data.index(b"\n") + 1
        header = json.loads(data[:start])
        units = int(header["units"])
        if header["format"] != _JOURNAL or len(data) != start + 10 * units:
            return None
        use = LinkedUse(
            *(header[name] for name in ("request", "question", "agreement", "charge", "sample", "counters"))
        )
        places = np.frombuffer(data, dtype="<i8", count=units, offset=start).astype(np.int64)
        after = np.frombuffer(data, dtype="<u2", count=units, offset=start + 8 * units).astype(np.uint16)
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return _Journal(path, use, places, after)
