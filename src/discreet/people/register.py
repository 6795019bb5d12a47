"""Everybody as the ledger has them: its acts about people, one after the other.

A register is never written by hand. What it says follows from the chain alone, so nobody becomes a custodian by a row
in a table.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta
from typing import Any, Final

from discreet.catalogue import Phrase, say
from discreet.errors import RecordsUnavailable, UnknownName
from discreet.people.persons import PersonAct, PersonEntry, Proposal, Role, Token

__all__ = ["Act", "LinkEntry", "Register", "changed", "password_of", "role_of", "write_roles"]

PROPOSAL_LASTS: Final = timedelta(days=7)
_TOKEN_LISTED: Final = timedelta(days=30)  # after its last day; the ledger has it for good
_REVOKED_LISTED: Final = 50  # of one person


@dataclass(frozen=True, slots=True)
class Act:
    """One event about a person. `hash` is the event's, by which another chain is told from ours."""

    sequence: int
    hash: str
    when: str
    who: str
    payload: Mapping[str, Any]

    @property
    def person(self) -> str:
        return str(self.payload["person"])

    @property
    def moment(self) -> datetime:
        return datetime.fromisoformat(self.when)


@dataclass(frozen=True, slots=True)
class LinkEntry:
    """A one-time link for `person` that nobody has used yet. It is void once its `maker` may no longer make one."""

    id: str
    person: str
    maker: str
    expires: datetime


@dataclass(frozen=True, slots=True)
class Register:
    """The standing of people after the act `sequence`.

    `made` holds of each token, link and password the hash of the act that made it: a secret that was stored for another
    act is not theirs. `since` holds of each person the hash of the act that ended all sessions before it: a session
    counts for the one under which it began. Who has `arrived` has done something themselves, by whatever way they came.
    """

    sequence: int = 0
    hash: str = ""
    persons: Mapping[str, PersonEntry] = field(default_factory=dict)
    tokens: Mapping[str, Token] = field(default_factory=dict)
    links: Mapping[str, LinkEntry] = field(default_factory=dict)
    proposals: Mapping[int, Proposal] = field(default_factory=dict)
    made: Mapping[str, str] = field(default_factory=dict)
    since: Mapping[str, str] = field(default_factory=dict)
    arrived: frozenset[str] = frozenset()

    def after(self, act: Act) -> Register:
        """With one act more; RecordsUnavailable for what this release does not understand."""
        try:
            register = _CHANGES[PersonAct(act.payload["act"])](self, act)
        except (KeyError, ValueError, TypeError):
            raise RecordsUnavailable(
                say("event {sequence} of the ledger is an act that this version does not know", sequence=act.sequence)
            ) from None
        arrived = register.arrived | (register.persons.keys() & {act.who})
        return replace(register, sequence=act.sequence, hash=act.hash, arrived=arrived)

    def find(self, name: str) -> PersonEntry:
        """Somebody who was added, or UnknownName."""
        try:
            return self.persons[name]
        except KeyError:
            raise UnknownName(
                sort=Phrase("Person"),
                name=name,
                where=Phrase("this office"),
                known=self.persons,
                advice=say("A custodian adds people: discreet person add NAME --role ROLE"),
            ) from None

    def active(self, name: str) -> PersonEntry | None:
        """Somebody who was added and is not suspended."""
        found = self.persons.get(name)
        return None if found is None or found.suspended else found

    @property
    def custodians(self) -> frozenset[str]:
        """Who acts as a custodian at present."""
        return frozenset(name for name, entry in self.persons.items() if entry.is_custodian)

    def is_open(self, proposal: Proposal, now: datetime) -> bool:
        """Whether a proposal may still be confirmed: for some days, while its proposer is a custodian."""
        made = datetime.fromisoformat(proposal.made)
        return proposal.proposer in self.custodians and now < made + PROPOSAL_LASTS


def changed(entry: PersonEntry, act: PersonAct, role: Role | None) -> PersonEntry:
    """Somebody after a change of their roles or of whether they are suspended."""
    match act, role:
        case PersonAct.ROLE_GIVEN, Role():
            return replace(entry, roles=entry.roles | {role})
        case PersonAct.ROLE_TAKEN, Role():
            return replace(entry, roles=entry.roles - {role})
        case PersonAct.SUSPENDED, None:
            return replace(entry, suspended=True)
        case PersonAct.RESTORED, None:
            return replace(entry, suspended=False)
    raise ValueError("an act that changes nobody")


def write_roles(roles: frozenset[Role]) -> str:
    """Roles as the ledger has them, where facts are text."""
    return ",".join(role.value for role in Role if role in roles)


def _add(register: Register, act: Act) -> Register:
    if act.person in register.persons:
        raise ValueError("somebody who was added before")
    roles = frozenset(Role(word) for word in str(act.payload["roles"]).split(",") if word)
    persons = {**register.persons, act.person: PersonEntry(act.person, roles)}
    return replace(register, persons=persons, since={**register.since, act.person: act.hash})


def _change(register: Register, act: Act) -> Register:
    role = act.payload.get("role")
    return _apply(register, act, PersonAct(act.payload["act"]), None if role is None else Role(role))


def _apply(register: Register, act: Act, change: PersonAct, role: Role | None) -> Register:
    before = register.persons[act.person]
    after = changed(before, change, role)
    register = replace(register, persons={**register.persons, act.person: after})
    if after.is_custodian and not before.is_custodian:
        return _begin_anew(register, act)
    if change is PersonAct.SUSPENDED:
        register = _end_sessions(register, act)
    if change is PersonAct.SUSPENDED or (before.is_custodian and not after.is_custodian):
        return _without_what_they_began(register, act.person)
    return register


