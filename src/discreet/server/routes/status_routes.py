"""Whether the server is there, and whether it can answer."""

from __future__ import annotations

from fastapi import APIRouter, Request
from starlette.concurrency import run_in_threadpool

from discreet import __version__
from discreet.guarantees import solve
from discreet.server.bodies import BeliefBody
from discreet.server.callers import Somebody, office_of

__all__ = ["router"]

router = APIRouter(tags=["status"])


@router.get("/health", summary="The server is there.")
async def health() -> dict[str, str]:
    return {"status": "ok"}


@router.get("/ready", summary="The ledger can be read, and the worker is warm.")
async def ready(request: Request) -> dict[str, object]:
    office = office_of(request)
    await run_in_threadpool(office.require_stores)
    return {"status": "ready", "version": __version__, "slots": office.settings.slots}


@router.get("/me", summary="Who you are here, and what you may do.")
def me(caller: Somebody) -> dict[str, object]:
    person = caller.person
    return {
        "name": person.name,
        "roles": sorted(role.value for role in person.roles),
        "datasets": sorted(person.datasets),
        "via": person.via,
    }


@router.post("/belief", summary="From epsilon to odds and belief and back. No data.")
def belief(body: BeliefBody) -> dict[str, object]:
    return {**solve(**body.model_dump()).to_dict()}
