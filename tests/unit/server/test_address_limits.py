"""What comes from one address is bounded before anybody knows who asks: connections, and requests in a minute."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from typing import Any

import pytest

from discreet.ledger import Ledger, LogFilter
from discreet.ledger.events import Event
from discreet.server import Guard, GuardTerms, open_listener, read_proxies
from discreet.server.connections.address_meter import AddressMeter
from discreet.server.connections.listener import CountedListener
from discreet.server.routes import ledger_routes
from tests.unit.server.listening import Mirror, fetch, listen
from tests.unit.server.serving import Asker, furnish, problem, serving


def test_a_network_has_so_many_requests_in_a_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [1_000.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    meter = AddressMeter(2)
    assert [meter.take("192.0.2.1") for _ in range(4)] == [True, True, False, False]
    assert meter.take("192.0.2.2")
    assert [meter.take(f"2001:db8::{number}") for number in range(3)] == [True, True, False], "one /64 is one customer"
    now[0] += 59
    assert not meter.take("192.0.2.1")
    now[0] += 1
    assert [meter.take("192.0.2.1") for _ in range(3)] == [True, True, False]


def test_what_is_beyond_reaches_nobody() -> None:
    mirror = Mirror()
    terms = GuardTerms(per_address=2, uncounted=frozenset({"/health"}), proxies=read_proxies(["127.0.0.1"]))

    def ask(path: str, client: str) -> int:
        answer = fetch(port, "GET", path, f"X-Forwarded-For: {client}")
        if answer.status == 429:
            assert answer.headers["retry-after"] == ["60"]
        return answer.status

    with listen(Guard(mirror, terms)) as port:
        assert [ask("/a", "192.0.2.1") for _ in range(3)] == [200, 200, 429]
        assert [ask("/health", "192.0.2.1") for _ in range(3)] == [200] * 3
        assert ask("/a", "192.0.2.2") == 200, "whom the proxy speaks for is counted, and not the proxy"
    assert len(mirror.reached) == 6


def test_public_paths_are_bounded_too(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DISCREET_KEYS", str(tmp_path / "keys"))
    paths = ("/v1/ledger/head", "/v1/ready", "/en/welcome", "/v1/openapi.json")
    with serving(furnish(tmp_path), per_address=len(paths)) as ask:
        assert [ask(None, "GET", path).status_code for path in paths] == [200, 200, 200, 401]
        for path in paths:
            refused = ask(None, "GET", path)
            found = problem(refused)
            assert (found["status"], found["error"], found["charged"]) == (429, "TooManyRequests", False)
            assert refused.headers["retry-after"] == "60"
        assert ask(None, "GET", "/v1/health").status_code == 200


def test_the_head_is_read_once_in_a_minute(ask: Asker, monkeypatch: pytest.MonkeyPatch) -> None:
    minute, read = ["2026-01-01T00:00:00.000000+00:00"], []
    log = Ledger.log

    def look(ledger: Ledger, wanted: LogFilter | None = None) -> Iterator[Event]:
        read.append(wanted)
        return log(ledger, wanted)

    monkeypatch.setattr(ledger_routes, "last_minute", lambda: minute[0])
    monkeypatch.setattr(Ledger, "log", look)
    assert [ask(None, "GET", "/v1/ledger/head").json()["sequence"] for _ in range(3)] == [0] * 3
    assert len(read) == 1
    minute[0] = "2126-01-01T00:00:00.000000+00:00"
    assert ask(None, "GET", "/v1/ledger/head").json()["sequence"] > 0
    assert len(read) == 2


def test_connections_of_one_network_are_counted_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    coming, taken = [""], []

    def accept(listener: socket.socket) -> tuple[socket.socket, Any]:
        ours, theirs = socket.socketpair()
        theirs.close()
        return ours, (coming[0], 1)

    def come(address: str) -> bool:
        coming[0] = address
        try:
            taken.append(counted.accept()[0])
        except ConnectionAbortedError:
            return False
        return True

    monkeypatch.setattr(socket.socket, "accept", accept)
    with (
        open_listener("127.0.0.1", 0, beyond=False) as listener,
        CountedListener(listener, 20, from_one=2, spares=lambda address: address == "192.0.2.9") as counted,
    ):
        assert [come("192.0.2.1") for _ in range(3)] == [True, True, False]
        assert come("192.0.2.2")
        assert [come(f"2001:db8::{number}%eth0") for number in range(3)] == [True, True, False]
        assert all(come("127.0.0.1") for _ in range(4)), "this machine's are not"
        assert all(come("192.0.2.9") for _ in range(4)), "nor are a proxy's"
        taken[0].close()
        assert [come("192.0.2.1") for _ in range(2)] == [True, False]
        for connection in taken:
            connection.close()
