"""The messages of notes beside linked counts: who is counted, who is protected, how far belief may rise."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import ROUND_CEILING, Decimal
from typing import Final

from discreet.catalogue import LANGUAGES, Phrase
from discreet.guarantees import text
from discreet.results import (
    BeliefTable,
    DrawnAtRate,
    KnownPopulation,
    Labels,
    LinkedInPart,
    LinkedProtection,
    Note,
    NotProtected,
    RatiosNotShown,
    RegistryReceipt,
    UnderAccount,
)

__all__ = ["say_of_linked"]

_EACH: Final = {
    "person": Phrase("Each person"),
    "household": Phrase("Each household"),
}
_OF_ONE: Final = {
    "person": Phrase("of one person"),
    "household": Phrase("of one household"),
}
_COUNTED: Final = {
    "people": Phrase("People whose account has room"),
    "households": Phrase("Households whose account has room"),
}
_SIZED: Final = {
    True: Phrase("The effective size tells, with noise, how many are counted."),
    False: Phrase("An answer of the kind count-and-size tells how many are counted."),
}
_THOUSANDTH: Final = Decimal("0.001")
_FIXED: Final = {
    RatiosNotShown: (
        Phrase("Not shown"),
        Phrase("A ratio is shown as – where the interval of its denominator reaches 0."),
    ),
    NotProtected: (
        Phrase("Not protected"),
        Phrase(
            "The registry and the researcher together learn who meets the criteria. Nobody can see from an "
            "answer that its noise was drawn as agreed."
        ),
    ),
}


def say_of_linked(note: Note) -> tuple[Labels, Labels] | None:
    """The heading and the sentence of a note on linked counts; None for others."""
    match note:
        case RatiosNotShown() | NotProtected():
            return _FIXED[type(note)]
        case UnderAccount():
            return Phrase("Who is counted"), _say_counted(note)
        case DrawnAtRate():
            return Phrase("Drawn at a rate"), _say_rates(note)
        case LinkedInPart(share):
            return Phrase("Linked in part"), Phrase(
                "The registry knows a share of {share} of the holder's people, by the agreement. Scaled counts and "
                "rates are divided by it.",
                share=text(share),
            )
        case KnownPopulation():
            return Phrase("Population given"), _say_population(note)
        case LinkedProtection():
            return Phrase("Who is protected"), _say_protection(note)
        case BeliefTable():
            return Phrase("Belief"), _say_beliefs(note)
        case RegistryReceipt(receipt):
            return Phrase("Receipt"), Phrase(
                "{receipt}, the event of the registry's ledger under which the request was charged", receipt=receipt
            )
    return None


def _say_counted(note: UnderAccount) -> Labels:
    return Phrase(
        "{counted}. Figures are unbiased for these alone: whoever has been counted too often is left out, and nothing "
        "says who. {size}",
        counted=_COUNTED[note.counted],
        size=_SIZED[note.sized],
    )


def _say_rates(note: DrawnAtRate) -> Labels:
    pairs = list(zip(note.groups, note.rates, strict=True))
    if len(pairs) == 1:
        rates: str | Labels = text(pairs[0][1])
    else:
        rates = _set_apart([Phrase("{group}: {rate}", group=group, rate=text(rate)) for group, rate in pairs])
    return Phrase(
        "{rates}. Counts are of those drawn. Distributions and rates are divided by the rate of the draw, and the "
        "chance of the draw comes on top of their intervals.",
        rates=rates,
    )


def _set_apart(items: Sequence[Labels]) -> Labels:
    """Several things in one sentence, by semicolons."""
    apart = Phrase("; ")
    return Labels(*(apart.text(lang).join(item.text(lang) for item in items) for lang in LANGUAGES))


def _say_population(note: KnownPopulation) -> Labels:
    people = Phrase("the population") if note.people is None else Phrase("{people:,} people", people=note.people)
    return Phrase(
        "A share of {share} of {people} has the property. Rates are per person with it and per person without it; the "
        "rate ratio is the first divided by the second.",
        share=text(note.share),
        people=people,
    )


def _say_protection(note: LinkedProtection) -> Labels:
    return Phrase(
        "{each}: over all answers about it, the property has epsilon {epsilon} against the researcher, the holder and "
        "everybody else outside the registry together, and a record of the holder {record} against the researcher. "
        "Answers about other properties add up for a record. The closing of a study may add epsilon {closing}, once.",
        each=_EACH[note.unit],
        epsilon=text(note.epsilon),
        record=text(note.record),
        closing=text(note.closing),
    )


def _say_beliefs(note: BeliefTable) -> Labels:
    rises = [(item.prior, item.belief.quantize(_THOUSANDTH, ROUND_CEILING)) for item in note.rises]
    return Phrase(
        "About the property {of_one}, all answers together raise a belief at most from {rises}.",
        of_one=_OF_ONE[note.unit],
        rises=_set_apart(
            [Phrase("{prior} to {belief}", prior=text(prior), belief=text(belief)) for prior, belief in rises]
        ),
    )
