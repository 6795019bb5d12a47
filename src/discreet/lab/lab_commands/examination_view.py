"""What bootstrap would do to a table, on the custodian's screen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.cli import show_table

if TYPE_CHECKING:
    from discreet.lab.bootstrap.bootstrap_examination import Examination

__all__ = ["show_examination"]


def show_examination(found: Examination) -> None:
    """Every cell and the whole table, then advice, leaks and the checklist."""
    names = {
        index: " / ".join("–" if code is None else str(code) for code in cell.codes)
        for index, cell in enumerate(found.cells)
    }
    rows = [
        [
            names[index],
            f"{cell.summary.n:,}",
            f"{cell.summary.spread:,}",
            f"{cell.summary.reach:,}",
            f"{cell.printed:,}",
            f"{cell.corrected:,}",
            "–" if cell.gain is None else f"{cell.gain:,.3f}",
        ]
        for index, cell in enumerate(found.cells)
    ]
    heads = (" / ".join(found.names), "rows", "V", "M", "sensitivity, as printed", "as it is", "gain")
    whole = found.table
    footer = [
        f"whole table: sensitivity {whole.printed:,} as printed, {whole.corrected:,} as it is, {whole.public:,} by "
        "public bounds",
        f"with probability at least {1 - whole.gamma} no figure of (i) is off by more than {whole.error_bound:,} "
        f"(gamma-accuracy {whole.gamma_accuracy:.3g}, one over it)",
        *found.advice.table,
        *(f"{names[index]}: {cell.advice}" for index, cell in enumerate(found.cells) if cell.advice),
        *(f"{leak.kind}: {leak.words}" for leak in found.leaks),
        "",
        "Checklist (what speaks for a bootstrap release, what against, what only you can decide):",
        *(item.line() for item in found.checklist),
        "",
        f"All in whole steps of {found.step}. Not for release: every number here is confidential.",
    ]
    sides = ("left", *("right",) * 6)
    title = f"Bootstrap: {found.statistic}{f'; the data and {found.pool} individuals together' if found.pool else ''}"
    show_table(title, list(zip(heads, sides, strict=True)), rows, footer=footer)
