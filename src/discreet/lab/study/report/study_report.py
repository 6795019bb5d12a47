"""The report of a study: one HTML file that a manager can read, without scripts and without a network.

`write_report` draws the figures, computes the verdicts and writes report.html beside the tables it was made from.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final

from discreet.catalogue import Phrase, language, say
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
from discreet.lab.study.findings.verdicts import query_verdict, reference_epsilon, suggest, summarise
from discreet.lab.study.report.overview_figure import OVERVIEW
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

_NOTICE: Final = Phrase(
    "This is a study. It was computed from the true data, with noise that can be repeated from a seed. It is not a "
    "release and protects nobody: keep it with the data."
)
_QUESTION: Final = Phrase(
    "How far do the published figures move under each model of privacy, and from which ε on can they still be used?"
)

Progress = Callable[[str], None]


def write_report(folder: Path, *, png: bool = False, title: str = "", progress: Progress | None = None) -> Path:
    """Make figures/ and report.html of a finished study's folder anew; return the path of the report.

    `title` stands in the place of the one that the study was written with.

    Figures are written as SVG, with `png` also as PNG, which needs the extra 'png' (ExtraMissing) and a font (Refused).
    `progress` is told the name of each figure before it is drawn. PathInvalid when there is no finished study.
    """
    findings = read_findings(folder)
    if title:
        findings = replace(findings, info={**findings.info, "title": title})
    drawn = draw_figures(findings, png=png, progress=progress)
    file = folder / "report.html"
    write_whole(file, _page(findings, drawn), durable=False)
    return file


def verdict_lines(folder: Path) -> list[str]:
    """The verdict in short, for a terminal."""
    return summarise(read_findings(folder))


def _page(findings: Findings, drawn: dict[str, Drawn]) -> str:
    main = element("main", *_sections(findings, drawn))
    title = say("{title} – study report", title=findings.title)
    return write_page(title, *_header(findings), main, _footer(findings), language=language())


def _header(findings: Findings) -> Iterator[Markup]:
    links = [("short", say("In short")), *((anchors(findings)[item.name], item.label) for item in findings.asked)]
    links += [("sizes", say("Number of respondents"))] if findings.sizes else []
    links += [("hybrid", say("Answers in clear"))] if findings.hybrids else []
    links += [("quality", say("Quality of the data")), ("linkage", say("Linkage attack"))]
    links += [("protected", say("What is protected")), ("configuration", say("Configuration"))]
    links += [("words", say("Five words"))]
    entries = [element("li", element("a", label, href=f"#{anchor}")) for anchor, label in links]
    yield element("p", element("strong", say("Not a release. ")), str(_NOTICE), class_="notice")
    yield element("header", element("h1", findings.title), element("p", str(_QUESTION), class_="lead"))
    yield element("nav", element("ul", *entries), aria_label=say("Contents"))


def _sections(findings: Findings, drawn: dict[str, Drawn]) -> Iterator[Markup]:
    yield _short(findings, drawn)
    yield element("section", element("h2", say("The setting")), setting_table(findings))
    yield element("section", element("h2", say("Figure by figure")), element("p", str(HOW_COMPUTED)), id="figures")
    yield from _queries(findings, drawn)
    yield from _sizes(findings, drawn)
    yield from _hybrids(findings, drawn)
    yield _quality(findings, drawn)
    yield _linkage(findings)
    yield element(
        "section",
        element("h2", say("What is protected, and what is not")),
        element("h3", say("Protected")),
        bullets(tell_protected(findings)),
        element("h3", say("Not protected")),
        bullets(tell_unprotected(findings)),
        id="protected",
        class_="box",
    )
    yield _configuration(findings)
    terms = [part for word, meaning in GLOSSARY for part in (element("dt", str(word)), element("dd", str(meaning)))]
    yield element("section", element("h2", say("Five words")), element("dl", *terms), id="words")


def _short(findings: Findings, drawn: dict[str, Drawn]) -> Markup:
    """What a reader in a hurry takes away: the choice, the figure behind it, what to choose at each ε, and why."""
    parts = [element("p", element("strong", sentence))] if (sentence := suggest(findings)) else []
    parts += [show_figure(drawn[OVERVIEW])] if OVERVIEW in drawn else []
    parts += [choice_table(findings), bullets(summarise(findings))]
    return element("section", element("h2", say("In short")), *parts, id="short", class_="box")


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
        yield element(
            "section", element("h2", say("Number of respondents")), element("p", str(HOW_SIZED)), *parts, id="sizes"
        )


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
        yield element(
            "section", element("h2", say("Answers in clear")), element("p", str(HOW_CLEAR)), *parts, id="hybrid"
        )


def _quality(findings: Findings, drawn: dict[str, Drawn]) -> Markup:
    names = [slug(f"{epsilon:g}") for epsilon in chosen_epsilons(findings)]
    shown = [f"{sort}-{name}" for sort in ("correlations", "shapes") for name in names]
    parts = [
        element(
            "p",
            say(
                "KSComplement compares the distribution of one column before and after, CorrelationSimilarity the "
                "relation of two columns; 1 means unchanged, 0 as different as can be. Local and shuffled reports look "
                "distorted by design: the estimates above correct for that, these scores do not unless they say so."
            ),
        ),
        quality_by_epsilon(findings),
        quality_by_column(findings),
        *(show_figure(drawn[name]) for name in shown if name in drawn),
    ]
    if not findings.quality:
        parts = [element("p", say("The study measured no quality."))]
    return element("section", element("h2", say("Quality of the data")), *parts, id="quality")


def _linkage(findings: Findings) -> Markup:
    parts = [element("p", sentence) for sentence in tell_linkage(findings)]
    if findings.linkage:
        parts.append(linkage_table(findings))
    return element("section", element("h2", say("Linkage attack")), *parts, id="linkage")


def _configuration(findings: Findings) -> Markup:
    versions = findings.info.get("versions") or {}
    text = ", ".join(f"{name} {version}" for name, version in versions.items()) or say("unknown")
    facts = [
        say("Versions: {versions}.", versions=text),
        say("Seed: {seed}.", seed=str(findings.fact("seed"))),
        say("Hash: {hash}.", hash=str(findings.info.get("config_hash", ""))),
    ]
    summary = element("summary", say("study.yaml, as it was run"))
    written = element("details", summary, element("pre", findings.configuration))
    heading = element("h2", say("Configuration"))
    coverage = coverage_table(findings)
    return element("section", heading, bullets(facts), written, coverage, id="configuration")


def _footer(findings: Findings) -> Markup:
    made = say("Made from results.parquet, theory.parquet, quality.parquet, tables/ and figures/ of the same folder.")
    return element("footer", join([str(_NOTICE), " ", made]))
