"""What bootstrap would do to a table, on the custodian's screen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.catalogue import numeral, say
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
            numeral(cell.summary.n),
            numeral(cell.summary.spread),
            numeral(cell.summary.reach),
            numeral(cell.printed),
            numeral(cell.corrected),
            "–" if cell.gain is None else numeral(cell.gain, ",.3f"),
        ]
        for index, cell in enumerate(found.cells)
    ]
    heads = (
        " / ".join(found.names),
        say("rows"),
        "V",
        "M",
        say("sensitivity, as printed"),
        say("as it is"),
        say("gain"),
    )
    whole = found.table
    footer = [
        say(
            "whole table: sensitivity {printed:,} as printed, {corrected:,} as it is, {public:,} by public bounds",
            printed=whole.printed,
            corrected=whole.corrected,
            public=whole.public,
        ),
        say(
            "with probability at least {probability} no figure of (i) is off by more than {bound:,} (gamma-accuracy "
            "{accuracy:.3g}, one over it)",
            probability=1 - whole.gamma,
            bound=whole.error_bound,
            accuracy=whole.gamma_accuracy,
        ),
        *found.advice.table,
        *(
            say("{name}: {words}", name=names[index], words=cell.advice)
            for index, cell in enumerate(found.cells)
            if cell.advice
        ),
        *(say("{name}: {words}", name=leak.name, words=leak.words) for leak in found.leaks),
        "",
        say("Checklist (what speaks for a bootstrap release, what against, what only you can decide):"),
        *(item.line() for item in found.checklist),
        "",
        say("All in whole steps of {step}. Not for release: every number here is confidential.", step=found.step),
    ]
    sides = ("left", *("right",) * 6)
    show_table(_say_title(found), list(zip(heads, sides, strict=True)), rows, footer=footer)


def _say_title(found: Examination) -> str:
    match found.pool:
        case "":
            return say("Bootstrap: {statistic}", statistic=found.statistic)
        case "synthetic":
            return say("Bootstrap: {statistic}; the data and synthetic individuals together", statistic=found.statistic)
    return say("Bootstrap: {statistic}; the data and sub-population individuals together", statistic=found.statistic)
