"""What may come over a connection, against `discreet serve` itself: none of it is heard, spends, or is told again."""

from __future__ import annotations

import gzip
import json
import socket
import struct
import time
import uuid
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from typing import Any, Final

import pytest

from benchmarks.served_house import held_memory
from discreet.server.assembly import describe_api
from tests.e2e.attacked import JSON, Office, attacked
from tests.unit.server.listening import Answer, read_all, until
from tests.unit.server.serving import COUNT

pytestmark = [pytest.mark.long, pytest.mark.xdist_group("attacks on the wire")]

DEADLINE: Final = 5.0
BELIEF: Final = f"POST /v1/belief HTTP/1.1\r\nHost: office\r\n{JSON}\r\n"
LENGTH: Final = "Content-Length: 4\r\n"
CHUNKED: Final = "Transfer-Encoding: chunked\r\n"


@pytest.fixture(scope="module")
def office(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Office]:
    with attacked(tmp_path_factory.mktemp("wire"), "--no-slots", "--requests", "1000000") as found:
        yield found


@pytest.fixture(autouse=True)
def _stands(office: Office) -> Iterator[None]:
    yield
    assert office.fetch("GET", "/v1/health").status == 200
    assert office.charges() == office.answered, "what was answered was charged, and nothing else"


def refused(answer: Answer, *statuses: int) -> None:
    assert answer.status in statuses, answer
    assert answer.headers["content-type"] == ["application/problem+json"]
    found = answer.json
    assert {"type", "status", "error", "message", "fields", "charged"} <= found.keys() <= {*found, "problems"}
    assert (found["status"], found["charged"]) == (answer.status, False)


# --- slowness and floods ------------------------------------------------------------------------------------------


def test_slow_senders_of_every_sort_are_ended_in_time_and_hold_up_nobody(office: Office) -> None:
    begun = [
        "",
        "POST /v1/que",
        f"{BELIEF}X-Slow: {office.mark()}",
        f"{BELIEF}Content-Length: 60000\r\n\r\n{{",
        f"{BELIEF}{CHUNKED}\r\n",
        f"{BELIEF}{CHUNKED}\r\nffff\r\n{{",
        f"GET /v1/health HTTP/1.1\r\nHost: office\r\n\r\n{BELIEF}X-Slow: ",
        office.question(office.mark())[:-40].decode(),
    ]
    with ExitStack() as stack:
        held: dict[socket.socket, float] = {}
        for number in range(200):
            one = stack.enter_context(socket.create_connection(("127.0.0.1", office.port), timeout=10))
            one.sendall(begun[number % len(begun)].encode())
            one.setblocking(False)
            held[one] = time.monotonic()
        slowest = 0.0
        for turn, _ in enumerate(until(4 * DEADLINE)):
            for one, since in list(held.items()):
                if is_ended(one, trickles=turn % 4 == 0):
                    del held[one]
                    assert time.monotonic() - since > DEADLINE - 1
            asked = time.monotonic()
            office.query()
            slowest = max(slowest, time.monotonic() - asked)
            if not held:
                break
            time.sleep(0.1)
        assert not held, "a sender without an end is still heard"
        assert slowest < 3


def is_ended(one: socket.socket, *, trickles: bool) -> bool:
    try:
        if trickles:
            one.send(b"a")
        while one.recv(65_536):
            pass
    except BlockingIOError:
        return False
    except ConnectionError:
        pass
    return True


@pytest.mark.parametrize("lines", ["Content-Length: 100000000\r\n", CHUNKED], ids=["a length", "chunks"])
def test_a_flood_is_refused_at_once_and_what_follows_is_not_kept(office: Office, lines: str) -> None:
    before, sent, begun = held_memory(office.process.pid)["Rss"], 0, time.monotonic()
    chunk = b"10000\r\n" + b"[" * 65_536 + b"\r\n"
    with socket.create_connection(("127.0.0.1", office.port), timeout=10) as one:
        with suppress(OSError):
            one.sendall(f"{BELIEF}{lines}\r\n".encode())
            while sent < 100_000_000:
                one.sendall(chunk)
                sent += len(chunk)
        read_all(one)
    assert sent < 20_000_000, "the limit, and what the systems keep on the way"
    assert time.monotonic() - begun < 3
    assert held_memory(office.process.pid)["Rss"] - before < 40
    refused(office.speak(f"{BELIEF}Expect: 100-continue\r\nContent-Length: 100000000\r\n\r\n".encode()), 413)


