"""The holder's view: what is reserved for its records, and exactly what leaves it."""

from __future__ import annotations

from collections.abc import Iterator

from discreet.linkage.office_pages.office_figures import draw_budget
from discreet.linkage.office_pages.office_words import (
    SHORT,
    OfficeSection,
    OfficeTable,
    OfficeWords,
    tell_budget,
    tell_criteria,
    tell_terms,
)
from discreet.linkage.offices.holder_desk import PendingDraw
from discreet.linkage.offices.holder_status import HolderStatus, SentSample

__all__ = ["tell_holder"]


def tell_holder(words: OfficeWords, status: HolderStatus) -> Iterator[OfficeSection]:
    yield tell_terms(words, status)
    properties = len(status.terms.properties)
    closed = (words("closed for good", "fermée pour de bon"),) if status.closed else ()
    pairs = (
        (
            words("for each property, 2E + e", "par propriété, 2E + e"),
            words.epsilon(status.each)
            + (
                ""
                if status.ids == 1
                else words(f", for each of {status.ids} ids", f", pour chacun de {status.ids} ids")
            ),
        ),
        (
            words(f"reserved, for {properties} together", f"réservé, pour {properties} ensemble"),
            " – ".join((words.epsilon(status.reserved), *closed)),
        ),
        *tell_budget(words, status.budget, status.population),
    )
    yield OfficeSection(
        words("What is reserved for your records", "Ce qui est réservé pour vos enregistrements"),
        sentences=(
            words(
                "The reservation bounds what all answers tell the researcher about one record: 2E + e for each "
                "property, where E is what an account holds and e pays for the closing rule. It was spent when the "
                "study was opened, and no request adds to it.",
                "La réserve borne ce que toutes les réponses apprennent au chercheur sur un enregistrement : 2E + e "
                "par propriété, où E est ce que contient un compte et e paie la règle de fermeture. Elle a été "
                "dépensée à l'ouverture de l'étude, et aucune demande n'y ajoute.",
            ),
        ),
        pairs=pairs,
        figures=(draw_budget(words, status.budget, status.reserved),),
    )
    yield _waiting(words, status)
    yield _drawn(words, status)


def _sent_rule(words: OfficeWords, custodian: bool) -> tuple[str, ...]:
    rule = words(
        "For each request the registry gets pseudonyms, their masked groups and the sealed ticket; the researcher gets "
        "the meaning of the groups, and nothing where there is one.",
        "Pour chaque demande, le registre reçoit des pseudonymes, leurs groupes masqués et le billet scellé ; le "
        "chercheur reçoit le sens des groupes, et rien s'il n'y en a qu'un.",
    )
    more = words(
        "Numbers drawn depend on your rows: --custodian shows them, and is logged.",
        "Les nombres tirés dépendent de vos lignes : --custodian les montre, et cela est consigné.",
    )
    return (rule,) if custodian else (rule, more)


def _draw_columns(
    words: OfficeWords, first: tuple[tuple[str, str], ...], custodian: bool
) -> tuple[tuple[str, str], ...]:
    sizes = (
        (words("drawn", "tirés"), "left"),
        (words("to the registry", "au registre"), "right"),
        (words("to the researcher", "au chercheur"), "right"),
    )
    return (
        *first,
        (words("criteria and rates", "critères et taux"), "left"),
        (words("scale", "échelle"), "right"),
        (words("parts", "parts"), "right"),
        *(sizes if custodian else ()),
    )


def _draw_cells(words: OfficeWords, look: PendingDraw, sent: SentSample | None, custodian: bool) -> tuple[str, ...]:
    cells = (tell_criteria(words, look.where, look.groups), words.number(look.scale), words.number(look.charge))
    if not custodian:
        return cells
    if sent is None:
        return (*cells, "–", "–", "–")
    drawn = words.number(sent.ids)
    if len(sent.groups) > 1:
        drawn += " (" + ", ".join(f"{name}{words.colon}{words.number(size)}" for name, size in sent.groups) + ")"
    octets, sizes = words("bytes", "octets"), (sent.registry_bytes, sent.researcher_bytes)
    return (*cells, drawn, *(f"{words.number(size)}\u00a0{octets}" for size in sizes))


def _waiting(words: OfficeWords, status: HolderStatus) -> OfficeSection:
    heading = words("Waiting for your approval", "En attente de votre approbation")
    if not status.waiting:
        return OfficeSection(heading, (words("Nothing waits.", "Rien n'attend."),))
    first = ((words("request", "demande"), "left"),)
    good = tuple(
        (item.request[:SHORT], *_draw_cells(words, item.look, item.sent, status.custodian))
        for item in status.waiting
        if item.look is not None
    )
    refused = tuple(
        words(
            f"{item.request[:SHORT]} cannot be drawn for: {item.problem}",
            f"{item.request[:SHORT]} ne peut être tirée : {item.problem}",
        )
        for item in status.waiting
        if item.problem is not None
    )
    tables = (OfficeTable(_draw_columns(words, first, status.custodian), good, words=True),) if good else ()
    return OfficeSection(heading, (*_sent_rule(words, status.custodian), *refused), tables=tables)


def _drawn(words: OfficeWords, status: HolderStatus) -> OfficeSection:
    heading = words("What was drawn and sent", "Ce qui a été tiré et envoyé")
    if not status.drawn:
        return OfficeSection(heading, (words("Nothing was drawn yet.", "Rien n'a encore été tiré."),))
    first = ((words("request", "demande"), "left"), (words("drawn on (UTC)", "tirée le (UTC)"), "left"))
    rows = tuple(
        (
            item.look.request[:SHORT],
            words.when(item.when),
            *_draw_cells(words, item.look, item.sent, status.custodian),
        )
        for item in status.drawn
    )
    draws: dict[str, list[str]] = {}
    for item in status.drawn:
        draws.setdefault(item.draw, []).append(item.look.request[:SHORT])
    same = tuple(
        words(
            f"{words.list(names)} asked for one and the same draw: the same people, by the same coins.",
            f"{words.list(names)} demandaient un seul et même tirage : les mêmes personnes, par le même hasard.",
        )
        for names in draws.values()
        if len(names) > 1
    )
    table = OfficeTable(_draw_columns(words, first, status.custodian), rows, words=True)
    rule = () if status.waiting else _sent_rule(words, status.custodian)
    return OfficeSection(heading, (*rule, *same), tables=(table,))
