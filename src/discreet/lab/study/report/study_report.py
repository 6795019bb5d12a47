"""The report of a study: one HTML file that a manager can read, without scripts and without a network.

`write_report` draws the figures, computes the verdicts and writes report.html beside the tables it was made from.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from discreet.files import write_whole
from discreet.lab.study.findings.advice import setting_of
from discreet.lab.study.findings.study_findings import Findings, read_findings
from discreet.lab.study.findings.sweeps import (
    hybrid_lines,
    hybrid_table,
    sizes_of,
    sizes_table,
    tell_hybrid,
    tell_sizes,
)
from discreet.lab.study.findings.verdicts import query_verdict, reference_epsilon, summarise
from discreet.lab.study.report.report_tables import (
    choice_table,
    coverage_table,
    error_table,
    linkage_table,
    quality_by_column,
    quality_by_epsilon,
    setting_table,
    tell_linkage,
)
from discreet.lab.study.report.report_words import (
    GLOSSARY,
    HOW_CLEAR,
    HOW_COMPUTED,
    HOW_SIZED,
    tell_protected,
    tell_unprotected,
)
from discreet.lab.study.report.study_figures import anchors, chosen_epsilons, draw_figures, slug
from discreet.present import Drawn, Markup, bullets, element, join, show_figure, write_page

__all__ = ["verdict_lines", "write_report"]

_NOTICE: Final = (
    "This is a study. It was computed from the true data, with noise that can be repeated from a seed. It is not a "
    "release and protects nobody: keep it with the data."
)
_QUESTION: Final = (
    "How far do the published figures move under each model of privacy, and from which ε on can they still be used?"
)

Progress = Callable[[str], None]


def write_report(folder: Path, *, png: bool = False, progress: Progress | None = None) -> Path:
    """Make figures/ and report.html of a finished study's folder anew; return the path of the report.

    Figures are written as SVG, with `png` also as PNG, which needs the extra 'png' (ExtraMissing) and a font (Refused).
    `progress` is told the name of each figure before it is drawn. PathInvalid when there is no finished study.
    """
    findings = read_findings(folder)
    drawn = draw_figures(findings, png=png, progress=progress)
    file = folder / "report.html"
    write_whole(file, _page(findings, drawn), durable=False)
    return file


def verdict_lines(folder: Path) -> list[str]:
    """The verdict in short, for a terminal."""
    return summarise(read_findings(folder))


def _page(findings: Findings, drawn: dict[str, Drawn]) -> str:
    main = element("main", *_sections(findings, drawn))
    return write_page(f"{findings.title} – study report", *_header(findings), main, _footer(findings))


def _header(findings: Findings) -> Iterator[Markup]:
    links = [("short", "In short"), *((anchors(findings)[item.name], item.label) for item in findings.asked)]
    links += [("sizes", "Number of respondents")] if findings.sizes else []
    links += [("hybrid", "Answers in clear")] if findings.hybrids else []
    links += [("quality", "Quality of the data"), ("linkage", "Linkage attack"), ("protected", "What is protected")]
    links += [("configuration", "Configuration"), ("words", "Five words")]
    entries = [element("li", element("a", label, href=f"#{anchor}")) for anchor, label in links]
    yield element("p", element("strong", "Not a release. "), _NOTICE, class_="notice")
    yield element("header", element("h1", findings.title), element("p", _QUESTION, class_="lead"))
    yield element("nav", element("ul", *entries), aria_label="Contents")


def _sections(findings: Findings, drawn: dict[str, Drawn]) -> Iterator[Markup]:
    short = bullets(summarise(findings))
    heading = element("h2", "In short")
    yield element("section", heading, choice_table(findings), short, id="short", class_="box")
    yield element("section", element("h2", "The setting"), setting_table(findings))
    yield element("section", element("h2", "Figure by figure"), element("p", HOW_COMPUTED), id="figures")
    yield from _queries(findings, drawn)
    yield from _sizes(findings, drawn)
    yield from _hybrids(findings, drawn)
    yield _quality(findings, drawn)
    yield _linkage(findings)
    yield element(
        "section",
        element("h2", "What is protected, and what is not"),
        element("h3", "Protected"),
        bullets(tell_protected(findings)),
        element("h3", "Not protected"),
        bullets(tell_unprotected(findings)),
        id="protected",
        class_="box",
    )
    yield _configuration(findings)
    terms = [part for word, meaning in GLOSSARY for part in (element("dt", word), element("dd", meaning))]
    yield element("section", element("h2", "Five words"), element("dl", *terms), id="words")


def _queries(findings: Findings, drawn: dict[str, Drawn]) -> Iterator[Markup]:
    names = anchors(findings)
    for asked in findings.asked:
        name = names[asked.name]
        epsilon = reference_epsilon(asked.epsilons)
        yield element(
            "section",
            element("h3", asked.label),
            bullets(query_verdict(asked, epsilon=epsilon, level=findings.level, setting=setting_of(findings))),
            show_figure(drawn[f"estimates-{name}"]),
            show_figure(drawn[f"errors-{name}"], narrow=True),
            error_table(asked),
            id=name,
        )


def _sizes(findings: Findings, drawn: dict[str, Drawn]) -> Iterator[Markup]:
    parts: list[Markup] = []
    for asked in findings.asked:
        if sizes := sizes_of(findings, asked):
            epsilon = reference_epsilon(asked.epsilons)
            parts += [
                element("h3", asked.label),
                element("p", tell_sizes(sizes, epsilon)),
                show_figure(drawn[f"sizes-{anchors(findings)[asked.name]}"], narrow=True),
                sizes_table(findings, asked, sizes, epsilon),
            ]
    if parts:
        yield element("section", element("h2", "Number of respondents"), element("p", HOW_SIZED), *parts, id="sizes")


def _hybrids(findings: Findings, drawn: dict[str, Drawn]) -> Iterator[Markup]:
    parts: list[Markup] = []
    for asked in findings.hybrids:
        epsilon = reference_epsilon(asked.epsilons)
        if lines := hybrid_lines(findings, asked, epsilon):
            parts += [
                element("h3", asked.label),
                element("p", tell_hybrid(asked, lines, epsilon)),
                show_figure(drawn[f"hybrid-{anchors(findings)[asked.name]}"]),
                hybrid_table(asked, lines, epsilon),
            ]
    if parts:
        yield element("section", element("h2", "Answers in clear"), element("p", HOW_CLEAR), *parts, id="hybrid")


def _quality(findings: Findings, drawn: dict[str, Drawn]) -> Markup:
    names = [slug(f"{epsilon:g}") for epsilon in chosen_epsilons(findings)]
    shown = [f"{sort}-{name}" for sort in ("correlations", "shapes") for name in names]
    parts = [
        element(
            "p",
            "KSComplement compares the distribution of one column before and after, CorrelationSimilarity the relation "
            "of two columns; 1 means unchanged, 0 as different as can be. Local and shuffled reports look distorted by "
            "design: the estimates above correct for that, these scores do not unless they say so.",
        ),
        quality_by_epsilon(findings),
        quality_by_column(findings),
        *(show_figure(drawn[name]) for name in shown if name in drawn),
    ]
    if not findings.quality:
        parts = [element("p", "The study measured no quality.")]
    return element("section", element("h2", "Quality of the data"), *parts, id="quality")


def _linkage(findings: Findings) -> Markup:
    parts = [element("p", sentence) for sentence in tell_linkage(findings)]
    if findings.linkage:
        parts.append(linkage_table(findings))
    return element("section", element("h2", "Linkage attack"), *parts, id="linkage")


def _configuration(findings: Findings) -> Markup:
    versions = findings.info.get("versions") or {}
    text = ", ".join(f"{name} {version}" for name, version in versions.items()) or "unknown"
    facts = [f"Versions: {text}.", f"Seed: {findings.fact('seed')}.", f"Hash: {findings.info.get('config_hash', '')}."]
    written = element(
        "details", element("summary", "study.yaml, as it was run"), element("pre", findings.configuration)
    )
    heading = element("h2", "Configuration")
    coverage = coverage_table(findings)
    return element("section", heading, bullets(facts), written, coverage, id="configuration")


def _footer(findings: Findings) -> Markup:
    files_named = "results.parquet, theory.parquet, quality.parquet, tables/ and figures/"
    return element("footer", join([_NOTICE, " ", f"Made from {files_named} of the same folder."]))
