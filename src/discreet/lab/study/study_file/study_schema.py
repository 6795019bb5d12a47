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
    call_by_key,
)
from discreet.catalogue import Labels, Phrase, say
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
from discreet.samples import FEWEST, MOST

__all__ = ["STUDY"]

_SEED: Final = WholeType(0, 2**63 - 1)
_PATH: Final = TextType(Phrase("path"))
_NAME: Final = TextType(
    Phrase("letters, digits and . _ - (at most 63)"),
    "[A-Za-z0-9][A-Za-z0-9._-]{0,62}",
)
_QUERY_NAME: Final = TextType(Phrase("letters, digits and _, no digit first"), NAME_PATTERN)
_COLUMNS: Final = ListType(COLUMN_NAME, distinct=Phrase("must name nothing twice"))
_ALL_OR_NONE: Final = ChoiceType(("all", "none"))


def _several(*names: str) -> ListType:
    """One name, or a list of which each makes a variant."""
    return ListType(ChoiceType(names), Phrase("must not be empty"), least=1, single=True)


def _distinct(item: WholeType | ParameterType, most: int | None, shape: Labels) -> ListType:
    """One number, or a list of different ones."""
    return ListType(item, shape, least=1, most=most, distinct=shape, single=True)


# fmt: off
_SAMPLE: Final = FieldsType((
    SchemaKey("rows", WholeType(FEWEST, MOST), default="113290", example="113290",
        meaning=Phrase("Respondents of the sample survey.")),
    SchemaKey("seed", _SEED, default="1", example="1",
        meaning=Phrase("The seed of the sample survey, not of the noise.")),
))

_DATASET: Final = FieldsType((
    SchemaKey("card", _PATH, example="survey.yaml",
        meaning=Phrase("The card of a data file; the path starts at the study's folder.")),
    SchemaKey("file", _PATH, example="survey.parquet",
        meaning=Phrase("The data file that the card describes.")),
    SchemaKey("workspace", _PATH, example="office",
        meaning=Phrase("A workspace, in place of card and file.")),
    SchemaKey("name", TextType(Phrase("name")), example="survey",
        meaning=Phrase("The dataset's name in the workspace.")),
))

_WEIGHTS: Final = FieldsType((
    SchemaKey("multiplier", ParameterType(), default="1", example="1",
        meaning=Phrase("Weights, and all counts with them, are multiplied by it.")),
))

_SELECTION: Final = FieldsType((
    SchemaKey("column", COLUMN_NAME, required=True, example="smoking",
        meaning=Phrase("The column on whose answer it depends: a static one, or a protected one of which something "
                       "is asked.")),
    SchemaKey("codes", ListType(CodeType()), example="[1]",
        meaning=Phrase("Of a category: those with one of these codes.")),
    SchemaKey("above", NumberType(), example="30",
        meaning=Phrase("Of a number: those whose number lies above.")),
    SchemaKey("times", ParameterType(), required=True, example="0.5",
        meaning=Phrase("How many times as likely they are to answer in clear. The share of all stays the same.")),
))

