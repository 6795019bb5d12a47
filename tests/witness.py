"""OpenDP as a second opinion: its own discrete Laplace and Gaussian noise, for comparisons of laws and of time."""

from __future__ import annotations

from typing import Any, Literal

__all__ = ["Family", "draw_by_opendp"]

Family = Literal["laplace", "gaussian"]


def draw_by_opendp(count: int, *, family: Family, scale: float) -> list[int]:
    """Independent draws within 64 bits. OpenDP's process-wide flag is raised, as its own guide does."""
    drawn: list[int] = _build(family, scale)([0] * count)
    return drawn


def _build(family: Family, scale: float) -> Any:
    from opendp import domains, measurements, metrics, mod

    mod.enable_features("contrib")
    space = domains.vector_domain(domains.atom_domain(T="i64"))
    if family == "laplace":
        return measurements.make_laplace(space, metrics.l1_distance(T="i64"), scale=scale)
    return measurements.make_gaussian(space, metrics.l2_distance(T="i64"), scale=scale)
