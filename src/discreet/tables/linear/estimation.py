"""All cells of a table from the margins that were measured: the best linear unbiased estimate, and its errors.

Guarantee: post-processing; costs nothing.
Requires:  the noises of all observed values are independent and have the variances that are given.
Proof:     docs/proofs/marginals.md
Refs:      margins that agree [BCDKMT07]; residuals [XHZK23].

Nothing here is larger than the table itself: each component of the cells (`components`) is estimated in closed form.
The coefficient of an observed value in a figure depends only on which keys the two agree in, so the noise of a figure
is a short list of terms however many cells there are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import isfinite

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.tables.linear.components import Array, Components, Precision
from discreet.tables.linear.layout import Layout, Margin, Observation, keep_keys

__all__ = ["LinearEstimator", "Term", "estimator_of"]

# what rounding leaves of a coefficient that is zero, relative to the largest effect on the same figure
NEGLIGIBLE = 1e-11


@dataclass(frozen=True, slots=True)
class Term:
    """`count` noises that enter a figure with one coefficient, each drawn as for a value of this slice.

    Slices of an observation whose noise has the same variance are taken together, under the first of them.
    """

    observation: int
    slice_place: int
    coefficient: float
    count: int


@lru_cache(maxsize=16)
def estimator_of(layout: Layout, observations: tuple[Observation, ...]) -> LinearEstimator:
    """The estimator of one design: nothing in it depends on a value, so every draw of a table shares it."""
    return LinearEstimator(layout, observations)


class LinearEstimator:
    """Generalised least squares of all cells, for observations that are fixed before any value is known."""

    def __init__(self, layout: Layout, observations: Sequence[Observation]) -> None:
        self.layout = layout
        self.observations = tuple(observations)
        self._parts = Components(layout)
        self._terms: dict[tuple[Margin, int], list[Term]] = {}
        for observation in self.observations:
            self._require_variances(observation)
        self._precision = self._gather()
        if not np.all(self._precision.own > 0):
            raise ValueError(
                "the observations do not determine every cell; measure the cells, or the residuals of every margin"
            )

    def estimate(self, values: Sequence[ArrayLike]) -> Array:
        """The cells, in the table's shape, from one array of observed values for each observation."""
        arrays = [np.asarray(value, dtype=np.float64) for value in values]
        if len(arrays) != len(self.observations):
            raise ValueError(f"there are {len(self.observations)} observations; received values for {len(arrays)}")
        if self._cells_alone:
            return arrays[0].reshape(self.layout.sizes).copy()
        parts = self._parts
        total = np.zeros((*parts.sizes, self.layout.slices))
        for observation, array in zip(self.observations, arrays, strict=True):
            if parts.says_nothing(observation.kept, residual=observation.residual):
                continue
            block = tuple(slice(None) if bit else slice(1) for bit in parts.bits(observation.kept))
            # what was summed over the slices says the same to each of them
            total[block] += self._weighed(observation, array)
        return self._solve(total)

    def influences(self, weights: Array) -> list[Array]:
        """The coefficient of every observed value in Σ weight · estimate over all cells, one array per observation.

        The transpose of `estimate`: with N the normal equations, V⁻¹·A·N⁻¹·weights for an observation A with noise V.
        """
        cells = weights.reshape(self.layout.sizes)
        if self._cells_alone:
            return [cells.reshape(self.layout.sizes)]
        alone = Observation(self.layout.cells, False, (1.0,) * self.layout.slices)
        solved = self._solve(self._weighed(alone, cells))
        result: list[Array] = []
        for observation in self.observations:
            seen = keep_keys(solved, observation.kept)
            if observation.residual:
                for axis, index in enumerate(observation.kept):
                    if index != self.layout.slicing:
                        seen = seen * seen.shape[axis] - seen.sum(axis=axis, keepdims=True)
            variances = np.array(observation.variances)
            if self.layout.keeps_slices(observation.kept):
                assert self.layout.slicing is not None
                shape = [1] * len(observation.kept)
                shape[observation.kept.index(self.layout.slicing)] = -1
                variances = variances.reshape(shape)
            result.append(seen / variances)
        return result

    def _solve(self, total: Array) -> Array:
        """The cells that meet the normal equations, from the components of their right-hand side."""
        precision = self._precision
        own = self._spread_out(precision.own)
        total = total / own
        if np.any(precision.pooled):
            damped = self._spread_out((precision.pooled / precision.damping)[..., None])
            total -= damped * total.sum(axis=-1, keepdims=True) / own
        return self._cells(total)

    def variances(self, margin: Margin) -> Array:
        """The variance of the estimate of one figure of a margin: one for each slice that it shows, else one."""
        portion = self._parts.portion(margin)
        if self.layout.keeps_slices(margin):
            return np.tensordot(portion, self._each, axes=portion.ndim)
        return np.array([np.sum(portion * self._summed)])

    def terms(self, margin: Margin, slice_place: int = 0) -> list[Term]:
        """The error of one figure of a margin, in the given slice, as a sum of coefficients times noises."""
        if (margin, slice_place) not in self._terms:
            self._terms[margin, slice_place] = self._find_terms(margin, slice_place)
        return self._terms[margin, slice_place]

    def _find_terms(self, margin: Margin, slice_place: int) -> list[Term]:
        separate = self.layout.keeps_slices(margin)
        if slice_place not in range(self.layout.slices if separate else 1):
            raise ValueError("the margin has no such slice")
        deviation = float(self.variances(margin)[slice_place]) ** 0.5
        result: list[Term] = []
        for number, observation in enumerate(self.observations):
            # a residual is centred along its keys: it adds nothing to a figure that sums over one of them
            if observation.residual and not {*observation.kept} - {self.layout.slicing} <= {*margin}:
                continue
            if self._parts.says_nothing(observation.kept, residual=observation.residual):
                continue
            coefficients, counts = self._agreements(observation, margin, slice_place)
            merged = _merge(coefficients, counts, observation.variances, deviation)
            result += [Term(number, index, coefficient, count) for index, coefficient, count in merged]
        return result

    @cached_property
    def _each(self) -> Array:
        return self._precision.each()

    @cached_property
    def _summed(self) -> Array:
        return self._precision.summed()

    @property
    def _cells_alone(self) -> bool:
        return [(item.kept, item.residual) for item in self.observations] == [(self.layout.cells, False)]

    def _require_variances(self, observation: Observation) -> None:
        shown = self.layout.slices if self.layout.keeps_slices(observation.kept) else 1
        if len(observation.variances) != shown:
            raise ValueError(f"an observation of margin {observation.kept} has {shown} variances")
        if not all(isfinite(variance) and variance > 0 for variance in observation.variances):
            raise ValueError("the variance of noise is a positive number")

    def _gather(self) -> Precision:
        parts, slices = self._parts, self.layout.slices
        own, pooled = np.zeros((2, *parts.patterns, slices)), np.zeros((2, *parts.patterns))
        for observation in self.observations:
            index = (int(observation.residual), *parts.bits(observation.kept))
            if parts.says_nothing(observation.kept, residual=observation.residual):
                continue
            if parts.separates(observation.kept):
                own[index] += 1 / np.array(observation.variances)
            else:
                pooled[index] += 1 / observation.variances[0]
        squared = float(parts.cells) ** 2
        return Precision(
            own=parts.gather(own[0]) + squared * own[1],
            pooled=np.asarray(parts.gather(pooled[0, ...]) + squared * pooled[1, ...]),
            counts=np.ones(slices),
        )

    def _weighed(self, observation: Observation, values: Array) -> Array:
        """The components of observed values, each with the weight that it has in the normal equations."""
        parts = self._parts
        bits = parts.bits(observation.kept)
        array = values.reshape(self.layout.shape(observation.kept))
        if self.layout.keeps_slices(observation.kept):
            assert self.layout.slicing is not None
            array = np.moveaxis(array, observation.kept.index(self.layout.slicing), -1)
        shape = [size if bit else 1 for size, bit in zip(parts.sizes, bits, strict=True)]
        array = array.reshape(*shape, len(observation.variances))
        for axis, (size, bit) in enumerate(zip(parts.sizes, bits, strict=True)):
            if bit:
                average, contrasts = _split(array, axis)
                array = np.concatenate([average * (0 if observation.residual else size), contrasts], axis)
        scale = parts.cells if observation.residual else parts.left_out(observation.kept)
        return array * (scale / np.array(observation.variances))

    def _spread_out(self, figures: Array) -> Array:
        """A figure for each component, at every entry that belongs to the component."""
        for axis, size in enumerate(self._parts.sizes):
            figures = figures.take(np.minimum(np.arange(size), 1), axis)
        return figures

    def _cells(self, components: Array) -> Array:
        """The cells from their components: the inverse of `_split` along every free key."""
        for axis in range(len(self._parts.sizes)):
            average, contrasts = components.take([0], axis), np.delete(components, 0, axis)
            first = average - contrasts.sum(axis=axis, keepdims=True)
            components = np.concatenate([first, average + contrasts], axis)
        if self.layout.slicing is None:
            return components.reshape(self.layout.sizes)
        others = [size for index, size in enumerate(self.layout.sizes) if index != self.layout.slicing]
        return np.ascontiguousarray(np.moveaxis(components.reshape(*others, -1), -1, self.layout.slicing))

    def _links(self, margin: Margin, observed: Margin, slice_place: int) -> Array:
        """How the estimate of each component of a figure follows the normal equations of an observation, by slice."""
        precision = self._precision
        damped = precision.inverse / precision.damping[..., None]
        separate, together = self._parts.separates(margin), not self._parts.separates(observed)
        if not separate:
            return np.asarray(self._summed[..., None]) if together else damped
        if together:
            return np.asarray(damped[..., [slice_place]])
        mine = precision.inverse[..., [slice_place]]
        links = -mine * damped * precision.pooled[..., None]
        links[..., slice_place] += mine[..., 0]
        return links

    def _agreements(
        self, observation: Observation, margin: Margin, slice_place: int
    ) -> tuple[Array, NDArray[np.int64]]:
        """The coefficient of an observed value in a figure for each way their keys may agree, and how many have it.

        Coefficients are by agreement, then by the slices of the observation.
        """
        parts = self._parts
        links = self._links(margin, observation.kept, slice_place)
        counts, axis = np.ones((), dtype=np.int64), 0
        for size, kept, shown in zip(parts.sizes, parts.bits(observation.kept), parts.bits(margin), strict=True):
            if not (kept and shown):
                links, counts = np.asarray(links.take(0, axis)), np.asarray(counts * (size if kept else 1))
                continue
            below, above = links.take(0, axis) * (not observation.residual), links.take(1, axis)
            # where the two differ in the key, and where they agree
            links = np.stack([below - above / size, below + above * (1 - 1 / size)], axis)
            counts = np.multiply.outer(counts, np.array([size - 1, 1]))
            axis += 1
        scale = parts.left_out(margin) * (parts.cells if observation.residual else parts.left_out(observation.kept))
        variances = np.array(observation.variances)
        return (links * (scale / variances)).reshape(-1, len(variances)), counts.reshape(-1)


