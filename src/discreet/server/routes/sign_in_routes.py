"""Signing in with a password or a one-time link, for browsers, and out again. Programs carry a token instead.

The session stands in a cookie that no script can read, that goes to this server alone, and only with its own pages.
"""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from discreet.catalogue import say
from discreet.errors import RequestInvalid
from discreet.people import Bucket, Person
from discreet.server.bodies import SignInBody
from discreet.server.callers import SESSION_COOKIE, address_of, office_of

__all__ = ["router"]

router = APIRouter(tags=["signing in"])
_LASTS = 12 * 3_600
_TRIES_IN_A_MINUTE = 10


@router.post("/session", summary="Sign in, with a password or a one-time link.")
def sign_in(body: SignInBody, request: Request, response: Response) -> dict[str, object]:
    office, address = office_of(request), address_of(request)
    office.people.limits.take(Bucket(f"sign-in:{address}", _TRIES_IN_A_MINUTE, 60))
    person, secret = _signed_in(body, request, address)
    response.set_cookie(SESSION_COOKIE, secret, max_age=_LASTS, path="/", secure=True, httponly=True, samesite="strict")
    return {"name": person.name, "roles": sorted(role.value for role in person.roles)}


@router.delete("/session", summary="Sign out.")
def sign_out(request: Request, response: Response) -> dict[str, object]:
    if secret := request.cookies.get(SESSION_COOKIE):
        office_of(request).people.sign_in.end(secret)
    response.delete_cookie(SESSION_COOKIE, path="/", secure=True, httponly=True, samesite="strict")
    return {"signed_out": True}


def _signed_in(body: SignInBody, request: Request, address: str) -> tuple[Person, str]:
    way = office_of(request).people.sign_in
    match body:
        case SignInBody(link=str(link), name=None, password=None):
            return way.use_link(link)
        case SignInBody(link=None, name=str(name), password=str(password)):
            return way.with_password(name, password, address=address)
    raise RequestInvalid(say("either 'name' and 'password', or 'link', is what signs somebody in."))
