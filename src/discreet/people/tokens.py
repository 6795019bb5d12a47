"""Tokens: what a program shows instead of a person. Their secrets are shown once and kept nowhere."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from datetime import date, datetime, timedelta
from typing import Final

from discreet.catalogue import Phrase, say
from discreet.errors import ParameterInvalid, Refused, UnknownName
from discreet.people.act_book import ActBook, Deed
from discreet.people.custody import require_active, require_own_hands
from discreet.people.persons import Person, PersonAct, Token
from discreet.people.register import Register
from discreet.people.secret_rows import SecretRows, SecretSort, digest_of, is_same, new_pair, new_secret, split_pair

__all__ = ["Tokens"]

MOST_DAYS: Final = 365
MOST_TOKENS: Final = 50
_NOBODYS: Final = "0" * 16


class Tokens:
    """The tokens of one office."""

    def __init__(self, book: ActBook, rows: SecretRows, clock: Callable[[], datetime]) -> None:
        self._book = book
        self._rows = rows
        self._clock = clock
        self._turn = threading.Lock()
        self._noted: dict[str, date] = {}
        self._decoy = digest_of(new_secret())

    def make(self, person: str, *, days: int, who: str) -> tuple[Token, str]:
        """A token that works for so many days, and what is to be shown: the only time that anybody sees it."""
        if type(days) is not int or not 1 <= days <= MOST_DAYS:
            rule = say("must be a whole number from 1 to {most}", most=MOST_DAYS)
            raise ParameterInvalid(parameter=Phrase("days"), rule=rule, given=str(days)[:40])
        id, secret = new_pair()
        expires = self._today() + timedelta(days=days)

        def decide(register: Register) -> Deed:
            require_active(register, person)
            require_own_hands(register, person, who)
            self._require_room(register, person)
            return Deed(PersonAct.TOKEN_MADE, person, {"token": id, "expires": expires.isoformat()})

        act, register = self._book.write(decide, who=who)
        self._rows.keep(SecretSort.TOKEN, id, act, digest_of(secret))
        return register.tokens.get(id, Token(id, person, expires)), f"{id}.{secret}"

    def list(self, person: str | None = None) -> tuple[Token, ...]:
        """Everybody's tokens, or a person's; those that expired a month ago may be missing."""
        register = self._book.catch_up()
        if person is not None:
            register.find(person)
        used = self._rows.last_uses()
        return tuple(
            replace(token, last_used=used.get(token.id))
            for token in register.tokens.values()
            if person is None or token.person == person
        )

    def revoke(self, id: str, *, who: str, person: str | None = None) -> Token:
        """End a token at once; one that was revoked before is no news. With `person`, only one of theirs."""
        token = self._find(self._book.catch_up(), id, person)
        if not token.revoked:
            token = self._revoke(id, who=who, person=person)
        self._rows.forget(SecretSort.TOKEN, id)
        return token

    def authenticate(self, bearer: str) -> Person | None:
        """Who shows this token. One that is not known takes the same way as one that is."""
        register, today = self._book.catch_up(), self._today()
        id, secret = split_pair(bearer) or (_NOBODYS, "")
        token = register.tokens.get(id)
        kept = self._rows.find(SecretSort.TOKEN, id, register.made.get(id, ""))
        same = is_same(self._decoy if kept is None else kept, digest_of(secret))
        entry = None if token is None else register.active(token.person)
        if not same or kept is None or token is None or entry is None or token.revoked or today > token.expires:
            return None
        self._note_use(id, today)
        return Person(entry.name, entry.roles, entry.datasets, "token")

    def _revoke(self, id: str, *, who: str, person: str | None) -> Token:
        def decide(register: Register) -> Deed:
            return Deed(PersonAct.TOKEN_REVOKED, self._find(register, id, person).person, {"token": id})

        return self._find(self._book.write(decide, who=who)[1], id, person)

    def _find(self, register: Register, id: str, person: str | None) -> Token:
        """A token that `person` may know of. No other is named, not even as a guess."""
        token = register.tokens.get(id)
        if token is None or person not in {None, token.person}:
            where = Phrase("this office") if person is None else Phrase("your tokens")
            raise UnknownName(sort=Phrase("Token"), name=id[:40], where=where)
        return token

    def _require_room(self, register: Register, person: str) -> None:
        """The ledger keeps every token for good, so nobody makes them without end."""
        today = self._today()
        working = [
            one for one in register.tokens.values() if one.person == person and not one.revoked and today <= one.expires
        ]
        if len(working) >= MOST_TOKENS:
            raise Refused(
                say(
                    "'{person}' has {most} tokens that work. Revoke one that is not needed; nothing was made.",
                    person=person,
                    most=MOST_TOKENS,
                )
            )

    def _note_use(self, id: str, today: date) -> None:
        """Once a day and process: what is written says no more than the day."""
        with self._turn:
            if self._noted.get(id) == today:
                return
        self._rows.note_use(id, today)
        with self._turn:
            self._noted[id] = today

    def _today(self) -> date:
        return self._clock().date()
