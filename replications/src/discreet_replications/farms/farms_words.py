"""What the reproduction found, in sentences: the verdict, the paper's slips, and what only the rows could show."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Final

from discreet.catalogue import Numeral, Phrase, numeral, say
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

__all__ = ["FIGURES", "UNSHOWN", "tell_slips", "tell_verdict"]

# The figures of Tables 1 to 4, as files for machines call them.
FIGURES: Final = {
    "n": Phrase("n"),
    "total": Phrase("total"),
    "max": Phrase("max"),
    "min": Phrase("min"),
    "sensitivity": Phrase("sensitivity"),
    "percent": Phrase("percent"),
    "gain": Phrase("gain"),
}
UNSHOWN: Final = (
    Phrase("Whether Table 1 itself is right: it is where this run starts."),
    Phrase(
        "That no pair of rows moves the table further than the corrected sensitivity, and how many lose more than ε."
    ),
    Phrase("Each row in turn as the outsider."),
    Phrase("How far a farm with all its seasons moves the tables: six times a row is the most it can be."),
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
        say(
            "From {source}: {agreeing} of {all} printed figures of Tables {first} to 4 come out to the last decimal.",
            source=farms.source,
            agreeing=agreeing,
            all=len(taken),
            first=first,
        )
    ]
    if any(line.misprint for line in compared):
        (cell, right), printed = MISPRINT, PRINTED[MISPRINT[0]]
        lines.append(
            say(
                "One figure is a misprint: the maximum of {cell} is {right:,}, printed as {high:,}. {rows} rows of "
                "{high:,} kg at most could not total {total:,}.",
                cell=name_cell(cell),
                right=right,
                high=printed.high,
                rows=printed.n,
                total=printed.total,
            )
        )
    wrong = [line for line in taken if not line.agrees and not line.misprint]
    return [*lines, *([_tell_wrong(wrong)] if wrong else [])]


def _tell_wrong(wrong: Sequence[Compared]) -> str:
    named = ", ".join(
        say(
            "{figure} of {cell} in Table {table}",
            figure=FIGURES[line.figure],
            cell=name_cell(line.cell),
            table=line.table,
        )
        for line in wrong[:_LISTED]
    )
    if len(wrong) <= _LISTED:
        return say("These differ, so the rows are not the paper's: {named}.", named=named)
    more = len(wrong) - _LISTED
    return say("These differ, so the rows are not the paper's: {named} and {more} more.", named=named, more=more)


def _tell_sensitivities(farms: Farms) -> str:
    return say(
        "The paper's sensitivities are too small for its own neighbours: a row that changes its cell moves the table "
        "of counts by 2, not 1, and the table of totals by up to {right:,} kg, not {printed:,}.",
        right=table_sensitivity(farms.cells),
        printed=printed_table_sensitivity(farms.cells, statistic=TableKind.TOTAL),
    )


def _tell_losses(findings: Sequence[LossFinding]) -> list[str]:
    losses = {
        group: float(max(found.trial.loss or Fraction() for found in findings if found.trial.group == group))
        for group in ("inside", "outside")
    }
    return [
        say(
            "At a promised ε = 1, rows of the data lose up to {loss:.2f} with the printed sensitivities, and at most 1 "
            "with the corrected ones.",
            loss=losses["inside"],
        ),
        say(
            "An outsider who joins loses up to {loss:.1f} if the noise stays as it was, and has no bound at all if it "
            "is computed anew. Corrected sensitivities do not help; public bounds do: at most 1, for everybody.",
            loss=losses["outside"],
        ),
    ]


def _tell_rows(rows: RowAudit | None) -> list[str]:
    if rows is None:
        return []
    return [
        say(
            "Of all pairs of rows, none moves the table of totals by more than {most:,} kg. Under (i) as printed, "
            "{beyond:,} of {rows:,} can lose more than ε.",
            most=rows.largest_change,
            beyond=rows.beyond,
            rows=rows.rows,
        ),
        say(
            "With each row in turn as the outsider, {outsiders} would have lost more than ε in their own cell; "
            "{unbounded} of them everything, because the rest of their cell has no spread and gets no noise.",
            outsiders=rows.outsiders,
            unbounded=rows.unbounded,
        ),
    ]


def tell_slips(farms: Farms) -> list[str]:
    """What a reader of the paper should know, in the order of its sections."""
    cells = farms.cells
    whole = printed_table_sensitivity(cells, statistic=TableKind.TOTAL)
    bound = error_bound(sensitivity=whole, epsilon=1, values=len(cells), gamma=_GAMMA)
    return [
        say(
            "Theorem 4 says “at least γ”; it is at least 1 − γ, and its norm needs absolute values. With γ = {gamma}, "
            "no cell of (i) as printed is off by more than {bound:,.0f} kg, with probability at least 95%.",
            gamma=Numeral(_GAMMA),
            bound=bound,
        ),
        say(
            "Section 5.1 calls counts with Lap(1/ε) ε-differentially private. Where a row is replaced they are 2ε; and "
            "counts of 0 or n, released exactly, have no protection at all."
        ),
        say(
            "Section 5.2: method (ii) as printed gives a cell less noise than its ε/9 asks for; the table stays below "
            "ε all the same, because a row touches two cells and not nine. So ε/2 for each cell is enough: 2·max(V, M)."
        ),
        say(
            "Section 5.3 places the farms in India; they are in Indonesia. The file has 20 variables and a row name. "
            "“Both” varieties are the code mixed."
        ),
        say(
            "Table 4 divides accuracies, and an accuracy is one over an error bound (Equation 3). As a ratio of "
            "errors, bootstrap to original, it is upside down: 57.738 means 57.738 times less noise."
        ),
        _tell_noisier(farms, whole),
    ]


def _tell_noisier(farms: Farms, whole: int) -> str:
    scales = noise_scales(farms.cells, method=ScaleMethod.SPLIT, statistic=TableKind.TOTAL, printed=True)
    noisier = noisier_cells(farms.cells, statistic=TableKind.TOTAL, printed=True)
    found = name_cell(("share", "mixed"))
    if not noisier:
        return say(
            "Section 5.3.2 finds one cell noisier under (i) than under (ii), {found}. By its own scales there are 0 "
            "below the {whole:,} of (i): none.",
            found=found,
            whole=whole,
        )
    return say(
        "Section 5.3.2 finds one cell noisier under (i) than under (ii), {found}. By its own scales there are {count} "
        "below the {whole:,} of (i): {named}.",
        found=found,
        count=len(noisier),
        whole=whole,
        named=", ".join(f"{name_cell(cell)} ({numeral(scales[cell])})" for cell in noisier),
    )
