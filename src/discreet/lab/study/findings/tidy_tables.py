"""The tidy tables of a study: what columns each has, and how one task's outcome becomes its rows.

Every table carries the notice that it was computed from the true data, in the metadata of its schema.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from discreet.catalogue import Phrase
from discreet.files import staged_file

if TYPE_CHECKING:
    from numpy import float64
    from numpy.typing import NDArray

    from discreet.lab.study.execution.outcomes import Answered, TheoryError
    from discreet.lab.study.frame import StudyFrame

__all__ = [
    "NOTICE",
    "SIZES",
    "TABLES",
    "TaskHeading",
    "empty",
    "results",
    "rows_of",
    "schema",
    "sized",
    "theory",
    "write_table",
]

NOTICE: Final = Phrase(
    "A study: computed from the true data with repeatable noise. Not a release; for the custodian alone."
)

_TEXT, _WHOLE, _NUMBER, _TRUTH = "string", "int32", "float64", "bool"
_WHO: Final = {"model": _TEXT, "mechanism": _TEXT, "epsilon": _NUMBER}
_ASKED: Final = {"group": _TEXT, "column": _TEXT, "category": _TEXT, "statistic": _TEXT}

# By file name: the columns in their order, and what each holds.
TABLES: Final[dict[str, dict[str, str]]] = {
    "results": {
        **_WHO,
        "delta": _NUMBER,
        "run": _WHOLE,
        **_ASKED,
        **dict.fromkeys(("truth", "estimate", "error", "low", "high"), _NUMBER),
    },
    "theory": {**_WHO, "delta": _NUMBER, **_ASKED, "expected_error": _NUMBER},
    "quality": {
        **_WHO,
        "run": _WHOLE,
        "column": _TEXT,
        "static": _TRUTH,
        "metric": _TEXT,
        "basis": _TEXT,
        "value": _NUMBER,
    },
    "shapes": {
        **_WHO,
        "column": _TEXT,
        "bin": _WHOLE,
        "label": _TEXT,
        "original": _NUMBER,
        "protected": _NUMBER,
        "basis": _TEXT,
    },
    "correlations": {
        **_WHO,
        "first": _TEXT,
        "second": _TEXT,
        "original": _NUMBER,
        "protected": _NUMBER,
        "basis": _TEXT,
    },
    "linkage": {
        **_WHO,
        "column": _TEXT,
        **dict.fromkeys(("respondents", "linked", "within_2", "within_5"), _WHOLE),
        **dict.fromkeys(("success_before", "success_after", "baseline"), _NUMBER),
    },
}

# Only of studies that are repeated on fewer respondents: `whole` is the true figure of all of them.
SIZES: Final = "sizes"
_SIZED: Final = {
    SIZES: {
        **_WHO,
        "delta": _NUMBER,
        "respondents": _WHOLE,
        "run": _WHOLE,
        **_ASKED,
        **dict.fromkeys(("whole", "truth", "estimate", "error", "low", "high", "expected_error"), _NUMBER),
    }
}
_EVERY: Final = {**TABLES, **_SIZED}


@dataclass(frozen=True, slots=True)
class TaskHeading:
    """What all rows of one task share; `marks` tell its model from others of the same name."""

    model: str
    epsilon: Decimal
    delta: Decimal
    run: int
    marks: tuple[str, ...] = ()
    respondents: int | None = None

    def mechanism(self, name: str) -> str:
        """The mechanism as the tables write it: no two models of a study share model and mechanism."""
        text = self.marks in {(), (name,)}
        return name if text else f"{name} ({', '.join(self.marks)})"

    def values(self) -> dict[str, str | float | int]:
        """By column name; a table takes those that it has."""
        size = {} if self.respondents is None else {"respondents": self.respondents}
        return {
            "model": self.model,
            "epsilon": float(self.epsilon),
            "delta": float(self.delta),
            "run": self.run,
            **size,
        }


def schema(name: str) -> Any:
    """The Arrow schema of a table, notice included."""
    import pyarrow as pa

    return pa.schema(list(_EVERY[name].items()), metadata={"notice": NOTICE.en})


def empty(name: str) -> Any:
    import pyarrow as pa

    return pa.Table.from_batches([], schema=schema(name))  # an array from a list would load pandas, where there is one


def results(heading: TaskHeading, frame: StudyFrame, answered: Sequence[Answered]) -> Any:
    """Every answer of one task, one row per query and group."""
    return _asked("results", heading, frame, answered, _values(answered))


def sized(
    heading: TaskHeading,
    frame: StudyFrame,
    answered: Sequence[Answered],
    *,
    whole: Sequence[NDArray[float64]],
    expected: Sequence[TheoryError],
) -> Any:
    """The same of a task on fewer respondents, beside the true figures of all of them and the error expected."""
    errors, unknown = {item.query: item.error for item in expected}, np.full(len(frame.groups), np.nan)
    more = {"whole": _stack(whole), "expected_error": _stack([errors.get(item.query, unknown) for item in answered])}
    return _asked(SIZES, heading, frame, answered, {**_values(answered), **more})


def _values(answered: Sequence[Answered]) -> dict[str, Any]:
    sides = ("truth", "estimate", "low", "high")
    values = {side: _stack([getattr(item, side) for item in answered]) for side in sides}
    values["error"] = np.abs(values["estimate"] - values["truth"])
    return values


def theory(heading: TaskHeading, frame: StudyFrame, expected: Sequence[TheoryError]) -> Any:
    """The errors that theory expects, one row per query and group."""
    return _asked("theory", heading, frame, expected, {"expected_error": _stack([item.error for item in expected])})


def rows_of(name: str, heading: TaskHeading, rows: Sequence[Any]) -> Any:
    """Rows that name their own fields, under the heading of their task."""
    columns = {field: [getattr(row, field) for row in rows] for field in _own_fields(name)}
    columns["mechanism"] = [heading.mechanism(lines) for lines in columns["mechanism"]]
    return _table(name, heading, columns, len(rows))


def join_parts(parts: Sequence[Mapping[str, Any]], names: Iterable[str]) -> dict[str, Any]:
    """The tables of these names, from those of all tasks in their order."""
    import pyarrow as pa

    return {
        name: pa.concat_tables([empty(name), *(part[name] for part in parts if name in part)]).combine_chunks()
        for name in names
    }


def write_table(name: str, table: Any, file: Path) -> None:
    """One table as a Parquet file, whole or not at all."""
    import pyarrow.parquet as pq

    with staged_file(file, durable=False) as staged:
        pq.write_table(table.cast(schema(name)), staged, compression="zstd")


def _asked(
    name: str,
    heading: TaskHeading,
    frame: StudyFrame,
    text: Sequence[Answered] | Sequence[TheoryError],
    values: dict[str, Any],
) -> Any:
    groups = len(frame.groups)
    each: dict[str, list[str | None]] = {
        "mechanism": [heading.mechanism(item.mechanism) for item in text],
        "column": [item.query.column for item in text],
        "category": [item.query.category for item in text],
        "statistic": [item.query.statistic for item in text],
    }
    columns: dict[str, Any] = {field: _repeat(words, groups) for field, words in each.items()}
    columns["group"] = list(frame.groups) * len(text)
    return _table(name, heading, {**columns, **values}, groups * len(text))


def _table(name: str, heading: TaskHeading, columns: dict[str, Any], size: int) -> Any:
    import pyarrow as pa

    shared = {field: pa.repeat(value, size) for field, value in heading.values().items() if field in _EVERY[name]}
    arrays = [
        shared[field].cast(kind) if field in shared else pa.array(columns[field], type=kind)
        for field, kind in zip(_EVERY[name], schema(name).types, strict=True)
    ]
    return pa.Table.from_arrays(arrays, schema=schema(name))


def _own_fields(name: str) -> list[str]:
    return [field for field in TABLES[name] if field not in {"model", "epsilon", "delta", "run"}]


def _repeat(words: Iterable[str | None], times: int) -> list[str | None]:
    return [word for word in words for _ in range(times)]


def _stack(arrays: Sequence[Any]) -> Any:
    return np.concatenate(arrays) if arrays else np.zeros(0)
