"""bootstrap.html: the paper's tables and figures again, the sensitivities it needs, and what an outsider loses."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from discreet.present import Drawn, Markup, bullets, element, show_figure, table, write_page
from discreet_replications.farms.farms_audit import CONFIDENCE, SAMPLES, LossFinding
from discreet_replications.farms.farms_reproduction import NOTICE, Compared, FarmsReproduction, scale_rows
from discreet_replications.farms.farms_units import UNIT
from discreet_replications.farms.rice_farms import SOURCE, STATUSES, VARIETIES, name_cell

if TYPE_CHECKING:
    from discreet_replications.farms.rice_farms import Cell

__all__ = ["group_digits", "tell_loss", "unit_rows", "write_bootstrap_page"]

_TITLE: Final = "Bootstrap differential privacy: the rice farms again"
_LEAD: Final = (
    "The paper protects totals of 1,026 rows of rice farms with noise made to measure for the very rows in the data. "
    "Here are its tables and figures again, the noise that its promise would have needed, and what it means for a farm "
    "that was not in the data when the noise was chosen."
)
_CAPTIONS: Final = {
    1: "Table 1. Rows, total net output, maximum and minimum (kg)",
    2: "Table 2. Sensitivity of each cell as printed: its range V (kg)",
    3: "Table 3. Sensitivity as a percentage of the total",
    4: "Table 4. Accuracy gained over a bound of the largest output of all",
}
_SCALES: Final = {
    "cell_printed": "one cell, printed (V)",
    "cell_corrected": "one cell, right (max(V, M))",
    "i_printed": "(i) printed",
    "i_corrected": "(i) right",
    "ii_printed": "(ii) printed",
    "ii_corrected": "(ii) right",
    "pair": "ε/2 a cell",
    "iii": "(iii) cells public",
}


def write_bootstrap_page(done: FarmsReproduction, drawn: Sequence[Drawn]) -> str:
    """The whole page as text."""
    main = element(
        "main",
        element("section", element("h2", "In short"), bullets([UNIT, *done.verdict]), id="short", class_="box"),
        *([_unshown(done)] if done.unshown else []),
        _tables(done),
        _sensitivities(done),
        _units(done),
        _audit(done),
        element("section", element("h2", "Figures"), *(show_figure(figure) for figure in drawn), id="figures"),
        element("section", element("h2", "Where the paper slips"), bullets(done.slips), id="slips"),
    )
    header = element("header", element("h1", _TITLE), element("p", _LEAD, class_="lead"))
    notice = element("p", element("strong", "Not a release. "), NOTICE, class_="notice")
    footer = element("footer", f"The paper: {SOURCE}. Cells: {done.farms.source}.")
    return write_page(_TITLE, notice, header, main, footer)


def _tell_figure(line: Compared) -> str:
    """Ours with thousands apart, and the printed one beside it where they differ."""
    ours = group_digits(line.ours)
    return ours if line.agrees else f"{ours} (printed {group_digits(line.printed)})"


def tell_loss(finding: LossFinding) -> str:
    loss = finding.trial.loss
    return "no bound" if loss is None else f"{float(loss):,.2f}" if loss < 10 else f"{float(loss):,.1f}"


def group_digits(text: str) -> str:
    """Thousands apart in a whole number; anything else as it is."""
    return f"{int(text):,}" if text.isdigit() else text


def _unshown(done: FarmsReproduction) -> Markup:
    words = "This run starts from what the paper publishes. With the rows (--data) it would also show:"
    return element("section", element("h2", "What is not shown"), element("p", words), bullets(done.unshown), id="not")


# --- tables ---------------------------------------------------------------------------------------------------------


def _tables(done: FarmsReproduction) -> Markup:
    text = (
        "Every figure is computed here; where the printed one differs, it stands beside it. Table 1 is computed from "
        "the rows."
        if done.farms.rows is not None
        else "Table 1 is the paper's own, with one figure corrected; Tables 2 to 4 are computed from it."
    )
    parts = [_cross(done.compared, number) for number in _CAPTIONS]
    return element("section", element("h2", "Tables 1 to 4"), element("p", text), *parts, id="tables")


def _cross(compared: Iterable[Compared], number: int) -> Markup:
    """The paper's layout: status down, varieties across."""
    lines: dict[tuple[str, str], dict[str, str]] = {}
    for line in compared:
        if line.table == number:
            status, varieties = line.cell
            lines.setdefault((status, line.figure), {})[varieties] = _tell_figure(line)
    several = number == 1
    rows = [
        [f"{STATUSES[status]}, {figure}" if several else STATUSES[status], *(cells[name] for name in VARIETIES)]
        for (status, figure), cells in lines.items()
    ]
    return table(["Status", *VARIETIES.values()], rows, caption=_CAPTIONS[number])


