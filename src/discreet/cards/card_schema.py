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
    call_by_place,
)
from discreet.catalogue import Phrase, say
from discreet.guarantees import Neighbours

__all__ = ["BOUNDS_PAIR", "CAPS_BY_CODE", "CARD", "CATEGORIES", "CHOSEN_NAME", "call_missing_codes"]

_DATASET_PATTERN: Final = "[a-z][a-z0-9_]{0,62}"

CHOSEN_NAME: Final = TextType(
    Phrase("letters, digits and underscores, at most 63, no digit first"),
    NAME_PATTERN,
)
CATEGORIES: Final = FormsType(
    (
        MappingType(
            LabelType(),
            lambda name, what: say("{what}, label of '{name}'", what=what, name=name),
            Phrase("must not be empty"),
            least=1,
        ),
        ListType(CodeType(), Phrase("must not be empty"), least=1),
    ),
    Phrase("must be a list of codes or a mapping from code to label"),
)
BOUNDS_PAIR: Final = ListType(NumberType(), Phrase("must be a list of two numbers, [low, high]"), least=2, most=2)
CAPS_BY_CODE: Final = MappingType(
    NumberType(positive=True),
    lambda name, _: say("cap of '{name}'", name=name),
    Phrase("must be a mapping from code to number"),
    least=1,
)

_DATASET: Final = TextType(
    Phrase("a lower-case letter, then letters, digits or _, at most 63"),
    _DATASET_PATTERN,
)
_POPULATION: Final = TextType(
    Phrase("lower-case letters, digits, . _ -, at most 63"),
    "[a-z0-9][a-z0-9._-]{0,62}",
)
_REFERENCE: Final = TextType(
    Phrase("dataset.column"),
    rf"{_DATASET_PATTERN}\.{NAME_PATTERN}",
    Phrase("name a dataset and its column, as in clinics.clinic_id"),
)
_BOUNDS_SHAPE: Final = Phrase("must be a list of two numbers, [low, high], or private")
_BOUNDS: Final = FormsType(
    (ListType(NumberType(), _BOUNDS_SHAPE, least=2, most=2), ChoiceType(("private",))), _BOUNDS_SHAPE
)


def call_missing_codes(_key: str, where: str, _value: str) -> str:
    """What messages call codes that mean no answer."""
    return say("missing codes of {where}", where=where)


def _kinds(key: str) -> tuple[str, ...]:
    """The kinds of column with which a key goes."""
    return tuple(kind for kind, keys in FITTING.items() if key in keys)


# fmt: off
_UNIT: Final = FieldsType((
    SchemaKey("column", COLUMN_NAME, required=True, example="person_id", called=Phrase("unit column"),
        meaning=Phrase("The id column: all rows with one id are one unit, which is protected.")),
    SchemaKey("rows", WholeType(1, 10**6), required=True, example="1", called=Phrase("rows of the unit"),
        meaning=Phrase("The most rows of one unit that count. The rest are passed over by a rule fixed in advance.")),
))

_CAP: Final = FieldsType((
    SchemaKey("by", COLUMN_NAME, required=True, example="province", called=Phrase("cap column"),
        meaning=Phrase("The public category column that decides the cap.")),
    SchemaKey("values", CAPS_BY_CODE, required=True, example="{10: 1700, 24: 2500}",
        called=Phrase("caps of the weight"),
        meaning=Phrase("The cap of every category of that column.")),
))

_WEIGHT: Final = FieldsType((
    SchemaKey("column", COLUMN_NAME, required=True, example="weight", called=Phrase("weight column"),
        meaning=Phrase("The column of the survey weight, with bounds from 0 upwards. When it is not among the "
                       "columns, it is a number from 0 to its largest cap, in steps of 0.01 or finer where a cap is.")),
    SchemaKey("cap", FormsType((NumberType(positive=True), _CAP)), required=True, example="1700",
        called=Phrase("cap of the weight"),
        meaning=Phrase("Weights above it are cut to it; it is the sensitivity of a weighted count. It lies on the "
                       "weight's step and not above its upper bound.")),
))

