"""The language of an agreement: every key, what it takes, what it means, and what holds where it is absent."""

from __future__ import annotations

from typing import Final

from discreet.cards import (
    CHOSEN_NAME,
    COLUMN_NAME,
    ChoiceType,
    FieldsType,
    FileSchema,
    FlagType,
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
)
from discreet.catalogue import Phrase, say
from discreet.linkage.tariff import LinkedKind

__all__ = ["AGREEMENT", "GROUPS", "MOST_ANSWERED", "MOST_PEOPLE"]

GROUPS: Final = "groups"
"""What stands among the kinds where samples may come in masked groups."""

MOST_PEOPLE: Final = 10**9
MOST_ANSWERED: Final = 200
"""Cells of one answer, whose envelope has one size."""

_NAME: Final = TextType(Phrase("lower-case letters, digits, . _ -"), "[a-z0-9][a-z0-9._-]{0,62}")
_CONDITION: Final = TextType(Phrase("condition in SQL"))
_DAY: Final = TextType(Phrase("day such as 2027-12-31"), r"\d{4}-\d\d-\d\d")

# fmt: off
_SIDE: Final = FieldsType((
    SchemaKey("dataset", _NAME, required=True, example="registry",
        meaning=Phrase("The dataset in that office's workspace.")),
    SchemaKey("id", COLUMN_NAME, required=True, example="person",
        meaning=Phrase("The column by which its rows are linked, of kind id.")),
), called=call_by_place)

_POLICY: Final = FieldsType((
    SchemaKey("belief", ParameterType(below=1), required=True, example="0.8",
        meaning=Phrase("The most that an observer may come to believe about a unit's property, from all answers "
                       "together.")),
    SchemaKey("prior", ParameterType(below=1), default="0.5", example="0.5",
        meaning=Phrase("What the observer believed before.")),
))

_UNIT: Final = FieldsType((
    SchemaKey("map", TextType(Phrase("file, or its SHA-256")), required=True,
        example="households.csv", called=Phrase("map of the unit"),
        meaning=Phrase("The public file with the columns id and unit. The agreement keeps its SHA-256.")),
    SchemaKey("members", WholeType(1, 10_000), required=True, example="8",
        called=Phrase("members of the unit"),
        meaning=Phrase("The most ids that one unit has in the map.")),
))

_WEIGHT: Final = FieldsType((
    SchemaKey("column", COLUMN_NAME, required=True, example="weight", called=Phrase("weight column"),
        meaning=Phrase("The registry's weight, for a property that was asked of a part of the people.")),
    SchemaKey("most", NumberType(positive=True), required=True, example="5", called=Phrase("largest weight"),
        meaning=Phrase("Weights above it are cut to it, and noise grows with it.")),
    SchemaKey("step", NumberType(positive=True), default="1", example="1", called=Phrase("step of the weight"),
        meaning=Phrase("The grid weights are rounded to.")),
))

_VALUE: Final = FieldsType((
    SchemaKey("label", LabelType(), example="{en: French, fr: Français}",
        meaning=Phrase("The name shown to readers. The value's when absent.")),
    SchemaKey("where", _CONDITION, required=True, example="first_official = 'French'",
        meaning=Phrase("Whom it is true of: a condition over the registry's card.")),
), called=call_by_place)

_PROPERTY: Final = FieldsType((
    SchemaKey("label", LabelType(), example="{en: French and not English, fr: Français et non anglais}",
        meaning=Phrase("The name shown to readers. The property's when absent.")),
    SchemaKey("where", _CONDITION, example="french = 'yes' AND english = 'no'",
        meaning=Phrase("Whom it is true of: a condition over the registry's card. It, or `values`, must be there.")),
    SchemaKey("values", MappingType(_VALUE, lambda name, _: say("value '{name}'", name=name), names=CHOSEN_NAME),
        meaning=Phrase("The values of a property that has several, for histograms.")),
    SchemaKey("answers", WholeType(1, MOST_ANSWERED), default="1", example="1",
        meaning=Phrase("How many of the values one person has at most. With 1 they exclude each other, and the "
                       "first counts.")),
    SchemaKey("weight", _WEIGHT,
        meaning=Phrase("Count weights in place of people.")),
), called=call_by_place)

