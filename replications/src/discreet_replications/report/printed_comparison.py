"""The report's printed errors, its recipe's errors here, and those of mechanisms that keep their promise, side by side.

An error is the mean over runs of the absolute difference from the figure without noise, as in the report. The recipe
is held against the figure that it starts from: codes for "not stated" among the numbers, weights without a cap.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from discreet.catalogue import Phrase
from discreet.files import write_whole
from discreet.lab.study.execution.outcomes import StudyQuery
from discreet.lab.study.findings.averages import SHORT_NOTICE
from discreet.present import csv_text
from discreet_replications.report.printed_errors import Theirs, printed_source, printed_tables

if TYPE_CHECKING:
    from numpy import float64
    from numpy.typing import NDArray

__all__ = [
    "EVERYWHERE",
    "MODELS",
    "ErrorLine",
    "PrintedComparison",
    "compare",
    "correlate_ranks",
    "merge_theirs",
    "write_lines",
]

EVERYWHERE: Final = "mean over provinces"
# Each of the report's models, and the mechanisms that do the same rightly; a local one depends on column and ε.
MODELS: Final = {"central": ("laplace",), "local": (), "shuffle": ("single-message", "multi-message")}
_HEAD: Final = (
    "statistic",
    "column",
    "category",
    "epsilon",
    "model",
    "group",
    "theirs",
    "naive",
    "correct",
    "correct_mechanism",
    "theory",
)

_Key = tuple[str, str, float, str, str]
"""Model, mechanism, ε, name of the query, group; an empty mechanism stands for the only one."""


@dataclass(frozen=True, slots=True)
class ErrorLine:
    """Mean absolute errors of one query in one province, or averaged over them, under one model at one ε."""

    query: StudyQuery
    epsilon: Decimal
    model: str
    group: str
    theirs: float | None
    naive: float
    correct: float
    correct_mechanism: str
    theory: float

    def to_dict(self) -> dict[str, Any]:
        found: list[Any] = [self.query.statistic, self.query.column, self.query.category, float(self.epsilon)]
        found += [self.model, self.group, self.theirs, self.naive, self.correct, self.correct_mechanism, self.theory]
        return dict(zip(_HEAD, found, strict=True))


@dataclass(frozen=True, slots=True)
class PrintedComparison:
    """Every line, provinces first and then their mean, and where the report's figures come from."""

    lines: tuple[ErrorLine, ...]
    provinces: tuple[str, ...]
    queries: tuple[StudyQuery, ...]
    epsilons: tuple[Decimal, ...]
    source: Phrase

    def pick(
        self, *, query: StudyQuery, model: str, group: str = EVERYWHERE, mechanism: str | None = None
    ) -> tuple[ErrorLine, ...]:
        """The lines of a query at every ε, in the order of the study; of the first mechanism unless one is named."""
        mechanisms = MODELS[model]
        wanted = mechanism or (mechanisms[0] if mechanisms else None)
        return tuple(
            line
            for line in self.lines
            if (line.query, line.model, line.group) == (query, model, group)
            and wanted in {None, line.correct_mechanism}
        )

    def by_province(self, *, query: StudyQuery, model: str, epsilon: Decimal) -> tuple[ErrorLine, ...]:
        """One line for each province, of the first mechanism."""
        every = [self.pick(query=query, model=model, group=province) for province in self.provinces]
        return tuple(line for lines in every for line in lines if line.epsilon == epsilon)


def merge_theirs(full: Theirs | None) -> tuple[Theirs, Phrase]:
    """The printed errors, and where the full tables are given theirs in their place; and the words for the source."""
    printed = {key: error for table in printed_tables() for key, error in table.errors.items()}
    if full is None:
        return printed, printed_source()
    source = Phrase(
        "{printed} Where it has them, the errors are those of the given result file.", printed=printed_source()
    )
    return {**printed, **full}, source


