"""The language of a study's file: every key, what it takes, what it means, and what holds where it is absent."""

from __future__ import annotations

from typing import Final

from discreet.cards import (
    COLUMN_NAME,
    NAME_PATTERN,
    ChoiceType,
    CodeType,
    FieldsType,
    FileSchema,
    FormsType,
    ListType,
    MappingType,
    NumberType,
    ParameterType,
    SchemaKey,
    TextType,
    WholeType,
)
from discreet.guarantees import Neighbours
from discreet.lab.study.study_file.study_config import (
    ALLOCATIONS,
    AUTOMATIC,
    CALIBRATIONS,
    CATEGORY_RANDOMISERS,
    COUNTS,
    LARGEST_EPSILON,
    METRICS,
    MISSING,
    MODELS,
    MOST_EPSILONS,
    MOST_RUNS,
    MOST_SIZES,
    NUMBER_RANDOMISERS,
    RELATIONS,
)
from discreet.results import Labels
from discreet.samples import FEWEST, MOST

__all__ = ["STUDY"]

_SEED: Final = WholeType(0, 2**63 - 1)
_PATH: Final = TextType(Labels("path", "chemin"))
_NAME: Final = TextType(
    Labels("letters, digits and . _ - (at most 63)", "lettres, chiffres et . _ - (63 au plus)"),
    "[A-Za-z0-9][A-Za-z0-9._-]{0,62}",
)
_QUERY_NAME: Final = TextType(
    Labels("letters, digits and _, no digit first", "lettres, chiffres et _, sans chiffre initial"), NAME_PATTERN
)
_COLUMNS: Final = ListType(COLUMN_NAME, distinct="names something twice")
_ALL_OR_NONE: Final = ChoiceType(("all", "none"))


def _several(*names: str) -> ListType:
    """One name, or a list of which each makes a variant."""
    return ListType(ChoiceType(names), "is empty", least=1, single=True)


def _distinct(item: WholeType | ParameterType, most: int | None, shape: str) -> ListType:
    """One number, or a list of different ones."""
    return ListType(item, shape, least=1, most=most, distinct=shape, single=True)


# fmt: off
_SAMPLE: Final = FieldsType((
    SchemaKey("rows", WholeType(FEWEST, MOST), default="113290", example="113290",
        en="Respondents of the sample survey.",
        fr="Le nombre de répondants de l'enquête d'exemple."),
    SchemaKey("seed", _SEED, default="1", example="1",
        en="The seed of the sample survey, not of the noise.",
        fr="Le germe de l'enquête d'exemple, non celui du bruit."),
))

_DATASET: Final = FieldsType((
    SchemaKey("card", _PATH, example="survey.yaml",
        en="The card of a data file; the path starts at the study's folder.",
        fr="La fiche d'un fichier de données ; le chemin part du dossier de l'étude."),
    SchemaKey("file", _PATH, example="survey.parquet",
        en="The data file that the card describes.",
        fr="Le fichier de données que décrit la fiche."),
    SchemaKey("workspace", _PATH, example="office",
        en="A workspace, in place of card and file.",
        fr="Un espace de travail, au lieu de la fiche et du fichier."),
    SchemaKey("name", TextType(Labels("name", "nom")), example="survey",
        en="The dataset's name in the workspace.",
        fr="Le nom du jeu de données dans l'espace de travail."),
))

_WEIGHTS: Final = FieldsType((
    SchemaKey("multiplier", ParameterType(), default="1", example="1",
        en="Weights, and all counts with them, are multiplied by it.",
        fr="Les poids, et avec eux tous les effectifs, sont multipliés par ce nombre."),
))

