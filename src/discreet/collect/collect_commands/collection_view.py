"""What people and machines see of a manifest and of a collection. Both carry the guarantee and what was verified."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from discreet.cli import show_pairs, show_table
from discreet.present import borne_decimals, tell_number

if TYPE_CHECKING:
    from discreet.collect.estimates.precision import CollectionOutlook, ExpectedWidth
    from discreet.collect.reporting.manifest import Manifest, WeightScale
    from discreet.collect.reporting.signing import SignedManifest

__all__ = [
    "manifest_facts",
    "outlook_facts",
    "show_manifest",
    "show_outlook",
]

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
    text = words["step"] if weight.classes is None else words["classes"].format(classes=weight.classes)
    return f"{weight.rule.column}, {text}"


def outlook_facts(outlook: CollectionOutlook, lang: str) -> dict[str, Any]:
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


def show_outlook(signed: SignedManifest, outlook: CollectionOutlook, *, lang: str) -> None:
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
            lines = ["–" if reach is None else tell_number(reach, lang, decimals=decimals) for reach in pair]
            people = [tell_number(number, lang) for number in (each.respondents, each.asked)]
            rows.append([_part_label(manifest, each, lang), *people, *lines])
        show_table(f"\n{question.column.label.text(lang)}{words[own[0].statistic]}", headings, rows)


def _part_label(manifest: Manifest, each: ExpectedWidth, lang: str) -> str:
    if each.group is None:
        return _WORDS[lang]["all"]
    labels = {category.code: category.label.text(lang) for category in manifest.group(each.group).categories}
    return labels[each.category or ""]
