"""Parts of thesis.html that repeat the thesis' own tables: its data sets (1 to 4), times (8 and 9), shares too low."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from discreet.catalogue import Phrase, say
from discreet.present import Markup, bullets, element, table
from discreet_replications.thesis.data.printed_columns import CAPTIONS, SIZES
from discreet_replications.thesis.pages.thesis_words import tell_figure
from discreet_replications.thesis.shortfalls import ALLOWED
from discreet_replications.wording import TIME, tell_printed, tell_word

if TYPE_CHECKING:
    from collections.abc import Sequence

    from discreet.lab.strategies.contest import SeriesSpread
    from discreet_replications.thesis.data.compared_columns import ColumnLine
    from discreet_replications.thesis.data.thesis_queries import Summary
    from discreet_replications.thesis.thesis_reproduction import ThesisReproduction

__all__ = [
    "LOW_HEADS",
    "SPREAD",
    "column_cells",
    "column_heads",
    "show_columns",
    "show_shortfalls",
    "show_timings",
    "tell_columns",
    "tell_untimed",
]

# What is said of many runs, by the names that a SeriesSpread gives them.
SPREAD: Final = {"mean": Phrase("mean"), "median": Phrase("median"), "least": Phrase("least"), "most": Phrase("most")}

# --- Tables 1 to 4 ----------------------------------------------------------------------------------------------------


def show_columns(done: ThesisReproduction) -> Markup:
    """The data sets as the thesis describes them, and rows generated from them."""
    parts = []
    for number, caption in CAPTIONS.items():
        lines = [line for line in done.columns if line.printed.table == number]
        if lines:
            head = [say("Column"), *column_heads(lines[0].printed.dataset)]
            parts.append(table(head, [column_cells(line) for line in lines], caption=str(caption)))
    return element(
        "section",
        element("h2", say("The data sets, and rows generated from them")),
        bullets(tell_columns(done)),
        *parts,
        id="columns",
    )


def column_heads(dataset: str) -> list[str]:
    """Printed and here, for the real rows and each generated set."""
    sizes = SIZES[dataset]
    made = (say("as many generated") if size is None else say("{size:,} generated", size=size) for size in sizes)
    return [f"{name}, {what}" for name in (say("real"), *made) for what in (say("printed"), say("here"))]


def column_cells(line: ColumnLine) -> list[str]:
    mark = "" if line.agrees or not line.real else "*"
    cells = [line.printed.real, f"{line.real or '–'}{mark}"]
    for printed, here in zip(line.printed.generated, line.generated, strict=True):
        cells += [printed, here or "–"]
    return [line.printed.column, *map(tell_printed, cells)]


def tell_columns(done: ThesisReproduction) -> list[str]:
    """What the tables show, and why some figures are missing."""
    real = [line for line in done.columns if line.real]
    agreeing = sum(line.agrees for line in real)
    lines = [
        say(
            "Of the real rows {agreeing} of {all} printed figures come out, kidney in the thesis' reading; * marks the "
            "others. Generated figures differ from training to training; the generator here is another one.",
            agreeing=agreeing,
            all=len(real),
        )
    ]
    if any(line.printed.column == "encounter_id" and not line.agrees for line in real):
        lines.append(say("encounter_id has 101,766 different values, one for each row, and not the printed 100,000."))
    for why in dict.fromkeys(line.why for line in done.columns if line.why):
        named = ", ".join(dict.fromkeys(line.printed.column for line in done.columns if line.why == why))
        lines.append(say("Without a figure (–): {named}. {why}", named=named, why=why))
    for name, item in done.sampled.items():
        kept = item.inspection.beats_independence
        if kept:
            lines.append(
                say("{name}: generated rows keep correlations better than columns drawn independently.", name=name)
            )
        elif kept is not None:
            lines.append(
                say("{name}: generated rows keep correlations no better than columns drawn independently.", name=name)
            )
    return lines


# --- too low --------------------------------------------------------------------------------------------------------


LOW_HEADS: Final = (
    Phrase("What"),
    Phrase("ε"),
    Phrase("Sensitivities used"),
    Phrase("Below the thesis' own"),
    Phrase("By the listing"),
    Phrase("Below what a proof needs"),
)


def show_shortfalls(done: ThesisReproduction) -> Markup:
    words = say(
        "Noise for a sensitivity that is too small does not even keep the thesis' own promise; it allows {allowed:.3%} "
        "of them. But what it calls real is the largest value of these rows. A proof must hold for every neighbour, "
        "and needs what the public range gives: its width for a sum, that over the number of values for a mean.",
        allowed=ALLOWED,
    )
    rows = [item.cells() for item in done.shortfalls]
    return element(
        "section",
        element("h2", say("Sensitivities that come out too low")),
        element("p", words),
        table(list(map(str, LOW_HEADS)), rows, caption=say("All queries and runs together")),
        id="too-low",
    )


# --- Tables 8 and 9 -------------------------------------------------------------------------------------------------


def show_timings(done: ThesisReproduction) -> Markup:
    words = say(
        "Seconds to an answer. The thesis generates rows for every answer, on a 2.2 GHz laptop; so do Tables 8 and 9 "
        "here, with the model opened before the first answer of a data set (8) and without these answers (9). Discreet "
        "keeps what it needs of generated rows, which the last table shows."
    )
    parts = []
    names = list(map(str, SPREAD.values()))
    for index, caption in enumerate((say("Table 8. With the first answers"), say("Table 9. Without them"))):
        rows = [
            [
                item.method.label,
                tell_printed(item.epsilon),
                *_four(item.printed[index]),
                *_four((item.whole, item.warm)[index]),
            ]
            for item in done.timings
        ]
        head = [say("Strategy"), "ε", *(f"{name}, {what}" for what in (say("printed"), say("here")) for name in names)]
        parts.append(table(head, rows, caption=caption))
    kept = [[item.method.label, tell_printed(item.epsilon), *_four(item.kept)] for item in done.timings]
    parts.append(table([say("Strategy"), "ε", *names], kept, caption=say("What was generated is kept")))
    said = [element("p", item) for item in (words, *tell_untimed(done))]
    return element("section", element("h2", tell_word(TIME)), *said, *parts, id="times")


def tell_untimed(done: ThesisReproduction) -> list[str]:
    """Why some figures are missing."""
    reasons = dict.fromkeys(item.why for item in done.timings if item.why)
    return [say("Without a figure (–): {why}", why=why) for why in reasons]


def _four(figures: Summary | SeriesSpread | None) -> Sequence[str]:
    if figures is None:
        return ["–"] * 4
    return [tell_figure(getattr(figures, name)) for name in SPREAD]
