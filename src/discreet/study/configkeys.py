"""The language of a study's file as one table: every key, what it means, what it takes.

The reader checks against it and finds the nearest key for a slip of the pen; docs/study.md is tested against it.
"""

from __future__ import annotations

from typing import Final

from discreet.data.cardkeys import Key

__all__ = [
    "ALLOCATIONS",
    "AUTOMATIC",
    "CALIBRATIONS",
    "CATEGORY_RANDOMISERS",
    "COUNTS",
    "CUSTOM_KEYS",
    "DATASET_KEYS",
    "METRICS",
    "MISSING",
    "MODELS",
    "MODEL_KEYS",
    "NAMED_KEYS",
    "NUMBER_RANDOMISERS",
    "QUERY_KEYS",
    "RELATIONS",
    "SAMPLE_KEYS",
    "SELECTION_KEYS",
    "STUDY_KEYS",
    "WEIGHT_KEYS",
]

AUTOMATIC: Final = "automatic"
ALLOCATIONS: Final = ("sampling", "split")
MISSING: Final = ("public", "category")
RELATIONS: Final = ("samples", "strata")
COUNTS: Final = ("total", "ratio")
CALIBRATIONS: Final = ("none", "card")
METRICS: Final = ("ks-complement", "correlation-similarity", "coverage", "linkage")

# The names under which local/choice.py and local/numberchoice.py know the randomisers; a test compares them.
CATEGORY_RANDOMISERS: Final = ("grr", "oue", "rappor", "olh", "subset", "hadamard")
NUMBER_RANDOMISERS: Final = (
    "laplace",
    "duchi",
    "piecewise",
    "piecewise-wide",
    "hybrid",
    "bounded-laplace",
    "clip",
    "modulo",
    "abs",
)

# What each model may be told, and the mechanisms it knows; the first is taken when none is named.
MODELS: Final = {
    "central": ("laplace", "gaussian"),
    "table": ("laplace", "gaussian"),
    "local": (),
    "hybrid": (),
    "shuffle": ("single-message", "multi-message", "vector-sum"),
    "naive": ("all", "central", "local", "shuffle"),
}

SAMPLE_KEYS: Final = (
    Key("rows", "Respondents of the sample survey; 113,290 when absent.", "integer from 1,000"),
    Key("seed", "The seed of the sample survey, not of the noise; 1 when absent.", "integer from 0"),
)

DATASET_KEYS: Final = (
    Key("card", "The card of a data file; the path starts at the study's folder.", "path"),
    Key("file", "The data file that the card describes.", "path"),
    Key("workspace", "A workspace, in place of card and file.", "path"),
    Key("name", "The dataset's name in the workspace.", "name"),
)

WEIGHT_KEYS: Final = (
    Key("multiplier", "Weights, and all counts with them, are multiplied by it; 1 when absent.", "positive number"),
)

SELECTION_KEYS: Final = (
    Key("column", "The column on whose answer it depends: a protected or static one.", "column name", required=True),
    Key("codes", "Of a category: those with one of these codes.", "[code, ...]"),
    Key("above", "Of a number: those whose number lies above.", "number"),
    Key("times", "How many times as likely they are to answer in clear.", "positive number", required=True),
)

MODEL_KEYS: Final = (
    Key("model", "How answers are protected.", "central | table | local | hybrid | shuffle | naive", required=True),
    Key(
        "mechanism",
        "shuffle: single-message, multi-message, vector-sum. naive: central, local, shuffle, all. Else: as noise.",
        "name or [name, ...]",
    ),
    Key("noise", "central and table: the noise; gaussian is drawn for (ε, δ).", "laplace | gaussian, or a list"),
    Key(
        "calibrate",
        "table: weighted counts meet the totals of the card, or are left as they are; none when absent.",
        "none | card, or a list",
    ),
    Key(
        "categories",
        "local and hybrid: the randomiser of categories; automatic takes the smallest expected variance.",
        "automatic | grr | oue | rappor | olh | subset | hadamard, or a list of them",
    ),
    Key(
        "numbers",
        "local and hybrid: the randomiser of numbers; automatic takes the smallest expected variance.",
        "automatic | laplace | duchi | piecewise | piecewise-wide | hybrid | bounded-laplace | clip | modulo | abs, "
        "or a list of them",
    ),
    Key(
        "allocation",
        "local and hybrid, when ε is a total: each respondent reports a few columns that share it, or all do.",
        "sampling | split",
    ),
    Key("missing", "local: who has no answer is public, or that is an answer like any other.", "public | category"),
    Key(
        "counts",
        "local: from the sum of the reports, or from the share among those asked; total when absent.",
        "total | ratio",
    ),
    Key(
        "share",
        "hybrid: the share of respondents who answer in clear; 0.1, 0.3 and 0.5 when absent.",
        "number from 0 and below 1, or a list",
    ),
    Key(
        "selection",
        "hybrid: who answers in clear more or less often than others; none when absent.",
        "none | {column, codes or above, times}, or a list",
        keys=SELECTION_KEYS,
    ),
    Key(
        "relation",
        "hybrid: the two groups are two samples of all, or parts (strata) of it; samples when absent.",
        "samples | strata, or a list",
    ),
)

