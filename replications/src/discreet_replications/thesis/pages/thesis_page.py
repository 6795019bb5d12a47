"""thesis.html: the check, the verdict, the audit, figures and tables of the benchmark in one page."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Final

from discreet.present import Drawn, Markup, bullets, element, show_figure, table, write_page
from discreet_replications.thesis.data.thesis_queries import SOURCE
from discreet_replications.thesis.methods import LEFT_OUT
from discreet_replications.thesis.pages.page_sections import show_columns, show_shortfalls, show_timings
from discreet_replications.thesis.pages.thesis_words import FINDINGS, tell_audit, tell_figure
from discreet_replications.thesis.run_records import QUANTITIES, Records
from discreet_replications.thesis.thesis_reproduction import NOTICE, ThesisReproduction
from discreet_replications.thesis.verdict import printed_for

if TYPE_CHECKING:
    from discreet.lab.strategies.contest import SeriesSpread
    from discreet_replications.thesis.thesis_truth import Truth

__all__ = ["write_thesis_page"]

_TITLE: Final = "Sensitivity guessed by a generator: the thesis' benchmark again"
_LEAD: Final = (
    "The thesis wanted less noise than worst-case bounds ask for, and let a generator guess how far an answer moves. "
    "Here are its 26 queries again: by its own recipe, and by strategies that keep their promise, with what each "
    "promise is worth when it is put to the test."
)


def write_thesis_page(done: ThesisReproduction, drawn: Sequence[Drawn]) -> str:
    """The whole page as text."""
    main = element(
        "main",
        element("section", element("h2", "In short"), bullets(_short(done)), id="short", class_="box"),
        _verdict(done),
        _check(done),
        show_columns(done),
        _clipping(done),
        *([show_shortfalls(done)] if done.shortfalls else []),
        _audit(done),
        *([_patients(done)] if done.patient_scores else []),
        *([_medians(done)] if done.medians else []),
        element("section", element("h2", "Figures"), *(show_figure(figure) for figure in drawn), id="figures"),
        *([show_timings(done)] if done.timings else []),
        _quantities(done.records),
        element("section", element("h2", "What the thesis got right, and what not"), _findings(), id="findings"),
    )
    header = element("header", element("h1", _TITLE), element("p", _LEAD, class_="lead"))
    notice = element("p", element("strong", "Not a release. "), NOTICE, class_="notice")
    footer = element("footer", f"Printed figures: {SOURCE}. The same in CSV: tables/ in the same folder.")
    return write_page(_TITLE, notice, header, main, footer)


def _short(done: ThesisReproduction) -> list[str]:
    low = (item.tell() for item in done.shortfalls)
    return [*done.verdict.sentences, *low, *tell_audit(done.audit), *done.absent]


def _findings() -> Markup:
    return element("dl", *(part for name, words in FINDINGS for part in (element("dt", name), element("dd", words))))


# --- verdict --------------------------------------------------------------------------------------------------------


def _verdict(done: ThesisReproduction) -> Markup:
    words = (
        "Relative error is the distance from the exact answer of the rows as they are, over that answer: mean over the "
        "runs of a query, then over the queries. Proven strategies on the thesis' terms let one row take another's "
        "place, with the number of rows public; add-remove has nothing public. "
    )
    epsilons = done.records.epsilons
    scores = {(score.method, score.epsilon): score for score in done.verdict.scores}
    rows = []
    for method in done.records.methods:
        found = [scores[method, epsilon] for epsilon in epsilons]
        rows.append(
            [
                method.name,
                f"ε, {method.terms}" if found[0].proven else "none",
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
        rows.append([method.name, "none", *cells, "skipped"])
    head = ["Strategy", "Guarantee"]
    for epsilon in epsilons:
        head += [f"mean, ε = {epsilon}", f"median query, ε = {epsilon}", f"printed, ε = {epsilon}"]
    return element(
        "section",
        element("h2", "Verdict"),
        element("p", words + LEFT_OUT),
        table([*head, "Runs"], rows, caption=f"Mean relative error over {len(done.records.queries)} queries"),
        *_sensitivity_errors(done),
        id="verdict",
    )


def _runs(least: int, most: int) -> str:
    return f"{most:,}" if least == most else f"{least:,}–{most:,}"


def _sensitivity_errors(done: ThesisReproduction) -> Iterator[Markup]:
    found = [score for score in done.verdict.scores if score.generated_error is not None]
    if found:
        first = {score.method: score for score in found}
        text = "; ".join(f"{name.name} {tell_figure(score.generated_error or 0)}" for name, score in first.items())
        trained = ", ".join(f"{name} {epochs}" for name, epochs in done.epochs.items())
        yield element(
            "p",
            "How far the sensitivity of generated rows is from that of the real ones, relatively, mean over the "
            f"queries: {text}; the thesis prints about 0.195 (Table 7). Epochs of training: {trained}.",
        )


# --- check, clipping, audit -------------------------------------------------------------------------------------------


def _check(done: ThesisReproduction) -> Markup:
    first = done.checks[0]
    others = {line.query.number: line for line in done.checks[-1].lines}
    rows = [
        [
            line.query.name,
            line.query.result,
            f"{float(line.truth.result):.8g}",
            _differing(line.truth, others[line.query.number].truth),
            line.query.sensitivity,
            f"{float(line.truth.thesis_sensitivity):.5g}",
        ]
        for line in first.lines
    ]
    head = ["Query", "Printed", "Here", "Kidney read cleanly", "Sensitivity printed", "Here"]
    words = (
        "Sensitivities by the thesis' rule: of a sum the largest value, of a mean that over the rows less one. They "
        "are facts about the rows, and no guarantee follows from them. Errors below are against the clean reading."
    )
    return element(
        "section",
        element("h2", "What the thesis prints, checked"),
        bullets(list(done.notes)),
        element("p", words),
        table(head, rows, caption="Appendix A" + (f", kidney in the {first.reading} reading" if first.reading else "")),
        id="check",
    )


def _differing(here: Truth, clean: Truth) -> str:
    """The answer of the clean reading where it is another."""
    return "" if here.result == clean.result else f"{float(clean.result):.8g}"


def _clipping(done: ThesisReproduction) -> Markup:
    rows = [
        [
            item.query.name,
            f"{item.range.low} to {item.range.high}",
            f"{item.clipped_rows:,}",
            f"{item.bias:.2%}".replace("-", "−"),
            item.range.why,
        ]
        for item in done.foreseen
    ]
    words = (
        "The ranges follow from medicine, geometry and code books, not from these rows. Whoever wrote them could have "
        "known published summaries of data that have been studied so much; so they are not blind. What lies outside is "
        "clipped, and the bias is part of the errors above."
    )
    head = ["Query", "Public range", "Rows clipped", "Clipping bias", "Why"]
    return element(
        "section",
        element("h2", "Public ranges and what they clip"),
        element("p", words),
        element("div", table(head, rows), class_="setting"),
        id="clipping",
    )


def _audit(done: ThesisReproduction) -> Markup:
    words = (
        "Each claim is put to the test on two data sets that differ in the row of the maximum. Of the answers to both, "
        "one half chooses an event and the other measures it (Clopper–Pearson, 99.9% confidence): ε cannot be below "
        "the bound. To pass is no proof; a bound above the claim is a refutation. The generator is held fixed."
    )
    rows = [
        [
            item.pair.words,
            item.strategy,
            "proven" if item.proven else "none",
            f"{item.result.claimed:g}",
            f"{item.result.lower_bound:.3f}",
            "refuted" if item.result.refuted else "not refuted",
            f"{item.result.samples:,}",
            item.result.event.tell(),
        ]
        for item in done.audit
    ]
    head = ["Neighbours", "Strategy", "Guarantee", "Claimed ε", "ε is at least", "Claim", "Samples", "Event"]
    return element(
        "section",
        element("h2", "Audit: what the claims are worth"),
        element("p", words),
        element("div", table(head, rows), class_="setting"),
        id="audit",
    )


# --- patients and medians ---------------------------------------------------------------------------------------------


def _patients(done: ThesisReproduction) -> Markup:
    words = (
        "In diabetes a row is a stay, not a person: a patient has up to 40. Protecting whole patients costs up to 40 "
        "times the noise of a row. The id of the unit cannot be summed, so 25 queries are left; kidney and breast have "
        "one row a person."
    )
    epsilons = done.patients.epsilons
    means = [
        [
            method.name,
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
    head = ["Strategy"]
    for epsilon in epsilons:
        head += [f"diabetes, ε = {epsilon}", f"{queries} queries, ε = {epsilon}"]
    rows = [
        [query.name, *(_error(done.patients, name, epsilon, query.number) for name, epsilon in _columns(done.patients))]
        for query in done.patients.queries
    ]
    each = ["Query", *(f"{name}, ε = {epsilon}" for name, epsilon in _columns(done.patients))]
    return element(
        "section",
        element("h2", "The patient as unit"),
        element("p", words),
        table(head, means, caption="Mean relative error"),
        table(each, rows, caption="Mean relative error of each query"),
        id="patients",
    )


def _columns(records: Records) -> list[tuple[str, str]]:
    return [(method.name, epsilon) for method in records.methods for epsilon in records.epsilons]


def _error(records: Records, name: str, epsilon: str, number: int) -> str:
    method = next(item for item in records.methods if item.name == name)
    found = [item.spread("relative_error") for item in records.pick(method, epsilon) if item.query.number == number]
    return _mean(found[0]) if found else ""


def _mean(spread: SeriesSpread | None) -> str:
    return "" if spread is None else tell_figure(spread.mean)


def _medians(done: ThesisReproduction) -> Markup:
    words = (
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
    head = ["Query", *(f"{strategy}, ε = {epsilon}" for strategy, epsilon in keys)]
    return element(
        "section",
        element("h2", "Medians, where smooth applies"),
        element("p", words),
        table(head, rows, caption="Mean relative error"),
        id="medians",
    )


def _told(figure: float | None) -> str:
    return "median is 0" if figure is None else tell_figure(figure)


# --- every quantity -------------------------------------------------------------------------------------------------


def _quantities(records: Records) -> Markup:
    parts = [
        element("details", element("summary", words.capitalize()), *_tables(records, quantity))
        for quantity, words in QUANTITIES.items()
    ]
    text = "Mean, median, least and most over the runs of each query, as in the thesis' Tables 10 to 26."
    return element("section", element("h2", "Every query"), element("p", text), *parts, id="queries")


def _tables(records: Records, quantity: str) -> Iterator[Markup]:
    for method in records.methods:
        epsilons = records.epsilons if method.spends else records.epsilons[:1]
        head = ["Query"]
        for epsilon in epsilons:
            mark = f", ε = {epsilon}" if method.spends else ""
            head += [f"{name}{mark}" for name in ("mean", "median", "least", "most")]
        by_epsilon = [records.pick(method, epsilon) for epsilon in epsilons]
        rows = [
            [found[0].query.name, *(cell for item in found for cell in _cells(item.spread(quantity)))]
            for found in zip(*by_epsilon, strict=True)
            if found[0].spread(quantity) is not None
        ]
        if rows:
            yield table(head, rows, caption=method.name)


def _cells(spread: SeriesSpread | None) -> Iterable[str]:
    if spread is None:
        return [""] * 4
    return [tell_figure(value) for value in (spread.mean, spread.median, spread.least, spread.most)]
