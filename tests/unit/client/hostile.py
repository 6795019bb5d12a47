"""A server that says whatever a test wants, byte by byte, and remembers what it heard."""

from __future__ import annotations

import json
import socket
import ssl
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from threading import Thread
from typing import Any

from discreet.client.exchanges import Exchange
from discreet.client.patience import Notes, PatientServer
from discreet.client.server_address import check_address
from discreet.client.server_desk import Progress, ServerDesk

__all__ = ["TOKEN", "Askers", "Hostile", "Step", "Watch", "answer", "hostile", "problem", "said"]

TOKEN = "0123.secret-of-ada"

Step = bytes | Callable[[socket.socket], None]


@dataclass
class Hostile:
    """Where it listens, and every request that came whole."""

    url: str
    heard: list[bytes] = field(default_factory=list)
    wires: list[socket.socket] = field(default_factory=list)

    def let_go(self, listener: socket.socket) -> None:
        """Nobody is waited for: a client that keeps its connection may have nothing more to say."""
        for one in (listener, *self.wires):
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)


@contextmanager
def hostile(*steps: Step, tls: ssl.SSLContext | None = None) -> Iterator[Hostile]:
    """The first request is answered by the first step, and so on; the last step answers all that come later."""
    scheme = "http" if tls is None else "https"
    with socket.create_server(("127.0.0.1", 0)) as listener:
        found = Hostile(f"{scheme}://127.0.0.1:{listener.getsockname()[1]}")
        thread = Thread(target=_serve, args=(listener, list(steps), found, tls), daemon=True)
        thread.start()
        try:
            yield found
        finally:
            found.let_go(listener)
            thread.join(10)
            assert not thread.is_alive()


def _serve(listener: socket.socket, steps: list[Step], found: Hostile, tls: ssl.SSLContext | None) -> None:
    threads = []
    while True:
        try:
            connection, _ = listener.accept()
        except OSError:
            break
        found.wires.append(connection)
        threads.append(Thread(target=_listen, args=(connection, steps, found, tls), daemon=True))
        threads[-1].start()
    for thread in threads:
        thread.join(10)


def _listen(connection: socket.socket, steps: list[Step], found: Hostile, tls: ssl.SSLContext | None) -> None:
    """One connection, for as long as its client keeps it."""
    with connection, suppress(OSError):
        connection.settimeout(10)
        wire = connection if tls is None else tls.wrap_socket(connection, server_side=True)
        found.wires.append(wire)
        with wire:
            while (request := _hear(wire)) is not None:
                found.heard.append(request)
                step = steps.pop(0) if len(steps) > 1 else steps[0]
                if callable(step):
                    step(wire)
                    break
                wire.sendall(step)
                if b"connection: close" in step.lower():
                    break


def _hear(wire: socket.socket) -> bytes | None:
    """One request with its body; None where the other side has gone."""
    found = b""
    while b"\r\n\r\n" not in found:
        part = wire.recv(65_536)
        if not part:
            return None
        found += part
    head, _, body = found.partition(b"\r\n\r\n")
    lengths = [line.split(b":")[1] for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:")]
    while len(body) < (int(lengths[0]) if lengths else 0):
        part = wire.recv(65_536)
        if not part:
            return None
        body += part
    return head + b"\r\n\r\n" + body


# --- what it says ---------------------------------------------------------------------------------------------------


def answer(status: int, body: bytes, media: str = "application/json", **headers: str) -> bytes:
    """A whole response, with its length unless another is named."""
    named = {"Content_Type": media, "Content_Length": str(len(body)), **headers}
    lines = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in named.items() if value)
    return f"HTTP/1.1 {status} X\r\n{lines}\r\n".encode() + body


def said(facts: Mapping[str, Any], status: int = 200) -> bytes:
    """A response that says these facts."""
    return answer(status, json.dumps(facts).encode())


def problem(status: int, error: str, message: str = "no.", *, charged: bool = False, **headers: str) -> bytes:
    """A refusal as our servers say it."""
    document = {"error": error, "message": message, "fields": {}, "charged": charged}
    return answer(status, json.dumps(document).encode(), "application/problem+json", **headers)


# --- who asks it ----------------------------------------------------------------------------------------------------


@dataclass
class Watch:
    """A clock that stands still but for the pauses that are made."""

    now: float = 0.0
    pauses: list[float] = field(default_factory=list)

    def clock(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self.now += seconds


class Askers:
    """Whoever asks the servers of one test, with clocks of the test's own; all let go of their wires at its end."""

    def __init__(self) -> None:
        self.opened = ExitStack()

    def exchange(self, url: str, *, timeout: float = 5) -> Exchange:
        found = Exchange(check_address(url), TOKEN, timeout=timeout)
        self.opened.callback(found.close)
        return found

    def desk(
        self,
        url: str,
        watch: Watch | None = None,
        *,
        patience: float = 60,
        wait: float = 600,
        progress: Progress | None = None,
        notes: Notes | None = None,
    ) -> ServerDesk:
        """What a session has under it."""
        watch = watch or Watch()
        server = PatientServer(self.exchange(url), patience=patience, notes=notes, clock=watch.clock, sleep=watch.sleep)
        return ServerDesk(server, wait=wait, progress=progress, notes=notes)
