"""The registry's view: reservations, accounts and requests. It knows no criteria."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import partial

from discreet.linkage.office_pages.office_figures import draw_accounts, draw_budget
from discreet.linkage.office_pages.office_words import (
    SHORT,
    OfficeSection,
    OfficeTable,
    OfficeWords,
    tell_budget,
    tell_terms,
)
from discreet.linkage.offices.registry_status import BANDS, AccountsView, PropertyStatus, RegistryStatus

__all__ = ["tell_registry"]


def tell_registry(words: OfficeWords, status: RegistryStatus) -> Iterator[OfficeSection]:
    yield tell_terms(words, status)
    yield OfficeSection(
        words("What is reserved", "Ce qui est réservé"),
        sentences=(
            words(
                "E + e for each property, spent when its accounts were opened: E is what an account holds, e pays for "
                "the closing rule. It stays spent, whether or not anything is asked.",
                "E + e par propriété, dépensé à l'ouverture de ses comptes : E est ce que contient un compte, e paie "
                "la règle de fermeture. Cela reste dépensé, que l'on demande ou non.",
            ),
        ),
        pairs=tell_budget(words, status.budget, status.population),
        tables=(_property_table(words, status),),
        figures=(draw_budget(words, status.budget, status.reserved),),
    )
    yield _state(words, status)
    for item in status.properties:
        if item.view is not None:
            yield _view(words, status, item, item.view)
    if not status.custodian:
        yield OfficeSection(
            words("Accounts", "Comptes"),
            (
                words(
                    "How full accounts are depends on samples: --custodian shows it, and is logged.",
                    "Le remplissage des comptes dépend des échantillons : --custodian le montre, et cela est consigné.",
                ),
            ),
        )
    yield _counted(words, status)


def _title(words: OfficeWords, status: RegistryStatus, name: str) -> str:
    return status.terms.property(name).title.text(words.language)


def _property_table(words: OfficeWords, status: RegistryStatus) -> OfficeTable:
    columns = (
        (words("property", "propriété"), "left"),
        (words("reserved", "réservé"), "right"),
        (words("requests", "demandes"), "right"),
        (words("parts charged", "parts débitées"), "right"),
        (words("state", "état"), "right"),
    )
    rows = tuple(
        (
            _title(words, status, item.name),
            words.epsilon(item.reserved),
            words.number(item.uses),
            words.number(item.charges),
            words("closed", "fermé") if item.closed else words("open", "ouvert"),
        )
        for item in status.properties
    )
    return OfficeTable(columns, rows)


def _state(words: OfficeWords, status: RegistryStatus) -> OfficeSection:
    pairs = []
    for item in status.properties:
        sound = words("are the ones that the ledger names", "sont ceux que nomme le grand livre")
        told = [sound if item.fault is None else words.fault(item.fault)]
        if item.written_off:
            told.append(
                words(f"written off {item.written_off} times", f"passés par pertes {item.written_off} fois")
                if item.written_off > 1
                else words("written off once", "passés par pertes une fois")
            )
        if item.unanswered:
            told.append(
                words(
                    f"charged and not answered: {', '.join(name[:SHORT] for name in item.unanswered)}",
                    f"débitées sans réponse : {', '.join(name[:SHORT] for name in item.unanswered)}",
                )
            )
        if item.shared:
            told.append(words(f"shared with {words.list(item.shared)}", f"partagés avec {words.list(item.shared)}"))
        pairs.append((_title(words, status, item.name), words.apart.join(told)))
    bad = any(item.fault is not None for item in status.properties)
    mend = words("Look with: discreet linked verify", "Regardez avec : discreet linked verify")
    return OfficeSection(words("Accounts and ledger", "Comptes et grand livre"), (mend,) if bad else (), tuple(pairs))


def _view(words: OfficeWords, status: RegistryStatus, item: PropertyStatus, view: AccountsView) -> OfficeSection:
    cap, title = status.terms.tariff.cap, _title(words, status, item.name)
    percent, number = partial(words.percent, decimals=1), words.number
    gauge = Fraction(view.no_room, view.threshold) if view.threshold else Fraction(0)
    borne, even = ("–" if share is None else percent(share) for share in (view.borne, view.even))
    pairs = (
        (
            words("no room for a count at the largest scale", "sans place pour un compte à la plus grande échelle"),
            words(
                f"{number(view.no_room)} units; the policy closes at about {number(view.threshold)}, which is "
                f"{percent(gauge)} of the way",
                f"unités : {number(view.no_room)} ; la politique ferme vers {number(view.threshold)}, soit "
                f"{percent(gauge)} du chemin",
            ),
        ),
        (
            words("more than nine tenths used", "plus de neuf dixièmes utilisés"),
            words(f"{number(view.near)} units", f"unités : {number(view.near)}"),
        ),
        (
            words("overlap of samples", "recouvrement des échantillons"),
            words(
                f"the most charged 1% of the units bear {borne} of all charges; spread evenly over all that were ever "
                f"charged it would be {even}",
                f"le 1\u00a0% des unités le plus débité porte {borne} des débits ; réparti également entre toutes "
                f"celles qui ont été débitées, ce serait {even}",
            ),
        ),
        *((_some(words, share), _used(words, parts, cap)) for share, parts in view.quantiles),
    )
    units = max(view.units, 1)
    rows = [
        (_band(words, place), number(count), percent(Fraction(count, units))) for place, count in enumerate(view.bands)
    ]
    table = OfficeTable(
        (
            (words("used of the account", "part du compte utilisée"), "left"),
            (words("units", "unités"), "right"),
            (words("share", "part"), "right"),
        ),
        tuple(rows),
    )
    return OfficeSection(
        words(f"Accounts: {title}", f"Comptes : {title}"),
        (
            words(
                "For the custodian alone. It depends on who was in samples, and on nobody's property. Samples are "
                "deleted after use: what is left of their overlap is what accounts bear.",
                "Pour le dépositaire seul. Cela dépend de qui était dans les échantillons, et de la propriété de "
                "personne. Les échantillons sont supprimés après usage : de leur recouvrement ne reste que ce que "
                "portent les comptes.",
            ),
        ),
        pairs,
        (table,),
        (draw_accounts(words, item.name, title, [_band(words, place) for place in range(BANDS + 1)], view),),
    )


def _some(words: OfficeWords, share: float) -> str:
    if share == 1:
        return words("the fullest account", "le compte le plus plein")
    return words(f"{words.percent(share, 0)} of the accounts", f"{words.percent(share, 0)} des comptes")


def _used(words: OfficeWords, parts: int, cap: int) -> str:
    used, whole, share = words.number(parts), words.number(cap), words.percent(Fraction(parts, cap))
    return words(f"at most {used} of {whole} parts used ({share})", f"au plus {used} parts sur {whole} ({share})")


def _band(words: OfficeWords, place: int) -> str:
    if not place:
        return words("nothing", "rien")
    low, high = (100 * edge // BANDS for edge in (place - 1, place))
    return (
        words(f"to {high}%", f"jusqu'à {high}\u00a0%") if not low else words(f"{low}–{high}%", f"{low}–{high}\u00a0%")
    )


def _counted(words: OfficeWords, status: RegistryStatus) -> OfficeSection:
    sentences = [] if status.counted else [words("Nothing was counted yet.", "Rien n'a encore été compté.")]
    if status.again:
        sentences.append(
            words(
                f"Answered without a charge, because it was counted before or the study had closed: {status.again}.",
                f"Réponses sans débit, car déjà comptées ou l'étude étant fermée : {status.again}.",
            )
        )
    if status.waiting:
        sentences.append(
            words(f"Samples that wait to be counted: {status.waiting}.", f"Échantillons en attente : {status.waiting}.")
        )
    columns = (
        (words("request", "demande"), "left"),
        (words("charged (UTC)", "débitée (UTC)"), "left"),
        (words("property", "propriété"), "left"),
        (words("kind", "genre"), "left"),
        (words("scale", "échelle"), "right"),
        (words("parts", "parts"), "right"),
        (words("answer", "réponse"), "left"),
    )
    rows = tuple(
        (
            request.request[:SHORT],
            words.when(request.when),
            _title(words, status, request.property),
            "–" if request.kind is None else words.kind(request.kind.value),
            "–" if request.scale is None else words.number(request.scale),
            words.number(request.charge),
            words("pending", "en attente") if request.kind is None else words("answered", "donnée"),
        )
        for request in status.counted
    )
    tables = (OfficeTable(columns, rows, words=True),) if rows else ()
    return OfficeSection(words("Requests", "Demandes"), tuple(sentences), tables=tables)
