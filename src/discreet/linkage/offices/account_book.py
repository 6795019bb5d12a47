"""The accounts of one property on disk: counters, and a journal of each use until it has been answered.

    accounts.bin          a line of JSON, then one 16-bit counter for each unit; replaced in one step
    use-REQUEST.journal   a line of JSON, then the units counted and their new counters
    digest.key            the key of the digests that the ledger holds

The order of a use: journal, ledger, counters, noise, answer, then the journal goes. New counters are stored, not
increments, so that what a crash has left can be applied again. The ledger's newest event says which counters are the
right ones: an older file is found, whoever put it there.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from discreet.errors import Refused, RequestConflict
from discreet.files import sync, write_whole
from discreet.ledger import Ledger, LinkedUse, stale_accounts
from discreet.linkage.accounts import Accounts
from discreet.paths import read_regular

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["AccountBook", "PendingUse", "locked"]

_FILE: Final = "accounts.bin"
_KEY: Final = "digest.key"
_FORMAT: Final = "discreet-accounts-1"
_JOURNAL: Final = "discreet-journal-1"


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
        write_whole(folder / _KEY, secrets.token_hex(32) + "\n", mode=0o600, fresh=True)
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
                raise RequestConflict("other bytes came under this request before. Ask anew.")
            return self.resume(known)
        counted, after = self.accounts.price(units, use.charge, members=members)
        kept = units[counted]
        before = self.accounts.counters
        self.accounts.settle(kept, after)
        told = LinkedUse(use.request, use.question, use.agreement, use.charge, use.sample, self._digest(use.request))
        journal = _Journal(self._journal(use.request), told, kept, after)
        _write_journal(journal)
        try:
            made = self._ledger.record_use(self._population, self._reservation, told, after=self.event, who=who)
        except BaseException:
            # Whether it was recorded is for the ledger to say, when the book is next opened.
            self.accounts = Accounts(before, cap=self.accounts.cap)
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
        if (0 if newest is None else newest.sequence) != self.event:
            raise stale_accounts()
        if newest is not None and not hmac.compare_digest(newest.counters, self._digest(newest.request)):
            raise stale_accounts()

    @property
    def pending(self) -> tuple[str, ...]:
        """Requests that were charged and not answered."""
        return tuple(sorted(path.stem.removeprefix("use-") for path in self._folder.glob("use-*.journal")))

    @staticmethod
    def write_off(folder: Path, uses: Sequence[LinkedUse], *, units: int, members: int, cap: int) -> None:
        """Counters in place of lost ones: every charge since, for as many members as a unit has, on every unit.

        `uses` are all that the ledger has of the reservation, the oldest first. Who was in them is not known, so
        everybody was. Counters that are there count as far as a use has their digest, and those that do not as lost.
        """
        with locked(folder / "lock"):
            event, accounts = 0, Accounts(units, cap=cap)
            try:
                key = _read_key(folder)
                found, counters = _read_counters(folder / _FILE)
                use = next(use for use in uses if use.sequence == found)
                if len(counters) == units and hmac.compare_digest(use.counters, _digest(key, use.request, counters)):
                    event, accounts = found, Accounts(counters, cap=cap)
            except (Refused, StopIteration):
                pass
            for use in uses:
                if use.sequence > event:
                    accounts.write_off(use.charge * members)
                    event = use.sequence
            _write_counters(folder / _FILE, accounts.counters, event=event, written_off=event)

    # --- steps ------------------------------------------------------------------------------------------------------

    def resume(self, known: LinkedUse) -> PendingUse:
        """A use that was charged before: as it is answered, or whom it counts."""
        if known.answer is not None:
            return PendingUse(known, np.zeros(0, dtype=np.int64))
        journal = _read_journal(self._journal(known.request))
        if journal is None:
            raise Refused(
                "this request was charged, and what it would count is lost. Nothing more is drawn for it: ask anew."
            )
        return PendingUse(known, journal.units)

    def _recover(self) -> None:
        """Apply what was recorded and not stored; drop what never was, and what has been answered."""
        for path in sorted(self._folder.glob("use-*.journal")):
            journal = _read_journal(path)
            known = None if journal is None else self._ledger.find_use(self._reservation, request=journal.use.request)
            if journal is None or known is None:
                path.unlink()  # half written, or not charged: nothing was drawn for it
                continue
            if known.sequence > self.event:
                self.accounts.settle(journal.units, journal.after)
                self._store(known.sequence)
            if known.answer is not None:
                path.unlink()
        self._check_written_off()

    def _check_written_off(self) -> None:
        """Counters that were written off have no digest in the ledger until the next use."""
        if self._written_off() != self.event or self.event == 0:
            self.check()
        else:
            newest = self._ledger.find_use(self._reservation)
            if newest is None or newest.sequence != self.event:
                raise stale_accounts()

    def _written_off(self) -> int:
        return int(_read_header(self._folder / _FILE).get("written_off", 0))

    def _store(self, event: int) -> None:
        _write_counters(self._folder / _FILE, self.accounts.counters, event=event)
        self.event = event

    def _digest(self, request: str) -> str:
        """Of all counters, keyed, and salted by the request after which they are so."""
        return _digest(self._key, request, self.accounts.counters)

    def _journal(self, request: str) -> Path:
        return self._folder / f"use-{request}.journal"


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold a lock that dies with its process; others wait."""
    with path.open("a") as stream:
        try:
            import fcntl
        except ImportError:
            yield  # no such locks here: commands take turns by hand, and the ledger refuses the second of two
            return
        fcntl.flock(stream, fcntl.LOCK_EX)
        yield


def _digest(key: bytes, request: str, counters: NDArray[np.uint16]) -> str:
    content = f"counters\n{request}\n".encode() + counters.astype("<u2").tobytes()
    return hmac.digest(key, content, hashlib.sha256).hex()


def _read_key(folder: Path) -> bytes:
    try:
        return bytes.fromhex(read_regular(folder / _KEY).decode("ascii").strip())
    except (OSError, ValueError):
        raise stale_accounts() from None


def _read_header(path: Path) -> dict[str, Any]:
    try:
        with path.open("rb") as stream:
            header = json.loads(stream.readline(1_000))
    except (OSError, ValueError):
        raise stale_accounts() from None
    if not isinstance(header, dict) or header.get("format") != _FORMAT:
        raise stale_accounts()
    return header


def _read_counters(path: Path) -> tuple[int, NDArray[np.uint16]]:
    header = _read_header(path)
    data = read_regular(path)
    counters = np.frombuffer(data, dtype="<u2", offset=data.index(b"\n") + 1).astype(np.uint16)
    if len(counters) != header["units"]:
        raise stale_accounts()
    return int(header["event"]), counters


def _write_counters(path: Path, counters: NDArray[np.uint16], *, event: int, written_off: int = 0) -> None:
    header = {"format": _FORMAT, "units": len(counters), "event": event}
    if written_off:
        header["written_off"] = written_off
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
