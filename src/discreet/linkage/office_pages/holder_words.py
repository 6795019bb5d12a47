"""The holder's view: what is reserved for its records, and exactly what leaves it."""

from __future__ import annotations

from collections.abc import Iterator

from discreet.catalogue import say, say_count, say_list
from discreet.linkage.office_pages.office_figures import draw_budget
from discreet.linkage.office_pages.office_words import (
    SHORT,
    OfficeSection,
    OfficeTable,
    tell_amount,
    tell_budget,
    tell_criteria,
    tell_epsilon,
    tell_moment,
    tell_terms,
)
from discreet.linkage.offices.holder_desk import PendingDraw
from discreet.linkage.offices.holder_status import HolderStatus, SentSample

__all__ = ["tell_holder"]


def tell_holder(status: HolderStatus) -> Iterator[OfficeSection]:
    yield tell_terms(status)
    properties = len(status.terms.properties)
    closed = (say("closed for good"),) if status.closed else ()
    pairs = (
        (
            say("for each property, 2E + e"),
            tell_epsilon(status.each) + ("" if status.ids == 1 else say(", for each of {ids} ids", ids=status.ids)),
        ),
        (
            say_count("reserved, for {count} together", "reserved, for {count} together", properties),
            " – ".join((tell_epsilon(status.reserved), *closed)),
        ),
        *tell_budget(status.budget, status.population),
    )
    yield OfficeSection(
        say("What is reserved for your records"),
        sentences=(
            say(
                "The reservation bounds what all answers tell the researcher about one record: 2E + e for each "
                "property, where E is what an account holds and e pays for the closing rule. It was spent when "
                "the study was opened, and no request adds to it."
            ),
        ),
        pairs=pairs,
        figures=(draw_budget(status.budget, status.reserved),),
    )
    yield _waiting(status)
    yield _drawn(status)


def _sent_rule(custodian: bool) -> tuple[str, ...]:
    rule = say(
        "For each request the registry gets pseudonyms, their masked groups and the sealed ticket; the researcher "
        "gets the meaning of the groups, or nothing if there is only one."
    )
    more = say("Numbers drawn depend on your rows: --custodian shows them, and is logged.")
    return (rule,) if custodian else (rule, more)


def _draw_columns(first: tuple[tuple[str, str], ...], custodian: bool) -> tuple[tuple[str, str], ...]:
    sizes = (
        (say("drawn"), "left"),
        (say("to the registry"), "right"),
        (say("to the researcher"), "right"),
    )
    return (
        *first,
        (say("criteria and rates"), "left"),
        (say("scale"), "right"),
        (say("parts"), "right"),
        *(sizes if custodian else ()),
    )


def _draw_cells(look: PendingDraw, sent: SentSample | None, custodian: bool) -> tuple[str, ...]:
    cells = (tell_criteria(look.where, look.groups), tell_amount(look.scale), tell_amount(look.charge))
    if not custodian:
        return cells
    if sent is None:
        return (*cells, "–", "–", "–")
    drawn = tell_amount(sent.ids)
    if len(sent.groups) > 1:
        drawn += (
            " ("
            + ", ".join(say("{name}: {told}", name=name, told=tell_amount(size)) for name, size in sent.groups)
            + ")"
        )
    sizes = (sent.registry_bytes, sent.researcher_bytes)
    return (*cells, drawn, *(say_count("{count:,}\u00a0byte", "{count:,}\u00a0bytes", size) for size in sizes))


def _waiting(status: HolderStatus) -> OfficeSection:
    heading = say("Waiting for your approval")
    if not status.waiting:
        return OfficeSection(heading, (say("Nothing waits."),))
    first = ((say("request"), "left"),)
    good = tuple(
        (item.request[:SHORT], *_draw_cells(item.look, item.sent, status.custodian))
        for item in status.waiting
        if item.look is not None
    )
    refused = tuple(
        say("nothing can be drawn for {request}: {problem}", request=item.request[:SHORT], problem=item.problem)
        for item in status.waiting
        if item.problem is not None
    )
    tables = (OfficeTable(_draw_columns(first, status.custodian), good, words=True),) if good else ()
    return OfficeSection(heading, (*_sent_rule(status.custodian), *refused), tables=tables)


def _drawn(status: HolderStatus) -> OfficeSection:
    heading = say("What was drawn and sent")
    if not status.drawn:
        return OfficeSection(heading, (say("Nothing was drawn yet."),))
    first = ((say("request"), "left"), (say("drawn on (UTC)"), "left"))
    rows = tuple(
        (
            item.look.request[:SHORT],
            tell_moment(item.when),
            *_draw_cells(item.look, item.sent, status.custodian),
        )
        for item in status.drawn
    )
    draws: dict[str, list[str]] = {}
    for item in status.drawn:
        draws.setdefault(item.draw, []).append(item.look.request[:SHORT])
    same = tuple(
        say("{names} asked for the same draw, and got the same people.", names=say_list(names))
        for names in draws.values()
        if len(names) > 1
    )
    table = OfficeTable(_draw_columns(first, status.custodian), rows, words=True)
    rule = () if status.waiting else _sent_rule(status.custodian)
    return OfficeSection(heading, (*rule, *same), tables=(table,))
