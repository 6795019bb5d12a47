"""Estimates from margins agree with least squares written out as matrices, on any small table."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from discreet.tables.linear.estimation import LinearEstimator
from discreet.tables.linear.layout import Layout, Margin, Observation, every_margin

Matrix = NDArray[np.floating]
noise_variances = st.floats(0.05, 20)


@dataclass(frozen=True)
class Case:
    layout: Layout
    observations: tuple[Observation, ...]

    def matrix(self, observation: Observation) -> Matrix:
        """What is observed, row by row, as a function of the cells."""
        matrix: Matrix = np.ones((1, 1))
        for place, size in enumerate(self.layout.sizes):
            if place not in observation.kept:
                step = np.ones((1, size))
            elif observation.residual and place != self.layout.slicing:
                step = size * np.eye(size) - 1
            else:
                step = np.eye(size)
            matrix = np.kron(matrix, step)
        return matrix

    def noise(self, observation: Observation) -> Matrix:
        """The variance of each observed value."""
        shape = self.layout.shape(observation.kept)
        if not self.layout.keeps_slices(observation.kept):
            return np.full(int(np.prod(shape)), observation.variances[0])
        assert self.layout.slicing is not None
        axis = observation.kept.index(self.layout.slicing)
        each = np.array(observation.variances).reshape([-1 if place == axis else 1 for place in range(len(shape))])
        return np.broadcast_to(each, shape).reshape(-1)

    def solution(self) -> tuple[Matrix, Matrix]:
        """The matrix of the estimate, and its covariance."""
        design = np.vstack([self.matrix(one) for one in self.observations])
        weights = 1 / np.concatenate([self.noise(one) for one in self.observations])
        covariance: Matrix = np.linalg.inv(design.T @ (weights[:, None] * design))
        return covariance @ design.T * weights, covariance


@st.composite
def layouts(draw: st.DrawFn) -> Layout:
    sizes = tuple(draw(st.lists(st.integers(1, 4), min_size=1, max_size=4)))
    slicing = draw(st.none() | st.integers(0, len(sizes) - 1))
    return Layout(sizes, slicing, tuple(every_margin(len(sizes))))


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """Cells or all residuals, so that everything is determined; then any margins and residuals beside them."""
    layout = draw(layouts())
    margins = list(every_margin(len(layout.sizes)))
    base = [(layout.cells, False)]
    if draw(st.booleans()):
        base = [(margin, True) for margin in margins if layout.slicing is None or layout.slicing in margin]
    extra = draw(st.lists(st.tuples(st.sampled_from(margins), st.booleans()), max_size=4))
    observations = []
    for kept, residual in draw(st.permutations(base + extra)):
        count = layout.slices if layout.keeps_slices(kept) else 1
        same = draw(st.booleans())
        variances = [draw(noise_variances)] * count if same else [draw(noise_variances) for _ in range(count)]
        observations.append(Observation(kept, residual, tuple(variances)))
    return Case(layout, tuple(observations))


def figures(layout: Layout, margin: Margin) -> Matrix:
    """The figures of a margin as a function of the cells."""
    return Case(layout, ()).matrix(Observation(margin, False, ()))


@given(cases(), st.integers(0, 2**32 - 1))
def test_the_estimate_is_generalised_least_squares(case: Case, seed: int) -> None:
    random = np.random.default_rng(seed)
    values = [random.normal(size=case.layout.shape(one.kept)) * 10 for one in case.observations]
    solution, _ = case.solution()
    expected = solution @ np.concatenate([value.reshape(-1) for value in values])
    found = LinearEstimator(case.layout, case.observations).estimate(values)
    assert found.shape == case.layout.sizes
    np.testing.assert_allclose(found.reshape(-1), expected, rtol=1e-7, atol=1e-7)


@given(cases(), st.integers(0, 2**32 - 1))
def test_exact_values_give_the_exact_cells(case: Case, seed: int) -> None:
    cells = np.random.default_rng(seed).integers(-1000, 1000, size=case.layout.sizes)
    values = [case.matrix(one) @ cells.reshape(-1) for one in case.observations]
    np.testing.assert_allclose(LinearEstimator(case.layout, case.observations).estimate(values), cells, atol=1e-7)


@given(cases())
def test_variances_are_those_of_least_squares(case: Case) -> None:
    estimator = LinearEstimator(case.layout, case.observations)
    _, covariance = case.solution()
    for margin in case.layout.margins:
        summed = figures(case.layout, margin)
        expected = np.diag(summed @ covariance @ summed.T).reshape(case.layout.shape(margin))
        found = estimator.variances(margin)
        if case.layout.keeps_slices(margin):
            assert case.layout.slicing is not None
            expected = np.moveaxis(expected, margin.index(case.layout.slicing), 0).reshape(case.layout.slices, -1)
            found = found[:, None]
        np.testing.assert_allclose(
            np.broadcast_to(found, np.atleast_1d(expected).shape).reshape(expected.shape), expected, rtol=1e-7
        )


@given(cases(), st.data())
def test_terms_are_the_coefficients_of_least_squares(case: Case, data: st.DataObject) -> None:
    margin = data.draw(st.sampled_from(case.layout.margins))
    slice_place = data.draw(st.integers(0, case.layout.slices - 1)) if case.layout.keeps_slices(margin) else 0
    terms = LinearEstimator(case.layout, case.observations).terms(margin, slice_place)
    place = data.draw(st.sampled_from(list(_places(case.layout, margin, slice_place))))
    row = (figures(case.layout, margin) @ case.solution()[0])[place]
    start, unit = 0, np.abs(row).max()
    for number, observation in enumerate(case.observations):
        noise = case.noise(observation)
        coefficients = row[start : start + len(noise)]
        start += len(noise)
        for variance in set(noise.tolist()):
            mine = [
                term
                for term in terms
                if term.observation == number and observation.variances[term.slice_place] == variance
            ]
            found = [one for term in mine for one in [term.coefficient] * term.count]
            expected = coefficients[noise == variance]
            found += [0.0] * (len(expected) - len(found))
            np.testing.assert_allclose(sorted(found), sorted(expected), atol=1e-7 * unit)


@given(cases())
def test_terms_add_up_to_the_variance(case: Case) -> None:
    estimator = LinearEstimator(case.layout, case.observations)
    for margin in case.layout.margins:
        for place, expected in enumerate(estimator.variances(margin)):
            found = sum(
                term.count * term.coefficient**2 * case.observations[term.observation].variances[term.slice_place]
                for term in estimator.terms(margin, place)
            )
            np.testing.assert_allclose(found, expected, rtol=1e-8)


def _places(layout: Layout, margin: Margin, slice_place: int) -> list[int]:
    """The figures of a margin, as numbers in order, that lie in a slice."""
    codes = list(product(*(range(size) for size in layout.shape(margin))))
    if not layout.keeps_slices(margin):
        return list(range(len(codes)))
    assert layout.slicing is not None
    axis = margin.index(layout.slicing)
    return [number for number, code in enumerate(codes) if code[axis] == slice_place]