_SELECTION: Final = FieldsType((
    SchemaKey("column", COLUMN_NAME, required=True, example="smoking",
        en="The column on whose answer it depends: a static one, or a protected one of which something is asked.",
        fr="La colonne dont la réponse décide : une colonne laissée telle quelle, ou une colonne protégée interrogée."),
    SchemaKey("codes", ListType(CodeType()), example="[1]",
        en="Of a category: those with one of these codes.",
        fr="D'une catégorie : ceux qui ont l'un de ces codes."),
    SchemaKey("above", NumberType(), example="30",
        en="Of a number: those whose number lies above.",
        fr="D'un nombre : ceux dont le nombre est supérieur."),
    SchemaKey("times", ParameterType(), required=True, example="0.5",
        en="How many times as likely they are to answer in clear. The share of all stays the same.",
        fr="Combien de fois plus souvent ils répondent en clair. La part de l'ensemble reste la même."),
))

_MODEL: Final = FieldsType((
    SchemaKey("model", ChoiceType(tuple(MODELS)), required=True, example="central", called="model",
        en="How answers are protected: central as `discreet query` answers, table as `discreet table` publishes, with "
           "all margins, local before they leave the respondent, hybrid with some in clear, shuffle by mixing reports, "
           "which no command runs. `naive` is an early report's recipe, not private and there to be compared with.",
        fr="Comment les réponses sont protégées : central répond comme `discreet query`, table publie comme `discreet "
           "table`, avec toutes les marges, local les protège avant leur départ, hybrid en laisse une part en clair, "
           "shuffle mélange les rapports, ce qu'aucune commande ne fait. `naive` est la recette d'un ancien rapport, "
           "non confidentielle, qui ne sert qu'à comparer."),
    SchemaKey("noise", _several(*MODELS["central"]), example="[laplace, gaussian]", goes_with=("central", "table"),
        en="The noise that the office adds; gaussian is drawn for (ε, δ).",
        fr="Le bruit qu'ajoute l'institut ; gaussian est tiré pour (ε, δ)."),
    SchemaKey("mechanism", _several(*MODELS["central"]), example="laplace", goes_with=("central", "table"),
        en="Another spelling of `noise`.",
        fr="Une autre façon d'écrire `noise`."),
    SchemaKey("calibrate", _several(*CALIBRATIONS), default=CALIBRATIONS[0], example="card", goes_with=("table",),
        en="Whether weighted counts meet the totals of the card.",
        fr="Si les effectifs pondérés sont calés sur les totaux de la fiche."),
    SchemaKey("categories", _several(AUTOMATIC, *CATEGORY_RANDOMISERS), default=AUTOMATIC, example="[grr, oue]",
        goes_with=("local", "hybrid"),
        en="The randomiser of categories; automatic takes the smallest expected variance.",
        fr="Le mécanisme aléatoire des catégories ; automatic prend la plus petite variance attendue."),
    SchemaKey("numbers", _several(AUTOMATIC, *NUMBER_RANDOMISERS), default=AUTOMATIC, example="[piecewise, laplace]",
        goes_with=("local", "hybrid"),
        en="The randomiser of numbers; automatic takes the smallest expected variance. `clip`, `modulo` and `abs` are "
           "biased and there to be compared with.",
        fr="Le mécanisme aléatoire des nombres ; automatic prend la plus petite variance attendue. `clip`, `modulo` et "
           "`abs` sont biaisés et ne servent qu'à comparer."),
    SchemaKey("allocation", _several(*ALLOCATIONS), default=ALLOCATIONS[0], example="sampling",
        goes_with=("local", "hybrid"),
        en="When ε is a total: each respondent reports a few columns that share it, or all do.",
        fr="Quand ε est un total : chaque répondant rapporte quelques colonnes qui se le partagent, ou toutes."),
    SchemaKey("missing", _several(*MISSING), default=MISSING[0], example="category", goes_with=("local",),
        en="Who has no answer is public, or that is an answer like any other.",
        fr="Qui n'a pas répondu est public, ou bien c'est une réponse comme une autre."),
    SchemaKey("counts", _several(*COUNTS), default=COUNTS[0], example="ratio", goes_with=("local",),
        en="Counts come from the sum of the reports, or from the share among those asked, which suits questions that "
           "are sampled.",
        fr="Les effectifs viennent de la somme des rapports, ou de la part parmi les personnes interrogées, ce qui "
           "convient aux questions tirées au sort."),
    SchemaKey("share", _distinct(ParameterType(zero=True, below=1), None,
            "is a list of different numbers from 0 and below 1"), example="[0.1, 0.3]", goes_with=("hybrid",),
        called="share",
        en="The share of respondents who answer in clear; 0.1, 0.3 and 0.5 when absent.",
        fr="La part des répondants qui répondent en clair. 0,1, 0,3 et 0,5 par défaut."),
    SchemaKey("selection", ListType(FormsType((ChoiceType(("none",)), _SELECTION),
            "must be none, or {column, codes, times} or {column, above, times}"), single=True),
        example="{column: smoking, codes: [1], times: 0.5}", goes_with=("hybrid",), called="selection",
        en="Who answers in clear more or less often than others. None when absent.",
        fr="Qui répond en clair plus ou moins souvent que les autres. Personne par défaut."),
    SchemaKey("relation", _several(*RELATIONS), default=RELATIONS[0], example="strata", goes_with=("hybrid",),
        en="The two groups are two samples of all, or parts (strata) of it.",
        fr="Les deux groupes sont deux échantillons de l'ensemble, ou des parties (strates) de celui-ci."),
    SchemaKey("mechanism", _several(*MODELS["shuffle"]), default=MODELS["shuffle"][0],
        example="[single-message, multi-message]", goes_with=("shuffle",),
        en="The protocol of the mixed reports.",
        fr="Le protocole des rapports mélangés."),
    SchemaKey("mechanism", _several(*MODELS["naive"]), default=MODELS["naive"][0], example="all", goes_with=("naive",),
        en="Which recipes of an early report. They are not private, and there to be compared with.",
        fr="Quelles recettes d'un ancien rapport. Elles ne sont pas confidentielles et ne servent qu'à comparer."),
), by="model", called="{key} of {value}")

