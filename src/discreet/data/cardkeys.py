"""The language of the card as one table: every key, what it means, what it takes.

The reader checks against it and finds the nearest key for a slip of the pen; the reference is made from it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

__all__ = ["CARD_KEYS", "Key", "find_key", "walk_keys"]


@dataclass(frozen=True, slots=True)
class Key:
    """One key: `type` says in words what it takes; `keys` are those of the mapping under it.

    `named` marks a mapping whose own keys are names chosen by the author (columns), each holding `keys`.
    """

    name: str
    meaning: str
    type: str
    required: bool = False
    keys: tuple[Key, ...] = ()
    named: bool = False


_TITLE: Final = "text, or {en: text, fr: text}"

_UNIT_KEYS: Final = (
    Key("column", "The id column: all rows with one id are one unit.", "column name", required=True),
    Key("rows", "The most rows of one unit that count.", "integer from 1 to 1,000,000", required=True),
)

_CAP_KEYS: Final = (
    Key("by", "The public category column that decides the cap.", "column name", required=True),
    Key("values", "The cap of every category of that column.", "{code: number}", required=True),
)

_WEIGHT_KEYS: Final = (
    Key("column", "The column of the survey weight; it need not be listed again.", "column name", required=True),
    Key(
        "cap",
        "Weights above it are cut to it; it is the sensitivity of a weighted count.",
        "number, or {by: column, values: {code: number}}",
        required=True,
        keys=_CAP_KEYS,
    ),
)

_TOTALS_KEYS: Final = (
    Key("by", "The public category column of the totals; absent: the grand total.", "column name"),
    Key("values", "The total of every category; one number without `by`.", "{code: number} | number", required=True),
    Key("source", "Where the totals were published: never the file itself.", _TITLE, required=True),
)

_BUDGET_KEYS: Final = (
    Key("epsilon", "What may be spent on the population, ever.", "number", required=True),
    Key("delta", "The delta of an (epsilon, delta) budget; 0 means pure.", "number below 1"),
    Key("per_analyst", "What one analyst may spend; the whole budget when absent.", "number"),
    Key("per_analyst_delta", "The delta of an analyst's cap; the budget's when absent.", "number below 1"),
)

_COLUMN_KEYS: Final = (
    Key("kind", "What the column holds.", "id | category | integer | number | text", required=True),
    Key("type", "How ids are compared; row: every row is a unit of its own. Only for an id.", "integer | text | row"),
    Key("label", "The name shown to readers.", _TITLE),
    Key("source", "The column's name in the file, when it differs.", "text"),
    Key("public", "The value is no secret and constant over a unit's rows.", "true | false"),
    Key("categories", "The closed list of codes, in the order of output.", "{code: label} or [code, ...]"),
    Key("bounds", "The lowest and highest value; private: each question pays to find them.", "[low, high] | private"),
    Key("step", "The grid values are rounded to; 1 for integers; for numbers a fine one by default.", "number"),
    Key("edges", "Where tables cut the column into bands; each begins at an edge.", "[number, ...]"),
    Key("typical", "A usual value, known without these rows: means are centred near it.", "number within bounds"),
    Key("precision", "How far off a mean may be for its readers; tables grade means by it.", "number"),
    Key("missing", "Codes that mean no answer.", "[code, ...]"),
    Key("complete", "Every row has a value: no key for those without, whose rows such keys leave out.", "true | false"),
    Key("presence", "Which rows have a value is no secret; needs size: public.", "public"),
    Key("references", "The column of another dataset that the values point at.", "dataset.column"),
    Key("provenance", "Bounds or categories were read from the rows, not decided.", "from_rows"),
)

CARD_KEYS: Final = (
    Key("dataset", "The name of the dataset.", "name of lower-case letters, digits, _", required=True),
    Key("title", "The title shown to readers; the name when absent.", _TITLE),
    Key("description", "A longer description.", _TITLE),
    Key("population", "Datasets of one population share one budget; the name when absent.", "name"),
    Key("unit", "Whom the guarantee protects.", "{column, rows}", required=True, keys=_UNIT_KEYS),
    Key("neighbours", "Which two data sets must look alike.", "add-remove | replace-one", required=True),
    Key("size", "Whether the number of units is public; private when absent.", "private | public"),
    Key(
        "membership",
        "Whether it is public who has rows here; matters in joins, needs size: public; confidential when absent.",
        "confidential | public",
    ),
    Key("weight", "The survey weight and its cap.", "{column, cap}", keys=_WEIGHT_KEYS),
    Key(
        "totals",
        "Public totals of the weights of everybody; weighted tables are calibrated to them.",
        "{by, values, source} or a list of them",
        keys=_TOTALS_KEYS,
    ),
    Key("budget", "What may be spent.", "{epsilon, ...}", required=True, keys=_BUDGET_KEYS),
    Key(
        "accounting",
        "rho: tables may take Gaussian noise that leaves less for later pure questions; epsilon when absent.",
        "epsilon | rho",
    ),
    Key("allow", "Releases without a proof that the custodian permits.", "[bootstrap, generated]"),
    Key("exact_public", "Outputs of sensitivity 0 may leave without noise.", "true | false"),
    Key("columns", "The columns, by name.", "{name: {...}}", required=True, keys=_COLUMN_KEYS, named=True),
)


def walk_keys(keys: tuple[Key, ...] = CARD_KEYS, prefix: str = "") -> Iterator[tuple[str, Key]]:
    """Every key with its dotted path, in the order of the card; a name chosen by the author is '*'."""
    for key in keys:
        path = f"{prefix}{key.name}"
        yield path, key
        yield from walk_keys(key.keys, f"{path}.*." if key.named else f"{path}.")


def find_key(path: str) -> Key:
    """The key at a dotted path."""
    return next(key for found, key in walk_keys() if found == path)
