"""Who may come in: persons, roles, grants, tokens, passwords, sessions, one-time links, and how often anybody may ask.

The ledger is the truth about people; what stands beside it can be made again, but for secrets. `People` is the way in,
`Identity` says who a request is from.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.doors import open_door

if TYPE_CHECKING:
    from discreet.people.identity import Identity, LocalIdentity, RequestFacts
    from discreet.people.limits import Bucket, Limits, network_of
    from discreet.people.office_people import People
    from discreet.people.persons import Person, PersonEntry, Proposal, Role, Token, read_role
    from discreet.people.sign_in import SignIn
    from discreet.people.tokens import Tokens
else:
    __getattr__, __dir__ = open_door(__name__)

__all__ = [
    "Bucket",
    "Identity",
    "Limits",
    "LocalIdentity",
    "People",
    "Person",
    "PersonEntry",
    "Proposal",
    "RequestFacts",
    "Role",
    "SignIn",
    "Token",
    "Tokens",
    "network_of",
    "read_role",
]
