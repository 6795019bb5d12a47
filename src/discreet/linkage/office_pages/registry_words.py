"""The registry's view: reservations, accounts and requests. It knows no criteria."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import partial

from discreet.catalogue import language, say, say_count, say_list
from discreet.linkage.office_pages.office_figures import draw_accounts, draw_budget
from discreet.linkage.office_pages.office_words import (
    SHORT,
    OfficeSection,
    OfficeTable,
    tell_amount,
    tell_budget,
    tell_epsilon,
    tell_fault,
    tell_kind,
    tell_moment,
    tell_percent,
    tell_terms,
)
from discreet.linkage.offices.registry_status import BANDS, AccountsView, PropertyStatus, RegistryStatus

__all__ = ["tell_registry"]


def tell_registry(status: RegistryStatus) -> Iterator[OfficeSection]:
    yield tell_terms(status)
    yield OfficeSection(
        say("What is reserved"),
        sentences=(
            say(
                "E + e for each property, spent when its accounts were opened: E is what an account holds, e "
                "pays for the closing rule. It stays spent, whether or not anything is asked."
            ),
        ),
        pairs=tell_budget(status.budget, status.population),
        tables=(_property_table(status),),
        figures=(draw_budget(status.budget, status.reserved),),
    )
    yield _state(status)
    for item in status.properties:
        if item.view is not None:
            yield _view(status, item, item.view)
    if not status.custodian:
        yield OfficeSection(
            say("Accounts"),
            (say("How full accounts are depends on samples: --custodian shows it, and is logged."),),
        )
    yield _counted(status)


def _title(status: RegistryStatus, name: str) -> str:
    return status.terms.property(name).title.text(language())


def _property_table(status: RegistryStatus) -> OfficeTable:
    columns = (
        (say("property"), "left"),
        (say("reserved"), "right"),
        (say("requests"), "right"),
        (say("parts charged"), "right"),
        (say("state"), "right"),
    )
    rows = tuple(
        (
            _title(status, item.name),
            tell_epsilon(item.reserved),
            tell_amount(item.uses),
            tell_amount(item.charges),
            say("closed") if item.closed else say("open"),
        )
        for item in status.properties
    )
    return OfficeTable(columns, rows)


def _state(status: RegistryStatus) -> OfficeSection:
    pairs = []
    for item in status.properties:
        sound = say("are the ones that the ledger names")
        told = [sound if item.fault is None else tell_fault(item.fault)]
        if item.written_off:
            told.append(say_count("written off once", "written off {count:,} times", item.written_off))
        if item.unanswered:
            told.append(
                say(
                    "charged and not answered: {unanswered}",
                    unanswered=", ".join(name[:SHORT] for name in item.unanswered),
                )
            )
        if item.shared:
            told.append(say("shared with {shared}", shared=say_list(item.shared)))
        pairs.append((_title(status, item.name), say("; ").join(told)))
    bad = any(item.fault is not None for item in status.properties)
    mend = say("Look with: discreet linked verify")
    return OfficeSection(say("Accounts and ledger"), (mend,) if bad else (), tuple(pairs))


def _view(status: RegistryStatus, item: PropertyStatus, view: AccountsView) -> OfficeSection:
    cap, title = status.terms.tariff.cap, _title(status, item.name)
    percent, number = partial(tell_percent, decimals=1), tell_amount
    gauge = Fraction(view.no_room, view.threshold) if view.threshold else Fraction(0)
    borne, even = ("–" if share is None else percent(share) for share in (view.borne, view.even))
    pairs = (
        (
            say("no room for a count at the largest scale"),
            say(
                "{no_room:,} units; the policy closes at about {threshold:,}, which is {way} of the way",
                no_room=view.no_room,
                threshold=view.threshold,
                way=percent(gauge),
            ),
        ),
        (
            say("more than nine tenths used"),
            say_count("{count:,} unit", "{count:,} units", view.near),
        ),
        (
            say("overlap of samples"),
            say(
                "the most charged 1% of the units bear {borne} of all charges; spread evenly over all that were "
                "ever charged it would be {even}",
                borne=borne,
                even=even,
            ),
        ),
        *((_some(share), _used(parts, cap)) for share, parts in view.quantiles),
    )
    units = max(view.units, 1)
    rows = [(_band(place), number(count), percent(Fraction(count, units))) for place, count in enumerate(view.bands)]
    table = OfficeTable(
        (
            (say("used of the account"), "left"),
            (say("units"), "right"),
            (say("share"), "right"),
        ),
        tuple(rows),
    )
    return OfficeSection(
        say("Accounts: {title}", title=title),
        (
            say(
                "For the custodian alone. It depends on who was in samples, and on nobody's property. Samples "
                "are deleted after use: what is left of their overlap is what accounts bear."
            ),
        ),
        pairs,
        (table,),
        (draw_accounts(item.name, title, [_band(place) for place in range(BANDS + 1)], view),),
    )


def _some(share: float) -> str:
    if share == 1:
        return say("the fullest account")
    return say("{share} of the accounts", share=tell_percent(share, 0))


def _used(parts: int, cap: int) -> str:
    share = tell_percent(Fraction(parts, cap))
    return say("at most {used:,} of {cap:,} parts used ({share})", used=parts, cap=cap, share=share)


def _band(place: int) -> str:
    if not place:
        return say("nothing")
    low, high = (100 * edge // BANDS for edge in (place - 1, place))
    return say("to {high}%", high=high) if not low else say("{low}–{high}%", low=low, high=high)


def _counted(status: RegistryStatus) -> OfficeSection:
    sentences = [] if status.counted else [say("Nothing was counted yet.")]
    if status.again:
        sentences.append(
            say(
                "Answered without a charge, because it was counted before or the study had closed: {again}.",
                again=status.again,
            )
        )
    if status.waiting:
        sentences.append(say("Samples waiting to be counted: {waiting}.", waiting=status.waiting))
    columns = (
        (say("request"), "left"),
        (say("charged (UTC)"), "left"),
        (say("property"), "left"),
        (say("kind"), "left"),
        (say("scale"), "right"),
        (say("parts"), "right"),
        (say("answer"), "left"),
    )
    rows = tuple(
        (
            request.request[:SHORT],
            tell_moment(request.when),
            _title(status, request.property),
            "–" if request.kind is None else tell_kind(request.kind.value),
            "–" if request.scale is None else tell_amount(request.scale),
            tell_amount(request.charge),
            say("pending") if request.kind is None else say("answered"),
        )
        for request in status.counted
    )
    tables = (OfficeTable(columns, rows, words=True),) if rows else ()
    return OfficeSection(say("Requests"), tuple(sentences), tables=tables)
