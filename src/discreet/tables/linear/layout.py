"""The shape of a table and what is observed of it: the language of strategies and estimates.

A table has keys with `sizes` cells each; its margins are named by the places of the keys they keep, in ascending order:
() is the grand total, all places the cells themselves. An `Observation` is a margin, or the residual of one, that was
measured with noise. Where one public key decides the sensitivity (`slicing`), a unit lies in one of its slices, and
what keeps that key has noise of its own in each slice.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from math import prod
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Layout", "Margin", "Observation", "every_margin", "keep_keys"]

Cells = TypeVar("Cells", bound="NDArray[Any]")

Margin = tuple[int, ...]
"""The places of the keys that are kept, ascending."""


@dataclass(frozen=True, slots=True)
class Layout:
    """Sizes of the keys in the plan's order; the place of the slicing key, if any; the margins that are published.

    `margins` holds every published margin once, the cells (all places) among them.
    """

    sizes: tuple[int, ...]
    slicing: int | None
    margins: tuple[Margin, ...]

    def __post_init__(self) -> None:
        indices = range(len(self.sizes))
        if any(size < 1 for size in self.sizes):
            raise ValueError("a key has at least one cell")
        if self.slicing is not None and self.slicing not in indices:
            raise ValueError("the slicing key is one of the keys")
        if len(set(self.margins)) != len(self.margins) or self.cells not in self.margins:
            raise ValueError("margins are listed once each, the cells among them")
        if any(margin != tuple(sorted(set(margin))) or not set(margin) <= set(indices) for margin in self.margins):
            raise ValueError("a margin lists places of keys, ascending")

    @property
    def cells(self) -> Margin:
        """The margin that keeps every key."""
        return tuple(range(len(self.sizes)))

    @property
    def slices(self) -> int:
        """How many slices there are; 1 without a slicing key."""
        return 1 if self.slicing is None else self.sizes[self.slicing]

    def shape(self, margin: Margin) -> tuple[int, ...]:
        """The sizes of the kept keys."""
        return tuple(self.sizes[index] for index in margin)

    def count(self, margin: Margin) -> int:
        """How many figures a margin has."""
        return prod(self.shape(margin))

    def keeps_slices(self, margin: Margin) -> bool:
        """Whether the margin shows each slice for itself."""
        return self.slicing is not None and self.slicing in margin


@dataclass(frozen=True, slots=True)
class Observation:
    """One measured margin. A `residual` one says only what the margin adds to the margins below it.

    The values of a residual observation are whole numbers: along every kept key but the slicing one, with m cells, m
    times the value less the sum of its line. `variances` are those of the noise of one value: one for each slice where
    the margin keeps the slicing key, else one.
    """

    kept: Margin
    residual: bool
    variances: tuple[float, ...]


def keep_keys(cells: Cells, margin: Margin) -> Cells:
    """Cells, as an array with one axis for each key, summed over all keys but those of a margin."""
    import numpy as np

    over = tuple(index for index in range(cells.ndim) if index not in margin)
    summed: Cells = np.asarray(cells.sum(axis=over)) if over else cells  # type: ignore[assignment]
    return summed


def every_margin(keys: int) -> Iterator[Margin]:
    """All margins of a table with so many keys: the cells first, the grand total last."""
    for size in range(keys, -1, -1):
        yield from combinations(range(keys), size)
