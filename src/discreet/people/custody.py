"""Who may change who is a custodian: one alone until two act, from then on two together.

Nobody gets around it by coming in as the other: while two act, each carries what only they have made.
"""

from __future__ import annotations

from datetime import datetime

from discreet.catalogue import Phrase, say
from discreet.errors import NotAllowed, Refused, UnknownName
from discreet.people.persons import PersonAct, PersonEntry, Proposal, Role
from discreet.people.register import Register, changed

__all__ = [
    "find_open",
    "needs_two",
    "require_active",
    "require_another",
    "require_change",
    "require_custodian",
    "require_fresh_proposal",
    "require_may_link",
    "require_own_hands",
]


def require_change(register: Register, entry: PersonEntry, act: PersonAct, role: Role | None) -> None:
    """Refused where an act changes nothing, or takes the last custodian."""
    after = changed(entry, act, role)
    if after == entry:
        raise _no_news(entry.name, act, role)
    if entry.is_custodian and not after.is_custodian and register.custodians == {entry.name}:
        raise Refused(
            say("'{name}' is the only custodian. Make another one first; nothing was changed.", name=entry.name)
        )


def needs_two(register: Register, entry: PersonEntry, act: PersonAct, role: Role | None) -> bool:
    """Whether an act is about who is a custodian while two of them act."""
    about = role is Role.CUSTODIAN or (role is None and Role.CUSTODIAN in entry.roles)
    return about and act in _OF_CUSTODY and _two_act(register)


def require_custodian(register: Register, who: str) -> None:
    """NotAllowed where `who` is none of the custodians that act."""
    if who not in register.custodians:
        raise NotAllowed(
            say(
                "two custodians act here: one of them proposes who else does, and another confirms. '{who}' is none.",
                who=who,
            )
        )


def require_another(register: Register, proposal: Proposal, who: str) -> None:
    """NotAllowed unless `who` may confirm what another custodian has proposed."""
    require_custodian(register, who)
    if who == proposal.proposer:
        raise NotAllowed(say("what a custodian proposes, another one confirms. You may decline it."))


def require_fresh_proposal(register: Register, name: str, act: PersonAct, now: datetime) -> None:
    """Refused where the same is proposed already."""
    for proposal in register.proposals.values():
        if (proposal.person, proposal.act) == (name, act) and register.is_open(proposal, now):
            raise Refused(
                say(
                    "this is proposed already, as number {number}. Another custodian confirms it; nothing was changed.",
                    number=proposal.number,
                )
            )


def find_open(register: Register, number: int, now: datetime) -> Proposal:
    """A proposal that may still be confirmed."""
    proposal = register.proposals.get(number)
    if proposal is None or not register.is_open(proposal, now):
        raise UnknownName(sort=Phrase("Proposal"), name=str(number)[:40], where=Phrase("the open proposals"))
    return proposal


def require_active(register: Register, name: str) -> PersonEntry:
    """Somebody who was added and is not suspended."""
    entry = register.find(name)
    if entry.suspended:
        raise Refused(say("'{name}' is suspended; nothing was made.", name=name))
    return entry


def require_own_hands(register: Register, name: str, who: str) -> None:
    """NotAllowed where one custodian would hold what lets them come in as another."""
    if who != name and register.find(name).is_custodian and _two_act(register):
        raise NotAllowed(
            say("'{name}' is a custodian: while two act, only they make what they come in with.", name=name)
        )


def require_may_link(register: Register, name: str, who: str) -> None:
    """As `require_own_hands`, but for who never acted yet: somebody must let them in, and they notice a thief."""
    if name in register.arrived:
        require_own_hands(register, name, who)


_OF_CUSTODY = frozenset({PersonAct.ROLE_GIVEN, PersonAct.ROLE_TAKEN, PersonAct.SUSPENDED, PersonAct.RESTORED})


def _two_act(register: Register) -> bool:
    return len(register.custodians) >= 2


def _no_news(name: str, act: PersonAct, role: Role | None) -> Refused:
    match act:
        case PersonAct.ROLE_GIVEN:
            told = say("'{name}' has the role '{role}' already; nothing was changed.", name=name, role=_word(role))
        case PersonAct.ROLE_TAKEN:
            told = say("'{name}' does not have the role '{role}'; nothing was changed.", name=name, role=_word(role))
        case PersonAct.SUSPENDED:
            told = say("'{name}' is suspended already; nothing was changed.", name=name)
        case _:
            told = say("'{name}' is not suspended; nothing was changed.", name=name)
    return Refused(told, person=name)


def _word(role: Role | None) -> str:
    return "" if role is None else role.value
