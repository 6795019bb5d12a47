"""Several processes on one socket: as many as were asked for live until all are ended.

One that dies is replaced, also while it starts. Where one of the first cannot start, or many after them cannot, one
after the other, all end. When this process ends, however it does, they end too.
"""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from selectors import EVENT_READ, DefaultSelector
from types import FrameType
from typing import Final

from discreet.catalogue import Phrase, say
from discreet.errors import ExtraMissing, ParameterInvalid, Refused
from discreet.server.server_log import tell_log

try:
    from discreet.server.connections.web_server import TlsFiles
    from discreet.server.serving_process import FAILED, READY, ServingOrder, serve_here
except ModuleNotFoundError:
    raise ExtraMissing(needed_for=Phrase("Serving an office"), extra="server") from None

__all__ = ["serve_processes"]

_LOOKS: Final = 0.5
_PATIENCE: Final = 15.0
_MOST: Final = 64
_MOST_STILLBORN: Final = 10
_ENDING: Final = (signal.SIGTERM, signal.SIGINT)


def serve_processes(
    listener: socket.socket,
    *,
    workers: int,
    make: str,
    settings: Mapping[str, str],
    tls: TlsFiles | None = None,
    announce: Callable[[], None],
) -> None:
    """Serve until SIGTERM or SIGINT, in so many processes; one alone is this one. Called from the main thread.

    `make` is "module:function": called with the settings in each process, it gives the application. `announce` is
    called when all of them listen, and they do when the startup of their application is through. Refused, in one
    sentence, when one cannot start.
    """
    if not 1 <= workers <= _MOST:
        raise ParameterInvalid(
            parameter="workers", rule=say("must be a whole number from 1 to {most}", most=_MOST), given=str(workers)
        )
    if tls is not None:
        tls.open()  # said here once, and not by each
    order = ServingOrder.of(make, settings, tls)
    if workers == 1:
        serve_here(order, listener, announce)
    else:
        with _signals() as (asked, bell):
            _Crew(order, listener, workers).serve(asked, bell, announce)


@dataclass(eq=False, slots=True)
class _Worker:
    """A process and the socket that it shares with this one."""

    process: subprocess.Popen[bytes]
    channel: socket.socket
    heard: bytes = b""
    ready: bool = False
    failure: str | None = None

    @classmethod
    def start(cls, order: ServingOrder, listener: socket.socket) -> _Worker:
        ours, theirs = socket.socketpair()
        with theirs:
            numbers = (theirs.fileno(), listener.fileno())
            # -P: what happens to lie in the current folder is not imported.
            command = [sys.executable, "-P", "-m", "discreet.server.serving_process", *map(str, numbers)]
            process = subprocess.Popen(command, pass_fds=numbers, stdin=subprocess.DEVNULL)  # noqa: S603
        with suppress(OSError):  # a process that is gone already is met when it is looked at
            ours.sendall(order.write())
        ours.setblocking(False)
        return cls(process, ours)

    def listen(self) -> None:
        """Take what the process says: that it is ready, or why it cannot start."""
        with suppress(BlockingIOError, ConnectionError):
            self.heard += self.channel.recv(65_536)
        for line in self.heard.splitlines(keepends=True):
            if line.endswith(b"\n"):
                word, told = json.loads(line)
                self.failure = told if word == FAILED else self.failure
                self.ready = self.ready or word == READY
        self.heard = self.heard.rpartition(b"\n")[2]

    @property
    def alive(self) -> bool:
        return self.process.poll() is None

    def close(self) -> None:
        self.process.wait()
        self.channel.close()


@dataclass(slots=True)
class _Asked:
    """How often somebody asked for the end."""

    times: int = 0


@dataclass(slots=True)
class _Crew:
    """The workers of one server."""

    order: ServingOrder
    listener: socket.socket
    size: int
    workers: list[_Worker] = field(default_factory=list)
    announced: bool = False
    stillborn: int = 0
    """Since one was ready: how many have ended before they were."""

    def serve(self, asked: _Asked, bell: socket.socket, announce: Callable[[], None]) -> None:
        try:
            for _ in range(self.size):
                self.workers.append(_Worker.start(self.order, self.listener))
            while not asked.times:
                self._wait(bell)
                for worker in list(self.workers):
                    if not asked.times:  # what ends now was told to
                        self._look(worker)
                if not self.announced and all(worker.ready for worker in self.workers):
                    self.announced = True
                    announce()
        finally:
            self._end(asked)

    def _wait(self, bell: socket.socket) -> None:
        """Until somebody says something or dies, or for a moment."""
        with DefaultSelector() as selector:
            for heard in (bell, *(worker.channel for worker in self.workers)):
                selector.register(heard, EVENT_READ)
            for key, _ in selector.select(_LOOKS):
                if key.fileobj is bell:
                    bell.recv(4_096)

    def _look(self, worker: _Worker) -> None:
        alive, was_ready = worker.alive, worker.ready  # before it is heard, so that nothing is said between
        worker.listen()
        if worker.ready and not was_ready:
            self.stillborn = 0
        if alive and worker.failure is None:
            return
        if not worker.ready:
            self.stillborn += 1
            if not self.announced or self.stillborn > _MOST_STILLBORN:
                told = say("a worker of the server ended before it was ready. Nothing is served.")
                raise Refused(worker.failure or told)
        tell_log(say("Worker {number} has ended; another takes its place.", number=str(worker.process.pid)))
        worker.close()
        self.workers[self.workers.index(worker)] = _Worker.start(self.order, self.listener)

    def _end(self, asked: _Asked) -> None:
        """End all: with grace, and without it after a while or when somebody asks again."""
        asked.times = min(asked.times, 1)
        for worker in self.workers:
            worker.process.terminate()
        late = time.monotonic() + _PATIENCE
        while any(worker.alive for worker in self.workers) and time.monotonic() < late and asked.times < 2:
            time.sleep(0.02)
        for worker in self.workers:
            if worker.alive:
                worker.process.kill()
            worker.close()


@contextmanager
def _signals() -> Iterator[tuple[_Asked, socket.socket]]:
    """While signals that end a process are counted, and ring a bell."""
    asked = _Asked()

    def count(number: int, frame: FrameType | None) -> None:
        asked.times += 1

    bell, clapper = socket.socketpair()
    bell.setblocking(False)
    clapper.setblocking(False)
    with bell, clapper:
        before = {number: signal.signal(number, count) for number in _ENDING}
        rung = signal.set_wakeup_fd(clapper.fileno(), warn_on_full_buffer=False)
        try:
            yield asked, bell
        finally:
            signal.set_wakeup_fd(rung)
            for number, handler in before.items():
                signal.signal(number, handler)
