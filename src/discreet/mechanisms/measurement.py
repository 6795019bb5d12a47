"""Noise drawn by OpenDP, many draws at once: the Gaussian's, and a second Laplace for comparison.

OpenDP is imported by those who draw from it, because the import takes longer than most commands: before a charge, by
`load_measurement`, since an import that fails after it would cost budget. Its measurements ask for a process-wide
feature flag; the flag is raised only while a measurement is built and put back as it was found.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import Any, Final, Literal

__all__ = ["HIGHEST", "LOWEST", "Family", "draw_noise", "load_measurement"]

Family = Literal["laplace", "gaussian"]
# What OpenDP gives when a draw lies at or beyond the ends of 64 bits.
LOWEST: Final = -(1 << 63)
HIGHEST: Final = (1 << 63) - 1
_SMALLEST_SHARE: Final = 2048
_building: Final = threading.Lock()


def load_measurement(*, family: Family, scale: float) -> None:
    """Import OpenDP and make a measurement once, with all that it loads on the way."""
    from concurrent.futures import thread  # noqa: F401

    _build(family, scale)([0])


def draw_noise(count: int, *, family: Family, scale: float) -> list[int]:
    """Independent draws within 64 bits; large batches are shared among the processor's cores."""
    workers = min(os.cpu_count() or 1, count // _SMALLEST_SHARE)
    if workers <= 1:
        return _measure(count, family, scale)
    from concurrent.futures import ThreadPoolExecutor

    share = -(-count // workers)
    shares = [min(share, count - start) for start in range(0, count, share)]
    # Threads are enough: the sampling runs outside the interpreter's lock.
    with ThreadPoolExecutor(workers) as pool:
        drawn = pool.map(lambda part: _measure(part, family, scale), shares)
        return [value for batch in drawn for value in batch]


def _measure(count: int, family: Family, scale: float) -> list[int]:
    """Noise on zeros: OpenDP sees no aggregate, so none can be too large for it."""
    measurement = _build(family, scale)
    noise: list[int] = measurement([0] * count)
    return noise


def _build(family: Family, scale: float) -> Callable[[list[int]], Any]:
    with _building:
        from opendp import domains, measurements, metrics, mod

        raised = _raise_flag(mod)
        try:
            space = domains.vector_domain(domains.atom_domain(T="i64"))
            if family == "laplace":
                made = measurements.make_laplace(space, metrics.l1_distance(T="i64"), scale=scale)
            else:
                made = measurements.make_gaussian(space, metrics.l2_distance(T="i64"), scale=scale)
        finally:
            if raised:
                mod.disable_features("contrib")
    built: Callable[[list[int]], Any] = made
    return built


def _raise_flag(mod: Any) -> bool:
    """Raise OpenDP's flag unless somebody else has; whether it was raised here."""
    try:
        mod.assert_features("contrib")
    except mod.OpenDPException:
        mod.enable_features("contrib")
        return True
    return False
