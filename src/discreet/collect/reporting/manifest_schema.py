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
)
from discreet.collect.reporting.assignment import AUTOMATIC, RANDOMISER_NAMES
from discreet.collect.reporting.manifest import FEWEST_CLASSES, MOST_CLASSES, Missing, Mode
from discreet.results import Labels

__all__ = ["MANIFEST"]

_LARGEST_COUNT: Final = 10**6
_NUMBERS: Final = (ColumnKind.INTEGER, ColumnKind.NUMBER)
_SURVEY: Final = TextType(
    Labels("lower-case letters, digits, . _ -", "lettres minuscules, chiffres, . _ -"), "[a-z0-9][a-z0-9._-]{0,62}"
)
_GROUP_NAME: Final = TextType(Labels("group name", "nom de groupe"))
_RANDOMISER: Final = TextType(Labels("name", "nom"), known=(AUTOMATIC, *RANDOMISER_NAMES))

# fmt: off
_QUESTION: Final = FieldsType((
    SchemaKey("label", LabelType(), example='{en: "Do you smoke?", fr: "Fumez-vous ?"}',
        en="The question as readers see it. Its name when absent.",
        fr="La question telle que la voient les lecteurs. Son nom par défaut."),
    SchemaKey("kind", ChoiceType((ColumnKind.CATEGORY, *_NUMBERS)), required=True, example="category",
        en="What is answered.",
        fr="Ce qui est répondu."),
    SchemaKey("categories", CATEGORIES, example="{1: Daily, 2: Occasionally, 3: Not at all}",
        goes_with=(ColumnKind.CATEGORY,), needed_with=(ColumnKind.CATEGORY,),
        en="Every answer there can be, by code, in the order of output.",
        fr="Toutes les réponses possibles, par code, dans l'ordre de diffusion."),
    SchemaKey("bounds", BOUNDS_PAIR, example="[1.2, 2.1]", goes_with=_NUMBERS, needed_with=_NUMBERS,
        en="The lowest and highest number that may be answered.",
        fr="Le plus petit et le plus grand nombre que l'on peut répondre."),
    SchemaKey("step", NumberType(positive=True), example="0.001", goes_with=_NUMBERS,
        en="The grid numbers are rounded to; 1 for integers.",
        fr="La grille sur laquelle les nombres sont arrondis ; 1 pour les entiers."),
    SchemaKey("missing", ChoiceType(tuple(Missing)), default=Missing.CATEGORY, example="category",
        en="A missing answer is protected like any other, or public. With `public` everybody sees who gave none.",
        fr="Une absence de réponse est protégée comme une réponse, ou publique. Avec `public`, chacun voit qui n'a pas "
           "répondu."),
    SchemaKey("missing_codes", ListType(CodeType()), example="[7, 8, 9]", called="missing codes of {where}",
        en="Codes that mean no answer; an empty cell always does.",
        fr="Les codes qui signifient une absence de réponse ; une cellule vide la signifie toujours."),
    SchemaKey("epsilon", ParameterType(), example="1",
        en="What the report on this question costs. An equal share of the total when absent.",
        fr="Ce que coûte le rapport sur cette question. Une part égale du total par défaut."),
    SchemaKey("randomiser", _RANDOMISER, default=AUTOMATIC, example="automatic",
        en="How the answer is randomised; the one with the smallest variance when automatic. Those that exist for "
           "comparison only are refused.",
        fr="Comment la réponse est rendue aléatoire ; avec automatic, par le mécanisme de plus petite variance. Ceux "
           "qui ne servent qu'à comparer sont refusés."),
), by="kind", called="{key} of {where}")

_GROUP: Final = FieldsType((
    SchemaKey("label", LabelType(), example="Province",
        en="The name shown to readers. The group's when absent.",
        fr="Le nom montré aux lecteurs. Celui du groupe par défaut."),
    SchemaKey("categories", CATEGORIES, required=True, example="{10: Newfoundland and Labrador, 24: Quebec}",
        en="Every code there can be, in the order of output.",
        fr="Tous les codes possibles, dans l'ordre de diffusion."),
), called="{key} of {where}")

_CAP: Final = FieldsType((
    SchemaKey("by", _GROUP_NAME, required=True, example="province", called="cap group",
        en="The group that decides the cap.",
        fr="Le groupe qui décide du plafond."),
    SchemaKey("values", CAPS_BY_CODE, required=True, example="{10: 1500, 24: 3000}", called="caps of the weight",
        en="The cap of every category of that group.",
        fr="Le plafond de chaque catégorie de ce groupe."),
))

