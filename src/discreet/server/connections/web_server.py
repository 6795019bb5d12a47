"""One process that serves an application: it listens once the application is ready, and ends on a signal.

With TLS a handshake has the same deadline as a request; who speaks anything else is gone at once.
"""

from __future__ import annotations

import asyncio
import math
import signal
import socket
import ssl
import threading
from asyncio import sslproto
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from types import FrameType
from typing import TYPE_CHECKING, Any, Final

import uvicorn
from uvicorn.server import HANDLED_SIGNALS

from discreet.catalogue import say
from discreet.errors import PathInvalid
from discreet.paths import AnyPath, as_path
from discreet.server.connections.listener import CountedListener
from discreet.server.connections.protocol import GuardedProtocol

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

__all__ = ["TlsFiles", "WebServer"]

_GRACE: Final = 10
_AT_ONCE: Final = 16
_WAITING: Final = 1_024
_FILES: Final = 16_384
_TLS_BUFFER: Final = 32_768


@dataclass(frozen=True, slots=True)
class TlsFiles:
    """A certificate, with those that vouch for it, and its key, as PEM."""

    certificate: AnyPath
    key: AnyPath

    def open(self) -> ssl.SSLContext:
        """What connections are made with: TLS 1.2 or newer, HTTP/1.1. PathInvalid where the files do not serve."""
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        context.options |= ssl.OP_NO_RENEGOTIATION
        context.set_alpn_protocols(["http/1.1"])
        certificate, key = as_path(self.certificate, "tls-cert"), as_path(self.key, "tls-key")
        try:
            context.load_cert_chain(certificate, key, password=lambda: b"")  # nobody is there to be asked
        except (OSError, ValueError):
            raise PathInvalid(
                say(
                    "'{certificate}' and '{key}' cannot be used for TLS: they must be a certificate and its key, "
                    "as PEM, readable and without a password.",
                    certificate=certificate,
                    key=key,
                )
            ) from None
        return context


class WebServer(uvicorn.Server):
    """Serves an application until SIGTERM or SIGINT; `announce` is called once it listens.

    `run` raises what the application raised when it could not start. Without `starts`, it has nothing to start.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        protocol: type[GuardedProtocol],
        announce: Callable[[], None],
        tls: TlsFiles | None = None,
        starts: bool = True,
    ) -> None:
        self._served = _ServedApp(app)
        self._protocol = protocol
        self._announce = announce
        self._context = None if tls is None else tls.open()
        super().__init__(
            uvicorn.Config(
                self._served,
                http=protocol,
                loop="asyncio",
                ws="none",
                lifespan="on" if starts else "off",
                workers=1,
                log_config=None,
                log_level="critical",
                access_log=False,
                proxy_headers=False,
                server_header=False,
                date_header=False,
                timeout_keep_alive=math.ceil(protocol.seconds),
                timeout_graceful_shutdown=_GRACE,
            )
        )

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await self.lifespan.startup()
        if self.lifespan.should_exit:
            raise self._served.failure or RuntimeError("no word of why")
        make = partial(
            self._protocol,
            config=self.config,
            server_state=self.server_state,
            app_state=self.lifespan.state,
        )
        loop = asyncio.get_running_loop()
        self.servers = []
        for listener in sockets or ():
            counted = CountedListener(
                listener,
                self._protocol.most_connections,
                from_one=self._protocol.most_from_one,
                spares=self._served.trusts,
            )
            # Few are accepted at a time, so that processes share them; many may wait.
            made = await loop.create_server(make, sock=counted, backlog=_AT_ONCE, **self._tls())
            listener.listen(_WAITING)
            self.servers.append(made)
        self.started = True
        self._announce()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """As every server's, but a signal that is ignored stays so."""
        ignored = [number for number in HANDLED_SIGNALS if signal.getsignal(number) is signal.SIG_IGN]
        with super().capture_signals():
            if threading.current_thread() is threading.main_thread():
                for number in ignored:
                    signal.signal(number, signal.SIG_IGN)
            yield

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self.should_exit = True

    def _tls(self) -> dict[str, Any]:
        if self._context is None:
            return {}
        sslproto.SSLProtocol.max_size = _TLS_BUFFER  # of each connection, also where nothing is ever said; was 256 kB
        named = dict.fromkeys(("ssl_handshake_timeout", "ssl_shutdown_timeout"), self._protocol.seconds)
        return {"ssl": self._context, **named}


class _ServedApp:
    """An application whose failure to start is kept, and whose words for refusals are known to the protocol."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self.refuse = getattr(app, "refuse", None)
        self.trusts: Callable[[str], bool] = getattr(app, "trusts", lambda address: False)
        self.failure: BaseException | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await self._app(scope, receive, send)
        except BaseException as failure:
            if scope["type"] == "lifespan":
                self.failure = failure
            raise


def allow_files() -> None:
    """Let this process have as many open files as connections may need, where the system lets it."""
    import resource

    least, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    if least < _FILES:
        with suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (_FILES if most < 0 else min(_FILES, most), most))