_NAMED: Final = FieldsType((
    SchemaKey("column", COLUMN_NAME, example="smoking",
        en="A category column.",
        fr="Une colonne de catégories."),
    SchemaKey("category", CodeType(), example="1",
        en="The code whose weighted count is asked.",
        fr="Le code dont l'effectif pondéré est demandé."),
    SchemaKey("mean", COLUMN_NAME, example="height",
        en="A number column whose weighted mean is asked, in place of column and category.",
        fr="Une colonne de nombres dont la moyenne pondérée est demandée, au lieu de column et category."),
    SchemaKey("sum", COLUMN_NAME, example="height",
        en="A number column whose weighted sum is asked, in place of column and category.",
        fr="Une colonne de nombres dont la somme pondérée est demandée, au lieu de column et category."),
))

_CUSTOM: Final = FieldsType((
    SchemaKey("name", _QUERY_NAME, required=True, example="smokers_in_poor_health",
        en="What the query is called; no column may have this name.",
        fr="Le nom de la requête ; aucune colonne ne peut porter ce nom."),
    SchemaKey("where", MappingType(ListType(CodeType(), "are a list of at least one code, such as [1, 2]", least=1),
            "codes of '{name}'", "is a mapping of columns to codes, such as {smoking: [1, 2]}", COLUMN_NAME, least=1),
        required=True, example="{smoking: [1], perceived_health: [4, 5]}",
        en="Conditions that must all hold: the codes of columns.",
        fr="Les conditions qui doivent toutes être remplies : les codes de colonnes."),
    SchemaKey("mean", COLUMN_NAME, example="height",
        en="A number column: its mean where the conditions hold, which are then on static columns.",
        fr="Une colonne de nombres : sa moyenne là où les conditions, alors sur des colonnes laissées telles quelles, "
           "tiennent."),
    SchemaKey("sum", COLUMN_NAME, example="body_weight",
        en="A number column: its sum where the conditions hold, which are then on static columns.",
        fr="Une colonne de nombres : sa somme là où les conditions, alors sur des colonnes laissées telles quelles, "
           "tiennent."),
    SchemaKey("label", TextType(), example="Daily smokers in fair or poor health",
        en="What readers see. The name when absent.",
        fr="Ce que voient les lecteurs. Le nom par défaut."),
))

