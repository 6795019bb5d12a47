"""An office under attack: `discreet serve` as a command, what was sent to it, what it answered, and what it told."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
import uuid
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, field
from http.client import HTTPConnection
from pathlib import Path
from typing import Any, Final

import pytest

from benchmarks.served_house import end, others_of
from discreet.ledger import EventKind, LogFilter
from discreet.session import Session
from discreet.session import open as open_session
from tests.unit.server.listening import Answer, fetch, read_answer, speak, until
from tests.unit.server.serving import COUNT, Asker, furnish

__all__ = ["JSON", "Office", "attacked"]

JSON: Final = "Content-Type: application/json"
_STARTING: Final = 60.0
_BASE: Final = re.compile(r"http://127\.0\.0\.1:(\d+)")
_SHUT: Final = {
    "cache-control": ["no-store"],
    "x-content-type-options": ["nosniff"],
    "referrer-policy": ["no-referrer"],
    "cross-origin-resource-policy": ["same-origin"],
    "content-security-policy": ["default-src 'none'; frame-ancestors 'none'"],
}
_NEVER: Final = ("server", "date", "x-powered-by", "content-encoding", "upgrade", "via", "retry", "set-cookie")


@dataclass
class Office:
    """A server in processes of its own. `marks` were sent and come back from nowhere; `answered` is who under what key.

    Whatever it answers to `fetch` and `speak` is looked at: its headers, and that nothing in it was sent or is secret.
    """

    ask: Asker
    process: subprocess.Popen[bytes]
    log: Path
    begun: str = ""
    marks: list[str] = field(default_factory=list)
    answered: Counter[tuple[str, str]] = field(default_factory=Counter)

    @property
    def port(self) -> int:
        return self.ask.port

    @property
    def said(self) -> str:
        return self.log.read_text(encoding="utf-8", errors="replace")

    def mark(self) -> str:
        """A word that nobody says by chance."""
        self.marks.append(f"zq{uuid.uuid4().hex}")
        return self.marks[-1]

    def bearer(self, who: str) -> str:
        return f"Authorization: Bearer {self.ask.tokens[who]}"

    def question(self, key: str, *, who: str = "ada", more: str = "") -> bytes:
        """A whole request that spends, as it goes over the wire."""
        body = f'{{"sql": "{COUNT}", "epsilon": "0.1", "fresh": true{more}}}'
        head = f"POST /v1/queries HTTP/1.1\r\nHost: office\r\n{self.bearer(who)}\r\nIdempotency-Key: {key}\r\n"
        return f"{head}{JSON}\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode()

    def query(self, who: str = "ada", *, key: str | None = None, epsilon: str = "0.1") -> Any:
        """A normal question, which is answered."""
        key = key or uuid.uuid4().hex
        found = self.ask(who, "POST", "/v1/queries", {"sql": COUNT, "epsilon": epsilon, "fresh": True}, key=key)
        assert found.status_code == 200, found.text
        self.answered[who, key] = 1
        return found.json()

    def fetch(self, method: str, target: str, *lines: str, body: bytes = b"", host: str = "office") -> Answer:
        return self._judge(fetch(self.port, method, target, *lines, body=body, host=host))

    def send(self, path: str, body: bytes, *lines: str, who: str = "ada") -> Answer:
        """JSON that somebody posts."""
        key = f"Idempotency-Key: {self.mark()}"
        return self.fetch("POST", path, self.bearer(who), key, JSON, *lines, body=body)

    def speak(self, said: bytes) -> Answer:
        """One answer to whatever is said, and the end of the connection."""
        found = speak(self.port, said)
        assert found.count(b"HTTP/1.1 ") <= 1, found
        return self._judge(read_answer(found))

    def _judge(self, answer: Answer) -> Answer:
        if answer.status:
            for name, value in _SHUT.items():
                assert answer.headers.get(name) == value, (name, answer)
            assert not [name for name in answer.headers if name.startswith("access-control-") or name in _NEVER]
        told = f"{answer.headers}{answer.body.decode('utf-8', errors='replace')}"
        assert not [one for one in (*self.marks, *self.ask.tokens.values()) if one in told], told
        assert "Traceback" not in told
        assert str(self.ask.path) not in told
        return answer

    @contextmanager
    def at_each_worker(self) -> Iterator[list[HTTPConnection]]:
        """A connection that is kept to each process that answers, so that one may be asked and then the other."""
        workers, found = set(others_of(self.process.pid)), dict[int, HTTPConnection]()
        with ExitStack() as stack:
            for _ in until(30):
                one = stack.enter_context(closing(HTTPConnection("127.0.0.1", self.port, timeout=30)))
                assert self.ask_by(one, "GET", "/v1/health") == 200
                found.setdefault(self._holder(one), one)
                if found.keys() == workers:
                    break
            yield list(found.values())

    def ask_by(self, line: HTTPConnection, method: str, path: str, body: object = None, *, token: str = "") -> int:
        """Ask on a connection that is kept."""
        sent = None if body is None else json.dumps(body)
        headers = {"Content-Type": "application/json"} if sent else {}
        line.request(method, path, sent, {**headers, **({"Authorization": f"Bearer {token}"} if token else {})})
        answer = line.getresponse()
        answer.read()
        return answer.status

    def _holder(self, line: HTTPConnection) -> int:
        """The process that has the other end of a connection."""
        ends = f":{self.port:04X}", f":{line.sock.getsockname()[1]:04X}"
        listed = [line.split() for line in Path("/proc/net/tcp").read_text(encoding="ascii").splitlines()[1:]]
        [inode] = [fields[9] for fields in listed if (fields[1][-5:], fields[2][-5:]) == ends]
        for worker in others_of(self.process.pid):
            for file in Path(f"/proc/{worker}/fd").iterdir():
                with suppress(OSError):
                    if os.readlink(file) == f"socket:[{inode}]":
                        return worker
        raise AssertionError("nobody has it")

    def charges(self) -> Counter[tuple[str, str]]:
        """Who was charged under what key, and how often."""
        charged = (event.payload for event in self._events(EventKind.CHARGE))
        return Counter((payload["analyst"], payload["request_id"]) for payload in charged)

    @contextmanager
    def open(self) -> Iterator[Session]:
        """The workspace that is served, beside the server."""
        with open_session(self.ask.path) as session:
            yield session

    def _events(self, kind: EventKind) -> list[Any]:
        with self.open() as session:
            return list(session.ledger.log(LogFilter(kinds=frozenset({kind}))))

    def require_unharmed(self) -> None:
        """It answers, what was answered was charged and nothing else, the ledger is sound, and nothing was told."""
        for who in ("ada", "bob"):
            self.query(who)
        assert self.process.poll() is None
        assert self.charges() == self.answered
        charged = sorted(event.sequence for event in self._events(EventKind.CHARGE))
        assert sorted(event.payload["charge"] for event in self._events(EventKind.ANSWER)) == charged
        with self.open() as session:
            found = session.verify()
        assert found.answers == len(charged)
        said = self.said
        assert not [one for one in (*self.marks, *self.ask.tokens.values(), COUNT) if one in said]
        assert said == self.begun, "whoever is attacked has nothing to tell"


@contextmanager
def attacked(folder: Path, *words: str) -> Iterator[Office]:
    """`discreet serve` with these words, over a house of its own in this folder; ended by its process id."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DISCREET_KEYS", str(folder / "keys"))
        patch.setenv("DISCREET_ANALYST", "ana")
        patch.setenv("DISCREET_LANG", "en")
        house = furnish(folder, budget="1000", per_analyst="400")
        command = [sys.executable, "-m", "discreet", "serve", "-w", str(house.path), "--port", "0", *words]
        log = folder / "log.txt"
        with log.open("wb") as written:
            process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=written, stderr=written, env=dict(os.environ)
            )
        try:
            office = Office(Asker(_await_port(process, log), house.path, house.tokens), process, log)
            assert office.ask(None, "GET", "/v1/ready").status_code == 200
            office.begun = office.said
            yield office
        finally:
            end(process)


def _await_port(process: subprocess.Popen[bytes], log: Path) -> int:
    late = time.monotonic() + _STARTING
    while time.monotonic() < late and process.poll() is None:
        said = log.read_text(encoding="utf-8")
        if (found := _BASE.search(said)) and "Ctrl-C" in said and said.endswith("\n"):
            return int(found[1])
        time.sleep(0.02)
    raise AssertionError(log.read_text(encoding="utf-8"))
