"""The farm as unit of the paper's example: what a farm with all its seasons moves, and loses."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest
from discreet_replications.farms.farms_units import find_units
from discreet_replications.farms.rice_farms import CELLS, PRINTED, name_cell, published_farms, read_farms

from tests.places import SHARED

FARMS = SHARED / "rice_farms.csv"


def test_a_row_is_not_a_farm() -> None:
    """Without the rows, six times what a row moves is the most that a farm can."""
    found = find_units(published_farms())
    lines = {str(line.what): line for line in found.lines}
    assert lines["table of counts"].losses == (Fraction(12), Fraction(6))
    totals = lines["table of totals, (i)"]
    assert (totals.row, totals.farm, totals.exact) == (32_130, 6 * 32_130, False)
    assert lines["total of Share/Both alone"].farm == 2 * 705  # it has two rows in all
    assert lines["table of totals, public bounds 0 to 20,000"].farm == 240_000
    told = " ".join(found.tell())
    assert "The 1,026 rows are 171 farms in six seasons." in told
    assert "6·ε for the farm" in told
    assert found.to_dict()["counted"] is None


def test_farms_are_compared_pair_by_pair(tmp_path: Path) -> None:
    """Two rows a farm, by brute force."""
    ends = [(cell, end) for cell in CELLS for end in (PRINTED[cell].low, PRINTED[cell].high)]
    rows = [f"{status},{kind},{end},{chr(65 + at * 5 % 9)}" for at, ((status, kind), end) in enumerate(ends)]
    file = tmp_path / "farms.csv"
    file.write_text("status,varieties,noutput,ID\n" + "\n".join(rows) + "\n", encoding="utf-8")
    farms = read_farms(file)
    assert farms.holdings is not None
    found = find_units(farms)
    vectors = [[sum(value for of, value in held if of == cell) for cell in CELLS] for held in farms.holdings.values()]
    moves = [[sum(abs(a - b) for a, b in zip(one, two, strict=True)) for two in vectors] for one in vectors]
    assert found.lines[1].farm == max(map(max, moves))
    assert found.counted == (18, 9, 2, 2)
    assert found.beyond == sum(max(move) > found.lines[1].row for move in moves)
    cells = {str(line.what): line.farm for line in found.lines[3:]}
    for place, cell in enumerate(CELLS):
        column = [vector[place] for vector in vectors]
        assert cells[f"total of {name_cell(cell)} alone"] == max(column) - min(column)


def test_a_file_without_ids_has_no_farms(tmp_path: Path) -> None:
    rows = [f"{status},{kind},{value}" for status, kind in CELLS for value in (1, 2)]
    (tmp_path / "farms.csv").write_text("status,varieties,noutput\n" + "\n".join(rows) + "\n", encoding="utf-8")
    assert find_units(read_farms(tmp_path / "farms.csv")).counted is None


@pytest.mark.skipif(not FARMS.is_file(), reason="the rice farms are not beside the checkout (shared/data)")
def test_the_rows_are_171_farms_in_six_seasons() -> None:
    found = find_units(read_farms(FARMS))
    assert found.counted == (1_026, 171, 6, 4)
    assert (found.lines[0].farm, found.lines[1].farm, found.beyond) == (12, 77_812, 171)
    assert "171 of 171 farms can lose more than ε" in " ".join(found.tell())
