"""The language of a workload: every key, what it takes, what it means, and what holds where it is absent."""

from __future__ import annotations

from typing import Final

from discreet.cards import FieldsType, FileSchema, ListType, MappingType, NumberType, ParameterType, SchemaKey, TextType
from discreet.results import Labels

__all__ = ["MOST_QUESTIONS", "WORKLOAD"]

MOST_QUESTIONS: Final = 1_000

_NAME: Final = TextType(
    Labels("letters, digits and . _ - (at most 63)", "lettres, chiffres et . _ - (63 au plus)"),
    "[A-Za-z0-9][A-Za-z0-9._-]{0,62}",
)
_OUTPUT: Final = TextType(Labels("output", "sortie"))
_AMOUNTS: Final = MappingType(
    NumberType(), "{what} of '{name}'", "is a mapping of names to numbers, such as {n: 500}", names=_OUTPUT, least=1
)

# fmt: off
_QUESTION: Final = FieldsType((
    SchemaKey("name", _NAME, required=True, example="smokers",
        en="What the question is called in tables and answers. No two have one name.",
        fr="Le nom de la question dans les tableaux et les réponses. Deux questions n'ont pas le même nom."),
    SchemaKey("sql", TextType(Labels("SQL text", "texte SQL")), required=True,
        example="SELECT province, SUM(weight) AS people FROM survey GROUP BY province",
        en="The statement.",
        fr="L'instruction."),
    SchemaKey("within", _AMOUNTS, example="{people: 50000}",
        en="Half-widths that outputs must reach in every cell.",
        fr="Les demi-largeurs que les sorties doivent atteindre dans chaque cellule."),
    SchemaKey("share", ParameterType(), example="2",
        en="The weight with which it shares what targets leave of the total, in place of `within`. 1 when absent.",
        fr="Le poids avec lequel elle partage ce que les cibles laissent du total, sans `within`. 1 par défaut."),
    SchemaKey("assume", _AMOUNTS, example="{n: 500}",
        en="What widths of means and ratios may assume of every cell.",
        fr="Ce que les largeurs des moyennes et des rapports peuvent supposer de chaque cellule."),
))

WORKLOAD: Final = FileSchema(
    "workload", "the workload",
    Labels("Workload", "Lot de questions"),
    Labels(
        "Questions fixed in advance, with the accuracy that each must reach or its share of a total; they are charged "
        "as one.",
        "Des questions fixées d'avance, avec la précision que chacune doit atteindre ou sa part d'un total ; elles "
        "sont débitées en une fois.",
    ),
    FieldsType((
        SchemaKey("analyst", TextType(Labels("name", "nom")), example="ana",
            en="Who asks. `--analyst`, $DISCREET_ANALYST or the system's user when absent.",
            fr="Qui demande. `--analyst`, $DISCREET_ANALYST ou l'utilisateur du système par défaut."),
        SchemaKey("level", ParameterType(below=1), default="0.95", example="0.95",
            en="Coverage of the intervals.",
            fr="Le niveau de couverture des intervalles."),
        SchemaKey("epsilon", ParameterType(), example="2",
            en="The total. When absent, the least that meets the targets. `--epsilon` on the command line goes first.",
            fr="Le total. Par défaut, le moins qui atteigne les cibles. `--epsilon` sur la ligne de commande "
               "l'emporte."),
        SchemaKey("delta", ParameterType(zero=True, below=1), default="0", example="1e-6",
            en="The total for questions whose keys come from the rows, shared equally among them.",
            fr="Le total pour les questions dont les clés viennent des lignes, partagé également entre elles."),
        SchemaKey("questions", ListType(_QUESTION, f"are a list of 1 to {MOST_QUESTIONS:,}, each with a name and sql",
                least=1, most=MOST_QUESTIONS, each="a question"), required=True,
            en="The questions, at most 1,000, each with a target (`within`) or a share.",
            fr="Les questions, 1 000 au plus, chacune avec une cible (`within`) ou une part."),
    )),
)
# fmt: on
