"""Signing in: by a link that works once, or by a password. Who is in has a session, which the office may end.

A session is a row under the digest of a random secret, for twelve hours; each sign-in makes a new one.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Final

from discreet.errors import NotSignedIn
from discreet.people.act_book import ActBook, Deed
from discreet.people.custody import require_active, require_may_link, require_own_hands
from discreet.people.limits import Bucket, Limits, network_of
from discreet.people.passwords import hash_password, matches, require_password
from discreet.people.persons import Person, PersonAct, PersonEntry
from discreet.people.register import Register, password_of
from discreet.people.secret_rows import (
    SecretRows,
    SecretSort,
    SessionRow,
    digest_of,
    is_same,
    new_pair,
    new_secret,
    split_pair,
)

__all__ = ["SignIn"]

LINK_LASTS: Final = timedelta(hours=24)
SESSION_LASTS: Final = timedelta(hours=12)
_A_MINUTE: Final = 60
_PASSWORDS_A_MINUTE: Final = 5
_PASSWORDS_OF_A_NAME: Final = 50
"""From everywhere together: more than one network may try, so that no stranger alone keeps somebody out."""

_NOBODYS: Final = ""


class SignIn:
    """The ways in to one office."""

    def __init__(self, book: ActBook, rows: SecretRows, limits: Limits, clock: Callable[[], datetime]) -> None:
        self._book = book
        self._rows = rows
        self._limits = limits
        self._clock = clock
        self._decoy = digest_of(new_secret())

    # --- links ------------------------------------------------------------------------------------------------------

    def make_link(self, person: str, *, who: str) -> str:
        """What lets somebody in once, within a day. The links that they were given before are void."""
        id, secret = new_pair()
        expires = (self._clock() + LINK_LASTS).isoformat(timespec="seconds")

        def decide(register: Register) -> Deed:
            require_active(register, person)
            require_may_link(register, person, who)
            return Deed(PersonAct.LINK_MADE, person, {"link": id, "expires": expires})

        act, _ = self._book.write(decide, who=who)
        self._rows.keep(SecretSort.LINK, id, act, digest_of(secret))
        self._rows.forget_links(self._book.catch_up())
        return f"{id}.{secret}"

    def use_link(self, secret: str) -> tuple[Person, str]:
        """Let somebody in by their link, which is used up by it, and begin a session; NotSignedIn otherwise."""
        id, rest = split_pair(secret) or ("", "")
        person = self._find_link(self._book.catch_up(), id, rest)

        def decide(register: Register) -> Deed:
            self._find_link(register, id, rest)
            return Deed(PersonAct.LINK_USED, person, {"link": id})

        _, register = self._book.write(decide, who=person)
        self._rows.forget_links(register)
        return self._begin(register, person)

    def _find_link(self, register: Register, id: str, rest: str) -> str:
        """Whose link this is; NotSignedIn for one that is not known, was used or has expired."""
        link = register.links.get(id)
        kept = self._rows.find(SecretSort.LINK, id, register.made.get(id, ""))
        same = is_same(self._decoy if kept is None else kept, digest_of(rest))
        if not same or kept is None or link is None or self._clock() >= link.expires:
            raise NotSignedIn
        if register.active(link.person) is None:
            raise NotSignedIn
        return link.person

    # --- passwords --------------------------------------------------------------------------------------------------

    def with_password(self, name: str, password: str, *, address: str) -> tuple[Person, str]:
        """Let somebody in by their password and begin a session. All else is NotSignedIn, after the same time."""
        network = network_of(address)
        self._limits.take(
            Bucket(f"password from {network} of {name}", _PASSWORDS_A_MINUTE, _A_MINUTE),
            Bucket(f"password from {network}", _PASSWORDS_A_MINUTE, _A_MINUTE),
            Bucket(f"password of {name}", _PASSWORDS_OF_A_NAME, _A_MINUTE),
        )
        register = self._book.catch_up()
        entry = register.active(name)
        known = _NOBODYS if entry is None else entry.name  # what was typed may be no text that a database takes
        kept = self._rows.find(SecretSort.PASSWORD, known, register.made.get(password_of(known), ""))
        if not matches(password, kept) or entry is None:
            raise NotSignedIn
        return self._begin(register, entry.name)

    def set_password(self, person: str, password: str, *, who: str, keep: str | None = None) -> None:
        """Set a password. Their sessions end, but for the one with the secret `keep`."""
        require_password(password)
        register = self._book.catch_up()
        self._require_may_set(register, person, who)
        own = None if keep is None else self._find_session(register, keep)
        hashed = hash_password(password)

        def decide(register: Register) -> Deed:
            self._require_may_set(register, person, who)
            return Deed(PersonAct.PASSWORD_SET, person)

        act, register = self._book.write(decide, who=who)
        self._rows.keep(SecretSort.PASSWORD, person, act, hashed)
        self._rows.forget_links(register)
        self._rows.end_sessions(person)
        if own is not None and own.person == person:
            self._rows.begin_session(SessionRow(own.digest, person, act.hash, own.expires), now=self._now())

    def _require_may_set(self, register: Register, person: str, who: str) -> None:
        require_active(register, person)
        require_own_hands(register, person, who)

    # --- sessions ---------------------------------------------------------------------------------------------------

    def authenticate(self, session: str) -> Person | None:
        """Who has this session, with the roles of this moment."""
        register = self._book.catch_up()
        row = self._find_session(register, session)
        entry = None if row is None else register.active(row.person)
        return None if entry is None else _signed_in(entry)

    def end(self, session: str) -> None:
        """Sign out; a session that is none is no news."""
        self._rows.end_session(digest_of(session))

    def _find_session(self, register: Register, session: str) -> SessionRow | None:
        row = self._rows.find_session(digest_of(session))
        if row is None or register.since.get(row.person) != row.since or self._now() >= row.expires:
            return None
        return row

    def _begin(self, register: Register, person: str) -> tuple[Person, str]:
        """A new session of somebody who has shown who they are, as the register stood when they did."""
        entry = register.active(person)
        if entry is None:
            raise NotSignedIn
        secret = new_secret()
        now = self._now()
        expires = now + int(SESSION_LASTS.total_seconds())
        self._rows.begin_session(SessionRow(digest_of(secret), person, register.since[person], expires), now=now)
        return _signed_in(entry), secret

    def _now(self) -> int:
        return int(self._clock().timestamp())


def _signed_in(entry: PersonEntry) -> Person:
    return Person(entry.name, entry.roles, entry.datasets, "session")