_WEIGHT: Final = FieldsType((
    SchemaKey("column", COLUMN_NAME, required=True, example="weight", called="weight column",
        en="The column of the design weight, which is public.",
        fr="La colonne du poids de sondage, qui est public."),
    SchemaKey("cap", FormsType((NumberType(positive=True), _CAP)), required=True, example="3000",
        called="cap of the weight",
        en="Weights above it are cut to it. It is at most 16,777,216 steps.",
        fr="Les poids supérieurs y sont ramenés. Il est de 16 777 216 pas au plus."),
    SchemaKey("step", NumberType(positive=True), default="0.01", example="0.01", called="step of the weight",
        en="The grid weights are rounded to.",
        fr="La grille sur laquelle les poids sont arrondis."),
    SchemaKey("classes", WholeType(FEWEST_CLASSES, MOST_CLASSES), example="8", called="classes of the weight",
        en="How many weights are told apart: the cap, a half, a quarter, … of it, so that many share each. All of them "
           "when absent.",
        fr="Combien de poids sont distingués : le plafond, sa moitié, son quart, …, si bien que beaucoup partagent "
           "chacun. Tous par défaut."),
))

_RESPONDENT: Final = FieldsType((
    SchemaKey("token", COLUMN_NAME, required=True, example="access_code", called="token column",
        en="The column of the random token that each respondent was issued.",
        fr="La colonne du jeton aléatoire remis à chaque répondant."),
))

MANIFEST: Final = FileSchema(
    "manifest", "the manifest",
    Labels("Survey manifest", "Manifeste d'enquête"),
    Labels(
        "What a survey asks, how each answer is randomised before it leaves the respondent, and what a respondent's "
        "privacy costs in total. It is signed before anybody answers.",
        "Ce qu'une enquête demande, comment chaque réponse est rendue aléatoire avant de quitter le répondant, et ce "
        "que coûte en tout la confidentialité d'un répondant. Il est signé avant que quiconque ne réponde.",
    ),
    FieldsType((
        SchemaKey("survey", _SURVEY, required=True, example="health-2025",
            en="The name of the survey.",
            fr="Le nom de l'enquête."),
        SchemaKey("version", WholeType(1, _LARGEST_COUNT), required=True, example="1",
            en="Raise it with every change. Reports of another version are refused.",
            fr="À augmenter à chaque changement. Les rapports d'une autre version sont refusés."),
        SchemaKey("title", LabelType(), example="{en: Health survey, fr: Enquête sur la santé}",
            en="The title shown to readers. The name when absent.",
            fr="Le titre montré aux lecteurs. Le nom par défaut."),
        SchemaKey("epsilon", ParameterType(), required=True, example="4",
            en="What all reports of one respondent cost together.",
            fr="Ce que coûtent ensemble tous les rapports d'un répondant."),
        SchemaKey("mode", ChoiceType(tuple(Mode)), default=Mode.SAMPLING, example="sampling",
            en="A few questions drawn for each respondent, or all of them. With `sampling` each question gets more of "
               "ε, which is usually several times more accurate.",
            fr="Quelques questions tirées au sort pour chaque répondant, ou toutes. Avec `sampling`, chaque question "
               "reçoit davantage de ε, ce qui est d'ordinaire plusieurs fois plus précis."),
        SchemaKey("asked", WholeType(1, _LARGEST_COUNT), example="2",
            en="How many questions a respondent is asked in mode sampling. When absent, one for every 2.5 of ε, at "
               "least one.",
            fr="Combien de questions sont posées à un répondant en mode sampling. Par défaut, une par 2,5 de ε, au "
               "moins une."),
        SchemaKey("respondent", FormsType((ChoiceType(("random",)), _RESPONDENT),
                "must be random, or {token: column} where tokens were issued"), default="random",
            example="{token: access_code}",
            en="How reports are marked. `random` marks are drawn; with {token: column} each respondent was issued a "
               "random token.",
            fr="Comment les rapports sont marqués. Avec `random`, les marques sont tirées au sort ; avec {token: "
               "colonne}, chaque répondant a reçu un jeton aléatoire."),
        SchemaKey("weight", _WEIGHT,
            en="The public design weight, sent in clear and cut at its cap.",
            fr="Le poids de sondage public, envoyé en clair et rogné à son plafond."),
        SchemaKey("groups", MappingType(_GROUP, "group '{name}'", names=CHOSEN_NAME),
            en="Public labels sent in clear with every report. Estimates can be told apart by them.",
            fr="Des indications publiques envoyées en clair avec chaque rapport. Elles distinguent les estimations."),
        SchemaKey("questions", MappingType(_QUESTION, "question '{name}'", names=CHOSEN_NAME, least=1,
                empty="a manifest has at least one question"), required=True,
            en="The questions, by name.",
            fr="Les questions, par nom."),
    )),
)
# fmt: on
