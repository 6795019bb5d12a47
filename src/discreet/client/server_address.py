"""Where a server is: looked at once, so that a token goes to no other place, and over no wire that others read."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import SplitResult, quote, urlencode, urlsplit

from discreet.catalogue import say
from discreet.errors import ParameterInvalid, UsageError

__all__ = ["ServerAddress", "check_address"]

_PORTS: Final = {"https": 443, "http": 80}
_HOST: Final = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]{0,252})", re.ASCII)
_PREFIX: Final = re.compile(r"(/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)*", re.ASCII)
_PIECE: Final = re.compile(r"[^/\\\x00-\x1f\x7f]{1,200}")


@dataclass(frozen=True, slots=True)
class ServerAddress:
    """A server, and the path under which it is there; `shown` is what people know it by."""

    scheme: str
    host: str
    port: int
    prefix: str = ""

    @property
    def shown(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        port = "" if self.port == _PORTS[self.scheme] else f":{self.port}"
        return f"{self.scheme}://{host}{port}{self.prefix}"

    def url(self, pieces: tuple[str, ...], query: Mapping[str, str]) -> str:
        """Of one thing there. A name that would lead elsewhere is refused."""
        for piece in pieces:
            if not _PIECE.fullmatch(piece) or piece in (".", ".."):
                raise ParameterInvalid(parameter="name", rule=say("must be a name without slashes"), given=ascii(piece))
        path = "/".join(quote(piece, safe="") for piece in ("v1", *pieces))
        return f"{self.shown}/{path}{f'?{urlencode(query)}' if query else ''}"

    def __str__(self) -> str:
        return self.shown


def check_address(url: str, *, insecure: bool = False) -> ServerAddress:
    """The address that somebody gave, or why it is none. Plain http is for this machine itself, unless `insecure`."""
    found = _split(url)
    host = (found.hostname or "").rstrip(".") if found else ""
    if found is None or not _is_host(host) or not _PREFIX.fullmatch(found.path.rstrip("/")):
        # What was given is not repeated: a password or a token may stand in it.
        raise ParameterInvalid(
            parameter="url", rule=say("must be an address such as https://office.example"), given=say("something else")
        )
    address = ServerAddress(found.scheme, host, found.port or _PORTS[found.scheme], found.path.rstrip("/"))
    if address.scheme == "http" and not (insecure or _is_here(host)):
        raise UsageError(
            say(
                "a token is not sent over plain http to '{host}', where others can read it. Write https://. In Python, "
                "insecure=True sends it all the same.",
                host=host,
            ),
            host=host,
        )
    return address


def _split(url: str) -> SplitResult | None:
    """An http or https address with nothing in it but host, port and path."""
    try:
        found = urlsplit(url)
        odd = found.username or found.password or found.query or found.fragment or "?" in url or "#" in url
        plain = url.isascii() and url.isprintable() and " " not in url
        if found.scheme not in _PORTS or odd or found.port == 0 or not plain:
            return None
    except ValueError:
        return None
    return found


def _is_host(host: str) -> bool:
    return _address_of(host) is not None or _HOST.fullmatch(host) is not None


def _is_here(host: str) -> bool:
    found = _address_of(host)
    return host == "localhost" if found is None else found.is_loopback


def _address_of(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        found = ipaddress.ip_address(host)
    except ValueError:
        return None
    return None if "%" in host else found
