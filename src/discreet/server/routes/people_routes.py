"""People, their roles, grants and tokens. Who is a custodian takes two custodians; secrets are shown once.

A custodian makes one-time links for others and tokens for nobody but themselves, so that nobody asks as somebody else.
What lets somebody in is made by whoever signed in, never by a token: once a token is revoked, nothing of it is left.
"""

from __future__ import annotations

from typing import Any, Final

from fastapi import APIRouter, Request, Response

from discreet.people import Bucket, PersonEntry, Proposal, Role
from discreet.server.bodies import GrantBody, LinkBody, PasswordBody, PersonBody, RoleBody, TokenBody, role_of
from discreet.server.callers import SESSION_COOKIE, Custodian, CustodianInPerson, InPerson, Overseer, Somebody

__all__ = ["router"]

router = APIRouter(tags=["people"])
_PROPOSED: dict[int | str, dict[str, Any]] = {202: {"description": "Proposed: another custodian has to confirm it."}}
_TOKENS_AN_HOUR: Final = 20
_PASSWORDS_A_MINUTE: Final = 5


@router.get("/people", summary="Everybody of this office.")
def people(caller: Overseer) -> dict[str, object]:
    return {"people": [entry.to_dict() for entry in caller.office.people.persons()]}


@router.post("/people", summary="Add somebody.", status_code=201)
def add_person(body: PersonBody, caller: Custodian) -> dict[str, object]:
    roles = {role_of(name) for name in body.roles}
    return caller.office.people.add(body.name, roles, who=caller.name).to_dict()


@router.get("/people/{name}", summary="One person.")
def person(name: str, caller: Overseer) -> dict[str, object]:
    return caller.office.people.person(name).to_dict()


@router.post(
    "/people/{name}/roles",
    summary="Give a role; a custodian's is proposed to the other custodians.",
    responses=_PROPOSED,
)
def give_role(name: str, body: RoleBody, caller: Custodian, response: Response) -> dict[str, object]:
    return _tell(caller.office.people.give_role(name, role_of(body.role), who=caller.name), response)


@router.delete("/people/{name}/roles/{role}", summary="Take a role; a custodian's is proposed.", responses=_PROPOSED)
def take_role(name: str, role: str, caller: Custodian, response: Response) -> dict[str, object]:
    return _tell(caller.office.people.take_role(name, role_of(role), who=caller.name), response)


@router.post("/people/{name}/suspend", summary="From now on nothing they carry is good.", responses=_PROPOSED)
def suspend(name: str, caller: Custodian, response: Response) -> dict[str, object]:
    return _tell(caller.office.people.suspend(name, who=caller.name), response)


@router.post("/people/{name}/restore", summary="Let somebody in again.", responses=_PROPOSED)
def restore(name: str, caller: Custodian, response: Response) -> dict[str, object]:
    return _tell(caller.office.people.restore(name, who=caller.name), response)


@router.post("/people/{name}/link", summary="A one-time link for them, made in a session; earlier ones are void.")
def make_link(name: str, caller: CustodianInPerson) -> LinkBody:
    return LinkBody(person=name, link=caller.office.people.sign_in.make_link(name, who=caller.name))


@router.get("/proposals", summary="What one custodian proposed and another has yet to confirm.")
def proposals(caller: Custodian) -> dict[str, object]:
    return {"proposals": [proposal.to_dict() for proposal in caller.office.people.proposals()]}


@router.post("/proposals/{number}/confirm", summary="Carry out what another custodian proposed.")
def confirm(number: int, caller: Custodian) -> dict[str, object]:
    return caller.office.people.confirm(number, who=caller.name).to_dict()


@router.post("/proposals/{number}/decline", summary="Drop a proposal.")
def decline(number: int, caller: Custodian) -> dict[str, object]:
    return caller.office.people.decline(number, who=caller.name).to_dict()


@router.get("/grants", summary="Which datasets who may ask about.")
def grants(caller: Overseer) -> dict[str, object]:
    found = [
        {"person": entry.name, "dataset": dataset}
        for entry in caller.office.people.persons()
        for dataset in sorted(entry.datasets)
    ]
    return {"grants": found}


@router.post("/grants", summary="Let somebody ask about a dataset.", status_code=201)
def grant(body: GrantBody, caller: Custodian) -> dict[str, object]:
    return caller.office.people.grant(body.person, body.dataset, who=caller.name).to_dict()


@router.delete("/grants/{person}/{dataset}", summary="No longer.")
def withdraw(person: str, dataset: str, caller: Custodian) -> dict[str, object]:
    return caller.office.people.withdraw(person, dataset, who=caller.name).to_dict()


@router.get("/tokens", summary="Your tokens, without their secrets; everybody's for custodians and auditors.")
def tokens(caller: Somebody) -> dict[str, object]:
    whose = None if caller.oversees else caller.name
    return {"tokens": [token.to_dict() for token in caller.office.people.tokens.list(whose)]}


@router.post(
    "/tokens", summary="A token of your own for programs, made in a session. It is shown once.", status_code=201
)
def make_token(body: TokenBody, caller: InPerson) -> dict[str, object]:
    caller.office.people.limits.take(Bucket(f"tokens of {caller.name}", _TOKENS_AN_HOUR, 3_600))
    token, secret = caller.office.people.tokens.make(caller.name, days=body.days, who=caller.name)
    return {**token.to_dict(), "token": secret}


@router.delete("/tokens/{id}", summary="Revoke a token: your own, or for custodians anybody's.")
def revoke_token(id: str, caller: Somebody) -> dict[str, object]:
    whose = None if caller.has(Role.CUSTODIAN) else caller.name
    return caller.office.people.tokens.revoke(id, who=caller.name, person=whose).to_dict()


@router.put("/me/password", summary="Choose your password, in a session. Other sessions of yours end.")
def set_password(body: PasswordBody, request: Request, caller: InPerson) -> dict[str, object]:
    caller.office.people.limits.take(Bucket(f"new password of {caller.name}", _PASSWORDS_A_MINUTE, 60))
    own = request.cookies.get(SESSION_COOKIE)
    caller.office.people.sign_in.set_password(caller.name, body.password, who=caller.name, keep=own)
    return {"name": caller.name}


def _tell(found: PersonEntry | Proposal, response: Response) -> dict[str, object]:
    """What came of a change: 202 where another custodian has to confirm it first."""
    if isinstance(found, Proposal):
        response.status_code = 202
        return {"proposal": found.to_dict()}
    return found.to_dict()
