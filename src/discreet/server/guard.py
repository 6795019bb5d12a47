"""What may reach a handler: GET without a body, POST with a body that is not encoded and not too long.

A response that leaves before the body was read ends the connection, so that nobody can go on sending.
"""

from __future__ import annotations

from typing import Final

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

__all__ = ["BodyGuard"]

_HEADERS: Final = [(b"cache-control", b"no-store"), (b"x-content-type-options", b"nosniff")]


class BodyGuard:
    """Around an application: `limit` bytes for one body, `together` for all that are being received."""

    def __init__(self, app: ASGIApp, *, limit: int, together: int) -> None:
        self._app = app
        self._limit = limit
        self._together = max(limit, together)
        self._held = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        headers = Headers(scope=scope)
        watch = _Watch(self, headers, receive, send)
        status = self._refuse(scope["method"], headers)
        try:
            if status is None:
                await self._app(scope, watch.receive, watch.send)
            else:
                await PlainTextResponse(_PHRASES[status], status)(scope, watch.receive, watch.send)
        finally:
            self._held -= watch.read

    def take(self, size: int, read: int) -> None:
        """Count bytes that have come, or refuse them."""
        if read > self._limit:
            raise HTTPException(413)
        if self._held + size > self._together:
            raise HTTPException(503)
        self._held += size

    def _refuse(self, method: str, headers: Headers) -> int | None:
        if method not in ("GET", "POST"):
            return 405
        if headers.get("content-encoding", "identity").strip().lower() != "identity":
            return 415
        length = headers.get("content-length", "0")
        if method == "GET" and (length != "0" or "transfer-encoding" in headers):
            return 400
        return 413 if int(length) > self._limit else None  # h11 has seen to it that it is a number


class _Watch:
    """One request: how much of its body has come, and whether that is all."""

    def __init__(self, guard: BodyGuard, headers: Headers, receive: Receive, send: Send) -> None:
        self._guard = guard
        self._receive = receive
        self._send = send
        self._whole = headers.get("content-length", "0") == "0" and "transfer-encoding" not in headers
        self.read = 0

    async def receive(self) -> Message:
        message = await self._receive()
        if message["type"] == "http.request":
            size = len(message.get("body", b""))
            self._guard.take(size, self.read + size)
            self.read += size
            self._whole = self._whole or not message.get("more_body", False)
        return message

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            ends = [] if self._whole else [(b"connection", b"close")]
            message = {**message, "headers": [*message.get("headers", []), *_HEADERS, *ends]}
        await self._send(message)


_PHRASES: Final = {
    400: "Bad Request",
    405: "Method Not Allowed",
    413: "Content Too Large",
    415: "Unsupported Media Type",
}
