"""A wire between a client and the real server that breaks where a test says, and remembers what went over it."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from typing import Any

from tests.unit.client.hostile import Hostile, Step, answer, hostile
from tests.unit.client.offices import Office

__all__ = ["ARRIVES", "HALF", "LOST_ANSWER", "LOST_QUESTION", "bodies_of", "keys_of", "paths_of", "weak_wire"]

ARRIVES = "the question arrives, and so does its answer"
LOST_QUESTION = "the wire breaks before the question arrives"
LOST_ANSWER = "the question arrives, and the wire breaks before its answer does"
HALF = "the question arrives, and half of its answer does"


@contextmanager
def weak_wire(office: Office, *steps: str | bytes) -> Iterator[Hostile]:
    """What comes of the first request, the second, and so on: one of the above, or these bytes for an answer."""
    server: list[Hostile] = []

    def forward(wire: socket.socket, share: float) -> None:
        whole = _forward(office, server[0].heard[-1])
        wire.sendall(whole[: int(share * len(whole))])

    known: dict[str, Step] = {
        ARRIVES: lambda wire: forward(wire, 1),
        LOST_QUESTION: lambda wire: None,
        LOST_ANSWER: lambda wire: forward(wire, 0),
        HALF: lambda wire: forward(wire, 0.5),
    }
    with hostile(*(known[step] if isinstance(step, str) else step for step in steps)) as found:
        server.append(found)
        yield found


def _forward(office: Office, request: bytes) -> bytes:
    """What the office answers to it."""
    head, _, body = request.partition(b"\r\n\r\n")
    line, *lines = head.decode("latin-1").split("\r\n")
    method, path, _ = line.split(" ")
    headers = dict(one.split(": ", 1) for one in lines)
    connection = HTTPConnection("127.0.0.1", office.ask.port, timeout=30)
    try:
        connection.request(method, path, body or None, headers)
        response = connection.getresponse()
        content = response.read()
        more = {"Retry_After": response.getheader("retry-after") or "", "Connection": "close"}
        return answer(response.status, content, response.getheader("content-type") or "", **more)
    finally:
        connection.close()


def keys_of(heard: list[bytes]) -> list[str]:
    """The id of every request that has one."""
    lines = [line for request in heard for line in request.partition(b"\r\n\r\n")[0].decode("latin-1").split("\r\n")]
    return [line.partition(": ")[2] for line in lines if line.lower().startswith("idempotency-key:")]


def bodies_of(heard: list[bytes]) -> list[Any]:
    return [json.loads(request.partition(b"\r\n\r\n")[2]) for request in heard if request.startswith(b"POST")]


def paths_of(heard: list[bytes]) -> list[str]:
    return [request.split(b" ")[0].decode() + " " + request.split(b" ")[1].decode() for request in heard]
