"""Several processes on one socket: all live until all are ended, and what they were told stands in no list."""

from __future__ import annotations

import http.client
import os
import signal
import socket
import ssl
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from discreet.errors import ParameterInvalid, PathInvalid
from discreet.server import TlsFiles, serve_processes
from tests.unit.server.certificates import make_tls
from tests.unit.server.crew import SECRET, Crew, crew
from tests.unit.server.listening import fetch, speak, until


def who(port: int) -> int:
    return int(fetch(port, "GET", "/who").body)


def wait_for(told: Callable[[], bool], what: str) -> None:
    for _ in until(60):
        if told():
            return
    pytest.fail(what)


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_all_are_ready_before_it_is_announced_and_one_that_dies_is_replaced(tmp_path: Path) -> None:
    with crew(tmp_path, fault="slow") as served:
        port = served.port
        assert (tmp_path / "mark").read_text() == "ready\n" * 2
        first = served.workers()
        assert len(first) == 2
        _require_nothing_listed(served)
        dead = who(port)
        assert dead in first
        os.kill(dead, signal.SIGKILL)
        wait_for(lambda: len(served.workers() - first) == 1, "no other took its place")
        assert who(port) in served.workers() - {dead}  # while the other starts, one is there
        wait_for(lambda: (tmp_path / "mark").read_text() == "ready\n" * 3, "the other is not ready")
        assert served.told() == f"Worker {dead} has ended; another takes its place.\n"
        served.process.terminate()
        assert served.wait(30) == 0
        assert served.told().count("\n") == 1
        assert (tmp_path / "mark.ended").read_text() == "ended\n" * 2


def test_one_that_is_killed_while_it_starts_is_replaced_too(tmp_path: Path) -> None:
    with crew(tmp_path, fault="slow") as served:
        known = served.workers() if served.port else set()
        os.kill(next(iter(known)), signal.SIGKILL)
        for _ in range(3):
            wait_for(partial(_is_another, served, set(known)), "no other took its place")
            [starting] = served.workers() - known
            known |= {starting}
            os.kill(starting, signal.SIGKILL)
        wait_for(lambda: (tmp_path / "mark").read_text() == "ready\n" * 3, "no other was let start")
        assert served.told().count("another takes its place") == 4


def _is_another(served: Crew, known: set[int]) -> bool:
    return len(served.workers() - known) == 1


@pytest.mark.long
def test_a_server_ends_when_no_other_can_start_any_more(tmp_path: Path) -> None:
    with crew(tmp_path, fault="later") as served:
        workers = served.workers() if served.port else set()
        os.kill(next(iter(workers)), signal.SIGKILL)
        assert served.wait() == 1
        assert served.told().count("another takes its place") == 11
        assert served.told().endswith("\nthe ledger is not there any more.\n")
        assert (tmp_path / "mark").read_text().count("started") == 2 + 11
        assert not any(map(alive, workers))


def _require_nothing_listed(served: Crew) -> None:
    """Neither on a command line nor in an environment."""
    for pid in (served.pid, *served.workers()):
        for name in ("cmdline", "environ"):
            assert SECRET.encode() not in Path(f"/proc/{pid}/{name}").read_bytes()
    for pid in served.workers():
        words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")[1:-1]
        assert words[:3] == [b"-P", b"-m", b"discreet.server.serving_process"]
        assert all(word.isdigit() for word in words[3:])


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_all_and_what_is_being_answered_is(tmp_path: Path, number: signal.Signals) -> None:
    with crew(tmp_path) as served:
        port, workers = served.port, served.workers()
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        connection.request("GET", "/slow?seconds=1")
        time.sleep(0.3)
        for pid in (served.pid, *workers) if number == signal.SIGINT else (served.pid,):  # as a terminal sends it
            os.kill(pid, number)
        assert connection.getresponse().read() == b"slept"
        connection.close()
        assert served.wait(14) == 0  # in their own time: after 15 seconds they would be killed
        assert not any(map(alive, workers))
        assert served.told() == ""
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", port))


