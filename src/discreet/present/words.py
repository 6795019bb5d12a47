"""The facts of a release in the reader's language: guarantee, unit, neighbours, settlement, level, calibration.

What is ours and fixed is translated; names of measures and reasons why nothing is proved stay in the words they were
given.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from typing import Final

from discreet.catalogue import (
    ENGLISH,
    FRENCH,
    Phrase,
    language,
    localise,
    say,
    say_count,
    speaking,
    translate,
)
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
from discreet.present.messages import POOLS, cover_of
from discreet.results import Accounted, Amount, Basis, CalibrationTarget, Charged, Claim, Labels, Left, Release

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

STORED: Final = Phrase("a stored answer, the same as before")
NOT_PRIVATE: Final = Phrase("Not differentially private.")
NOISE_ONLY: Final = Phrase("privacy noise only")
_BASES: Final = {
    Basis.NOISE: NOISE_ONLY,
    Basis.NOISE_AND_SAMPLING: Phrase("privacy noise and sampling"),
    Basis.NOTHING: Phrase("nothing: a bootstrap release does not show its noise"),
}
_NEIGHBOURS: Final = {
    Neighbours.ADD_REMOVE: Phrase("add-remove: one unit more or less"),
    Neighbours.REPLACE_ONE: Phrase("replace-one: one unit in the place of another"),
}
_NOTHING: Final = Phrase("nothing")
_EACH: Final = {
    "respondent": Phrase("each respondent"),
    "person": Phrase("each person"),
    "household": Phrase("each household"),
}


# --- what is promised -----------------------------------------------------------------------------------------------


def say_guarantee(guarantee: Guarantee, language: str) -> str:
    """What is promised. In English it is the guarantee's own text, which is written down too."""
    return _name_guarantee(guarantee).text(language)


def _name_guarantee(guarantee: Guarantee) -> Labels:
    match guarantee:
        case PureDP(epsilon=epsilon):
            return Phrase("pure DP, epsilon = {epsilon}", epsilon=text(epsilon))
        case ApproxDP(epsilon=epsilon, delta=delta):
            return Phrase(
                "approximate DP, epsilon = {epsilon}, delta = {delta}", epsilon=text(epsilon), delta=text(delta)
            )
        case ZCDP(rho=rho, delta=delta) if delta:
            return Phrase("zCDP, rho = {rho}, delta = {delta}", rho=text(rho), delta=text(delta))
        case ZCDP(rho=rho):
            return Phrase("zCDP, rho = {rho}", rho=text(rho))
        case LocalDP(epsilon=epsilon):
            return Phrase("local DP, epsilon = {epsilon} per respondent", epsilon=text(epsilon))
        case ShuffleDP():
            return _name_shuffled(guarantee)
        case BootstrapDP(epsilon=epsilon):
            return Phrase(
                "not differentially private: bootstrap DP, nominal epsilon = {epsilon}", epsilon=text(epsilon)
            )
        case Unproven(reason=reason):
            said = Labels(reason, translate(reason, FRENCH))
            return Phrase("not differentially private: {reason}", reason=said)


def _name_shuffled(guarantee: ShuffleDP) -> Labels:
    facts = {
        "epsilon": text(guarantee.epsilon),
        "delta": text(guarantee.delta),
        "people": guarantee.anonymity,
    }
    if guarantee.local_epsilon is None:
        return Phrase(
            "shuffle DP, epsilon = {epsilon}, delta = {delta} among {people} people; nothing if the shuffler is not "
            "honest",
            **facts,
        )
    return Phrase(
        "shuffle DP, epsilon = {epsilon}, delta = {delta} among {people} people; local epsilon = {alone} if the "
        "shuffler is not honest",
        alone=text(guarantee.local_epsilon),
        **facts,
    )


def tell_guarantee(release: Release, language: str) -> str:
    """What is promised, and for whom there is nothing."""
    guarantee, clear = _name_guarantee(release.claim.guarantee), release.claim.in_clear
    if clear:
        guarantee = Phrase("{guarantee}; none for {count:,} who answered in clear", guarantee=guarantee, count=clear)
    return guarantee.text(language)


def say_unit(claim: Claim, language: str) -> str:
    """Whom the guarantee protects, by the column that tells units apart."""
    unit = claim.unit
    if unit is None:
        return _EACH[claim.each].text(language)
    with speaking(language):
        return say_count(
            "{column} (at most {count} row each)", "{column} (at most {count} rows each)", unit.rows, column=unit.column
        )


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
        return Phrase("One row replaced by another of the {pool}", pool=pool).text(language)
    return _NEIGHBOURS[claim.neighbours or Neighbours.REPLACE_ONE].text(language)


