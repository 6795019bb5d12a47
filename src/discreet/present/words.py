"""The facts of a release in the reader's language: guarantee, unit, neighbours, settlement, level, calibration.

What is ours and fixed is translated; names of measures and reasons why nothing is proved stay in the words they were
given.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Final

from discreet.guarantees import (
    ZCDP,
    ApproxDP,
    BootstrapDP,
    Guarantee,
    LocalDP,
    Neighbours,
    PureDP,
    ShuffleDP,
    Unproven,
    text,
)
from discreet.present.charts.lettering import tell_number
from discreet.present.messages import POOLS, cover_of
from discreet.results import Accounted, Amount, Basis, Charged, Claim, Labels, Left, Release

__all__ = [
    "NOISE_ONLY",
    "NOT_PRIVATE",
    "STORED",
    "say_amount",
    "say_basis",
    "say_guarantee",
    "say_left",
    "say_neighbours",
    "say_replay",
    "say_unit",
    "tell_basis",
    "tell_calibration",
    "tell_charge",
    "tell_cover",
    "tell_guarantee",
    "tell_level",
    "tell_neighbours",
    "tell_unit",
]

STORED: Final = "a stored answer, the same as before"
NOT_PRIVATE: Final = Labels("Not differentially private.", "Sans confidentialité différentielle.")
NOISE_ONLY: Final = Labels("privacy noise only", "bruit de confidentialité seul")
_BASES: Final = {
    Basis.NOISE: NOISE_ONLY,
    Basis.NOISE_AND_SAMPLING: Labels("privacy noise and sampling", "bruit de confidentialité et échantillonnage"),
    Basis.NOTHING: Labels(
        "nothing: a bootstrap release does not show its noise", "rien : une diffusion bootstrap ne montre pas son bruit"
    ),
}
_NEIGHBOURS: Final = {
    Neighbours.ADD_REMOVE: Labels("add-remove: one unit more or less", "add-remove : une unité de plus ou de moins"),
    Neighbours.REPLACE_ONE: Labels(
        "replace-one: one unit in the place of another", "replace-one : une unité à la place d’une autre"
    ),
}
_DRAWN_BEFORE: Final = Labels(
    f", when it was drawn ({STORED})", ", lors du tirage (réponse déjà diffusée, la même qu’avant)"
)
_NOTHING: Final = Labels("nothing", "rien")
_EACH: Final = {"respondent": "répondant", "person": "personne", "household": "ménage"}


# --- what is promised -----------------------------------------------------------------------------------------------


def say_guarantee(guarantee: Guarantee, language: str) -> str:
    """What is promised; why nothing is proved stays in the words it was given."""
    if language != "fr":
        return str(guarantee)
    match guarantee:
        case PureDP(epsilon=epsilon):
            return f"confidentialité différentielle pure, epsilon = {_comma(epsilon)}"
        case ApproxDP(epsilon=epsilon, delta=delta):
            return f"confidentialité différentielle approchée, epsilon = {_comma(epsilon)}, delta = {_comma(delta)}"
        case ZCDP(rho=rho, delta=delta):
            return f"zCDP, rho = {_comma(rho)}" + (f", delta = {_comma(delta)}" if delta else "")
        case LocalDP(epsilon=epsilon):
            return f"confidentialité différentielle locale, epsilon = {_comma(epsilon)} par répondant"
        case ShuffleDP(epsilon=epsilon, delta=delta, anonymity=anonymity):
            return (
                f"confidentialité différentielle par mélange, epsilon = {_comma(epsilon)}, delta = {_comma(delta)} "
                f"parmi {tell_number(anonymity, 'fr')} personnes"
            )
        case BootstrapDP(epsilon=epsilon):
            return f"sans confidentialité différentielle : « bootstrap DP », epsilon nominal = {_comma(epsilon)}"
        case Unproven(reason=reason):
            return f"sans confidentialité différentielle : {reason}"


def tell_guarantee(release: Release, language: str) -> str:
    """What is promised, and for whom there is nothing."""
    lines, clear = say_guarantee(release.claim.guarantee, language), release.claim.in_clear
    if not clear:
        return lines
    if language == "fr":
        return f"{lines} ; aucune pour {tell_number(clear, 'fr')} qui ont répondu en clair"
    return f"{lines}; none for {clear:,} who answered in clear"


def say_unit(claim: Claim, language: str) -> str:
    """Whom the guarantee protects."""
    unit = claim.unit
    if unit is None:
        return f"chaque {_EACH[claim.each]}" if language == "fr" else f"each {claim.each}"
    if language == "fr":
        return f"{unit.column} (au plus {unit.rows} ligne{'s' if unit.rows != 1 else ''} par unité)"
    return str(unit)


def tell_unit(release: Release, language: str) -> str:
    return say_unit(release.claim, language)


def say_neighbours(release: Release) -> str:
    """Which two data sets cannot be told apart, by their code."""
    claim = release.claim
    if claim.neighbours_from is not None:
        return f"{Neighbours.REPLACE_ONE}, by {POOLS[claim.neighbours_from].en}"
    return str(claim.neighbours or Neighbours.REPLACE_ONE)


def tell_neighbours(release: Release, language: str) -> str:
    """The same in words."""
    claim = release.claim
    if claim.neighbours_from is not None:
        pool = POOLS[claim.neighbours_from]
        if language == "fr":
            return f"Une ligne remplacée par une autre : {pool.fr}"
        return f"One row replaced by another of the {pool.en}"
    return _NEIGHBOURS[claim.neighbours or Neighbours.REPLACE_ONE].text(language)


# --- what it cost ---------------------------------------------------------------------------------------------------


def say_amount(amount: Amount, language: str = "en") -> str:
    """What is not 0 of it: "epsilon 1, delta 0.000001"."""
    shown = {"epsilon": amount.epsilon, "rho": amount.rho, "delta": amount.delta}
    return ", ".join(f"{name} {_write(item, language)}" for name, item in shown.items() if item)


def tell_charge(release: Release, language: str) -> str:
    """What this answer cost when it was drawn."""
    settled = release.settlement
    if isinstance(settled, Accounted):
        return _tell_account(settled, language)
    if not isinstance(settled, Charged):
        return _NOTHING.text(language)
    amount = settled.cost if settled.replayed and settled.cost is not None else settled.charge
    phrase = say_amount(amount, language)
    if settled.before is not None and settled.after is not None and not settled.replayed:
        # Gaussian noise has no epsilon of its own: what it does to that of the population is what can be told.
        before, after = (_write(item, language) for item in (settled.before, settled.after))
        whole = "epsilon de la population" if language == "fr" else "epsilon of the population"
        phrase += f" ({whole}: {before} → {after})"
    return (phrase or _NOTHING.text(language)) + (_DRAWN_BEFORE.text(language) if settled.replayed else "")


def _tell_account(paid: Accounted, language: str) -> str:
    """What each unit paid that was counted, in parts of epsilon."""
    charge, cap, parts = (tell_number(item, language) for item in (paid.charge, paid.cap, paid.parts))
    if language == "fr":
        each = "pour chaque membre d’un ménage compté" if paid.members > 1 else "pour chaque unité comptée"
        return f"{charge} parts sur les {cap} d’un compte, {each} ({parts} parts font epsilon 1)"
    each = "for each member of a household counted" if paid.members > 1 else "for each unit counted"
    return f"{charge} of the {cap} parts of an account, {each} ({parts} parts are epsilon 1)"


def say_replay(debited: Amount | None) -> str:
    """What a stored answer cost the analyst who was given it now."""
    paid = "" if debited is None else _list_amount(debited)
    if not paid:
        return f"nothing ({STORED})"
    return f"the population nothing, you {paid} ({STORED}, and what it was drawn with)"


def _list_amount(amount: Amount) -> str:
    return ", ".join(f"{name} {item}" for name, item in amount.to_dict().items() if item != "0")


def say_left(left: Left) -> str:
    """What remains, as something to plan with."""
    phrase = f"the largest single question is epsilon {text(left.largest)}"
    return phrase if left.more is None else f"{phrase}; {left.more:,} more like this one"


# --- what figures are -----------------------------------------------------------------------------------------------


def say_basis(basis: Basis | None) -> str:
    """What quality marks count, as files and JSON have it."""
    return "" if basis is None else _BASES[basis].en if basis is Basis.NOTHING else str(basis)


def tell_basis(release: Release, language: str) -> str:
    """The same in words."""
    return "" if release.basis is None else _BASES[release.basis].text(language)


def tell_cover(release: Release, language: str) -> str:
    """What an interval covers."""
    return cover_of(release.notes, language)


def tell_level(release: Release, language: str) -> str:
    """The coverage of intervals in per cent; empty where no figure has one."""
    if release.level is None or not any(
        end is not None
        for statistic in release.statistics
        for margin in statistic.figures.margins
        for column in (margin.low, margin.high)
        if column is not None
        for end in column
    ):
        return ""
    percent = (release.level * 100).normalize()
    return f"{_comma(percent)}\u00a0%" if language == "fr" else f"{percent:f}%"


def tell_calibration(release: Release, language: str) -> str:
    """Which totals figures meet and where they come from; empty where they are not calibrated."""
    calibration, french = release.calibration, language == "fr"
    if calibration is None:
        return ""
    lines = []
    for target in calibration.targets:
        by = ", ".join(target.by)
        of = (f"par {by}" if french else f"by {by}") if by else ("l’ensemble" if french else "all")
        source = "" if target.source is None else f", {target.source.text(language)}"
        lines.append(f"{target.name} ({of}){source}")
    said = "; ".join(lines)
    if calibration.shared_out:
        count = tell_number(len(calibration.shared_out), language)
        said += (
            f" ; {count} réparti(s) comme le reste du tableau (aucune valeur au-dessus de 0)"
            if french
            else f"; {count} shared out like the rest of the table (nothing above 0 was measured)"
        )
    return said


def _write(number: Decimal | None, language: str) -> str:
    return _comma(number or Decimal(0)) if language == "fr" else text(number or Decimal(0))


def _comma(number: Decimal) -> str:
    return f"{number.normalize():f}".replace(".", ",")
