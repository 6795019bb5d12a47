"""The language of a survey manifest: every key, what it takes, what it means, and what holds where it is absent."""

from __future__ import annotations

from typing import Final

from discreet.cards import (
    BOUNDS_PAIR,
    CAPS_BY_CODE,
    CATEGORIES,
    CHOSEN_NAME,
    COLUMN_NAME,
    ChoiceType,
    CodeType,
    ColumnKind,
    FieldsType,
    FileSchema,
    FormsType,
    LabelType,
    ListType,
    MappingType,
    NumberType,
    ParameterType,
    SchemaKey,
    TextType,
    WholeType,
    call_by_place,
    call_missing_codes,
)
from discreet.catalogue import Phrase, say
from discreet.collect.reporting.assignment import AUTOMATIC, RANDOMISER_NAMES
from discreet.collect.reporting.manifest import FEWEST_CLASSES, MOST_CLASSES, Missing, Mode

__all__ = ["MANIFEST"]

_LARGEST_COUNT: Final = 10**6
_NUMBERS: Final = (ColumnKind.INTEGER, ColumnKind.NUMBER)
_SURVEY: Final = TextType(Phrase("lower-case letters, digits, . _ -"), "[a-z0-9][a-z0-9._-]{0,62}")
_GROUP_NAME: Final = TextType(Phrase("group name"))
_RANDOMISER: Final = TextType(Phrase("name"), known=(AUTOMATIC, *RANDOMISER_NAMES))

# fmt: off
_QUESTION: Final = FieldsType((
    SchemaKey("label", LabelType(), example='{en: "Do you smoke?", fr: "Fumez-vous ?"}',
        meaning=Phrase("The question as readers see it. Its name when absent.")),
    SchemaKey("kind", ChoiceType((ColumnKind.CATEGORY, *_NUMBERS)), required=True, example="category",
        meaning=Phrase("What kind of answer is given.")),
    SchemaKey("categories", CATEGORIES, example="{1: Daily, 2: Occasionally, 3: Not at all}",
        goes_with=(ColumnKind.CATEGORY,), needed_with=(ColumnKind.CATEGORY,),
        meaning=Phrase("Every answer there can be, by code, in the order of output.")),
    SchemaKey("bounds", BOUNDS_PAIR, example="[1.2, 2.1]", goes_with=_NUMBERS, needed_with=_NUMBERS,
        meaning=Phrase("The lowest and highest number that may be answered.")),
    SchemaKey("step", NumberType(positive=True), example="0.001", goes_with=_NUMBERS,
        meaning=Phrase("The grid numbers are rounded to; 1 for integers.")),
    SchemaKey("missing", ChoiceType(tuple(Missing)), default=Missing.CATEGORY, example="category",
        meaning=Phrase("A missing answer is protected like any other, or public. With `public` everybody sees who "
                       "gave none.")),
    SchemaKey("missing_codes", ListType(CodeType()), example="[7, 8, 9]", called=call_missing_codes,
        meaning=Phrase("Codes that mean no answer; an empty cell always does.")),
    SchemaKey("epsilon", ParameterType(), example="1",
        meaning=Phrase("What the report on this question costs. An equal share of the total when absent.")),
    SchemaKey("randomiser", _RANDOMISER, default=AUTOMATIC, example="automatic",
        meaning=Phrase("How the answer is randomised; the one with the smallest variance when automatic. Those that "
                       "exist for comparison only are refused.")),
), by="kind", called=call_by_place)

_GROUP: Final = FieldsType((
    SchemaKey("label", LabelType(), example="Province",
        meaning=Phrase("The name shown to readers. The group's when absent.")),
    SchemaKey("categories", CATEGORIES, required=True, example="{10: Newfoundland and Labrador, 24: Quebec}",
        meaning=Phrase("Every code there can be, in the order of output.")),
), called=call_by_place)

