"""Whom the paper's promise covers: its 1,026 rows are 171 farms in six seasons, and a farm is more than one row.

The paper replaces one row by another, so its epsilon is for a farm in one season. A farm wants the promise for all of
its rows: neighbours then replace it with all its seasons by another farm. By group privacy that costs six times as much
at most; the rows of the file tell how much it is.

Proof:     docs/proofs/bootstrap.md
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

import numpy as np

from discreet.catalogue import ENGLISH, Phrase, say, speaking
from discreet.lab.bootstrap.bootstrap_sensitivity import (
    PublicBounds,
    TableKind,
    cell_sensitivities,
    count_summary,
    printed_cell_sensitivities,
    printed_table_sensitivity,
    table_sensitivity,
)
from discreet_replications.farms.farms_audit import PUBLIC_BOUND
from discreet_replications.farms.rice_farms import CELLS, FARMS, SEASONS, Cell, Farms, name_cell

__all__ = ["UNIT", "FarmUnits", "UnitLine", "find_units"]

UNIT: Final = Phrase(
    "The {rows:,} rows are {farms} farms in six seasons. The paper protects a row, a farm in one season; a farm has up "
    "to six rows, so an ε for rows is up to 6·ε for the farm.",
    rows=FARMS * SEASONS,
    farms=FARMS,
)
_EXACT: Final = Phrase(
    "For the farm as unit the table of counts needs {counts:,} instead of {count:,}, and the table of totals up to "
    "{totals:,} kg instead of {total:,}. Where rows are promised ε = 1, a farm loses up to {printed:.2f} in the table "
    "of totals as printed, and {right:.2f} as corrected."
)
_AT_MOST: Final = Phrase(
    "For the farm as unit the table of counts needs {counts:,} instead of {count:,}, and the table of totals at most "
    "{totals:,} kg instead of {total:,}. Where rows are promised ε = 1, a farm loses at most {printed:.2f} in the "
    "table of totals as printed, and {right:.2f} as corrected."
)


@dataclass(frozen=True, slots=True)
class UnitLine:
    """How far one output moves when a row is replaced (`printed` by the paper, `row` as it is), and when a farm is.

    Not `exact`: no rows were read, and `farm` is what six rows can move at most.
    """

    what: Phrase
    printed: int
    row: int
    farm: int
    exact: bool

    @property
    def losses(self) -> tuple[Fraction, Fraction]:
        """What a farm loses where the noise promises its rows epsilon 1: as printed, and as it is for rows."""
        return Fraction(self.farm, self.printed), Fraction(self.farm, self.row)

    def to_dict(self) -> dict[str, Any]:
        printed, row = self.losses
        return {
            "what": self.what.en,
            "row_printed": self.printed,
            "row": self.row,
            "farm": self.farm,
            "farm_is": "exact" if self.exact else "at most",
            "farm_loses_printed": float(printed),
            "farm_loses": float(row),
        }


@dataclass(frozen=True, slots=True)
class FarmUnits:
    """The farm as unit. `counted` holds the file's own rows, farms, most seasons of one and most cells of one.

    `beyond` farms can lose more than epsilon though the noise is right for rows. Both are None without rows and ids.
    """

    lines: tuple[UnitLine, ...]
    counted: tuple[int, int, int, int] | None = None
    beyond: int | None = None

    def tell(self) -> list[str]:
        """The unit and what it costs, in sentences."""
        counts, totals = self.lines[0], self.lines[1]
        lines = [str(UNIT)]
        if self.counted is not None:
            rows, farms, seasons, cells = self.counted
            lines.append(
                say(
                    "Counted in the file: {rows:,} rows, {farms:,} farms, up to {seasons} rows and {cells} cells each. "
                    "With noise that is right for rows, {beyond:,} of {farms:,} farms can lose more than ε.",
                    rows=rows,
                    farms=farms,
                    seasons=seasons,
                    cells=cells,
                    beyond=self.beyond,
                )
            )
        printed, right = map(float, totals.losses)
        costs = _EXACT if totals.exact else _AT_MOST
        facts = {"counts": counts.farm, "count": counts.row, "totals": totals.farm, "total": totals.row}
        return [*lines, str(costs.about(**facts, printed=printed, right=right))]

    def to_dict(self) -> dict[str, Any]:
        names = ("rows", "farms", "most_rows_of_a_farm", "most_cells_of_a_farm")
        with speaking(ENGLISH):
            told = self.tell()
        return {
            "unit_of_the_paper": "row: a farm in one season",
            "rows": FARMS * SEASONS,
            "farms": FARMS,
            "seasons": SEASONS,
            "counted": None if self.counted is None else dict(zip(names, self.counted, strict=True)),
            "farms_beyond_epsilon": self.beyond,
            "sensitivities": [line.to_dict() for line in self.lines],
            "told": told,
        }


def find_units(farms: Farms) -> FarmUnits:
    """Sensitivities for rows and for farms: from the rows and their ids, else six times those of rows at most."""
    if farms.holdings is None:
        lines = _lines(farms, None, SEASONS)
        return FarmUnits(lines)
    held = list(farms.holdings.values())
    counts, totals = (_matrix(held, value=value) for value in (False, True))
    moved = {"counts": _moves(counts), "totals": _moves(totals)}
    most = max(map(len, held))
    row = table_sensitivity(farms.cells)
    return FarmUnits(
        lines=_lines(farms, _Moved(int(moved["counts"].max()), int(moved["totals"].max()), _widest(totals)), most),
        counted=(sum(map(len, held)), len(held), most, int((counts > 0).sum(axis=1).max())),
        beyond=int((moved["totals"].max(axis=1) > row).sum()),
    )


@dataclass(frozen=True, slots=True)
class _Moved:
    """What a replaced farm moves, from the rows: the table of counts, that of totals, each cell."""

    counts: int
    totals: int
    cells: Mapping[Cell, int]


def _lines(farms: Farms, moved: _Moved | None, seasons: int) -> tuple[UnitLine, ...]:
    cells, exact = farms.cells, moved is not None
    counts = {cell: count_summary(summary.n) for cell, summary in cells.items()}
    row, count = table_sensitivity(cells), table_sensitivity(counts)
    printed, own = printed_cell_sensitivities(cells, statistic=TableKind.TOTAL), cell_sensitivities(cells)
    public = PublicBounds(low=0, high=PUBLIC_BOUND)
    lines = [
        UnitLine(Phrase("table of counts"), 1, count, moved.counts if moved else seasons * count, exact),
        UnitLine(
            Phrase("table of totals, (i)"),
            printed_table_sensitivity(cells, statistic=TableKind.TOTAL),
            row,
            moved.totals if moved else seasons * row,
            exact,
        ),
        UnitLine(
            Phrase("table of totals, public bounds 0 to {bound:,}", bound=PUBLIC_BOUND),
            public.cell,
            public.table(len(cells)),
            seasons * public.table(len(cells)),
            exact=True,
        ),
    ]
    lines += [
        UnitLine(
            Phrase("total of {cell} alone", cell=name_cell(cell)),
            printed[cell],
            own[cell],
            moved.cells[cell] if moved else min(seasons, cells[cell].n) * own[cell],
            exact,
        )
        for cell in CELLS
    ]
    return tuple(lines)


def _matrix(
    held: Sequence[Sequence[tuple[Cell, int]]], *, value: bool
) -> np.ndarray[tuple[int, int], np.dtype[np.int64]]:
    """What each farm adds to each cell: its rows, or their kilograms."""
    added = np.zeros((len(held), len(CELLS)), dtype=np.int64)
    for index, rows in enumerate(held):
        for cell, kilograms in rows:
            added[index, CELLS.index(cell)] += kilograms if value else 1
    return added


def _moves(added: np.ndarray[tuple[int, int], np.dtype[np.int64]]) -> np.ndarray[tuple[int, int], np.dtype[np.int64]]:
    """How far the whole table moves when one farm takes the place of another, for every pair."""
    return np.array([np.abs(added - item).sum(axis=1) for item in added])


def _widest(added: np.ndarray[tuple[int, int], np.dtype[np.int64]]) -> dict[Cell, int]:
    wide = added.max(axis=0) - added.min(axis=0)
    return {cell: int(wide[index]) for index, cell in enumerate(CELLS)}
