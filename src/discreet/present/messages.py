"""The message of every note, in both languages: a heading and a sentence."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Final

from discreet.guarantees import text
from discreet.present.linked_messages import say_of_linked
from discreet.results import (
    BootstrapCaution,
    BootstrapGuarantee,
    BootstrapMethod,
    BootstrapNeighbours,
    BoundsUsed,
    Calibrated,
    CappedWeights,
    Coverage,
    Estimator,
    FalseReports,
    FewReports,
    GradedMeans,
    KeysChosen,
    Labels,
    LeftOut,
    Linearised,
    MarginsAddUp,
    MarginsAreMeans,
    MarginsAreSums,
    MeansNotShown,
    MeasuredMargin,
    ModelAge,
    Note,
    NotGraded,
    NotInTable,
    NotInTotals,
    NotNegative,
    SizeTooSmall,
    StrategyUsed,
    Unbounded,
    UnprovenCaution,
    Variance,
)

__all__ = [
    "CAPPED",
    "ESTIMATES",
    "ESTIMATORS",
    "POOLS",
    "TOO_SMALL",
    "VARIANCES",
    "cover_of",
    "say_accuracy",
    "say_message",
    "say_strategy",
]

ESTIMATES: Final = (
    "x·T/Σx: the figure x of the prepared data, times the public total T of its group over the group's own sum Σx"
)
CAPPED: Final = "weight above its cap is missing from the figures, a bias outside the intervals"
TOO_SMALL: Final = (
    "a mean or a variance is shown only where the noisy size of its group is so large that, with a probability of 95%, "
    "no group of nobody shows one"
)
ESTIMATORS: Final = {
    "ratio_count": "share among those who were asked, times the weight of all respondents (ratio estimator, Hájek)",
    "estimate": "sum of the reports over the chance of being asked (total, Horvitz–Thompson)",
    "adjusted": "ratio counts made not negative and adding up (Norm-Sub); biased",
}
POOLS: Final = {
    "": Labels("rows of the observed data", "lignes des données observées"),
    "sub-population": Labels(
        "rows of the observed data and of a declared sub-population",
        "lignes des données observées et d'une sous-population déclarée",
    ),
    "synthetic": Labels(
        "rows of the observed data and of synthetic individuals",
        "lignes des données observées et d'individus synthétiques",
    ),
}
VARIANCES: Final = {
    "noise": Labels("privacy noise only", "bruit de confidentialité seulement"),
    "questions": Labels("privacy noise and the draw of questions", "bruit de confidentialité et tirage des questions"),
    "design": Labels("privacy and design", "confidentialité et plan de sondage"),
}

_METHODS: Final = {
    "i": Labels("one noise for the whole table", "un seul bruit pour tout le tableau"),
    "ii": Labels("epsilon split over the cells", "epsilon réparti entre les cellules"),
    "iii": Labels("cell by cell, cell membership being public", "cellule par cellule, l'appartenance étant publique"),
    "pair": Labels("half of epsilon for each cell", "la moitié d'epsilon pour chaque cellule"),
}
_NOISES: Final = {"laplace": "bruit de Laplace", "gaussian": "bruit gaussien"}
_PREPARED: Final = Labels(
    "what the prepared data give (values clamped, weights capped, rows bounded per unit)",
    "ce que donnent les données préparées (valeurs bornées, poids plafonnés, lignes limitées par unité)",
)
_ON_TOP: Final = Labels(
    "sampling and measurement error come on top", "l’erreur d’échantillonnage et de mesure s’y ajoute"
)
_COVERS: Final = {
    "cell": Labels(
        f"privacy noise only: each interval holds, with at least the stated probability, {_PREPARED.en}, cell by cell",
        "bruit de confidentialité seulement : chaque intervalle contient, avec au moins la probabilité indiquée, "
        f"{_PREPARED.fr}, cellule par cellule",
    ),
    "raw": Labels(
        "privacy noise only: each interval belongs to the raw estimate and holds, with at least the stated "
        f"probability, {_PREPARED.en}, figure by figure",
        "bruit de confidentialité seulement : chaque intervalle se rapporte à l’estimation brute et contient, avec au "
        f"moins la probabilité indiquée, {_PREPARED.fr}, chiffre par chiffre",
    ),
    "linked": Labels(
        "privacy noise only: each interval holds, with at least the stated probability, what the registry counted, "
        "figure by figure; that of a ratio follows from intervals of both its parts, which hold together",
        "bruit de confidentialité seulement : chaque intervalle contient, avec au moins la probabilité indiquée, ce "
        "que le registre a compté, chiffre par chiffre ; celui d’un rapport découle d’intervalles de ses deux termes, "
        "valables ensemble",
    ),
    "calibrated": Labels(
        "privacy noise only: each interval belongs to the calibrated figure and holds, with about the stated "
        "probability, x·T/Σx of the prepared data (values clamped, weights capped, rows bounded per unit), figure by "
        "figure",
        "bruit de confidentialité seulement : chaque intervalle se rapporte au chiffre calé et contient, avec à peu "
        "près la probabilité indiquée, x·T/Σx des données préparées (valeurs bornées, poids plafonnés, lignes limitées "
        "par unité), chiffre par chiffre",
    ),
}
_NO_INTERVAL: Final = Labels(
    "none: an interval would tell the noise, and the noise tells single rows",
    "aucun : un intervalle dirait le bruit, et le bruit dit des lignes particulières",
)
_CAUTIONS: Final = {
    "outsiders": Labels(
        "Nobody outside the rows from which neighbours are drawn is protected, and nobody who joins the data later.",
        "Aucune protection pour qui n'est pas parmi les lignes dont sont tirés les voisins, ni pour qui s'ajoute plus "
        "tard aux données.",
    ),
    "noise": Labels(
        "The amount of noise follows from single rows, so neither it nor an interval is shown.",
        "L'ampleur du bruit découle de lignes particulières : ni elle ni un intervalle ne sont montrés.",
    ),
    "budget": Labels(
        "Its nominal epsilon is not part of the budget and does not add up with it.",
        "Son epsilon nominal ne fait pas partie du budget et ne s'y ajoute pas.",
    ),
}
_UNPROVEN: Final = {
    "value": Labels(
        "This value is not differentially private: nothing bounds what it tells about a person in the data.",
        "Cette valeur est sans confidentialité différentielle : rien ne borne ce qu’elle dit d’une personne des "
        "données.",
    ),
    "budget": Labels(
        "Its nominal epsilon, if it has one, is not part of the budget and bounds nothing.",
        "Son epsilon nominal, s’il en a un, ne fait pas partie du budget et ne borne rien.",
    ),
}
_FIXED: Final = {
    MarginsAddUp: (
        Labels("Margins", "Marges"),
        Labels(
            "Every margin is exactly the sum of the published cells. The raw estimates are unbiased.",
            "Chaque marge est exactement la somme des cellules publiées. Les estimations brutes sont sans biais.",
        ),
    ),
    MarginsAreMeans: (
        Labels("Margins", "Marges"),
        Labels(
            "The mean of a margin is that of all its people, not the mean of its cells.",
            "La moyenne d’une marge est celle de toutes ses personnes, et non la moyenne de ses cellules.",
        ),
    ),
    MarginsAreSums: (
        Labels("Margins", "Marges"),
        Labels("Sums of the published cells.", "Sommes des cellules publiées."),
    ),
    MeansNotShown: (
        Labels("Means not shown", "Moyennes non montrées"),
        Labels(
            "A mean is shown only where the noisy size of its group is so large that with a probability of 95% no "
            "group of nobody shows one; elsewhere – stands (too small). Intervals hold for all groups, before any is "
            "left out: of tiny groups few are shown, those whose noise was large.",
            "Une moyenne n’est montrée que si l’effectif bruité de son groupe est si grand qu’avec une probabilité de "
            "95 % aucun groupe vide n’en montre une ; ailleurs figure – (trop petit). Les intervalles valent pour tous "
            "les groupes, avant toute omission : peu de très petits groupes sont montrés, ceux dont le bruit était "
            "grand.",
        ),
    ),
    NotNegative: (
        Labels("Small figures", "Petits chiffres"),
        Labels(
            "Published figures are not negative, which makes sums of many small ones too large on average; for such "
            "sums take the raw estimates.",
            "Les chiffres publiés ne sont pas négatifs, ce qui rend les sommes de nombreux petits chiffres trop "
            "grandes en moyenne ; pour de telles sommes, prendre les estimations brutes.",
        ),
    ),
    Calibrated: (
        Labels("Calibration", "Calage"),
        Labels(
            f"Figures meet public totals exactly. What one estimates is {ESTIMATES}; its interval and its quality are "
            "for that. Raw estimates are not calibrated. A figure that is a public total has no interval.",
            "Les chiffres respectent exactement des totaux publics. Ce qu’un chiffre estime est x·T/Σx : le chiffre x "
            "des données préparées, multiplié par le total public T de son groupe et divisé par la somme Σx du groupe "
            "; son intervalle et sa qualité s’y rapportent. Les estimations brutes ne sont pas calées. Un chiffre qui "
            "est un total public n’a pas d’intervalle.",
        ),
    ),
    Linearised: (
        Labels("Several totals", "Plusieurs totaux"),
        Labels(
            "Several totals were met together by raking; intervals follow from a linear approximation of it.",
            "Plusieurs totaux sont respectés à la fois, par ajustement itératif ; les intervalles découlent d’une "
            "approximation linéaire.",
        ),
    ),
    NotGraded: (
        Labels("Quality counts", "La qualité tient compte de"),
        Labels(
            "nothing: a bootstrap release does not show its noise",
            "rien : une diffusion bootstrap ne montre pas son bruit",
        ),
    ),
}

Message = tuple[Labels, Labels]


def say_message(note: Note) -> Message:
    """The heading and the sentence of a note."""
    if (fixed := _FIXED.get(type(note))) is not None:
        return fixed
    match note:
        case Coverage():
            return Labels("What an interval covers", "Ce que couvre un intervalle"), _say_coverage(note)
        case CappedWeights():
            return Labels("Weights", "Poids"), _say_weights(note)
        case Unbounded():
            return _WARNING, _say_unbounded(note)
        case SizeTooSmall() | BoundsUsed() | KeysChosen():
            return _say_of_question(note)
        case StrategyUsed():
            return Labels("Strategy", "Stratégie"), _say_strategy(note)
        case GradedMeans():
            return Labels("Quality of means", "Qualité des moyennes"), _say_grades(note)
        case NotInTable() | NotInTotals() | LeftOut():
            return _say_missing(note)
        case BootstrapGuarantee() | BootstrapNeighbours() | BootstrapMethod() | BootstrapCaution():
            return _say_of_bootstrap(note)
        case UnprovenCaution():
            return _CAUTION, _UNPROVEN[note.about]
        case ModelAge():
            return _CAUTION, Labels(
                f"model '{note.model}' was trained on version {note.trained} of '{note.dataset}'; version "
                f"{note.current} is current.",
                f"le modèle « {note.model} » a été entraîné sur la version {note.trained} de « {note.dataset} » ; la "
                f"version {note.current} est l’actuelle.",
            )
        case Estimator() | Variance() | FalseReports() | FewReports():
            return _say_of_collection(note)
        case _ if (linked := say_of_linked(note)) is not None:
            return linked
    raise AssertionError(f"note {note.code} has no message")


_WARNING: Final = Labels("Warning", "Avertissement")
_CAUTION: Final = Labels("Caution", "Mise en garde")


def cover_of(notes: Iterable[Note], language: str) -> str:
    """What an interval covers, as the notes have it; empty where they do not say."""
    return next((_say_coverage(note).text(language) for note in notes if isinstance(note, Coverage)), "")


def _say_coverage(note: Coverage) -> Labels:
    if note.of == "nothing":
        return _NO_INTERVAL
    en, fr = [_COVERS[note.of].en], [_COVERS[note.of].fr]
    if note.ranks:
        en.append("for quantiles, MIN and MAX the ends of the range, and the rank is told under mechanisms")
        fr.append("pour les quantiles, MIN et MAX les bornes de l’étendue ; le rang figure sous « mechanisms »")
    if note.selected:
        en.append("before HAVING or LIMIT chose which cells are shown")
        fr.append("avant que HAVING ou LIMIT ne choisisse les cellules montrées")
    if note.least is not None:
        en.append(f"only keys whose noisy count of units is at least {note.least:,} are shown")
        fr.append(f"seules sont montrées les clés dont l’effectif bruité est d’au moins {_groups(note.least)}")
    return Labels("; ".join([*en, _ON_TOP.en]), " ; ".join([*fr, _ON_TOP.fr]))


def _say_weights(note: CappedWeights) -> Labels:
    if note.calibrated:
        return Labels(
            "Weights are cut at their cap. Calibration puts back what is cut from a group as a whole; what is cut from "
            "some of it more than from others stays a bias outside the intervals.",
            "Les poids sont plafonnés. Le calage rend ce qui est retranché à un groupe entier ; ce qui l’est davantage "
            "à une partie qu’à une autre reste un biais hors des intervalles.",
        )
    return Labels(
        "Weights are cut at their cap; what is cut off is missing from the figures and outside the intervals.",
        "Les poids sont plafonnés ; ce qui dépasse manque aux chiffres et n’est pas dans les intervalles.",
    )


def _say_unbounded(note: Unbounded) -> Labels:
    return Labels(
        f"Releases without a proof were made about '{note.population}' ({note.markers} so far): its epsilon no longer "
        "bounds everything disclosed.",
        f"Des diffusions sans preuve ont été faites sur « {note.population} » ({note.markers} à ce jour) : son epsilon "
        "ne borne plus tout ce qui a été divulgué.",
    )


# --- of questions ---------------------------------------------------------------------------------------------------


def _say_of_question(note: SizeTooSmall | BoundsUsed | KeysChosen) -> Message:
    match note:
        case SizeTooSmall():
            ends = [dict.fromkeys((item.low, item.high)) for item in note.sizes]
            en = " and ".join(" to ".join(f"{end:,}" for end in item) for item in ends)
            fr = " et ".join(" à ".join(_groups(end) for end in item) for item in ends)
            return Labels("Not shown", "Non montré"), Labels(
                f"{note.output} is – where the noisy size is not above {en}: {TOO_SMALL}",
                f"{note.output} est – là où l’effectif bruité ne dépasse pas {fr} : une moyenne ou une variance n’est "
                "montrée que si, avec une probabilité de 95 %, aucun groupe vide n’en montre une",
            )
        case BoundsUsed(found=True):
            return Labels("Bounds", "Bornes"), Labels(
                f"bounds of {_searched(note)}: {note.low} to {note.high}; values outside were moved",
                f"bornes de {_recherche(note)} : {note.low} à {note.high} ; les valeurs hors de ces bornes y sont "
                "ramenées",
            )
        case BoundsUsed():
            return Labels("No bounds", "Sans bornes"), Labels(
                f"No bounds stood out for {_searched(note)}: values were moved into {note.low} to {note.high}, so the "
                "answer says next to nothing. Ask with a larger epsilon, or write bounds that are known without the "
                "rows.",
                f"Aucune borne n’est ressortie pour {_recherche(note)} : les valeurs sont ramenées entre {note.low} et "
                f"{note.high}, et la réponse ne dit presque rien. Demandez avec un epsilon plus grand, ou écrivez des "
                "bornes connues sans les lignes.",
            )
    return Labels("Keys", "Clés"), Labels(
        f"only keys whose noisy count of units is at least {note.least:,} are shown",
        f"seules sont montrées les clés dont l’effectif bruité est d’au moins {_groups(note.least)}",
    )


def _searched(note: BoundsUsed) -> str:
    return f"{note.column}, looked for with epsilon {text(note.epsilon)} of the charge"


def _recherche(note: BoundsUsed) -> str:
    return f"{note.column}, cherchées avec epsilon {_comma(note.epsilon)}"


# --- of tables ------------------------------------------------------------------------------------------------------


def say_strategy(note: StrategyUsed) -> Labels:
    """Which noise was put on what, in one sentence."""
    measured, noise = note.measured, note.noise
    en, fr = f"{noise.capitalize()} noise on", f"{_NOISES[noise]} sur"
    if len(measured) == 1 and not measured[0].residual:
        return Labels(
            f"{en} the cells alone; margins are sums of cells",
            f"{fr} les seules cellules ; les marges en sont les sommes",
        )
    if any(item.residual for item in measured):
        return Labels(
            f"{en} what each of {len(measured)} margins adds to those below it; cells and margins follow from all",
            f"{fr} ce que chacune de {len(measured)} marges ajoute à celles qu’elle contient ; cellules et marges "
            "découlent de toutes",
        )
    return Labels(
        f"{en} {_list_shares(measured, _percent)}; every figure follows from all of them",
        f"{fr} {_list_shares(measured, _pour_cent)} ; chaque chiffre découle de tous",
    )


def _list_shares(measured: Sequence[MeasuredMargin], written: object) -> str:
    assert callable(written)
    return ", ".join(f"{' × '.join(item.keeps) or 'total'} ({written(item.share)})" for item in measured)


def _say_strategy(note: StrategyUsed) -> Labels:
    phrase = say_strategy(note)
    if note.measure is None or note.part is None:
        return phrase
    return Labels(
        f"{note.measure}, {_percent(note.part)} of the budget: {phrase.en}",
        f"{note.measure}, {_pour_cent(note.part)} du budget : {phrase.fr}",
    )


def _say_grades(note: GradedMeans) -> Labels:
    widths = "by the half-width of the 95% interval", "la demi-largeur de l’intervalle à 95 %"
    if note.precision is not None:
        need = text(note.precision)
        en = f"{widths[0]}: good up to {need}, the precision of the card, caution up to twice that"
        fr = f"{widths[1]} : bonne jusqu’à {need}, la précision de la fiche, prudence jusqu’au double"
    elif note.by == "relative":
        en = "by the relative error, the standard error over the low end of the 95% interval"
        fr = "l’erreur relative, l’erreur type sur la borne basse de l’intervalle à 95 %"
    else:
        good, usable = f"{100 * note.good:.0f}", f"{100 * note.usable:.0f}"
        en = f"{widths[0]}: good up to {good}% of the range of the column, caution up to {usable}%"
        fr = f"{widths[1]} : bonne jusqu’à {good} % de l’étendue de la variable, prudence jusqu’à {usable} %"
    if note.third:
        en += "; at most one in twenty of the good ones is expected to be wrong by more than a third"
        fr += " ; au plus une sur vingt des bonnes devrait être fausse de plus d’un tiers"
    return Labels(
        f"Graded {en}. Bounds of the column do not enter: an interval that they cut looks narrower than it is.",
        f"D’après {fr}. Les bornes de la variable n’y entrent pas : un intervalle qu’elles coupent paraît plus étroit "
        "qu’il n’est.",
    )


def _say_missing(note: NotInTable | NotInTotals | LeftOut) -> Message:
    match note:
        case NotInTable(without):
            return Labels("Not in the table", "Hors du tableau"), Labels(
                f"Nobody with {without.en} is counted, in no margin either.",
                f"Ne sont comptés dans aucun chiffre, marges comprises : {without.fr}.",
            )
        case NotInTotals(title):
            return Labels("Not in the totals", "Hors des totaux"), Labels(
                f"Cells without a value of '{title.en}' are left out: everybody in the totals has one.",
                f"Les cellules sans valeur de « {title.fr} » sont laissées de côté : dans les totaux, chacun en a une.",
            )
    return Labels("Left out", "Supprimé"), Labels(
        f"Figures whose relative error is above {_percent(note.above)} are left out because they are unreliable, "
        "judged by noisy values alone.",
        f"Les chiffres dont l’erreur relative dépasse {_pour_cent(note.above)} sont supprimés parce que peu fiables, "
        "d’après les seules valeurs bruitées.",
    )


# --- of what is not differentially private --------------------------------------------------------------------------


def _say_of_bootstrap(
    note: BootstrapGuarantee | BootstrapNeighbours | BootstrapMethod | BootstrapCaution,
) -> Message:
    match note:
        case BootstrapGuarantee(epsilon):
            return Labels("Guarantee", "Garantie"), Labels(
                f"Not differentially private. Bootstrap differential privacy, nominal epsilon {text(epsilon)}.",
                "Sans confidentialité différentielle. Confidentialité différentielle « bootstrap », epsilon nominal "
                f"{text(epsilon)}.",
            )
        case BootstrapNeighbours(pool):
            phrase = POOLS[pool]
            return Labels("Neighbours", "Voisins"), Labels(
                f"One row replaced by another of the {phrase.en}.", f"Une ligne remplacée par une autre : {phrase.fr}."
            )
        case BootstrapMethod(method):
            how = _METHODS[method]
            return Labels("Method", "Méthode"), Labels(
                f"Discrete Laplace noise, method ({method}): {how.en}.",
                f"Bruit de Laplace discret, méthode ({method}) : {how.fr}.",
            )
    return _CAUTION, _CAUTIONS[note.about]


# --- of collections -------------------------------------------------------------------------------------------------


def _say_of_collection(note: Estimator | Variance | FalseReports | FewReports) -> Message:
    match note:
        case Estimator(sampled):
            phrase = f"{ESTIMATORS['ratio_count']}; recommended" if sampled else ESTIMATORS["estimate"]
            return Labels("share, count", "part, effectif"), Labels(phrase, phrase)
        case Variance(counts):
            return Labels("variance", "variance"), VARIANCES[counts]
        case FalseReports():
            return Labels("Poisoning", "Faux rapports"), _say_false_reports(note)
    said = f"{note.question}: {note.said}" if note.question else note.said
    return _WARNING, Labels(said, said)


def _say_false_reports(note: FalseReports) -> Labels:
    if note.reach is None:
        return Labels(
            f"too few reports for a bound: one false report may move a {note.statistic} by any amount",
            "trop peu de rapports pour une borne : un seul faux rapport peut tout déplacer",
        )
    several = "m of them by at most m times that", "m d’entre eux au plus m fois autant"
    if not note.proportional:
        several = (
            "m of them by about m times that, while m is small against the number of respondents",
            "m d’entre eux environ m fois autant, tant que m reste petit devant le nombre de répondants",
        )
    far = f"{math.ceil(note.reach):,}" if note.reach >= 1_000 else f"{note.reach:.4g}"
    return Labels(
        f"one false report moves a {note.statistic} by at most {far}; {several[0]}",
        f"un faux rapport déplace l’estimation d’au plus {far} ; {several[1]}",
    )


def say_accuracy(*, level: Decimal, rows: int, depth: int | None, side: str | None) -> str:
    """How near the rank of a quantile or an extreme comes to the one aimed at."""
    surely = f"with probability at least {text(level)}"
    if depth is None:
        return f"{surely} at most {rows:,} rows too many lie on either side of it"
    aim = f"aims at a value with {depth:,} rows {side} it, so as not to lie beyond the rows"
    return f"{aim}; {surely} its rank is at most {rows:,} rows farther from that than the nearest value's"


def _percent(share: Fraction | Decimal) -> str:
    return f"{float(share):.1%}"


def _pour_cent(share: Fraction | Decimal) -> str:
    return _percent(share).replace(".", ",").replace("%", "\u00a0%")


def _groups(number: float) -> str:
    return f"{number:,}".replace(",", "\u202f").replace(".", ",")


def _comma(number: Decimal) -> str:
    return f"{number.normalize():f}".replace(".", ",")
