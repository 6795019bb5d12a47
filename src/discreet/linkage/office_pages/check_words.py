"""What a check of an office has found, and what was written off or closed, in words."""

from __future__ import annotations

from discreet.linkage.office_pages.office_words import OfficeWords
from discreet.linkage.offices.account_book import WrittenOff
from discreet.linkage.offices.office_checks import OfficeFinding

__all__ = ["tell_finding", "tell_write_off"]


def tell_finding(words: OfficeWords, found: OfficeFinding) -> tuple[str, str, str]:
    """What was looked at, whether it is whole, and what was seen."""
    subject = words(
        *{
            "chain": ("ledger", "grand livre"),
            "reservation": ("reservation", "réserve"),
            "accounts": ("accounts", "comptes"),
            "files": ("property's files", "fichiers de la propriété"),
            "quota": ("quota", "quota"),
            "index": ("index of pseudonyms", "index des pseudonymes"),
            "link-key": ("link.key", "link.key"),
            "draw-key": ("draw.key", "draw.key"),
            "notes": ("requests kept", "demandes conservées"),
        }[found.what]
    )
    if found.asked:
        subject = words(f"{subject} of {found.asked}", f"{subject} : {found.asked}")
    state = words("whole", "intact") if found.sound else words("DAMAGED", "ENDOMMAGÉ")
    return subject, state, _sound(words, found) if found.sound else _damaged(words, found)


def _sound(words: OfficeWords, found: OfficeFinding) -> str:
    figures = {name: words.number(value) if isinstance(value, int) else value for name, value in found.figures}
    match found.what:
        case "chain":
            return words(
                f"every event follows from the one before it: {figures['events']}, with {figures['answers']} answers",
                f"chaque événement découle du précédent : {figures['events']}, avec {figures['answers']} réponses",
            )
        case "reservation":
            told = words(
                f"epsilon {figures['epsilon']} of '{figures['population']}' is spent for it",
                f"epsilon {words.decimal(figures['epsilon'])} de « {figures['population']} » est dépensé pour elle",
            )
            return told + (words("; closed", " ; fermée") if figures["closed"] != "0" else "")
        case "accounts":
            told = words(
                f"they have the digest that the ledger names; requests: {figures['uses']}",
                f"ils ont l'empreinte que nomme le grand livre ; demandes : {figures['uses']}",
            )
            if figures["unanswered"] != "0":
                told += words(
                    f"; charged and not answered: {figures['unanswered']}",
                    f" ; débitées sans réponse : {figures['unanswered']}",
                )
            if figures["written_off"] != "0":
                told += words(
                    f"; written off: {figures['written_off']}", f" ; passés par pertes : {figures['written_off']}"
                )
            return told
        case "quota":
            return words(
                f"{figures['spent']} parts spent; the ledger has {figures['charged']} for {figures['requests']} "
                "requests",
                f"{figures['spent']} parts dépensées ; le grand livre en a {figures['charged']} pour "
                f"{figures['requests']} demandes",
            )
        case "notes":
            return words(f"{figures['requests']} can be read", f"{figures['requests']} lisibles")
        case _:
            return words("can be read", "lisible")


def _damaged(words: OfficeWords, found: OfficeFinding) -> str:
    if found.what == "accounts":
        mend = words(
            "put the newest copy back, or write them off: discreet linked verify --write-off --custodian",
            "remettez la copie la plus récente, ou passez-les par pertes : discreet linked verify --write-off "
            "--custodian",
        )
        return words.fault(found.fault or "") + ("" if found.fault == "pool" else f". {_begin(mend)}")
    faults = {
        "missing": ("nothing is reserved on the ledger", "rien n'est réservé au grand livre"),
        "less": ("less is reserved than was agreed on", "la réserve est inférieure à ce qui a été convenu"),
        "lower": (
            "it counts less than the ledger: an older copy was put back",
            "il compte moins que le grand livre : une copie plus ancienne a été remise",
        ),
        "files": (
            "missing or unreadable: restore the office's folder from a copy, or close the study",
            "absent ou illisible : restaurez le dossier du bureau, ou fermez l'étude",
        ),
    }
    return words(*faults[found.fault or "files"])


def _begin(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]


def tell_write_off(words: OfficeWords, title: str, done: WrittenOff, cap: int) -> str:
    """What now stands in the place of lost accounts."""
    fullest, whole = words.number(done.fullest), words.number(cap)
    if done.all:
        return words(
            f"{title}: the ledger may lack requests, so every account is used up. Close the study and agree anew.",
            f"{title} : le grand livre peut ignorer des demandes, donc chaque compte est épuisé. Fermez l'étude et "
            "convenez d'une nouvelle.",
        )
    return words(
        f"{title}: requests charged to everybody: {words.number(done.uses)}. The fullest account has used {fullest} of "
        f"{whole} parts. The ledger names the new accounts.",
        f"{title} : demandes débitées de tous : {words.number(done.uses)}. Le compte le plus plein a utilisé {fullest} "
        f"parts sur {whole}. Le grand livre nomme les nouveaux comptes.",
    )