@pytest.mark.parametrize(
    ("target", "lines"),
    {
        "a header": ("/v1/health", ["X-Long: " + "a" * 65_536]),
        "a token": ("/v1/me", ["Authorization: Bearer " + "a" * 65_536]),
        "a cookie": ("/v1/me", ["Cookie: __Host-discreet=" + "a" * 65_536]),
        "many headers": ("/v1/health", [f"X-{number}: a" for number in range(5_000)]),
        "a path": ("/v1/datasets/" + "a" * 65_536, []),
        "a query": ("/v1/history?limit=" + "1" * 65_536, []),
    }.values(),
)
def test_heads_of_64_kb_are_refused(office: Office, target: str, lines: list[str]) -> None:
    answer = office.fetch("GET", target, office.bearer("ada"), *lines)
    if answer.status:  # the end of the connection may overtake it
        refused(answer, 431)


# --- two readings -------------------------------------------------------------------------------------------------

TWO_READINGS: Final = {
    "a length and chunks": f"{LENGTH}{CHUNKED}\r\n0\r\n\r\n",
    "chunks and a length": f"{CHUNKED}{LENGTH}\r\n0\r\n\r\n",
    "two lengths": f"{LENGTH}Content-Length: 5\r\n\r\nnull",
    "one length twice": f"{LENGTH}{LENGTH}\r\nnull",
    "a list of lengths": "Content-Length: 4, 4\r\n\r\nnull",
    "a signed length": "Content-Length: +4\r\n\r\nnull",
    "a length with a space before its colon": "Content-Length : 4\r\n\r\nnull",
    "chunks with a space before their colon": "Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n",
    "other chunks": "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
    "packed chunks": "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
    "a folded coding": "Transfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n",
    "bare line feeds": f"{LENGTH}\nX: a\n\nnull",
    "an extension of a chunk": f"{CHUNKED}\r\n4;a=b\r\nnull\r\n0\r\n\r\n",
    "a chunk ended by a line feed": f"{CHUNKED}\r\n4\nnull\n0\n\n",
    "a chunk longer than it says": f"{CHUNKED}\r\n4\r\nnull0\r\n0\r\n\r\n",
    "a bare carriage return": f"{LENGTH}X: a\rTransfer-Encoding: chunked\r\n\r\nnull",
    "a NUL": f"{LENGTH}X: \0\r\n\r\nnull",
}


@pytest.mark.parametrize("framing", TWO_READINGS.values(), ids=TWO_READINGS)
@pytest.mark.parametrize("version", ["1.1", "1.0"])
def test_what_two_readers_end_in_two_places_smuggles_no_question(office: Office, framing: str, version: str) -> None:
    """Behind it comes a question that would spend; the `_stands` of every test sees that it did not."""
    outer = BELIEF.replace("1.1", version) + framing
    refused(office.speak(outer.encode() + office.question(office.mark())), 400, 501)


@pytest.mark.parametrize("method", ["GET", "DELETE"])
def test_a_question_is_not_smuggled_as_the_body_of_what_has_none(office: Office, method: str) -> None:
    inner = office.question(office.mark())
    head = f"{method} /v1/health HTTP/1.1\r\nHost: office\r\nContent-Length: {len(inner)}\r\n\r\n"
    refused(office.speak(head.encode() + inner), 400)


def test_no_header_makes_a_get_a_question(office: Office) -> None:
    names = ("X-HTTP-Method-Override", "X-HTTP-Method", "X-Method-Override", "X-Original-URL", "X-Rewrite-URL")
    for name in names:
        answer = office.fetch("GET", "/v1/health", office.bearer("ada"), f"{name}: POST", f"{name}: /v1/me")
        assert answer.json == {"status": "ok"}


# --- bodies -------------------------------------------------------------------------------------------------------

ASKED: Final = f'"sql": "{COUNT}", "epsilon": "0.1"'


