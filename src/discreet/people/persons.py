"""The nouns: who somebody is, what they may do, and what they carry to show it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from typing import Literal

from discreet.catalogue import Phrase, say, say_list
from discreet.errors import ParameterInvalid

__all__ = ["Person", "PersonAct", "PersonEntry", "Proposal", "Role", "Token", "read_role"]


class Role(StrEnum):
    """What a person may do. Roles add up."""

    ANALYST = "analyst"
    REVIEWER = "reviewer"
    CUSTODIAN = "custodian"
    AUDITOR = "auditor"


def read_role(word: str) -> Role:
    """The role of that name, or ParameterInvalid."""
    try:
        return Role(word)
    except ValueError:
        rule = say("must be one of {names}", names=say_list([role.value for role in Role], either=True))
        raise ParameterInvalid(parameter=Phrase("role"), rule=rule, given=str(word)[:40]) from None


class PersonAct(StrEnum):
    """What is done about a person, as the ledger has it. An act that was ever written stays, and keeps its meaning."""

    ADDED = "person-added"
    ROLE_GIVEN = "role-given"
    ROLE_TAKEN = "role-taken"
    SUSPENDED = "person-suspended"
    RESTORED = "person-restored"
    GRANTED = "grant-given"
    WITHDRAWN = "grant-withdrawn"
    TOKEN_MADE = "token-made"  # noqa: S105
    TOKEN_REVOKED = "token-revoked"  # noqa: S105
    PASSWORD_SET = "password-set"  # noqa: S105
    LINK_MADE = "link-made"
    LINK_USED = "link-used"
    PROPOSED = "proposed"
    CONFIRMED = "confirmed"
    DECLINED = "declined"


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody who is signed in, with the roles and grants of this moment, and by what."""

    name: str
    roles: frozenset[Role]
    datasets: frozenset[str]
    via: Literal["token", "session"]


@dataclass(frozen=True, slots=True)
class PersonEntry:
    """Somebody as the ledger has them. A name is never given to another person; who has left is suspended."""

    name: str
    roles: frozenset[Role] = frozenset()
    datasets: frozenset[str] = frozenset()
    suspended: bool = False

    @property
    def is_custodian(self) -> bool:
        """Whether they act as a custodian at present."""
        return Role.CUSTODIAN in self.roles and not self.suspended

    def to_dict(self) -> dict[str, object]:
        return {
            "name": self.name,
            "roles": [role.value for role in Role if role in self.roles],
            "datasets": sorted(self.datasets),
            "suspended": self.suspended,
        }


@dataclass(frozen=True, slots=True)
class Token:
    """What a program carries, without its secret. It works up to the end of the day `expires`, in UTC."""

    id: str
    person: str
    expires: date
    last_used: date | None = None
    revoked: bool = False

    def to_dict(self) -> dict[str, object]:
        return {
            "id": self.id,
            "person": self.person,
            "expires": self.expires.isoformat(),
            "last_used": None if self.last_used is None else self.last_used.isoformat(),
            "revoked": self.revoked,
        }


@dataclass(frozen=True, slots=True)
class Proposal:
    """What one custodian would do to who is a custodian, and another has yet to confirm. `number` is its event."""

    number: int
    act: PersonAct
    person: str
    proposer: str
    made: str

    def to_dict(self) -> dict[str, object]:
        return {
            "number": self.number,
            "act": self.act.value,
            "person": self.person,
            "proposer": self.proposer,
            "made": self.made,
        }
