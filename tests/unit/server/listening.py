"""A server in a thread of the test's own, and raw HTTP spoken to it."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from threading import Event, Thread
from typing import Any

from starlette.types import ASGIApp, Receive, Scope, Send

from discreet.server import GuardedProtocol, TlsFiles, WebServer

__all__ = ["Answer", "Mirror", "fetch", "listen", "post", "read_all", "read_answer", "speak", "until"]


@contextmanager
def listen(
    app: ASGIApp, protocol: type[GuardedProtocol] = GuardedProtocol, *, tls: TlsFiles | None = None
) -> Iterator[int]:
    """The port on which an application is served behind the protocol."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        begun = Event()
        server = WebServer(app, protocol=protocol, announce=begun.set, tls=tls, starts=False)
        server.config.timeout_graceful_shutdown = 1
        thread = Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        assert begun.wait(30)
        try:
            yield listener.getsockname()[1]
        finally:
            server.should_exit = True
            thread.join(30)
            assert not thread.is_alive()


class Mirror:
    """An application that answers with what reached it, and keeps count."""

    def __init__(self) -> None:
        self.reached: list[dict[str, Any]] = []

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        body = (await receive())["body"]
        seen = {name: scope[name] for name in ("method", "path", "scheme")}
        seen |= {"query": scope["query_string"].decode(), "client": (scope["client"] or [None])[0]}
        seen |= {"headers": [[name.decode(), value.decode("latin-1")] for name, value in scope["headers"]]}
        seen |= {"length": len(body), **{name: scope["state"][name] for name in ("json",) if name in scope["state"]}}
        self.reached.append(seen)
        said = json.dumps(seen).encode()
        headers = [(b"content-type", b"application/json"), (b"content-length", str(len(said)).encode())]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": said})


@dataclass(frozen=True)
class Answer:
    """What came back, read as strictly as it was sent."""

    status: int
    headers: dict[str, list[str]]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


def fetch(port: int, method: str, target: str = "/", *lines: str, body: bytes = b"", host: str = "office") -> Answer:
    """One request with these lines of its head; a length is added where there is a body."""
    head = [f"{method} {target} HTTP/1.1", f"Host: {host}", "Connection: close", *lines]
    if body:
        head.append(f"Content-Length: {len(body)}")
    return read_answer(speak(port, "\r\n".join([*head, "", ""]).encode("latin-1") + body))


def read_answer(said: bytes) -> Answer:
    """One whole answer; status 0 where nothing came."""
    if not said:
        return Answer(0, {}, b"")
    head, _, body = said.partition(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    headers: dict[str, list[str]] = {}
    for line in lines:
        name, _, value = line.partition(": ")
        headers.setdefault(name.lower(), []).append(value)
    return Answer(int(first.split(" ")[1]), headers, body)


def speak(port: int, said: bytes, *, seconds: float = 10) -> bytes:
    """All that comes back until the other side ends the connection or nothing comes for a while."""
    with socket.create_connection(("127.0.0.1", port), timeout=seconds) as connection:
        with suppress(ConnectionError):  # what was answered before the end is still there
            connection.sendall(said)
        return read_all(connection)


def read_all(connection: socket.socket) -> bytes:
    found = b""
    with suppress(TimeoutError, ConnectionError):
        while part := connection.recv(65_536):
            found += part
    return found


def post(port: int, path: str, body: bytes, **headers: str) -> tuple[int, bytes]:
    """Status and body."""
    named = {"Host": "office", "Content_Length": str(len(body)), "Connection": "close", **headers}
    lines = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in named.items())
    answer = read_answer(speak(port, f"POST {path} HTTP/1.1\r\n{lines}\r\n".encode() + body))
    return answer.status, answer.body


def until(seconds: float) -> Iterator[None]:
    """Turns of a loop that ends by itself, far beyond what is waited for."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        yield
        time.sleep(0.01)