@pytest.mark.parametrize(
    "body",
    {
        "30,000 arrays": b"[" * 30_000 + b"]" * 30_000,
        "30,000 that never close": b"[" * 60_000,
        "10,000 objects": b'{"a":' * 10_000 + b"1" + b"}" * 10_000,
        "33 where 32 may be": b"[" * 33 + b"]" * 33,
        "a key twice": f'{{{ASKED}, "epsilon": "5"}}'.encode(),
        "a key twice, once escaped": f'{{{ASKED}, "\\u0065psilon": "5"}}'.encode(),
        "NaN": f'{{{ASKED}, "level": NaN}}'.encode(),
        "a number beyond any": f'{{{ASKED}, "level": 1e400}}'.encode(),
        "a number of 50,000 digits": f'{{{ASKED}, "level": {"9" * 50_000}}}'.encode(),
        "half a character": f'{{{ASKED}, "level": "\\ud800"}}'.encode(),
        "NUL": f'{{"sql": "{COUNT}\\u0000", "epsilon": "0.1"}}'.encode(),
        "no UTF-8": f'{{{ASKED}, "level": "\xff"}}'.encode("latin-1"),
        "UTF-16": f"{{{ASKED}}}".encode("utf-16"),
        "a mark of byte order": b"\xef\xbb\xbf" + f"{{{ASKED}}}".encode(),
        "two values": f"{{{ASKED}}}{{{ASKED}}}".encode(),
        "a comment": f"/* */{{{ASKED}}}".encode(),
        "a comma too many": f"{{{ASKED},}}".encode(),
    }.values(),
)
def test_deep_json_and_json_with_two_readings_are_refused(office: Office, body: bytes) -> None:
    begun = time.monotonic()
    refused(office.send("/v1/queries", body), 400)
    assert time.monotonic() - begun < 2


@pytest.mark.parametrize("coding", ["gzip", "deflate", "br", "identity, gzip"])
def test_packed_bodies_are_not_opened(office: Office, coding: str) -> None:
    bomb = gzip.compress(b" " * 50_000_000 + f"{{{ASKED}}}".encode())
    before = held_memory(office.process.pid)["Rss"]
    refused(office.send("/v1/queries", bomb[:65_000], f"Content-Encoding: {coding}"), 415)
    assert held_memory(office.process.pid)["Rss"] - before < 20


def test_answers_are_not_packed_either(office: Office) -> None:
    """Where a secret and somebody's words are packed together, lengths tell the secret."""
    answer = office.fetch("GET", "/v1/history", office.bearer("ada"), "Accept-Encoding: gzip, br, deflate")
    assert answer.json["history"] is not None


AGE: Final = "SELECT COUNT(*) AS n FROM clinic WHERE age > "
LAUGHS: Final = "a: &a [x]\n" + "".join(
    f"{'b' * (n + 1)}: &{'b' * (n + 1)} [{', '.join(['*' + ('b' * n or 'a')] * 9)}]\n" for n in range(12)
)


@pytest.mark.parametrize(
    ("path", "body"),
    {
        "parentheses": ("queries", {"sql": AGE + "(" * 4_900, "epsilon": "0.1"}),
        "derived tables": ("queries", {"sql": "SELECT COUNT(*) FROM " + "(SELECT * FROM " * 600, "epsilon": "0.1"}),
        "signs": ("queries", {"sql": AGE + "- " * 4_900 + "1", "epsilon": "0.1"}),
        "negations": ("queries", {"sql": AGE + "1 AND " + "NOT " * 2_400 + "age > 1", "epsilon": "0.1"}),
        "cases": ("queries", {"sql": AGE + "CASE WHEN age > 1 THEN " * 350 + "1" + " END" * 350, "epsilon": "0.1"}),
        "comments": ("queries", {"sql": "/*" * 4_900 + AGE + "1", "epsilon": "0.1"}),
        "sums": ("queries", {"sql": f"SELECT SUM({'+'.join(['age'] * 2_400)}) FROM clinic", "epsilon": "0.1"}),
        "joins": ("queries", {"sql": "SELECT COUNT(*) FROM clinic" + " JOIN clinic USING (patient)" * 300}),
        "a recursion": ("queries", {"sql": f"WITH RECURSIVE t AS (SELECT * FROM t) {COUNT}", "epsilon": "0.1"}),
        "a pattern": ("queries", {"sql": f"{COUNT} WHERE REGEXP_MATCHES(note, '(a+)+$')", "epsilon": "0.1"}),
        "a file": ("queries", {"sql": "SELECT COUNT(*) FROM read_csv('/etc/passwd')", "epsilon": "0.1"}),
        "laughs": ("workloads", {"workload": f"{LAUGHS}questions: *bbb\nepsilon: 1\n"}),
        "deep YAML": ("workloads", {"workload": "{a: " * 9_000}),
        "a tag": ("workloads", {"workload": "!!python/object/apply:os.system ['id']"}),
        "1,001 edges": ("tables", {"dataset": "clinic", "by": ["age"], "epsilon": "1", "edges": {"age": ["1"] * 1002}}),
        "a far epsilon": ("queries", {"sql": COUNT, "epsilon": "1e999999999"}),
        "a far width": ("queries", {"sql": COUNT, "within": {"people": "1e-999999999"}}),
        "a far belief": ("belief", {"epsilon": "1", "scale": "1e999999999"}),
    }.values(),
)  # fmt: skip
def test_words_that_grow_when_they_are_read_are_refused_soon(office: Office, path: str, body: dict[str, Any]) -> None:
    begun = time.monotonic()
    refused(office.send(f"/v1/{path}", json.dumps(body).encode()), 400, 404, 422)
    assert time.monotonic() - begun < 3


