"""The researcher's view: cost and precision before asking, answers, belief."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from discreet.linkage.agreements.agreement import AgreementTerms
from discreet.linkage.office_pages.office_figures import draw_prices
from discreet.linkage.office_pages.office_words import (
    SHORT,
    OfficeSection,
    OfficeTable,
    OfficeWords,
    tell_criteria,
    tell_terms,
)
from discreet.linkage.offices.researcher_status import LinkedPrice, ResearcherStatus, SentRequest
from discreet.linkage.tariff import LinkedKind

__all__ = ["tell_researcher"]


def tell_researcher(words: OfficeWords, status: ResearcherStatus) -> Iterator[OfficeSection]:
    yield tell_terms(words, status)
    families = {(price.kind, price.properties) for price in status.prices}
    yield OfficeSection(
        words("Before you ask: cost and precision", "Avant de demander : coût et précision"),
        sentences=(
            words(
                "A request is charged to the account of everybody in its sample. Whoever has no room left is left out "
                "of the count without a word.",
                "Une demande est débitée du compte de chacun dans son échantillon. Qui n'a plus de place est écarté du "
                "compte sans que rien ne le dise.",
            ),
            words(
                "± is half of the 95% interval: each number lies within it of the true one in 95 of 100 answers.",
                "± est la moitié de l'intervalle à 95\u00a0% : chaque nombre s'y trouve dans 95 réponses sur 100.",
            ),
        ),
        tables=(_price_table(words, status, several=len(families) > 3),),
        figures=(draw_prices(words, status.prices),),
    )
    yield OfficeSection(
        words("Requests and answers", "Demandes et réponses"),
        sentences=(
            words(
                "Numbers as the registry gave them: discreet linked read gives shares, rates and intervals.",
                "Les nombres tels que donnés par le registre : discreet linked read donne parts, taux et intervalles.",
            )
            if status.requests
            else words("Nothing was asked yet.", "Rien n'a encore été demandé."),
        ),
        tables=(_request_table(words, status),) if status.requests else (),
    )
    yield OfficeSection(
        words("How far belief may go", "Jusqu'où la conviction peut aller"),
        sentences=(
            words(
                "All answers together, and all parties but the registry together, can move what somebody believes "
                "about one unit's property to these values at most.",
                "Toutes les réponses ensemble, et toutes les parties sauf le registre ensemble, peuvent porter la "
                "conviction sur une unité à ces valeurs au plus.",
            ),
        ),
        tables=(
            OfficeTable(
                (
                    (words("believed before", "croyance initiale"), "right"),
                    (words("at most after", "au plus"), "right"),
                ),
                tuple((words.share(prior), words.percent(belief)) for prior, belief in status.beliefs),
            ),
        ),
    )


def _price_table(words: OfficeWords, status: ResearcherStatus, *, several: bool) -> OfficeTable:
    columns = (
        (words("kind", "genre"), "left"),
        *((((words("property", "propriété"), "left")),) if several else ()),
        (words("scale", "échelle"), "right"),
        (words("parts", "parts"), "right"),
        (words("share of an account", "part d'un compte"), "right"),
        (words("one person, times", "une personne, fois"), "right"),
        ("±", "right"),
    )
    return OfficeTable(columns, tuple(_price_row(words, status, price, several) for price in status.prices))


def _price_row(words: OfficeWords, status: ResearcherStatus, price: LinkedPrice, several: bool) -> tuple[str, ...]:
    names = [status.terms.property(name).title.text(words.language) for name in price.properties]
    return (
        words.kind(price.kind.value),
        *((words.list(names),) if several else ()),
        words.number(price.scale),
        words.number(price.charge),
        words.percent(price.share),
        words.number(price.times),
        words.number(price.half_width),
    )


def _request_table(words: OfficeWords, status: ResearcherStatus) -> OfficeTable:
    columns = (
        (words("request", "demande"), "left"),
        (words("asked (UTC)", "demandée (UTC)"), "left"),
        (words("what", "quoi"), "left"),
        (words("of whom", "sur qui"), "left"),
        (words("parts", "parts"), "right"),
        (words("answer", "réponse"), "left"),
    )
    rows = [
        (
            sent.request[:SHORT],
            words.when(sent.when),
            f"{words.kind(sent.kind.value)}, {status.terms.property(sent.property).title.text(words.language)}",
            tell_criteria(words, sent.where, sent.groups),
            words.number(sent.charge),
            _answer(words, status.terms, sent),
        )
        for sent in status.requests
    ]
    return OfficeTable(columns, tuple(rows), words=True)


def _answer(words: OfficeWords, terms: AgreementTerms, sent: SentRequest) -> str:
    if sent.answer is None:
        return words("not read yet", "pas encore lue")
    asked = terms.property(sent.property)
    names: Sequence[str] = [""]
    if sent.kind is LinkedKind.HISTOGRAM:
        names = [value.title.text(words.language) for value in asked.values]
    elif sent.kind is LinkedKind.COUNT_AND_SIZE:
        names = [words("with", "avec"), words("without", "sans"), words("not in the registry", "absents du registre")]
    groups = []
    for (name, _, _), cells in zip(sent.groups, sent.answer, strict=True):
        told = ", ".join(f"{label} {words.number(value)}".strip() for label, value in zip(names, cells, strict=False))
        groups.append(told if len(sent.groups) == 1 else f"{name}{words.colon}{told}")
    return f"{words.apart.join(groups)} (± {words.number(sent.half_width)})"
