"""What the reproduction found, in sentences: the verdict, the paper's slips, and what only the rows could show."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Final

from discreet.lab.bootstrap.bootstrap_accuracy import error_bound, noisier_cells
from discreet.lab.bootstrap.bootstrap_sensitivity import (
    ScaleMethod,
    TableKind,
    noise_scales,
    printed_table_sensitivity,
    table_sensitivity,
)
from discreet_replications.farms.farms_audit import LossFinding, RowAudit
from discreet_replications.farms.rice_farms import MISPRINT, PRINTED, Farms, name_cell

if TYPE_CHECKING:
    from discreet_replications.farms.farms_reproduction import Compared

__all__ = ["UNSHOWN", "tell_slips", "tell_verdict"]

UNSHOWN: Final = (
    "Whether Table 1 itself is right: it is where this run starts.",
    "That no pair of rows moves the table further than the corrected sensitivity, and how many lose more than ε.",
    "Each row in turn as the outsider.",
    "How far a farm with all its seasons moves the tables: six times a row is the most it can be.",
)
_GAMMA: Final = "0.05"
_LISTED: Final = 6


def tell_verdict(
    farms: Farms, compared: Sequence[Compared], findings: Sequence[LossFinding], rows: RowAudit | None
) -> list[str]:
    """Whether the tables come out, what the sensitivities should be, who loses what."""
    return [*_tell_tables(farms, compared), _tell_sensitivities(farms), *_tell_losses(findings), *_tell_rows(rows)]


def _tell_tables(farms: Farms, compared: Sequence[Compared]) -> list[str]:
    first = 1 if farms.rows is not None else 2
    taken = [line for line in compared if line.table >= first]
    agreeing = sum(line.agrees for line in taken)
    lines = [
        f"From {farms.source}: {agreeing} of {len(taken)} printed figures of Tables {first} to 4 come out to the last "
        "decimal."
    ]
    if any(line.misprint for line in compared):
        (cell, right), printed = MISPRINT, PRINTED[MISPRINT[0]]
        lines.append(
            f"One figure is a misprint: the maximum of {name_cell(cell)} is {right:,}, printed as {printed.high:,}. "
            f"{printed.n} rows of {printed.high:,} kg at most could not total {printed.total:,}."
        )
    wrong = [line for line in taken if not line.agrees and not line.misprint]
    if wrong:
        named = [f"{line.figure} of {name_cell(line.cell)} in Table {line.table}" for line in wrong]
        more = f" and {len(named) - _LISTED} more" if len(named) > _LISTED else ""
        lines.append(f"These differ, so the rows are not the paper's: {', '.join(named[:_LISTED])}{more}.")
    return lines


def _tell_sensitivities(farms: Farms) -> str:
    printed = printed_table_sensitivity(farms.cells, statistic=TableKind.TOTAL)
    right = table_sensitivity(farms.cells)
    return (
        "The paper's sensitivities are too small for its own neighbours: a row that changes its cell moves the table "
        f"of counts by 2, not 1, and the table of totals by up to {right:,} kg, not {printed:,}."
    )


def _tell_losses(findings: Sequence[LossFinding]) -> list[str]:
    losses = {
        group: max(found.trial.loss or Fraction() for found in findings if found.trial.group == group)
        for group in ("inside", "outside")
    }
    return [
        f"At a promised ε = 1, rows of the data lose up to {float(losses['inside']):.2f} with the printed "
        "sensitivities, and at most 1 with the corrected ones.",
        f"An outsider who joins loses up to {float(losses['outside']):.1f} if the noise stays as it was, and has no "
        "bound at all if it is computed anew. Corrected sensitivities do not help; public bounds do: at most 1, for "
        "everybody.",
    ]


def _tell_rows(rows: RowAudit | None) -> list[str]:
    if rows is None:
        return []
    return [
        f"Of all pairs of rows, none moves the table of totals by more than {rows.largest_change:,} kg. Under (i) as "
        f"printed, {rows.beyond:,} of {rows.rows:,} can lose more than ε.",
        f"With each row in turn as the outsider, {rows.outsiders} would have lost more than ε in their own cell; "
        f"{rows.unbounded} of them everything, because the rest of their cell has no spread and gets no noise.",
    ]


def tell_slips(farms: Farms) -> list[str]:
    """What a reader of the paper should know, in the order of its sections."""
    cells = farms.cells
    scales = noise_scales(cells, method=ScaleMethod.SPLIT, statistic=TableKind.TOTAL, printed=True)
    noisier = noisier_cells(cells, statistic=TableKind.TOTAL, printed=True)
    whole = printed_table_sensitivity(cells, statistic=TableKind.TOTAL)
    named = ", ".join(f"{name_cell(cell)} ({scales[cell]:,})" for cell in noisier)
    bound = error_bound(sensitivity=whole, epsilon=1, values=len(cells), gamma=_GAMMA)
    return [
        "Theorem 4 says “at least γ”; it is at least 1 − γ, and its norm needs absolute values. With γ = "
        f"{_GAMMA}, no cell of (i) as printed is off by more than {bound:,.0f} kg, with probability at least 95%.",
        "Section 5.1 calls counts with Lap(1/ε) ε-differentially private. Where a row is replaced they are 2ε; and "
        "counts of 0 or n, released exactly, have no protection at all.",
        "Section 5.2: method (ii) as printed gives a cell less noise than its ε/9 asks for; the table stays below ε "
        "all the same, because a row touches two cells and not nine. So ε/2 for each cell is enough: 2·max(V, M).",
        "Section 5.3 places the farms in India; they are in Indonesia. The file has 20 variables and a row name. "
        "“Both” varieties are the code mixed.",
        "Table 4 divides accuracies, and an accuracy is one over an error bound (Equation 3). As a ratio of errors, "
        "bootstrap to original, it is upside down: 57.738 means 57.738 times less noise.",
        f"Section 5.3.2 finds one cell noisier under (i) than under (ii), Share/Both. By its own scales there are "
        f"{len(noisier)} below the {whole:,} of (i): {named or 'none'}.",
    ]
