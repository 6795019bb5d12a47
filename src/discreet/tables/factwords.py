"""The facts of a release in the reader's language: guarantee, unit, neighbours, charge, level, what quality counts.

What is ours and fixed is translated here; names of measures and reasons why nothing is proved stay in the words they
were given.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Final

from discreet.data.columns import Labels
from discreet.guarantees.types import ZCDP, ApproxDP, BootstrapDP, LocalDP, PureDP, ShuffleDP, Unproven
from discreet.pages.lettering import tell_number
from discreet.tables.table import Table

__all__ = [
    "NOISE_ONLY",
    "NOT_PRIVATE",
    "tell_basis",
    "tell_calibration",
    "tell_charge",
    "tell_cover",
    "tell_guarantee",
    "tell_level",
    "tell_neighbours",
    "tell_unit",
    "tell_warning",
]

NOT_PRIVATE: Final = Labels("Not differentially private.", "Sans confidentialité différentielle.")
NOISE_ONLY: Final = Labels("privacy noise only", "bruit de confidentialité seul")
_BASES: Final = {
    "privacy noise": NOISE_ONLY,
    "privacy noise and sampling": Labels("privacy noise and sampling", "bruit de confidentialité et échantillonnage"),
}
_NEIGHBOURS: Final = {
    "add-remove": Labels("add-remove: one unit more or less", "add-remove : une unité de plus ou de moins"),
    "replace-one": Labels(
        "replace-one: one unit in the place of another", "replace-one : une unité à la place d’une autre"
    ),
}
_UNIT: Final = re.compile(r"(?P<column>.+) \(at most (?P<rows>\d+) rows? each\)")
_UNBOUNDED: Final = re.compile(
    r"Releases without a proof were made about '(?P<population>.+)' \((?P<count>\d+) so far\): its epsilon .+"
)
_STORED: Final = Labels(
    ", when it was drawn (a stored answer, the same as before)",
    ", lors du tirage (réponse déjà diffusée, la même qu’avant)",
)
_NOTHING: Final = Labels("nothing", "rien")


def tell_guarantee(table: Table, language: str) -> str:
    """What is promised; why nothing is proved stays in the words it was given."""
    if language != "fr":
        return str(table.guarantee)
    match table.guarantee:
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


def tell_basis(table: Table, language: str) -> str:
    """What the quality marks count."""
    known = _BASES.get(table.quality_basis)
    return table.quality_basis if known is None else known.text(language)


def tell_unit(table: Table, language: str) -> str:
    """Whom the guarantee protects."""
    said = _said(table, "unit")
    if language == "fr" and (found := _UNIT.fullmatch(said)):
        return f"{found['column']} (au plus {found['rows']} ligne{'s' if found['rows'] != '1' else ''} par unité)"
    return said


def tell_neighbours(table: Table, language: str) -> str:
    """Which two data sets cannot be told apart."""
    said = _said(table, "neighbours")
    return _NEIGHBOURS[said].text(language) if said in _NEIGHBOURS else _noted(table, "Neighbours", language) or said


def tell_cover(table: Table, language: str) -> str:
    """What an interval covers."""
    return _noted(table, "What an interval covers", language) or _said(table, "interval_meaning")


def tell_warning(warning: str, language: str) -> str:
    """A warning of the ledger."""
    if language == "fr" and (found := _UNBOUNDED.fullmatch(warning)):
        return (
            f"Des diffusions sans preuve ont été faites sur « {found['population']} » ({found['count']} à ce jour) : "
            "son epsilon ne borne plus tout ce qui a été divulgué."
        )
    return warning


def tell_charge(table: Table, language: str) -> str:
    """What this answer cost when it was drawn; empty where the release does not say."""
    replayed = bool(table.release.get("replayed"))
    charge = table.release.get("cost" if replayed else "charge")
    if not isinstance(charge, Mapping):
        return ""
    paid = [name for name in ("epsilon", "rho", "delta") if charge.get(name, "0") != "0"]
    told = ", ".join(f"{name} {_write(charge[name], language)}" for name in paid)
    if "epsilon_after" in charge:
        # Gaussian noise has no epsilon of its own: what it does to that of the population is what can be told.
        before, after = (_write(charge[name], language) for name in ("epsilon_before", "epsilon_after"))
        whole = "epsilon de la population" if language == "fr" else "epsilon of the population"
        told += f" ({whole}: {before} → {after})"
    return (told or _NOTHING.text(language)) + (_STORED.text(language) if replayed else "")


def tell_level(table: Table, language: str) -> str:
    """The coverage of intervals in per cent; empty where no figure has one."""
    if not any(entry.low is not None or entry.high is not None for entry in table.entries()):
        return ""
    percent = (Decimal(table.level) * 100).normalize()
    return f"{_comma(percent)}\u00a0%" if language == "fr" else f"{percent:f}%"


def tell_calibration(table: Table, language: str) -> str:
    """Which totals figures meet and where they come from; empty where they are not calibrated."""
    if table.calibration is None:
        return ""
    targets, shared = table.calibration.get("to"), table.calibration.get("shared_out")
    french = language == "fr"
    told = []
    for one in targets if isinstance(targets, Sequence) else ():
        by = ", ".join(one["by"])
        of = (f"par {by}" if french else f"by {by}") if by else ("l’ensemble" if french else "all")
        told.append(f"{one['totals']} ({of})" + (f", {one['source'][language]}" if "source" in one else ""))
    said = "; ".join(told)
    if isinstance(shared, Sequence) and shared:
        count = tell_number(len(shared), language)
        said += (
            f" ; {count} réparti(s) comme le reste du tableau (aucune valeur au-dessus de 0)"
            if french
            else f"; {count} shared out like the rest of the table (nothing above 0 was measured)"
        )
    return said


def _noted(table: Table, heading: str, language: str) -> str:
    """A note in the reader's language, without its full stop; empty where there is none."""
    noted = (sentence.text(language) for one, sentence in table.notes if one.en == heading)
    return next(noted, "").removesuffix(".")


def _said(table: Table, name: str) -> str:
    return str(table.release.get(name) or "")


def _write(number: object, language: str) -> str:
    return _comma(number) if language == "fr" else str(number)


def _comma(number: object) -> str:
    return f"{Decimal(str(number)).normalize():f}".replace(".", ",")
