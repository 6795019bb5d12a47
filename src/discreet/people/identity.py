"""Who a request is from: what it carries is all that says so, and never a header that names somebody."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

from discreet.people.office_people import People
from discreet.people.persons import Person

__all__ = ["Identity", "LocalIdentity", "RequestFacts"]


@dataclass(frozen=True, slots=True)
class RequestFacts:
    """What a request carries: a bearer token or a session, and from which network it came."""

    bearer: str | None = field(repr=False)
    session: str | None = field(repr=False)
    address: str


class Identity(Protocol):
    """Knows people by what their requests carry."""

    def authenticate(self, facts: RequestFacts) -> Person | None:
        """The person, or None where nobody is known by it. It never raises for what is carried."""
        ...


class LocalIdentity:
    """By the tokens and sessions of this office. A request that shows a token is judged by it alone."""

    def __init__(self, people: People) -> None:
        self._people = people

    def authenticate(self, facts: RequestFacts) -> Person | None:
        if facts.bearer is not None:
            return self._people.tokens.authenticate(facts.bearer)
        return None if facts.session is None else self._people.sign_in.authenticate(facts.session)
