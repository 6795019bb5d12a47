"""Where a server listens: on this machine alone, unless somebody has seen to who else may hear what is said.

Connections are counted from where they are taken: what has not said a word yet, or is still at its TLS handshake, holds
memory too.
"""

from __future__ import annotations

import errno
import ipaddress
import os
import socket
from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any, Final

from discreet.catalogue import say
from discreet.errors import ParameterInvalid, UsageError
from discreet.paths import tell_reason
from discreet.people import network_of

__all__ = ["CountedListener", "open_listener"]

_LAST_PORT: Final = 65_535


def open_listener(host: str, port: int, *, beyond: bool, has_tls: bool = True) -> socket.socket:
    """A socket that listens; with `beyond`, for TLS or a proxy, also on addresses that other machines can reach.

    `has_tls` says whether the server could speak TLS itself, so that what is advised can be done.
    """
    try:
        address = ipaddress.ip_address("127.0.0.1" if host == "localhost" else host)
    except ValueError:
        raise ParameterInvalid(parameter="host", rule=say("must be an IP address"), given=ascii(host[:60])) from None
    if not address.is_loopback and not beyond:
        raise UsageError(_advise(host, has_tls=has_tls))
    if not 0 <= port <= _LAST_PORT:
        rule = say("must be a whole number from {least} to {most}", least=0, most=_LAST_PORT)
        raise ParameterInvalid(parameter="port", rule=rule, given=str(port))
    family = socket.AF_INET6 if address.version == 6 else socket.AF_INET
    try:
        return socket.create_server((str(address), port), family=family, backlog=128)
    except OSError as error:
        if error.errno not in (errno.EADDRINUSE, errno.EACCES):
            rule = say("must be an address of this machine ({strerror})", strerror=tell_reason(error))
            raise ParameterInvalid(parameter="host", rule=rule, given=ascii(host[:60])) from None
        raise ParameterInvalid(
            parameter="port",
            rule=say("must be free to listen on ({strerror})", strerror=tell_reason(error)),
            given=str(port),
        ) from None


class CountedListener(socket.socket):
    """Another handle on a socket that listens, by which at most so many connections are open at a time.

    Of one network at most `from_one`, but for this machine and for whom it `spares`.
    """

    def __init__(
        self,
        listener: socket.socket,
        most: int,
        *,
        from_one: int | None = None,
        spares: Callable[[str], bool] = lambda address: False,
    ) -> None:
        super().__init__(fileno=os.dup(listener.fileno()))
        self._most = most
        self._from_one = from_one
        self._spares = spares
        self._open: Counter[str] = Counter()

    def accept(self) -> tuple[socket.socket, Any]:
        """The next connection. ConnectionAbortedError, after it was ended, where there are as many as may be."""
        taken, address = super().accept()
        network = self._find_network(address[0])
        if self._open.total() >= self._most or (network and self._open[network] >= (self._from_one or self._most)):
            taken.close()
            raise ConnectionAbortedError
        self._open[network] += 1
        return _Connection(taken, partial(self._leave, network)), address

    def _find_network(self, address: str) -> str:
        """The network that a connection counts for; nothing for those that are spared."""
        host = address.partition("%")[0]
        spared = self._from_one is None or ipaddress.ip_address(host).is_loopback or self._spares(host)
        return "" if spared else network_of(host)

    def _leave(self, network: str) -> None:
        self._open[network] -= 1
        if not self._open[network]:
            del self._open[network]


class _Connection(socket.socket):
    """Says when it is closed."""

    def __init__(self, taken: socket.socket, leave: Callable[[], None]) -> None:
        super().__init__(fileno=taken.detach())
        self._leave: Callable[[], None] | None = leave

    def close(self) -> None:
        super().close()
        leave, self._leave = self._leave, None
        if leave is not None:
            leave()


def _advise(host: str, *, has_tls: bool) -> str:
    if has_tls:
        return say(
            "'{host}' can be reached from other machines. Give a certificate and its key (--tls-cert, --tls-key), "
            "or put a proxy before it and name its network with --behind-proxy, or listen on 127.0.0.1.",
            host=host,
        )
    return say(
        "'{host}' can be reached from other machines. TLS and who may connect are a proxy's: put one "
        "before it and say so with --behind-proxy, or listen on 127.0.0.1.",
        host=host,
    )