# --- methods and targets ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["HEAD", "OPTIONS", "TRACE", "CONNECT", "PATCH", "PROPFIND", "post"])
def test_other_methods_reach_no_handler_on_any_path(office: Office, method: str) -> None:
    mark = office.mark()
    for path in (*describe_api()["paths"], "/en/welcome", "/static/welcome.js", "/", "*"):
        answer = office.fetch(method, path.replace("{", "").replace("}", ""), office.bearer("ada"), f"X-Mark: {mark}")
        assert answer.status == 405, path
        assert method != "HEAD" or answer.body == b""


def test_a_preflight_is_refused_and_told_nothing(office: Office) -> None:
    lines = ["Origin: https://evil.example", "Access-Control-Request-Method: POST"]
    lines += [
        "Access-Control-Request-Headers: authorization, idempotency-key",
        "Access-Control-Request-Private-Network: true",
    ]
    refused(office.fetch("OPTIONS", "/v1/queries", *lines), 405)


@pytest.mark.parametrize(
    "target",
    [
        "/../../etc/passwd", "/v1/../v1/me", "/v1/./me", "/v1//me", "//v1/me", "/v1/me/", "/v1/me;a=b", "/v1\\me",
        "/%2e%2e/%2e%2e/etc/passwd", "/v1/datasets/..%2f..%2fworkspace.json/card.yaml", "/v1/datasets/../card.yaml",
        "/v1/datasets/%2e%2e/card.yaml", "/v1/datasets/..%5c..%5cetc/card.yaml", "/v1/datasets/%252e%252e/card.yaml",
        "/v1/datasets/%c0%ae%c0%ae/card.yaml", "/v1/datasets/clinic%00/card.yaml", "/v1/datasets/clinic%0a/card.yaml",
        "/static/../app.py", "/static/%2e%2e%2fapp.py", "/static/..%2f..%2f__init__.py", "/static/welcome.js%00.css",
        "/static//etc/passwd", "/static/", "/en/../static/welcome.js", "/en/welcome/", "/xx/welcome", "/",
        "/v1/answers/1%0d%0aSet-Cookie:%20a=b", "/v1/answers/1?format=json%0d%0aSet-Cookie:%20a=b",
        "/v1/answers/1?format=../../workspace.json", "/v1/answers/..%2f1", "/v1/jobs/..%2f..%2fme", "/v1/jobs/%2e",
        "/v1/history?limit=1%00", "http://office/v1/me", "http://evil.example/v1/me", "office:80", "v1/me", "/v1/me#a",
        "/docs", "/redoc", "/openapi.json", "/metrics", "/server-status", "/.env", "/workspace.json", "/keys",
    ],
)  # fmt: skip
def test_no_target_leads_anywhere_else(office: Office, target: str) -> None:
    answer = office.fetch("GET", target, office.bearer("ada"))
    refused(answer, 400, 404)
    assert b"root:" not in answer.body


