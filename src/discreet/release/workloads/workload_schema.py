"""The language of a workload: every key, what it takes, what it means, and what holds where it is absent."""

from __future__ import annotations

from typing import Final

from discreet.cards import FieldsType, FileSchema, ListType, MappingType, NumberType, ParameterType, SchemaKey, TextType
from discreet.catalogue import Phrase, say

__all__ = ["MOST_QUESTIONS", "WORKLOAD"]

MOST_QUESTIONS: Final = 1_000

_NAME: Final = TextType(
    Phrase("letters, digits and . _ - (at most 63)"),
    "[A-Za-z0-9][A-Za-z0-9._-]{0,62}",
)
_OUTPUT: Final = TextType(Phrase("output"))
_AMOUNTS: Final = MappingType(
    NumberType(),
    lambda name, what: say("{what} of '{name}'", what=what, name=name),
    Phrase("must be a mapping of names to numbers, such as {{n: 500}}"),
    names=_OUTPUT,
    least=1,
)

# fmt: off
_QUESTION: Final = FieldsType((
    SchemaKey("name", _NAME, required=True, example="smokers",
        meaning=Phrase("What the question is called in tables and answers. No two questions may have the same name.")),
    SchemaKey("sql", TextType(Phrase("SQL text")), required=True,
        example="SELECT province, SUM(weight) AS people FROM survey GROUP BY province",
        meaning=Phrase("The statement.")),
    SchemaKey("within", _AMOUNTS, example="{people: 50000}",
        meaning=Phrase("Half-widths that outputs must reach in every cell.")),
    SchemaKey("share", ParameterType(), example="2",
        meaning=Phrase("The weight with which it shares what targets leave of the total, in place of `within`. 1 "
                       "when absent.")),
    SchemaKey("assume", _AMOUNTS, example="{n: 500}",
        meaning=Phrase("What widths of means and ratios may assume of every cell.")),
))

WORKLOAD: Final = FileSchema(
    "workload",
    Phrase("the workload"),
    Phrase("Workload"),
    Phrase("Questions fixed in advance, with the accuracy that each must reach or its share of a total; they are "
           "charged as one."),
    FieldsType((
        SchemaKey("analyst", TextType(Phrase("name")), example="ana",
            meaning=Phrase("Who asks. `--analyst`, $DISCREET_ANALYST or the system's user when absent.")),
        SchemaKey("level", ParameterType(below=1), default="0.95", example="0.95",
            meaning=Phrase("Coverage of the intervals.")),
        SchemaKey("epsilon", ParameterType(), example="2",
            meaning=Phrase("The total. When absent, the smallest that meets the targets. `--epsilon` on the command "
                           "line takes precedence.")),
        SchemaKey("delta", ParameterType(zero=True, below=1), default="0", example="1e-6",
            meaning=Phrase("The total for questions whose keys come from the rows, shared equally among them.")),
        SchemaKey("questions", ListType(_QUESTION,
                Phrase("must be a list of 1 to {most:,}, each with a name and sql", most=MOST_QUESTIONS),
                least=1, most=MOST_QUESTIONS, each=Phrase("a question")), required=True,
            meaning=Phrase("The questions, at most 1,000, each with a target (`within`) or a share.")),
    )),
)
# fmt: on
