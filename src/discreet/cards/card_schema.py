"""The language of the card: every key, what it takes, what it means, and what holds where it is absent."""

from __future__ import annotations

from typing import Final

from discreet.cards.card import ALLOWED_RELEASES, Accounting, Membership, SizeRule
from discreet.cards.columns import FITTING, NAME_PATTERN, ColumnKind
from discreet.cards.schema import (
    COLUMN_NAME,
    ChoiceType,
    CodeType,
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
from discreet.guarantees import Neighbours
from discreet.results import Labels

__all__ = ["BOUNDS_PAIR", "CAPS_BY_CODE", "CARD", "CATEGORIES", "CHOSEN_NAME"]

_DATASET_PATTERN: Final = "[a-z][a-z0-9_]{0,62}"

CHOSEN_NAME: Final = TextType(
    Labels(
        "letters, digits and underscores, at most 63, no digit first",
        "lettres, chiffres et traits de soulignement, 63 au plus, sans chiffre initial",
    ),
    NAME_PATTERN,
)
CATEGORIES: Final = FormsType(
    (
        MappingType(LabelType(), "{what}, label of '{name}'", least=1, empty="{what} are empty"),
        ListType(CodeType(), "are empty", least=1),
    ),
    "are a list of codes or a mapping from code to label",
)
BOUNDS_PAIR: Final = ListType(NumberType(), "are a list of two numbers, [low, high]", least=2, most=2)
CAPS_BY_CODE: Final = MappingType(
    NumberType(positive=True), "cap of '{name}'", "are a mapping from code to number", least=1
)

_DATASET: Final = TextType(
    Labels(
        "a lower-case letter, then letters, digits or _, at most 63",
        "une lettre minuscule, puis des lettres minuscules, des chiffres ou _, 63 au plus",
    ),
    _DATASET_PATTERN,
)
_POPULATION: Final = TextType(
    Labels("lower-case letters, digits, . _ -, at most 63", "lettres minuscules, chiffres, . _ -, 63 au plus"),
    "[a-z0-9][a-z0-9._-]{0,62}",
)
_REFERENCE: Final = TextType(
    Labels("dataset.column", "jeu.colonne"),
    rf"{_DATASET_PATTERN}\.{NAME_PATTERN}",
    "name a dataset and its column, as in clinics.clinic_id",
)
_BOUNDS_SHAPE: Final = f"{BOUNDS_PAIR.shape}, or private"
_BOUNDS: Final = FormsType(
    (ListType(NumberType(), _BOUNDS_SHAPE, least=2, most=2), ChoiceType(("private",))), _BOUNDS_SHAPE
)


def _kinds(key: str) -> tuple[str, ...]:
    """The kinds of column with which a key goes."""
    return tuple(kind for kind, keys in FITTING.items() if key in keys)


# fmt: off
_UNIT: Final = FieldsType((
    SchemaKey("column", COLUMN_NAME, required=True, example="person_id", called="unit column",
        en="The id column: all rows with one id are one unit, which is protected.",
        fr="La colonne d'identifiant : toutes les lignes d'un même identifiant forment une unité, qui est protégée."),
    SchemaKey("rows", WholeType(1, 10**6), required=True, example="1", called="rows of the unit",
        en="The most rows of one unit that count. The rest are passed over by a rule fixed in advance.",
        fr="Le plus grand nombre de lignes d'une unité qui comptent. Les autres sont écartées selon une règle fixée "
           "d'avance."),
))

_CAP: Final = FieldsType((
    SchemaKey("by", COLUMN_NAME, required=True, example="province", called="cap column",
        en="The public category column that decides the cap.",
        fr="La colonne publique de catégories qui décide du plafond."),
    SchemaKey("values", CAPS_BY_CODE, required=True, example="{10: 1700, 24: 2500}", called="caps of the weight",
        en="The cap of every category of that column.",
        fr="Le plafond de chaque catégorie de cette colonne."),
))

_WEIGHT: Final = FieldsType((
    SchemaKey("column", COLUMN_NAME, required=True, example="weight", called="weight column",
        en="The column of the survey weight, with bounds from 0 upwards. When it is not among the columns, it is a "
           "number from 0 to its largest cap, in steps of 0.01 or finer where a cap is.",
        fr="La colonne du poids d'enquête, aux bornes positives ou nulles. Absente des colonnes, c'est un nombre de 0 "
           "à son plus grand plafond, par pas de 0,01 ou plus fins si un plafond l'est."),
    SchemaKey("cap", FormsType((NumberType(positive=True), _CAP)), required=True, example="1700",
        called="cap of the weight",
        en="Weights above it are cut to it; it is the sensitivity of a weighted count. It lies on the weight's step "
           "and not above its upper bound.",
        fr="Les poids supérieurs y sont ramenés ; c'est la sensibilité d'un effectif pondéré. Il est un multiple du "
           "pas du poids et ne dépasse pas sa borne supérieure."),
))

_TOTALS: Final = FieldsType((
    SchemaKey("by", COLUMN_NAME, example="province", called="column of the totals",
        en="The public category column of the totals. Without it, `values` is the grand total.",
        fr="La colonne publique de catégories des totaux. Sans elle, `values` est le total général."),
    SchemaKey("values", FormsType((
            NumberType(negative=False),
            MappingType(NumberType(negative=False), "total of '{name}'", "are a mapping from code to number", least=1),
        )), required=True, example="{10: 459931, 24: 7173161}", called="totals",
        en="The total of every category, none left out; one number without `by`.",
        fr="Le total de chaque catégorie, sans en omettre ; un seul nombre sans `by`."),
    SchemaKey("source", LabelType(), required=True, example="{en: Census 2016, fr: Recensement de 2016}",
        called="source of the totals",
        en="Where the totals were published: never the file itself. It is printed with every table that meets them.",
        fr="Où les totaux ont été publiés : jamais le fichier lui-même. Elle est imprimée avec tout tableau calé sur "
           "eux."),
))

_BUDGET: Final = FieldsType((
    SchemaKey("epsilon", ParameterType(), required=True, example="3",
        en="What may be spent on the population, ever.",
        fr="Ce qui pourra jamais être dépensé sur la population."),
    SchemaKey("delta", ParameterType(zero=True, below=1), default="0", example="1e-6",
        en="The delta of an (epsilon, delta) budget; 0 means pure.",
        fr="Le delta d'un budget (epsilon, delta) ; 0 signifie pur."),
    SchemaKey("per_analyst", ParameterType(), example="1",
        en="What one analyst may spend. The whole budget when absent.",
        fr="Ce qu'un analyste peut dépenser. Tout le budget par défaut."),
    SchemaKey("per_analyst_delta", ParameterType(zero=True, below=1), example="1e-7",
        en="The delta of an analyst's cap. The budget's when absent.",
        fr="Le delta du plafond d'un analyste. Celui du budget par défaut."),
), called="budget {key}")

_COLUMN: Final = FieldsType((
    SchemaKey("kind", ChoiceType(tuple(ColumnKind)), required=True, example="category",
        en="What the column holds.",
        fr="Ce que contient la colonne."),
    SchemaKey("type", ChoiceType(("integer", "text", "row")), example="integer", goes_with=_kinds("type"),
        needed_with=("id",),
        en="How ids are compared: `007` and `7` are one integer, and two texts. With `row` every row is a unit of its "
           "own and `rows` of the unit is 1; the file needs no such column.",
        fr="Comment les identifiants se comparent : `007` et `7` sont un même entier, mais deux textes. Avec `row`, "
           "chaque ligne est une unité et `rows` de l'unité vaut 1 ; le fichier n'a pas besoin d'une telle colonne."),
    SchemaKey("label", LabelType(), example="{en: Province, fr: Province}",
        en="The name shown to readers. The column's when absent.",
        fr="Le nom montré aux lecteurs. Celui de la colonne par défaut."),
    SchemaKey("source", TextType(), example="capital-gain",
        en="The column's name in the file, when it differs.",
        fr="Le nom de la colonne dans le fichier, s'il est différent."),
    SchemaKey("public", FlagType(), default="false", example="true", goes_with=_kinds("public"),
        en="The value is no secret and constant over a unit's rows. An integer needs bounds for it.",
        fr="La valeur n'est pas un secret et reste la même sur toutes les lignes d'une unité. Un entier doit alors "
           "avoir des bornes."),
    SchemaKey("categories", CATEGORIES, example="{10: Newfoundland and Labrador, 24: Quebec}",
        goes_with=_kinds("categories"), needed_with=("category",),
        en="Every code there can be, in the order of output.",
        fr="Tous les codes possibles, dans l'ordre de diffusion."),
    SchemaKey("bounds", _BOUNDS, example="[12, 110]", goes_with=_kinds("bounds"),
        en="The lowest and highest value that anyone would expect, not the data's own. What lies outside is moved to "
           "the nearer one; sums and means need them. With `private` nobody knows them: each question spends a part of "
           "its epsilon to find some.",
        fr="La plus petite et la plus grande valeur auxquelles chacun s'attendrait, non celles des données. Ce qui en "
           "sort est ramené à la plus proche ; sommes et moyennes en ont besoin. Avec `private`, nul ne les connaît : "
           "chaque question dépense une part de son epsilon pour en trouver."),
    SchemaKey("step", NumberType(positive=True), example="0.001", goes_with=_kinds("step"),
        en="The precision worth keeping: values are rounded to multiples of it. Bounds are multiples too. When absent "
           "it is 1 for integers, and for a number with bounds the power of ten that cuts its range into a million "
           "steps or more.",
        fr="La précision qui mérite d'être gardée : les valeurs sont arrondies à ses multiples. Les bornes en sont "
           "aussi. Par défaut 1 pour les entiers et, pour un nombre borné, la puissance de dix qui découpe l'étendue "
           "en un million de pas ou plus."),
    SchemaKey("edges", ListType(NumberType(), "are a list of numbers"), example="[12, 18, 25, 45, 65, 110]",
        goes_with=_kinds("edges"),
        en="Where tables cut the column into bands; each begins at an edge. Edges rise, lie on the step and reach from "
           "bound to bound.",
        fr="Où les tableaux découpent la colonne en tranches ; chacune commence à une limite. Les limites croissent, "
           "sont des multiples du pas et vont d'une borne à l'autre."),
    SchemaKey("typical", NumberType(), example="45", goes_with=_kinds("typical"),
        en="A usual value, known without these rows: it lowers the error of means. They are centred near it; it lies "
           "within the bounds.",
        fr="Une valeur usuelle, connue sans ces lignes : elle réduit l'erreur des moyennes. Celles-ci sont centrées "
           "près d'elle ; elle est comprise dans les bornes."),
    SchemaKey("precision", NumberType(positive=True), example="0.5", goes_with=_kinds("precision"),
        en="How far off a mean may be for its readers, in the column's unit; tables grade means by it.",
        fr="L'écart qu'une moyenne peut avoir pour ses lecteurs, dans l'unité de la colonne ; les tableaux cotent les "
           "moyennes d'après lui."),
    SchemaKey("missing", ListType(CodeType()), example="[9.996, 9.999]", called="missing codes of {where}",
        en="Codes that mean no answer.",
        fr="Les codes qui signifient une absence de réponse."),
    SchemaKey("complete", FlagType(), default="false", example="true", goes_with=_kinds("complete"),
        en="Every row should have a value: no key is listed for rows without one, and such rows fall in no group by "
           "the column.",
        fr="Chaque ligne devrait avoir une valeur : aucune clé n'est listée pour les lignes sans valeur, et ces lignes "
           "ne tombent dans aucun groupe selon la colonne."),
    SchemaKey("presence", ChoiceType(("public",)), example="public", goes_with=_kinds("presence"),
        en="Which rows have a value is no secret; needs `size: public`.",
        fr="Quelles lignes ont une valeur n'est pas un secret ; exige `size: public`."),
    SchemaKey("references", _REFERENCE, example="clinics.clinic_id", goes_with=_kinds("references"),
        en="The column of another dataset of the population that the values point at.",
        fr="La colonne d'un autre jeu de données de la population que les valeurs désignent."),
    SchemaKey("provenance", ChoiceType(("from_rows",)), example="from_rows", goes_with=_kinds("provenance"),
        en="Bounds or categories were read from the rows, not decided. What uses them is released as unproven.",
        fr="Les bornes ou les catégories ont été lues dans les lignes, non décidées. Ce qui s'en sert est diffusé "
           "comme non prouvé."),
), by="kind", called="{key} of {where}")

CARD: Final = FileSchema(
    "card", "the card",
    Labels("Dataset card", "Fiche du jeu de données"),
    Labels(
        "What a dataset is, before anyone may ask it anything: whom it protects, what its columns hold, how far a "
        "value may reach, and how much may be spent.",
        "Ce qu'est un jeu de données, avant que quiconque ne l'interroge : qui il protège, ce que contiennent ses "
        "colonnes, jusqu'où une valeur peut aller, et combien peut être dépensé.",
    ),
    FieldsType((
        SchemaKey("dataset", _DATASET, required=True, example="survey",
            en="The name of the dataset.",
            fr="Le nom du jeu de données."),
        SchemaKey("title", LabelType(), example="{en: Health survey, fr: Enquête sur la santé}",
            en="The title shown to readers. The name when absent.",
            fr="Le titre montré aux lecteurs. Le nom par défaut."),
        SchemaKey("description", LabelType(), example="A survey of health and smoking.",
            en="A longer description.",
            fr="Une description plus longue."),
        SchemaKey("population", _POPULATION, example="cchs-2017",
            en="Datasets about the same units share one population and its budget. The dataset's name when absent.",
            fr="Les jeux de données sur les mêmes unités partagent une population et son budget. Le nom du jeu par "
               "défaut."),
        SchemaKey("unit", _UNIT, required=True,
            en="Whom the guarantee protects.",
            fr="Qui la garantie protège."),
        SchemaKey("neighbours", ChoiceType(tuple(Neighbours)), required=True, example="add-remove",
            en="Which two data sets an observer must not tell apart. They differ by one unit more, or by one unit "
               "replaced.",
            fr="Quels deux jeux de données un observateur ne doit pas distinguer. Ils diffèrent d'une unité de plus, "
               "ou d'une unité remplacée."),
        SchemaKey("size", ChoiceType(tuple(SizeRule)), default=SizeRule.PRIVATE, example="private",
            en="Whether the number of units is public. Only with `neighbours: replace-one` can it be.",
            fr="Si le nombre d'unités est public. Il ne peut l'être qu'avec `neighbours: replace-one`."),
        SchemaKey("rows_at_most", WholeType(1, 2 * 10**9), example="50000000",
            en="A public bound on the number of rows, never read from the data. By it, questions that may need more "
               "memory and disk than there is are refused before a charge; a file with more rows is refused.",
            fr="Une borne publique du nombre de lignes, jamais lue dans les données. D'après elle, les questions qui "
               "pourraient demander plus de mémoire et de disque qu'il n'y en a sont refusées avant tout débit ; un "
               "fichier qui a plus de lignes est refusé."),
        SchemaKey("membership", ChoiceType(tuple(Membership)), default=Membership.CONFIDENTIAL, example="confidential",
            en="Whether it is public who has rows here. It matters where datasets are joined: who is in both is "
               "protected unless all of them say `public`. Needs `size: public`.",
            fr="S'il est public qui a des lignes ici. Cela compte dans les jointures : qui figure dans les deux est "
               "protégé, sauf si tous les jeux disent `public`. Exige `size: public`."),
        SchemaKey("weight", _WEIGHT,
            en="The survey weight, and where it is cut.",
            fr="Le poids d'enquête, et où il est plafonné."),
        SchemaKey("totals", ListType(_TOTALS, single=True),
            en="Public totals of the weights of everybody; weighted tables are calibrated to them. Several must agree "
               "on the grand total.",
            fr="Les totaux publics des poids de tous ; les tableaux pondérés sont calés sur eux. S'il y en a "
               "plusieurs, ils donnent le même total général."),
        SchemaKey("budget", _BUDGET, required=True,
            en="What may be spent on the population.",
            fr="Ce qui peut être dépensé sur la population."),
        SchemaKey("accounting", ChoiceType(tuple(Accounting)), default=Accounting.EPSILON, example="rho",
            en="What an (epsilon, delta) budget is meant for. With `epsilon`, tables never take room from later pure "
               "questions that Laplace noise would have left; with `rho` they may, and then take Gaussian noise that "
               "errs less.",
            fr="À quoi sert un budget (epsilon, delta). Avec `epsilon`, les tableaux ne prennent jamais aux questions "
               "pures à venir ce que le bruit de Laplace leur aurait laissé ; avec `rho` ils le peuvent, et prennent "
               "alors un bruit gaussien qui se trompe moins."),
        SchemaKey("allow", ListType(ChoiceType(ALLOWED_RELEASES)), example="[bootstrap]",
            en="Releases without a proof that the custodian permits. Each leaves a permanent marker on the ledger.",
            fr="Les diffusions sans preuve que le dépositaire permet. Chacune laisse un marqueur permanent au grand "
               "livre."),
        SchemaKey("exact_public", FlagType(), default="false", example="true",
            en="Whether outputs that no unit can change may leave without noise.",
            fr="Si les résultats qu'aucune unité ne peut changer peuvent sortir sans bruit."),
        SchemaKey("columns", MappingType(_COLUMN, "column '{name}'", names=CHOSEN_NAME, least=1,
                empty="a card has at least one column"), required=True,
            en="The columns, by name. No two names differ by case only; `ord` and names that begin with `_discreet` "
               "are taken.",
            fr="Les colonnes, par nom. Deux noms ne diffèrent pas que par la casse ; `ord` et les noms commençant par "
               "`_discreet` sont réservés."),
    )),
)
# fmt: on
