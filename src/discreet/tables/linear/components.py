"""The cells of a table, split into parts that no observation mixes: what estimates and strategies compute with.

The keys but the slicing one are free. For each set B of free keys the component B of the cells is what is left when
they are averaged over the free keys outside B and centred along those in B: the average for the empty set, a main
effect, an interaction. A margin with noise of one variance in each slice tells something of each component below it,
and the noises of its components are uncorrelated, so each is estimated by itself (docs/proofs/marginals.md).

Figures that belong to components, or to margins, are kept in an array with one axis of length 2 for each free key: 1
where the key is in the set. A key with a single cell says nothing and has no axis.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np
from numpy.typing import NDArray

from discreet.tables.linear.layout import Layout, Margin

__all__ = ["Array", "Components", "Precision"]

Array = NDArray[np.float64]
Factors = tuple[tuple[float, float], tuple[float, float]]


@dataclass(frozen=True)
class Components:
    """How margins and components of a layout relate."""

    layout: Layout

    @cached_property
    def free(self) -> tuple[int, ...]:
        """The places of the keys that have an axis: not the slicing one, and more than one cell."""
        sizes = self.layout.sizes
        return tuple(index for index, size in enumerate(sizes) if size > 1 and index != self.layout.slicing)

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """The sizes of the free keys."""
        return self.layout.shape(self.free)

    @property
    def cells(self) -> int:
        """How many cells one slice has."""
        return prod(self.sizes)

    @property
    def patterns(self) -> tuple[int, ...]:
        """The shape of an array with one entry for each component."""
        return (2,) * len(self.free)

    def bits(self, margin: Margin) -> tuple[int, ...]:
        """The entry of a margin: 1 for each free key that it keeps."""
        return tuple(int(index in margin) for index in self.free)

    def separates(self, margin: Margin) -> bool:
        """Whether the slices stay apart in a margin; a single slice always does."""
        return self.layout.slices == 1 or self.layout.keeps_slices(margin)

    def says_nothing(self, margin: Margin, *, residual: bool) -> bool:
        """Whether what is observed is always zero: a residual that is centred along a key with a single cell."""
        return residual and any(self.layout.sizes[index] == 1 for index in margin if index != self.layout.slicing)

    def left_out(self, margin: Margin) -> int:
        """How many cells of one slice are summed into one figure of the margin."""
        return prod(size for size, bit in zip(self.sizes, self.bits(margin), strict=True) if not bit)

    def gather(self, amounts: Array, first: int = 0) -> Array:
        """The precision of each component, from 1/variance of each margin; `first` is the first key's axis."""
        return _across(amounts, [((m * m, m), (0.0, 1.0)) for m in self.sizes], first)

    def scatter(self, slopes: Array, first: int = 0) -> Array:
        """The transpose of `gather`: from slopes by precision to slopes by 1/variance."""
        return _across(slopes, [((m * m, 0.0), (m, 1.0)) for m in self.sizes], first)

    def combine(self, variances: Array) -> Array:
        """The variance of a figure of each margin, from the variance of each component's estimate."""
        return _across(variances, [((m * m, 0.0), (1.0, 1 - 1 / m)) for m in self.sizes], 0)

    def weigh(self, votes: Array) -> Array:
        """The transpose of `combine`: how much each component's variance counts, from the votes of the margins."""
        return _across(votes, [((m * m, 1.0), (0.0, 1 - 1 / m)) for m in self.sizes], 0)

    def portion(self, margin: Margin) -> Array:
        """One row of `combine`: how each component's variance enters a figure of this margin."""
        entries = np.ones(())
        for size, bit in zip(self.sizes, self.bits(margin), strict=True):
            entries = np.multiply.outer(entries, [1.0, 1 - 1 / size] if bit else [float(size * size), 0.0])
        return entries


@dataclass(frozen=True, slots=True)
class Precision:
    """What is known of each component: in every slice for itself (`own`, slices last), and of the sum of the slices.

    Over the slices the precision is the matrix diag(own) + pooled·11ᵀ, inverted after Sherman and Morrison. `counts`
    says how many slices each entry of the last axis stands for.
    """

    own: Array
    pooled: Array
    counts: Array

    @property
    def inverse(self) -> Array:
        """1/own."""
        return 1 / self.own

    @property
    def damping(self) -> Array:
        """1 + pooled · Σ 1/own: by how much the sum of the slices shrinks what each of them leaves open."""
        return 1 + self.pooled * self.spread

    @property
    def spread(self) -> Array:
        """Σ 1/own over the slices."""
        return np.asarray(self.inverse @ self.counts)

    def each(self) -> Array:
        """The variance of a component in each slice."""
        inverse = self.inverse
        return inverse - (self.pooled / self.damping)[..., None] * inverse**2

    def mean(self) -> Array:
        """The variance of a component in one slice, on average over the slices."""
        return np.asarray(self.each() @ self.counts / self.counts.sum())

    def summed(self) -> Array:
        """The variance of a component of the sum of the slices."""
        return self.spread / self.damping


def _across(table: Array, factors: Sequence[Factors], first: int) -> Array:
    """Apply a 2 × 2 matrix along each key's axis: a Kronecker product without its matrix."""
    for axis, ((same, up), (down, kept)) in enumerate(factors, start=first):
        made = np.empty_like(table)
        (low, high), rows = np.moveaxis(table, axis, 0), np.moveaxis(made, axis, 0)
        # By place, because the rows of a table with one key are single numbers, which cannot be written into.
        rows[0] = same * low + up * high if up else same * low
        rows[1] = down * low + kept * high if down else kept * high
        table = made
    return table
