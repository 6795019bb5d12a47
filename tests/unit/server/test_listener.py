"""Where a server listens: on this machine alone, unless somebody has seen to who else may hear."""

from __future__ import annotations

import socket

import pytest

from discreet.errors import ParameterInvalid, UsageError
from discreet.server import open_listener
from discreet.server.connections.listener import CountedListener


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "127.8.9.10"])
def test_this_machine_may_always_listen_to_itself(host: str) -> None:
    with open_listener(host, 0, beyond=False) as listener:
        assert listener.getsockname()[1] > 0


def test_also_where_addresses_are_longer() -> None:
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        pytest.skip("this machine has no IPv6")
    with open_listener("::1", 0, beyond=False) as listener:
        assert listener.family is socket.AF_INET6


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "10.0.0.1", "2001:db8::1", "169.254.1.1", "fe80::1"])
@pytest.mark.parametrize("has_tls", [True, False])
def test_others_hear_only_when_somebody_has_seen_to_it(host: str, has_tls: bool) -> None:
    with pytest.raises(UsageError) as caught:
        open_listener(host, 0, beyond=False, has_tls=has_tls)
    assert "--behind-proxy" in caught.value.message
    assert ("--tls-cert" in caught.value.message) is has_tls


def test_with_tls_or_a_proxy_others_may_hear() -> None:
    with open_listener("0.0.0.0", 0, beyond=True) as listener:
        assert listener.getsockname()[0] == "0.0.0.0"


@pytest.mark.parametrize(
    "host", ["", "office", "http://127.0.0.1", "127.1", "2130706433", "0x7f000001", "127.0.0.1:80", "\x1b[2J"]
)
def test_a_name_is_no_address(host: str) -> None:
    """What a name means is for whoever keeps names; an address means itself."""
    with pytest.raises(ParameterInvalid) as caught:
        open_listener(host, 0, beyond=True)
    assert caught.value.fields["parameter"] == "host"
    assert "\x1b" not in caught.value.message


@pytest.mark.parametrize("port", [-1, 65_536, 10**9])
def test_a_port_is_one(port: int) -> None:
    with pytest.raises(ParameterInvalid, match="from 0 to 65535"):
        open_listener("127.0.0.1", port, beyond=False)


def test_a_port_that_is_taken_is_told() -> None:
    with open_listener("127.0.0.1", 0, beyond=False) as listener:
        port = listener.getsockname()[1]
        with pytest.raises(ParameterInvalid, match="free to listen on"):
            open_listener("127.0.0.1", port, beyond=False)


def test_connections_are_counted_until_they_are_closed() -> None:
    with open_listener("127.0.0.1", 0, beyond=False) as listener, CountedListener(listener, 1) as counted:
        place = listener.getsockname()
        for _ in range(3):
            with socket.create_connection(place), socket.create_connection(place, timeout=10) as beyond:
                taken, _ = counted.accept()
                with pytest.raises(ConnectionAbortedError):
                    counted.accept()
                assert beyond.recv(1) == b""
                taken.close()
                taken.close()  # once is once
