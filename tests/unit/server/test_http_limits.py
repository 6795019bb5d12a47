"""What is heard at all: whole requests in time, of a size that was agreed on, and from as many as there is room for."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress

import pytest

from discreet.server import Guard, GuardedProtocol, GuardTerms, OfficeProtocol
from tests.unit.server.listening import Mirror, fetch, listen, post, read_all, read_answer, speak, until

SECONDS = 0.6
LIMIT = 200_000
SHORT = 4_096
HEAD = b"POST /take HTTP/1.1\r\nHost: office\r\n"
CHUNKED = b"Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n"
TERMS = GuardTerms(longest_body=LIMIT, bodies_together=3 * LIMIT, json_only=False)
mirror = Mirror()


class Hasty(GuardedProtocol):
    seconds = SECONDS
    least_rate = 1_000_000
    most_connections = 60


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    with listen(Guard(mirror, TERMS), Hasty) as found:
        yield found


@pytest.fixture(autouse=True)
def _forget() -> None:
    mirror.reached.clear()


def connect(port: int, said: bytes = b"") -> socket.socket:
    connection = socket.create_connection(("127.0.0.1", port), timeout=10)
    connection.sendall(said)
    return connection


def read_until(connection: socket.socket, end: bytes) -> None:
    found = b""
    while not found.endswith(end):
        more = connection.recv(65_536)
        assert more
        found += more


def test_a_body_within_the_limit_is_taken(port: int) -> None:
    assert post(port, "/take", b"x" * LIMIT)[0] == 200
    assert [seen["length"] for seen in mirror.reached] == [LIMIT]


@pytest.mark.parametrize("size", [20_000, 64_000, 1_000_000])
def test_a_long_head_is_refused(port: int, size: int) -> None:
    said = speak(port, HEAD + b"X-Long: " + b"a" * size + b"\r\nContent-Length: 0\r\n\r\n")
    assert read_answer(said).status in (431, 0)  # where much follows, the end of the connection may overtake it
    assert mirror.reached == []


@pytest.mark.parametrize(
    "head",
    [
        HEAD + b"X-Long: " + b"a" * 40_000 + b"\r\n\r\n",
        HEAD + b"".join(b"X-%d: a\r\n" % number for number in range(3_000)) + b"\r\n",
        b"GET /" + b"a" * 17_000 + b" HTTP/1.1\r\nHost: office\r\n\r\n",
        b"GET /?" + b"a" * 17_000 + b" HTTP/1.1\r\nHost: office\r\n\r\n",
        b"G" * 17_000,
    ],
)
def test_a_long_head_that_comes_at_once_is_told_so(port: int, head: bytes) -> None:
    assert read_answer(speak(port, head)).status == 431
    assert mirror.reached == []


def test_a_head_just_short_enough_is_read(port: int) -> None:
    assert fetch(port, "GET", "/take", "X-Long: " + "a" * 16_000).status == 200


def test_a_body_that_is_said_to_be_too_long_is_not_read(port: int) -> None:
    answer = read_answer(speak(port, HEAD + b"Expect: 100-continue\r\nContent-Length: %d\r\n\r\n" % 10**12))
    assert answer.status == 413  # and nobody was told to go on
    assert answer.headers["connection"] == ["close"]
    assert mirror.reached == []


@pytest.mark.parametrize(("more", "said"), [(0, 200), (1, 413)])
def test_chunks_have_the_same_limit(port: int, more: int, said: int) -> None:
    body = b"%x\r\n" % (LIMIT + more) + b"x" * (LIMIT + more) + b"\r\n0\r\n\r\n"
    assert read_answer(speak(port, HEAD + CHUNKED + body)).status == said
    assert len(mirror.reached) == 1 - more


@pytest.mark.parametrize("lines", [b"Transfer-Encoding: chunked\r\n\r\n", b"Content-Length: 999999999999\r\n\r\n"])
def test_a_flood_ends_at_the_limit(port: int, lines: bytes) -> None:
    chunk = b"10000\r\n" + b"x" * 65_536 + b"\r\n"
    sent = 0
    with connect(port, HEAD + lines) as connection, suppress(OSError):
        for _ in range(4_000):
            connection.sendall(chunk)
            sent += len(chunk)
    assert sent < LIMIT + 16_000_000  # the limit, and what the systems keep on the way
    assert mirror.reached == []


def test_what_frames_chunks_has_a_limit_too(port: int) -> None:
    class Framed(Hasty):
        longest_request = 20_000

    chunks = b"1\r\nx\r\n"
    with listen(Guard(mirror, TERMS), Framed) as found:
        assert read_answer(speak(found, HEAD + CHUNKED + chunks * 2_000 + b"0\r\n\r\n")).status == 200
        assert speak(found, HEAD + CHUNKED + chunks * 8_000 + b"0\r\n\r\n") == b""
        with connect(found) as connection:  # of each request on a connection
            for _ in range(3):
                connection.sendall(HEAD + b"Content-Length: 15000\r\n\r\n" + b"x" * 15_000)
                read_until(connection, b'"length": 15000}')


def test_bodies_together_have_a_limit_and_short_ones_are_read_all_the_same(port: int) -> None:
    size = LIMIT - 100
    with ExitStack() as stack:
        held = [stack.enter_context(connect(port)) for _ in range(4)]
        for connection in held:
            connection.sendall(HEAD + b"Connection: close\r\nContent-Length: %d\r\n\r\n" % size + b"x" * (size - 1))
        time.sleep(0.1)
        assert post(port, "/take", b"x" * SHORT)[0] == 200
        assert post(port, "/take", b"x" * 50_000)[0] in (0, 503)
        for connection in held:
            with suppress(OSError):
                connection.sendall(b"x")
        statuses = [read_answer(read_all(connection)).status for connection in held]
    assert statuses.count(200) == 3  # which of them came too late is a matter of luck
    assert set(statuses) <= {0, 200, 503}
    assert post(port, "/take", b"x" * LIMIT)[0] == 200  # what was held is free again


def test_a_body_that_never_ends_gives_back_what_it_held(port: int) -> None:
    for _ in range(8):
        with connect(port, HEAD + b"Content-Length: %d\r\n\r\n" % LIMIT + b"x" * (LIMIT - 1)):
            pass
    for _ in until(10):
        if post(port, "/take", b"x" * LIMIT)[0] == 200:
            break
    else:
        pytest.fail("bodies of those who left are still held")


BEGUN = {
    "nothing": b"",
    "a line": b"POST /ta",
    "a head": HEAD + b"X-Slow: ",
    "a body": HEAD + b"Content-Length: 100\r\n\r\nabc",
    "chunks": HEAD + b"Transfer-Encoding: chunked\r\n\r\n64\r\nab",
    "the length of a chunk": HEAD + b"Transfer-Encoding: chunked\r\n\r\n",
    "a second request": HEAD + b"Content-Length: 3\r\n\r\nabc" + HEAD + b"X-Slow: ",
    "a head after an answer": HEAD + b"Content-Length: 3\r\n\r\nabc",
}


def test_requests_that_trickle_end_at_the_deadline(port: int) -> None:
    start = time.monotonic()
    ended: dict[str, float] = {}
    held = {name: connect(port, begun) for name, begun in BEGUN.items()}
    for connection in held.values():
        connection.setblocking(False)
    for _ in until(10):
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
        if len(ended) == len(held):
            break
    for connection in held.values():
        connection.close()
    assert ended.keys() == held.keys()
    assert min(ended.values()) > SECONDS - 0.1
    assert {seen["length"] for seen in mirror.reached} == {3}


def test_a_connection_on_which_nothing_more_is_said_ends(port: int) -> None:
    with connect(port, HEAD + b"Content-Length: 2\r\n\r\nab") as idle:
        assert read_answer(read_all(idle)).status == 200  # and then the end, or reading would give up
        assert idle.recv(1) == b""


def test_many_that_trickle_are_all_ended_and_hold_up_nobody(port: int) -> None:
    with ExitStack() as stack:
        held = [stack.enter_context(connect(port, HEAD + b"X")) for _ in range(50)]
        assert post(port, "/take", b"abc")[0] == 200
        assert all(read_all(connection) == b"" for connection in held)
    assert len(mirror.reached) == 1


def test_connections_beyond_the_most_are_ended_at_once_and_others_go_on() -> None:
    class Few(GuardedProtocol):
        seconds = 60
        most_connections = 5

    with listen(Guard(mirror, TERMS), Few) as port, ExitStack() as stack:
        held = [stack.enter_context(connect(port)) for _ in range(Few.most_connections)]
        time.sleep(0.1)
        for _ in range(3):
            assert speak(port, b"") == b""
        held[0].sendall(b"GET /take HTTP/1.1\r\nHost: office\r\nConnection: close\r\n\r\n")
        assert read_answer(read_all(held[0])).status == 200
        for _ in until(10):
            if fetch(port, "GET", "/take").status == 200:  # who leaves makes room
                break
        else:
            pytest.fail("there is no room again")


def test_a_body_that_comes_steadily_may_take_longer_than_the_deadline() -> None:
    class Slow(Hasty):
        least_rate = 10_000

    with listen(Guard(mirror, TERMS), Slow) as port, connect(port, HEAD) as connection:
        connection.sendall(b"Connection: close\r\nContent-Length: 50000\r\n\r\n")
        for _ in range(10):
            connection.sendall(b"x" * 5_000)
            time.sleep(0.1)
        assert read_answer(read_all(connection)).status == 200


def test_an_office_that_many_ask_has_the_limits_that_were_promised() -> None:
    assert (OfficeProtocol.seconds, OfficeProtocol.longest_head, OfficeProtocol.most_connections) == (5, 16_384, 2_000)
    assert OfficeProtocol.longest_request == 1_000_000
    terms = GuardTerms()
    assert (terms.longest_body, terms.json_only, terms.proxies.networks) == (65_536, True, ())
    assert terms.bodies_together + OfficeProtocol.most_connections * terms.short_body < 30_000_000
