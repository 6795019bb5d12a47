"""The researcher's view: cost and precision before asking, answers, belief."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from discreet.catalogue import language, say, say_list
from discreet.linkage.agreements.agreement import AgreementTerms
from discreet.linkage.office_pages.office_figures import draw_prices
from discreet.linkage.office_pages.office_words import (
    SHORT,
    OfficeSection,
    OfficeTable,
    tell_amount,
    tell_criteria,
    tell_kind,
    tell_moment,
    tell_percent,
    tell_share,
    tell_terms,
)
from discreet.linkage.offices.researcher_status import LinkedPrice, ResearcherStatus, SentRequest
from discreet.linkage.tariff import LinkedKind

__all__ = ["tell_researcher"]


def tell_researcher(status: ResearcherStatus) -> Iterator[OfficeSection]:
    yield tell_terms(status)
    families = {(price.kind, price.properties) for price in status.prices}
    yield OfficeSection(
        say("Before you ask: cost and precision"),
        sentences=(
            say(
                "A request is charged to the account of everybody in its sample. Whoever has no room left is left out "
                "of the count, and nothing says so."
            ),
            say("± is half of the 95% interval: in 95 of 100 answers, each number lies within it of the true one."),
        ),
        tables=(_price_table(status, several=len(families) > 3),),
        figures=(draw_prices(status.prices),),
    )
    yield OfficeSection(
        say("Requests and answers"),
        sentences=(
            say("Numbers as the registry gave them: discreet linked read gives shares, rates and intervals.")
            if status.requests
            else say("Nothing was asked yet."),
        ),
        tables=(_request_table(status),) if status.requests else (),
    )
    yield OfficeSection(
        say("How far belief may go"),
        sentences=(
            say(
                "All answers together, and all parties but the registry together, can move what somebody "
                "believes about one unit's property to these values at most."
            ),
        ),
        tables=(
            OfficeTable(
                (
                    (say("believed before"), "right"),
                    (say("believed after, at most"), "right"),
                ),
                tuple((tell_share(prior), tell_percent(belief)) for prior, belief in status.beliefs),
            ),
        ),
    )


def _price_table(status: ResearcherStatus, *, several: bool) -> OfficeTable:
    columns = (
        (say("kind"), "left"),
        *((((say("property"), "left")),) if several else ()),
        (say("scale"), "right"),
        (say("parts"), "right"),
        (say("share of an account"), "right"),
        (say("counts per person"), "right"),
        ("±", "right"),
    )
    return OfficeTable(columns, tuple(_price_row(status, price, several) for price in status.prices))


def _price_row(status: ResearcherStatus, price: LinkedPrice, several: bool) -> tuple[str, ...]:
    names = [status.terms.property(name).title.text(language()) for name in price.properties]
    return (
        tell_kind(price.kind.value),
        *((say_list(names),) if several else ()),
        tell_amount(price.scale),
        tell_amount(price.charge),
        tell_percent(price.share),
        tell_amount(price.times),
        tell_amount(price.half_width),
    )


def _request_table(status: ResearcherStatus) -> OfficeTable:
    columns = (
        (say("request"), "left"),
        (say("asked (UTC)"), "left"),
        (say("what"), "left"),
        (say("of whom"), "left"),
        (say("parts"), "right"),
        (say("answer"), "left"),
    )
    rows = [
        (
            sent.request[:SHORT],
            tell_moment(sent.when),
            f"{tell_kind(sent.kind.value)}, {status.terms.property(sent.property).title.text(language())}",
            tell_criteria(sent.where, sent.groups),
            tell_amount(sent.charge),
            _answer(status.terms, sent),
        )
        for sent in status.requests
    ]
    return OfficeTable(columns, tuple(rows), words=True)


def _answer(terms: AgreementTerms, sent: SentRequest) -> str:
    if sent.answer is None:
        return say("not read yet")
    asked = terms.property(sent.property)
    names: Sequence[str] = [""]
    if sent.kind is LinkedKind.HISTOGRAM:
        names = [value.title.text(language()) for value in asked.values]
    elif sent.kind is LinkedKind.COUNT_AND_SIZE:
        names = [say("with"), say("without"), say("not in the registry")]
    groups = []
    for (name, _, _), cells in zip(sent.groups, sent.answer, strict=True):
        told = ", ".join(f"{label} {tell_amount(value)}".strip() for label, value in zip(names, cells, strict=False))
        groups.append(told if len(sent.groups) == 1 else say("{name}: {told}", name=name, told=told))
    return say("; ").join(groups) + f" (± {tell_amount(sent.half_width)})"
