"""What stands beside the ledger: digests of secrets, sessions, days of use, counts.

A row counts only with the word of the ledger's key for all that it says, and only for the act of the chain that it was
stored for: whoever can write the tables becomes nobody by it. Secrets themselves are nowhere.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from typing import Final

from discreet.ledger import Ledger
from discreet.people.register import Act, Register
from discreet.stores import Store, Tables

__all__ = [
    "PEOPLE_TABLES",
    "SecretRows",
    "SecretSort",
    "SessionRow",
    "digest_of",
    "is_same",
    "new_pair",
    "new_secret",
    "split_pair",
]

PEOPLE_TABLES: Final = Tables(
    "people",
    (
        """
        CREATE TABLE secrets (
            sort text NOT NULL,
            name text NOT NULL,
            act text NOT NULL,
            number bigint NOT NULL,
            kept text NOT NULL,
            word text NOT NULL,
            PRIMARY KEY (sort, name, act)
        )
        """,
        """
        CREATE TABLE sessions (
            digest text PRIMARY KEY,
            person text NOT NULL,
            since text NOT NULL,
            expires bigint NOT NULL,
            word text NOT NULL
        )
        """,
        "CREATE INDEX sessions_by_end ON sessions (expires)",
        "CREATE TABLE token_days (token text PRIMARY KEY, day text NOT NULL)",
        "CREATE TABLE counts (bucket text PRIMARY KEY, ends bigint NOT NULL, taken bigint NOT NULL)",
        "CREATE INDEX counts_by_end ON counts (ends)",
    ),
)
"""`word` is the key's. Times are seconds since 1970. The same secret may stand for two acts while one takes the place
of the other: the chain says which of them counts."""

_SECRET_BYTES: Final = 32
_ID_BYTES: Final = 8
_DAY: Final = re.compile(r"20\d\d-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])", re.ASCII)
_PAIR: Final = re.compile(rf"([0-9a-f]{{{2 * _ID_BYTES}}})\.([A-Za-z0-9_-]{{43}})", re.ASCII)


class SecretSort(StrEnum):
    """What is kept of a token or link is a digest, of a password an argon2id hash."""

    TOKEN = "token"  # noqa: S105
    LINK = "link"
    PASSWORD = "password"  # noqa: S105


@dataclass(frozen=True, slots=True)
class SessionRow:
    """Somebody who signed in. `since` is the act of theirs under which it began; `expires` in seconds since 1970."""

    digest: str
    person: str
    since: str
    expires: int


class SecretRows:
    """The rows of one office. `store` has the tables PEOPLE_TABLES."""

    def __init__(self, store: Store, ledger: Ledger) -> None:
        self._store = store
        self._ledger = ledger

    # --- secrets that an act of the chain made ----------------------------------------------------------------------

    def keep(self, sort: SecretSort, name: str, act: Act, kept: str) -> None:
        """Keep what shows a secret, in place of what was kept for earlier acts."""
        word = self._ledger.attest("secret", sort.value, name, act.hash, kept)
        with self._store.writing() as run:
            run("DELETE FROM secrets WHERE sort = ? AND name = ? AND number < ?", sort.value, name, act.sequence)
            run("INSERT INTO secrets VALUES (?, ?, ?, ?, ?, ?)", sort.value, name, act.hash, act.sequence, kept, word)

    def find(self, sort: SecretSort, name: str, act: str) -> str | None:
        """What was kept for this act; None where a row is not as it was written here."""
        statement = "SELECT kept, word FROM secrets WHERE sort = ? AND name = ? AND act = ?"
        with self._store.reading() as run:
            rows = run(statement, sort.value, name, act)
        for kept, word in rows:
            if isinstance(kept, str) and is_same(word, self._ledger.attest("secret", sort.value, name, act, kept)):
                return kept
        return None

    def forget(self, sort: SecretSort, name: str) -> None:
        """Forget a secret, and of a token when it was used."""
        with self._store.writing() as run:
            run("DELETE FROM secrets WHERE sort = ? AND name = ?", sort.value, name)
            if sort is SecretSort.TOKEN:
                run("DELETE FROM token_days WHERE token = ?", name)

    def forget_links(self, register: Register) -> None:
        """Forget the links that are used or void, so that no ledger that is put back revives them.

        Those of acts after the register's are left: another process may have made them just now.
        """
        known = "sort = ? AND number <= ?"
        with self._store.writing() as run:
            rows = run(f"SELECT name FROM secrets WHERE {known}", SecretSort.LINK.value, register.sequence)
            for name in {str(name) for (name,) in rows} - register.links.keys():
                run(f"DELETE FROM secrets WHERE {known} AND name = ?", SecretSort.LINK.value, register.sequence, name)

    # --- sessions ---------------------------------------------------------------------------------------------------

    def begin_session(self, row: SessionRow, *, now: int) -> None:
        """Keep a session, and forget all that have ended by now."""
        with self._store.writing() as run:
            run("DELETE FROM sessions WHERE expires <= ?", now)
            word = self._attest_session(row)
            run("INSERT INTO sessions VALUES (?, ?, ?, ?, ?)", row.digest, row.person, row.since, row.expires, word)

    def find_session(self, digest: str) -> SessionRow | None:
        statement = "SELECT digest, person, since, expires, word FROM sessions WHERE digest = ?"
        with self._store.reading() as run:
            rows = run(statement, digest)
        for found, person, since, expires, word in rows:
            row = SessionRow(str(found), str(person), str(since), expires)
            if type(expires) is int and is_same(word, self._attest_session(row)):
                return row
        return None

    def end_session(self, digest: str) -> None:
        with self._store.writing() as run:
            run("DELETE FROM sessions WHERE digest = ?", digest)

    def end_sessions(self, person: str) -> None:
        with self._store.writing() as run:
            run("DELETE FROM sessions WHERE person = ?", person)

    def _attest_session(self, row: SessionRow) -> str:
        return self._ledger.attest("session", row.digest, row.person, row.since, row.expires)

    # --- days on which tokens were used -----------------------------------------------------------------------------

    def note_use(self, token: str, day: date) -> None:
        """The last day on which a token was used: of use to its owner, of none to a clock."""
        with self._store.jotting() as run:
            run(
                "INSERT INTO token_days VALUES (?, ?) ON CONFLICT (token) DO UPDATE SET day = excluded.day",
                token,
                day.isoformat(),
            )

    def last_uses(self) -> dict[str, date]:
        with self._store.reading() as run:
            rows = run("SELECT token, day FROM token_days")
        return {token: date.fromisoformat(day) for token, day in rows if _DAY.fullmatch(str(day))}

    def close(self) -> None:
        self._store.close()


def new_secret() -> str:
    """256 random bits, in letters that stand in a header, a cookie or a link."""
    return secrets.token_urlsafe(_SECRET_BYTES)


def new_pair() -> tuple[str, str]:
    """A public id, and a secret that goes with it."""
    return secrets.token_hex(_ID_BYTES), new_secret()


def split_pair(text: str) -> tuple[str, str] | None:
    """The id and the secret of an `id.secret`; None for any other text, whatever is in it."""
    match = _PAIR.fullmatch(text)
    return None if match is None else (match[1], match[2])


def digest_of(secret: str) -> str:
    """Of a secret with 256 random bits, which nobody guesses; passwords are hashed slowly instead."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def is_same(one: object, other: str) -> bool:
    """Whether two digests are equal, in a time that does not tell how far."""
    return isinstance(one, str) and hmac.compare_digest(one.encode("utf-8", "surrogatepass"), other.encode())
