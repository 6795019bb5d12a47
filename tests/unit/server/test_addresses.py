"""Whose word is taken for who asks: a trusted proxy's for the connections that it took, and nobody else's."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from discreet.errors import ParameterInvalid
from discreet.server import Guard, OfficeProtocol, TrustedProxies, read_proxies
from discreet.server.connections.refusals import RequestRefused
from tests.unit.server.listening import Mirror, fetch, listen

PROXIES = read_proxies(["10.0.0.0/8", " 192.168.7.7 ", "fd00::/8"])
mirror = Mirror()


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    with listen(Guard(mirror), OfficeProtocol) as found:
        yield found


def settle(
    *lines: tuple[str, str], peer: str | None = "10.0.0.1", scheme: str = "http", proxies: TrustedProxies = PROXIES
) -> dict[str, Any]:
    """Whom, how and for which host a request is said to be, from a peer that says these things."""
    headers = [(b"host", b"inner"), *((name.encode(), value.encode("latin-1")) for name, value in lines)]
    scope = {"client": None if peer is None else (peer, 4711), "scheme": scheme, "headers": headers}
    settled = proxies.settle(scope)
    assert scope["headers"] is headers  # what came is left as it is
    said = {name.decode(): value.decode() for name, value in settled["headers"]}
    return {"client": settled["client"] and settled["client"][0], "scheme": settled["scheme"], **said}


def client(*lines: tuple[str, str], **named: Any) -> Any:
    return settle(*lines, **named)["client"]


def forwarded(*values: str) -> list[tuple[str, str]]:
    return [("forwarded", value) for value in values]


def sent_for(*values: str) -> list[tuple[str, str]]:
    return [("x-forwarded-for", value) for value in values]


@pytest.mark.parametrize("peer", ["203.0.113.9", "11.0.0.1", "2001:db8::1", "::ffff:203.0.113.9", "unix", "", None])
def test_a_stranger_is_not_believed_and_not_heard(peer: str | None) -> None:
    lines = [*forwarded("for=1.2.3.4;proto=https;host=other"), *sent_for("1.2.3.4"), ("x-forwarded-proto", "https")]
    assert settle(*lines, peer=peer) == {"client": peer, "scheme": "http", "host": "inner"}


def test_nobody_is_believed_unless_somebody_was_named() -> None:
    assert client(*sent_for("1.2.3.4"), proxies=TrustedProxies()) == "10.0.0.1"
    assert client(*sent_for("1.2.3.4"), peer="127.0.0.1", proxies=TrustedProxies()) == "127.0.0.1"


def test_what_a_stranger_says_wrongly_is_not_even_read() -> None:
    assert client(*forwarded("for=!"), *sent_for("nonsense"), peer="203.0.113.9") == "203.0.113.9"


@pytest.mark.parametrize(
    "peer", ["10.0.0.1", "10.255.255.255", "192.168.7.7", "fd00::1", "::ffff:10.0.0.1", "fd00::1%eth0"]
)
def test_a_named_proxy_is_believed(peer: str) -> None:
    assert client(*sent_for("203.0.113.9"), peer=peer) == "203.0.113.9"
    assert client(*forwarded("for=203.0.113.9"), peer=peer) == "203.0.113.9"


def test_a_proxy_that_says_nothing_speaks_for_itself() -> None:
    assert settle() == {"client": "10.0.0.1", "scheme": "http", "host": "inner"}


@pytest.mark.parametrize(
    ("said", "found"),
    [
        (["203.0.113.9"], "203.0.113.9"),
        (["1.2.3.4, 203.0.113.9"], "203.0.113.9"),
        (["1.2.3.4", "203.0.113.9"], "203.0.113.9"),
        (["127.0.0.1, 203.0.113.9, 10.0.0.2"], "203.0.113.9"),
        (["1.2.3.4, 203.0.113.9", "10.0.0.2, fd00::2"], "203.0.113.9"),
        (["nonsense, \"', 203.0.113.9"], "203.0.113.9"),
        ([", 203.0.113.9"], "203.0.113.9"),
        (["10.0.0.3, 10.0.0.2"], "10.0.0.3"),
        (["203.0.113.9:4711"], "203.0.113.9"),
        (["2001:db8::7"], "2001:db8::7"),
        (["2001:DB8:0:0::7"], "2001:db8::7"),
        (["[2001:db8::7]"], "2001:db8::7"),
        (["[2001:db8::7]:4711"], "2001:db8::7"),
        (["::ffff:203.0.113.9"], "203.0.113.9"),
        (["203.0.113.9, ::ffff:10.0.0.2"], "203.0.113.9"),
    ],
)
def test_the_last_who_is_no_proxy_asks(said: list[str], found: str) -> None:
    """What stands before it may have come from whoever asks."""
    assert client(*sent_for(*said)) == found
    elements = [node.strip() for value in said for node in value.split(",") if "." in node or ":" in node]
    assert client(*forwarded(", ".join(f'for="{node}"' for node in elements))) == found


@pytest.mark.parametrize(
    "node",
    [
        "", "unknown", "_hidden", "nonsense", "203.0.113", "203.0.113.256", "203.0.113.09", "203.0.113.9:",
        "203.0.113.9:x", "203.0.113.9:123456", "[203.0.113.9", "[2001:db8::7]x", "[]", "2001:db8::g", "fe80::1%eth0",
        "::1%any text",
        "203.0.113.9 10.0.0.2", "203.0.113.9\\", "0x7f.0.0.1", "2130706433", "203.0.113.9/24", "\xb2\xb0\xb3.0.113.9",
    ],
)  # fmt: skip
def test_what_a_proxy_says_is_read_or_refused(node: str) -> None:
    with pytest.raises(RequestRefused, match="ForwardedInvalid"):
        settle(*sent_for(f"203.0.113.9, {node}"))


@pytest.mark.parametrize(
    "value",
    [
        "for", "for=", "for=1.2.3.4;for=5.6.7.8", "for=1.2.3.4;FOR=5.6.7.8", 'for="1.2.3.4', "for=nonsense", "=1.2.3.4",
        "for = 1.2.3.4", "for=1.2.3.4;proto=ftp", "for=1.2.3.4;proto=", "for=1.2.3.4;host=a/b", 'for=1.2.3.4;host=""',
        "for=2001:db8::7", 'for="[2001:db8::7%eth0]"', "for=1.2.3.4;host=a b=c d",
    ],
)  # fmt: skip
def test_what_a_proxy_says_in_the_other_way_too(value: str) -> None:
    with pytest.raises(RequestRefused, match="ForwardedInvalid"):
        settle(*forwarded(value))


@pytest.mark.parametrize("node", ["unknown", "_hidden", "_SEVKISEK"])
def test_a_proxy_may_hide_who_asks(node: str) -> None:
    assert settle(*forwarded(f"for=1.2.3.4, for={node};proto=https")) == {
        "client": "10.0.0.1",
        "scheme": "https",
        "host": "inner",
    }


def test_scheme_and_host_are_those_of_the_same_hop() -> None:
    said = ["for=1.2.3.4;proto=http;host=spoofed", "For=203.0.113.9;Proto=HTTPS;Host=public, for=10.0.0.2;host=middle"]
    assert settle(*forwarded(*said)) == {"client": "203.0.113.9", "scheme": "https", "host": "public"}
    lines = [
        *sent_for("1.2.3.4, 203.0.113.9"),
        ("x-forwarded-proto", "http, https"),
        ("x-forwarded-host", "x, public:8443"),
    ]
    assert settle(*sent_for("1.2.3.4, 203.0.113.9"), *lines) == {
        "client": "203.0.113.9",
        "scheme": "https",
        "host": "public:8443",
    }
    assert settle(("x-forwarded-proto", "https")) == {"client": "10.0.0.1", "scheme": "https", "host": "inner"}


@pytest.mark.parametrize(
    "line", [("x-forwarded-proto", "ftp"), ("x-forwarded-proto", "https;"), ("x-forwarded-host", "a/b")]
)
def test_odd_schemes_and_hosts_are_refused(line: tuple[str, str]) -> None:
    with pytest.raises(RequestRefused, match="ForwardedInvalid"):
        settle(line)


def test_a_proxy_that_says_two_things_is_not_believed() -> None:
    """One of the two is what somebody sent through it."""
    assert client(*forwarded("for=203.0.113.9"), *sent_for("203.0.113.9")) == "203.0.113.9"
    for other in ("1.2.3.4", "203.0.113.9, 1.2.3.4"):
        with pytest.raises(RequestRefused, match="ForwardedInvalid"):
            settle(*forwarded("for=203.0.113.9"), *sent_for(other))
    with pytest.raises(RequestRefused, match="ForwardedInvalid"):
        settle(*forwarded("for=203.0.113.9;proto=https"), *sent_for("203.0.113.9"), ("x-forwarded-proto", "http"))


IDENTITIES = (
    "X-User", "X-Username", "X-User-Id", "X_User", "User-Name", "user_name", "User", "Username", "Remote-User",
    "REMOTE_USER", "X-Remote-User", "X-Remote-Groups", "X-Email", "X-Groups", "X-Role", "X-Roles",
    "X-Auth-Request-User", "X-Auth-Token", "X-Authenticated-User", "X-Webauth-User", "X-SSO-User", "X-Token-Subject",
    "X-Forwarded-User", "X-Forwarded-Email", "X-Forwarded-Preferred-Username", "X-Goog-Authenticated-User-Email",
    "X-MS-Client-Principal", "X-Amzn-Oidc-Identity", "Client-Cert", "X-Client-Cert", "SSL-Client-S-DN",
    "X-SSL-Client-Verify", "X-Real-IP", "X-Client-IP", "True-Client-IP", "X-Cluster-Client-IP", "CF-Connecting-IP",
    "Fastly-Client-IP", "X-Original-URL", "X-Rewrite-URL", "X-Original-User", "X-HTTP-Method-Override", "Forwarded",
    "X-Forwarded-For", "X-Forwarded-Proto", "X-Forwarded-Host", "X-Forwarded-Prefix",
)  # fmt: skip


@pytest.mark.parametrize("trusted", [False, True])
def test_who_asks_is_told_by_no_header(port: int, trusted: bool) -> None:
    """Neither a stranger nor a proxy signs somebody in; what both may say reaches no handler."""
    kept = ["Authorization: Bearer a.b", "Idempotency-Key: k", "Accept-Language: fr", "User-Agent: u", "Cookie: c=d"]
    if not trusted:
        seen = fetch(port, "GET", "/take", *(f"{name}: ada" for name in IDENTITIES), *kept).json
        assert seen["client"] == "127.0.0.1"
        names = {name for name, _ in seen["headers"]}
    else:
        lines = [
            (name.lower(), "ada") for name in IDENTITIES if not name.lower().endswith(("forwarded", "-for", "-proto"))
        ]
        names = set(settle(*lines, *((line.partition(": ")[0].lower(), "x") for line in kept), ("connection", "close")))
        names -= {"client", "scheme"}
    assert names == {
        "host",
        "connection",
        "authorization",
        "idempotency-key",
        "accept-language",
        "user-agent",
        "cookie",
    }


@pytest.mark.parametrize(
    "network",
    [
        "",
        "x",
        "10.0.0.1/8",
        "10.0.0.0/33",
        "10.0.0.0/-1",
        "10.0.0.0/8,11.0.0.0/8",
        "*",
        "localhost",
        "::1/129",
        "0.0.0.0/0",
        "::/0",
    ],
)
def test_networks_are_named_plainly_and_never_everybody(network: str) -> None:
    with pytest.raises(ParameterInvalid) as caught:
        read_proxies(["10.0.0.0/8", network])
    assert caught.value.fields["parameter"] == "behind-proxy"


def test_a_long_network_is_not_repeated_whole() -> None:
    with pytest.raises(ParameterInvalid) as caught:
        read_proxies(["\x1b" * 500])
    assert len(caught.value.message) < 400
    assert "\x1b" not in caught.value.message
