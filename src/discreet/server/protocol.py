"""HTTP as it is received: a deadline for every request, and nothing that two readers could take for two things.

uvicorn waits for a request as long as its sender likes, and h11 takes long heads and a length together with chunks.
Here a request has come whole in time or its connection ends; whatever is wrong with one is said without echoing it.
"""

from __future__ import annotations

from asyncio import TimerHandle, Transport
from http import HTTPStatus
from typing import Any, ClassVar, Final

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

__all__ = ["GuardedProtocol"]

_RECEIVING: Final = (h11.IDLE, h11.SEND_BODY)


class StrictConnection(h11.Connection):
    """Raises RemoteProtocolError for what h11 would let through; `status` says what it is answered with."""

    def __init__(self, longest_head: int) -> None:
        super().__init__(h11.SERVER, longest_head)
        self._longest_head = longest_head
        self.status = HTTPStatus.BAD_REQUEST

    def next_event(self) -> Any:
        try:
            event = super().next_event()
            if isinstance(event, h11.Request):
                self._check(event)
        except h11.RemoteProtocolError as error:
            self.status = HTTPStatus(error.error_status_hint)
            raise
        return event

    def _check(self, request: h11.Request) -> None:
        names = {name for name, _ in request.headers}
        if {b"content-length", b"transfer-encoding"} <= names:
            raise h11.RemoteProtocolError("two lengths", error_status_hint=HTTPStatus.BAD_REQUEST)
        if len(request.target) + sum(len(name) + len(value) for name, value in request.headers) > self._longest_head:
            raise h11.RemoteProtocolError("long head", error_status_hint=HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE)


class GuardedProtocol(H11Protocol):
    """A connection. Its limits are those of the class; another server has a subclass with its own."""

    seconds: ClassVar[float] = 10.0
    """For a request to come whole, and one more for every `least_rate` bytes of it that have come."""

    least_rate: ClassVar[int] = 100_000
    longest_head: ClassVar[int] = 16_384
    most_connections: ClassVar[int] = 200

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self.conn: StrictConnection = StrictConnection(self.longest_head)
        self._deadline: TimerHandle | None = None
        self._begun = 0.0
        self._received = 0

    def connection_made(self, transport: Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        if len(self.connections) > self.most_connections:
            transport.abort()
        else:
            self._begin()

    def connection_lost(self, exc: Exception | None) -> None:
        self._end()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self.transport.is_closing():
            return  # what comes after a refusal is not read as a request
        if self._deadline is None:
            self._begin()
        self._received += len(data)
        super().data_received(data)

    def handle_events(self) -> None:
        super().handle_events()
        if self.conn.their_state not in _RECEIVING:
            self._end()
        elif self._deadline is None and (self.conn.their_state is h11.SEND_BODY or self.conn.trailing_data[0]):
            self._begin()  # of a request that came with the one before

    def send_400_response(self, msg: str) -> None:
        """A refusal with nothing of ours or theirs in it but its number, and the end of the connection."""
        if self.conn.our_state not in (h11.IDLE, h11.SEND_RESPONSE):
            self.transport.close()  # an answer has begun, and nothing can be said any more
            return
        status = self.conn.status
        said = status.phrase.encode()
        headers = [
            (b"content-type", b"text/plain; charset=utf-8"),
            (b"content-length", str(len(said)).encode()),
            (b"connection", b"close"),
        ]
        for event in (
            h11.Response(status_code=status, headers=headers, reason=said),
            h11.Data(data=said),
            h11.EndOfMessage(),
        ):
            self.transport.write(self.conn.send(event) or b"")
        self.transport.close()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self.loop.call_later(self.seconds, self._drop_unread)

    def _begin(self) -> None:
        self._begun, self._received = self.loop.time(), 0
        self._deadline = self.loop.call_later(self.seconds, self._look)

    def _end(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _look(self) -> None:
        """End a connection whose request is late."""
        left = self._begun + self.seconds + self._received / self.least_rate - self.loop.time()
        if left > 0:
            self._deadline = self.loop.call_later(left, self._look)
        else:
            self._deadline = None
            self.transport.abort()

    def _drop_unread(self) -> None:
        """End a connection whose other side does not read its answer."""
        if self.transport.get_write_buffer_size():
            self.transport.abort()
