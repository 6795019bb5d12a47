"""What leaves: the same headers on every answer, words of ours alone, and nobody's answer in another's place."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator

import pytest
from starlette.types import Message, Receive, Scope, Send

from discreet.server import REFUSALS, Guard, GuardedProtocol, GuardTerms
from tests.unit.server.listening import Answer, fetch, listen, read_answer, speak, until

SECRET = "ada@example.org 2027-01-31 \x1b[31m\u202e"
LONG = 10_000_000
JSON = "Content-Type: application/json"
told: list[str] = []
gone = threading.Event()


class Hasty(GuardedProtocol):
    seconds = 0.5


class Moods:
    """An application that answers in all the ways that one may, and in some that none should."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await getattr(self, scope["path"].strip("/").replace("-", "_"))(receive, send)

    async def plain(self, receive: Receive, send: Send) -> None:
        await self._say(send, [(b"content-type", b"text/plain"), (b"content-length", b"4")], b"said")

    async def open_to_all(self, receive: Receive, send: Send) -> None:
        headers = [(b"Access-Control-Allow-Origin", b"*"), (b"access-control-allow-credentials", b"true")]
        headers += [(b"X-Content-Type-Options", b"sniff"), (b"Referrer-Policy", b"unsafe-url")]
        headers += [(b"Cross-Origin-Resource-Policy", b"cross-origin"), (b"Cache-Control", b"max-age=60")]
        await self._say(send, [*headers, (b"Content-Security-Policy", b"default-src 'self'")], b"said")

    async def split(self, receive: Receive, send: Send) -> None:
        await self._say(send, [(b"location", b"/a\r\nset-cookie: session=stolen")], b"said")

    async def split_name(self, receive: Receive, send: Send) -> None:
        await self._say(send, [(b"x: a\r\nset-cookie", b"session=stolen")], b"said")

    async def failing(self, receive: Receive, send: Send) -> None:
        raise ValueError(SECRET)

    async def failing_midway(self, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"100")]})
        await send({"type": "http.response.body", "body": b"half", "more_body": True})
        raise ValueError(SECRET)

    async def failing_after(self, receive: Receive, send: Send) -> None:
        await self.plain(receive, send)
        raise ValueError(SECRET)

    async def silent(self, receive: Receive, send: Send) -> None:
        pass

    async def long(self, receive: Receive, send: Send) -> None:
        try:
            await send({"type": "http.response.start", "status": 200, "headers": []})
            await send({"type": "http.response.body", "body": b"x" * LONG, "more_body": True})
            await send({"type": "http.response.body"})  # goes on when most was read, or when nobody is there
        finally:
            gone.set()

    async def waiting(self, receive: Receive, send: Send) -> None:
        first, then = await receive(), await receive()
        told.append(f"{len(first['body'])} {then['type']}")
        gone.set()

    async def _say(self, send: Send, headers: list[tuple[bytes, bytes]], body: bytes) -> None:
        messages: list[Message] = [{"type": "http.response.start", "status": 200, "headers": headers}]
        for message in (*messages, {"type": "http.response.body", "body": body}):
            await send(message)


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    with listen(Guard(Moods(), tell=told.append), Hasty) as found:
        yield found


@pytest.fixture(autouse=True)
def _forget() -> None:
    told.clear()
    gone.clear()


def require_shut(answer: Answer) -> None:
    """The headers that shut browsers in, once each, and none that would open or tell anything."""
    assert answer.headers["cache-control"] == ["no-store"]
    assert answer.headers["x-content-type-options"] == ["nosniff"]
    assert answer.headers["referrer-policy"] == ["no-referrer"]
    assert answer.headers["cross-origin-resource-policy"] == ["same-origin"]
    assert answer.headers["content-security-policy"] == ["default-src 'none'; frame-ancestors 'none'"]
    assert not [
        name for name in answer.headers if name.startswith("access-control-") or name in ("server", "x-powered-by")
    ]
    assert "uvicorn" not in str(answer.headers)


