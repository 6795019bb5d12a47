"""Pages of other sites: nothing they can make a browser send is heard, and nothing is ever said to them."""

from __future__ import annotations

import gzip
from collections.abc import Iterator

import pytest

from discreet.server import Guard, GuardTerms, OfficeProtocol, read_proxies
from tests.unit.server.listening import Answer, Mirror, fetch, listen

JSON = "Content-Type: application/json"
COOKIE = "Cookie: __Host-session=0123456789abcdef"
mirror = Mirror()


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    with listen(Guard(mirror, GuardTerms(proxies=read_proxies(["127.0.0.1"]))), OfficeProtocol) as found:
        yield found


@pytest.fixture(autouse=True)
def _forget() -> None:
    mirror.reached.clear()


def send(port: int, *lines: str, method: str = "POST", host: str = "office") -> Answer:
    return fetch(port, method, "/take", *lines, *([] if method == "DELETE" else [JSON]), host=host)


@pytest.mark.parametrize(
    "lines",
    [
        ["Origin: http://evil.example"],
        ["Origin: null"],
        ["Origin: https://office"],
        ["Origin: http://office:8080"],
        ["Origin: http://office.evil.example"],
        ["Origin: http://evil.example/http://office"],
        ["Origin: http://sub.office"],
        ["Origin: http://office/"],
        ["Origin: http://office http://evil.example"],
        ["Origin: http://office", "Origin: http://evil.example"],
        ["Origin: http://office", "Origin: http://office"],
        ["Origin: "],
        ["Origin: file://"],
        ["Sec-Fetch-Site: cross-site"],
        ["Sec-Fetch-Site: same-site"],
        ["Sec-Fetch-Site: none"],
        ["Sec-Fetch-Site: SAME-ORIGIN"],
        ["Sec-Fetch-Site: same-origin", "Sec-Fetch-Site: cross-site"],
        ["Sec-Fetch-Site: same-origin, cross-site"],
        ["Origin: http://office", "Sec-Fetch-Site: cross-site"],
        ["Origin: http://evil.example", "Sec-Fetch-Site: same-origin"],
        [],
    ],
)  # fmt: skip
@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE"])
def test_a_request_of_another_page_changes_nothing(port: int, method: str, lines: list[str]) -> None:
    """With somebody's cookie, which a browser adds by itself; without any sign of a page a cookie is no program's."""
    answer = send(port, COOKIE, *lines, method=method)
    assert answer.status == 403
    assert not [name for name in answer.headers if name.startswith("access-control")]
    assert mirror.reached == []


@pytest.mark.parametrize("lines", [["Origin: http://evil.example"], ["Sec-Fetch-Site: cross-site"], ["Origin: null"]])
def test_nor_without_a_cookie(port: int, lines: list[str]) -> None:
    assert send(port, *lines).status == 403


@pytest.mark.parametrize(
    ("lines", "host"),
    [
        ([], "office"),
        ([COOKIE, "Origin: http://office"], "office"),
        ([COOKIE, "Origin: http://office"], "office:80"),
        ([COOKIE, "Origin: http://office:8765"], "office:8765"),
        ([COOKIE, "Origin: http://office"], "OFFICE"),
        ([COOKIE, "Origin: http://[::1]:8765"], "[::1]:8765"),
        ([COOKIE, "Sec-Fetch-Site: same-origin"], "office"),
        ([COOKIE, "Origin: http://office", "Sec-Fetch-Site: same-origin"], "office"),
        ([COOKIE, "Origin: https://office", "X-Forwarded-Proto: https"], "office"),
        ([COOKIE, "Origin: https://office", "X-Forwarded-Proto: https"], "office:443"),
        ([COOKIE, "Origin: https://public", "Forwarded: proto=https;host=public"], "inner:8765"),
    ],
)
def test_a_page_of_ours_and_a_program_are_heard(port: int, lines: list[str], host: str) -> None:
    assert send(port, *lines, host=host).status == 200


def test_reading_is_no_change(port: int) -> None:
    """A GET of another page is answered, with headers by which its browser keeps the answer from it."""
    answer = fetch(port, "GET", "/take", COOKIE, "Origin: http://evil.example", "Sec-Fetch-Site: cross-site")
    assert answer.status == 200
    assert answer.headers["cross-origin-resource-policy"] == ["same-origin"]
    assert not [name for name in answer.headers if name.startswith("access-control")]


@pytest.mark.parametrize(
    "sort",
    [
        "text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=a", "text/json", "text/html",
        "application/json-patch+json", "application/problem+json", "application/jsonx", "xapplication/json", "json", "",
        "application/json; charset=utf-16", "application/json; charset=utf-7", "application/json; charset=latin-1",
        "application/json; charset=utf-8; charset=utf-16", "application/json; boundary=a",
        "application/json, text/plain", "text/plain, application/json", "application/json;",
        "application/json; charset='utf-8'", "application/json; charset=utf8", "*/*",
        "application /json", "text/plain; application/json", 'application/json; charset="utf-8',
    ],
)  # fmt: skip
@pytest.mark.parametrize("method", ["POST", "PUT"])
def test_a_body_that_is_not_said_to_be_json_is_refused(port: int, method: str, sort: str) -> None:
    """A form of another page can send the first three without asking."""
    assert fetch(port, method, "/take", f"Content-Type: {sort}", body=b'{"a": "b"}').status == 415
    assert mirror.reached == []


def test_a_body_of_no_sort_or_of_two_is_refused(port: int) -> None:
    assert fetch(port, "POST", "/take", body=b"{}").status == 415
    assert fetch(port, "POST", "/take", JSON, JSON, body=b"{}").status == 415
    assert fetch(port, "POST", "/take", JSON, "Content-Type: text/plain", body=b"{}").status == 415
    chunks = "Transfer-Encoding: chunked"
    assert fetch(port, "POST", "/take", "Content-Type: text/plain", chunks).status == 415


@pytest.mark.parametrize(
    "sort",
    [
        *(
            "application/json",
            "Application/JSON",
            "application/json;charset=utf-8",
            'application/json; charset="UTF-8"',
        ),
        *("application/json ; charset=utf-8 ", "application/json\t;\tcharset=UTF-8"),
    ],
)
def test_json_is_read(port: int, sort: str) -> None:
    answer = fetch(port, "POST", "/take", f"Content-Type: {sort}", body='{"a": "é"}'.encode())
    assert (answer.status, answer.json["json"]) == (200, {"a": "é"})


@pytest.mark.parametrize(
    "coding", ["gzip", "x-gzip", "br", "zstd", "deflate", "identity, gzip", "compress", "", "utf-8"]
)
def test_a_body_that_is_packed_is_refused_and_not_opened(port: int, coding: str) -> None:
    bomb = gzip.compress(b"0" * 30_000_000)
    assert len(bomb) < 65_536
    answer = fetch(port, "POST", "/take", JSON, f"Content-Encoding: {coding}", body=bomb)
    assert answer.status == 415
    assert answer.headers["connection"] == ["close"]
    assert mirror.reached == []


def test_two_codings_are_refused_and_none_is_none(port: int) -> None:
    none = "Content-Encoding: Identity"
    assert fetch(port, "POST", "/take", JSON, none, "Content-Encoding: gzip", body=b"{}").status == 415
    assert fetch(port, "POST", "/take", JSON, none, body=b"{}").status == 200
