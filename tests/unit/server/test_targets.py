"""What a request is for: one reading of every target, one host, and four methods."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from discreet.server import Guard, GuardTerms, OfficeProtocol
from tests.unit.server.listening import Mirror, fetch, listen, read_answer, speak

mirror = Mirror()


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    with listen(Guard(mirror), OfficeProtocol) as found:
        yield found


@pytest.fixture(autouse=True)
def _forget() -> None:
    mirror.reached.clear()


@pytest.mark.parametrize(
    "method",
    ["HEAD", "OPTIONS", "TRACE", "CONNECT", "PATCH", "PROPFIND", "get", "Get", "POSt", "QUERY", "GETX", "!", "PRI"],
)
@pytest.mark.parametrize("line", [None, "X-HTTP-Method-Override: POST", "Access-Control-Request-Method: POST"])
def test_other_methods_reach_no_handler(port: int, method: str, line: str | None) -> None:
    answer = fetch(port, method, "/take", *([line] if line else []))
    assert answer.status == 405
    assert answer.headers["allow"] == ["GET, POST, PUT, DELETE"]
    assert not [name for name in answer.headers if name.startswith("access-control")]
    assert mirror.reached == []


@pytest.mark.parametrize("target", ["*", "office:443", "http://office/take"])
@pytest.mark.parametrize("method", ["OPTIONS", "CONNECT", "TRACE"])
def test_methods_with_targets_of_their_own(port: int, method: str, target: str) -> None:
    assert fetch(port, method, target).status == 405
    assert mirror.reached == []


def test_a_header_cannot_make_another_method_of_one(port: int) -> None:
    lines = [f"{name}: DELETE" for name in ("X-HTTP-Method-Override", "X-HTTP-Method", "X-Method-Override")]
    seen = fetch(port, "GET", "/take", *lines).json
    assert seen["method"] == "GET"
    assert not [name for name, _ in seen["headers"] if "method" in name]


@pytest.mark.parametrize(
    "target",
    [
        "*", "take", "office:80", "http://office/take", "HTTP://other/take", "//other/take", "///", "/a//b", "/a//",
        "/./a", "/a/.", "/..", "/../a", "/a/../b", "/a/..", "/%2e", "/%2e%2e/a", "/.%2e/a", "/a/%2E%2e/b", "/a/%2E",
        "/a%2fb", "/a%2Fb", "/%2f", "/a\\b", "/..\\a", "/a%5cb", "/a%5C..%5Cb", "/a/..;/b", "/a;b=c/d", "/a;",
        "/a%00", "/%00", "/a%0d%0aX-Own:%20b", "/a%0a", "/a%1b[31m", "/a%7f", "/a%09", "/a%252e", "/%252e%252e/a",
        "/a%25", "/a%2525", "/a%c0%af", "/a%c0%ae%c0%ae", "/a%e0%80%af", "/a%ff", "/a%ed%a0%80", "/a%f4%90%80%80",
        "/a%", "/a%2", "/a%zz", "/a%2g", "/a%+1", "/a% 1", "/a%u0041", "/a#b", "/#", "/a?b#c",
        "/a?b=%00", "/a?b=%ff", "/a?b=%zz", "/a?b=%", "/a?b=%2", "/a?%c0%af",
    ],
)  # fmt: skip
@pytest.mark.parametrize("method", ["GET", "DELETE"])
def test_targets_with_two_readings_reach_no_handler(port: int, method: str, target: str) -> None:
    answer = read_answer(
        speak(port, f"{method} {target} HTTP/1.1\r\nHost: office\r\nConnection: close\r\n\r\n".encode())
    )
    assert answer.status == 400
    assert answer.body == b"Bad Request"
    assert mirror.reached == []


@pytest.mark.parametrize(
    ("target", "path", "query"),
    [
        ("/", "/", ""),
        ("/a", "/a", ""),
        ("/a/", "/a/", ""),
        ("/a.b/..c/...", "/a.b/..c/...", ""),
        ("/a/b?", "/a/b", ""),
        ("/a?b=/../c//d\\e;f", "/a", "b=/../c//d\\e;f"),
        ("/a?b=%2e%2f%25&c=%0a", "/a", "b=%2e%2f%25&c=%0a"),
        ("/%c3%a9t%C3%A9", "/été", ""),
        ("/a%20b%3ac%3Fd", "/a b:c?d", ""),
        ("/a+b@c,d(e)!$'*~_-=&:", "/a+b@c,d(e)!$'*~_-=&:", ""),
    ],
)
def test_plain_targets_are_read(port: int, target: str, path: str, query: str) -> None:
    seen = fetch(port, "GET", target).json
    assert (seen["path"], seen["query"]) == (path, query)


@pytest.mark.parametrize(
    "host",
    [
        "", " ", "office:", "office:x", "office:123456", "office office", "office/a", "office?a", "office#a",
        "office@a",
        "a:b@office", "http://office", ".office", "office\\a", "office,other", "office%00", "[::1", "::1", "[office]",
        "[::1]x", "office;", '"office"', "<office>", "a" * 300,
    ],
)  # fmt: skip
def test_odd_hosts_are_refused(port: int, host: str) -> None:
    assert fetch(port, "GET", "/take", host=host).status == 400
    assert mirror.reached == []


@pytest.mark.parametrize(
    "host", ["office", "Office.Example.", "localhost:8765", "127.0.0.1:1", "[::1]:8765", "[2001:db8::1]", "a_b-c.d"]
)
def test_plain_hosts_are_read(port: int, host: str) -> None:
    assert fetch(port, "GET", "/take", host=host).status == 200


@pytest.mark.parametrize("version", ["1.0", "1.1"])
@pytest.mark.parametrize("hosts", ["", "Host: office\r\nHost: office\r\n", "Host: office\r\nhost: other\r\n"])
def test_there_is_one_host(port: int, version: str, hosts: str) -> None:
    assert read_answer(speak(port, f"GET /take HTTP/{version}\r\n{hosts}\r\n".encode())).status == 400
    assert mirror.reached == []


@pytest.mark.parametrize("method", ["GET", "DELETE"])
@pytest.mark.parametrize("lines", ["Content-Length: 5\r\n\r\nabcde", "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"])
def test_some_methods_have_no_body(port: int, method: str, lines: str) -> None:
    answer = read_answer(speak(port, f"{method} /take HTTP/1.1\r\nHost: office\r\n{lines}".encode()))
    assert answer.status == 400
    assert answer.headers["connection"] == ["close"]
    assert mirror.reached == []


@pytest.mark.parametrize("method", ["GET", "DELETE", "POST", "PUT"])
def test_a_body_may_be_said_to_be_empty(port: int, method: str) -> None:
    assert fetch(port, method, "/take", "Content-Length: 0").status == 200
    assert "json" not in mirror.reached[0]


def test_an_office_may_have_other_methods_and_limits_of_its_own() -> None:
    terms = GuardTerms(methods=("GET", "POST"), longest_body=4, limit_of={"/long": 9}.get)
    with listen(Guard(mirror, terms), OfficeProtocol) as port:
        assert fetch(port, "PUT", "/take").headers["allow"] == ["GET, POST"]
        json = "Content-Type: application/json"
        assert [fetch(port, "POST", "/take", json, body=b"1" * size).status for size in (4, 5)] == [200, 413]
        assert [fetch(port, "POST", "/long", json, body=b"1" * size).status for size in (5, 9, 10)] == [200, 200, 413]