@pytest.mark.parametrize(
    ("request_lines", "status"),
    [
        ("GET /plain HTTP/1.1\r\nHost: office\r\nOrigin: http://evil.example", 200),
        ("GET /failing HTTP/1.1\r\nHost: office", 500),
        ("GET /unknown HTTP/1.1\r\nHost: office", 500),
        ("GET /a//b HTTP/1.1\r\nHost: office", 400),
        ("OPTIONS /plain HTTP/1.1\r\nHost: office\r\nOrigin: http://evil.example", 405),
        ("POST /plain HTTP/1.1\r\nHost: office\r\nOrigin: http://evil.example", 403),
        ("POST /plain HTTP/1.1\r\nHost: office\r\nContent-Type: text/plain\r\nContent-Length: 1", 415),
        ("POST /plain HTTP/1.1\r\nHost: office\r\nContent-Type: application/json\r\nContent-Length: 70000", 413),
        ("GET /plain HTTP/1.1\r\nHost: office\r\nX-Long: " + "a" * 40_000, 431),
        ("GET /plain HTTP/1.1\r\nHost: office\r\nContent-Length: +1", 400),
        ("nonsense", 400),
        ("GET /plain HTTP/3.0\r\nHost: office", 400),
        ("POST /plain HTTP/1.1\r\nHost: office\r\nTransfer-Encoding: gzip", 501),
    ],
)
def test_every_answer_has_the_same_headers(port: int, request_lines: str, status: int) -> None:
    answer = read_answer(speak(port, f"{request_lines}\r\nConnection: close\r\n\r\n".encode()))
    assert answer.status == status
    require_shut(answer)
    assert answer.headers["content-type"][0].startswith("text/plain")


def test_an_application_may_say_how_long_to_keep_and_what_to_load_and_nothing_more(port: int) -> None:
    answer = fetch(port, "GET", "/open-to-all")
    assert answer.headers["cache-control"] == ["max-age=60"]
    assert answer.headers["content-security-policy"] == ["default-src 'self'"]
    kept = {"cache-control": ["no-store"], "content-security-policy": ["default-src 'none'; frame-ancestors 'none'"]}
    require_shut(Answer(answer.status, {**answer.headers, **kept}, answer.body))


@pytest.mark.parametrize("path", ["/split", "/split-name"])
def test_no_value_makes_two_answers_of_one(port: int, path: str) -> None:
    said = speak(port, f"GET {path} HTTP/1.1\r\nHost: office\r\nConnection: close\r\n\r\n".encode())
    assert b"stolen" not in said
    assert fetch(port, "GET", "/plain").status == 200


def test_a_failure_is_told_by_its_kind_alone(port: int) -> None:
    answer = fetch(port, "GET", "/failing")
    assert (answer.status, answer.body) == (500, b"Internal Server Error")
    assert told == ["A request failed: ValueError"]


def test_half_an_answer_is_not_taken_for_a_whole_one(port: int) -> None:
    said = speak(
        port, b"GET /failing-midway HTTP/1.1\r\nHost: office\r\n\r\nGET /plain HTTP/1.1\r\nHost: office\r\n\r\n"
    )
    assert said.count(b"HTTP/1.1") == 1
    assert said.endswith(b"half")
    assert told == ["A request failed: ValueError"]


def test_a_failure_after_the_answer_is_told_and_the_answer_stands(port: int) -> None:
    assert fetch(port, "GET", "/failing-after").body == b"said"
    assert told == ["A request failed: ValueError"]


def test_no_answer_at_all_is_a_failure(port: int) -> None:
    assert read_answer(speak(port, b"GET /silent HTTP/1.1\r\nHost: office\r\n\r\n")).status == 500


def test_who_leaves_before_the_body_is_whole_was_not_heard(port: int) -> None:
    with socket.create_connection(("127.0.0.1", port)) as connection:
        connection.sendall(f"POST /waiting HTTP/1.1\r\nHost: office\r\n{JSON}\r\nContent-Length: 9\r\n\r\n[1,".encode())
    assert fetch(port, "GET", "/plain").status == 200
    assert not gone.wait(0.1)
    assert told == []


