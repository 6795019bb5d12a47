"""From YAML nodes to a survey manifest, collecting every problem with its line.

Read as strictly as a card. What the author leaves automatic is settled here, from public facts alone: how many
questions each respondent is asked, the ε of each, and its randomiser.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Final

from discreet.data.cardkeys import Key
from discreet.data.columns import CardFault, Category, Column, Kind, Labels, WeightRule
from discreet.data.nodereader import NodeReader, normal_text, one_line
from discreet.data.yamltext import MappingNode, Node, ScalarNode, SequenceNode, parse_yaml, read_yaml_text
from discreet.errors import ManifestInvalid, ParameterInvalid
from discreet.guarantees.numbers import exact, floor_to_grid
from discreet.local.assignment import AUTOMATIC, choose_randomiser
from discreet.local.manifest import Manifest, Missing, Mode, Question, WeightScale, domain_problems
from discreet.local.sampling import sample_columns, split_columns

__all__ = ["MANIFEST_KEYS", "parse_manifest", "read_manifest"]

_SURVEY: Final = re.compile(r"[a-z0-9][a-z0-9._-]{0,62}", re.ASCII)
_TITLE: Final = "text, or {en: text, fr: text}"
_LARGEST_VERSION: Final = 10**6

_QUESTION_KEYS: Final = (
    Key("label", "The question as readers see it.", _TITLE),
    Key("kind", "What is answered.", "category | integer | number", required=True),
    Key("categories", "The closed list of codes, in the order of output.", "{code: label} or [code, ...]"),
    Key("bounds", "The lowest and highest number that may be answered.", "[low, high]"),
    Key("step", "The grid numbers are rounded to; 1 for integers.", "number"),
    Key("missing", "Whether a missing answer is protected as one more category, or public.", "category | public"),
    Key("missing_codes", "Codes that mean no answer; an empty cell always does.", "[code, ...]"),
    Key("epsilon", "What the report on this question costs; an equal share of the total when absent.", "number"),
    Key("randomiser", "How the answer is randomised; the one with the smallest variance when automatic.", "name"),
)
_GROUP_KEYS: Final = (
    Key("label", "The name shown to readers.", _TITLE),
    Key("categories", "The closed list of codes, in the order of output.", "{code: label} or [code, ...]", True),
)
_CAP_KEYS: Final = (
    Key("by", "The group that decides the cap.", "group name", required=True),
    Key("values", "The cap of every category of that group.", "{code: number}", required=True),
)
_WEIGHT_KEYS: Final = (
    Key("column", "The column of the design weight, which is public.", "column name", required=True),
    Key("cap", "Weights above it are cut to it.", "number, or {by: group, values: {code: number}}", True, _CAP_KEYS),
    Key("step", "The grid weights are rounded to; 0.01 when absent.", "number"),
    Key("classes", "How many weights are told apart below a cap; all of them when absent.", "integer from 2 to 16"),
)
_RESPONDENT_KEYS: Final = (
    Key("token", "The column of the random token that each respondent was issued.", "column name", required=True),
)

MANIFEST_KEYS: Final = (
    Key("survey", "The name of the survey.", "name of lower-case letters, digits, . _ -", required=True),
    Key("version", "Raised with every change.", "integer from 1", required=True),
    Key("title", "The title shown to readers; the name when absent.", _TITLE),
    Key("epsilon", "What all reports of one respondent may cost together.", "number", required=True),
    Key("mode", "Ask everybody a few questions drawn at random, or everybody all.", "sampling | split"),
    Key("asked", "How many questions a respondent is asked in mode sampling.", "integer"),
    Key("respondent", "How reports are marked.", "random, or {token: column}", keys=_RESPONDENT_KEYS),
    Key("weight", "The public design weight and its cap.", "{column, cap, step, classes}", keys=_WEIGHT_KEYS),
    Key("groups", "Public labels sent in clear, by name.", "{name: {...}}", keys=_GROUP_KEYS, named=True),
    Key("questions", "The questions, by name.", "{name: {...}}", required=True, keys=_QUESTION_KEYS, named=True),
)


def read_manifest(path: Path) -> Manifest:
    """The manifest in a YAML file."""
    return parse_manifest(read_yaml_text(path, sort="manifest", invalid=ManifestInvalid), file=path.name)


def parse_manifest(text: str, *, file: str) -> Manifest:
    """The manifest in a text, or ManifestInvalid with all problems."""
    root = parse_yaml(text, file=file, invalid=ManifestInvalid)
    reader = _ManifestReader()
    manifest = reader.read(root)
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


class _ManifestReader(NodeReader):
    """Reads one manifest: one method per part, in the manifest's order."""

    def read(self, root: Node) -> Manifest | None:
        fields = self.fields(root, MANIFEST_KEYS, "the manifest")
        if fields is None:
            return None
        survey = self.optional(
            fields, "survey", lambda node: self.named(node, "survey", _SURVEY, "lower-case letters, digits, . _ -")
        )
        version = self.optional(fields, "version", lambda node: self._count(node, "version", _LARGEST_VERSION))
        title = self.optional(fields, "title", lambda node: self.labels(node, "title"))
        epsilon = self.optional(fields, "epsilon", lambda node: self._epsilon(node, "epsilon"))
        mode = self.optional(fields, "mode", lambda node: self.choice(node, Mode, "mode")) or Mode.SAMPLING
        asked = self.optional(fields, "asked", lambda node: self._count(node, "asked", _LARGEST_VERSION))
        token = self.optional(fields, "respondent", self._token)
        groups = self.optional(fields, "groups", self._groups) or []
        weight = self.optional(fields, "weight", self._weight)
        drafts = self.optional(fields, "questions", self._questions)
        if epsilon is None or not drafts or self.problems:
            return None
        asked = self._asked(epsilon, mode, asked, drafts)
        questions = [self._settled(draft, epsilon, asked) for draft in drafts]
        if self.problems or self.undecided or survey is None or version is None:
            return None
        try:
            return Manifest(
                survey=survey,
                version=version,
                title=title or Labels(survey, survey),
                epsilon=epsilon,
                mode=mode,
                asked=asked,
                questions=tuple(question for question in questions if question is not None),
                groups=tuple(groups),
                weight=weight,
                token=token,
            )
        except CardFault as fault:
            self.note_at(root, fault.problems)
            return None

    def _count(self, node: Node, what: str, largest: int) -> int | None:
        number = self.number(node, what)
        if number is None:
            return None
        if number % 1 or not 1 <= number <= largest:
            self.note(node.line, f"{what} must be a whole number from 1 to {largest:,}")
            return None
        return int(number)

    def _epsilon(self, node: Node, what: str) -> Decimal | None:
        text = self.text(node, what)
        if text is None:
            return None
        try:
            return exact(text, parameter=what)
        except ParameterInvalid as error:
            self.note(node.line, error.message)
            return None

    def _token(self, node: Node) -> str | None:
        if isinstance(node, ScalarNode):
            if self.text(node, "respondent") not in {None, "random"}:
                self.note(node.line, "respondent must be random, or {token: column} where tokens were issued")
            return None
        fields = self.fields(node, _RESPONDENT_KEYS, "respondent")
        return self.optional(fields or {}, "token", lambda part: self.text(part, "token column"))

    # Shares and randomisers.

    def _asked(self, epsilon: Decimal, mode: Mode, asked: int | None, drafts: list[_Draft]) -> int:
        if asked is not None:
            return asked
        planned = split_columns if mode is Mode.SPLIT else sample_columns
        return planned(epsilon=epsilon, columns=len(drafts)).asked

    def _settled(self, draft: _Draft, total: Decimal, asked: int) -> Question | None:
        share = draft.epsilon or floor_to_grid(Fraction(total) / asked)
        try:
            randomiser = choose_randomiser(draft.column, draft.missing, epsilon=share, name=draft.randomiser)
        except CardFault as fault:
            self.note_at(draft.node, fault.problems)
            return None
        return self.built(draft.node, lambda: Question(draft.column, draft.missing, share, randomiser), line=draft.line)

    # Columns.

    def _questions(self, node: Node) -> list[_Draft] | None:
        if not isinstance(node, MappingNode):
            if not self.is_undecided(node, "questions"):
                self.note(node.line, "questions are a mapping from name to description")
            return None
        found = [self._question(key, value) for key, value in node.entries]
        if not found:
            self.note(node.line, "a manifest has at least one question")
        return [draft for draft in found if draft is not None]

    def _question(self, key: ScalarNode, node: Node) -> _Draft | None:
        where = f"question '{key.text}'"
        fields = self.fields(node, _QUESTION_KEYS, where)
        if fields is None:
            return None
        before = len(self.problems) + len(self.undecided)
        kind = self.optional(fields, "kind", lambda part: self.choice(part, Kind, f"kind of {where}"))
        missing = self.optional(fields, "missing", lambda part: self.choice(part, Missing, f"missing of {where}"))
        codes = self.optional(fields, "missing_codes", lambda part: self.texts(part, f"missing codes of {where}"))
        epsilon = self.optional(fields, "epsilon", lambda part: self._epsilon(part, f"epsilon of {where}"))
        randomiser = self.optional(fields, "randomiser", lambda part: self.text(part, f"randomiser of {where}"))
        step = self.optional(fields, "step", lambda part: self.number(part, f"step of {where}"))
        bounds = self.optional(fields, "bounds", lambda part: self._bounds(part, where))
        label = self.optional(fields, "label", lambda part: self.labels(part, f"label of {where}"))
        categories = self.optional(fields, "categories", lambda part: self._categories(part, where))
        if kind is None or len(self.problems) + len(self.undecided) > before:
            return None
        decided = kind
        column = self.built(
            node,
            lambda: Column(
                name=key.text,
                kind=decided,
                label=label or Labels(key.text, key.text),
                categories=categories or (),
                bounds=bounds,
                step=step,
                missing=codes or (),
            ),
            line=key.line,
        )
        if column is None:
            return None
        missing = missing or Missing.CATEGORY
        self.note_at(node, domain_problems(column, missing))
        return _Draft(node, key.line, column, missing, epsilon, randomiser or AUTOMATIC)

    def _groups(self, node: Node) -> list[Column] | None:
        if not isinstance(node, MappingNode):
            if not self.is_undecided(node, "groups"):
                self.note(node.line, "groups are a mapping from name to description")
            return None
        found = [self._group(key, value) for key, value in node.entries]
        return [group for group in found if group is not None]

    def _group(self, key: ScalarNode, node: Node) -> Column | None:
        where = f"group '{key.text}'"
        fields = self.fields(node, _GROUP_KEYS, where)
        if fields is None:
            return None
        label = self.optional(fields, "label", lambda part: self.labels(part, f"label of {where}"))
        categories = self.optional(fields, "categories", lambda part: self._categories(part, where))
        if categories is None:
            return None
        return self.built(
            node,
            lambda: Column(
                name=key.text,
                kind=Kind.CATEGORY,
                label=label or Labels(key.text, key.text),
                categories=categories,
                public=True,
            ),
            line=key.line,
        )

    def _categories(self, node: Node, where: str) -> tuple[Category, ...] | None:
        what = f"categories of {where}"
        if isinstance(node, SequenceNode):
            codes = self.texts(node, what)
            return tuple(Category(code, Labels(one_line(code), one_line(code))) for code in codes) if codes else None
        if not isinstance(node, MappingNode):
            if not self.is_undecided(node, what):
                self.note(node.line, f"{what} are a list of codes or a mapping from code to label")
            return None
        found = []
        for key, value in node.entries:
            code, label = normal_text(key.text), self.labels(value, f"{what}, label of '{key.text}'")
            if not code:
                self.note(key.line, f"{what}: a code is not empty; an empty cell means no answer")
            elif label is not None:
                found.append(Category(code, label))
        return tuple(found) if len(found) == len(node.entries) and found else None

    def _bounds(self, node: Node, where: str) -> tuple[Decimal, Decimal] | None:
        what = f"bounds of {where}"
        if self.is_undecided(node, what):
            return None
        if not isinstance(node, SequenceNode) or len(node.items) != 2:
            self.note(node.line, f"{what} are a list of two numbers, [low, high]")
            return None
        low, high = (self.number(item, what) for item in node.items)
        return (low, high) if low is not None and high is not None else None

    def _weight(self, node: Node) -> WeightScale | None:
        fields = self.fields(node, _WEIGHT_KEYS, "weight")
        if fields is None:
            return None
        column = self.optional(fields, "column", lambda part: self.text(part, "weight column"))
        step = self.optional(fields, "step", lambda part: self.number(part, "step of the weight")) or Decimal("0.01")
        rule = self.optional(fields, "cap", lambda part: self._cap(part, column or ""))
        classes = self.optional(fields, "classes", lambda part: self._count(part, "classes of the weight", 10**6))
        return None if rule is None or column is None else self.built(node, lambda: WeightScale(rule, step, classes))

    def _cap(self, node: Node, column: str) -> WeightRule | None:
        if not isinstance(node, MappingNode):
            cap = self.number(node, "cap of the weight")
            return None if cap is None else self.built(node, lambda: WeightRule(column, cap=cap))
        fields = self.fields(node, _CAP_KEYS, "cap of the weight")
        by = self.optional(fields or {}, "by", lambda part: self.text(part, "cap group"))
        values = (fields or {}).get("values")
        if by is None or values is None:
            return None
        if not isinstance(values, MappingNode):
            if not self.is_undecided(values, "caps of the weight"):
                self.note(values.line, "caps of the weight are a mapping from code to number")
            return None
        caps = [(normal_text(key.text), self.number(value, f"cap of '{key.text}'")) for key, value in values.entries]
        known = tuple((code, cap) for code, cap in caps if cap is not None)
        return self.built(node, lambda: WeightRule(column, by=by, caps=known)) if len(known) == len(caps) else None
