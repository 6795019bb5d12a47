"""The paper's numerical example again: its Tables 1 to 4 to the last decimal, and what its sensitivities should be.

From the rows where the file is given, else from the cells that the paper publishes. It prints sensitivities and scales,
which a release never may: this is a custodian's study of public data. Nothing is released and nothing charged.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

from discreet.catalogue import ENGLISH, Phrase, numeral, say, speaking
from discreet.lab.audit import require_limits
from discreet.lab.bootstrap.bootstrap_accuracy import gain_ratio
from discreet.lab.bootstrap.bootstrap_sensitivity import (
    PublicBounds,
    ScaleMethod,
    TableKind,
    cell_sensitivities,
    count_summary,
    noise_scales,
    printed_cell_sensitivities,
    printed_table_sensitivity,
    table_sensitivity,
)
from discreet_replications.farms.farms_audit import (
    CONFIDENCE,
    SAMPLES,
    LossFinding,
    RowAudit,
    audit_farms,
    audit_rows,
)
from discreet_replications.farms.farms_units import FarmUnits, find_units
from discreet_replications.farms.farms_words import UNSHOWN, tell_slips, tell_verdict
from discreet_replications.farms.rice_farms import (
    MISPRINT,
    PRINTED,
    SOURCE,
    Cell,
    Farms,
    published_farms,
    read_farms,
)

__all__ = [
    "NOTICE",
    "Compared",
    "FarmsReproduction",
    "PrintedSensitivity",
    "compare_tables",
    "list_sensitivities",
    "reproduce_bootstrap",
    "scale_rows",
    "show_ratio",
]

NOTICE: Final = Phrase(
    "A study of public data with repeatable noise, for a custodian. Bootstrap differential privacy is not differential "
    "privacy; sensitivities and scales are shown here, and would tell about the rows if a release showed them."
)
Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class Compared:
    """One figure of Tables 1 to 4 for one cell: as printed, and as it is here, with the paper's decimals."""

    table: int
    cell: Cell
    figure: str
    printed: str
    ours: str

    @property
    def agrees(self) -> bool:
        return self.printed == self.ours

    @property
    def misprint(self) -> bool:
        """Whether this is the one figure that the paper misprints, and ours is what it should be."""
        return (self.cell, self.ours) == (MISPRINT[0], str(MISPRINT[1])) and self.figure == "max" and not self.agrees

    def to_dict(self) -> dict[str, Any]:
        return {
            "table": self.table,
            "status": self.cell[0],
            "varieties": self.cell[1],
            "figure": self.figure,
            "printed": self.printed,
            "ours": self.ours,
            "agrees": self.agrees,
            "misprint": self.misprint,
        }


@dataclass(frozen=True, slots=True)
class PrintedSensitivity:
    """How far one replaced row may move something: as the paper prints it, and as it is."""

    what: str
    printed: str
    right: str
    why: str

    def to_dict(self) -> dict[str, str]:
        return {"what": self.what, "printed": self.printed, "right": self.right, "why": self.why}


@dataclass(frozen=True, slots=True)
class FarmsReproduction:
    """Everything that was found, and where it is written."""

    folder: Path
    farms: Farms
    compared: tuple[Compared, ...]
    findings: tuple[LossFinding, ...]
    rows: RowAudit | None
    units: FarmUnits
    replicates: int

    @property
    def sensitivities(self) -> list[PrintedSensitivity]:
        """What one replaced row may move, in words."""
        return list_sensitivities(self.farms)

    @property
    def verdict(self) -> list[str]:
        """What was found, in sentences."""
        return tell_verdict(self.farms, self.compared, self.findings, self.rows)

    @property
    def slips(self) -> list[str]:
        """What a reader of the paper should know."""
        return tell_slips(self.farms)

    @property
    def unshown(self) -> list[str]:
        """What only the rows could show; nothing where they are there."""
        return [] if self.farms.rows is not None else list(map(str, UNSHOWN))

    @property
    def files(self) -> dict[str, str]:
        named = {"page": "bootstrap.html", "results": "results.json", "tables": "tables", "figures": "figures"}
        return {name: str(self.folder / file) for name, file in named.items()}

    def to_dict(self) -> dict[str, Any]:
        """For machines, and so the same in every language."""
        with speaking(ENGLISH):
            return self._to_dict()

    def _to_dict(self) -> dict[str, Any]:
        return {
            "reproduction": "bootstrap",
            "notice": str(NOTICE),
            "paper": str(SOURCE),
            "source": str(self.farms.source),
            "from_rows": self.farms.rows is not None,
            "verdict": self.verdict,
            "unit": self.units.to_dict(),
            "tables": [line.to_dict() for line in self.compared],
            "sensitivities": [line.to_dict() for line in self.sensitivities],
            "scales": scale_rows(self.farms),
            "audit": {
                "epsilon": 1,
                "confidence": CONFIDENCE,
                "samples": SAMPLES,
                "trials": [finding.to_dict() for finding in self.findings],
                "rows": None if self.rows is None else self.rows.to_dict(),
            },
            "slips": self.slips,
            "not_shown": self.unshown,
            "replicates": self.replicates,
        }


def reproduce_bootstrap(
    folder: Path, *, data: Path | None = None, replicates: int | None = None, progress: Progress | None = None
) -> FarmsReproduction:
    """Compute everything and write it into `folder`, which is new or holds an earlier reproduction.

    PathInvalid for any other folder, FileRefused for a file that is not the farms', ExtraMissing without the extra
    'tables'; nothing is written then.
    """
    from discreet.present.pages.report_folders import check_folder
    from discreet_replications.farms.farms_figures import REPLICATES, draw_figures
    from discreet_replications.farms.farms_files import FILES, KIND, RESULTS, write_reproduction

    require_limits(Phrase("the audit of the reproduction"), extra="tables")
    text = progress or (lambda _stage, _done, _all: None)
    check_folder(folder, kind=KIND, results=RESULTS, files=FILES)
    farms = published_farms() if data is None else read_farms(data)
    text(say("drawing replicates"), 0, 3)
    replicates = REPLICATES if replicates is None else replicates
    drawn = draw_figures(farms, replicates=replicates)
    text(say("auditing"), 1, 3)
    done = _reproduce(folder, farms, replicates=replicates)
    text(say("writing"), 2, 3)
    write_reproduction(done, drawn)
    return done


