"""thesis.html: the check, the verdict, the audit, figures and tables of the benchmark in one page."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Final

from discreet.catalogue import Numeral, Phrase, language, numeral, say
from discreet.present import Drawn, Markup, bullets, element, show_figure, table, write_page
from discreet_replications.thesis.data.thesis_queries import SOURCE
from discreet_replications.thesis.methods import LEFT_OUT
from discreet_replications.thesis.pages.page_sections import SPREAD, show_columns, show_shortfalls, show_timings
from discreet_replications.thesis.pages.thesis_words import FINDINGS, tell_audit, tell_figure
from discreet_replications.thesis.run_records import QUANTITIES, Records
from discreet_replications.thesis.thesis_reproduction import NOTICE, ThesisReproduction
from discreet_replications.thesis.verdict import printed_for
from discreet_replications.wording import DRAWINGS, NO_GUARANTEE, tell_printed, tell_word

if TYPE_CHECKING:
    from discreet.lab.strategies.contest import SeriesSpread
    from discreet_replications.thesis.foresight import Foresight
    from discreet_replications.thesis.methods import ThesisMethod
    from discreet_replications.thesis.thesis_truth import Truth

__all__ = ["clipping_cells", "write_thesis_page"]

_APPENDIX: Final = Phrase("Appendix A")

_TITLE: Final = Phrase("Sensitivity guessed by a generator: the thesis' benchmark again")
_LEAD: Final = Phrase(
    "The thesis wanted less noise than worst-case bounds ask for, and let a generator guess how far an answer moves. "
    "Here are its 26 queries again: by its own recipe, and by strategies that keep their promise, with what each "
    "promise is worth when it is put to the test."
)


def write_thesis_page(done: ThesisReproduction, drawn: Sequence[Drawn]) -> str:
    """The whole page as text."""
    main = element(
        "main",
        element("section", element("h2", say("In short")), bullets(_short(done)), id="short", class_="box"),
        _verdict(done),
        _check(done),
        show_columns(done),
        _clipping(done),
        *([show_shortfalls(done)] if done.shortfalls else []),
        _audit(done),
        *([_patients(done)] if done.patient_scores else []),
        *([_medians(done)] if done.medians else []),
        element(
            "section", element("h2", tell_word(DRAWINGS)), *(show_figure(figure) for figure in drawn), id="figures"
        ),
        *([show_timings(done)] if done.timings else []),
        _quantities(done.records),
        element("section", element("h2", say("What the thesis got right, and what not")), _findings(), id="findings"),
    )
    title = str(_TITLE)
    header = element("header", element("h1", title), element("p", str(_LEAD), class_="lead"))
    notice = element("p", element("strong", say("Not a release. ")), str(NOTICE), class_="notice")
    told = say("Printed figures: {source}. The same in CSV: tables/ in the same folder.", source=SOURCE)
    return write_page(title, notice, header, main, element("footer", told), language=language())


def _short(done: ThesisReproduction) -> list[str]:
    low = (item.tell() for item in done.shortfalls)
    return [*done.verdict.sentences, *low, *tell_audit(done.audit), *map(str, done.absent)]


def _findings() -> Markup:
    terms = [part for name, words in FINDINGS for part in (element("dt", str(name)), element("dd", str(words)))]
    return element("dl", *terms)


# --- verdict --------------------------------------------------------------------------------------------------------


def _verdict(done: ThesisReproduction) -> Markup:
    words = say(
        "Relative error is the distance from the exact answer of the rows as they are, over that answer: mean over the "
        "runs of a query, then over the queries. Proven strategies on the thesis' terms let one row take another's "
        "place, with the number of rows public; add-remove has nothing public."
    )
    epsilons = done.records.epsilons
    scores = {(score.method, score.epsilon): score for score in done.verdict.scores}
    rows = []
    for method in done.records.methods:
        found = [scores[method, epsilon] for epsilon in epsilons]
        rows.append(
            [
                method.label,
                f"ε, {method.terms}" if found[0].proven else tell_word(NO_GUARANTEE),
                *(
                    cell
                    for score in found
                    for cell in (
                        tell_figure(score.mean),
                        tell_figure(score.median),
                        "" if score.printed is None else tell_figure(score.printed),
                    )
                ),
                _runs(found[0].least_runs, found[0].most_runs),
            ]
        )
    for method, _ in done.records.skipped:
        printed = [printed_for(method, epsilon, done.records.queries) for epsilon in epsilons]
        cells = (cell for item in printed for cell in ("", "", "" if item is None else tell_figure(item)))
        rows.append([method.label, tell_word(NO_GUARANTEE), *cells, say("skipped")])
    head = [say("Strategy"), say("Guarantee")]
    for epsilon in epsilons:
        head += [_at(what, epsilon) for what in (say("mean"), say("median query"), say("printed"))]
    caption = say("Mean relative error over {queries} queries", queries=len(done.records.queries))
    return element(
        "section",
        element("h2", say("Verdict")),
        element("p", f"{words} {LEFT_OUT}"),
        table([*head, say("Runs")], rows, caption=caption),
        *_sensitivity_errors(done),
        id="verdict",
    )


def _at(what: str, epsilon: str) -> str:
    """A heading of one ε."""
    return say("{what}, ε = {epsilon}", what=what, epsilon=Numeral(epsilon))


def _runs(least: int, most: int) -> str:
    return numeral(most) if least == most else f"{numeral(least)}–{numeral(most)}"


def _sensitivity_errors(done: ThesisReproduction) -> Iterator[Markup]:
    found = [score for score in done.verdict.scores if score.generated_error is not None]
    if found:
        first = {score.method: score for score in found}
        text = say("; ").join(
            f"{method.label} {tell_figure(score.generated_error or 0)}" for method, score in first.items()
        )
        yield element(
            "p",
            say(
                "How far the sensitivity of generated rows is from that of the real ones, relatively, mean over the "
                "queries: {errors}; the thesis prints about 0.195 (Table 7). Epochs of training: {trained}.",
                errors=text,
                trained=", ".join(f"{name} {numeral(epochs, 'd')}" for name, epochs in done.epochs.items()),
            ),
        )


# --- check, clipping, audit -------------------------------------------------------------------------------------------


def _check(done: ThesisReproduction) -> Markup:
    first = done.checks[0]
    others = {line.query.number: line for line in done.checks[-1].lines}
    rows = [
        [
            line.query.name,
            tell_printed(line.query.result),
            numeral(float(line.truth.result), ".8g"),
            _differing(line.truth, others[line.query.number].truth),
            tell_printed(line.query.sensitivity),
            numeral(float(line.truth.thesis_sensitivity), ".5g"),
        ]
        for line in first.lines
    ]
    head = [
        say("Query"),
        say("Printed"),
        say("Here"),
        say("Kidney read cleanly"),
        say("Sensitivity printed"),
        say("Here"),
    ]
    words = say(
        "Sensitivities by the thesis' rule: of a sum the largest value, of a mean that over the rows less one. They "
        "are facts about the rows, and no guarantee follows from them. Errors below are against the clean reading."
    )
    return element(
        "section",
        element("h2", say("What the thesis prints, checked")),
        bullets(done.notes),
        element("p", words),
        table(head, rows, caption=f"{_APPENDIX}, {first.reading.told}" if first.reading else str(_APPENDIX)),
        id="check",
    )


def _differing(here: Truth, clean: Truth) -> str:
    """The answer of the clean reading where it is another."""
    return "" if here.result == clean.result else numeral(float(clean.result), ".8g")


def _clipping(done: ThesisReproduction) -> Markup:
    rows = [
        [
            *clipping_cells(item),
            str(item.range.why),
        ]
        for item in done.foreseen
    ]
    words = say(
        "The ranges follow from medicine, geometry and code books, not from these rows. Whoever wrote them could have "
        "known published summaries of data that have been studied so much; so they are not blind. What lies outside is "
        "clipped, and the bias is part of the errors above."
    )
    head = [say("Query"), say("Public range"), say("Rows clipped"), say("Clipping bias"), say("Why")]
    return element(
        "section",
        element("h2", say("Public ranges and what they clip")),
        element("p", words),
        element("div", table(head, rows), class_="setting"),
        id="clipping",
    )


def clipping_cells(item: Foresight) -> list[str]:
    """A query, its public range, and what the range does to it."""
    low, high = Numeral(item.range.low), Numeral(item.range.high)
    return [
        item.query.name,
        say("{low} to {high}", low=low, high=high),
        numeral(item.clipped_rows),
        numeral(item.bias, ".2%").replace("-", "−"),
    ]


def _audit(done: ThesisReproduction) -> Markup:
    words = say(
        "Each claim is put to the test on two data sets that differ in the row of the maximum. Of the answers to both, "
        "one half chooses an event and the other measures it (Clopper–Pearson, 99.9% confidence): ε cannot be below "
        "the bound. To pass is no proof; a bound above the claim is a refutation. The generator is held fixed."
    )
    rows = [
        [
            str(item.pair.words),
            item.strategy,
            say("proven") if item.proven else tell_word(NO_GUARANTEE),
            numeral(item.result.claimed, "g"),
            numeral(item.result.lower_bound, ".3f"),
            say("refuted") if item.result.refuted else say("not refuted"),
            numeral(item.result.samples),
            item.result.event.tell(),
        ]
        for item in done.audit
    ]
    head = [
        say("Neighbours"),
        say("Strategy"),
        say("Guarantee"),
        say("Claimed ε"),
        say("ε is at least"),
        say("Claim"),
        say("Samples"),
        say("Event"),
    ]
    return element(
        "section",
        element("h2", say("Audit: what the claims are worth")),
        element("p", words),
        element("div", table(head, rows), class_="setting"),
        id="audit",
    )


# --- patients and medians ---------------------------------------------------------------------------------------------


def _patients(done: ThesisReproduction) -> Markup:
    words = say(
        "In diabetes a row is a stay, not a person: a patient has up to 40. Protecting whole patients costs up to 40 "
        "times the noise of a row. The id of the unit cannot be summed, so 25 queries are left; kidney and breast have "
        "one row a person."
    )
    epsilons = done.patients.epsilons
    means = [
        [
            method.label,
            *(
                cell
                for score in done.patient_scores
                if score.method == method
                for cell in (tell_figure(score.diabetes), tell_figure(score.overall))
            ),
        ]
        for method in done.patients.methods
    ]
    queries = max((score.queries for score in done.patient_scores), default=0)
    head = [say("Strategy")]
    for epsilon in epsilons:
        head += [_at("diabetes", epsilon), _at(say("{queries} queries", queries=queries), epsilon)]
    columns = [(method, epsilon) for method in done.patients.methods for epsilon in epsilons]
    rows = [
        [query.name, *(_error(done.patients, method, epsilon, query.number) for method, epsilon in columns)]
        for query in done.patients.queries
    ]
    each = [say("Query"), *(_at(method.label, epsilon) for method, epsilon in columns)]
    return element(
        "section",
        element("h2", say("The patient as unit")),
        element("p", words),
        table(head, means, caption=say("Mean relative error")),
        table(each, rows, caption=say("Mean relative error of each query")),
        id="patients",
    )


def _error(records: Records, method: ThesisMethod, epsilon: str, number: int) -> str:
    found = [item.spread("relative_error") for item in records.pick(method, epsilon) if item.query.number == number]
    return _mean(found[0]) if found else ""


def _mean(spread: SeriesSpread | None) -> str:
    return "" if spread is None else tell_figure(spread.mean)


def _medians(done: ThesisReproduction) -> Markup:
    words = say(
        "Smooth sensitivity has no say in sums and means. For medians of the same columns it is compared here with the "
        "default, which chooses by rank: values clipped to the public ranges, δ = 10⁻⁶ for smooth."
    )
    keys = list(dict.fromkeys((item.strategy, item.epsilon) for item in done.medians))
    found = {(item.dataset, item.column, item.strategy, item.epsilon): item.mean_error for item in done.medians}
    columns = dict.fromkeys((item.dataset, item.column) for item in done.medians)
    rows = [
        [f"MEDIAN({column})", *(_told(found.get((dataset, column, *key))) for key in keys)]
        for dataset, column in columns
    ]
    head = [say("Query"), *(_at(strategy, epsilon) for strategy, epsilon in keys)]
    return element(
        "section",
        element("h2", say("Medians, where smooth applies")),
        element("p", words),
        table(head, rows, caption=say("Mean relative error")),
        id="medians",
    )


def _told(figure: float | None) -> str:
    return say("median is 0") if figure is None else tell_figure(figure)


# --- every quantity -------------------------------------------------------------------------------------------------


def _quantities(records: Records) -> Markup:
    parts = [
        element("details", element("summary", str(words).capitalize()), *_tables(records, quantity))
        for quantity, words in QUANTITIES.items()
    ]
    text = say("Mean, median, least and most over the runs of each query, as in the thesis' Tables 10 to 26.")
    return element("section", element("h2", say("Every query")), element("p", text), *parts, id="queries")


def _tables(records: Records, quantity: str) -> Iterator[Markup]:
    for method in records.methods:
        epsilons = records.epsilons if method.spends else records.epsilons[:1]
        head = [say("Query")]
        for epsilon in epsilons:
            head += [_at(str(name), epsilon) if method.spends else str(name) for name in SPREAD.values()]
        by_epsilon = [records.pick(method, epsilon) for epsilon in epsilons]
        rows = [
            [found[0].query.name, *(cell for item in found for cell in _cells(item.spread(quantity)))]
            for found in zip(*by_epsilon, strict=True)
            if found[0].spread(quantity) is not None
        ]
        if rows:
            yield table(head, rows, caption=method.label)


def _cells(spread: SeriesSpread | None) -> Iterable[str]:
    if spread is None:
        return [""] * 4
    return [tell_figure(value) for value in (spread.mean, spread.median, spread.least, spread.most)]
