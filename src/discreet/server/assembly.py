"""The application of one worker: routes behind the guard, one shape of error, and a door that opens when it is warm."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, Final

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Receive, Scope, Send

from discreet import __version__
from discreet.catalogue import ENGLISH, FRENCH, say, speaking
from discreet.errors import DiscreetError, RequestInvalid, TooManyRequests
from discreet.server.api_examples import EXAMPLES, OTHER_MEDIA
from discreet.server.callers import SESSION_COOKIE, Somebody
from discreet.server.connections.addresses import read_proxies
from discreet.server.connections.guard import Guard, GuardTerms
from discreet.server.job_process import start_jobs
from discreet.server.office import OfficeSettings, ServedOffice
from discreet.server.problems import MEDIA_TYPE, Problem, problem_of, refusal, refuse
from discreet.server.routes import (
    answer_routes,
    dataset_routes,
    explanation_routes,
    job_routes,
    ledger_routes,
    page_routes,
    people_routes,
    sign_in_routes,
    spending_routes,
    status_routes,
)
from discreet.server.server_log import tell_log

__all__ = ["IN_PERSON", "PUBLIC", "describe_api", "make_app"]

PUBLIC: Final = frozenset(
    {
        ("get", "/v1/health"),
        ("get", "/v1/ready"),
        ("get", "/v1/ledger/head"),
        ("post", "/v1/belief"),
        ("post", "/v1/session"),
        ("delete", "/v1/session"),
    }
)
"""What anybody reaches, without signing in."""

IN_PERSON: Final = frozenset({("post", "/v1/tokens"), ("put", "/v1/me/password"), ("post", "/v1/people/{name}/link")})
"""What takes a session, and no token: it makes a way in that would outlast one."""

_ROUTES: Final = (
    status_routes,
    sign_in_routes,
    dataset_routes,
    explanation_routes,
    spending_routes,
    job_routes,
    answer_routes,
    ledger_routes,
    people_routes,
)
_WORDS: Final = 0.3


def make_app(settings: Mapping[str, str]) -> ASGIApp:
    """An application that opens its office when it starts, and answers once it is warm."""
    chosen = OfficeSettings.of(settings)

    @asynccontextmanager
    async def life(app: FastAPI) -> AsyncIterator[None]:
        office = await run_in_threadpool(ServedOffice.open, chosen)
        stop = threading.Event()
        try:
            await run_in_threadpool(office.require_stores)
            await run_in_threadpool(office.warm)
            app.state.office = office
            worker = start_jobs(office, stop)
            yield
            stop.set()
            await run_in_threadpool(worker.join, 5)
            if worker.is_alive() or office.turns.busy:
                await _leave()
        finally:
            stop.set()
            office.close()

    terms = GuardTerms(
        proxies=read_proxies(chosen.proxies), per_address=chosen.per_address, uncounted=frozenset({"/v1/health"})
    )
    return _Speaking(Guard(_assemble(life), terms, refuse=refuse))


async def _leave() -> None:
    """End this process where something is still being drawn: an engine that is closed in its use is a fault.

    Whatever was charged stands, and is answered when it is asked again; a job is somebody else's when its lease is out.
    """
    tell_log(say("What was being drawn is left. Asked again under its key, it costs nothing more."))
    await asyncio.sleep(_WORDS)  # what was said to those who wait has time to go
    sys.stdout.flush()
    os._exit(0)


def _assemble(life: Any = None) -> FastAPI:
    app = FastAPI(
        title="Discreet",
        version=__version__,
        description=(
            "Differentially private answers within a budget. Amounts are text, as exact decimals. Refusals are "
            "application/problem+json. What spends needs an Idempotency-Key."
        ),
        lifespan=life,
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        exception_handlers={
            DiscreetError: _refused,
            RequestValidationError: _malformed,
            HTTPException: _unserved,
            Exception: _failed,
        },
    )
    for routes in _ROUTES:
        app.include_router(routes.router, prefix="/v1")
    app.include_router(page_routes.router)

    @app.get("/v1/openapi.json", tags=["status"], summary="This description.")
    def openapi(caller: Somebody) -> dict[str, Any]:
        return describe_api(app)

    return app


def describe_api(app: FastAPI | None = None) -> dict[str, Any]:
    """The API as OpenAPI, with the one shape of every refusal."""
    found = (app or _assemble()).openapi()
    document = {
        "type": "object",
        "required": ["type", "status", "error", "message", "fields", "charged"],
        "properties": {
            "type": {"type": "string"},
            "status": {"type": "integer"},
            "error": {"type": "string"},
            "message": {"type": "string"},
            "fields": {"type": "object"},
            "problems": {"type": "array", "items": {"type": "string"}},
            "charged": {"type": "boolean"},
        },
    }
    schemas = found["components"]["schemas"]
    for name in ("HTTPValidationError", "ValidationError"):
        schemas.pop(name, None)
    schemas["Problem"] = document
    found["components"]["securitySchemes"] = {
        "token": {"type": "http", "scheme": "bearer"},
        "session": {"type": "apiKey", "in": "cookie", "name": SESSION_COOKIE},
    }
    shown = {"description": "Refused.", "content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}}
    for path, methods in found["paths"].items():
        for method, operation in methods.items():
            operation["responses"].pop("422", None)
            operation["responses"]["default"] = shown
            operation["security"] = _tell_security((method, path))
            _describe_answer(operation["responses"], (method, path))
            for parameter in operation.get("parameters", ()):
                parameter["required"] = parameter["in"] != "query"  # also the key, whose absence has words of its own
    return found


def _tell_security(place: tuple[str, str]) -> list[dict[str, list[str]]]:
    if place in PUBLIC:
        return []
    return [{"session": []}] if place in IN_PERSON else [{"token": []}, {"session": []}]


def _describe_answer(responses: dict[str, Any], place: tuple[str, str]) -> None:
    """The answer's media type and an example; 202 where another custodian or a job has to do it."""
    done = next(code for code in ("200", "201") if code in responses)
    if place in OTHER_MEDIA:
        content: dict[str, Any] = {OTHER_MEDIA[place]: {"schema": {}}}
    else:
        content = {"application/json": {"schema": {"type": "object"}, "example": EXAMPLES[place]}}
    if place == ("get", "/v1/answers/{number}"):
        content |= {media: {"schema": {}} for media in answer_routes.MEDIA if media != "application/json"}
    responses[done] = {"description": responses[done]["description"], "content": content}