def compare(folder: Path, *, theirs: Theirs, source: Phrase, provinces: Mapping[str, str]) -> PrintedComparison:
    """The comparison from a finished study's folder; `provinces` gives the code of each label, in order."""
    queries = tuple(table.query for table in printed_tables())
    measured = _mean_by_key(folder / "results.parquet", "error", queries)
    expected = _mean_by_key(folder / "theory.parquet", "expected_error", queries)
    epsilons = tuple(dict.fromkeys(Decimal(f"{key[2]:g}") for key in measured))
    lines: list[ErrorLine] = []
    for query in queries:
        for epsilon in epsilons:
            for model, mechanism in ((model, item) for model, every in MODELS.items() for item in every or ("",)):
                found = [
                    _line(query, epsilon, model, mechanism, label, theirs.get((query.name, epsilon, model, code)),
                          measured, expected)
                    for label, code in provinces.items()
                ]  # fmt: skip
                lines += [*found, _average(found)]
    return PrintedComparison(tuple(lines), tuple(provinces), queries, epsilons, source)


def write_lines(comparison: PrintedComparison, file: Path) -> None:
    """comparison.csv: one row for each line, and what it is."""
    text = csv_text([*_HEAD, "notice"], ((*line.to_dict().values(), SHORT_NOTICE) for line in comparison.lines))
    write_whole(file, text, durable=False)


def correlate_ranks(first: Sequence[float], second: Sequence[float]) -> float:
    """Spearman's rank correlation; equal values share their mean rank."""
    return float(np.corrcoef(_ranks(first), _ranks(second))[0, 1])


def _ranks(values: Sequence[float]) -> NDArray[float64]:
    _, indices, counts = np.unique(np.asarray(values, dtype=np.float64), return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    ranks: NDArray[float64] = (ends - (counts - 1) / 2)[indices]
    return ranks


def _line(
    query: StudyQuery,
    epsilon: Decimal,
    model: str,
    mechanism: str,
    group: str,
    theirs: float | None,
    measured: Mapping[_Key, tuple[str, float]],
    expected: Mapping[_Key, tuple[str, float]],
) -> ErrorLine:
    at = (float(epsilon), query.name, group)
    text, correct = measured[model, mechanism, *at]
    _, naive = measured["naive", model, *at]
    return ErrorLine(query, epsilon, model, group, theirs, naive, correct, text, expected[model, mechanism, *at][1])


def _average(lines: Sequence[ErrorLine]) -> ErrorLine:
    """Over the provinces; theirs only where every province has one."""
    theirs = [line.theirs for line in lines if line.theirs is not None]
    first = lines[0]
    return ErrorLine(
        first.query,
        first.epsilon,
        first.model,
        EVERYWHERE,
        fmean(theirs) if len(theirs) == len(lines) else None,
        fmean(line.naive for line in lines),
        fmean(line.correct for line in lines),
        first.correct_mechanism,
        fmean(line.theory for line in lines),
    )


def _mean_by_key(file: Path, value: str, queries: Sequence[StudyQuery]) -> dict[_Key, tuple[str, float]]:
    """The mechanism as the table names it, and the mean over runs."""
    import pyarrow.parquet as pq

    keys = ["model", "mechanism", "epsilon", "column", "category", "group"]
    table = pq.ParquetFile(file).read(columns=[*keys, value])
    names = {(query.column, query.category): query.name for query in queries}
    rows = table.group_by(keys, use_threads=False).aggregate([(value, "mean")]).to_pylist()
    return {key: (row["mechanism"], row[f"{value}_mean"]) for row in rows for key in _keys(row, names)}


def _keys(row: Mapping[str, Any], names: Mapping[tuple[str, str | None], str]) -> Iterator[_Key]:
    name = names.get((row["column"], row["category"]))
    if name is not None:
        mechanism = "" if row["model"] == "local" else row["mechanism"]
        yield row["model"], mechanism, row["epsilon"], name, row["group"]
