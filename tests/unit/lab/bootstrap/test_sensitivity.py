"""Sensitivities of the farms as printed and as they are, and of the cells that nobody moves."""

from __future__ import annotations

import pytest

from discreet.lab.bootstrap.bootstrap_sensitivity import (
    CellSummary,
    PublicBounds,
    ScaleMethod,
    TableKind,
    cell_sensitivities,
    count_summary,
    noise_scales,
    printed_cell_sensitivities,
    printed_table_sensitivity,
    released_scales,
    summarise,
    table_sensitivity,
)

Cells = dict[tuple[str, str], CellSummary]


def test_farms_as_printed(farms: Cells) -> None:
    printed = [8766, 2600, 3020, 17528, 11800, 8058, 14336, 305, 1900]
    assert list(printed_cell_sensitivities(farms, statistic=TableKind.TOTAL).values()) == printed
    assert printed_table_sensitivity(farms, statistic=TableKind.TOTAL) == 17528


def test_farms_as_they_are(farms: Cells) -> None:
    assert table_sensitivity(farms) == 17610 + 14520 == 32130
    assert cell_sensitivities(farms) == {cell: summary.high for cell, summary in farms.items()}


def test_farms_by_method(farms: Cells) -> None:
    small = ("share", "mixed")
    scales = {
        (method, printed): noise_scales(farms, method=method, statistic=TableKind.TOTAL, printed=printed)[small]
        for method in (ScaleMethod.MAXIMUM, ScaleMethod.SPLIT, ScaleMethod.MEMBERSHIP)
        for printed in (True, False)
    }
    assert scales == {
        (ScaleMethod.MAXIMUM, True): 17528,
        (ScaleMethod.MAXIMUM, False): 32130,
        (ScaleMethod.SPLIT, True): 9 * 305,
        (ScaleMethod.SPLIT, False): 9 * 705,
        (ScaleMethod.MEMBERSHIP, True): 305,
        (ScaleMethod.MEMBERSHIP, False): 305,
    }
    assert noise_scales(farms, method=ScaleMethod.PAIR, statistic=TableKind.TOTAL)[small] == 2 * 705
    with pytest.raises(ValueError, match="does not print"):
        noise_scales(farms, method=ScaleMethod.PAIR, statistic=TableKind.TOTAL, printed=True)


def test_a_row_that_changes_cell_exceeds_what_is_printed() -> None:
    """Ones of cell a replaced by a ten of cell b: the totals move by 1 + 10, the counts by 1 + 1."""
    totals = summarise({"a": [1, 1], "b": [10, 10]})
    assert printed_table_sensitivity(totals, statistic=TableKind.TOTAL) == 0
    assert table_sensitivity(totals) == 11
    counts = {"a": count_summary(2), "b": count_summary(2)}
    assert printed_table_sensitivity(counts, statistic=TableKind.COUNT) == 1
    assert table_sensitivity(counts) == 2


@pytest.mark.parametrize(("inside", "rows", "expected"), [(0, 5, 0), (1, 5, 1), (4, 5, 1), (5, 5, 0)])
def test_a_single_count(inside: int, rows: int, expected: int) -> None:
    cells = {"in": count_summary(inside), "out": count_summary(rows - inside)}
    assert cell_sensitivities(cells)["in"] == expected
    assert printed_cell_sensitivities(cells, statistic=TableKind.COUNT)["in"] == expected
    alone = {"in": count_summary(inside)}
    assert cell_sensitivities(alone, outside=rows > inside)["in"] == expected


def test_rows_that_lie_in_no_cell_can_enter_one() -> None:
    cells = summarise({"a": [7, 9], "b": []})
    assert table_sensitivity(cells) == 2
    assert table_sensitivity(cells, outside=True) == 9


def test_values_of_both_signs() -> None:
    cells = summarise({"a": [-5, 6], "b": [-2]})
    assert cell_sensitivities(cells) == {"a": 11, "b": 2}
    assert table_sensitivity(cells) == 11
    assert table_sensitivity({**cells, "b": CellSummary(1, -9, -9, -9)}) == 15