_TOTALS: Final = FieldsType((
    SchemaKey("by", COLUMN_NAME, example="province", called=Phrase("column of the totals"),
        meaning=Phrase("The public category column of the totals. Without it, `values` is the grand total.")),
    SchemaKey("values", FormsType((
            NumberType(negative=False),
            MappingType(NumberType(negative=False), lambda name, _: say("total of '{name}'", name=name),
                Phrase("must be a mapping from code to number"), least=1),
        )), required=True, example="{10: 459931, 24: 7173161}", called=Phrase("totals"),
        meaning=Phrase("The total of every category, none left out; one number without `by`.")),
    SchemaKey("source", LabelType(), required=True, example="{en: Census 2016, fr: Recensement de 2016}",
        called=Phrase("source of the totals"),
        meaning=Phrase("Where the totals were published: never the file itself. It is printed with every table that "
                       "meets them.")),
))

_BUDGET: Final = FieldsType((
    SchemaKey("epsilon", ParameterType(), required=True, example="3",
        meaning=Phrase("What may be spent on the population, ever.")),
    SchemaKey("delta", ParameterType(zero=True, below=1), default="0", example="1e-6",
        meaning=Phrase("The delta of an (epsilon, delta) budget; 0 means pure.")),
    SchemaKey("per_analyst", ParameterType(), example="1",
        meaning=Phrase("What one analyst may spend. The whole budget when absent.")),
    SchemaKey("per_analyst_delta", ParameterType(zero=True, below=1), example="1e-7",
        meaning=Phrase("The delta of an analyst's cap. The budget's when absent.")),
), called=lambda key, _where, _value: say("budget {key}", key=key))

_COLUMN: Final = FieldsType((
    SchemaKey("kind", ChoiceType(tuple(ColumnKind)), required=True, example="category",
        meaning=Phrase("What the column holds.")),
    SchemaKey("type", ChoiceType(("integer", "text", "row")), example="integer", goes_with=_kinds("type"),
        needed_with=("id",),
        meaning=Phrase("How ids are compared: `007` and `7` are one integer, and two texts. With `row` every row is "
                       "a unit of its own and `rows` of the unit is 1; the file needs no such column.")),
    SchemaKey("label", LabelType(), example="{en: Province, fr: Province}",
        meaning=Phrase("The name shown to readers. The column's when absent.")),
    SchemaKey("source", TextType(), example="capital-gain",
        meaning=Phrase("The column's name in the file, when it differs.")),
    SchemaKey("public", FlagType(), default="false", example="true", goes_with=_kinds("public"),
        meaning=Phrase("The value is no secret and constant over a unit's rows. An integer needs bounds for it.")),
    SchemaKey("categories", CATEGORIES, example="{10: Newfoundland and Labrador, 24: Quebec}",
        goes_with=_kinds("categories"), needed_with=("category",),
        meaning=Phrase("Every code there can be, in the order of output.")),
    SchemaKey("bounds", _BOUNDS, example="[12, 110]", goes_with=_kinds("bounds"),
        meaning=Phrase("The lowest and highest value that anyone would expect, not the data's own. What lies "
                       "outside is moved to the nearer one; sums and means need them. With `private` nobody knows "
                       "them: each question spends a part of its epsilon to find some.")),
    SchemaKey("step", NumberType(positive=True), example="0.001", goes_with=_kinds("step"),
        meaning=Phrase("The precision worth keeping: values are rounded to multiples of it. Bounds are multiples "
                       "too. When absent it is 1 for integers, and for a number with bounds the power of ten that "
                       "cuts its range into a million steps or more.")),
    SchemaKey("edges", ListType(NumberType(), Phrase("must be a list of numbers")), example="[12, 18, 25, 45, 65, 110]",
        goes_with=_kinds("edges"),
        meaning=Phrase("Where tables cut the column into bands; each begins at an edge. Edges rise, lie on the step "
                       "and reach from bound to bound.")),
    SchemaKey("typical", NumberType(), example="45", goes_with=_kinds("typical"),
        meaning=Phrase("A usual value, known without these rows: it lowers the error of means. They are centred "
                       "near it; it lies within the bounds.")),
    SchemaKey("precision", NumberType(positive=True), example="0.5", goes_with=_kinds("precision"),
        meaning=Phrase("The error in a mean that its readers can accept, in the column's unit; tables grade means by "
                       "it.")),
    SchemaKey("missing", ListType(CodeType()), example="[9.996, 9.999]", called=call_missing_codes,
        meaning=Phrase("Codes that mean no answer.")),
    SchemaKey("complete", FlagType(), default="false", example="true", goes_with=_kinds("complete"),
        meaning=Phrase("Every row should have a value: no key is listed for rows without one, and such rows fall in "
                       "no group by the column.")),
    SchemaKey("presence", ChoiceType(("public",)), example="public", goes_with=_kinds("presence"),
        meaning=Phrase("Which rows have a value is no secret; needs `size: public`.")),
    SchemaKey("references", _REFERENCE, example="clinics.clinic_id", goes_with=_kinds("references"),
        meaning=Phrase("The column of another dataset of the population that the values point at.")),
    SchemaKey("provenance", ChoiceType(("from_rows",)), example="from_rows", goes_with=_kinds("provenance"),
        meaning=Phrase("Bounds or categories were read from the rows, not decided. What uses them is released as "
                       "unproven.")),
), by="kind", called=call_by_place)

