"""The survey manifest: what is asked, how each answer is randomised, and what a respondent's privacy costs in total.

Everything here is public and the same for every respondent. A manifest is written by a person in YAML
(`manifest_reader`) and handed out as signed JSON (`signing`); both hold the same facts. Nothing is left automatic: the
randomiser and the ε of every question are named.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from fractions import Fraction
from itertools import pairwise
from typing import Final

from discreet.cards import CardFault, Category, Column, ColumnKind, WeightRule
from discreet.catalogue import Phrase, say
from discreet.errors import UnknownName
from discreet.guarantees import LocalDP
from discreet.guarantees import text as plain_text
from discreet.results import Labels

__all__ = [
    "FEWEST_CLASSES",
    "LARGEST_QUESTIONS",
    "LARGEST_WEIGHT",
    "MOST_CLASSES",
    "NO_ANSWER",
    "Manifest",
    "Missing",
    "Mode",
    "SurveyQuestion",
    "WeightScale",
    "domain_problems",
    "manifest_problems",
]

LARGEST_QUESTIONS: Final = 200
FEWEST_CLASSES: Final = 2
MOST_CLASSES: Final = 16
LARGEST_WEIGHT: Final = 1 << 24  # in steps: the squares of many thousand such weights still add up exactly
NO_ANSWER: Final = Category("", Phrase("No answer"))


class Mode(StrEnum):
    """How a respondent's total ε is shared among the questions."""

    SAMPLING = "sampling"
    SPLIT = "split"


class Missing(StrEnum):
    """Whether a missing answer is protected like any other, or may be seen."""

    CATEGORY = "category"
    PUBLIC = "public"


@dataclass(frozen=True, slots=True)
class SurveyQuestion:
    """One question: its domain, and the randomiser and ε of the report that answers it."""

    column: Column
    missing: Missing
    epsilon: Decimal
    randomiser: str

    def __post_init__(self) -> None:
        problems = list(domain_problems(self.column, self.missing))
        if self.epsilon <= 0:
            problems.append(("epsilon", say("epsilon of question '{name}' must be positive", name=self.column.name)))
        if problems:
            raise CardFault(problems)

    @property
    def name(self) -> str:
        return self.column.name

    @property
    def numeric(self) -> bool:
        return self.column.numeric

    @property
    def answers(self) -> tuple[Category, ...]:
        """What may be answered, in the order of positions: the categories, and the missing answer where it is one."""
        protected = self.missing is Missing.CATEGORY and not self.numeric
        return (*self.column.categories, NO_ANSWER) if protected else self.column.categories

    @property
    def grid(self) -> int:
        """The last position of a number, counted in steps from its lower bound."""
        return self.column.high_units - self.column.low_units


