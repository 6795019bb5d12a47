"""How often anybody may ask: counts in the store, so that all workers count together.

A count is kept under a name that only the ledger's key could make again: no address and no person stands there.
"""

from __future__ import annotations

import ipaddress
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from discreet.errors import TooManyRequests
from discreet.ledger import Ledger
from discreet.stores import Run, Store

__all__ = ["Bucket", "Limits", "network_of"]

_SWEPT_EVERY: Final = 60.0
_NETWORK_BITS: Final = {4: 32, 6: 64}

_COUNT: Final = """
INSERT INTO counts (bucket, ends, taken) VALUES (?, ?, 1) ON CONFLICT (bucket) DO UPDATE SET
    taken = CASE WHEN counts.ends <= ? OR counts.ends > excluded.ends THEN 1 ELSE counts.taken + 1 END,
    ends = CASE WHEN counts.ends <= ? OR counts.ends > excluded.ends THEN excluded.ends ELSE counts.ends END
RETURNING taken, ends
"""
"""A count that ends later than one begun now was begun by a clock that has been put back since: it begins anew."""


@dataclass(frozen=True, slots=True)
class Bucket:
    """At most so many in so many seconds, of whatever has this key."""

    key: str
    most: int
    seconds: int


class Limits:
    """The counts of one office."""

    def __init__(self, store: Store, ledger: Ledger, clock: Callable[[], float]) -> None:
        self._store = store
        self._ledger = ledger
        self._clock = clock
        self._turn = threading.Lock()
        self._swept = -_SWEPT_EVERY

    def take(self, *buckets: Bucket) -> None:
        """Count one in every bucket; TooManyRequests, and nothing is counted, where any of them is full."""
        now = int(self._clock())
        with self._store.jotting() as run:
            if self._is_time_to_sweep():
                run("DELETE FROM counts WHERE ends <= ?", now)
            wait = max((self._count(run, bucket, now) for bucket in buckets), default=0)
            if wait:
                raise TooManyRequests(seconds=wait)

    def _count(self, run: Run, bucket: Bucket, now: int) -> int:
        """For how many seconds this bucket is full; 0 where it had room."""
        name = self._ledger.attest("count", bucket.key, bucket.seconds)
        [(taken, ends)] = run(_COUNT, name, now + bucket.seconds, now, now)
        return max(1, ends - now) if taken > bucket.most else 0

    def _is_time_to_sweep(self) -> bool:
        with self._turn:
            due = time.monotonic() - self._swept >= _SWEPT_EVERY
            if due:
                self._swept = time.monotonic()
            return due


def network_of(address: str) -> str:
    """The network that one customer has: what may count as one. "unknown" for what is no address."""
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return "unknown"
    if isinstance(found, ipaddress.IPv6Address):
        found = found.ipv4_mapped or ipaddress.IPv6Address(int(found))  # without the zone that it came by
    return str(ipaddress.ip_network((found, _NETWORK_BITS[found.version]), strict=False))