_MODEL: Final = FieldsType((
    SchemaKey("model", ChoiceType(tuple(MODELS)), required=True, example="central", called=call_by_key,
        meaning=Phrase("How answers are protected: central as `discreet query` answers, table as `discreet table` "
                       "publishes, with all margins, local before they leave the respondent, hybrid with some in "
                       "clear, shuffle by mixing reports, which no command runs. `naive` is an early report's recipe; "
                       "it is not private, and is there only for comparison.")),
    SchemaKey("noise", _several(*MODELS["central"]), example="[laplace, gaussian]", goes_with=("central", "table"),
        meaning=Phrase("The noise that the office adds; gaussian is drawn for (ε, δ).")),
    SchemaKey("mechanism", _several(*MODELS["central"]), example="laplace", goes_with=("central", "table"),
        meaning=Phrase("Another spelling of `noise`.")),
    SchemaKey("calibrate", _several(*CALIBRATIONS), default=CALIBRATIONS[0], example="card", goes_with=("table",),
        meaning=Phrase("Whether weighted counts meet the totals of the card.")),
    SchemaKey("categories", _several(AUTOMATIC, *CATEGORY_RANDOMISERS), default=AUTOMATIC, example="[grr, oue]",
        goes_with=("local", "hybrid"),
        meaning=Phrase("The randomiser of categories; automatic takes the smallest expected variance.")),
    SchemaKey("numbers", _several(AUTOMATIC, *NUMBER_RANDOMISERS), default=AUTOMATIC, example="[piecewise, laplace]",
        goes_with=("local", "hybrid"),
        meaning=Phrase("The randomiser of numbers; automatic takes the smallest expected variance. `clip`, `modulo` "
                       "and `abs` are biased and are there only for comparison.")),
    SchemaKey("allocation", _several(*ALLOCATIONS), default=ALLOCATIONS[0], example="sampling",
        goes_with=("local", "hybrid"),
        meaning=Phrase("When ε is a total: each respondent reports a few columns that share it, or all do.")),
    SchemaKey("missing", _several(*MISSING), default=MISSING[0], example="category", goes_with=("local",),
        meaning=Phrase("Whether having no answer is public, or is an answer like any other.")),
    SchemaKey("counts", _several(*COUNTS), default=COUNTS[0], example="ratio", goes_with=("local",),
        meaning=Phrase("Counts come from the sum of the reports, or from the share among those asked, which suits "
                       "questions that are sampled.")),
    SchemaKey("share", _distinct(ParameterType(zero=True, below=1), None,
            Phrase("must be a list of different numbers from 0 and below 1")),
        example="[0.1, 0.3]", goes_with=("hybrid",),
        called=call_by_key,
        meaning=Phrase("The share of respondents who answer in clear; 0.1, 0.3 and 0.5 when absent.")),
    SchemaKey("selection", ListType(FormsType((ChoiceType(("none",)), _SELECTION),
            Phrase("must be none, or {{column, codes, times}} or {{column, above, times}}")), single=True),
        example="{column: smoking, codes: [1], times: 0.5}", goes_with=("hybrid",), called=call_by_key,
        meaning=Phrase("Who answers in clear more or less often than others. None when absent.")),
    SchemaKey("relation", _several(*RELATIONS), default=RELATIONS[0], example="strata", goes_with=("hybrid",),
        meaning=Phrase("The two groups are two samples of all, or parts (strata) of it.")),
    SchemaKey("mechanism", _several(*MODELS["shuffle"]), default=MODELS["shuffle"][0],
        example="[single-message, multi-message]", goes_with=("shuffle",),
        meaning=Phrase("The protocol of the mixed reports.")),
    SchemaKey("mechanism", _several(*MODELS["naive"]), default=MODELS["naive"][0], example="all", goes_with=("naive",),
        meaning=Phrase("Which recipes of an early report. They are not private, and are there only for comparison.")),
), by="model", called=lambda key, _where, value: say("{key} of {value}", key=key, value=value))

_NAMED: Final = FieldsType((
    SchemaKey("column", COLUMN_NAME, example="smoking",
        meaning=Phrase("A category column.")),
    SchemaKey("category", CodeType(), example="1",
        meaning=Phrase("The code whose weighted count is asked.")),
    SchemaKey("mean", COLUMN_NAME, example="height",
        meaning=Phrase("A number column whose weighted mean is asked, in place of column and category.")),
    SchemaKey("sum", COLUMN_NAME, example="height",
        meaning=Phrase("A number column whose weighted sum is asked, in place of column and category.")),
))

_CUSTOM: Final = FieldsType((
    SchemaKey("name", _QUERY_NAME, required=True, example="smokers_in_poor_health",
        meaning=Phrase("What the query is called; no column may have this name.")),
    SchemaKey("where", MappingType(
            ListType(CodeType(), Phrase("must be a list of at least one code, such as [1, 2]"), least=1),
            lambda name, _: say("codes of '{name}'", name=name),
            Phrase("must be a mapping of columns to codes, such as {{smoking: [1, 2]}}"), COLUMN_NAME, least=1),
        required=True, example="{smoking: [1], perceived_health: [4, 5]}",
        meaning=Phrase("Conditions that must all hold: the codes of columns.")),
    SchemaKey("mean", COLUMN_NAME, example="height",
        meaning=Phrase("A number column: its mean where the conditions hold, which are then on static columns.")),
    SchemaKey("sum", COLUMN_NAME, example="body_weight",
        meaning=Phrase("A number column: its sum where the conditions hold, which are then on static columns.")),
    SchemaKey("label", TextType(), example="Daily smokers in fair or poor health",
        meaning=Phrase("What readers see. The name when absent.")),
))

_QUERIES: Final = FieldsType((
    SchemaKey("categories", _ALL_OR_NONE, default="all", example="all",
        meaning=Phrase("Every category of every protected column, or none.")),
    SchemaKey("means", _ALL_OR_NONE, default="all", example="all",
        meaning=Phrase("The mean of every protected number, or none.")),
    SchemaKey("sums", _ALL_OR_NONE, default="none", example="none",
        meaning=Phrase("The sum of every protected number, weighted as the survey is, or none.")),
    SchemaKey("named", ListType(_NAMED, Phrase("queries must be a list of mappings"), each=Phrase("a named query")),
        example="[{column: smoking, category: 1}, {mean: height}]",
        meaning=Phrase("Queries by column: {{column, category}}, {{mean: column}} or {{sum: column}}. Each that is "
                       "named here gets figures.")),
    SchemaKey("custom", ListType(_CUSTOM, Phrase("queries must be a list of mappings"), each=Phrase("a custom query")),
        example="[{name: young_smokers, where: {smoking: [1], age_group: [1, 2]}}]",
        meaning=Phrase("Queries of one's own, each a question of its own, with an ε of its own.")),
))

