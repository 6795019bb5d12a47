"""The people of one office: who is there, what they may do, and every act that changes it, on the ledger."""

from __future__ import annotations

from collections.abc import Callable, Collection
from datetime import UTC, datetime
from typing import Final

from discreet.catalogue import Phrase, say
from discreet.errors import Refused, UnknownName
from discreet.ledger import Ledger, check_name
from discreet.people.act_book import ActBook, Deed
from discreet.people.custody import (
    find_open,
    needs_two,
    require_another,
    require_change,
    require_custodian,
    require_fresh_proposal,
)
from discreet.people.limits import Limits
from discreet.people.persons import PersonAct, PersonEntry, Proposal, Role, read_role
from discreet.people.register import Register, role_of, write_roles
from discreet.people.secret_rows import PEOPLE_TABLES, SecretRows
from discreet.people.sign_in import SignIn
from discreet.people.tokens import Tokens
from discreet.stores import open_store
from discreet.workspace import Workspace

__all__ = ["People"]

_NO_PERSONS: Final = frozenset({"discreet", "custodian"})
"""Whom the ledger names where no person acted, or none was named."""


def _now() -> datetime:
    return datetime.now(UTC)


class People:
    """Who may come in. Threads share it; each process has its own.

    Whether `who` may act on others is for callers to know: a server from their roles, and on the command line whoever
    has the folder is the custodian. Who is a custodian is another matter: from the second one on it takes two.
    """

    def __init__(self, workspace: Workspace, ledger: Ledger, *, clock: Callable[[], datetime] = _now) -> None:
        self._workspace = workspace
        self._ledger = ledger
        self._clock = clock
        self._book = ActBook(ledger)
        store = open_store(workspace, PEOPLE_TABLES)
        self._rows = SecretRows(store, ledger)
        self.limits = Limits(store, ledger, lambda: clock().timestamp())
        self.tokens = Tokens(self._book, self._rows, clock)
        self.sign_in = SignIn(self._book, self._rows, self.limits, clock)

    def close(self) -> None:
        self._rows.close()

    # --- looking ----------------------------------------------------------------------------------------------------

    def catch_up(self) -> Register:
        """Everybody as the ledger has them now."""
        return self._book.catch_up()

    def persons(self) -> tuple[PersonEntry, ...]:
        return tuple(self.catch_up().persons.values())

    def person(self, name: str) -> PersonEntry:
        return self.catch_up().find(name)

    def proposals(self) -> tuple[Proposal, ...]:
        """Those that another custodian may still confirm."""
        register, now = self.catch_up(), self._clock()
        return tuple(one for one in register.proposals.values() if register.is_open(one, now))

    # --- who is there -----------------------------------------------------------------------------------------------

    def add(self, name: str, roles: Collection[Role], *, who: str) -> PersonEntry:
        """Add somebody under a name that nobody had. Where two custodians act, that role is proposed only."""
        check_name(name, parameter=Phrase("name"))
        wanted = frozenset(read_role(role) for role in roles)
        alone = frozenset({Role.CUSTODIAN})

        def decide(register: Register) -> Deed:
            _require_new(register, name)
            given = wanted
            if Role.CUSTODIAN in wanted and len(register.custodians) >= 2:
                require_custodian(register, who)
                given = wanted - alone
            return Deed(PersonAct.ADDED, name, {"roles": write_roles(given)})

        decide(self.catch_up())
        self._register_analyst(name, wanted, who)
        _, register = self._book.write(decide, who=who)
        missing = wanted - register.find(name).roles
        if missing & alone:
            self.give_role(name, Role.CUSTODIAN, who=who)
        return self.person(name)

    def give_role(self, name: str, role: Role, *, who: str) -> PersonEntry | Proposal:
        """Give somebody a role; a Proposal where it takes a second custodian."""
        role = read_role(role)
        if role not in self.person(name).roles:
            self._register_analyst(name, {role}, who)
        return self._change(PersonAct.ROLE_GIVEN, name, role, who)

    def take_role(self, name: str, role: Role, *, who: str) -> PersonEntry | Proposal:
        return self._change(PersonAct.ROLE_TAKEN, name, read_role(role), who)

    def suspend(self, name: str, *, who: str) -> PersonEntry | Proposal:
        """Let somebody in no more, by anything, until they are restored. Their sessions end at once."""
        return self._change(PersonAct.SUSPENDED, name, None, who)

    def restore(self, name: str, *, who: str) -> PersonEntry | Proposal:
        return self._change(PersonAct.RESTORED, name, None, who)

    def _register_analyst(self, name: str, roles: Collection[Role], who: str) -> None:
        """First, so that nobody has the role whom the ledger does not know; an analyst without one may ask nothing."""
        if Role.ANALYST in roles:
            self._ledger.add_analyst(name, who=check_name(who, parameter=Phrase("who acts")))

    def _change(self, act: PersonAct, name: str, role: Role | None, who: str) -> PersonEntry | Proposal:
        def decide(register: Register) -> Deed:
            entry = register.find(name)
            require_change(register, entry, act, role)
            if needs_two(register, entry, act, role):
                require_custodian(register, who)
                require_fresh_proposal(register, name, act, self._clock())
                return Deed(PersonAct.PROPOSED, name, {"change": act.value})
            return Deed(act, name, {} if role is None else {"role": role.value})

        done, register = self._book.write(decide, who=who)
        if done.payload["act"] == PersonAct.PROPOSED:
            return Proposal(done.sequence, act, name, done.who, done.when)
        return self._changed(register, name)

    def _changed(self, register: Register, name: str) -> PersonEntry:
        """What was ended is forgotten beside the ledger too: no ledger that is put back revives it."""
        entry = register.find(name)
        if entry.suspended:
            self._rows.end_sessions(name)
        self._rows.forget_links(register)
        return entry

    # --- what takes two ---------------------------------------------------------------------------------------------

    def confirm(self, number: int, *, who: str) -> PersonEntry:
        """Carry out what another custodian has proposed."""

        def decide(register: Register) -> Deed:
            proposal = find_open(register, number, self._clock())
            require_another(register, proposal, who)
            require_change(register, register.find(proposal.person), proposal.act, role_of(proposal.act))
            return Deed(PersonAct.CONFIRMED, proposal.person, {"proposal": number})

        act, register = self._book.write(decide, who=who)
        return self._changed(register, act.person)

    def decline(self, number: int, *, who: str) -> Proposal:
        """Put a proposal away; its proposer may too."""
        found = find_open(self.catch_up(), number, self._clock())

        def decide(register: Register) -> Deed:
            find_open(register, number, self._clock())
            require_custodian(register, who)
            return Deed(PersonAct.DECLINED, found.person, {"proposal": number})

        self._book.write(decide, who=who)
        return found

    # --- what they may ask about ------------------------------------------------------------------------------------

    def grant(self, name: str, dataset: str, *, who: str) -> PersonEntry:
        """Let somebody ask about a dataset, in all of its versions."""
        known = self._workspace.names()
        if dataset not in known:
            raise UnknownName(sort=Phrase("Dataset"), name=dataset, where=Phrase("the workspace"), known=known)

        def decide(register: Register) -> Deed:
            if dataset in register.find(name).datasets:
                raise Refused(
                    say("'{name}' may ask about '{dataset}' already; nothing was changed.", name=name, dataset=dataset)
                )
            return Deed(PersonAct.GRANTED, name, {"dataset": dataset})

        return self._book.write(decide, who=who)[1].find(name)

    def withdraw(self, name: str, dataset: str, *, who: str) -> PersonEntry:
        """Let somebody ask about a dataset no more."""

        def decide(register: Register) -> Deed:
            if dataset not in register.find(name).datasets:
                raise Refused(
                    say("'{name}' may not ask about '{dataset}'; nothing was changed.", name=name, dataset=dataset)
                )
            return Deed(PersonAct.WITHDRAWN, name, {"dataset": dataset})

        return self._book.write(decide, who=who)[1].find(name)


def _require_new(register: Register, name: str) -> None:
    """Names are given once; two that differ in capitals only would be taken for each other."""
    if name.casefold() in _NO_PERSONS:
        raise Refused(
            say(
                "'{name}' is no person's name: the ledger names it where no person acted. Choose another; nothing was "
                "changed. Commands take your own from DISCREET_ANALYST.",
                name=name,
            )
        )
    for known in register.persons:
        if known.casefold() == name.casefold():
            raise Refused(
                say(
                    "'{name}' is known here already, and no name is given twice. Choose another; nothing was changed.",
                    name=known,
                ),
                person=known,
            )
