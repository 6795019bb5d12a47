"""What an office hears: whole requests in time, of a size that was agreed on, and nothing that has two readings."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from contextlib import suppress

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from discreet.server import BodyGuard, GuardedProtocol
from tests.unit.server.listening import listen, post, read_all, speak

SECONDS = 0.6
LIMIT = 200_000
HEAD = b"POST /take HTTP/1.1\r\nHost: office\r\n"
reached: list[str] = []


class Hasty(GuardedProtocol):
    seconds = SECONDS
    least_rate = 1_000_000
    most_connections = 60


async def take(request: Request) -> Response:
    reached.append(f"{request.method} {len(await request.body())}")
    return PlainTextResponse("taken")


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    app = Starlette(routes=[Route("/take", take, methods=["GET", "POST"])])
    with listen(BodyGuard(app, limit=LIMIT, together=3 * LIMIT), Hasty) as found:
        yield found


@pytest.fixture(autouse=True)
def _forget() -> None:
    reached.clear()


def status(answer: bytes) -> int:
    return int(answer.split(b" ", 2)[1]) if answer else 0


def test_a_body_within_the_limit_is_taken(port: int) -> None:
    assert post(port, "/take", b"x" * LIMIT) == (200, b"taken")
    assert reached == [f"POST {LIMIT}"]


def test_two_lengths_are_refused_and_what_was_smuggled_is_not_answered(port: int) -> None:
    smuggled = b"GET /take HTTP/1.1\r\nHost: office\r\n\r\n"
    answer = speak(port, HEAD + b"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + smuggled)
    assert status(answer) == 400
    assert answer.count(b"HTTP/1.1") == 1
    assert reached == []


@pytest.mark.parametrize(
    "lines",
    [
        b"Content-Length: 4\r\nContent-Length: 5\r\n\r\nabcd",
        b"Content-Length: -1\r\n\r\n",
        b"Content-Length: 4x\r\n\r\nabcd",
        b"Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
        b"Transfer-Encoding: chunked\r\n\r\nno length\r\n",
        b"Bad Name: x\r\n\r\n",
    ],
)
def test_what_is_no_request_is_refused_without_an_echo(port: int, lines: bytes) -> None:
    answer = speak(port, HEAD + lines)
    assert status(answer) in (400, 500, 501)
    assert answer.count(b"HTTP/1.1") == 1
    assert not any(word in answer for word in (b"abcd", b"gzip", b"no length", b"Bad Name", b"Invalid"))
    assert all(said.endswith(" 0") is False for said in reached)


@pytest.mark.parametrize("size", [20_000, 64_000, 1_000_000])
def test_a_long_head_is_refused(port: int, size: int) -> None:
    assert status(speak(port, HEAD + b"X-Long: " + b"a" * size + b"\r\nContent-Length: 0\r\n\r\n")) in (431, 0)
    assert reached == []


def test_a_head_of_64_kilobytes_that_comes_at_once_is_told_so(port: int) -> None:
    assert status(speak(port, HEAD + b"X-Long: " + b"a" * 40_000 + b"\r\nContent-Length: 0\r\n\r\n")) == 431


def test_a_body_that_is_said_to_be_too_long_is_not_read(port: int) -> None:
    answer = speak(port, HEAD + b"Content-Length: %d\r\n\r\n" % 10**12)
    assert status(answer) == 413
    assert b"connection: close" in answer.lower()
    assert reached == []


@pytest.mark.parametrize(("more", "said"), [(0, 200), (1, 413)])
def test_chunks_have_the_same_limit(port: int, more: int, said: int) -> None:
    body = b"%x\r\n" % (LIMIT + more) + b"x" * (LIMIT + more) + b"\r\n0\r\n\r\n"
    answer = speak(port, HEAD + b"Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n" + body)
    assert status(answer) == said
    assert len(reached) == 1 - more


def test_a_flood_of_chunks_ends_at_the_limit(port: int) -> None:
    chunk = b"10000\r\n" + b"x" * 65_536 + b"\r\n"
    sent = 0
    with socket.create_connection(("127.0.0.1", port), timeout=5) as connection:
        connection.sendall(HEAD + b"Transfer-Encoding: chunked\r\n\r\n")
        with suppress(OSError):
            for _ in range(4_000):
                connection.sendall(chunk)
                sent += len(chunk)
    assert sent < LIMIT + 16_000_000  # the limit, and what the systems keep on the way
    assert reached == []


def test_bodies_together_have_a_limit_too(port: int) -> None:
    held = []
    for _ in range(4):
        connection = socket.create_connection(("127.0.0.1", port), timeout=5)
        connection.sendall(HEAD + b"Connection: close\r\nContent-Length: %d\r\n\r\n" % LIMIT + b"x" * (LIMIT - 1))
        held.append(connection)
    time.sleep(0.2)
    answers = []
    for connection in held:
        with suppress(OSError):
            connection.sendall(b"x")
        answers.append(status(read_all(connection)))
        connection.close()
    assert answers.count(200) == 3  # which of them came too late is a matter of luck
    assert set(answers) <= {0, 200, 503}
    assert post(port, "/take", b"x" * LIMIT)[0] == 200  # what was held is free again


@pytest.mark.parametrize("coding", ["gzip", "br", "deflate", "identity, gzip", "x"])
def test_a_body_that_is_encoded_is_refused(port: int, coding: str) -> None:
    assert post(port, "/take", b"\x1f\x8b", Content_Encoding=coding)[0] == 415
    assert post(port, "/take", b"ab", Content_Encoding="identity")[0] == 200
    assert reached == ["POST 2"]


@pytest.mark.parametrize("method", [b"HEAD", b"OPTIONS", b"PUT", b"DELETE", b"TRACE", b"PATCH", b"CONNECT"])
def test_other_methods_reach_no_handler(port: int, method: bytes) -> None:
    answer = speak(port, method + b" /take HTTP/1.1\r\nHost: office\r\nConnection: close\r\n\r\n")
    assert status(answer) in (400, 405)
    assert reached == []


def test_a_get_has_no_body(port: int) -> None:
    answer = speak(port, b"GET /take HTTP/1.1\r\nHost: office\r\nContent-Length: 5\r\n\r\nabcde")
    assert status(answer) == 400
    assert b"connection: close" in answer.lower()


def test_an_answer_before_the_body_was_read_ends_the_connection(port: int) -> None:
    answer = speak(port, b"POST /elsewhere HTTP/1.1\r\nHost: office\r\nContent-Length: 5\r\n\r\nabc")
    assert status(answer) == 404
    assert b"connection: close" in answer.lower()


def test_two_requests_on_one_connection_are_answered_in_turn(port: int) -> None:
    one = HEAD + b"Content-Length: 3\r\n\r\nabc"
    answer = speak(port, one + one + HEAD + b"Connection: close\r\nContent-Length: 2\r\n\r\nab")
    assert answer.count(b"200 OK") == 3
    assert reached == ["POST 3", "POST 3", "POST 2"]


BEGUN = {
    "nothing": b"",
    "a line": b"POST /ta",
    "a head": HEAD + b"X-Slow: ",
    "a body": HEAD + b"Content-Length: 100\r\n\r\nabc",
    "chunks": HEAD + b"Transfer-Encoding: chunked\r\n\r\n64\r\nab",
    "a second request": HEAD + b"Content-Length: 3\r\n\r\nabc" + HEAD + b"X-Slow: ",
}


def test_requests_that_trickle_end_at_the_deadline(port: int) -> None:
    start = time.monotonic()
    ended: dict[str, float] = {}
    held = {name: socket.create_connection(("127.0.0.1", port), timeout=5) for name in BEGUN}
    for name, connection in held.items():
        connection.sendall(BEGUN[name])
        connection.setblocking(False)
    while len(ended) < len(held) and time.monotonic() < start + 5:
        time.sleep(0.05)
        for name, connection in held.items():
            try:
                if name != "nothing":
                    connection.send(b"a")
                while connection.recv(4_096):
                    pass
                ended.setdefault(name, time.monotonic() - start)
            except BlockingIOError:
                continue
            except ConnectionError:
                ended.setdefault(name, time.monotonic() - start)
    assert ended.keys() == held.keys()
    assert all(SECONDS - 0.1 < seconds < SECONDS + 2 for seconds in ended.values())
    for connection in held.values():
        connection.close()


def test_many_that_trickle_are_all_ended_and_hold_up_nobody(port: int) -> None:
    held = [socket.create_connection(("127.0.0.1", port), timeout=5) for _ in range(50)]
    for connection in held:
        connection.sendall(HEAD + b"X")
    start = time.monotonic()
    assert post(port, "/take", b"abc")[0] == 200
    assert time.monotonic() - start < SECONDS
    assert all(read_all(connection) == b"" for connection in held)
    assert time.monotonic() - start < SECONDS + 3
    for connection in held:
        connection.close()


def test_connections_beyond_the_most_are_ended_at_once(port: int) -> None:
    held = [socket.create_connection(("127.0.0.1", port), timeout=5) for _ in range(Hasty.most_connections + 5)]
    time.sleep(0.1)
    start = time.monotonic()
    assert read_all(held[-1]) == b""
    assert time.monotonic() - start < SECONDS / 2
    for connection in held:
        connection.close()


def test_a_body_that_comes_steadily_may_take_longer_than_the_deadline(port: int) -> None:
    class Slow(Hasty):
        least_rate = 10_000

    app = Starlette(routes=[Route("/take", take, methods=["POST"])])
    with listen(BodyGuard(app, limit=LIMIT, together=LIMIT), Slow) as found:
        connection = socket.create_connection(("127.0.0.1", found), timeout=5)
        connection.sendall(HEAD + b"Connection: close\r\nContent-Length: 50000\r\n\r\n")
        for _ in range(10):
            connection.sendall(b"x" * 5_000)
            time.sleep(0.1)
        assert status(read_all(connection)) == 200
        connection.close()
