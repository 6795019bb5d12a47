"""bootstrap.html: the paper's tables and figures again, the sensitivities it needs, and what an outsider loses."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from discreet.catalogue import Phrase, language, numeral, say
from discreet.present import Drawn, Markup, bullets, element, show_figure, table, write_page
from discreet_replications.farms.farms_audit import CONFIDENCE, SAMPLES, LossFinding
from discreet_replications.farms.farms_reproduction import NOTICE, Compared, FarmsReproduction, scale_rows
from discreet_replications.farms.farms_units import UNIT
from discreet_replications.farms.farms_words import FIGURES
from discreet_replications.farms.rice_farms import SOURCE, STATUSES, VARIETIES, name_cell
from discreet_replications.wording import DRAWINGS, KEPT, tell_printed, tell_word

if TYPE_CHECKING:
    from discreet_replications.farms.rice_farms import Cell

__all__ = ["group_digits", "tell_loss", "unit_rows", "write_bootstrap_page"]

_TITLE: Final = Phrase("Bootstrap differential privacy: the rice farms again")
_LEAD: Final = Phrase(
    "The paper protects totals of 1,026 rows of rice farms with noise made to measure for the very rows in the data. "
    "Here are its tables and figures again, the noise that its promise would have needed, and what it means for a farm "
    "that was not in the data when the noise was chosen."
)
_CAPTIONS: Final = {
    1: Phrase("Table 1. Rows, total net output, maximum and minimum (kg)"),
    2: Phrase("Table 2. Sensitivity of each cell as printed: its range V (kg)"),
    3: Phrase("Table 3. Sensitivity as a percentage of the total"),
    4: Phrase("Table 4. Accuracy gained over a bound of the largest output of all"),
}
_SCALES: Final = {
    "cell_printed": Phrase("one cell, printed (V)"),
    "cell_corrected": Phrase("one cell, right (max(V, M))"),
    "i_printed": Phrase("(i) printed"),
    "i_corrected": Phrase("(i) right"),
    "ii_printed": Phrase("(ii) printed"),
    "ii_corrected": Phrase("(ii) right"),
    "pair": Phrase("ε/2 a cell"),
    "iii": Phrase("(iii) cells public"),
}


def write_bootstrap_page(done: FarmsReproduction, drawn: Sequence[Drawn]) -> str:
    """The whole page as text."""
    main = element(
        "main",
        element(
            "section", element("h2", say("In short")), bullets([str(UNIT), *done.verdict]), id="short", class_="box"
        ),
        *([_unshown(done)] if done.unshown else []),
        _tables(done),
        _sensitivities(done),
        _units(done),
        _audit(done),
        element(
            "section", element("h2", tell_word(DRAWINGS)), *(show_figure(figure) for figure in drawn), id="figures"
        ),
        element("section", element("h2", say("Where the paper slips")), bullets(done.slips), id="slips"),
    )
    title = str(_TITLE)
    header = element("header", element("h1", title), element("p", str(_LEAD), class_="lead"))
    notice = element("p", element("strong", say("Not a release. ")), str(NOTICE), class_="notice")
    told = say("The paper: {paper}. Cells: {source}.", paper=SOURCE, source=done.farms.source)
    return write_page(title, notice, header, main, element("footer", told), language=language())


def _tell_figure(line: Compared) -> str:
    """Ours with thousands apart, and the printed one beside it where they differ."""
    ours = group_digits(line.ours)
    return ours if line.agrees else say("{ours} (printed {printed})", ours=ours, printed=group_digits(line.printed))


def tell_loss(finding: LossFinding) -> str:
    loss = finding.trial.loss
    return say("no bound") if loss is None else numeral(float(loss), ",.2f" if loss < 10 else ",.1f")


def group_digits(text: str) -> str:
    """Thousands apart in a whole number; anything else with the decimals that it has."""
    return numeral(int(text)) if text.isdigit() else tell_printed(text)


def _unshown(done: FarmsReproduction) -> Markup:
    words = say("This run starts from what the paper publishes. With the rows (--data) it would also show:")
    return element(
        "section", element("h2", say("What is not shown")), element("p", words), bullets(done.unshown), id="not"
    )


# --- tables ---------------------------------------------------------------------------------------------------------


def _tables(done: FarmsReproduction) -> Markup:
    text = (
        say(
            "Every figure is computed here; where the printed one differs, it stands beside it. Table 1 is computed "
            "from the rows."
        )
        if done.farms.rows is not None
        else say("Table 1 is the paper's own, with one figure corrected; Tables 2 to 4 are computed from it.")
    )
    parts = [_cross(done.compared, number) for number in _CAPTIONS]
    return element("section", element("h2", say("Tables 1 to 4")), element("p", text), *parts, id="tables")


def _cross(compared: Iterable[Compared], number: int) -> Markup:
    """The paper's layout: status down, varieties across."""
    lines: dict[tuple[str, str], dict[str, str]] = {}
    for line in compared:
        if line.table == number:
            status, varieties = line.cell
            lines.setdefault((status, line.figure), {})[varieties] = _tell_figure(line)
    several, spoken = number == 1, language()
    rows = [
        [
            f"{STATUSES[status].text(spoken)}, {FIGURES[figure]}" if several else STATUSES[status].text(spoken),
            *(cells[name] for name in VARIETIES),
        ]
        for (status, figure), cells in lines.items()
    ]
    head = [say("Status"), *(name.text(spoken) for name in VARIETIES.values())]
    return table(head, rows, caption=str(_CAPTIONS[number]))


