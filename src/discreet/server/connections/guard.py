"""What reaches a handler: four methods, one reading of every target, whole bodies of JSON, no page of another origin.

The guard stands around the whole application. What it lets through it has read: a handler finds the body whole, its
value parsed in `scope["state"]["json"]` (absent where there was no body), and `client`, `scheme` and `host` as they are
true. Every response leaves with headers that shut browsers in, and none ever speaks to pages of other origins.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, MutableMapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import unquote_to_bytes

from discreet.catalogue import say
from discreet.server.connections.address_meter import AddressMeter
from discreet.server.connections.addresses import HOST, TrustedProxies, values_of
from discreet.server.connections.json_text import read_json
from discreet.server.connections.refusals import Headers, Refuse, RequestRefused, protect, write_refusal
from discreet.server.server_log import tell_log

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

__all__ = ["Guard", "GuardTerms"]

_BODILESS: Final = frozenset({"GET", "DELETE"})
_JSON: Final = re.compile(r'application/json\s*(?:;\s*charset=(?:utf-8|"utf-8")\s*)?', re.IGNORECASE)
_ESCAPE: Final = re.compile(rb"%(.{0,2})", re.DOTALL)
_HEX: Final = re.compile(rb"[0-9A-Fa-f]{2}")
_STEERING: Final = frozenset(b"/\\.%\x7f") | frozenset(range(32))
_UNSAID: Final = re.compile(rb"[^\t\x20-\x7e]")
_USUAL_PORTS: Final = {"http": ":80", "https": ":443"}


@dataclass(frozen=True, slots=True)
class GuardTerms:
    """What a guard lets through. `limit_of` gives another limit for the bodies of a path.

    Up to `short_body` bytes of a body are read however much of others is held, so that whoever sends long ones slowly
    keeps no question out. `per_address` is how many requests of one network are let through in a minute, but for those
    of paths that are `uncounted`: before anybody knows who asks, and at no cost.
    """

    methods: tuple[str, ...] = ("GET", "POST", "PUT", "DELETE")
    longest_body: int = 65_536
    bodies_together: int = 16_000_000
    short_body: int = 4_096
    limit_of: Callable[[str], int | None] = lambda path: None
    json_only: bool = True
    proxies: TrustedProxies = field(default_factory=TrustedProxies)
    per_address: int | None = None
    uncounted: frozenset[str] = frozenset()


class Guard:
    """Around an application. `refuse` writes the problem documents of refusals; without it they are plain words."""

    def __init__(
        self,
        app: ASGIApp,
        terms: GuardTerms | None = None,
        *,
        refuse: Refuse | None = None,
        tell: Callable[[str], None] = tell_log,
    ) -> None:
        self._app = app
        self._terms = terms or GuardTerms()
        self._tell = tell
        self._held = 0
        self._meter = None if self._terms.per_address is None else AddressMeter(self._terms.per_address)
        self.refuse = refuse

    def trusts(self, address: str) -> bool:
        """Whether this is the address of a proxy, which many come by."""
        return self._terms.proxies.trusts(address)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        elif scope["type"] == "http":
            await self._hear(scope, _Exchange(scope["headers"], receive, send))

    async def _hear(self, scope: Scope, exchange: _Exchange) -> None:
        try:
            scope = self._admit(scope)
            if await self._read(exchange, self._find_limit(scope)):
                await self._app(self._attach(scope, exchange), exchange.replay, exchange.send)
        except RequestRefused as refused:
            await self._refuse(exchange, refused)
        except asyncio.CancelledError:  # the server ends; what may have been charged is told by whoever charges
            await self._refuse(exchange, RequestRefused("Ending"))
            raise
        except Exception as error:
            # What it says may hold values, so its kind alone is told.
            self._tell(say("A request failed: {error}", error=type(error).__name__))
            if exchange.begun and not exchange.ended:
                raise  # the connection ends, so that nobody takes half an answer for a whole one
            await self._refuse(exchange, RequestRefused("Unforeseen"))
        finally:
            self._held -= exchange.held

    def _admit(self, scope: Scope) -> Scope:
        """The request as a handler may see it, judged by its head alone."""
        headers: Headers = scope["headers"]
        if scope["method"] not in self._terms.methods:
            raise RequestRefused("MethodNotAllowed")
        _check_target(scope["raw_path"], scope["query_string"])
        if any(_UNSAID.search(value) for _, value in headers):
            raise RequestRefused("HeaderInvalid")
        hosts = values_of(headers, b"host")
        if len(hosts) != 1 or HOST.fullmatch(hosts[0]) is None:
            raise RequestRefused("HostInvalid")
        settled = self._terms.proxies.settle(scope)
        self._count(settled)
        if settled["method"] != "GET":
            _check_origin(settled)
        self._check_body(settled["method"], headers)
        return settled

    def _count(self, scope: MutableMapping[str, Any]) -> None:
        if self._meter is not None and scope["path"] not in self._terms.uncounted:
            client = scope.get("client")
            if not self._meter.take(client[0] if client else ""):
                raise RequestRefused("TooManyRequests")

    def _check_body(self, method: str, headers: Headers) -> None:
        codings = [coding.strip().lower() for coding in values_of(headers, b"content-encoding")]
        if any(coding != "identity" for coding in codings):
            raise RequestRefused("BodyEncoded")
        if not _has_body(headers):
            return
        if method in _BODILESS:
            raise RequestRefused("BodyNotExpected")
        sorts = values_of(headers, b"content-type")
        if self._terms.json_only and (len(sorts) != 1 or _JSON.fullmatch(sorts[0]) is None):
            raise RequestRefused("BodyNotJson")

    def _find_limit(self, scope: Scope) -> int:
        other = self._terms.limit_of(scope["path"])
        return self._terms.longest_body if other is None else other

    async def _read(self, exchange: _Exchange, limit: int) -> bool:
        """Read the body whole; False where the other side has gone."""
        if exchange.length > limit:
            raise RequestRefused("BodyTooLong")
        together = max(limit, self._terms.bodies_together)
        while not exchange.whole:
            part = await exchange.receive()
            if part is None:
                return False
            if len(exchange.body) + len(part) > limit:
                raise RequestRefused("BodyTooLong")
            exchange.body += part
            more = max(0, len(exchange.body) - self._terms.short_body) - exchange.held
            if self._held + more > together:
                raise RequestRefused("Busy")
            exchange.held += more
            self._held += more
        return True

    def _attach(self, scope: Scope, exchange: _Exchange) -> Scope:
        if self._terms.json_only and exchange.body:
            return {**scope, "state": {**scope.get("state", {}), "json": read_json(bytes(exchange.body))}}
        return scope

    async def _refuse(self, exchange: _Exchange, refused: RequestRefused) -> None:
        if exchange.begun:
            return
        headers, said = write_refusal(self.refuse, refused.status, refused.code)
        if refused.status == 405:
            headers.append((b"allow", ", ".join(self._terms.methods).encode()))
        if refused.status == 429:
            headers.append((b"retry-after", b"60"))
        await exchange.send({"type": "http.response.start", "status": refused.status, "headers": headers})
        await exchange.send({"type": "http.response.body", "body": said})


class _Exchange:
    """One request and its response: how much of the body has come, and how far the response is."""

    def __init__(self, headers: Headers, receive: Receive, send: Send) -> None:
        self._receive = receive
        self._send = send
        self._given = False
        self.whole = not _has_body(headers)
        self.length = int(next(iter(values_of(headers, b"content-length")), "0"))  # the protocol saw that it is one
        self.body = bytearray()
        self.held = 0
        self.begun = False
        self.ended = False

    async def receive(self) -> bytes | None:
        """The next part of the body; None where the other side has gone."""
        message = await self._receive()
        if message["type"] != "http.request":
            return None
        self.whole = not message.get("more_body", False)
        part: bytes = message.get("body", b"")
        return part

    async def replay(self) -> Message:
        """What the application receives: the body at once, then whatever comes."""
        if self._given:
            return await self._receive()
        self._given = True
        body, self.body = bytes(self.body), bytearray()
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.begun = True
            headers = protect(list(message.get("headers", [])))
            if not self.whole:
                headers.append((b"connection", b"close"))  # nobody goes on sending what is not read
            message = {**message, "headers": headers}
        elif message["type"] == "http.response.body":
            self.ended = not message.get("more_body", False)
        await self._send(message)


def _has_body(headers: Headers) -> bool:
    return any(name == b"transfer-encoding" or (name == b"content-length" and int(value)) for name, value in headers)


def _check_target(path: bytes, query: bytes) -> None:
    """A path that every reader reads alike: nothing in it is to be resolved, joined, cut or decoded twice."""
    segments = path.split(b"/")
    clear = (
        path.startswith(b"/")
        and b"" not in segments[1:-1]
        and not {b".", b".."} & set(segments)
        and not any(mark in path for mark in (b"\\", b"#", b";"))
        and all(escaped not in _STEERING for escaped in _read_escapes(path))
        and b"#" not in query
        and 0 not in _read_escapes(query)
    )
    if not clear:
        raise RequestRefused("TargetInvalid")


def _read_escapes(text: bytes) -> list[int]:
    """What stands there as %XX, all of which is UTF-8."""
    escapes = _ESCAPE.findall(text)
    try:
        unquote_to_bytes(text).decode("utf-8")
    except ValueError:
        raise RequestRefused("TargetInvalid") from None
    if not all(map(_HEX.fullmatch, escapes)):
        raise RequestRefused("TargetInvalid")
    return [int(escape, 16) for escape in escapes]


def _check_origin(scope: Scope) -> None:
    """A request that changes something comes from a page of ours, or from a program that holds no cookie."""
    headers: Headers = scope["headers"]
    origins = values_of(headers, b"origin")
    fetched = values_of(headers, b"sec-fetch-site")
    from_us = origins in ([], [_tell_origin(scope)]) and fetched in ([], ["same-origin"])
    if not from_us or not (origins or fetched or not values_of(headers, b"cookie")):
        raise RequestRefused("OriginForeign")


def _tell_origin(scope: dict[str, Any] | Scope) -> str:
    """The origin under which this server was reached, as browsers write it."""
    scheme: str = scope["scheme"]
    host = values_of(scope["headers"], b"host")[0].lower()
    return f"{scheme}://{host.removesuffix(_USUAL_PORTS[scheme])}"