def _reproduce(folder: Path, farms: Farms, *, replicates: int) -> FarmsReproduction:
    return FarmsReproduction(
        folder=folder,
        farms=farms,
        compared=tuple(compare_tables(farms)),
        findings=tuple(audit_farms(farms)),
        rows=audit_rows(farms),
        units=find_units(farms),
        replicates=replicates,
    )


# --- the paper's tables ---------------------------------------------------------------------------------------------


def compare_tables(farms: Farms) -> list[Compared]:
    """Every printed figure of Tables 1 to 4 beside ours, table by table."""
    spreads = printed_cell_sensitivities(farms.cells, statistic=TableKind.TOTAL)
    largest = max(summary.high for summary in farms.cells.values())
    lines = []
    for cell, summary in farms.cells.items():
        printed, spread = PRINTED[cell], spreads[cell]
        gain = gain_ratio(public=largest, bootstrap=spread)
        lines += [
            Compared(1, cell, "n", str(printed.n), str(summary.n)),
            Compared(1, cell, "total", str(printed.total), str(summary.total)),
            Compared(1, cell, "max", str(printed.high), str(summary.high)),
            Compared(1, cell, "min", str(printed.low), str(summary.low)),
            Compared(2, cell, "sensitivity", str(printed.sensitivity), str(spread)),
            Compared(3, cell, "percent", printed.percent, show_ratio(Fraction(100 * spread, summary.total), 2)),
            Compared(4, cell, "gain", printed.gain, "" if gain is None else show_ratio(gain, 3)),
        ]
    return sorted(lines, key=lambda line: line.table)


def show_ratio(ratio: Fraction, decimals: int) -> str:
    """Rounded from the exact ratio, as the paper does."""
    return f"{Decimal(ratio.numerator) / Decimal(ratio.denominator):.{decimals}f}"


# --- sensitivities --------------------------------------------------------------------------------------------------


def list_sensitivities(farms: Farms) -> list[PrintedSensitivity]:
    """As printed and as they are, for the paper's own neighbours: one row of D takes the place of another."""
    cells, total = farms.cells, TableKind.TOTAL
    counts = {cell: count_summary(summary.n) for cell, summary in cells.items()}
    printed, right = printed_cell_sensitivities(cells, statistic=total), cell_sensitivities(cells)
    moving = say("a row leaves one cell and enters another")
    largest = max(summary.reach for summary in cells.values())
    known = PublicBounds(low=0, high=largest)
    return [
        PrintedSensitivity(
            say("table of counts"),
            numeral(printed_table_sensitivity(counts, statistic=TableKind.COUNT)),
            numeral(table_sensitivity(counts)),
            moving,
        ),
        PrintedSensitivity(
            say("one cell's total"),
            _span(printed.values()),
            _span(right.values()),
            say("max(V, M): a row may enter or leave the cell with all it has"),
        ),
        PrintedSensitivity(
            say("table of totals, (i)"),
            numeral(printed_table_sensitivity(cells, statistic=total)),
            numeral(table_sensitivity(cells)),
            say("{moving}: the two largest M together", moving=moving),
        ),
        PrintedSensitivity(
            say("table of totals, (ii)"),
            say("9·V: {span}", span=_span(9 * item for item in printed.values())),
            say("9·max(V, M): {span}", span=_span(9 * item for item in right.values())),
            say("a row touches two cells, so 2·max(V, M) is enough"),
        ),
        PrintedSensitivity(
            say("table of totals, (iii)"),
            say("V: {span}", span=_span(printed.values())),
            say("V: {span}", span=_span(printed.values())),
            say("right, if everybody knows which row lies in which cell"),
        ),
        PrintedSensitivity(
            say("table of totals, public bounds 0 to {bound:,}", bound=largest),
            numeral(largest),
            numeral(known.table(len(cells))),
            say("{moving}; the bound itself is read from the rows here", moving=moving),
        ),
    ]


def scale_rows(farms: Farms) -> list[dict[str, Any]]:
    """The scale of each cell's noise at ε = 1 by every method, as printed and corrected."""
    cells, total = farms.cells, TableKind.TOTAL
    columns = {
        "cell_printed": printed_cell_sensitivities(cells, statistic=total),
        "cell_corrected": cell_sensitivities(cells),
        "i_printed": noise_scales(cells, method=ScaleMethod.MAXIMUM, statistic=total, printed=True),
        "i_corrected": noise_scales(cells, method=ScaleMethod.MAXIMUM, statistic=total),
        "ii_printed": noise_scales(cells, method=ScaleMethod.SPLIT, statistic=total, printed=True),
        "ii_corrected": noise_scales(cells, method=ScaleMethod.SPLIT, statistic=total),
        "pair": noise_scales(cells, method=ScaleMethod.PAIR, statistic=total),
        "iii": noise_scales(cells, method=ScaleMethod.MEMBERSHIP, statistic=total),
    }
    return [
        {"status": cell[0], "varieties": cell[1], **{name: scales[cell] for name, scales in columns.items()}}
        for cell in cells
    ]


def _span(values: Iterable[int]) -> str:
    found = list(values)
    return say("{low:,} to {high:,}", low=min(found), high=max(found))
