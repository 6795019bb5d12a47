"""A process that serves: this one, or one of several that `processes` starts and that end when their parent does.

What is to be served comes over a socket of which the parent holds the other end: nothing of it stands in a list of
processes, and its end is the parent's.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
import threading
import time
import traceback
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import astuple, dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Final

from discreet.catalogue import language, say, speak
from discreet.errors import DiscreetError, Refused
from discreet.server.connections.protocol import OfficeProtocol
from discreet.server.connections.web_server import TlsFiles, WebServer, allow_files
from discreet.server.server_log import quieten_logs, tell_log

if TYPE_CHECKING:
    from starlette.types import ASGIApp

__all__ = ["FAILED", "READY", "ServingOrder", "serve_here"]

READY: Final = "ready"
FAILED: Final = "failed"
_PATIENCE: Final = 15.0


@dataclass(frozen=True, slots=True)
class ServingOrder:
    """What a process serves: `make` is "module:function", which makes the application from the settings."""

    make: str
    settings: Mapping[str, str]
    certificate: str | None
    key: str | None
    language: str

    @classmethod
    def read(cls, data: bytes) -> ServingOrder:
        make, settings, certificate, key, spoken = json.loads(data)
        return cls(make, settings, certificate, key, spoken)

    @classmethod
    def of(cls, make: str, settings: Mapping[str, str], tls: TlsFiles | None) -> ServingOrder:
        certificate, key = (None, None) if tls is None else (os.fspath(tls.certificate), os.fspath(tls.key))
        return cls(make, dict(settings), certificate, key, language())

    @property
    def tls(self) -> TlsFiles | None:
        return None if self.certificate is None or self.key is None else TlsFiles(self.certificate, self.key)

    def write(self) -> bytes:
        return json.dumps(astuple(self)).encode() + b"\n"


def serve_here(order: ServingOrder, listener: socket.socket, announce: Callable[[], None]) -> None:
    """Serve in this process until SIGTERM or SIGINT. Refused, in one sentence, where it cannot start."""
    speak(order.language)
    quieten_logs()
    allow_files()
    begun = threading.Event()

    def begin() -> None:
        begun.set()
        announce()

    try:
        server = WebServer(_make(order), protocol=OfficeProtocol, announce=begin, tls=order.tls)
        server.run(sockets=[listener])
    except Exception as error:
        if begun.is_set():
            raise
        raise Refused(_tell_failure(error)) from None


def _make(order: ServingOrder) -> ASGIApp:
    module, _, function = order.make.partition(":")
    make: Callable[[Mapping[str, str]], ASGIApp] = getattr(import_module(module), function)
    return make(order.settings)


def _tell_failure(error: Exception) -> str:
    if isinstance(error, DiscreetError):
        return error.message
    if os.environ.get("DISCREET_DEBUG") == "1":
        traceback.print_exception(error)
    return say("the server could not start: {error}", error=type(error).__name__)


def main(channel_number: int, listener_number: int) -> int:
    """A worker's life: take the order, say when it is ready, serve until the parent says so or is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # from a terminal it comes to all; the parent says when to end
    channel, listener = (_take(number) for number in (channel_number, listener_number))
    line = _read_line(channel)
    if not line:
        return 1
    order = ServingOrder.read(line)
    threading.Thread(target=_end_with_parent, args=(channel,), daemon=True).start()
    try:
        serve_here(order, listener, lambda: _report(channel, READY))
    except DiscreetError as error:
        _report(channel, FAILED, error.message)
        return 1
    except Exception as error:
        tell_log(say("A worker failed: {error}", error=type(error).__name__))
        return 1
    return 0


def _take(number: int) -> socket.socket:
    taken = socket.socket(fileno=number)
    taken.set_inheritable(False)  # what this process starts has no part in it
    return taken


def _read_line(channel: socket.socket) -> bytes:
    """Not by a stream: its lock, which the thread that listens on would hold, would keep this process from its end."""
    line = b""
    while not line.endswith(b"\n"):
        part = channel.recv(65_536)
        if not part:
            return b""
        line += part
    return line


def _report(channel: socket.socket, word: str, told: str = "") -> None:
    try:
        channel.sendall(json.dumps([word, told]).encode() + b"\n")
    except OSError:
        os._exit(1)  # the parent is gone


def _end_with_parent(channel: socket.socket) -> None:
    with suppress(OSError):
        channel.recv(1)  # nothing more is said: this ends when the parent does
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(_PATIENCE)
    os._exit(1)


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
