"""What people and machines see of a manifest and of a collection. Both carry the guarantee and what was verified."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from discreet.cli.screen import show_estimates, show_note, show_pairs, show_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from discreet.local.collection import Collection, Estimate
    from discreet.local.signing import SignedManifest

__all__ = ["collection_csv", "collection_facts", "manifest_facts", "show_collection", "show_manifest"]


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
    asked = f"{manifest.asked} of {len(manifest.questions)} questions, mode {manifest.mode}"
    weight = "none" if manifest.weight is None else f"{manifest.weight.rule.column}, in clear"
    marks = "random" if manifest.token is None else f"a hash of the token in column '{manifest.token}'"
    show_pairs(
        f"{manifest.title.en} ('{manifest.survey}', version {manifest.version})",
        [
            ("guarantee", str(manifest.guarantee())),
            ("each respondent is asked", asked),
            ("groups, in clear", ", ".join(group.name for group in manifest.groups) or "none"),
            ("weight", weight),
            ("reports are marked by", marks),
            ("digest", signed.digest),
            ("signed by", signed.public_key),
            ("verified", signed.verification),
        ],
    )
    headings = [
        ("question", "left"),
        ("kind", "left"),
        ("epsilon", "right"),
        ("randomiser", "left"),
        ("missing", "left"),
    ]
    rows = [
        [question.name, question.column.kind.value, str(question.epsilon), question.randomiser, question.missing.value]
        for question in manifest.questions
    ]
    show_table("", headings, rows)


def collection_facts(found: Collection) -> dict[str, Any]:
    """A collection as JSON."""
    return {
        **_about(found),
        "verified": found.signed.verification,
        "by": list(found.by),
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
                "adjusted": each.adjusted,
            }
            for each in found.estimates
        ],
    }


def collection_csv(found: Collection) -> str:
    """A collection as CSV; every line says what it rests on."""
    from discreet.pages.spreadsheets import csv_text

    about = {name: str(value) for name, value in _about(found).items()}
    names = ["question", "statistic", "category", "label", *found.by, "estimate", "low", "high", "adjusted"]
    rows = (
        (each.question, each.statistic, each.category, each.label, *each.groups, *_numbers(each), *about.values())
        for each in found.estimates
    )
    return csv_text([*names, *about], rows)


def show_collection(found: Collection, *, lang: str) -> None:
    """A collection for people: one table for each question."""
    about = _about(found)
    pairs = [(name.replace("_", " "), str(value)) for name, value in about.items()]
    pairs += [(f"refused: {reason.value}", f"{count:,}") for reason, count in found.refused.items()]
    show_pairs(f"{found.signed.manifest.title.text(lang)}: estimates from randomised reports", pairs)
    for name in dict.fromkeys(each.question for each in found.estimates):
        _show_question(found, [each for each in found.estimates if each.question == name], lang)
    show_pairs("Poisoning", [(each.question, each.sentence()) for each in found.poisoning])
    for warning in found.warnings:
        show_note(f"Warning: {warning}")


def _show_question(found: Collection, estimates: Sequence[Estimate], lang: str) -> None:
    first = estimates[0]
    counts = first.statistic == "count"
    values, intervals = show_estimates(
        [each.estimate for each in estimates], [(each.low, each.high) for each in estimates]
    )
    headings = [(name, "left") for name in found.by] + ([("answer", "left")] if counts else [])
    headings += [(first.statistic, "right"), (f"{100 * found.level:g}% interval", "right")]
    headings += [("adjusted", "right")] if counts else []
    rows = []
    for each, value, interval in zip(estimates, values, intervals, strict=True):
        label = [each.label or ""] if counts else []
        adjusted = ["–" if each.adjusted is None else f"{each.adjusted:,.0f}"] if counts else []
        groups = [_group_label(found, name, code, lang) for name, code in zip(found.by, each.groups, strict=True)]
        rows.append([*groups, *label, value, interval, *adjusted])
    show_table(f"\n{found.signed.manifest.question(first.question).column.label.text(lang)}", headings, rows)


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


def _numbers(each: Estimate) -> tuple[float | None, ...]:
    return each.estimate, each.low, each.high, each.adjusted
