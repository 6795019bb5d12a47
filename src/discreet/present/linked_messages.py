"""The messages of notes beside linked counts: who is counted, who is protected, how far belief may rise."""

from __future__ import annotations

from decimal import ROUND_CEILING, Decimal
from typing import Final

from discreet.guarantees import text
from discreet.present.charts.lettering import tell_number
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
    "person": Labels("Each person", "Chaque personne"),
    "household": Labels("Each household", "Chaque ménage"),
}
_OF_ONE: Final = {
    "person": Labels("of one person", "d’une personne"),
    "household": Labels("of one household", "d’un ménage"),
}
_COUNTED: Final = {
    "people": Labels("People whose account has room", "Personnes dont le compte a de la place"),
    "households": Labels("Households whose account has room", "Ménages dont le compte a de la place"),
}
_SIZED: Final = {
    True: Labels(
        "The effective size tells, with noise, how many are counted.",
        "La taille effective dit, avec bruit, combien d’unités sont comptées.",
    ),
    False: Labels(
        "An answer of the kind count-and-size tells how many are counted.",
        "Une réponse du type count-and-size dit combien d’unités sont comptées.",
    ),
}
_THOUSANDTH: Final = Decimal("0.001")
_FIXED: Final = {
    RatiosNotShown: (
        Labels("Not shown", "Non montré"),
        Labels(
            "A ratio is – where the interval of what it is over reaches 0.",
            "Un rapport est – là où l’intervalle de son dénominateur atteint 0.",
        ),
    ),
    NotProtected: (
        Labels("Not protected", "Non protégé"),
        Labels(
            "The registry and the researcher together learn who meets the criteria. Nobody can see from an answer that "
            "its noise was drawn as agreed.",
            "Le registre et le chercheur réunis apprennent qui répond aux critères. Une réponse ne permet pas de voir "
            "que son bruit a été tiré comme convenu.",
        ),
    ),
}


def say_of_linked(note: Note) -> tuple[Labels, Labels] | None:
    """The heading and the sentence of a note on linked counts; None for others."""
    match note:
        case RatiosNotShown() | NotProtected():
            return _FIXED[type(note)]
        case UnderAccount():
            return Labels("Who is counted", "Qui est compté"), _say_counted(note)
        case DrawnAtRate():
            return Labels("Drawn at a rate", "Taux de tirage"), _say_rates(note)
        case LinkedInPart(share):
            return Labels("Linked in part", "Relié en partie"), Labels(
                f"The registry knows a share of {text(share)} of the holder's people, by the agreement. Scaled counts "
                "and rates are divided by it.",
                f"Le registre connaît une part de {_comma(share)} des personnes du détenteur, selon l’accord. Les "
                "effectifs rapportés à tous et les taux sont divisés par elle.",
            )
        case KnownPopulation():
            return Labels("Population given", "Population indiquée"), _say_population(note)
        case LinkedProtection():
            return Labels("Who is protected", "Qui est protégé"), _say_protection(note)
        case BeliefTable():
            return Labels("Belief", "Conviction"), _say_beliefs(note)
        case RegistryReceipt(receipt):
            return Labels("Receipt", "Reçu"), Labels(
                f"{receipt}, the event of the registry's ledger under which the request was charged",
                f"{receipt}, l’événement du grand livre du registre sous lequel la demande a été imputée",
            )
    return None


def _say_counted(note: UnderAccount) -> Labels:
    counted, size = _COUNTED[note.counted], _SIZED[note.sized]
    return Labels(
        f"{counted.en}. Figures are unbiased for these alone: who has been counted too often is left out, and nothing "
        f"says who. {size.en}",
        f"{counted.fr}. Les chiffres sont sans biais pour ces unités seules : celles qui ont été comptées trop souvent "
        f"sont écartées, et rien ne dit lesquelles. {size.fr}",
    )


def _say_rates(note: DrawnAtRate) -> Labels:
    one = len(note.groups) == 1
    en = "; ".join(text(rate) if one else f"{name}: {text(rate)}" for name, rate in _pairs(note))
    fr = " ; ".join(_comma(rate) if one else f"{name} : {_comma(rate)}" for name, rate in _pairs(note))
    return Labels(
        f"{en}. Counts are of those drawn. Distributions and rates are divided by it, and the chance of the draw comes "
        "on top of their intervals.",
        f"{fr}. Les effectifs sont ceux du tirage. Répartitions et taux sont divisés par lui, et le hasard du tirage "
        "s’ajoute à leurs intervalles.",
    )


def _pairs(note: DrawnAtRate) -> list[tuple[str, Decimal]]:
    return list(zip(note.groups, note.rates, strict=True))


def _say_population(note: KnownPopulation) -> Labels:
    people = Labels("the population", "la population")
    if note.people is not None:
        people = Labels(f"{tell_number(note.people, 'en')} people", f"{tell_number(note.people, 'fr')} personnes")
    return Labels(
        f"A share of {text(note.share)} of {people.en} has the property. Rates are per person with it and per person "
        "without it; the rate ratio is the one over the other.",
        f"Une part de {_comma(note.share)} de {people.fr} a la propriété. Les taux sont par personne qui l’a et par "
        "personne qui ne l’a pas ; le rapport de taux est l’un sur l’autre.",
    )


def _say_protection(note: LinkedProtection) -> Labels:
    each = _EACH[note.unit]
    return Labels(
        f"{each.en}: over all answers about it, the property has epsilon {text(note.epsilon)} against the researcher, "
        f"the holder and everybody else outside the registry together, and a record of the holder {text(note.record)} "
        "against the researcher. Answers about other properties add up for a record. That a study closes may tell "
        f"epsilon {text(note.closing)} more, once.",
        f"{each.fr} : par toutes les réponses à son sujet, la propriété a epsilon {_comma(note.epsilon)} face au "
        "chercheur, au détenteur et à tous les autres hors du registre réunis, et un dossier du détenteur "
        f"{_comma(note.record)} face au chercheur. Pour un dossier, les réponses sur d’autres propriétés s’ajoutent. "
        f"La fermeture d’une étude peut révéler epsilon {_comma(note.closing)} de plus, une fois.",
    )


def _say_beliefs(note: BeliefTable) -> Labels:
    one = _OF_ONE[note.unit]
    rises = [(item.prior, item.belief.quantize(_THOUSANDTH, ROUND_CEILING)) for item in note.rises]
    en = "; ".join(f"{text(prior)} to {text(belief)}" for prior, belief in rises)
    fr = " ; ".join(f"{_comma(prior)} à {_comma(belief)}" for prior, belief in rises)
    return Labels(
        f"About the property {one.en}, all answers together raise a belief at most from {en}.",
        f"Sur la propriété {one.fr}, toutes les réponses réunies font passer une conviction au plus de {fr}.",
    )


def _comma(number: Decimal) -> str:
    return text(number).replace(".", ",")
