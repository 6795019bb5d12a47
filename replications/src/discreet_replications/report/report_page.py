"""reproduction.html: what the founding report did, why its figures are absurd, and what correct mechanisms give."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from discreet.files import write_whole
from discreet.lab.study.execution.outcomes import StudyQuery
from discreet.lab.study.findings.tidy_tables import NOTICE
from discreet.present import Drawn, Markup, bullets, element, show_figure, table, write_page
from discreet_replications.report.agreement import short_label, tell_amount
from discreet_replications.report.printed_comparison import MODELS, PrintedComparison

__all__ = ["FAULTS", "write_reproduction"]

_TITLE: Final = "The founding report, repeated and done rightly"
_LEAD: Final = (
    "The report compared central, local and shuffle privacy on a national health survey. Its local means were metres "
    "off, and its shuffle ignored ε. Here is the same study on the sample survey: by its own recipe, and by mechanisms "
    "that keep their promise."
)
FAULTS: Final = (
    ("abs() after the noise", "Negative reports were made positive. For a value x under Laplace noise of scale b this "
     "adds b·e^(−x/b) on average: metres of height, and the more the smaller ε is."),
    ("Codes kept as numbers", "“Not stated” stayed in the data as 9.999 m and 999.99 kg. The mean height became more "
     "than two metres before any noise, and the range, which sets the noise, nearly ten times too wide."),
    ("A coin for two, used for many", "Each answer was kept with the chance e^ε/(1 + e^ε) of a yes-or-no question, "
     "though there were up to nine answers. That costs more than ε; and the reports were counted as if true."),
    ("An inverted shuffle coin", "The chance of a random answer was used as the chance of the true one, with δ = 1. "
     "Nearly every answer became uniform, at every ε; sorting on the identifier then undid the shuffle."),
    ("Lap(1/ε) on weighted sums", "A person moves a weighted count by a survey weight, not by 1. The central errors of "
     "about one person look superb because hardly anything was protected."),
    ("ε for each column", "Ten columns at ε each are 10·ε for a person. The correct mechanisms here spend ε per column "
     "too, so that the figures can be compared; a real survey states the total."),
)  # fmt: skip


def write_reproduction(
    file: Path,
    comparison: PrintedComparison,
    *,
    verdict: Sequence[str],
    faults: Sequence[str],
    drawn: Mapping[str, Drawn],
) -> None:
    """Write the page; `verdict` and `faults` are the computed sentences."""
    terms = [part for name, words in FAULTS for part in (element("dt", name), element("dd", words))]
    main = element(
        "main",
        element("section", element("h2", "In short"), bullets(verdict), id="short", class_="box"),
        element("section", element("h2", "What the report did"), element("dl", *terms), id="faults"),
        element("section", element("h2", "The recipe is not private"), bullets(faults), id="cost"),
        element("section", element("h2", "Mean height, province by province"), show_figure(drawn["heights"])),
        *_models(comparison, drawn),
        _reading(comparison),
    )
    header = element("header", element("h1", _TITLE), element("p", _LEAD, class_="lead"))
    notice = element("p", element("strong", "Not a release. "), str(NOTICE), class_="notice")
    source = element(
        "footer", f"Theirs: {comparison.source} Everything else: study/ in the same folder, on synthetic rows."
    )
    write_whole(file, write_page(_TITLE, notice, header, main, source), durable=False)


def _models(comparison: PrintedComparison, drawn: Mapping[str, Drawn]) -> Iterator[Markup]:
    for model in MODELS:
        yield element(
            "section",
            element("h2", f"The {model} model"),
            show_figure(drawn[f"errors-{model}"]),
            *(_table(comparison, query, model) for query in comparison.queries),
            id=model,
        )


def _table(comparison: PrintedComparison, query: StudyQuery, model: str) -> Markup:
    """One statistic by ε: theirs, the recipe, each correct mechanism with its theory."""
    first = comparison.pick(query=query, model=model)
    mechanisms = MODELS[model] or (None,)
    rows = [
        ["The report", *(tell_amount(line.theirs) for line in first)],
        ["Its recipe here (not private)", *(tell_amount(line.naive) for line in first)],
    ]
    for mechanism in mechanisms:
        lines = comparison.pick(query=query, model=model, mechanism=mechanism)
        name = f"Correct, {mechanism}" if mechanism else "Correct"
        rows.append([name, *(tell_amount(line.correct) for line in lines)])
        rows.append([f"{name}: theory", *(tell_amount(line.theory) for line in lines)])
    head = ["Mean absolute error over provinces", *(f"ε = {line.epsilon:f}" for line in first)]
    return table(head, rows, caption=short_label(query).capitalize())


def _reading(comparison: PrintedComparison) -> Markup:
    """What a reader may wonder about: cells where the recipe looks better."""
    lucky = [
        f"{short_label(query)} at ε = {line.epsilon:f}"
        for query in comparison.queries
        for line in comparison.pick(query=query, model="local")
        if line.naive < line.correct
    ]
    lines = [
        "An error is the mean over runs of the distance from the figure without noise, then the mean over provinces. "
        "The recipe is held against the figure it starts from, codes and uncapped weights included, as in the report.",
        "Central and multi-message errors hide whether a person took part (add-remove). Hiding which answer was given "
        "(replace-one), as local and single-message reports do, doubles the noise of central counts.",
    ]
    if lucky:
        lines.append(
            f"In {len(lucky)} local cells the recipe's error is below the correct one ({'; '.join(lucky)}). Its "
            "figures are biased: they hardly depend on the answers, nobody can say how far they are off, and a share "
            "that happens to lie near the bias looks accurate. At large ε it also gains by spending ε + ln(k − 1). The "
            "correct estimates have an interval that holds."
        )
    return element("section", element("h2", "How to read this"), bullets(lines), id="reading")
