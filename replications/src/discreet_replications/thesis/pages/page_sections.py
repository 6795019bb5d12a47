"""Parts of thesis.html that repeat the thesis' own tables: its data sets (1 to 4), times (8 and 9), shares too low."""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.present import Markup, bullets, element, table
from discreet_replications.thesis.data.printed_columns import CAPTIONS, SIZES
from discreet_replications.thesis.pages.thesis_words import tell_figure
from discreet_replications.thesis.shortfalls import ALLOWED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from discreet.lab.strategies.contest import SeriesSpread
    from discreet_replications.thesis.data.compared_columns import ColumnLine
    from discreet_replications.thesis.data.thesis_queries import Summary
    from discreet_replications.thesis.thesis_reproduction import ThesisReproduction

__all__ = [
    "LOW_HEADS",
    "column_cells",
    "column_heads",
    "show_columns",
    "show_shortfalls",
    "show_timings",
    "tell_columns",
]


# --- Tables 1 to 4 ----------------------------------------------------------------------------------------------------


def show_columns(done: ThesisReproduction) -> Markup:
    """The data sets as the thesis describes them, and rows generated from them."""
    parts = []
    for number, caption in CAPTIONS.items():
        lines = [line for line in done.columns if line.printed.table == number]
        if lines:
            head = ["Column", *column_heads(lines[0].printed.dataset)]
            parts.append(table(head, [column_cells(line) for line in lines], caption=caption))
    return element(
        "section",
        element("h2", "The data sets, and rows generated from them"),
        bullets(tell_columns(done)),
        *parts,
        id="columns",
    )


def column_heads(dataset: str) -> list[str]:
    """Printed and here, for the real rows and each generated set."""
    sets = ["real", *("as many generated" if size is None else f"{size:,} generated" for size in SIZES[dataset])]
    return [f"{name}, {what}" for name in sets for what in ("printed", "here")]


def column_cells(line: ColumnLine) -> list[str]:
    mark = "" if line.agrees or not line.real else "*"
    cells = [line.printed.real, f"{line.real or '–'}{mark}"]
    for printed, here in zip(line.printed.generated, line.generated, strict=True):
        cells += [printed, here or "–"]
    return [line.printed.column, *cells]


def tell_columns(done: ThesisReproduction) -> list[str]:
    """What the tables show, and why some figures are missing."""
    real = [line for line in done.columns if line.real]
    agreeing = sum(line.agrees for line in real)
    lines = [
        f"Of the real rows {agreeing} of {len(real)} printed figures come out, kidney in the thesis' reading; * marks "
        "the others. Generated figures differ from training to training; the generator here is another one."
    ]
    if any(line.printed.column == "encounter_id" and not line.agrees for line in real):
        lines.append("encounter_id has 101,766 different values, one for each row, and not the printed 100,000.")
    for why in dict.fromkeys(line.why for line in done.columns if line.why):
        named = ", ".join(dict.fromkeys(line.printed.column for line in done.columns if line.why == why))
        lines.append(f"Without a figure (–): {named}. {why}")
    for name, item in done.sampled.items():
        kept = item.inspection.beats_independence
        if kept is not None:
            better = "better than" if kept else "no better than"
            lines.append(f"{name}: generated rows keep correlations {better} columns drawn independently.")
    return lines


# --- too low --------------------------------------------------------------------------------------------------------


LOW_HEADS = ("What", "ε", "Sensitivities used", "Below the thesis' own", "By the listing", "Below what a proof needs")


def show_shortfalls(done: ThesisReproduction) -> Markup:
    words = (
        "Noise for a sensitivity that is too small does not even keep the thesis' own promise; it allows "
        f"{ALLOWED:.3%} of them. But what it calls real is the largest value of these rows. A proof must hold for "
        "every neighbour, and needs what the public range gives: its width for a sum, that over the number of values "
        "for a mean."
    )
    rows = [item.cells() for item in done.shortfalls]
    return element(
        "section",
        element("h2", "Sensitivities that come out too low"),
        element("p", words),
        table(LOW_HEADS, rows, caption="All queries and runs together"),
        id="too-low",
    )


# --- Tables 8 and 9 -------------------------------------------------------------------------------------------------


def show_timings(done: ThesisReproduction) -> Markup:
    words = (
        "Seconds to an answer. The thesis generates rows for every answer, on a 2.2 GHz laptop; so do Tables 8 and 9 "
        "here, with the model opened before the first answer of a data set (8) and without these answers (9). Discreet "
        "keeps what it needs of generated rows, which the last table shows."
    )
    parts = []
    for index, caption in enumerate(("Table 8. With the first answers", "Table 9. Without them")):
        rows = [
            [item.method.name, item.epsilon, *_four(item.printed[index]), *_four((item.whole, item.warm)[index])]
            for item in done.timings
        ]
        head = ["Strategy", "ε", *(f"{name}, {what}" for what in ("printed", "here") for name in _NAMES)]
        parts.append(table(head, rows, caption=caption))
    kept = [[item.method.name, item.epsilon, *_four(item.kept)] for item in done.timings]
    parts.append(table(["Strategy", "ε", *_NAMES], kept, caption="What was generated is kept"))
    missing = dict.fromkeys(f"Without a figure (–): {item.why}" for item in done.timings if item.why)
    said = [element("p", item) for item in (words, *missing)]
    return element("section", element("h2", "Time"), *said, *parts, id="times")


_NAMES = ("mean", "median", "least", "most")


def _four(figures: Summary | SeriesSpread | None) -> Sequence[str]:
    if figures is None:
        return ["–"] * 4
    return [tell_figure(getattr(figures, name)) for name in _NAMES]