# --- sensitivities and losses ---------------------------------------------------------------------------------------


def _sensitivities(done: FarmsReproduction) -> Markup:
    words = say(
        "The paper lets one row of the data take the place of another, and then reasons as if it stayed in its cell. "
        "V is the range of a cell, M its largest value. Scales are those of Laplace noise at ε = 1."
    )
    rows = [[line.what, line.printed, line.right, line.why] for line in done.sensitivities]
    scales = [
        [str(name_cell(_cell(row))), *(numeral(row[column]) for column in _SCALES)] for row in scale_rows(done.farms)
    ]
    heads = [say("What is released"), say("Printed"), say("Right"), say("Why")]
    methods = [say("Cell"), *map(str, _SCALES.values())]
    return element(
        "section",
        element("h2", say("The sensitivities it needs")),
        element("p", words),
        _worded(heads, rows, caption=say("Sensitivities, in rows and in kg")),
        table(methods, scales, caption=say("Scale of the noise on each total at ε = 1 (kg)")),
        id="sensitivities",
    )


def _units(done: FarmsReproduction) -> Markup:
    words = say(
        "Neighbours here replace a farm with all its seasons. The last two columns are what a farm loses where the "
        "noise promises ε = 1 to its rows: with the paper's scales, and with those that are right for rows."
    )
    head = [
        say("What is released"),
        say("Row, printed"),
        say("Row, right"),
        say("Farm"),
        say("Farm loses, printed"),
        say("Farm loses, right"),
    ]
    return element(
        "section",
        element("h2", say("The farm as unit")),
        bullets(done.units.tell()),
        element("p", words),
        table(head, unit_rows(done), caption=say("Sensitivities for a row and for a farm, in rows and in kg")),
        id="units",
    )


def unit_rows(done: FarmsReproduction) -> list[list[str]]:
    """One row for each output: the sensitivities of a row and of a farm, and what a farm loses."""
    return [
        [
            str(line.what),
            numeral(line.printed),
            numeral(line.row),
            f"{'' if line.exact else '≤ '}{numeral(line.farm)}",
            *(f"{'' if line.exact else '≤ '}{numeral(float(loss), '.2f')}" for loss in line.losses),
        ]
        for line in done.units.lines
    ]


def _cell(row: Mapping[str, str]) -> Cell:
    return row["status"], row["varieties"]


def _audit(done: FarmsReproduction) -> Markup:
    words = say(
        "The loss is how much likelier an answer can become, as a logarithm, when one row, a farm in one season, is "
        "replaced; ε = 1 promises at most 1. “Shown by samples” knows no formula: of {samples:,} draws on each side, "
        "half choose an event and half measure it (Clopper–Pearson, {confidence:.1%} confidence). It falls short of "
        "the loss, and cannot pass 9.5 with so many draws.",
        samples=SAMPLES,
        confidence=CONFIDENCE,
    )
    head = [say("Noise"), say("Loss"), say("Shown by samples"), say("Promise of 1"), say("Which row")]
    parts = [
        _worded(head, [_row(found) for found in done.findings if found.trial.group == group], caption=caption)
        for group, caption in (
            ("inside", say("Rows of the data: the paper's own neighbours")),
            ("outside", say("A row that was not in the data")),
        )
    ]
    return element("section", element("h2", say("What a row loses")), element("p", words), *parts, id="audit")


def _row(found: LossFinding) -> list[str]:
    kept = tell_word(KEPT) if found.kept else say("broken") if found.trial.group == "inside" else say("none made")
    least = f"≥ {numeral(found.at_least, '.2f')}"
    return [str(found.trial.noise), tell_loss(found), least, kept, str(found.trial.farm)]


def _worded(head: Sequence[str], rows: Iterable[Sequence[str]], *, caption: str) -> Markup:
    """A table with sentences in it: they may be broken into lines."""
    return element("div", table(head, rows, caption=caption), class_="setting")