@dataclass(frozen=True, slots=True)
class WeightScale:
    """The public design weight: its column, its step, where it is cut, and how many classes are told apart.

    With classes a weight is sent as its cap or as a half, a quarter, … of it: as one of the two next to it, drawn so
    that it is right on average. Without, it is sent to the step.
    """

    rule: WeightRule
    step: Decimal
    classes: int | None = None

    def __post_init__(self) -> None:
        if self.step <= 0:
            raise CardFault([("step", say("step of the weight must be positive"))])
        off = [cap for cap in self.rule.every_cap if Fraction(cap) % Fraction(self.step)]
        if off:
            raise CardFault([("cap", say("cap {cap} is not a multiple of the weight's step", cap=plain_text(off[0])))])
        if self.largest_steps > LARGEST_WEIGHT:
            fault = say(
                "cap {cap} is more than {most:,} steps; take a coarser step",
                cap=plain_text(self.rule.largest),
                most=LARGEST_WEIGHT,
            )
            raise CardFault([("cap", fault)])
        if self.classes is not None and not FEWEST_CLASSES <= self.classes <= MOST_CLASSES:
            fault = say(
                "classes of the weight are from {fewest} to {most}; received {given}",
                fewest=FEWEST_CLASSES,
                most=MOST_CLASSES,
                given=self.classes,
            )
            raise CardFault([("classes", fault)])

    def class_steps(self, cap: int) -> tuple[int, ...]:
        """The weights that may be sent below a cap, in steps, rising; none where weights are sent as they are."""
        halvings = range(self.classes or 0)
        return tuple(sorted({max(1, round(Fraction(cap, 2**index))) for index in halvings}))

    @property
    def rounding(self) -> float:
        """How much drawing a class adds to the square of a weight on average, at most, as a part of what is sent."""
        caps = {int(Fraction(cap) / Fraction(self.step)) for cap in self.rule.every_cap}
        pairs = [pair for cap in caps for pair in pairwise(self.class_steps(cap))]
        return max((((high - low) / (high + low)) ** 2 for low, high in pairs), default=0.0)

    def cap_steps(self, code: str | None) -> int:
        """The cap of a category, in steps."""
        return int(Fraction(self.rule.cap_for(code)) / Fraction(self.step))

    @property
    def largest_steps(self) -> int:
        return int(Fraction(self.rule.largest) / Fraction(self.step))


@dataclass(frozen=True)
class Manifest:
    """One survey as it is handed to respondents. `token` is the column of the tokens; None means random marks."""

    survey: str
    version: int
    title: Labels
    epsilon: Decimal
    mode: Mode
    asked: int
    questions: tuple[SurveyQuestion, ...]
    groups: tuple[Column, ...] = ()
    weight: WeightScale | None = None
    token: str | None = None

    def __post_init__(self) -> None:
        problems = list(manifest_problems(self))
        if problems:
            raise CardFault(problems)

    @property
    def inclusion(self) -> Fraction:
        """The chance that a respondent is asked a given question; it does not depend on any answer."""
        return Fraction(self.asked, len(self.questions))

    @property
    def spent(self) -> Fraction:
        """The largest total ε that one respondent's reports can cost."""
        dearest = sorted((Fraction(question.epsilon) for question in self.questions), reverse=True)
        return sum(dearest[: self.asked], Fraction(0))

    def guarantee(self) -> LocalDP:
        """What a respondent is promised: all of their reports together."""
        return LocalDP(epsilon=self.epsilon)

    def question(self, name: str) -> SurveyQuestion:
        known = {question.name: question for question in self.questions}
        if name not in known:
            raise UnknownName(sort=Phrase("Question"), name=name, where=say("'{name}'", name=self.survey), known=known)
        return known[name]

    def group(self, name: str) -> Column:
        known = {group.name: group for group in self.groups}
        if name not in known:
            raise UnknownName(sort=Phrase("Group"), name=name, where=say("'{name}'", name=self.survey), known=known)
        return known[name]

    def to_content(self) -> dict[str, object]:
        """The facts as JSON; lists keep the order that positions in reports refer to."""
        content: dict[str, object] = {
            "survey": self.survey,
            "version": self.version,
            "title": _label(self.title),
            "epsilon": plain_text(self.epsilon),
            "mode": self.mode.value,
            "asked": self.asked,
            "respondent": "random" if self.token is None else {"token": self.token},
            "questions": [_question_content(question) for question in self.questions],
        }
        if self.groups:
            content["groups"] = [
                {"name": group.name, "label": _label(group.label), "categories": _categories(group)}
                for group in self.groups
            ]
        if self.weight is not None:
            content["weight"] = _weight_content(self.weight)
        return content