CARD: Final = FileSchema(
    "card",
    Phrase("the card"),
    Phrase("Dataset card"),
    Phrase("What a dataset is, before anyone may ask it anything: whom it protects, what its columns hold, how far a "
           "value may reach, and how much may be spent."),
    FieldsType((
        SchemaKey("dataset", _DATASET, required=True, example="survey",
            meaning=Phrase("The name of the dataset.")),
        SchemaKey("title", LabelType(), example="{en: Health survey, fr: Enquête sur la santé}",
            meaning=Phrase("The title shown to readers. The name when absent.")),
        SchemaKey("description", LabelType(), example="A survey of health and smoking.",
            meaning=Phrase("A longer description.")),
        SchemaKey("population", _POPULATION, example="cchs-2017",
            meaning=Phrase("Datasets about the same units share one population and its budget. The dataset's name "
                           "when absent.")),
        SchemaKey("unit", _UNIT, required=True,
            meaning=Phrase("Whom the guarantee protects.")),
        SchemaKey("neighbours", ChoiceType(tuple(Neighbours)), required=True, example="add-remove",
            meaning=Phrase("Which two data sets an observer must not tell apart. They differ by one unit more, or "
                           "by one unit replaced.")),
        SchemaKey("size", ChoiceType(tuple(SizeRule)), default=SizeRule.PRIVATE, example="private",
            meaning=Phrase("Whether the number of units is public. Only with `neighbours: replace-one` can it be.")),
        SchemaKey("rows_at_most", WholeType(1, 2 * 10**9), example="50000000",
            meaning=Phrase("A public bound on the number of rows, never read from the data. By it, questions that "
                           "may need more memory and disk than there is are refused before a charge; a file with "
                           "more rows is refused.")),
        SchemaKey("membership", ChoiceType(tuple(Membership)), default=Membership.CONFIDENTIAL, example="confidential",
            meaning=Phrase("Whether it is public knowledge who has rows here. It matters where datasets are joined: "
                           "whoever is in both is protected unless all of them say `public`. Needs `size: public`.")),
        SchemaKey("weight", _WEIGHT,
            meaning=Phrase("The survey weight, and where it is cut.")),
        SchemaKey("totals", ListType(_TOTALS, single=True),
            meaning=Phrase("Public totals of the weights of everybody; weighted tables are calibrated to them. "
                           "Several must agree on the grand total.")),
        SchemaKey("budget", _BUDGET, required=True,
            meaning=Phrase("What may be spent on the population.")),
        SchemaKey("accounting", ChoiceType(tuple(Accounting)), default=Accounting.EPSILON, example="rho",
            meaning=Phrase("What an (epsilon, delta) budget is meant for. With `epsilon`, tables never take room "
                           "from later pure questions that Laplace noise would have left; with `rho` they may, and "
                           "then take Gaussian noise that errs less.")),
        SchemaKey("allow", ListType(ChoiceType(ALLOWED_RELEASES)), example="[bootstrap]",
            meaning=Phrase("Releases without a proof that the custodian permits. Each leaves a permanent marker on "
                           "the ledger.")),
        SchemaKey("exact_public", FlagType(), default="false", example="true",
            meaning=Phrase("Whether outputs that no unit can change may leave without noise.")),
        SchemaKey("columns", MappingType(_COLUMN, lambda name, _: say("column '{name}'", name=name), names=CHOSEN_NAME,
                least=1, empty=Phrase("a card has at least one column")), required=True,
            meaning=Phrase("The columns, by name. No two names differ by case only; `ord` and names that begin with "
                           "`_discreet` are taken.")),
    )),
)
# fmt: on
