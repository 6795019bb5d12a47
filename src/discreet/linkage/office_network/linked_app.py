"""The paths of an office. Bodies are envelopes; what is said of them are a few fixed words."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from http import HTTPStatus

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from discreet.errors import RequestConflict, SignatureInvalid
from discreet.linkage.envelopes import EnvelopeKind, OfficeRole
from discreet.linkage.office_network.couriers import PATHS
from discreet.linkage.office_network.office_posts import OfficePost
from discreet.paths import read_regular
from discreet.server import Guard, GuardTerms

__all__ = ["linked_app"]

_AROUND = 32_000_000


def linked_app(post: OfficePost, tell: Callable[[str], None]) -> ASGIApp:
    """An office's study as an application, behind the limits of its agreement."""
    agreement = read_regular(post.study.folder / "agreement.json")

    async def health(request: Request) -> Response:
        return PlainTextResponse("ok")

    async def tell_agreement(request: Request) -> Response:
        return Response(agreement, media_type="application/json")

    routes = [Route("/health", health), Route("/linked/agreement", tell_agreement)]
    routes += [Route(PATHS[kind], partial(_take, post, kind), methods=["POST"]) for kind in post.takes]
    if post.study.role is OfficeRole.REGISTRY:
        routes.append(Route("/linked/answers/{request}", partial(_answer, post)))
    app = Starlette(routes=routes, exception_handlers={HTTPException: _refused})
    app.router.redirect_slashes = False
    terms = GuardTerms(
        methods=("GET", "POST"), longest_body=post.limit, bodies_together=2 * post.limit + _AROUND, json_only=False
    )
    return Guard(app, terms, tell=tell)


async def _take(post: OfficePost, kind: EnvelopeKind, request: Request) -> Response:
    data = await request.body()
    try:
        await run_in_threadpool(post.accept, kind, data)
    except RequestConflict:
        return PlainTextResponse("other bytes came under this request before", HTTPStatus.CONFLICT)
    except SignatureInvalid:
        return PlainTextResponse("envelope refused", HTTPStatus.BAD_REQUEST)
    return PlainTextResponse("received", HTTPStatus.ACCEPTED)


async def _answer(post: OfficePost, request: Request) -> Response:
    try:
        found = await run_in_threadpool(post.answer, request.path_params["request"])
    except SignatureInvalid:  # not the name of a request
        found = None
    return _said(HTTPStatus.NOT_FOUND) if found is None else Response(found, media_type="application/octet-stream")


async def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return _said(HTTPStatus(error.status_code))


def _said(status: HTTPStatus) -> Response:
    return PlainTextResponse(status.phrase, status)
