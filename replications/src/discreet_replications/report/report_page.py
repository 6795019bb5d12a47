"""reproduction.html: what the founding report did, why its figures are absurd, and what correct mechanisms give."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from discreet.catalogue import Phrase, language, say
from discreet.files import write_whole
from discreet.lab.study.execution.outcomes import StudyQuery
from discreet.lab.study.findings.series_names import tell_mechanism
from discreet.lab.study.findings.tidy_tables import NOTICE
from discreet.present import Drawn, Markup, bullets, element, show_figure, table, write_page
from discreet_replications.report.agreement import short_label, tell_amount
from discreet_replications.report.printed_comparison import MODELS, PrintedComparison
from discreet_replications.wording import tell_epsilon

__all__ = ["FAULTS", "write_reproduction"]

_TITLE: Final = Phrase("The founding report, repeated and done rightly")
_LEAD: Final = Phrase(
    "The report compared central, local and shuffle privacy on a national health survey. Its local means were metres "
    "off, and its shuffle ignored ε. Here is the same study on the sample survey: by its own recipe, and by mechanisms "
    "that keep their promise."
)
FAULTS: Final = (
    (
        Phrase("abs() after the noise"),
        Phrase(
            "Negative reports were made positive. For a value x under Laplace noise of scale b this adds b·e^(−x/b) on "
            "average: metres of height, and the more the smaller ε is."
        ),
    ),
    (
        Phrase("Codes kept as numbers"),
        Phrase(
            "“Not stated” stayed in the data as 9.999 m and 999.99 kg. The mean height became more than two metres "
            "before any noise, and the range, which sets the noise, nearly ten times too wide."
        ),
    ),
    (
        Phrase("A coin for two, used for many"),
        Phrase(
            "Each answer was kept with the chance e^ε/(1 + e^ε) of a yes-or-no question, though there were up to nine "
            "answers. That costs more than ε; and the reports were counted as if true."
        ),
    ),
    (
        Phrase("An inverted shuffle coin"),
        Phrase(
            "The chance of a random answer was used as the chance of the true one, with δ = 1. Nearly every answer "
            "became uniform, at every ε; sorting on the identifier then undid the shuffle."
        ),
    ),
    (
        Phrase("Lap(1/ε) on weighted sums"),
        Phrase(
            "A person moves a weighted count by a survey weight, not by 1. The central errors of about one person look "
            "superb because hardly anything was protected."
        ),
    ),
    (
        Phrase("ε for each column"),
        Phrase(
            "Ten columns at ε each are 10·ε for a person. The correct mechanisms here spend ε per column too, so that "
            "the figures can be compared; a real survey states the total."
        ),
    ),
)
_MODELS: Final = {
    "central": Phrase("The central model"),
    "local": Phrase("The local model"),
    "shuffle": Phrase("The shuffle model"),
}


def write_reproduction(
    file: Path,
    comparison: PrintedComparison,
    *,
    verdict: Sequence[str],
    faults: Sequence[str],
    drawn: Mapping[str, Drawn],
) -> None:
    """Write the page; `verdict` and `faults` are the computed sentences."""
    terms = [part for name, words in FAULTS for part in (element("dt", str(name)), element("dd", str(words)))]
    main = element(
        "main",
        element("section", element("h2", say("In short")), bullets(verdict), id="short", class_="box"),
        element("section", element("h2", say("What the report did")), element("dl", *terms), id="faults"),
        element("section", element("h2", say("The recipe is not private")), bullets(faults), id="cost"),
        element("section", element("h2", say("Mean height, province by province")), show_figure(drawn["heights"])),
        *_models(comparison, drawn),
        _reading(comparison),
    )
    title = str(_TITLE)
    header = element("header", element("h1", title), element("p", str(_LEAD), class_="lead"))
    notice = element("p", element("strong", say("Not a release. ")), str(NOTICE), class_="notice")
    told = say(
        "Theirs: {source} Everything else: study/ in the same folder, on synthetic rows.", source=comparison.source
    )
    page = write_page(title, notice, header, main, element("footer", told), language=language())
    write_whole(file, page, durable=False)


def _models(comparison: PrintedComparison, drawn: Mapping[str, Drawn]) -> Iterator[Markup]:
    for model in MODELS:
        yield element(
            "section",
            element("h2", str(_MODELS[model])),
            show_figure(drawn[f"errors-{model}"]),
            *(_table(comparison, query, model) for query in comparison.queries),
            id=model,
        )


def _table(comparison: PrintedComparison, query: StudyQuery, model: str) -> Markup:
    """One statistic by ε: theirs, the recipe, each correct mechanism with its theory."""
    first = comparison.pick(query=query, model=model)
    mechanisms = MODELS[model] or (None,)
    rows = [
        [say("The report"), *(tell_amount(line.theirs) for line in first)],
        [say("Its recipe here (not private)"), *(tell_amount(line.naive) for line in first)],
    ]
    for mechanism in mechanisms:
        lines = comparison.pick(query=query, model=model, mechanism=mechanism)
        name = say("Correct, {mechanism}", mechanism=tell_mechanism(mechanism)) if mechanism else say("Correct")
        rows.append([name, *(tell_amount(line.correct) for line in lines)])
        rows.append([say("{name}: theory", name=name), *(tell_amount(line.theory) for line in lines)])
    head = [say("Mean absolute error over provinces"), *(tell_epsilon(f"{line.epsilon:f}") for line in first)]
    return table(head, rows, caption=short_label(query).capitalize())


def _reading(comparison: PrintedComparison) -> Markup:
    """What a reader may wonder about: cells where the recipe looks better."""
    lucky = [
        say("{figure} at ε = {epsilon:f}", figure=short_label(query), epsilon=line.epsilon)
        for query in comparison.queries
        for line in comparison.pick(query=query, model="local")
        if line.naive < line.correct
    ]
    lines = [
        say(
            "An error is the mean over runs of the distance from the figure without noise, then the mean over "
            "provinces. The recipe is held against the figure it starts from, codes and uncapped weights included, as "
            "in the report."
        ),
        say(
            "Central and multi-message errors hide whether a person took part (add-remove). Hiding which answer was "
            "given (replace-one), as local and single-message reports do, doubles the noise of central counts."
        ),
    ]
    if lucky:
        lines.append(
            say(
                "In {count} local cells the recipe's error is below the correct one ({cells}). Its figures are biased: "
                "they hardly depend on the answers, nobody can say how far they are off, and a share that happens to "
                "lie near the bias looks accurate. At large ε it also gains by spending ε + ln(k − 1). The correct "
                "estimates have an interval that holds.",
                count=len(lucky),
                cells=say("; ").join(lucky),
            )
        )
    return element("section", element("h2", say("How to read this")), bullets(lines), id="reading")
