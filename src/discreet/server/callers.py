"""Who asks: a person with the roles and grants of this moment, and the workspace as that person may see it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Request

from discreet.catalogue import say
from discreet.errors import NotAllowed, NotSignedIn
from discreet.people import Bucket, Person, RequestFacts, Role, network_of
from discreet.server.office import ServedOffice
from discreet.session import Session

__all__ = [
    "SESSION_COOKIE",
    "Analyst",
    "Auditor",
    "Caller",
    "Custodian",
    "CustodianInPerson",
    "InPerson",
    "Overseer",
    "Somebody",
    "address_of",
    "office_of",
]

SESSION_COOKIE = "__Host-discreet"
_OVERSEERS = frozenset({Role.CUSTODIAN, Role.AUDITOR})


@dataclass(frozen=True, slots=True)
class Caller:
    """A person who is signed in."""

    person: Person
    office: ServedOffice

    @property
    def name(self) -> str:
        return self.person.name

    def has(self, role: Role) -> bool:
        return role in self.person.roles

    @property
    def oversees(self) -> bool:
        """Whether they see what concerns everybody."""
        return bool(self.person.roles & _OVERSEERS)

    @property
    def session(self) -> Session:
        """The workspace as this person may see it: custodians all of it, others what they were granted."""
        if self.has(Role.CUSTODIAN):
            return self.office.session.acting_for(self.name)
        return self.granted

    @property
    def granted(self) -> Session:
        """What this person may ask about, whatever other roles they have."""
        return self.office.session.acting_for(self.name, datasets=self.person.datasets)


def office_of(request: Request) -> ServedOffice:
    office: ServedOffice = request.app.state.office
    return office


def address_of(request: Request) -> str:
    """Where a request came from, in the size of network that one customer has."""
    return network_of(request.client.host if request.client else "")


def signed_in(request: Request) -> Caller:
    """The person whose token or session came with the request, or NotSignedIn; never who a header says it is."""
    office, address = office_of(request), address_of(request)
    scheme, _, secret = request.headers.get("authorization", "").partition(" ")
    bearer = secret.strip() if scheme.lower() == "bearer" else None
    facts = RequestFacts(bearer=bearer, session=request.cookies.get(SESSION_COOKIE), address=address)
    person = office.identity.authenticate(facts)
    buckets = [Bucket(f"address:{address}", office.settings.per_address, 60)]
    if person is None:
        office.people.limits.take(*buckets)
        raise NotSignedIn
    office.people.limits.take(*buckets, Bucket(f"person:{person.name}", office.settings.per_person, 60))
    return Caller(person, office)


Somebody = Annotated[Caller, Depends(signed_in)]


def _requires(*roles: Role) -> object:
    def check(caller: Somebody) -> Caller:
        if not caller.person.roles & set(roles):
            raise NotAllowed(
                say("this is for another role: {roles}.", roles=", ".join(sorted(role.value for role in roles))),
            )
        return caller

    return Depends(check)


Analyst = Annotated[Caller, _requires(Role.ANALYST)]
Custodian = Annotated[Caller, _requires(Role.CUSTODIAN)]
Auditor = Annotated[Caller, _requires(Role.AUDITOR)]
Overseer = Annotated[Caller, _requires(*_OVERSEERS)]


def in_person(caller: Somebody) -> Caller:
    """Whoever signed in. Another way in is made by nobody else: it would still be there when a token is revoked."""
    if caller.person.via != "session":
        raise NotAllowed(
            say("a token cannot make this: what it made would outlast it. Sign in with a link or a password.")
        )
    return caller


def custodian_in_person(caller: Custodian) -> Caller:
    return in_person(caller)


InPerson = Annotated[Caller, Depends(in_person)]
CustodianInPerson = Annotated[Caller, Depends(custodian_in_person)]
