"""Who asks, and under which address: what the connection says, or what a trusted proxy says of one it took.

A header that says so is believed from the networks that were named for it, and never reaches a handler. Neither do
headers in which proxies name the person who asks: nobody is signed in by one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, MutableMapping
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Any, Final

from discreet.catalogue import say
from discreet.errors import ParameterInvalid
from discreet.server.connections.refusals import Headers, RequestRefused

__all__ = ["HOST", "TrustedProxies", "read_proxies", "values_of"]

HOST: Final = re.compile(r"(?:[A-Za-z0-9_-][A-Za-z0-9_.-]{0,252}|\[[0-9A-Fa-f:.]{2,45}\])(?::[0-9]{1,5})?")

# Where a request came from, what it was before a proxy had it, and who is said to have sent it.
_HEARSAY: Final = frozenset(
    {
        *("forwarded", "forwarded-for", "x-real-ip", "x-client-ip", "x-cluster-client-ip", "true-client-ip"),
        *("cf-connecting-ip", "fastly-client-ip", "x-http-method", "x-http-method-override", "x-method-override"),
        *("remote-user", "user", "user-name", "username", "user-id", "userid", "x-user", "x-username", "x-userid"),
        *("x-email", "x-group", "x-groups", "x-role", "x-roles"),
    }
)
_HEARSAY_BEGINS: Final = (
    *("x-forwarded-", "x-original-", "x-rewrite-"),
    *("remote-", "x-remote-", "x-user-", "x-auth-", "x-authenticated-", "x-webauth-", "x-sso-", "x-token-"),
    *("client-cert", "x-client-cert", "ssl-client-", "x-ssl-", "x-goog-", "x-ms-client-", "x-amzn-oidc-"),
)
_PAIR: Final = re.compile(r'([!#$%&\'*+.^_`|~0-9A-Za-z-]+)=(?:([!#$%&\'*+.^_`|~0-9A-Za-z-]+)|"((?:[^"\\]|\\.)*)")')
_BARE: Final = re.compile(r"(\d{1,3}(?:\.\d{1,3}){3})(?::\d{1,5})?")
_BRACKETED: Final = re.compile(r"\[([0-9A-Fa-f:.]{2,45})\](?::\d{1,5})?")

Address = IPv4Address | IPv6Address


@dataclass(frozen=True, slots=True)
class _Account:
    """What a proxy says of a connection that it took; None where it says nothing."""

    client: Address | None = None
    scheme: str | None = None
    host: str | None = None


@dataclass(frozen=True, slots=True)
class TrustedProxies:
    """The networks whose word is taken for whom they speak for. Made by `read_proxies`; none unless named."""

    networks: tuple[IPv4Network | IPv6Network, ...] = ()

    def settle(self, scope: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
        """The same request with `client`, `scheme` and the header `host` as they are true, and without such headers.

        RequestRefused where a trusted proxy says what cannot be read, or says two things.
        """
        headers: Headers = scope["headers"]
        believed = bool(scope.get("client")) and self.trusts(scope["client"][0])
        account = self._believe(headers) if believed else _Account()
        kept = [(name, value) for name, value in headers if not _is_hearsay(name)]
        if account.host is not None:
            kept = [pair for pair in kept if pair[0] != b"host"] + [(b"host", account.host.encode("ascii"))]
        client = (str(account.client), 0) if account.client else scope.get("client")
        return {**scope, "client": client, "scheme": account.scheme or scope["scheme"], "headers": kept}

    def trusts(self, address: str) -> bool:
        """Whether a connection from there is believed."""
        return self._trusts(_read_address(address.partition("%")[0]))

    def _trusts(self, address: Address | None) -> bool:
        return address is not None and any(address in network for network in self.networks)

    def _believe(self, headers: Headers) -> _Account:
        said = [account for account in (self._read_forwarded(headers), self._read_for(headers)) if account is not None]
        if len(said) == 2 and said[0] != said[1]:
            raise RequestRefused("ForwardedInvalid")  # one is the proxy's; the other may have come to it
        return said[0] if said else _Account()

    def _read_forwarded(self, headers: Headers) -> _Account | None:
        """RFC 7239: the element that the proxy furthest from here added which is trusted."""
        found = values_of(headers, b"forwarded")
        if not found:
            return None
        account = _Account()
        for element in reversed(_split_elements(", ".join(found))):
            named = element.get("for", "")
            hidden = named == "unknown" or named.startswith("_")
            client = None if hidden or not named else _require_node(named)
            account = _Account(client, _require_scheme(element.get("proto")), _require_host(element.get("host")))
            if not self._trusts(client):
                break
        return account

    def _read_for(self, headers: Headers) -> _Account | None:
        found = {name: values_of(headers, b"x-forwarded-" + name) for name in (b"for", b"proto", b"host")}
        if not any(found.values()):
            return None
        last = {name: ", ".join(values).rpartition(",")[2].strip() or None for name, values in found.items()}
        client = None
        for node in reversed(", ".join(found[b"for"]).split(",") if found[b"for"] else []):
            client = _require_node(node.strip())
            if not self._trusts(client):
                break
        return _Account(client, _require_scheme(last[b"proto"]), _require_host(last[b"host"]))


def read_proxies(networks: Iterable[str]) -> TrustedProxies:
    """The proxies that `--behind-proxy` names as addresses or networks, such as 10.0.0.0/8; else ParameterInvalid."""
    read: list[IPv4Network | IPv6Network] = []
    network: IPv4Network | IPv6Network | None
    for given in networks:
        try:
            network = ip_network(given.strip())
        except ValueError:
            network = None
        if network is None or not network.prefixlen:  # whoever trusts everybody is told anything
            raise ParameterInvalid(
                parameter="behind-proxy",
                rule=say("must be a network such as 10.0.0.0/8, or an address"),
                given=ascii(given[:60]),
            )
        read.append(network)
    return TrustedProxies(tuple(read))


def values_of(headers: Headers, name: bytes) -> list[str]:
    """What every header of this name says."""
    return [value.decode("latin-1") for found, value in headers if found == name]


def _is_hearsay(name: bytes) -> bool:
    plain = name.decode("latin-1").replace("_", "-")
    return plain in _HEARSAY or plain.startswith(_HEARSAY_BEGINS)


def _split_elements(text: str) -> list[dict[str, str]]:
    elements: list[dict[str, str]] = [{}]
    place = 0
    while place < len(text):
        if text[place] in " \t;":
            place += 1
        elif text[place] == ",":
            elements.append({})
            place += 1
        else:
            pair = _PAIR.match(text, place)
            if pair is None or pair[1].lower() in elements[-1]:
                raise RequestRefused("ForwardedInvalid")
            quoted = re.sub(r"\\(.)", r"\1", pair[3] or "")
            elements[-1][pair[1].lower()] = pair[2] or quoted
            place = pair.end()
    return elements


def _require_node(text: str) -> Address:
    match = _BRACKETED.fullmatch(text) or _BARE.fullmatch(text)
    address = _read_address(match[1] if match else text)
    if address is None:
        raise RequestRefused("ForwardedInvalid")
    return address


def _read_address(text: str) -> Address | None:
    try:
        address = ip_address(text)
    except ValueError:
        return None
    if isinstance(address, IPv4Address):
        return address
    return None if address.scope_id else address.ipv4_mapped or address


def _require_scheme(text: str | None) -> str | None:
    if text is not None and text.lower() not in ("http", "https"):
        raise RequestRefused("ForwardedInvalid")
    return text and text.lower()


def _require_host(text: str | None) -> str | None:
    if text is not None and HOST.fullmatch(text) is None:
        raise RequestRefused("ForwardedInvalid")
    return text