def _begin_anew(register: Register, act: Act) -> Register:
    """Whoever becomes a custodian comes in anew: what they carried until now may be in other hands too."""
    tokens = {id: replace(one, revoked=one.revoked or one.person == act.person) for id, one in register.tokens.items()}
    made = {name: at for name, at in register.made.items() if name != password_of(act.person)}
    arrived = register.arrived - {act.person}
    return _end_sessions(replace(register, tokens=tokens, made=made, arrived=arrived), act)


def _end_sessions(register: Register, act: Act) -> Register:
    """Sessions and links of before are for nothing."""
    return replace(_without_links(register, act.person), since={**register.since, act.person: act.hash})


def _without_what_they_began(register: Register, person: str) -> Register:
    """Links that somebody made, and what they proposed. It does not come back with them."""
    proposals = {number: one for number, one in register.proposals.items() if one.proposer != person}
    void = {id for id, link in register.links.items() if link.maker == person}
    return _void_links(replace(register, proposals=proposals), void)


def _without_links(register: Register, person: str) -> Register:
    return _void_links(register, {id for id, link in register.links.items() if link.person == person})


def _void_links(register: Register, void: set[str]) -> Register:
    return replace(
        register,
        links={id: link for id, link in register.links.items() if id not in void},
        made={name: at for name, at in register.made.items() if name not in void},
    )


def _grant(register: Register, act: Act) -> Register:
    entry = register.persons[act.person]
    return _with_datasets(register, entry, entry.datasets | {str(act.payload["dataset"])})


def _withdraw(register: Register, act: Act) -> Register:
    entry = register.persons[act.person]
    return _with_datasets(register, entry, entry.datasets - {str(act.payload["dataset"])})


def _with_datasets(register: Register, entry: PersonEntry, datasets: frozenset[str]) -> Register:
    return replace(register, persons={**register.persons, entry.name: replace(entry, datasets=datasets)})


def _make_token(register: Register, act: Act) -> Register:
    person, id = register.persons[act.person].name, str(act.payload["token"])
    listed = act.moment.date() - _TOKEN_LISTED
    theirs = [one for one in register.tokens.values() if one.person == person]
    late = {one.id for one in theirs if one.expires < listed}
    revoked = [one.id for one in theirs if one.revoked and one.id not in late]
    late.update(revoked[:-_REVOKED_LISTED])
    tokens = {name: one for name, one in register.tokens.items() if name not in late}
    made = {name: at for name, at in register.made.items() if name not in register.tokens or name in tokens}
    token = Token(id, person, date.fromisoformat(act.payload["expires"]))
    return replace(register, tokens={**tokens, id: token}, made={**made, id: act.hash})


def _revoke_token(register: Register, act: Act) -> Register:
    id = str(act.payload["token"])
    token = register.tokens.get(id)  # one that nobody lists any more was made long ago
    if token is None:
        return register
    return replace(register, tokens={**register.tokens, id: replace(token, revoked=True)})


def _set_password(register: Register, act: Act) -> Register:
    person = register.persons[act.person].name
    return _end_sessions(replace(register, made={**register.made, password_of(person): act.hash}), act)


def password_of(person: str) -> str:
    """Under which a password stands in `made`: no token or link has such an id."""
    return f"password of {person}"


def _make_link(register: Register, act: Act) -> Register:
    person, id = register.persons[act.person].name, str(act.payload["link"])
    expires = datetime.fromisoformat(act.payload["expires"])
    register = _without_links(register, person)
    links = {**register.links, id: LinkEntry(id, person, act.who, expires)}
    return replace(register, links=links, made={**register.made, id: act.hash})


def _use_link(register: Register, act: Act) -> Register:
    person = register.links[str(act.payload["link"])].person  # a link is the only one of its person
    return _without_links(register, person)


def _propose(register: Register, act: Act) -> Register:
    change = PersonAct(act.payload["change"])
    proposal = Proposal(act.sequence, change, register.persons[act.person].name, act.who, act.when)
    changed(register.persons[act.person], change, role_of(change))
    return replace(register, proposals={**register.proposals, act.sequence: proposal})


def _confirm(register: Register, act: Act) -> Register:
    proposal = register.proposals[act.payload["proposal"]]
    if proposal.person != act.person:
        raise ValueError("a proposal about somebody else")
    return _decline(_apply(register, act, proposal.act, role_of(proposal.act)), act)


def _decline(register: Register, act: Act) -> Register:
    number = act.payload["proposal"]
    return replace(register, proposals={at: one for at, one in register.proposals.items() if at != number})


def role_of(change: PersonAct) -> Role | None:
    """What is proposed is always about custodians."""
    return Role.CUSTODIAN if change in {PersonAct.ROLE_GIVEN, PersonAct.ROLE_TAKEN} else None


_CHANGES: Final[Mapping[PersonAct, Callable[[Register, Act], Register]]] = {
    PersonAct.ADDED: _add,
    PersonAct.ROLE_GIVEN: _change,
    PersonAct.ROLE_TAKEN: _change,
    PersonAct.SUSPENDED: _change,
    PersonAct.RESTORED: _change,
    PersonAct.GRANTED: _grant,
    PersonAct.WITHDRAWN: _withdraw,
    PersonAct.TOKEN_MADE: _make_token,
    PersonAct.TOKEN_REVOKED: _revoke_token,
    PersonAct.PASSWORD_SET: _set_password,
    PersonAct.LINK_MADE: _make_link,
    PersonAct.LINK_USED: _use_link,
    PersonAct.PROPOSED: _propose,
    PersonAct.CONFIRMED: _confirm,
    PersonAct.DECLINED: _decline,
}
