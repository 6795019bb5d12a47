"""Connections that send a byte now and then, as many at a time as are wanted, and what others notice of them."""

from __future__ import annotations

import selectors
import socket
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final, Self

from benchmarks.served_house import ANALYSTS, ServedHouse, Serving
from benchmarks.swarm import COST, count_of

__all__ = ["SlowSockets", "Slowness", "measure_slowness"]

_HEAD: Final = b"POST /v1/queries HTTP/1.1\r\nhost: 127.0.0.1\r\nx-slow: " + b"a" * 4_000
_EVERY: Final = 0.25
_AMONG: Final = 0.2


@dataclass
class SlowSockets:
    """So many connections, each opened anew when the server ends it, until the block is over."""

    port: int
    many: int
    ended: int = 0
    most_open: int = 0
    _open: dict[socket.socket, int] = field(default_factory=dict)
    _over: threading.Event = field(default_factory=threading.Event)
    _thread: threading.Thread | None = None

    def __enter__(self) -> Self:
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        until = time.monotonic() + 30
        while self.most_open < self.many and time.monotonic() < until:
            time.sleep(0.02)
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        assert self._thread is not None
        self._thread.join()
        for one in list(self._open):
            self._close(one)

    def _run(self) -> None:
        while not self._over.is_set():
            begun = time.monotonic()
            self._fill()
            for one in list(self._open):
                self._trickle(one)
            self.most_open = max(self.most_open, len(self._open))
            self._hear(begun + _EVERY)

    def _fill(self) -> None:
        for _ in range(self.many - len(self._open)):
            with suppress(OSError):
                one = socket.create_connection(("127.0.0.1", self.port), timeout=1)
                one.setblocking(False)
                self._open[one] = 0

    def _trickle(self, one: socket.socket) -> None:
        sent = self._open[one]
        try:
            one.send(_HEAD[sent : sent + 1])
            self._open[one] = sent + 1
        except BlockingIOError:
            pass
        except OSError:
            self._close(one, ended=1)

    def _hear(self, until: float) -> None:
        """Notice which ones the server has ended."""
        with selectors.DefaultSelector() as selector:
            for one in self._open:
                selector.register(one, selectors.EVENT_READ)
            while (left := until - time.monotonic()) > 0:
                for found, _ in selector.select(left):
                    selector.unregister(found.fileobj)
                    assert isinstance(found.fileobj, socket.socket)
                    self._close(found.fileobj, ended=1)

    def _close(self, one: socket.socket, *, ended: int = 0) -> None:
        self.ended += ended
        self._open.pop(one, None)
        one.close()


@dataclass(frozen=True, slots=True)
class Slowness:
    """How many were open at most and how many the server ended; the questions meanwhile, and the longest of them."""

    most_open: int
    ended: int
    questions: int
    slowest: float


def measure_slowness(serving: Serving, house: ServedHouse, dataset: str, *, many: int, seconds: float) -> Slowness:
    """Questions, each over a connection of its own, among so many slow ones."""
    waited: list[float] = []
    with SlowSockets(serving.port, many) as slow:
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            begun = time.perf_counter()
            with serving.asker(house.tokens[ANALYSTS[0]]) as asker:
                reply = asker.query(count_of(dataset), epsilon=str(COST), key=f"slow-{len(waited)}")
            if reply.status != 200:
                raise RuntimeError(f"{reply.status} {reply.error} among slow sockets")
            waited.append(time.perf_counter() - begun)
            time.sleep(_AMONG)
    return Slowness(slow.most_open, slow.ended, len(waited), max(waited))
