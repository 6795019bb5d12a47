"""Where a request ends: what two readers could see in two places is refused, and nothing behind it is answered."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator

import pytest

from discreet.server import Guard, GuardTerms, OfficeProtocol
from tests.unit.server.listening import Mirror, fetch, listen, read_answer, speak

HEAD = b"POST /take HTTP/1.1\r\nHost: office\r\n"
SMUGGLED = b"GET /smuggled HTTP/1.1\r\nHost: office\r\n\r\n"
LENGTH = b"Content-Length: "
CHUNKED = b"Transfer-Encoding: chunked\r\n"
mirror = Mirror()


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    with listen(Guard(mirror, GuardTerms(json_only=False)), OfficeProtocol) as found:
        yield found


@pytest.fixture(autouse=True)
def _forget() -> None:
    mirror.reached.clear()


def refused(port: int, said: bytes) -> bool:
    """Whether one refusal comes back, with nothing of what was sent, and the connection ends."""
    answer = read_answer(speak(port, said))
    assert answer.status in (400, 431, 501), answer
    assert answer.body in (b"Bad Request", b"Request Header Fields Too Large", b"Not Implemented")
    assert answer.headers["connection"] == ["close"]
    assert answer.headers["cache-control"] == ["no-store"]
    assert not [seen for seen in mirror.reached if seen["path"] == "/smuggled"]
    return mirror.reached == []


@pytest.mark.parametrize(
    "lines",
    [
        LENGTH + b"4\r\n" + CHUNKED,
        CHUNKED + LENGTH + b"4\r\n",
        LENGTH + b"0\r\n" + CHUNKED,
        b"content-LENGTH: 4\r\ntransfer-ENCODING: Chunked\r\n",
        LENGTH + b"4\r\n" + LENGTH + b"5\r\n",
        LENGTH + b"4\r\n" + LENGTH + b"4\r\n",
        LENGTH + b"4, 4\r\n",
        LENGTH + b"4,5\r\n",
    ],
)
def test_two_lengths(port: int, lines: bytes) -> None:
    assert refused(port, HEAD + lines + b"\r\n0\r\n\r\n" + SMUGGLED)


@pytest.mark.parametrize(
    "length",
    [
        *(b"+4", b"-4", b"-0", b"4 4", b"4_4", b"0x4", b"4.0", b"4e0", b"", b" ", b'"4"', b"4;", b"\xd9\xa4", b"\xb2"),
        *(b"9" * 19, b"9" * 400, b"18446744073709551620", b"\x0b4", b"4\x0c", b"4\x00"),
    ],
)
def test_a_length_is_plain_digits(port: int, length: bytes) -> None:
    assert refused(port, HEAD + LENGTH + length + b"\r\n\r\nabcd" + SMUGGLED)


def test_a_length_may_have_zeros_before_it_and_space_around_it(port: int) -> None:
    answer = read_answer(speak(port, HEAD + b"Connection: close\r\nContent-Length: \t 0004 \t\r\n\r\nabcd"))
    assert (answer.status, answer.json["length"]) == (200, 4)


@pytest.mark.parametrize(
    "coding",
    [
        *(b"gzip, chunked", b"chunked, identity", b"chunked, chunked", b"identity", b"xchunked", b"chunkedx"),
        *(b"chunked;q=1", b'"chunked"', b"", b"\x0bchunked", b"chunked\x00", b"chunked\r\nTransfer-Encoding: chunked"),
    ],
)
def test_other_codings_of_a_transfer(port: int, coding: bytes) -> None:
    assert refused(port, HEAD + b"Transfer-Encoding: " + coding + b"\r\n\r\n0\r\n\r\n" + SMUGGLED)


@pytest.mark.parametrize("version", [b"1.0", b"0.9", b"1.2", b"2.0", b"3.0", b"1.10", b"1"])
def test_chunks_of_another_http(port: int, version: bytes) -> None:
    said = b"POST /take HTTP/%s\r\nHost: office\r\n" % version + CHUNKED
    assert refused(port, said + b"\r\n0\r\n\r\n" + SMUGGLED)


def test_a_request_of_http_1_0_with_a_length_is_answered_once(port: int) -> None:
    answer = read_answer(speak(port, b"POST /take HTTP/1.0\r\nHost: office\r\nContent-Length: 2\r\n\r\nab" + SMUGGLED))
    assert (answer.status, answer.json["length"]) == (200, 2)
    assert [seen["path"] for seen in mirror.reached] == ["/take"]


@pytest.mark.parametrize(
    "said",
    {
        "bare line feeds": HEAD.replace(b"\r\n", b"\n") + b"\n",
        "one bare line feed": b"GET /take HTTP/1.1\r\nHost: office\nX-Own: 1\r\n\r\n",
        "a head ended by a bare line feed": b"GET /take HTTP/1.1\r\nHost: office\r\n\n",
        "a head ended by bare line feeds": b"GET /take HTTP/1.1\r\nHost: office\n\n",
        "a bare carriage return": b"GET /take HTTP/1.1\r\nHost: office\r\nX-Own: a\rX-Other: b\r\n\r\n",
        "two carriage returns": b"GET /take HTTP/1.1\r\nHost: office\r\r\n\r\n",
        "a folded line": b"GET /take HTTP/1.1\r\nHost: office\r\nX-Own: a\r\n b\r\n\r\n",
        "a folded line with a tab": b"GET /take HTTP/1.1\r\nHost: office\r\n\tb: c\r\n\r\n",
        "a folded length": HEAD + b"Content-Length:\r\n 4\r\n\r\nabcd",
        "a space before the colon": HEAD + b"Content-Length : 4\r\n\r\nabcd",
        "a tab before the colon": HEAD + b"Transfer-Encoding\t: chunked\r\n\r\n0\r\n\r\n",
        "a line without a colon": b"GET /take HTTP/1.1\r\nHost: office\r\nX-Own\r\n\r\n",
        "a line without a name": b"GET /take HTTP/1.1\r\nHost: office\r\n: x\r\n\r\n",
        "a name with a space": b"GET /take HTTP/1.1\r\nHost: office\r\nX Own: x\r\n\r\n",
        "a name with a NUL": b"GET /take HTTP/1.1\r\nHost: office\r\nX\x00Own: x\r\n\r\n",
        "a name that is no ASCII": b"GET /take HTTP/1.1\r\nHost: office\r\nX-\xc3\x89: x\r\n\r\n",
        "a NUL": b"GET /take HTTP/1.1\r\nHost: office\r\nX-Own: a\x00b\r\n\r\n",
        "an escape": b"GET /take HTTP/1.1\r\nHost: office\r\nX-Own: \x1b[31m\r\n\r\n",
        "a delete": b"GET /take HTTP/1.1\r\nHost: office\r\nX-Own: a\x7f\r\n\r\n",
        "bytes beyond ASCII": b"GET /take HTTP/1.1\r\nHost: office\r\nX-Own: \xe2\x80\xae\r\n\r\n",
        "two spaces in the first line": b"GET  /take HTTP/1.1\r\nHost: office\r\n\r\n",
        "a tab in the first line": b"GET\t/take HTTP/1.1\r\nHost: office\r\n\r\n",
        "a space after the first line": b"GET /take HTTP/1.1 \r\nHost: office\r\n\r\n",
        "a space before the first line": b" GET /take HTTP/1.1\r\nHost: office\r\n\r\n",
        "an empty line before the first": b"\r\nGET /take HTTP/1.1\r\nHost: office\r\n\r\n",
        "no version": b"GET /take\r\nHost: office\r\n\r\n",
        "http in small letters": b"GET /take http/1.1\r\nHost: office\r\n\r\n",
        "HTTP/2 from the start": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        "no method": b" /take HTTP/1.1\r\nHost: office\r\n\r\n",
        "a handshake of TLS": b"\x16\x03\x01\x00\xc8\x01\x00\x00\xc4\x03\x03",
        "no host": b"GET /take HTTP/1.1\r\n\r\n",
        "two hosts": b"GET /take HTTP/1.1\r\nHost: office\r\nHost: office\r\n\r\n",
        "a target that is no ASCII": b"GET /t\xc3\xa9 HTTP/1.1\r\nHost: office\r\n\r\n",
        "a target with a control": b"GET /t\x01 HTTP/1.1\r\nHost: office\r\n\r\n",
    }.values(),
)
def test_a_head_that_another_reads_otherwise(port: int, said: bytes) -> None:
    assert refused(port, said)


@pytest.mark.parametrize(
    "chunks",
    [
        *(b"4;name=value\r\nabcd\r\n", b"4;\r\nabcd\r\n", b"4 \r\nabcd\r\n", b" 4\r\nabcd\r\n", b"4\t\r\nabcd\r\n"),
        *(b"4;a\rb\r\nabcd\r\n", b"4\nabcd\r\n", b"0x4\r\nabcd\r\n", b"+4\r\nabcd\r\n", b"-4\r\nabcd\r\n"),
        b"\r\nabcd\r\n",
        *(b"4\r\nabcde\r\n", b"4\r\nabcd\n", b"4\r\nabcd\r\r\n", b"g\r\n", b"00000000000000004\r\nabcd\r\n"),
        *(b"f" * 17 + b"\r\n", b"\xb2\r\nab\r\n", b"4_0\r\n", b"4" * 20_000),
    ],
)  # fmt: skip
def test_chunks_that_another_reads_otherwise(port: int, chunks: bytes) -> None:
    assert refused(port, HEAD + CHUNKED + b"\r\n" + chunks + b"0\r\n\r\n" + SMUGGLED)


@pytest.mark.parametrize("trailer", [b"X: a\n\r\n", b"X: a\r\n b\r\n\r\n", b"X : a\r\n\r\n", b"X: \x00\r\n\r\n", b"\n"])
def test_lines_after_the_last_chunk(port: int, trailer: bytes) -> None:
    assert refused(port, HEAD + CHUNKED + b"\r\n4\r\nabcd\r\n0\r\n" + trailer + SMUGGLED)


def test_what_stands_after_the_last_chunk_is_no_header(port: int) -> None:
    said = HEAD + b"Connection: close\r\n" + CHUNKED + b"\r\n4\r\nabcd\r\n0\r\nAuthorization: Bearer x\r\n\r\n"
    seen = read_answer(speak(port, said)).json
    assert seen["length"] == 4
    assert "authorization" not in dict(seen["headers"])


@pytest.mark.parametrize("size", [1, 2, 7])
def test_a_request_in_small_parts_is_the_same_request(port: int, size: int) -> None:
    """Each part comes by itself, so that no line is judged by what happened to arrive together."""
    said = HEAD + b"Connection: close\r\n" + CHUNKED + b"\r\n4\r\nabcd\r\n1\r\ne\r\n0\r\n\r\n"
    with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for place in range(0, len(said), size):
            connection.sendall(said[place : place + size])
            time.sleep(0.0005)
        found = b""
        while more := connection.recv(65_536):
            found += more
    assert read_answer(found).json["length"] == 5


@pytest.mark.parametrize("method", ["HEAD", "GET", "POST", "OPTIONS", "CONNECT"])
def test_a_refusal_of_any_method_is_whole(port: int, method: str) -> None:
    """An answer to HEAD has no body, and it is none that the server fails to write."""
    answer = fetch(port, method, "/take", "Content-Length: 4", "Transfer-Encoding: chunked")
    assert answer.status == 400
    assert answer.body == (b"" if method == "HEAD" else b"Bad Request")


def test_requests_that_wait_behind_one_another_are_answered_in_turn(port: int) -> None:
    one = HEAD + b"Content-Length: 3\r\n\r\nabc"
    two = HEAD + CHUNKED + b"\r\n2\r\nab\r\n0\r\n\r\n"
    last = b"GET /take HTTP/1.1\r\nHost: office\r\nConnection: close\r\n\r\n"
    answer = speak(port, one + two + one + last + SMUGGLED)
    assert answer.count(b"HTTP/1.1 200") == 4
    assert [seen["length"] for seen in mirror.reached] == [3, 2, 3, 0]


def test_an_odd_request_behind_a_good_one_is_refused_after_its_answer(port: int) -> None:
    answer = speak(port, HEAD + b"Content-Length: 3\r\n\r\nabc" + HEAD + b"Content-Length: +3\r\n\r\nabc" + SMUGGLED)
    assert [answer.count(b"HTTP/1.1 %d" % status) for status in (200, 400)] == [1, 1]
    assert [seen["path"] for seen in mirror.reached] == ["/take"]


def test_an_upgrade_is_not_taken(port: int) -> None:
    lines = ("Upgrade: h2c", "HTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA", "Connection: Upgrade, HTTP2-Settings")
    for asked in (lines, ("Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13")):
        answer = fetch(port, "GET", "/take", *asked)
        assert answer.status == 200
        assert "upgrade" not in answer.headers
