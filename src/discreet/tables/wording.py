"""What is said beside the figures of a table: how it was made, what its intervals hold, what to mind."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Final

from discreet.data.columns import Labels
from discreet.guarantees.numbers import text
from discreet.release.answers import Answer
from discreet.tables.calibration import Target
from discreet.tables.forming import Formed, may_be_negative, tell_left_out
from discreet.tables.measuring import Component, Design
from discreet.tables.quality import GOOD_PART, USABLE_PART

__all__ = [
    "ESTIMATES",
    "INTERVALS",
    "describe_design",
    "facts_of_table",
    "name_margin",
    "notes_of",
    "strategy_rows",
    "tell_strategy",
]

INTERVALS = (
    "privacy noise only: each interval belongs to the raw estimate and holds, with at least the stated probability, "
    "what the prepared data give (values clamped, weights capped, rows bounded per unit), figure by figure; sampling "
    "and measurement error come on top"
)

CALIBRATED_INTERVALS: Final = (
    "privacy noise only: each interval belongs to the calibrated figure and holds, with about the stated probability, "
    "x·T/Σx of the prepared data (values clamped, weights capped, rows bounded per unit), figure by figure; sampling "
    "and measurement error come on top"
)

Note = tuple[Labels, Labels]

_BRUITS: Final = {"laplace": "bruit de Laplace", "gaussian": "bruit gaussien"}

_COVERS: Final[Note] = (
    Labels("What an interval covers", "Ce que couvre un intervalle"),
    Labels(
        INTERVALS,
        "bruit de confidentialité seulement : chaque intervalle se rapporte à l’estimation brute et contient, avec au "
        "moins la probabilité indiquée, ce que donnent les données préparées (valeurs bornées, poids plafonnés, lignes "
        "limitées par unité), chiffre par chiffre ; l’erreur d’échantillonnage et de mesure s’y ajoute",
    ),
)
_COVERS_CALIBRATED: Final[Note] = (
    Labels("What an interval covers", "Ce que couvre un intervalle"),
    Labels(
        CALIBRATED_INTERVALS,
        "bruit de confidentialité seulement : chaque intervalle se rapporte au chiffre calé et contient, avec à peu "
        "près la probabilité indiquée, x·T/Σx des données préparées (valeurs bornées, poids plafonnés, lignes limitées "
        "par unité), chiffre par chiffre ; l’erreur d’échantillonnage et de mesure s’y ajoute",
    ),
)
_SUMS: Final[Note] = (
    Labels("Margins", "Marges"),
    Labels(
        "Every margin is exactly the sum of the published cells. The raw estimates are unbiased.",
        "Chaque marge est exactement la somme des cellules publiées. Les estimations brutes sont sans biais.",
    ),
)
_MEANS: Final[Note] = (
    Labels("Margins", "Marges"),
    Labels(
        "The mean of a margin is that of all its people, not the mean of its cells.",
        "La moyenne d’une marge est celle de toutes ses personnes, et non la moyenne de ses cellules.",
    ),
)
_TOO_SMALL: Final[Note] = (
    Labels("Means not shown", "Moyennes non montrées"),
    Labels(
        "A mean is shown only where the noisy size of its group is so large that with a probability of 95% no group of "
        "nobody shows one; elsewhere – stands (too small). Intervals hold for all groups, before any is left out: of "
        "tiny groups few are shown, those whose noise was large.",
        "Une moyenne n’est montrée que si l’effectif bruité de son groupe est si grand qu’avec une probabilité de 95 % "
        "aucun groupe vide n’en montre une ; ailleurs figure – (trop petit). Les intervalles valent pour tous les "
        "groupes, avant toute omission : peu de très petits groupes sont montrés, ceux dont le bruit était grand.",
    ),
)
_GRADES: Final[Note] = (
    Labels("Quality of means", "Qualité des moyennes"),
    Labels(
        "Graded {basis}. Bounds of the column do not enter: an interval that they cut looks narrower than it is.",
        "D’après {basis}. Les bornes de la variable n’y entrent pas : un intervalle qu’elles coupent paraît plus "
        "étroit qu’il n’est.",
    ),
)
_SMALL: Final[Note] = (
    Labels("Small figures", "Petits chiffres"),
    Labels(
        "Published figures are not negative, which makes sums of many small ones too large on average; for such sums "
        "take the raw estimates.",
        "Les chiffres publiés ne sont pas négatifs, ce qui rend les sommes de nombreux petits chiffres trop grandes en "
        "moyenne ; pour de telles sommes, prendre les estimations brutes.",
    ),
)
_WEIGHTS: Final[Note] = (
    Labels("Weights", "Poids"),
    Labels(
        "Weights are cut at their cap; what is cut off is missing from the figures and outside the intervals.",
        "Les poids sont plafonnés ; ce qui dépasse manque aux chiffres et n’est pas dans les intervalles.",
    ),
)
_WEIGHTS_CALIBRATED: Final[Note] = (
    Labels("Weights", "Poids"),
    Labels(
        "Weights are cut at their cap. Calibration puts back what is cut from a group as a whole; what is cut from "
        "some of it more than from others stays a bias outside the intervals.",
        "Les poids sont plafonnés. Le calage rend ce qui est retranché à un groupe entier ; ce qui l’est davantage à "
        "une partie qu’à une autre reste un biais hors des intervalles.",
    ),
)
ESTIMATES: Final = (
    "x·T/Σx: the figure x of the prepared data, times the public total T of its group over the group's own sum Σx"
)

_CALIBRATED: Final[Note] = (
    Labels("Calibration", "Calage"),
    Labels(
        f"Figures meet public totals exactly. What one estimates is {ESTIMATES}; its interval and its quality are for "
        "that. Raw estimates are not calibrated. A figure that is a public total has no interval.",
        "Les chiffres respectent exactement des totaux publics. Ce qu’un chiffre estime est x·T/Σx : le chiffre x des "
        "données préparées, multiplié par le total public T de son groupe et divisé par la somme Σx du groupe ; son "
        "intervalle et sa qualité s’y rapportent. Les estimations brutes ne sont pas calées. Un chiffre qui est un "
        "total public n’a pas d’intervalle.",
    ),
)
_LINEARISED: Final[Note] = (
    Labels("Several totals", "Plusieurs totaux"),
    Labels(
        "Several totals were met together by raking; intervals follow from a linear approximation of it.",
        "Plusieurs totaux sont respectés à la fois, par ajustement itératif ; les intervalles découlent d’une "
        "approximation linéaire.",
    ),
)


def _note_missing(formed: Formed, targets: Sequence[Target]) -> Iterator[Note]:
    """Which cells have no place in the totals."""
    for target in targets:
        for place in target.kept:
            if None in (formed.plan.keys[place].cells or ()):
                title = formed.headings[place].title
                yield (
                    Labels("Not in the totals", "Hors des totaux"),
                    Labels(
                        f"Cells without a value of '{title.en}' are left out: everybody in the totals has one.",
                        f"Les cellules sans valeur de « {title.fr} » sont laissées de côté : dans les totaux, chacun "
                        "en a une.",
                    ),
                )


def facts_of_table(formed: Formed, answer: Answer, *, calibrated: bool = False) -> dict[str, object]:
    """The release fields of the answer, its intervals told as those of a table."""
    meaning = CALIBRATED_INTERVALS if calibrated else INTERVALS
    return {**answer.facts(), "interval_meaning": meaning, "method": "dp", "sql": formed.request.to_sql(formed.card)}


def describe_design(design: Design, suppress_above: Decimal | None) -> dict[str, object]:
    """What was asked for and how it was measured, for machines."""
    request = design.formed.request
    return {
        "by": list(request.by),
        "value": request.value,
        "mean": request.mean,
        "weighted": request.weighted,
        "where": request.where,
        **({"no_missing": True} if request.no_missing else {}),
        **({"leave_out": {name: [*codes] for name, codes in request.leave_out.items()}} if request.leave_out else {}),
        "margins": [[request.by[place] for place in margin] for margin in request.kept()[1:]],
        **({} if request.sampling is None else {"sampling": request.sampling}),
        **({} if suppress_above is None else {"suppressed_above": text(suppress_above)}),
        "strategy": [describe_component(design.formed, component) for component in design.components],
    }


def describe_component(formed: Formed, component: Component) -> dict[str, object]:
    """The chosen strategy of one measure."""
    return {
        "measure": component.face.text,
        "name": component.chosen.name,
        "noise": component.chosen.noise,
        "measured": [
            {
                "keeps": [formed.request.by[place] for place in one.kept],
                "residual": one.residual,
                "share": float(component.part * one.share),
            }
            for one in component.chosen.measured
        ],
    }


def name_margin(formed: Formed, kept: tuple[int, ...]) -> str:
    """province × smoking, or total."""
    return " × ".join(formed.request.by[place] for place in kept) or "total"


def tell_strategy(formed: Formed, component: Component) -> Labels:
    """The strategy in one sentence."""
    measured, noise = component.chosen.measured, component.chosen.noise
    en, fr = f"{noise.capitalize()} noise on", f"{_BRUITS[noise]} sur"
    if len(measured) == 1 and not measured[0].residual:
        return Labels(
            f"{en} the cells alone; margins are sums of cells",
            f"{fr} les seules cellules ; les marges en sont les sommes",
        )
    if any(one.residual for one in measured):
        return Labels(
            f"{en} what each of {len(measured)} margins adds to those below it; cells and margins follow from all",
            f"{fr} ce que chacune de {len(measured)} marges ajoute à celles qu’elle contient ; cellules et marges "
            "découlent de toutes",
        )
    shares = [(name_margin(formed, one.kept), one.share) for one in measured]
    return Labels(
        f"{en} {', '.join(f'{name} ({_percent(share)})' for name, share in shares)}; every figure follows from all of "
        "them",
        f"{fr} {', '.join(f'{name} ({_pour_cent(share)})' for name, share in shares)} ; chaque chiffre découle de tous",
    )


def _percent(share: Fraction | Decimal) -> str:
    return f"{float(share):.1%}"


def _pour_cent(share: Fraction | Decimal) -> str:
    return _percent(share).replace(".", ",").replace("%", "\u00a0%")


def _note_strategy(design: Design, component: Component) -> Note:
    """Where two measures make a figure, each is named with its part of the budget."""
    told, heading = tell_strategy(design.formed, component), Labels("Strategy", "Stratégie")
    if len(design.components) == 1:
        return heading, told
    measure, part = component.face.text, component.part
    return heading, Labels(
        f"{measure}, {_percent(part)} of the budget: {told.en}",
        f"{measure}, {_pour_cent(part)} du budget : {told.fr}",
    )


def _note_grades(formed: Formed) -> Note:
    """What the grades of means go by."""
    mean, column = formed.mean, formed.card.column(formed.request.value or "")
    assert mean is not None
    widths = "by the half-width of the 95% interval", "la demi-largeur de l’intervalle à 95 %"
    if column.precision is not None:
        need = text(column.precision)
        en = f"{widths[0]}: good up to {need}, the precision of the card, caution up to twice that"
        fr = f"{widths[1]} : bonne jusqu’à {need}, la précision de la fiche, prudence jusqu’au double"
    elif mean.low == 0:
        en = "by the relative error, the standard error over the low end of the 95% interval"
        fr = "l’erreur relative, l’erreur type sur la borne basse de l’intervalle à 95 %"
    else:
        good, usable = f"{100 * GOOD_PART:.0f}", f"{100 * USABLE_PART:.0f}"
        en = f"{widths[0]}: good up to {good}% of the range of the column, caution up to {usable}%"
        fr = f"{widths[1]} : bonne jusqu’à {good} % de l’étendue de la variable, prudence jusqu’à {usable} %"
    if column.precision is None and mean.low >= 0:
        en += "; at most one in twenty of the good ones is expected to be wrong by more than a third"
        fr += " ; au plus une sur vingt des bonnes devrait être fausse de plus d’un tiers"
    heading, said = _GRADES
    return heading, Labels(said.en.format(basis=en), said.fr.format(basis=fr))


def notes_of(design: Design, *, suppress_above: Decimal | None, targets: Sequence[Target] = ()) -> tuple[Note, ...]:
    """For people: what the figures are, beyond the facts that every release states."""
    formed = design.formed
    notes = [
        _COVERS_CALIBRATED if targets else _COVERS,
        *(_note_strategy(design, component) for component in design.components),
    ]
    notes += [_SUMS] if formed.mean is None else [_MEANS, _TOO_SMALL, _note_grades(formed)]
    if formed.mean is None and not may_be_negative(formed):
        notes.append(_SMALL)
    if (without := tell_left_out(formed.request, formed.card)) is not None:
        said = Labels(
            f"Nobody with {without.en} is counted, in no margin either.",
            f"Ne sont comptés dans aucun chiffre, marges comprises : {without.fr}.",
        )
        notes.append((Labels("Not in the table", "Hors du tableau"), said))
    if formed.request.weighted:
        notes.append(_WEIGHTS_CALIBRATED if targets else _WEIGHTS)
    if targets:
        notes += [_CALIBRATED, *([_LINEARISED] if len(targets) > 1 else []), *_note_missing(formed, targets)]
    if suppress_above is not None:
        said = Labels(
            f"Figures whose relative error is above {_percent(suppress_above)} are left out because they are "
            "unreliable, judged by noisy values alone.",
            f"Les chiffres dont l’erreur relative dépasse {_pour_cent(suppress_above)} sont supprimés parce que peu "
            "fiables, d’après les seules valeurs bruitées.",
        )
        notes.append((Labels("Left out", "Supprimé"), said))
    return tuple(notes)


def strategy_rows(formed: Formed, component: Component) -> list[Mapping[str, object]]:
    """Every strategy of one measure with its expected error for each published margin, the chosen one marked."""
    step = float(component.face.step)
    return [
        {
            "name": strategy.name,
            "noise": strategy.noise,
            "chosen": strategy is component.chosen or strategy == component.chosen,
            "mean_expected_variance": strategy.mean * step**2,
            "margins": [
                {
                    "keeps": [formed.request.by[place] for place in margin],
                    "figures": component.layout.count(margin),
                    "expected_variance": variance * step**2,
                    "standard_error": variance**0.5 * step,
                }
                for margin, variance in strategy.expected.items()
            ],
            "measured": [
                {
                    "keeps": [formed.request.by[place] for place in one.kept],
                    "residual": one.residual,
                    "share": float(one.share),
                }
                for one in strategy.measured
            ],
        }
        for strategy in component.strategies
    ]
