"""From YAML nodes to a survey manifest, collecting every problem with its line.

Read as strictly as a card. What the author leaves automatic is settled here, from public facts alone: how many
questions each respondent is asked, the ε of each, and its randomiser.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

from discreet.cards import (
    CardFault,
    Column,
    ColumnKind,
    Entry,
    Node,
    Record,
    SchemaReader,
    build_categories,
    build_weight,
    parse_yaml,
    read_yaml_text,
)
from discreet.collect.estimates.column_sampling import sample_columns, split_columns
from discreet.collect.reporting.assignment import choose_randomiser
from discreet.collect.reporting.manifest import Manifest, Missing, Mode, SurveyQuestion, WeightScale, domain_problems
from discreet.collect.reporting.manifest_schema import MANIFEST
from discreet.errors import ManifestInvalid
from discreet.guarantees import floor_to_grid
from discreet.results import Labels

__all__ = ["parse_manifest", "read_manifest"]


def read_manifest(path: Path) -> Manifest:
    """The manifest in a YAML file."""
    return parse_manifest(read_yaml_text(path, sort="manifest", invalid=ManifestInvalid), file=path.name)


def parse_manifest(text: str, *, file: str) -> Manifest:
    """The manifest in a text, or ManifestInvalid with all problems."""
    root = parse_yaml(text, file=file, invalid=ManifestInvalid)
    reader = SchemaReader()
    manifest = _build_manifest(reader, reader.read_file(MANIFEST, root))
    reader.settle(file=file, invalid=ManifestInvalid)
    assert manifest is not None
    return manifest


@dataclass(frozen=True, slots=True)
class _Draft:
    """A question before its share of ε and its randomiser are settled."""

    node: Node
    line: int
    column: Column
    missing: Missing
    epsilon: Decimal | None
    randomiser: str


def _build_manifest(reader: SchemaReader, found: Record) -> Manifest | None:
    groups = [_build_group(reader, entry) for entry in found["groups"] or ()]
    weight = None if found["weight"] is None else _build_weight(reader, found["weight"])
    drafts = [_draft_question(reader, entry) for entry in found["questions"] or ()]
    known = [draft for draft in drafts if draft is not None]
    if not reader.is_clean():
        return None
    epsilon: Decimal = found["epsilon"]
    asked = found["asked"] or _count_asked(epsilon, found["mode"], known)
    questions = [_settle_question(reader, draft, epsilon, asked) for draft in known]
    if not reader.is_clean():
        return None
    marks = found["respondent"]
    try:
        return Manifest(
            survey=found["survey"],
            version=found["version"],
            title=found["title"] or Labels(found["survey"], found["survey"]),
            epsilon=epsilon,
            mode=found["mode"],
            asked=asked,
            questions=tuple(question for question in questions if question is not None),
            groups=tuple(group for group in groups if group is not None),
            weight=weight,
            token=marks["token"] if isinstance(marks, Record) else None,
        )
    except CardFault as fault:
        reader.note_at(found.node, fault.problems)
        return None


def _count_asked(epsilon: Decimal, mode: Mode, drafts: list[_Draft]) -> int:
    planned = split_columns if mode is Mode.SPLIT else sample_columns
    return planned(epsilon=epsilon, columns=len(drafts)).asked


def _settle_question(reader: SchemaReader, draft: _Draft, total: Decimal, asked: int) -> SurveyQuestion | None:
    share = draft.epsilon or floor_to_grid(Fraction(total) / asked)
    try:
        randomiser = choose_randomiser(draft.column, draft.missing, epsilon=share, name=draft.randomiser)
    except CardFault as fault:
        reader.note_at(draft.node, fault.problems)
        return None
    return reader.built(
        draft.node, lambda: SurveyQuestion(draft.column, draft.missing, share, randomiser), line=draft.line
    )


def _draft_question(reader: SchemaReader, entry: Entry) -> _Draft | None:
    found: Record = entry.value
    if not found.whole:
        return None
    column = reader.built(
        found.node,
        lambda: Column(
            name=entry.name,
            kind=found["kind"],
            label=found["label"] or Labels(entry.name, entry.name),
            categories=build_categories(found["categories"]),
            bounds=found["bounds"],
            step=found["step"],
            missing=found["missing_codes"] or (),
        ),
        line=entry.line,
    )
    if column is None:
        return None
    reader.note_at(found.node, domain_problems(column, found["missing"]))
    return _Draft(found.node, entry.line, column, found["missing"], found["epsilon"], found["randomiser"])


def _build_group(reader: SchemaReader, entry: Entry) -> Column | None:
    found: Record = entry.value
    if not found.whole:
        return None
    return reader.built(
        found.node,
        lambda: Column(
            name=entry.name,
            kind=ColumnKind.CATEGORY,
            label=found["label"] or Labels(entry.name, entry.name),
            categories=build_categories(found["categories"]),
            public=True,
        ),
        line=entry.line,
    )


def _build_weight(reader: SchemaReader, found: Record) -> WeightScale | None:
    rule = build_weight(reader, found)
    if rule is None or not found.whole:
        return None
    return reader.built(found.node, lambda: WeightScale(rule, found["step"], found["classes"]))