def test_who_asks_twice_does_not_wait(tmp_path: Path) -> None:
    with crew(tmp_path) as served:
        connection = http.client.HTTPConnection("127.0.0.1", served.port, timeout=30)
        connection.request("GET", "/slow?seconds=60")
        time.sleep(0.3)
        workers, start = served.workers(), time.monotonic()
        served.process.send_signal(signal.SIGINT)
        time.sleep(0.3)
        served.process.send_signal(signal.SIGINT)
        served.wait(30)
        connection.close()
        assert time.monotonic() - start < 8
        assert not any(map(alive, workers))


def test_workers_end_with_their_parent_however_it_ends(tmp_path: Path) -> None:
    with crew(tmp_path) as served:
        port, workers = served.port, served.workers()
        served.process.kill()
        wait_for(lambda: not any(map(alive, workers)), "workers outlive their parent")
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", port))


@pytest.mark.parametrize(
    ("fault", "told"),
    [
        ("refused", "the ledger is not there."),
        ("failing", "the server could not start: ValueError"),
        ("dead", "a worker of the server ended before it was ready. Nothing is served."),
        ("second", "there is one already."),
    ],
)
def test_one_that_cannot_start_ends_all_with_one_sentence(tmp_path: Path, fault: str, told: str) -> None:
    with crew(tmp_path, fault=fault) as served:
        assert served.wait() == 1
        assert served.told() == f"{told}\n"
        assert served.process.stdout is not None
        assert served.process.stdout.read() == ""


@pytest.mark.parametrize(
    ("fault", "told"), [("refused", "the ledger is not there."), ("failing", "the server could not start: ValueError")]
)
def test_so_does_one_that_is_alone(tmp_path: Path, fault: str, told: str) -> None:
    with crew(tmp_path, fault=fault, workers=1) as served:
        assert served.wait() == 1
        assert served.told() == f"{told}\n"


def test_one_alone_serves_without_others(tmp_path: Path) -> None:
    with crew(tmp_path, workers=1) as served:
        assert who(served.port) == served.pid
        assert served.workers() == set()
        served.process.terminate()
        assert served.wait() == 0
        assert (tmp_path / "mark.ended").exists()


def test_each_speaks_tls(tmp_path: Path) -> None:
    tls = make_tls(tmp_path)
    with crew(tmp_path, tls=tls) as served:
        context = ssl.create_default_context(cafile=os.fspath(tls.certificate))
        connection = http.client.HTTPSConnection("127.0.0.1", served.port, timeout=30, context=context)
        connection.request("GET", "/who")
        assert int(connection.getresponse().read()) in served.workers()
        connection.close()


def test_nothing_that_was_sent_is_told(tmp_path: Path) -> None:
    sent = "sent@example.org%0d%0aforged"
    with crew(tmp_path) as served:
        port = served.port
        for said in (
            f"GET /{sent} HTTP/1.1\r\nHost: office\r\nUser-Agent: sent\r\nConnection: close\r\n\r\n",
            f"GET /fail?{sent} HTTP/1.1\r\nHost: office\r\nX-Own: sent\r\nConnection: close\r\n\r\n",
            "sent \x1b[2J\r\n\r\n",
            "GET /who HTTP/1.1\r\nHost: sent\r\nUpgrade: websocket\r\nConnection: upgrade, close\r\n\r\n",
            "GET /who HTTP/1.1\r\nHost: office\r\nX-Own: sent\nforged: line\r\n\r\n",
            "\x16\x03\x01sent",
        ):
            speak(port, said.encode())
        with socket.create_connection(("127.0.0.1", port)) as connection:
            connection.sendall(b"POST /who HTTP/1.1\r\nHost: sent\r\nContent-Length: 100\r\n\r\nsent")
        assert who(port)
        served.process.terminate()
        assert served.wait() == 0
        assert served.told() == "A request failed: ValueError\n"


@pytest.mark.parametrize("workers", [0, -1, 65, 10**9])
def test_how_many_there_may_be(workers: int) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener, pytest.raises(ParameterInvalid):
        serve_processes(listener, workers=workers, make="nowhere:nothing", settings={}, announce=lambda: None)


def test_files_for_tls_are_tried_before_anybody_is_started(tmp_path: Path) -> None:
    files = TlsFiles(tmp_path / "a", tmp_path / "b")
    with socket.create_server(("127.0.0.1", 0)) as listener, pytest.raises(PathInvalid):
        serve_processes(listener, workers=2, make="nowhere:nothing", settings={}, tls=files, announce=lambda: None)