class _Speaking:
    """In the language of whoever asks."""

    def __init__(self, app: Guard) -> None:
        self._app = app
        self.refuse = app.refuse
        self.trusts = app.trusts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        wanted = next((value for name, value in scope.get("headers", ()) if name == b"accept-language"), b"")
        with speaking(_choose(wanted.decode("latin-1"))):
            await self._app(scope, receive, send)


def _choose(wanted: str) -> str:
    """The first language of the list that is spoken here; those that are wanted less stand later, or say so."""
    ranked: list[tuple[float, int, str]] = []
    for place, item in enumerate(wanted.split(",")[:20]):
        name, _, weight = item.strip().partition(";q=")
        try:
            ranked.append((-float(weight or 1), place, name.split("-")[0].lower()))
        except ValueError:
            continue
    return next((name for _, _, name in sorted(ranked) if name in (ENGLISH, FRENCH)), ENGLISH)


def _respond(problem: Problem, headers: dict[str, str] | None = None) -> Response:
    return Response(problem.to_bytes(), problem.status, headers, media_type=MEDIA_TYPE)


async def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, DiscreetError)
    headers = {"retry-after": str(error.fields["seconds"])} if isinstance(error, TooManyRequests) else {}
    if (problem := problem_of(error, tell=tell_log)).status == 401:
        headers["www-authenticate"] = "Bearer"
    return _respond(problem, headers)


async def _malformed(request: Request, error: Exception) -> Response:
    """What a body or a parameter should have been, by the names that are ours; nothing of what came."""
    assert isinstance(error, RequestValidationError)
    return _respond(problem_of(RequestInvalid(_tell_malformed(error)), tell=tell_log))


def _tell_malformed(error: RequestValidationError) -> list[str]:
    said = []
    for fault in error.errors()[:10]:
        named = fault["loc"][1:2]  # what stands deeper are keys that came, and words of a library's
        place = named[0] if named and isinstance(named[0], str) else say("the body")
        match fault["type"]:
            case "missing":
                said.append(say("'{place}' is missing.", place=place))
            case "extra_forbidden":
                said.append(say("a field is not known here. What there is: GET /v1/openapi.json"))
            case "json_invalid":
                said.append(say("the body is not JSON."))
            case _:
                said.append(say("'{place}' is not what GET /v1/openapi.json describes.", place=place))
    return list(dict.fromkeys(said))


async def _unserved(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return _respond(refusal(error.status_code))


async def _failed(request: Request, error: Exception) -> Response:
    """Something of ours is wrong. Its text may hold what nobody may see: only its name is told, and to the office."""
    if not isinstance(error, ClientDisconnect):
        tell_log(f"a request failed: {type(error).__name__}")
    return _respond(refusal(500))
