"""What people and machines see of a manifest and of a collection. Both carry the guarantee and what was verified."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from discreet.catalogue import Phrase, language, numeral, say
from discreet.cli import show_pairs, show_table
from discreet.guarantees import text as plain_text
from discreet.present import borne_decimals, tell_number

if TYPE_CHECKING:
    from discreet.collect.estimates.precision import CollectionOutlook, ExpectedWidth
    from discreet.collect.reporting.manifest import Manifest, SurveyQuestion, WeightScale
    from discreet.collect.reporting.signing import SignedManifest

__all__ = [
    "guarantee_text",
    "manifest_facts",
    "outlook_facts",
    "show_manifest",
    "show_outlook",
]


_KINDS: Final[Mapping[str, Phrase]] = {
    "category": Phrase("category"),
    "integer": Phrase("integer"),
    "number": Phrase("number"),
}
_MISSING: Final[Mapping[str, Phrase]] = {"category": Phrase("category"), "public": Phrase("public")}


def guarantee_text(manifest: Manifest) -> str:
    """What a respondent is promised, in words."""
    return say("local DP, epsilon = {epsilon} per respondent", epsilon=plain_text(manifest.guarantee().epsilon))


def manifest_facts(signed: SignedManifest) -> dict[str, Any]:
    """A signed manifest as JSON."""
    return {
        **signed.manifest.to_content(),
        "guarantee": str(signed.manifest.guarantee()),
        "digest": signed.digest,
        "public_key": signed.public_key,
        "verified": signed.verification,
    }


def show_manifest(signed: SignedManifest) -> None:
    """A signed manifest for people: what is asked, and what it costs."""
    manifest = signed.manifest
    pairs = [
        (say("guarantee"), guarantee_text(manifest)),
        (say("each respondent is asked"), _asked_text(manifest)),
        (say("groups, in clear"), ", ".join(group.name for group in manifest.groups) or say("none")),
        (say("weight"), say("none") if manifest.weight is None else _weight_text(manifest.weight)),
        (say("reports are marked by"), _mark_text(manifest)),
        (say("digest"), signed.digest),
        (say("signed by"), signed.public_key),
        (say("verified"), signed.verification),
    ]
    title = say(
        "{title} ('{survey}', version {version})",
        title=manifest.title,
        survey=manifest.survey,
        version=manifest.version,
    )
    show_pairs(title, pairs)
    headings = [
        (say("question"), "left"),
        (say("kind"), "left"),
        (say("epsilon"), "right"),
        (say("randomiser"), "left"),
        (say("missing"), "left"),
    ]
    rows = [
        [
            question.name,
            str(_KINDS[question.column.kind]),
            numeral(question.epsilon, ""),
            question.randomiser,
            str(_MISSING[question.missing]),
        ]
        for question in manifest.questions
    ]
    show_table("", headings, rows)


def _asked_text(manifest: Manifest) -> str:
    return say(
        "{asked} of {questions} questions, mode {mode}",
        asked=manifest.asked,
        questions=len(manifest.questions),
        mode=manifest.mode,
    )


def _mark_text(manifest: Manifest) -> str:
    if manifest.token is None:
        return say("random")
    return say("a hash of the token in column '{column}'", column=manifest.token)


def _weight_text(weight: WeightScale) -> str:
    column = weight.rule.column
    if weight.classes is None:
        return say("{column}, in clear, to the step, which singles many people out (see `classes`)", column=column)
    return say("{column}, in clear, in {classes} classes below each cap", column=column, classes=weight.classes)


def outlook_facts(outlook: CollectionOutlook) -> dict[str, Any]:
    """What to expect of a collection, as JSON; shares are parts of 1."""
    return {
        "respondents": outlook.respondents,
        "level": outlook.level,
        "design_effect": outlook.design_effect,
        "assumptions": [str(phrase) for phrase in outlook.assumptions],
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


def show_outlook(signed: SignedManifest, outlook: CollectionOutlook) -> None:
    """What to expect of a collection, for people: one table for each question."""
    manifest = signed.manifest
    title = say(
        "Expected ± of {level:g}% intervals with {respondents:,} respondents, before anybody is asked",
        level=100 * outlook.level,
        respondents=outlook.respondents,
    )
    show_pairs(f"\n{title}", [(say("assumed"), str(phrase)) for phrase in outlook.assumptions])
    headings = [
        (say("group"), "left"),
        (say("respondents"), "right"),
        (say("asked"), "right"),
        (say("expected ±"), "right"),
        (say("± at the worst"), "right"),
    ]
    for question in manifest.questions:
        own = [each for each in outlook.expected if each.question == question.name]
        scale = 1.0 if question.numeric else 100.0
        reaches = [
            [scale * reach if reach is not None else None for reach in (each.half_width, each.worst)] for each in own
        ]
        decimals = borne_decimals([reach for pair in reaches for reach in pair if reach is not None])
        rows = []
        for each, pair in zip(own, reaches, strict=True):
            lines = ["–" if reach is None else tell_number(reach, language(), decimals=decimals) for reach in pair]
            people = [tell_number(number, language()) for number in (each.respondents, each.asked)]
            rows.append([_part_label(manifest, each), *people, *lines])
        show_table(f"\n{_outlook_title(question)}", headings, rows)


def _outlook_title(question: SurveyQuestion) -> str:
    if question.numeric:
        return say("{label}: mean", label=question.column.label)
    return say("{label}: share, in percentage points", label=question.column.label)


def _part_label(manifest: Manifest, each: ExpectedWidth) -> str:
    if each.group is None:
        return say("all")
    labels = {category.code: category.label.text(language()) for category in manifest.group(each.group).categories}
    return labels[each.category or ""]