STUDY: Final = FileSchema(
    "study",
    Phrase("the study"),
    Phrase("Study"),
    Phrase("What a choice of model, ε and mechanism does to your tables, before anything is released. It is computed "
           "from the true data with repeatable noise: its results are for the custodian alone."),
    FieldsType((
        SchemaKey("study", _NAME, required=True, example="smoking",
            meaning=Phrase("The name of the study.")),
        SchemaKey("title", TextType(), example="What privacy costs in the health survey",
            meaning=Phrase("The title of the report. The name when absent.")),
        SchemaKey("sample", _SAMPLE, example="{rows: 113290, seed: 1}",
            meaning=Phrase("Study the sample survey. A study has exactly one of `sample` and `dataset`.")),
        SchemaKey("dataset", _DATASET, example="{card: survey.yaml, file: survey.parquet}",
            meaning=Phrase("Study a data file with its card, {{card, file}}, or a dataset of a workspace, "
                           "{{workspace, name}}.")),
        SchemaKey("weights", _WEIGHTS, example="{multiplier: 1}",
            meaning=Phrase("What the weights stand for.")),
        SchemaKey("strata", _COLUMNS, example="[province]",
            meaning=Phrase("Category columns: every combination of them that occurs is a group. One group when "
                           "absent. Strata are public and never changed.")),
        SchemaKey("static", _COLUMNS, example="[sex, age_group]",
            meaning=Phrase("Columns left as they are, besides the strata. Whoever is unique on them stays "
                           "recognisable.")),
        SchemaKey("columns", _COLUMNS, example="[smoking, height]",
            meaning=Phrase("Columns to protect. When absent, every other category and every number with bounds.")),
        SchemaKey("models", ListType(FormsType((ChoiceType(tuple(MODELS)), _MODEL)),
                Phrase("must be a list of names or of {{model: name, ...}}"), least=1, each=Phrase("a model")),
            example="[central, {model: local, numbers: [piecewise, laplace]}]",
            meaning=Phrase("The models to compare: names, or mappings with their choices. A list in place of a "
                           "choice makes one variant of each. When absent: central, local, shuffle single-message "
                           "and multi-message.")),
        SchemaKey("epsilon", _distinct(ParameterType(largest=LARGEST_EPSILON), MOST_EPSILONS,
                Phrase("must be a list of 1 to {most} different numbers", most=MOST_EPSILONS)),
            required=True, example="[3, 1, 0.5]",
            meaning=Phrase("The privacy parameters to compare. Beyond 50 nothing is hidden.")),
        SchemaKey("epsilon_is", ChoiceType(("per-column", "total")), required=True, example="total",
            meaning=Phrase("Whether ε is spent on each column or on all together. Ten columns at ε = 1 each cost a "
                           "respondent 10; advice goes by the total.")),
        SchemaKey("delta", ParameterType(below=1), default="1e-6", example="1e-6",
            meaning=Phrase("δ of the shuffle models and of Gaussian noise.")),
        SchemaKey("noise", _several(*MODELS["central"]), example="[laplace, gaussian]",
            meaning=Phrase("The noise of central models and tables that name none. Laplace when absent.")),
        SchemaKey("neighbours", ChoiceType(tuple(Neighbours)), default=Neighbours.ADD_REMOVE, example="add-remove",
            meaning=Phrase("Neighbours for central, table and multi-message. The other models are replace-one by "
                           "nature.")),
        SchemaKey("runs", WholeType(1, MOST_RUNS), default="5", example="3",
            meaning=Phrase("Runs at each ε.")),
        SchemaKey("rows", _distinct(WholeType(1, MOST), MOST_SIZES,
                Phrase("must be a list of 1 to {most} different numbers of respondents", most=MOST_SIZES)),
            example="[2000, 10000, 50000]",
            meaning=Phrase("Accuracy against the number of respondents: the study is repeated on this many of them, "
                           "drawn at random in each run.")),
        SchemaKey("level", ParameterType(below=1), default="0.95", example="0.95",
            meaning=Phrase("Coverage of the intervals.")),
        SchemaKey("queries", _QUERIES,
            meaning=Phrase("What is asked in every group. Every category and every mean when absent.")),
        SchemaKey("figures", ListType(TextType(Phrase("query")), distinct=Phrase("must name nothing twice")),
            example="[smoking=1]",
            meaning=Phrase("Queries that get figures, by name: `smoking=1`, `mean of height`, or the name of a custom "
                           "query. When absent: the named and custom queries, or else the first six.")),
        SchemaKey("metrics", ListType(ChoiceType(METRICS), single=True), example="[ks-complement, linkage]",
            meaning=Phrase("Quality metrics. All when absent.")),
        SchemaKey("seed", _SEED, default="1", example="1",
            meaning=Phrase("The seed of all noise: the same seed gives the same study.")),
    )),
)
# fmt: on