def test_nothing_moves_one_row_or_no_rows() -> None:
    assert table_sensitivity(summarise({"a": [4], "b": []})) == 0
    assert table_sensitivity(summarise({"a": [], "b": []})) == 0


@pytest.mark.parametrize("method", ScaleMethod)
@pytest.mark.parametrize(
    "values", [{"a": [4], "b": []}, {"a": [4, 4], "b": [3]}, {"a": [0, 0], "b": [0]}, {"a": [], "b": []}]
)
def test_no_cell_is_released_exactly(method: ScaleMethod, values: dict[str, list[int]]) -> None:
    scales = released_scales(summarise(values), method=method, statistic=TableKind.TOTAL, public=PublicBounds(0, 10))
    assert all(scale > 0 for scale in scales.values())


@pytest.mark.parametrize("method", ScaleMethod)
def test_what_nobody_moves_is_not_told_by_less_noise(method: ScaleMethod) -> None:
    """Else a cell near 0 among cells far off would be known to be empty."""
    counts = {"a": count_summary(5), "b": count_summary(9), "c": count_summary(0), "d": count_summary(1)}
    totals = summarise({"a": [4, 9], "b": [5, 8], "c": [], "d": [2]})
    for cells, statistic in ((counts, TableKind.COUNT), (totals, TableKind.TOTAL)):
        scales = released_scales(cells, method=method, statistic=statistic, public=PublicBounds(0, 50))
        assert scales["c"] == max(scales.values())
        assert scales["c"] >= table_sensitivity(cells)


def test_what_nobody_moves_gets_the_noise_of_the_table() -> None:
    cells = summarise({"a": [4, 9], "b": [5], "c": []})
    scales = released_scales(
        cells, method=ScaleMethod.MEMBERSHIP, statistic=TableKind.TOTAL, public=PublicBounds(0, 50)
    )
    assert scales == {"a": 5, "b": 14, "c": 14}
    still = released_scales(
        summarise({"a": [4], "b": []}), method=ScaleMethod.SPLIT, statistic=TableKind.TOTAL, public=PublicBounds(0, 50)
    )
    assert still == {"a": 100, "b": 100}
    alone = {"a": count_summary(4), "b": count_summary(0), "c": count_summary(0)}
    split = released_scales(alone, method=ScaleMethod.SPLIT, statistic=TableKind.COUNT, public=PublicBounds(1, 1))
    assert split == {"a": 3, "b": 3, "c": 3}


def test_public_bounds_are_those_of_replaced_rows() -> None:
    assert (PublicBounds(0, 17610).cell, PublicBounds(0, 17610).table(9)) == (17610, 35220)
    assert (PublicBounds(-3, 5).cell, PublicBounds(-3, 5).table(2), PublicBounds(-3, 5).table(1)) == (8, 10, 8)
    assert (PublicBounds(1, 1).cell, PublicBounds(1, 1).table(4)) == (1, 2)
    with pytest.raises(ValueError, match="lower bound"):
        PublicBounds(2, 1)


@pytest.mark.parametrize(
    "fields", [(-1, 0, 0, 0), (0, 1, 0, 0), (2, 5, 4, 3), (1, 5, 4, 5), (3, 16, 1, 7), (3, 8, 1, 7)]
)
def test_summaries_that_cannot_be(fields: tuple[int, int, int, int]) -> None:
    with pytest.raises(ValueError, match="cell"):
        CellSummary(*fields)


def test_joined_cells_hold_the_rows_of_both() -> None:
    assert CellSummary(2, 5, 1, 4).joined(CellSummary(1, -2, -2, -2)) == CellSummary(3, 3, -2, 4)
    assert CellSummary(0, 0, 0, 0).joined(CellSummary(1, 9, 9, 9)) == CellSummary(1, 9, 9, 9)
    assert CellSummary(1, 9, 9, 9).joined(CellSummary(0, 0, 0, 0)) == CellSummary(1, 9, 9, 9)
