"""What people and machines see of a manifest and of a collection. Both carry the guarantee and what was verified."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

from discreet.cli.screen import show_columns, show_estimates, show_note, show_pairs, show_table
from discreet.pages.lettering import borne_decimals, tell_number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from discreet.local.collection import Collection, Estimate
    from discreet.local.manifest import Manifest, WeightScale
    from discreet.local.precision import Expected, Outlook
    from discreet.local.signing import SignedManifest

__all__ = [
    "collection_csv",
    "collection_facts",
    "manifest_facts",
    "outlook_facts",
    "show_collection",
    "show_manifest",
    "show_outlook",
]

_RATIO: Final = "ratio_count"
_TOTAL: Final = "estimate"
_ADJUSTED: Final = "adjusted (not negative, adding up, biased)"
_AS_TOTALS: Final = "and as totals (which err more)"
_ESTIMATORS: Final = {
    _RATIO: "share among those who were asked, times the weight of all respondents (ratio estimator, Hájek)",
    _TOTAL: "sum of the reports over the chance of being asked (total, Horvitz–Thompson)",
    "adjusted": "ratio counts made not negative and adding up (Norm-Sub); biased",
}
_COUNT_FACTS: Final = (
    *("adjusted", "adjusted_low", "adjusted_high"),
    *("share", "share_low", "share_high"),
    *(_RATIO, f"{_RATIO}_low", f"{_RATIO}_high"),
    *("adjusted_share", "adjusted_share_low", "adjusted_share_high"),
)
_MANIFEST: Final = {
    "en": {
        "version": "'{survey}', version {version}",
        "facts": "guarantee|each respondent is asked|groups, in clear|weight|reports are marked by|digest|signed by|"
        "verified",
        "heads": "question|kind|epsilon|randomiser|missing",
        "asks": "{asked} of {all} questions, mode {mode}",
        "none": "none",
        "random": "random",
        "token": "a hash of the token in column '{column}'",
        "step": "in clear, to the step, which singles many people out (see `classes`)",
        "classes": "in clear, in {classes} classes below each cap",
    },
    "fr": {
        "version": "«\u00a0{survey}\u00a0», version {version}",
        "facts": "garantie|questions par répondant|groupes, en clair|poids|marque des réponses|empreinte|clé publique|"
        "vérification",
        "heads": "question|genre|epsilon|procédé|sans réponse",
        "asks": "{asked} sur {all}, mode {mode}",
        "none": "aucun",
        "random": "aléatoire",
        "token": "empreinte du jeton de la colonne «\u00a0{column}\u00a0»",
        "step": "en clair, au pas près, ce qui distingue bien des personnes (voir `classes`)",
        "classes": "en clair, en {classes} classes sous chaque plafond",
        "trusted": "la signature est valide pour la clé de confiance",
        "self": "la signature est valide pour la clé nommée dans le fichier même; à qui est cette clé n'a pas été "
        "vérifié (donner --trust PUBLIC_KEY)",
        "promise": "confidentialité différentielle locale, epsilon = {epsilon} par répondant",
    },
}
_WORDS: Final = {
    "en": {
        "title": "Expected ± of {level:g}% intervals with {number} respondents, before anybody is asked",
        "all": "all",
        "group": "group",
        "respondents": "respondents",
        "asked": "asked",
        "expected": "expected ±",
        "worst": "± at the worst",
        "share": ": share, in percentage points",
        "mean": ": mean",
        "assumed": "assumed",
    },
    "fr": {
        "title": "± attendu des intervalles à {level:g} % avec {number} répondants, avant toute question",
        "all": "tous",
        "group": "groupe",
        "respondents": "répondants",
        "asked": "interrogés",
        "expected": "± attendu",
        "worst": "± au pire",
        "share": "\u00a0: part, en points de pourcentage",
        "mean": "\u00a0: moyenne",
        "assumed": "supposé",
    },
}


def manifest_facts(signed: SignedManifest) -> dict[str, Any]:
    """A signed manifest as JSON."""
    return {
        **signed.manifest.to_content(),
        "guarantee": str(signed.manifest.guarantee()),
        "digest": signed.digest,
        "public_key": signed.public_key,
        "verified": signed.verification,
    }


def show_manifest(signed: SignedManifest, *, lang: str = "en") -> None:
    """A signed manifest for people: what is asked, and what it costs."""
    manifest, words = signed.manifest, _MANIFEST[lang]
    promise, verified = str(manifest.guarantee()), signed.verification
    if lang == "fr":
        promise = words["promise"].format(epsilon=str(manifest.epsilon).replace(".", ","))
        verified = words["trusted" if signed.trusted else "self"]
    marks = words["random"] if manifest.token is None else words["token"].format(column=manifest.token)
    facts = (
        promise,
        words["asks"].format(asked=manifest.asked, all=len(manifest.questions), mode=manifest.mode),
        ", ".join(group.name for group in manifest.groups) or words["none"],
        words["none"] if manifest.weight is None else _told_weight(manifest.weight, lang=lang),
        marks,
        signed.digest,
        signed.public_key,
        verified,
    )
    version = words["version"].format(survey=manifest.survey, version=manifest.version)
    show_pairs(f"{manifest.title.text(lang)} ({version})", list(zip(words["facts"].split("|"), facts, strict=True)))
    sides = ("left", "left", "right", "left", "left")
    rows = [
        [question.name, question.column.kind.value, str(question.epsilon), question.randomiser, question.missing.value]
        for question in manifest.questions
    ]
    show_table("", list(zip(words["heads"].split("|"), sides, strict=True)), rows)


def _told_weight(weight: WeightScale, *, lang: str) -> str:
    words = _MANIFEST[lang]
    told = words["step"] if weight.classes is None else words["classes"].format(classes=weight.classes)
    return f"{weight.rule.column}, {told}"


def outlook_facts(outlook: Outlook, lang: str) -> dict[str, Any]:
    """What to expect of a collection, as JSON; shares are parts of 1."""
    return {
        "respondents": outlook.respondents,
        "level": outlook.level,
        "design_effect": outlook.design_effect,
        "assumptions": [labels.text(lang) for labels in outlook.assumptions],
        "expected": [
            {
                "question": each.question,
                "statistic": each.statistic,
                "groups": {} if each.group is None else {each.group: each.category},
                "respondents": each.respondents,
                "asked": each.asked,
                "half_width": each.half_width,
                "worst_half_width": each.worst,
            }
            for each in outlook.expected
        ],
    }


def show_outlook(signed: SignedManifest, outlook: Outlook, *, lang: str) -> None:
    """What to expect of a collection, for people: one table for each question."""
    manifest, words = signed.manifest, _WORDS[lang]
    title = words["title"].format(level=100 * outlook.level, number=tell_number(outlook.respondents, lang))
    show_pairs(f"\n{title}", [(words["assumed"], labels.text(lang)) for labels in outlook.assumptions])
    headings = [(words["group"], "left")]
    headings += [(words[name], "right") for name in ("respondents", "asked", "expected", "worst")]
    for question in manifest.questions:
        own = [each for each in outlook.expected if each.question == question.name]
        scale = 1.0 if question.numeric else 100.0
        reaches = [
            [scale * reach if reach is not None else None for reach in (each.half_width, each.worst)] for each in own
        ]
        decimals = borne_decimals([reach for pair in reaches for reach in pair if reach is not None])
        rows = []
        for each, pair in zip(own, reaches, strict=True):
            told = ["–" if reach is None else tell_number(reach, lang, decimals=decimals) for reach in pair]
            people = [tell_number(number, lang) for number in (each.respondents, each.asked)]
            rows.append([_part_label(manifest, each, lang), *people, *told])
        show_table(f"\n{question.column.label.text(lang)}{words[own[0].statistic]}", headings, rows)


def _part_label(manifest: Manifest, each: Expected, lang: str) -> str:
    if each.group is None:
        return _WORDS[lang]["all"]
    labels = {category.code: category.label.text(lang) for category in manifest.group(each.group).categories}
    return labels[each.category or ""]


def collection_facts(found: Collection) -> dict[str, Any]:
    """A collection as JSON."""
    return {
        **_about(found),
        "verified": found.signed.verification,
        "by": list(found.by),
        "estimators": _ESTIMATORS,
        "recommended": _recommended(found),
        "refused_by_reason": {reason.value: count for reason, count in found.refused.items()},
        "warnings": list(found.warnings),
        "poisoning": [
            {
                "question": each.question,
                "statistic": each.statistic,
                "one_false_report_moves_at_most": each.reach if math.isfinite(each.reach) else None,
            }
            for each in found.poisoning
        ],
        "estimates": [
            {
                "question": each.question,
                "statistic": each.statistic,
                "category": each.category,
                "label": each.label,
                "groups": dict(zip(found.by, each.groups, strict=True)),
                "estimate": each.estimate,
                "low": each.low,
                "high": each.high,
                **_count_facts(each),
            }
            for each in found.estimates
        ],
    }


def collection_csv(found: Collection) -> str:
    """A collection as CSV; every line says what it rests on."""
    from discreet.pages.spreadsheets import csv_text

    about = {name: str(value) for name, value in _about(found).items()}
    names = ["question", "statistic", "category", "label", *found.by, "estimate", "low", "high", *_COUNT_FACTS]
    rows = (
        (
            *(each.question, each.statistic, each.category, each.label, *each.groups),
            *(each.estimate, each.low, each.high, *_count_facts(each).values()),
            *about.values(),
        )
        for each in found.estimates
    )
    return csv_text([*names, *about], rows)


def show_collection(found: Collection, *, lang: str) -> None:
    """A collection for people: one table for each question."""
    about = _about(found)
    pairs = [(name.replace("_", " "), str(value)) for name, value in about.items()]
    pairs += [(f"refused: {reason.value}", f"{count:,}") for reason, count in found.refused.items()]
    pairs.append(("share, count", f"{_ESTIMATORS[_RATIO]}; recommended" if found.sampled else _ESTIMATORS[_TOTAL]))
    pairs.append(("adjusted", _ESTIMATORS["adjusted"]))
    show_pairs(f"{found.signed.manifest.title.text(lang)}: estimates from randomised reports", pairs)
    for name in dict.fromkeys(each.question for each in found.estimates):
        _show_question(found, [each for each in found.estimates if each.question == name], lang)
    show_pairs("\nPoisoning", [(each.question, each.sentence()) for each in found.poisoning])
    for warning in found.warnings:
        show_note(f"Warning: {warning}")


def _show_question(found: Collection, estimates: Sequence[Estimate], lang: str) -> None:
    title = f"\n{found.signed.manifest.question(estimates[0].question).column.label.text(lang)}"
    groups = _groups_of(found, estimates, lang)
    interval = f"{100 * found.level:g}% interval"
    if estimates[0].statistic == "mean":
        means = [(each.estimate, each.low, each.high) for each in estimates]
        _show_figures(title, [*groups, *_figure("mean", interval, means)])
        return
    opening = [*groups, ("answer", "left", [each.label or "" for each in estimates])]
    shares = [_percent(each) for each in estimates]
    ratios = [(each.ratio.estimate, each.ratio.low, each.ratio.high) for each in estimates]
    _show_figures(title, [*opening, *_figure("share %", interval, shares), *_figure("count", interval, ratios)])
    adjusted = [(each.adjusted, each.adjusted_low, each.adjusted_high) for each in estimates]
    beside, words = _figure("adjusted", interval, adjusted, decimals=0), _ADJUSTED
    if found.sampled:
        totals = [(each.estimate, each.low, each.high) for each in estimates]
        beside, words = [*beside, *_figure("total", interval, totals)], f"{words} {_AS_TOTALS}"
    _show_figures(f"\nThe same counts, {words}", [*opening, *beside])


def _figure(
    name: str, interval: str, figures: Sequence[tuple[float | None, ...]], *, decimals: int | None = None
) -> list[tuple[str, str, list[str]]]:
    """Two columns: figures, and their intervals."""
    values, intervals = show_estimates(
        [figure[0] for figure in figures], [figure[1:] for figure in figures], decimals=decimals
    )
    told = [
        shown if figure[0] is not None or figure[1] is not None else "–"
        for shown, figure in zip(intervals, figures, strict=True)
    ]
    return [(name, "right", values), (interval, "right", told)]


def _percent(each: Estimate) -> tuple[float | None, ...]:
    figures = (each.share.estimate, each.share.low, each.share.high)
    return tuple(None if figure is None else 100 * figure for figure in figures)


def _show_figures(title: str, columns: Sequence[tuple[str, str, list[str]]]) -> None:
    show_columns(title, [(name, side) for name, side, _ in columns], [cells for _, _, cells in columns])


def _groups_of(found: Collection, estimates: Sequence[Estimate], lang: str) -> list[tuple[str, str, list[str]]]:
    return [
        (name, "left", [_group_label(found, name, each.groups[place], lang) for each in estimates])
        for place, name in enumerate(found.by)
    ]


def _group_label(found: Collection, name: str, code: str, lang: str) -> str:
    labels = {category.code: category.label.text(lang) for category in found.signed.manifest.group(name).categories}
    return labels.get(code, code)


def _about(found: Collection) -> dict[str, Any]:
    manifest = found.signed.manifest
    return {
        "survey": manifest.survey,
        "version": manifest.version,
        "manifest": found.signed.mark,
        "guarantee": found.promise,
        "accepted": found.accepted,
        "refused": sum(found.refused.values()),
        "answered_in_clear": found.clear,
        "level": found.level,
        "variance": found.variance,
    }


def _recommended(found: Collection) -> str:
    return _RATIO if found.sampled else _TOTAL


def _count_facts(each: Estimate) -> dict[str, float | None]:
    """What only counts have; null for means."""
    numbers = [each.adjusted, each.adjusted_low, each.adjusted_high]
    for figure in (each.share, each.ratio, each.adjusted_share):
        numbers += [figure.estimate, figure.low, figure.high]
    return dict(zip(_COUNT_FACTS, numbers, strict=True))