NAMED_KEYS: Final = (
    Key("column", "A category column.", "column name"),
    Key("category", "The code whose weighted count is asked.", "code"),
    Key("mean", "A number column whose weighted mean is asked, in place of column and category.", "column name"),
    Key("sum", "A number column whose weighted sum is asked, in place of column and category.", "column name"),
)

CUSTOM_KEYS: Final = (
    Key("name", "What the query is called; no column may have this name.", "letters, digits and _", required=True),
    Key("where", "Conditions that must all hold.", "{column: [code, ...]}", required=True),
    Key("mean", "A number column: its mean where the conditions hold, which are then on static columns.", "column"),
    Key("sum", "A number column: its sum where the conditions hold, which are then on static columns.", "column"),
    Key("label", "What readers see; the name when absent.", "text"),
)

QUERY_KEYS: Final = (
    Key("categories", "Every category of every protected column, or none; all when absent.", "all | none"),
    Key("means", "The mean of every protected number, or none; all when absent.", "all | none"),
    Key("sums", "The weighted sum of every protected number, or none; none when absent.", "all | none"),
    Key("named", "Queries by column; those who name some mean figures of them.", "[{...}]", keys=NAMED_KEYS),
    Key("custom", "Queries of one's own, each a question of its own.", "[{name, where, ...}]", keys=CUSTOM_KEYS),
)

STUDY_KEYS: Final = (
    Key("study", "The name of the study.", "letters, digits and . _ -", required=True),
    Key("title", "The title of the report; the name when absent.", "text"),
    Key("sample", "Study the sample survey.", "{rows, seed}", keys=SAMPLE_KEYS),
    Key("dataset", "Study a data file with its card, or a dataset of a workspace.", "{...}", keys=DATASET_KEYS),
    Key("weights", "What the weights stand for.", "{multiplier}", keys=WEIGHT_KEYS),
    Key("strata", "Category columns whose combinations are the groups; one group when absent.", "[column, ...]"),
    Key("static", "Columns left as they are, beside the strata.", "[column, ...]"),
    Key("columns", "Columns to protect; when absent, every other category or bounded number.", "[column, ...]"),
    Key(
        "models",
        "The models to compare; when absent central, local, shuffle single-message and multi-message.",
        "[name or {model, ...}]",
        keys=MODEL_KEYS,
    ),
    Key("epsilon", "The privacy parameters to compare.", "[number, ...]", required=True),
    Key("epsilon_is", "Whether ε is spent on each column or on all together.", "per-column | total", required=True),
    Key("delta", "δ of the shuffle models and of Gaussian noise; 1e-6 when absent.", "number below 1"),
    Key(
        "noise",
        "The noise of central models and tables that name none; laplace when absent.",
        "laplace | gaussian, or a list",
    ),
    Key(
        "neighbours",
        "For central, table and multi-message; the others are replace-one. add-remove when absent.",
        "add-remove | replace-one",
    ),
    Key("runs", "Runs at each ε; 5 when absent.", "integer from 1 to 10,000"),
    Key(
        "rows",
        "Numbers of respondents: the study is repeated on so many of them, drawn at random in each run.",
        "[integer, ...]",
    ),
    Key("level", "Coverage of the intervals; 0.95 when absent.", "number below 1"),
    Key("queries", "What is asked; every category and every mean when absent.", "{...}", keys=QUERY_KEYS),
    Key("figures", "Queries that get figures; when absent the named ones, else the first six.", "[query, ...]"),
    Key("metrics", "Quality metrics; all when absent.", "[ks-complement, correlation-similarity, coverage, linkage]"),
    Key("seed", "The seed of all noise; 1 when absent.", "integer from 0"),
)
