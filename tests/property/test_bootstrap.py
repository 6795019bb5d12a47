"""Bootstrap sensitivities against every pair of neighbouring data sets over the rows of tiny data sets.

Neighbours that move a row between cells, into one or out of all never exceed the sensitivity used, and some attain it.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from discreet.lab.bootstrap.bootstrap_sensitivity import (
    CellSummary,
    PublicBounds,
    ScaleMethod,
    TableKind,
    cell_sensitivities,
    noise_scales,
    printed_table_sensitivity,
    released_scales,
    summarise,
    table_sensitivity,
)
from discreet.lab.bootstrap.observed_cells import Observed

CELLS = 3
BOUNDS = PublicBounds(-3, 3)

Row = tuple[int | None, int]
"""The cell a row lies in, None where it lies in no cell, and what it adds there."""

rows = st.tuples(st.none() | st.integers(0, CELLS - 1), st.integers(BOUNDS.low, BOUNDS.high))
datasets = st.lists(rows, min_size=1, max_size=3)


def tabulate(data: tuple[Row, ...]) -> tuple[int, ...]:
    return tuple(sum(value for cell, value in data if cell == place) for place in range(CELLS))


def neighbours(data: list[Row], *, same_cell: bool = False) -> Iterator[tuple[int, ...]]:
    """By how much each cell differs, for every pair of neighbouring data sets over the rows of `data`."""
    for first in product(data, repeat=len(data)):
        for place, row in product(range(len(first)), data):
            if same_cell and row[0] != first[place][0]:
                continue
            second = (*first[:place], row, *first[place + 1 :])
            yield tuple(a - b for a, b in zip(tabulate(first), tabulate(second), strict=True))


def observed(data: list[Row]) -> Observed:
    found = summarise({cell: [value for at, value in data if at == cell] for cell in range(CELLS)})
    return Observed(tuple(found.values()), outside=any(cell is None for cell, _ in data))


def cells_of(data: list[Row]) -> dict[int, CellSummary]:
    return dict(enumerate(observed(data).cells))


def counted(data: list[Row]) -> list[Row]:
    return [(cell, 1) for cell, _ in data]


@given(datasets)
def test_the_table_moves_as_far_as_its_sensitivity_and_no_farther(data: list[Row]) -> None:
    for kind in (data, counted(data)):
        moved = max(sum(map(abs, difference)) for difference in neighbours(kind))
        assert moved == table_sensitivity(cells_of(kind), outside=observed(kind).outside)


@given(datasets)
def test_each_cell_moves_as_far_as_its_sensitivity_and_no_farther(data: list[Row]) -> None:
    for kind in (data, counted(data)):
        found = list(neighbours(kind))
        expected = cell_sensitivities(cells_of(kind), outside=observed(kind).outside)
        assert {cell: max(abs(one[cell]) for one in found) for cell in range(CELLS)} == expected


@given(datasets)
def test_with_public_membership_a_cell_moves_by_its_spread(data: list[Row]) -> None:
    found = list(neighbours(data, same_cell=True))
    expected = noise_scales(cells_of(data), method=ScaleMethod.MEMBERSHIP, statistic=TableKind.TOTAL)
    assert {cell: max(abs(one[cell]) for one in found) for cell in range(CELLS)} == expected


@given(datasets, st.sampled_from(ScaleMethod), st.sampled_from(TableKind))
def test_no_neighbour_loses_more_than_epsilon(data: list[Row], method: ScaleMethod, statistic: TableKind) -> None:
    """At epsilon 1 the loss of a pair is the sum over cells of the difference by the scale of its noise."""
    kind = data if statistic is TableKind.TOTAL else counted(data)
    bounds = BOUNDS if statistic is TableKind.TOTAL else PublicBounds(1, 1)
    scales = released_scales(
        cells_of(kind), method=method, statistic=statistic, public=bounds, outside=observed(kind).outside
    )
    assert min(scales.values()) > 0
    for difference in neighbours(kind, same_cell=method is ScaleMethod.MEMBERSHIP):
        assert sum(Fraction(abs(moved), scales[cell]) for cell, moved in enumerate(difference)) <= 1


@given(datasets, datasets)
def test_a_larger_pool_never_needs_less_noise(data: list[Row], pool: list[Row]) -> None:
    alone, joined = observed(data), observed(data).joined(observed(pool))
    assert joined == observed([*data, *pool])
    for method, statistic in product(ScaleMethod, [TableKind.TOTAL]):
        small, large = (
            noise_scales(dict(enumerate(one.cells)), method=method, statistic=statistic, outside=one.outside)
            for one in (alone, joined)
        )
        assert all(large[cell] >= scale for cell, scale in small.items())


@given(datasets)
def test_bootstrap_never_needs_more_noise_than_public_bounds(data: list[Row]) -> None:
    found = observed(data)
    cells = dict(enumerate(found.cells))
    assert table_sensitivity(cells, outside=found.outside) <= BOUNDS.table(CELLS)
    assert max(cell_sensitivities(cells, outside=found.outside).values()) <= BOUNDS.cell


def test_what_is_printed_is_exceeded_by_a_row_that_changes_its_cell() -> None:
    data: list[Row] = [(0, 2), (0, 3), (1, 3)]
    for kind, statistic in ((data, TableKind.TOTAL), (counted(data), TableKind.COUNT)):
        printed = printed_table_sensitivity(cells_of(kind), statistic=statistic)
        moved = max(sum(map(abs, difference)) for difference in neighbours(kind))
        assert (printed, moved) == ((1, 6) if statistic is TableKind.TOTAL else (1, 2))
        for method in (ScaleMethod.MAXIMUM, ScaleMethod.SPLIT):
            if (method, statistic) == (ScaleMethod.SPLIT, TableKind.COUNT):
                continue  # single counts are printed as they are
            scales = noise_scales(cells_of(kind), method=method, statistic=statistic, printed=True)
            assert any(
                any(moved and not scales[cell] for cell, moved in enumerate(difference))
                or sum(Fraction(abs(moved), scales[cell]) for cell, moved in enumerate(difference) if scales[cell]) > 1
                for difference in neighbours(kind)
            )
