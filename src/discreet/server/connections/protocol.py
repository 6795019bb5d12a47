"""HTTP as it is received: a deadline for every request, and nothing that two readers could take for two things.

uvicorn waits for a request as long as its sender likes, and h11 takes long heads, folded lines, bare line feeds and a
length together with chunks. Here a request has come whole in time or its connection ends; whatever is wrong with one is
said without echoing it, in the words of the application where it has some (`refuse`, as `Guard` has).
"""

from __future__ import annotations

import re
from asyncio import TimerHandle, Transport
from contextlib import suppress
from http import HTTPStatus
from typing import Any, ClassVar, Final

import h11
from h11._receivebuffer import ReceiveBuffer
from uvicorn.protocols.http.h11_impl import H11Protocol

from discreet.server.connections.refusals import phrase_of, write_refusal

__all__ = ["GuardedProtocol", "OfficeProtocol"]

_RECEIVING: Final = (h11.IDLE, h11.SEND_BODY)
_VERSIONS: Final = (b"1.0", b"1.1")
_FOLDED: Final = (b" ", b"\t")
_SPOKEN: Final = re.compile(rb"[\t\x20-\x7e]*")
_LENGTH: Final = re.compile(rb"content-length:[ \t]*[0-9]{1,18}[ \t]*", re.IGNORECASE)
_CHUNK: Final = re.compile(rb"[0-9A-Fa-f]{1,16}\r\n")


class StrictLines(ReceiveBuffer):
    """Raises RemoteProtocolError for lines, of a head or among chunks, that another reader splits elsewhere."""

    def maybe_extract_lines(self) -> list[bytearray] | None:
        before = len(self)
        lines = super().maybe_extract_lines()
        if lines is not None and not self._are_plain(lines, before - len(self)):
            raise h11.RemoteProtocolError("lines with two readings", error_status_hint=HTTPStatus.BAD_REQUEST)
        return lines

    def maybe_extract_next_line(self) -> bytearray | None:
        line = super().maybe_extract_next_line()
        if line is not None and _CHUNK.fullmatch(line) is None:  # a length alone: extensions end where a reader likes
            raise h11.RemoteProtocolError("more than a length", error_status_hint=HTTPStatus.BAD_REQUEST)
        return line

    def _are_plain(self, lines: list[bytearray], taken: int) -> bool:
        ended = sum(map(len, lines)) + 2 * (len(lines) + 1) == taken  # by CR LF, every one
        lengths = [line for line in lines if line[:15].lower() == b"content-length:"]
        return (
            ended
            and all(_SPOKEN.fullmatch(line) and not line.startswith(_FOLDED) for line in lines)
            and len(lengths) <= 1
            and all(_LENGTH.fullmatch(line) for line in lengths)
        )


class StrictConnection(h11.Connection):
    """Raises RemoteProtocolError for what h11 would let through; `status` says what it is answered with."""

    def __init__(self, longest_head: int) -> None:
        super().__init__(h11.SERVER, longest_head)
        self._receive_buffer = StrictLines()
        self._longest_head = longest_head
        self.status = HTTPStatus.BAD_REQUEST
        self.asked_for = b""

    def next_event(self) -> Any:
        try:
            event = super().next_event()
            if isinstance(event, h11.Request):
                self.asked_for = event.method
                self._check(event)
        except h11.RemoteProtocolError as error:
            self.status = HTTPStatus(error.error_status_hint)
            raise
        return event

    def _check(self, request: h11.Request) -> None:
        names = {name for name, _ in request.headers}
        if {b"content-length", b"transfer-encoding"} <= names:
            raise h11.RemoteProtocolError("two lengths", error_status_hint=HTTPStatus.BAD_REQUEST)
        chunked_before_chunks = request.http_version == b"1.0" and b"transfer-encoding" in names
        if request.http_version not in _VERSIONS or chunked_before_chunks:
            raise h11.RemoteProtocolError("another HTTP", error_status_hint=HTTPStatus.BAD_REQUEST)
        if len(request.target) + sum(len(name) + len(value) for name, value in request.headers) > self._longest_head:
            raise h11.RemoteProtocolError("long head", error_status_hint=HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE)


class GuardedProtocol(H11Protocol):
    """A connection. Its limits are those of the class; another server has a subclass with its own."""

    seconds: ClassVar[float] = 10.0
    """For a request to come whole, and one more for every `least_rate` bytes of it that have come."""

    least_rate: ClassVar[int] = 100_000
    least_read: ClassVar[int] = 1_000
    """Bytes a second that the other side reads of its answer, once it has to."""

    longest_head: ClassVar[int] = 16_384
    longest_request: ClassVar[int | None] = None
    """Bytes of a request as it is sent, with all that frames its chunks."""

    most_connections: ClassVar[int] = 200
    """Those that are still being made count too; what comes beyond is ended at once."""

    most_from_one: ClassVar[int | None] = None
    """Of one network, but for this machine and for proxies, by which many come."""

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self.conn: StrictConnection = StrictConnection(self.longest_head)
        self._deadline: TimerHandle | None = None
        self._begun = 0.0
        self._received = 0
        self._reading: TimerHandle | None = None
        self._unread = 0
        self._gone = False

    def connection_made(self, transport: Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._begin()

    def connection_lost(self, exc: Exception | None) -> None:
        self._gone = True
        self._end()
        self._end_reading()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self.transport.is_closing():
            return  # what comes after a refusal is not read as a request
        if self._deadline is None:
            self._begin()
        self._received += len(data)
        if self.longest_request is not None and self._received > self.longest_request:
            self.transport.abort()
            return
        super().data_received(data)
        if self.transport.is_closing():
            self._begin_reading()

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
        code = "HeadTooLong" if status == HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE else "RequestInvalid"
        headers, said = write_refusal(getattr(self.app, "refuse", None), status, code)
        headers.append((b"connection", b"close"))
        events: list[h11.Event] = [h11.Response(status_code=status, headers=headers, reason=phrase_of(status))]
        if self.conn.asked_for != b"HEAD":
            events.append(h11.Data(data=said))
        for event in (*events, h11.EndOfMessage()):
            self.transport.write(self.conn.send(event) or b"")
        self.transport.close()

    def shutdown(self) -> None:
        with suppress(h11.LocalProtocolError):  # of one that ends already: others are to end in order
            super().shutdown()

    def timeout_keep_alive_handler(self) -> None:
        super().timeout_keep_alive_handler()
        self._begin_reading()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._begin_reading()

    def resume_writing(self) -> None:
        super().resume_writing()
        self._end_reading()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._begin_reading()

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

    def _begin_reading(self) -> None:
        self._end_reading()
        if self._gone:
            return
        self._unread = self.transport.get_write_buffer_size()
        if self._unread or self.transport.is_closing():
            self._reading = self.loop.call_later(self.seconds, self._look_reading)

    def _end_reading(self) -> None:
        if self._reading is not None:
            self._reading.cancel()
            self._reading = None

    def _look_reading(self) -> None:
        """End a connection whose other side does not read its answer, or does not let it end."""
        left = self.transport.get_write_buffer_size()
        stuck = left > 0 and self._unread - left < self.least_read * self.seconds
        if stuck or (not left and self.transport.is_closing()):
            self.transport.abort()
        else:
            self._begin_reading()


class OfficeProtocol(GuardedProtocol):
    """For an office that many ask: short bodies, and many connections."""

    seconds = 5.0
    longest_request = 1_000_000
    most_connections = 2_000
    most_from_one = 200
