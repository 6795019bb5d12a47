"""Which addresses count as one: the network that one customer has."""

from __future__ import annotations

import pytest

from discreet.people import network_of


@pytest.mark.parametrize(
    ("address", "network"),
    [
        ("192.0.2.7", "192.0.2.7/32"),
        ("::ffff:192.0.2.7", "192.0.2.7/32"),
        ("::ffff:c000:207", "192.0.2.7/32"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:DB8:1:2::", "2001:db8:1:2::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("fe80::2%wlan0", "fe80::/64"),
        ("::1", "::/64"),
        ("", "unknown"),
        ("testclient", "unknown"),
        ("192.0.2.7/32", "unknown"),
        ("192.0.2.7:80", "unknown"),
        ("192.0.2.07", "unknown"),
        (" 192.0.2.7", "unknown"),
        ("１92.0.2.7", "unknown"),
        ("3221225991", "unknown"),
        ("[::1]", "unknown"),
        ("\0", "unknown"),
        ("x" * 10_000, "unknown"),
    ],
)
def test_the_network_of_an_address(address: str, network: str) -> None:
    assert network_of(address) == network