@pytest.mark.parametrize("host", ["", "evil.example/a", "a b", "office@evil.example", "[::1", "office,evil.example"])
def test_odd_hosts_are_refused(office: Office, host: str) -> None:
    refused(office.fetch("GET", "/v1/health", host=host), 400)


# --- what is told -------------------------------------------------------------------------------------------------


def test_nothing_that_is_sent_stands_in_the_log(office: Office) -> None:
    """Line ends, colours and marks of direction, in every place that could be told of."""
    line = f"{office.mark()}\\n2026-11-19 root signed in"
    odd = f"{office.mark()}\x1b[2J\x1b]0;{office.mark()}\x07"
    for name in ("User-Agent", "Referer", "X-Request-Id", "Accept-Language", "Accept", "Cookie", "Authorization"):
        refused(office.fetch("GET", "/v1/me", f"{name}: {line}"), 401)
        refused(office.fetch("GET", "/v1/me", f"{name}: {odd}"), 400)
        refused(office.speak(f"GET /v1/me HTTP/1.1\r\nHost: office\r\n{name}: a\n{line}\r\n\r\n".encode()), 400)
    for target in (f"/v1/{office.mark()}", f"/{office.mark()}%20a", f"/v1/me/{office.mark()}?{office.mark()}"):
        refused(office.fetch("GET", target), 404)
    for key in (f"{office.mark()} {office.mark()}", office.mark() * 300):
        answer = office.ask("ada", "POST", "/v1/queries", {"sql": COUNT, "epsilon": "0.1"}, key=key)
        assert answer.status_code == 400
    for body in (
        {office.mark(): 1},
        {"sql": [office.mark()]},
        [office.mark()],
        {"sql": COUNT, "level": {"a": office.mark()}},
    ):
        refused(office.send("/v1/queries", json.dumps(body).encode()), 400)
    refused(office.speak(f"{office.mark()}\r\n\r\n".encode()), 400)
    refused(office.speak(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + office.mark().encode() + b"\r\n\r\n"), 400)
    refused(office.speak(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + office.mark().encode()), 400)
    sql = f"SELECT COUNT(*) AS n FROM clinic WHERE town = '{office.mark()}\\n'"
    assert office.ask("ada", "POST", "/v1/queries", {"sql": sql, "epsilon": "0.1"}, key="k").status_code == 404


# --- who leaves ---------------------------------------------------------------------------------------------------


def test_who_leaves_after_asking_was_charged_once_and_has_the_answer_under_the_key(office: Office) -> None:
    for way in ("ends", "breaks off", "stops reading"):
        key = uuid.uuid4().hex
        with socket.create_connection(("127.0.0.1", office.port), timeout=10) as one:
            one.sendall(office.question(key))
            if way == "breaks off":
                time.sleep(0.02)
                one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            elif way == "stops reading":
                one.shutdown(socket.SHUT_RD)
        for _ in until(10):
            if office.charges()["ada", key]:
                break
        else:
            pytest.fail("who has gone was not charged")
        again = [office.query(key=key) for _ in range(3)]
        assert all(found["replayed"] for found in again)
        assert len({str(found["rows"]) for found in again}) == 1
        assert office.charges()["ada", key] == 1


def test_who_leaves_before_the_question_is_whole_is_not_charged(office: Office) -> None:
    said = office.question(office.mark())
    for length in (1, 60, len(said) - 1):
        with socket.create_connection(("127.0.0.1", office.port), timeout=10) as one:
            one.sendall(said[:length])


def test_who_asks_at_once_on_many_connections_under_one_key_is_charged_once(office: Office) -> None:
    key = uuid.uuid4().hex
    with ExitStack() as stack:
        held = [
            stack.enter_context(socket.create_connection(("127.0.0.1", office.port), timeout=20)) for _ in range(20)
        ]
        for one in held:
            one.sendall(office.question(key).replace(b"Host: office", b"Host: office\r\nConnection: close"))
        said = [read_all(one) for one in held]
    rows = {str(json.loads(one.partition(b"\r\n\r\n")[2])["rows"]) for one in said if b" 200 " in one[:20]}
    assert len(rows) == 1
    office.answered["ada", key] = 1


def test_after_all_of_it_the_office_answers_and_has_told_nothing(office: Office) -> None:
    office.require_unharmed()