_QUERIES: Final = FieldsType((
    SchemaKey("categories", _ALL_OR_NONE, default="all", example="all",
        en="Every category of every protected column, or none.",
        fr="Chaque catégorie de chaque colonne protégée, ou aucune."),
    SchemaKey("means", _ALL_OR_NONE, default="all", example="all",
        en="The mean of every protected number, or none.",
        fr="La moyenne de chaque nombre protégé, ou aucune."),
    SchemaKey("sums", _ALL_OR_NONE, default="none", example="none",
        en="The sum of every protected number, weighted as the survey is, or none.",
        fr="La somme de chaque nombre protégé, pondérée comme l'enquête, ou aucune."),
    SchemaKey("named", ListType(_NAMED, "queries are a list of mappings", each="a named query"),
        example="[{column: smoking, category: 1}, {mean: height}]",
        en="Queries by column: {column, category}, {mean: column} or {sum: column}. Those who name some mean figures "
           "of them.",
        fr="Les requêtes par colonne : {column, category}, {mean: colonne} ou {sum: colonne}. En nommer, c'est en "
           "vouloir des figures."),
    SchemaKey("custom", ListType(_CUSTOM, "queries are a list of mappings", each="a custom query"),
        example="[{name: young_smokers, where: {smoking: [1], age_group: [1, 2]}}]",
        en="Queries of one's own, each a question of its own, with an ε of its own.",
        fr="Des requêtes à soi, chacune une question à part, avec son propre ε."),
))

