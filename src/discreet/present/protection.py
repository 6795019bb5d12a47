"""What a release promises, in words that readers of statistics know: whom it protects, against what, how strongly.

The terms of differential privacy (`add-remove`, delta, the column that tells units apart) stay in the details.
"""

from __future__ import annotations

import re
from decimal import ROUND_CEILING, Context, Decimal
from typing import Final

from discreet.catalogue import Numeral, Phrase, say_count, speaking
from discreet.guarantees import (
    ZCDP,
    ApproxDP,
    Guarantee,
    LocalDP,
    Neighbours,
    PureDP,
    ShuffleDP,
    text,
    zcdp_to_approx,
)
from discreet.results import Claim, Labels, Release

__all__ = ["tell_protected", "tell_protection", "tell_strength"]

_TAKEN_PART: Final = {
    "person": Phrase(
        "Protects each person: the figures would look almost the same whether or not any one person had taken part."
    ),
    "household": Phrase(
        "Protects each household: the figures would look almost the same whether or not any one household had taken "
        "part."
    ),
    "unit": Phrase(
        "Protects each unit: the figures would look almost the same whether or not any one unit were in the data."
    ),
}
_OTHER_DATA: Final = {
    "person": Phrase(
        "Protects each person: the figures would look almost the same if the data of any one person were different."
    ),
    "household": Phrase(
        "Protects each household: the figures would look almost the same if the data of any one household were "
        "different."
    ),
    "unit": Phrase(
        "Protects each unit: the figures would look almost the same if the data of any one unit were different."
    ),
}
_BEFORE_LEAVING: Final = Phrase(
    "Protects each respondent: every answer was changed at random before it left the respondent."
)
_MIXED: Final = Phrase(
    "Protects each respondent: answers were changed at random and mixed with those of others before anybody saw them."
)
_PROTECTED: Final = {
    "person": Phrase("each person"),
    "household": Phrase("each household"),
    "unit": Phrase("each unit"),
}
# What the name of an identifier says of the unit, where it says it plainly.
_NOUNS: Final = {
    "person": "person",
    "persons": "person",
    "people": "person",
    "individual": "person",
    "personne": "person",
    "individu": "person",
    "household": "household",
    "households": "household",
    "menage": "household",
    "ménage": "household",
}
_WORD: Final = re.compile(r"[^\W\d_]+")
_CHANCE: Final = Decimal("0.000001")
_UPWARDS: Final = Context(prec=3, rounding=ROUND_CEILING)
_MOST: Final = 20  # beyond, e to this power says nothing to anybody


def tell_protection(release: Release, language: str) -> str:
    """Whom a release protects and against what; empty where it is not differentially private."""
    guarantee = release.guarantee
    if not guarantee.differentially_private:
        return ""
    claim = release.claim
    if isinstance(guarantee, LocalDP | ShuffleDP):
        said = (_BEFORE_LEAVING if isinstance(guarantee, LocalDP) else _MIXED).text(language)
    else:
        sentences = _TAKEN_PART if claim.neighbours is Neighbours.ADD_REMOVE else _OTHER_DATA
        said = sentences[_noun(claim)].text(language)
    if not claim.in_clear:
        return said
    with speaking(language):
        clear = say_count(
            "It does not protect the {count:,} respondent who answered in clear.",
            "It does not protect the {count:,} respondents who answered in clear.",
            claim.in_clear,
        )
    return f"{said} {clear}"


def tell_protected(release: Release, language: str) -> str:
    """Who is protected, without the name of a column."""
    claim = release.claim
    if claim.unit is None:
        return ""
    who = _PROTECTED[_noun(claim)]
    if claim.unit.rows == 1:
        return who.text(language)
    return Phrase("{who}, of whose rows at most {rows:,} count", who=who, rows=claim.unit.rows).text(language)


def tell_strength(release: Release, language: str) -> str:
    """The parameters of the guarantee and what they mean; empty where it is not differentially private."""
    said = _strength(release.guarantee)
    return "" if said is None else said.text(language)


def _strength(guarantee: Guarantee) -> Labels | None:
    match guarantee:
        case PureDP(epsilon=epsilon) | LocalDP(epsilon=epsilon):
            return _say_factor(epsilon)
        case ApproxDP(epsilon=epsilon, delta=delta) | ShuffleDP(epsilon=epsilon, delta=delta):
            return _say_weaker(_say_factor(epsilon), delta) if delta else _say_factor(epsilon)
        case ZCDP(rho=rho, delta=own) if own < _CHANCE:
            reached = zcdp_to_approx(guarantee, delta=_CHANCE)
            return Phrase(
                "rho = {rho}, that is {approximate}",
                rho=text(rho),
                approximate=_say_weaker(_say_factor(reached.epsilon), reached.delta),
            )
        case ZCDP(rho=rho, delta=own):
            return _say_weaker(Phrase("rho = {rho}", rho=text(rho)), own)
    return None


def _say_factor(epsilon: Decimal) -> Labels:
    if epsilon > _MOST:
        return Phrase("epsilon = {epsilon}", epsilon=text(epsilon))
    return Phrase(
        "epsilon = {epsilon}: no result is more than {factor} times as likely because of the data of any one "
        "participant",
        epsilon=text(epsilon),
        factor=_round_up(epsilon.exp()),
    )


def _say_weaker(strength: Labels, delta: Decimal) -> Labels:
    return Phrase(
        "{strength}; there is a chance of at most 1 in {times:,} that the protection is weaker",
        strength=strength,
        times=int(1 / delta),
    )


def _round_up(factor: Decimal) -> Numeral:
    """Three digits, never too few."""
    rounded = _UPWARDS.plus(factor)
    return Numeral(f"{int(rounded):,}" if rounded >= 100 else f"{rounded.normalize():f}")


def _noun(claim: Claim) -> str:
    if claim.unit is None:
        return claim.each if claim.each in _TAKEN_PART else "person"
    words = {word.casefold() for word in _WORD.findall(claim.unit.column)}
    found = {_NOUNS[word] for word in words if word in _NOUNS}
    return found.pop() if len(found) == 1 else "unit"