def manifest_problems(manifest: Manifest) -> Iterator[tuple[str, str]]:
    """Every rule that ties the parts of a manifest together, each with the key at fault."""
    count = len(manifest.questions)
    if not 1 <= count <= LARGEST_QUESTIONS:
        yield "questions", say("a manifest has from 1 to {most} questions", most=LARGEST_QUESTIONS)
        return
    if not 1 <= manifest.asked <= count:
        fault = say(
            "asked must lie between 1 and the number of questions, {most}; received {given}",
            most=count,
            given=manifest.asked,
        )
        yield "asked", fault
        return
    if manifest.mode is Mode.SPLIT and manifest.asked != count:
        yield "asked", say("mode: split asks every question; asked must be {questions} or left out", questions=count)
    if manifest.spent > Fraction(manifest.epsilon):
        fault = say(
            "the questions of one respondent cost more than the total epsilon {epsilon}; lower the epsilon of a "
            "question or raise the total",
            epsilon=plain_text(manifest.epsilon),
        )
        yield "epsilon", fault
    names = [*(question.name for question in manifest.questions), *(group.name for group in manifest.groups)]
    names += [name for name in (manifest.token, manifest.weight and manifest.weight.rule.column) if name]
    lower = [name.lower() for name in names]
    for twice in sorted({name for name in names if lower.count(name.lower()) > 1}):
        fault = say("'{name}' names two things; questions, groups, weight and token have a column each", name=twice)
        yield "", fault
    if manifest.weight is not None and manifest.weight.rule.by is not None:
        yield from _cap_problems(manifest.weight.rule, {group.name: group for group in manifest.groups})


def _cap_problems(rule: WeightRule, groups: Mapping[str, Column]) -> Iterator[tuple[str, str]]:
    if rule.by is None or rule.by not in groups:
        yield "weight.cap.by", say("cap column '{name}' is not among the groups", name=rule.by)
        return
    codes = [category.code for category in groups[rule.by].categories]
    if [code for code in codes if code not in dict(rule.caps)] or len(rule.caps) != len(codes):
        fault = say("caps of the weight need one number for every category of '{name}', and no other", name=rule.by)
        yield "weight.cap.values", fault


def domain_problems(column: Column, missing: Missing) -> Iterator[tuple[str, str]]:
    """Why a column cannot be a question, each with the key at fault."""
    if column.kind not in {ColumnKind.CATEGORY, ColumnKind.INTEGER, ColumnKind.NUMBER}:
        yield "kind", say("question '{name}' must be of kind category, integer or number", name=column.name)
        return
    if column.numeric and column.bounds is None:
        fault = say("question '{name}' needs bounds; a number without bounds cannot be protected", name=column.name)
        yield "bounds", fault
    if not column.numeric and len(column.categories) + (missing is Missing.CATEGORY) < 2:
        yield "categories", say("question '{name}' needs at least two possible answers", name=column.name)


def _question_content(question: SurveyQuestion) -> dict[str, object]:
    column = question.column
    content: dict[str, object] = {
        "name": column.name,
        "label": _label(column.label),
        "kind": column.kind.value,
        "missing": question.missing.value,
        "epsilon": plain_text(question.epsilon),
        "randomiser": question.randomiser,
    }
    if column.missing:
        content["missing_codes"] = list(column.missing)
    if column.numeric:
        assert column.bounds is not None
        assert column.step is not None
        content["bounds"] = [plain_text(bound) for bound in column.bounds]
        content["step"] = plain_text(column.step)
    else:
        content["categories"] = _categories(column)
    return content


def _weight_content(weight: WeightScale) -> dict[str, object]:
    rule = weight.rule
    if rule.by is None:
        cap: object = plain_text(rule.largest)
    else:
        cap = {"by": rule.by, "values": {code: plain_text(value) for code, value in rule.caps}}
    content = {"column": rule.column, "cap": cap, "step": plain_text(weight.step)}
    return content if weight.classes is None else {**content, "classes": weight.classes}


def _categories(column: Column) -> list[dict[str, object]]:
    return [{"code": category.code, "label": _label(category.label)} for category in column.categories]


def _label(labels: Labels) -> dict[str, str]:
    return {"en": labels.en, "fr": labels.fr}