_CAP: Final = FieldsType((
    SchemaKey("by", _GROUP_NAME, required=True, example="province", called=Phrase("cap group"),
        meaning=Phrase("The group that decides the cap.")),
    SchemaKey("values", CAPS_BY_CODE, required=True, example="{10: 1500, 24: 3000}",
        called=Phrase("caps of the weight"),
        meaning=Phrase("The cap of every category of that group.")),
))

_WEIGHT: Final = FieldsType((
    SchemaKey("column", COLUMN_NAME, required=True, example="weight", called=Phrase("weight column"),
        meaning=Phrase("The column of the design weight, which is public.")),
    SchemaKey("cap", FormsType((NumberType(positive=True), _CAP)), required=True, example="3000",
        called=Phrase("cap of the weight"),
        meaning=Phrase("Weights above it are cut to it. It is at most 16,777,216 steps.")),
    SchemaKey("step", NumberType(positive=True), default="0.01", example="0.01", called=Phrase("step of the weight"),
        meaning=Phrase("The grid weights are rounded to.")),
    SchemaKey("classes", WholeType(FEWEST_CLASSES, MOST_CLASSES), example="8",
        called=Phrase("classes of the weight"),
        meaning=Phrase("How many weights are told apart: the cap, a half, a quarter, … of it, so that each is shared "
                       "by many respondents. All of them when absent.")),
))

_RESPONDENT: Final = FieldsType((
    SchemaKey("token", COLUMN_NAME, required=True, example="access_code", called=Phrase("token column"),
        meaning=Phrase("The column of the random token that each respondent was issued.")),
))

MANIFEST: Final = FileSchema(
    "manifest",
    Phrase("the manifest"),
    Phrase("Survey manifest"),
    Phrase("What a survey asks, how each answer is randomised before it leaves the respondent, and what a respondent's "
           "privacy costs in total. It is signed before anybody answers."),
    FieldsType((
        SchemaKey("survey", _SURVEY, required=True, example="health-2025",
            meaning=Phrase("The name of the survey.")),
        SchemaKey("version", WholeType(1, _LARGEST_COUNT), required=True, example="1",
            meaning=Phrase("Raise it with every change. Reports of another version are refused.")),
        SchemaKey("title", LabelType(), example="{en: Health survey, fr: Enquête sur la santé}",
            meaning=Phrase("The title shown to readers. The name when absent.")),
        SchemaKey("epsilon", ParameterType(), required=True, example="4",
            meaning=Phrase("What all reports of one respondent cost together.")),
        SchemaKey("mode", ChoiceType(tuple(Mode)), default=Mode.SAMPLING, example="sampling",
            meaning=Phrase("A few questions drawn for each respondent, or all of them. With `sampling` each "
                           "question gets more of ε, which is usually several times more accurate.")),
        SchemaKey("asked", WholeType(1, _LARGEST_COUNT), example="2",
            meaning=Phrase("How many questions a respondent is asked in mode sampling. When absent, one for every "
                           "2.5 of ε, at least one.")),
        SchemaKey("respondent", FormsType((ChoiceType(("random",)), _RESPONDENT),
                Phrase("must be random, or {{token: column}} where tokens were issued")), default="random",
            example="{token: access_code}",
            meaning=Phrase("How reports are marked. `random` marks are drawn; with {{token: column}} each "
                           "respondent was issued a random token.")),
        SchemaKey("weight", _WEIGHT,
            meaning=Phrase("The public design weight, sent in clear and cut at its cap.")),
        SchemaKey("groups", MappingType(_GROUP, lambda name, _: say("group '{name}'", name=name), names=CHOSEN_NAME),
            meaning=Phrase("Public labels sent in clear with every report. Estimates can be told apart by them.")),
        SchemaKey("questions", MappingType(_QUESTION, lambda name, _: say("question '{name}'", name=name),
                names=CHOSEN_NAME, least=1, empty=Phrase("a manifest has at least one question")), required=True,
            meaning=Phrase("The questions, by name.")),
    )),
)
# fmt: on