def _split(array: Array, axis: int) -> tuple[Array, Array]:
    """The average along an axis, and by how much all entries but the first differ from it; the first follows."""
    average = array.mean(axis=axis, keepdims=True)
    return average, np.delete(array, 0, axis) - average


def _merge(
    coefficients: Array, counts: NDArray[np.int64], variances: Sequence[float], deviation: float
) -> Iterator[tuple[int, float, int]]:
    """Slice, coefficient and count of the noises that have an effect on a figure with this standard deviation."""
    noise = np.tile(np.sqrt(variances), len(counts))
    # slices with noise of one variance go under the first of them
    indices = np.tile([variances.index(variance) for variance in variances], len(counts))
    numbers = np.repeat(counts, len(variances))
    effects = coefficients.reshape(-1) * noise
    felt = np.flatnonzero(np.abs(effects) * np.sqrt(numbers) > NEGLIGIBLE * deviation)
    if not len(felt):
        return
    order = felt[np.lexsort((effects[felt], indices[felt]))]
    other = np.diff(effects[order], prepend=-np.inf) > NEGLIGIBLE * deviation
    starts = np.flatnonzero(other | (np.diff(indices[order], prepend=-1) > 0))
    firsts = order[starts]
    yield from zip(
        indices[firsts].tolist(),
        (effects[firsts] / noise[firsts]).tolist(),
        np.add.reduceat(numbers[order], starts).tolist(),
        strict=True,
    )