# --- what it cost ---------------------------------------------------------------------------------------------------


def say_amount(amount: Amount, language: str = ENGLISH) -> str:
    """What is not 0 of it: "epsilon 1, delta 0.000001"."""
    shown = {"epsilon": amount.epsilon, "rho": amount.rho, "delta": amount.delta}
    return ", ".join(f"{name} {localise(text(item), language)}" for name, item in shown.items() if item)


def tell_charge(release: Release, language: str) -> str:
    """What this answer cost when it was drawn."""
    settled = release.settlement
    if isinstance(settled, Accounted):
        return _tell_account(settled).text(language)
    if not isinstance(settled, Charged):
        return _NOTHING.text(language)
    amount = settled.cost if settled.replayed and settled.cost is not None else settled.charge
    charge = say_amount(amount, language) or _NOTHING.text(language)
    if settled.replayed:
        return Phrase("{charge}, when it was drawn ({stored})", charge=charge, stored=STORED).text(language)
    if settled.before is None or settled.after is None:
        return charge
    # Gaussian noise has no epsilon of its own: what it does to that of the population is what can be told.
    return Phrase(
        "{charge} (epsilon of the population: {before} → {after})",
        charge=charge,
        before=text(settled.before),
        after=text(settled.after),
    ).text(language)


def _tell_account(paid: Accounted) -> Labels:
    """What each unit paid that was counted, in parts of epsilon."""
    if paid.members > 1:
        return Phrase(
            "{charge:,} of the {cap:,} parts of an account, for each member of a household counted ({parts:,} parts "
            "are epsilon 1)",
            charge=paid.charge,
            cap=paid.cap,
            parts=paid.parts,
        )
    return Phrase(
        "{charge:,} of the {cap:,} parts of an account, for each unit counted ({parts:,} parts are epsilon 1)",
        charge=paid.charge,
        cap=paid.cap,
        parts=paid.parts,
    )


def say_replay(debited: Amount | None) -> str:
    """What a stored answer cost the analyst who was given it now."""
    paid = "" if debited is None else _list_amount(debited)
    if not paid:
        return say("nothing ({stored})", stored=STORED)
    return say("the population nothing, you {paid} ({stored}, and what it was drawn with)", paid=paid, stored=STORED)


def _list_amount(amount: Amount) -> str:
    return ", ".join(f"{name} {localise(item, language())}" for name, item in amount.to_dict().items() if item != "0")


def say_left(left: Left) -> str:
    """What remains, as something to plan with."""
    if left.more is None:
        return say("the largest single question is epsilon {largest}", largest=text(left.largest))
    if not left.more:
        return say(
            "the largest single question is epsilon {largest}; no more like this one", largest=text(left.largest)
        )
    return say(
        "the largest single question is epsilon {largest}; {more:,} more like this one",
        largest=text(left.largest),
        more=left.more,
    )


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
    return localise(f"{(release.level * 100).normalize():f}%", language)


def tell_calibration(release: Release, language: str) -> str:
    """Which totals figures meet and where they come from; empty where they are not calibrated."""
    calibration = release.calibration
    if calibration is None:
        return ""
    titles = titles_of(release)
    with speaking(language):
        said = say_clauses([_say_target(target, titles) for target in calibration.targets])
        if shared := len(calibration.shared_out):
            return say_count(
                "{said}; {count} shared out like the rest of the table (nothing above 0 was measured)",
                "{said}; {count} shared out like the rest of the table (nothing above 0 was measured)",
                shared,
                said=said,
            )
        return said


def say_clauses(clauses: Sequence[str]) -> str:
    """Clauses one after the other, as the language sets a semicolon."""
    if not clauses:
        return ""
    return reduce(lambda before, after: say("{before}; {after}", before=before, after=after), clauses)


def titles_of(release: Release) -> dict[str, Labels]:
    """What readers know each key by."""
    return {heading.name: heading.title for heading in release.headings}


def _say_target(target: CalibrationTarget, titles: Mapping[str, Labels]) -> str:
    by = ", ".join(titles[name].text(language()) if name in titles else name for name in target.by)
    named = say("{name} (by {by})", name=target.name, by=by) if by else say("{name} (all)", name=target.name)
    return named if target.source is None else f"{named}, {target.source.text(language())}"