# --- sensitivities and losses ---------------------------------------------------------------------------------------


def _sensitivities(done: FarmsReproduction) -> Markup:
    words = (
        "The paper lets one row of the data take the place of another, and then reasons as if it stayed in its cell. "
        "V is the range of a cell, M its largest value. Scales are those of Laplace noise at ε = 1."
    )
    rows = [[line.what, line.printed, line.right, line.why] for line in done.sensitivities]
    scales = [[name_cell(_cell(row)), *(f"{row[column]:,}" for column in _SCALES)] for row in scale_rows(done.farms)]
    return element(
        "section",
        element("h2", "The sensitivities it needs"),
        element("p", words),
        _worded(["What is released", "Printed", "Right", "Why"], rows, caption="Sensitivities, in rows and in kg"),
        table(["Cell", *_SCALES.values()], scales, caption="Scale of the noise on each total at ε = 1 (kg)"),
        id="sensitivities",
    )


def _units(done: FarmsReproduction) -> Markup:
    words = (
        "Neighbours here replace a farm with all its seasons. The last two columns are what a farm loses where the "
        "noise promises ε = 1 to its rows: with the paper's scales, and with those that are right for rows."
    )
    head = ["What is released", "Row, printed", "Row, right", "Farm", "Farm loses, printed", "Farm loses, right"]
    return element(
        "section",
        element("h2", "The farm as unit"),
        bullets(done.units.tell()),
        element("p", words),
        table(head, unit_rows(done), caption="Sensitivities for a row and for a farm, in rows and in kg"),
        id="units",
    )


def unit_rows(done: FarmsReproduction) -> list[list[str]]:
    """One row for each output: the sensitivities of a row and of a farm, and what a farm loses."""
    return [
        [
            line.what,
            f"{line.printed:,}",
            f"{line.row:,}",
            f"{line.farm:,}" if line.exact else f"≤ {line.farm:,}",
            *(f"{float(loss):.2f}" if line.exact else f"≤ {float(loss):.2f}" for loss in line.losses),
        ]
        for line in done.units.lines
    ]


def _cell(row: Mapping[str, str]) -> Cell:
    return row["status"], row["varieties"]


def _audit(done: FarmsReproduction) -> Markup:
    words = (
        "The loss is how much likelier an answer can become, as a logarithm, when one row, a farm in one season, is "
        "replaced; ε = 1 promises "
        f"at most 1. “Shown by samples” knows no formula: of {SAMPLES:,} draws on each side, half choose an event and "
        f"half measure it (Clopper–Pearson, {CONFIDENCE:.1%} confidence). It falls short of the loss, and cannot "
        "pass 9.5 with so many draws."
    )
    head = ["Noise", "Loss", "Shown by samples", "Promise of 1", "Which row"]
    parts = [
        _worded(head, [_row(found) for found in done.findings if found.trial.group == group], caption=caption)
        for group, caption in (
            ("inside", "Rows of the data: the paper's own neighbours"),
            ("outside", "A row that was not in the data"),
        )
    ]
    return element("section", element("h2", "What a row loses"), element("p", words), *parts, id="audit")


def _row(found: LossFinding) -> list[str]:
    kept = "kept" if found.kept else "broken" if found.trial.group == "inside" else "none made"
    return [found.trial.noise, tell_loss(found), f"≥ {found.at_least:.2f}", kept, found.trial.farm]


def _worded(head: Sequence[str], rows: Iterable[Sequence[str]], *, caption: str) -> Markup:
    """A table with sentences in it: they may be broken into lines."""
    return element("div", table(head, rows, caption=caption), class_="setting")
