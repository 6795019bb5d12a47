"""A collection as it is published: a release with a part for each question."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

from discreet.cards import Category, Column
from discreet.catalogue import Phrase, language
from discreet.collect.estimates.collection import Collection, Estimate, collect_estimates
from discreet.collect.estimates.hybrid_collection import Relation
from discreet.collect.reporting.signing import SignedManifest
from discreet.guarantees import Neighbours
from discreet.results import (
    Claim,
    Collected,
    Estimator,
    FalseReports,
    FewReports,
    Figures,
    Heading,
    KeyFace,
    Margin,
    Release,
    ReleaseKind,
    Source,
    Statistic,
    Variance,
)

__all__ = ["estimate_collection", "publish_collection"]

_FORMS = {
    "estimate": Phrase("Total of the reports"),
    "adjusted": Phrase("Adjusted count"),
    "share": Phrase("Share"),
    "ratio_count": Phrase("Count"),
    "adjusted_share": Phrase("Adjusted share"),
}


def estimate_collection(
    signed: SignedManifest,
    reports: Path,
    *,
    by: Sequence[str] = (),
    level: float = 0.95,
    replicates: Path | None = None,
    clear: Path | None = None,
    encoding: str | None = None,
    relation: Relation = "samples",
) -> Release:
    """Read a file of reports and estimate every question in every cell of the groups named in `by`."""
    return publish_collection(
        collect_estimates(
            signed,
            reports,
            by=by,
            level=level,
            replicates=replicates,
            clear=clear,
            encoding=encoding,
            relation=relation,
        )
    )


def publish_collection(found: Collection) -> Release:
    """What a collection says, with everything that must be said beside it."""
    manifest = found.signed.manifest
    claim = Claim(found.guarantee, manifest.survey, neighbours=Neighbours.REPLACE_ONE, in_clear=found.clear)
    whole = Release(
        kind=ReleaseKind.LOCAL,
        title=Phrase("{title}: estimates from randomised reports", title=manifest.title),
        claim=claim,
        settlement=Collected(
            found.accepted, {reason.value: count for reason, count in found.refused.items()}, found.clear
        ),
        source=Source(manifest.survey, manifest.version, manifest=found.signed.mark),
        level=Decimal(repr(found.level)),
        notes=(
            Variance(found.variance),
            Estimator(found.sampled),
            *(
                FalseReports(
                    item.question, item.statistic, item.reach if math.isfinite(item.reach) else None, item.proportional
                )
                for item in found.poisoning
            ),
            *(FewReports(name, warning.text(language())) for name, warning in found.warnings),
        ),
        asked={"by": found.by, "verified": found.signed.verification, "sampled": found.sampled},
    )
    names = dict.fromkeys(each.question for each in found.estimates)
    parts = {name: _part(whole, found, [item for item in found.estimates if item.question == name]) for name in names}
    return replace(whole, parts=parts)


def _part(whole: Release, found: Collection, estimates: Sequence[Estimate]) -> Release:
    """The estimates of one question: a mean, or the counts of its categories in every form."""
    manifest, first = found.signed.manifest, estimates[0]
    question = manifest.question(first.question)
    headings = [_heading(manifest.group(name)) for name in found.by]
    codes: list[list[str | None]] = [[each.groups[index] for each in estimates] for index in range(len(found.by))]
    if first.statistic == "mean":
        rows = {"mean": [(each.estimate, each.low, each.high) for each in estimates]}
        titles = {"mean": Phrase("Mean")}
    else:
        headings.append(Heading("category", Phrase("Answer"), _face("category", question.answers)))
        codes.append([each.category for each in estimates])
        rows = {
            "estimate": [(each.estimate, each.low, each.high) for each in estimates],
            "adjusted": [(each.adjusted, each.adjusted_low, each.adjusted_high) for each in estimates],
            "share": [(each.share.estimate, each.share.low, each.share.high) for each in estimates],
            "ratio_count": [(each.ratio.estimate, each.ratio.low, each.ratio.high) for each in estimates],
            "adjusted_share": [
                (each.adjusted_share.estimate, each.adjusted_share.low, each.adjusted_share.high) for each in estimates
            ],
        }
        titles = _FORMS
    statistics = []
    for name, figures in rows.items():
        values, low, high = (list(column) for column in zip(*figures, strict=True))
        margin = Margin((), tuple(codes), values, low=low, high=high)
        statistics.append(Statistic(name, titles[name], Figures(len(values), lambda margin=margin: [margin])))  # type: ignore[misc]
    return replace(
        whole,
        title=question.column.label,
        headings=tuple(headings),
        statistics=tuple(statistics),
        notes=tuple(note for note in whole.notes if getattr(note, "question", first.question) == first.question),
    )


def _heading(group: Column) -> Heading:
    return Heading(group.name, group.label, _face(group.name, group.categories))


def _face(name: str, categories: Sequence[Category]) -> KeyFace:
    return KeyFace(name, tuple(item.code for item in categories), tuple(item.label for item in categories))
