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
)
from discreet.linkage.tariff import LinkedKind
from discreet.results import Labels

__all__ = ["AGREEMENT", "GROUPS", "MOST_ANSWERED", "MOST_PEOPLE"]

GROUPS: Final = "groups"
"""What stands among the kinds where samples may come in masked groups."""

MOST_PEOPLE: Final = 10**9
MOST_ANSWERED: Final = 200
"""Cells of one answer, whose envelope has one size."""

_NAME: Final = TextType(
    Labels("lower-case letters, digits, . _ -", "lettres minuscules, chiffres, . _ -"), "[a-z0-9][a-z0-9._-]{0,62}"
)
_CONDITION: Final = TextType(Labels("condition in SQL", "condition en SQL"))
_DAY: Final = TextType(Labels("day such as 2027-12-31", "jour tel que 2027-12-31"), r"\d{4}-\d\d-\d\d")

# fmt: off
_SIDE: Final = FieldsType((
    SchemaKey("dataset", _NAME, required=True, example="registry",
        en="The dataset in that office's workspace.",
        fr="Le jeu de données dans l'espace de travail de ce bureau."),
    SchemaKey("id", COLUMN_NAME, required=True, example="person",
        en="The column by which its rows are linked, of kind id.",
        fr="La colonne par laquelle ses lignes sont reliées, de type id."),
), called="{key} of {where}")

_POLICY: Final = FieldsType((
    SchemaKey("belief", ParameterType(below=1), required=True, example="0.8",
        en="The most that an observer may come to believe about a unit's property, from all answers together.",
        fr="La plus forte conviction qu'un observateur puisse acquérir sur une unité, par toutes les réponses."),
    SchemaKey("prior", ParameterType(below=1), default="0.5", example="0.5",
        en="What the observer believed before.",
        fr="Ce que l'observateur croyait auparavant."),
))

_UNIT: Final = FieldsType((
    SchemaKey("map", TextType(Labels("file, or its SHA-256", "fichier, ou son SHA-256")), required=True,
        example="households.csv", called="map of the unit",
        en="The public file with the columns id and unit. The agreement keeps its SHA-256.",
        fr="Le fichier public avec les colonnes id et unit. L'accord en garde le SHA-256."),
    SchemaKey("members", WholeType(1, 10_000), required=True, example="8", called="members of the unit",
        en="The most ids that one unit has in the map.",
        fr="Le plus grand nombre d'identifiants d'une unité dans le fichier."),
))

_WEIGHT: Final = FieldsType((
    SchemaKey("column", COLUMN_NAME, required=True, example="weight", called="weight column",
        en="The registry's weight, for a property that was asked of a part of the people.",
        fr="Le poids du registre, pour une propriété demandée à une partie des personnes."),
    SchemaKey("most", NumberType(positive=True), required=True, example="5", called="largest weight",
        en="Weights above it are cut to it, and noise grows with it.",
        fr="Les poids supérieurs y sont ramenés, et le bruit croît avec lui."),
    SchemaKey("step", NumberType(positive=True), default="1", example="1", called="step of the weight",
        en="The grid weights are rounded to.",
        fr="La grille sur laquelle les poids sont arrondis."),
))

_VALUE: Final = FieldsType((
    SchemaKey("label", LabelType(), example="{en: French, fr: Français}",
        en="The name shown to readers. The value's when absent.",
        fr="Le nom montré aux lecteurs. Celui de la valeur par défaut."),
    SchemaKey("where", _CONDITION, required=True, example="first_official = 'French'",
        en="Whom it is true of: a condition over the registry's card.",
        fr="Pour qui elle est vraie : une condition sur la fiche du registre."),
), called="{key} of {where}")

_PROPERTY: Final = FieldsType((
    SchemaKey("label", LabelType(), example="{en: French and not English, fr: Français et non anglais}",
        en="The name shown to readers. The property's when absent.",
        fr="Le nom montré aux lecteurs. Celui de la propriété par défaut."),
    SchemaKey("where", _CONDITION, example="french = 'yes' AND english = 'no'",
        en="Whom it is true of: a condition over the registry's card. It, or `values`, must be there.",
        fr="Pour qui elle est vraie : une condition sur la fiche du registre. Elle, ou `values`, est requise."),
    SchemaKey("values", MappingType(_VALUE, "value '{name}'", names=CHOSEN_NAME), called="values of {where}",
        en="The values of a property that has several, for histograms.",
        fr="Les valeurs d'une propriété qui en a plusieurs, pour des histogrammes."),
    SchemaKey("answers", WholeType(1, MOST_ANSWERED), default="1", example="1",
        en="How many of the values one person has at most. With 1 they exclude each other, and the first counts.",
        fr="Combien de valeurs une personne a au plus. Avec 1 elles s'excluent ; la première qui convient compte."),
    SchemaKey("weight", _WEIGHT,
        en="Count weights in place of people.",
        fr="Compter des poids plutôt que des personnes."),
), called="{key} of {where}")

