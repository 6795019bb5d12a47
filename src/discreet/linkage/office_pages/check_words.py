"""What a check of an office has found, and what was written off or closed, in words."""

from __future__ import annotations

from typing import Final

from discreet.catalogue import Phrase, say
from discreet.linkage.office_pages.office_words import tell_amount, tell_fault
from discreet.linkage.offices.account_book import WrittenOff
from discreet.linkage.offices.office_checks import OfficeFinding

__all__ = ["tell_finding", "tell_write_off"]


_SUBJECTS: Final = {
    "chain": Phrase("ledger"),
    "reservation": Phrase("reservation"),
    "accounts": Phrase("accounts"),
    "files": Phrase("property's files"),
    "quota": Phrase("quota"),
    "index": Phrase("index of pseudonyms"),
    "link-key": Phrase("link.key"),
    "draw-key": Phrase("draw.key"),
    "notes": Phrase("requests kept"),
}
_FAULTS: Final = {
    "missing": Phrase("nothing is reserved on the ledger"),
    "less": Phrase("less is reserved than was agreed on"),
    "lower": Phrase("it counts less than the ledger: an older copy was put back"),
    "files": Phrase("missing or unreadable: restore the office's folder from a copy, or close the study"),
}


def tell_finding(found: OfficeFinding) -> tuple[str, str, str]:
    """What was looked at, whether it is whole, and what was seen."""
    subject = str(_SUBJECTS[found.what])
    if found.asked:
        subject = say("{subject} of {asked}", subject=subject, asked=found.asked)
    if found.sound:
        return subject, say("whole"), _tell_sound(found)
    return subject, say("DAMAGED"), _tell_damage(found)


def _tell_sound(found: OfficeFinding) -> str:
    figures = {name: tell_amount(value) if isinstance(value, int) else value for name, value in found.figures}
    match found.what:
        case "chain":
            return say(
                "every event follows from the one before it: {events}, with {answers} answers",
                events=figures["events"],
                answers=figures["answers"],
            )
        case "reservation":
            told = say(
                "epsilon {epsilon} of '{population}' is spent for it",
                epsilon=figures["epsilon"],
                population=figures["population"],
            )
            return told + (say("; closed") if figures["closed"] != "0" else "")
        case "accounts":
            told = say("they have the digest that the ledger names; requests: {uses}", uses=figures["uses"])
            if figures["unanswered"] != "0":
                told += say("; charged and not answered: {unanswered}", unanswered=figures["unanswered"])
            if figures["written_off"] != "0":
                told += say("; written off: {written_off}", written_off=figures["written_off"])
            return told
        case "quota":
            return say(
                "{spent} parts spent; the ledger has {charged} for {requests} requests",
                spent=figures["spent"],
                charged=figures["charged"],
                requests=figures["requests"],
            )
        case "notes":
            return say("{requests} can be read", requests=figures["requests"])
        case _:
            return say("can be read")


def _tell_damage(found: OfficeFinding) -> str:
    if found.what != "accounts":
        return str(_FAULTS[found.fault or "files"])
    told = tell_fault(found.fault or "")
    if found.fault == "pool":
        return told
    return say(
        "{told}. Put the newest copy back, or write them off: discreet linked verify --write-off --custodian",
        told=told,
    )


def tell_write_off(title: str, done: WrittenOff, cap: int) -> str:
    """What now stands in the place of lost accounts."""
    if done.all:
        return say(
            "{title}: requests may be missing from the ledger, so every account counts as used up. Close the study "
            "and agree anew.",
            title=title,
        )
    return say(
        "{title}: requests charged to everybody: {uses:,}. The fullest account has used {fullest:,} of "
        "{cap:,} parts. The ledger names the new accounts.",
        title=title,
        uses=done.uses,
        fullest=done.fullest,
        cap=cap,
    )
