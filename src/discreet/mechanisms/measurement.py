"""Noise drawn by OpenDP, over many cells at once.

OpenDP is imported when the first noise is drawn, because the import takes longer than most commands. Its
measurements ask for a process-wide feature flag; the flag is raised only while a measurement is built and put
back as it was found.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import Any, Final, Literal

__all__ = ["Family", "add_noise"]

Family = Literal["laplace", "gaussian"]
_SMALLEST_SHARE: Final = 2048
_building: Final = threading.Lock()


def add_noise(values: list[int], *, family: Family, scale: float) -> list[int]:
    """The values plus independent noise; large batches are shared among the processor's cores."""
    workers = min(os.cpu_count() or 1, len(values) // _SMALLEST_SHARE)
    if workers <= 1:
        return _measure(values, family, scale)
    from concurrent.futures import ThreadPoolExecutor

    share = -(-len(values) // workers)
    batches = [values[start : start + share] for start in range(0, len(values), share)]
    # Threads are enough: the sampling runs outside the interpreter's lock.
    with ThreadPoolExecutor(workers) as pool:
        drawn = pool.map(lambda batch: _measure(batch, family, scale), batches)
        return [value for batch in drawn for value in batch]


def _measure(values: list[int], family: Family, scale: float) -> list[int]:
    measurement = _build(family, scale)
    noisy: list[int] = measurement(values)
    return noisy


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