_CLOSING: Final = FieldsType((
    SchemaKey("share", ParameterType(below=1), default="0.05", example="0.05", called="share of the closing rule",
        en="The service closes when about this share of the people have no room left in their account.",
        fr="Le service ferme quand environ cette part des personnes n'a plus de place dans son compte."),
    SchemaKey("epsilon", ParameterType(), default="0.1", example="0.1", called="epsilon of the closing rule",
        en="What it may tell that the service has closed, once.",
        fr="Ce que peut révéler, une fois, la fermeture du service."),
))

AGREEMENT: Final = FileSchema(
    "agreement", "the agreement",
    Labels("Agreement on linked counts", "Accord sur des comptes liés"),
    Labels(
        "What three offices agree on before anything is counted between them: properties, unit, policy, prices, quota "
        "and end. All three sign it.",
        "Ce dont trois bureaux conviennent avant de compter entre eux : propriétés, unité, politique, prix, quota et "
        "fin. Tous trois le signent.",
    ),
    FieldsType((
        SchemaKey("study", _NAME, required=True, example="francophones-2026",
            en="The name of the study.",
            fr="Le nom de l'étude."),
        SchemaKey("title", LabelType(), example="{en: Care of Francophones, fr: Soins des francophones}",
            en="The title shown to readers. The name when absent.",
            fr="Le titre montré aux lecteurs. Le nom par défaut."),
        SchemaKey("holder", _SIDE, required=True,
            en="Whose criteria choose the people.",
            fr="Dont les critères choisissent les personnes."),
        SchemaKey("registry", _SIDE, required=True,
            en="Who knows the properties.",
            fr="Qui connaît les propriétés."),
        SchemaKey("ids", ChoiceType(("integer", "text")), required=True, example="integer", called="type of the ids",
            en="How ids are compared. As integers, 007 and 7 are one; as text they are two.",
            fr="Comment les identifiants sont comparés. Comme entiers, 007 et 7 sont un ; comme textes, deux."),
        SchemaKey("unit", FormsType((ChoiceType(("person", "household")), _UNIT),
                "must be person, household (ids are addresses), or {map: FILE, members: N} for households of people"),
            default="person", example="person",
            en="Whom the accounts protect. `person` and `household` are one id each; with a map, a household has the "
               "ids that it gives it.",
            fr="Qui les comptes protègent. `person` et `household` sont un identifiant ; avec un fichier, un ménage a "
               "ceux qu'il lui donne."),
        SchemaKey("people", WholeType(1, MOST_PEOPLE), required=True, example="10000000",
            en="How many units there are, as a public number. It is never counted.",
            fr="Combien il y a d'unités, comme nombre public. Il n'est jamais compté."),
        SchemaKey("policy", _POLICY, required=True,
            en="How far belief about one unit may go.",
            fr="Jusqu'où peut aller la conviction sur une unité."),
        SchemaKey("scales", ListType(WholeType(1, 65_535), least=1, distinct="are named once", each="scale"),
            required=True, example="[10, 20, 30, 50, 100, 300]",
            en="The scales of noise that may be asked for.",
            fr="Les échelles de bruit que l'on peut demander."),
        SchemaKey("kinds", ListType(ChoiceType((*LinkedKind, GROUPS)), least=1, distinct="are named once"),
            required=True, example="[count, count-and-size, histogram, groups]",
            en="What may be asked. With `groups`, samples may come in groups whose meaning the registry is not told.",
            fr="Ce qui peut être demandé. Avec `groups`, des échantillons en groupes dont le registre ignore le sens."),
        SchemaKey("properties", MappingType(_PROPERTY, "property '{name}'", names=CHOSEN_NAME, least=1,
                empty="an agreement has at least one property"), required=True,
            en="What may be counted, by name.",
            fr="Ce qui peut être compté, par nom."),
        SchemaKey("quota", WholeType(1, MOST_PEOPLE), required=True, example="10000",
            en="The most that all requests may cost together, in parts of ε. A count costs the common multiple of the "
               "scales, divided by its scale.",
            fr="Ce que toutes les demandes peuvent coûter ensemble, en parts de ε. Un compte coûte le multiple commun "
               "des échelles divisé par la sienne."),
        SchemaKey("largest_sample", WholeType(1, MOST_PEOPLE), required=True, example="10000000",
            en="The most ids in a sample. At least as many as the holder can have, so that none is ever too large.",
            fr="Le plus d'identifiants dans un échantillon. Au moins autant que le détenteur peut en avoir."),
        SchemaKey("linked_share", ParameterType(below=1), example="0.85",
            en="The share of the holder's people whom the registry knows, where that is public. Answers are scaled by "
               "it.",
            fr="La part des personnes du détenteur que connaît le registre, si elle est publique. Les réponses sont "
               "mises à l'échelle."),
        SchemaKey("closing", _CLOSING,
            en="When the service ends by itself. By the defaults of its keys when absent.",
            fr="Quand le service prend fin de lui-même. Selon les valeurs par défaut si absent."),
        SchemaKey("expires", _DAY, required=True, example="2027-12-31",
            en="The last day on which it holds, in UTC.",
            fr="Le dernier jour de sa validité, en UTC."),
        SchemaKey("slots", FlagType(), default="true", example="true",
            en="Over a network, answers leave at times fixed by the request's. `false` is for trusted networks.",
            fr="Par un réseau, les réponses partent à des moments fixés par la demande. `false` pour un réseau sûr."),
    )),
)
# fmt: on