def test_who_leaves_after_the_body_was_heard(port: int) -> None:
    with socket.create_connection(("127.0.0.1", port)) as connection:
        connection.sendall(f"POST /waiting HTTP/1.1\r\nHost: office\r\n{JSON}\r\nContent-Length: 3\r\n\r\n[1]".encode())
    assert gone.wait(10)
    assert told == ["3 http.disconnect"]


def test_who_does_not_read_an_answer_is_left(port: int) -> None:
    """And what was to be sent is not kept for them."""
    with socket.socket() as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
        connection.connect(("127.0.0.1", port))
        connection.settimeout(10)
        connection.sendall(b"GET /long HTTP/1.1\r\nHost: office\r\n\r\n")
        assert not gone.wait(0.2)
        assert gone.wait(30)


def test_who_asks_on_and_on_without_reading_is_left_too(port: int) -> None:
    one = b"GET /plain HTTP/1.1\r\nHost: office\r\n\r\n"
    with socket.socket() as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
        connection.connect(("127.0.0.1", port))
        connection.setblocking(False)
        for _ in until(30):
            try:
                connection.send(one * 500)
            except BlockingIOError:
                continue
            except ConnectionError:
                break
        else:
            pytest.fail("whoever does not read is still heard")


def test_who_reads_slowly_but_steadily_is_not_left() -> None:
    class Patient(GuardedProtocol):
        seconds = 0.2
        least_read = 500_000

    with listen(Guard(Moods()), Patient) as port, socket.socket() as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65_536)
        connection.connect(("127.0.0.1", port))
        connection.settimeout(10)
        connection.sendall(b"GET /long HTTP/1.1\r\nHost: office\r\nConnection: close\r\n\r\n")
        read = 0
        for _ in until(60):
            part = connection.recv(100_000)
            read += len(part)
            if not part:
                break
        assert read > LONG


def test_refusals_are_the_documents_of_an_application_that_has_some() -> None:
    def refuse(status: int, code: str) -> bytes:
        return json.dumps([status, code]).encode()

    found: dict[str, int] = {}
    with listen(Guard(Moods(), GuardTerms(), refuse=refuse, tell=told.append), Hasty) as port:
        for lines in (
            "GET /a//b HTTP/1.1\r\nHost: office",
            "GET /plain HTTP/1.1\r\nHost: a/b",
            "PATCH /plain HTTP/1.1\r\nHost: office",
            "GET /failing HTTP/1.1\r\nHost: office",
            "nonsense",
            "GET /plain HTTP/1.1\r\nHost: office\r\nX: " + "a" * 40_000,
            "GET /plain HTTP/1.1\r\nHost: office\r\nContent-Length: 1",
            "POST /plain HTTP/1.1\r\nHost: office\r\nContent-Length: 70000\r\nContent-Type: application/json",
            "POST /plain HTTP/1.1\r\nHost: office\r\nContent-Length: 1",
            "POST /plain HTTP/1.1\r\nHost: office\r\nContent-Encoding: gzip",
            "POST /plain HTTP/1.1\r\nHost: office\r\nOrigin: null",
        ):
            answer = read_answer(speak(port, f"{lines}\r\nConnection: close\r\n\r\n".encode()))
            assert answer.headers["content-type"] == ["application/problem+json"]
            status, code = answer.json
            assert status == answer.status
            found[code] = status
        for body in (b"[1", b"[" * 40):
            status, code = fetch(port, "POST", "/plain", JSON, body=body).json
            found[code] = status
    assert found.items() <= REFUSALS.items()
    elsewhere = {"Busy", "Ending", "ForwardedInvalid", "HeaderInvalid", "TooManyRequests"}
    assert REFUSALS.keys() - found.keys() == elsewhere