_CLOSING: Final = FieldsType((
    SchemaKey("share", ParameterType(below=1), default="0.05", example="0.05",
        called=Phrase("share of the closing rule"),
        meaning=Phrase("The service closes when about this share of the people have no room left in their account.")),
    SchemaKey("epsilon", ParameterType(), default="0.1", example="0.1",
        called=Phrase("epsilon of the closing rule"),
        meaning=Phrase("What the closing of the service may reveal, once.")),
))

AGREEMENT: Final = FileSchema(
    "agreement",
    Phrase("the agreement"),
    Phrase("Agreement on linked counts"),
    Phrase("What three offices agree on before anything is counted between them: properties, unit, policy, prices, "
           "quota and end. All three sign it."),
    FieldsType((
        SchemaKey("study", _NAME, required=True, example="francophones-2026",
            meaning=Phrase("The name of the study.")),
        SchemaKey("title", LabelType(), example="{en: Care of Francophones, fr: Soins des francophones}",
            meaning=Phrase("The title shown to readers. The name when absent.")),
        SchemaKey("holder", _SIDE, required=True,
            meaning=Phrase("Whose criteria choose the people.")),
        SchemaKey("registry", _SIDE, required=True,
            meaning=Phrase("Who knows the properties.")),
        SchemaKey("ids", ChoiceType(("integer", "text")), required=True, example="integer",
            called=Phrase("type of the ids"),
            meaning=Phrase("How ids are compared. As integers, 007 and 7 are one; as text they are two.")),
        SchemaKey("unit", FormsType((ChoiceType(("person", "household")), _UNIT),
                Phrase("must be person, household (ids are addresses), or {{map: FILE, members: N}} for households of "
                       "people")),
            default="person", example="person",
            meaning=Phrase("Whom the accounts protect. `person` and `household` are one id each; with a map, a "
                           "household has the ids that the map gives it.")),
        SchemaKey("people", WholeType(1, MOST_PEOPLE), required=True, example="10000000",
            meaning=Phrase("How many units there are, as a public number. It is never counted.")),
        SchemaKey("policy", _POLICY, required=True,
            meaning=Phrase("How far belief about one unit may go.")),
        SchemaKey("scales", ListType(WholeType(1, 65_535), least=1, distinct=Phrase("must each be named once"),
                each=Phrase("scale")),
            required=True, example="[10, 20, 30, 50, 100, 300]",
            meaning=Phrase("The scales of noise that may be asked for.")),
        SchemaKey("kinds", ListType(ChoiceType((*LinkedKind, GROUPS)), least=1,
                distinct=Phrase("must each be named once")),
            required=True, example="[count, count-and-size, histogram, groups]",
            meaning=Phrase("What may be asked. With `groups`, samples may come in groups whose meaning the registry "
                           "is not told.")),
        SchemaKey("properties", MappingType(_PROPERTY, lambda name, _: say("property '{name}'", name=name),
                names=CHOSEN_NAME, least=1, empty=Phrase("an agreement has at least one property")), required=True,
            meaning=Phrase("What may be counted, by name.")),
        SchemaKey("quota", WholeType(1, MOST_PEOPLE), required=True, example="10000",
            meaning=Phrase("The most that all requests may cost together, in parts of ε. A count costs the common "
                           "multiple of the scales, divided by its scale.")),
        SchemaKey("largest_sample", WholeType(1, MOST_PEOPLE), required=True, example="10000000",
            meaning=Phrase("The most ids in a sample. At least as many as the holder can have, so that none is ever "
                           "too large.")),
        SchemaKey("linked_share", ParameterType(below=1), example="0.85",
            meaning=Phrase("The share of the holder's people whom the registry knows, where that is public. Answers "
                           "are scaled by it.")),
        SchemaKey("closing", _CLOSING,
            meaning=Phrase("When the service ends by itself. When absent, the defaults of its keys hold.")),
        SchemaKey("expires", _DAY, required=True, example="2027-12-31",
            meaning=Phrase("The last day on which it holds, in UTC.")),
        SchemaKey("slots", FlagType(), default="true", example="true",
            meaning=Phrase("Over a network, answers leave at times fixed by when a request was made. `false` is for "
                           "trusted networks.")),
    )),
)
# fmt: on