STUDY: Final = FileSchema(
    "study", "the study",
    Labels("Study", "Étude"),
    Labels(
        "What a choice of model, ε and mechanism does to your tables, before anything is released. It is computed from "
        "the true data with repeatable noise: its results are for the custodian alone.",
        "Ce que le choix du modèle, de ε et du mécanisme fait à vos tableaux, avant toute diffusion. L'étude se "
        "calcule sur les vraies données avec un bruit répétable : ses résultats sont réservés au dépositaire.",
    ),
    FieldsType((
        SchemaKey("study", _NAME, required=True, example="smoking",
            en="The name of the study.",
            fr="Le nom de l'étude."),
        SchemaKey("title", TextType(), example="What privacy costs in the health survey",
            en="The title of the report. The name when absent.",
            fr="Le titre du rapport. Le nom par défaut."),
        SchemaKey("sample", _SAMPLE, example="{rows: 113290, seed: 1}",
            en="Study the sample survey. A study has exactly one of `sample` and `dataset`.",
            fr="Étudier l'enquête d'exemple. Une étude a soit `sample`, soit `dataset`, et un seul des deux."),
        SchemaKey("dataset", _DATASET, example="{card: survey.yaml, file: survey.parquet}",
            en="Study a data file with its card, {card, file}, or a dataset of a workspace, {workspace, name}.",
            fr="Étudier un fichier de données et sa fiche, {card, file}, ou un jeu d'un espace de travail, {workspace, "
               "name}."),
        SchemaKey("weights", _WEIGHTS, example="{multiplier: 1}",
            en="What the weights stand for.",
            fr="Ce que représentent les poids."),
        SchemaKey("strata", _COLUMNS, example="[province]",
            en="Category columns: every combination of them that occurs is a group. One group when absent. Strata are "
               "public and never changed.",
            fr="Des colonnes de catégories : chacune de leurs combinaisons présentes est un groupe. Un seul groupe par "
               "défaut. Les strates sont publiques et ne changent jamais."),
        SchemaKey("static", _COLUMNS, example="[sex, age_group]",
            en="Columns left as they are, beside the strata. Whoever is unique on them stays recognisable.",
            fr="Des colonnes laissées telles quelles, outre les strates. Qui y est unique reste reconnaissable."),
        SchemaKey("columns", _COLUMNS, example="[smoking, height]",
            en="Columns to protect. When absent, every other category and every number with bounds.",
            fr="Les colonnes à protéger. Par défaut, toute autre catégorie et tout nombre borné."),
        SchemaKey("models", ListType(FormsType((ChoiceType(tuple(MODELS)), _MODEL)),
                "are a list of names or of {model: name, ...}", least=1, each="a model"),
            example="[central, {model: local, numbers: [piecewise, laplace]}]",
            en="The models to compare: names, or mappings with their choices. A list in place of a choice makes one "
               "variant of each. When absent: central, local, shuffle single-message and multi-message.",
            fr="Les modèles à comparer : des noms, ou des objets avec leurs choix. Une liste au lieu d'un choix donne "
               "une variante par élément. Par défaut : central, local, shuffle single-message et multi-message."),
        SchemaKey("epsilon", _distinct(ParameterType(largest=LARGEST_EPSILON), MOST_EPSILONS,
                f"is a list of 1 to {MOST_EPSILONS} different numbers"), required=True, example="[3, 1, 0.5]",
            en="The privacy parameters to compare. Beyond 50 nothing is hidden.",
            fr="Les paramètres de confidentialité à comparer. Au-delà de 50, plus rien n'est caché."),
        SchemaKey("epsilon_is", ChoiceType(("per-column", "total")), required=True, example="total",
            en="Whether ε is spent on each column or on all together. Ten columns at ε = 1 each cost a respondent 10; "
               "advice goes by the total.",
            fr="Si ε est dépensé par colonne ou pour toutes ensemble. Dix colonnes à ε = 1 coûtent 10 à un répondant ; "
               "les conseils se fondent sur le total."),
        SchemaKey("delta", ParameterType(below=1), default="1e-6", example="1e-6",
            en="δ of the shuffle models and of Gaussian noise.",
            fr="δ des modèles de mélange et du bruit gaussien."),
        SchemaKey("noise", _several(*MODELS["central"]), example="[laplace, gaussian]",
            en="The noise of central models and tables that name none. Laplace when absent.",
            fr="Le bruit des modèles central et table qui n'en nomment pas. Laplace par défaut."),
        SchemaKey("neighbours", ChoiceType(tuple(Neighbours)), default=Neighbours.ADD_REMOVE, example="add-remove",
            en="Neighbours for central, table and multi-message. The other models are replace-one by nature.",
            fr="Le voisinage pour central, table et multi-message. Les autres modèles sont par nature replace-one."),
        SchemaKey("runs", WholeType(1, MOST_RUNS), default="5", example="3",
            en="Runs at each ε.",
            fr="Le nombre d'essais à chaque ε."),
        SchemaKey("rows", _distinct(WholeType(1, MOST), MOST_SIZES,
                f"is a list of 1 to {MOST_SIZES} different numbers of respondents"), example="[2000, 10000, 50000]",
            en="Accuracy against the number of respondents: the study is repeated on so many of them, drawn at random "
               "in each run.",
            fr="La précision selon le nombre de répondants : l'étude est répétée sur autant d'entre eux, tirés au sort "
               "à chaque essai."),
        SchemaKey("level", ParameterType(below=1), default="0.95", example="0.95",
            en="Coverage of the intervals.",
            fr="Le niveau de couverture des intervalles."),
        SchemaKey("queries", _QUERIES,
            en="What is asked in every group. Every category and every mean when absent.",
            fr="Ce qui est demandé dans chaque groupe. Chaque catégorie et chaque moyenne par défaut."),
        SchemaKey("figures", ListType(TextType(Labels("query", "requête")), distinct="names something twice"),
            example="[smoking=1]",
            en="Queries that get figures, by name: `smoking=1`, `mean of height`, or the name of a custom query. When "
               "absent the named and custom ones, else the first six.",
            fr="Les requêtes qui ont des figures, par nom : `smoking=1`, `mean of height`, ou le nom d'une requête à "
               "soi. Par défaut celles de named et custom, sinon les six premières."),
        SchemaKey("metrics", ListType(ChoiceType(METRICS), single=True), example="[ks-complement, linkage]",
            en="Quality metrics. All when absent.",
            fr="Les mesures de qualité. Toutes par défaut."),
        SchemaKey("seed", _SEED, default="1", example="1",
            en="The seed of all noise: the same seed gives the same study.",
            fr="Le germe de tout le bruit : le même germe donne la même étude."),
    )),
)
# fmt: on
