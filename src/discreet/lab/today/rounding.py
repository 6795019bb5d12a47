"""Rounding figure by figure: to the nearest multiple of a base, or at random to one of the two beside it.

Cells and margins are rounded each for itself, as offices do, so margins need not be the sums of their cells. Neither is
differentially private: whoever sees two tables that differ by one person sees figures cross from one multiple to the
next, or bounds them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from discreet.catalogue import say
from discreet.guarantees import Unproven
from discreet.lab.today.holdings import Holdings, Integers, Published, require_whole

__all__ = ["RandomRounding", "SystematicRounding"]


@dataclass(frozen=True, slots=True)
class SystematicRounding:
    """Every figure to the nearest multiple of `base`; halves go up."""

    base: int = 5

    def __post_init__(self) -> None:
        require_whole(self.base, parameter="base", least=2)

    def apply(self, holdings: Holdings, *, rng: np.random.Generator | None = None) -> Published:
        """Nothing is drawn: the same table is always published the same way."""
        return _round_each(
            holdings,
            lambda figures: (2 * figures + self.base) // (2 * self.base) * self.base,
            method="systematic rounding",
            did=say(
                "Every cell and margin is rounded to the nearest multiple of {base:,}, each separately.",
                base=holdings.in_units(self.base),
            ),
            base=self.base,
            reach=self.base // 2,
            steady=True,
        )


@dataclass(frozen=True, slots=True)
class RandomRounding:
    """Every figure to the multiple of `base` below or above it, with chances that leave it unbiased."""

    base: int = 5

    def __post_init__(self) -> None:
        require_whole(self.base, parameter="base", least=2)

    def apply(self, holdings: Holdings, *, rng: np.random.Generator | None = None) -> Published:
        """Fresh draws at every call; a multiple of the base stays as it is."""
        drawn = np.random.default_rng() if rng is None else rng

        def round_at_random(figures: Integers) -> Integers:
            beyond = figures % self.base
            up = drawn.integers(self.base, size=figures.shape) < beyond
            return figures - beyond + np.where(up, self.base, 0)

        return _round_each(
            holdings,
            round_at_random,
            method="random rounding",
            did=say(
                "Every cell and margin is rounded at random to an adjacent multiple of {base:,}, each separately.",
                base=holdings.in_units(self.base),
            ),
            base=self.base,
            reach=self.base - 1,
            steady=False,
        )


def _round_each(
    holdings: Holdings,
    rounded: Callable[[Integers], Integers],
    *,
    method: str,
    did: str,
    base: int,
    reach: int,
    steady: bool,
) -> Published:
    figures = {margin: np.asarray(rounded(holdings.margin(margin))) for margin in holdings.layout.margins}
    return Published(
        method=method,
        did=did,
        parameters={"base": holdings.in_units(base)},
        guarantee=Unproven("rounded figures; a figure that changes between two tables gives a person away"),
        figures=figures,
        hidden={margin: np.zeros(values.shape, dtype=np.bool_) for margin, values in figures.items()},
        reach=dict.fromkeys(figures, float(reach)),
        steady=steady,
    )
