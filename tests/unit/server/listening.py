"""A server in a thread of the test's own, and raw HTTP spoken to it."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Thread

import uvicorn
from starlette.types import ASGIApp

from discreet.server import GuardedProtocol

__all__ = ["listen", "post", "read_all", "speak"]


@contextmanager
def listen(app: ASGIApp, protocol: type[GuardedProtocol] = GuardedProtocol) -> Iterator[int]:
    """The port on which an application is served behind the protocol."""
    listener = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(
        app,
        http=protocol,
        loop="asyncio",
        ws="none",
        lifespan="off",
        log_config=None,
        log_level="critical",
        access_log=False,
        timeout_graceful_shutdown=1,
    )
    server = uvicorn.Server(config)
    thread = Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    try:
        yield listener.getsockname()[1]
    finally:
        server.should_exit = True
        thread.join(10)


def speak(port: int, said: bytes, *, seconds: float = 10) -> bytes:
    """All that comes back until the other side ends the connection or nothing comes for a while."""
    with socket.create_connection(("127.0.0.1", port), timeout=seconds) as connection:
        connection.sendall(said)
        return read_all(connection)


def read_all(connection: socket.socket) -> bytes:
    found = b""
    try:
        while part := connection.recv(65_536):
            found += part
    except (TimeoutError, ConnectionError):
        pass
    return found


def post(port: int, path: str, body: bytes, **headers: str) -> tuple[int, bytes]:
    """Status and body."""
    named = {"Host": "office", "Content_Length": str(len(body)), "Connection": "close", **headers}
    lines = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in named.items())
    answer = speak(port, f"POST {path} HTTP/1.1\r\n{lines}\r\n".encode() + body)
    head, _, said = answer.partition(b"\r\n\r\n")
    return int(head.split(b" ", 2)[1]), said
