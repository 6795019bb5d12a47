"""The data sets and rows generated from them, column by column: the thesis' Tables 1 to 4 with ours beside them.

The thesis counts a "?" as a value like any other, and takes generated numbers without their sign; so do the figures
here. Everything follows from the real rows: for the custodian and for studies.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from discreet.catalogue import Phrase, say
from discreet.lab.generator.generator_rows import GeneratorRows, read_rows
from discreet.lab.generator.inspection import INDEPENDENT, REAL, ColumnFacts, Inspection, inspect
from discreet.lab.strategies.generated_columns import GeneratedColumns
from discreet_replications.thesis.data.arff import KidneyReading
from discreet_replications.thesis.data.printed_columns import PRINTED_COLUMNS, SIZES, PrintedColumn
from discreet_replications.thesis.data.thesis_cards import Variant

if TYPE_CHECKING:
    from discreet.lab.generator.shelf import Shelved
    from discreet_replications.thesis.benchmark_runs import House, Progress
    from discreet_replications.thesis.data.readings import Readings, ThesisTable

__all__ = ["ColumnLine", "GeneratorSample", "compare_columns", "list_columns", "sample_generators"]


_NO_COLUMN: Final = Phrase("This copy of the data has no such column.")
_NO_CODES: Final = Phrase("No code book lists its codes, so the generator leaves it out.")


@dataclass(frozen=True, slots=True)
class GeneratorSample:
    """One generator at work: the sets of the tables beside the real rows, and the seconds that it took.

    `loading` is the time to open the model, `seconds` that to generate so many rows.
    """

    inspection: Inspection
    loading: float
    seconds: Mapping[int, float]


@dataclass(frozen=True, slots=True)
class ColumnLine:
    """One line of Tables 1 to 4: the printed figures, and ours of the real rows and of each generated set.

    A figure of ours is empty where there is none, and `why` says why.
    """

    printed: PrintedColumn
    real: str
    generated: tuple[str, ...]
    why: Phrase | None = None

    @property
    def agrees(self) -> bool:
        """Whether the real rows give what is printed of them; generated ones differ from training to training."""
        return self.real == self.printed.real

    def to_dict(self) -> dict[str, Any]:
        sizes = ["as many as real" if size is None else f"{size}" for size in SIZES[self.printed.dataset]]
        return {
            "table": self.printed.table,
            "dataset": self.printed.dataset,
            "column": self.printed.column,
            "measure": self.printed.measure,
            "printed_real": self.printed.real,
            "real": self.real,
            "agrees": self.agrees,
            "generated_rows": sizes,
            "printed_generated": list(self.printed.generated),
            "generated": list(self.generated),
            "why": "" if self.why is None else self.why.en,
        }


# --- generated rows -------------------------------------------------------------------------------------------------


def sample_generators(
    house: House, models: Mapping[str, Shelved], sizes: Sequence[int], progress: Progress
) -> dict[str, GeneratorSample]:
    """Every generator's sets for the tables, and its time for each of `sizes`; what `generated` looks at is kept."""
    result = {}
    for dataset, shelved in models.items():
        real = read_rows(house.workspace(Variant.PRIVATE_BOUNDS, wide=True).dataset(dataset))
        start = time.perf_counter()
        model = shelved.load()
        loading = time.perf_counter() - start
        tabled = [len(real) if size is None else size for size in SIZES[dataset]]
        sets, seconds = {}, {}
        wanted = dict.fromkeys((*tabled, *sizes))
        for done, size in enumerate(wanted):
            progress(say("sampling {dataset}", dataset=dataset), done, len(wanted))
            start = time.perf_counter()
            rows = model.sample(size)
            seconds[size] = time.perf_counter() - start
            if size in sizes:
                _keep_reach(shelved, rows, size)
            if size in tabled:
                sets[f"generated {size:,}"] = _unsigned(rows)
        result[dataset] = GeneratorSample(inspect(real, sets), loading, seconds)
    return result


class _Drawn:
    """A model whose rows are there already."""

    def __init__(self, rows: GeneratorRows) -> None:
        self._rows = rows

    def sample(self, count: int) -> GeneratorRows:
        assert count == len(self._rows)
        return self._rows


def _keep_reach(shelved: Shelved, rows: GeneratorRows, size: int) -> None:
    """How far the columns reach is kept beside the model, so that these rows need not be made again."""
    numbers = [shape.name for shape in rows.shapes if shape.kind != "category"]
    if numbers:
        drawn: Any = _Drawn(rows)
        GeneratedColumns(shelved.folder, lambda: drawn, size).maximum(numbers[0])


def _unsigned(rows: GeneratorRows) -> GeneratorRows:
    numbers = {shape.name for shape in rows.shapes if shape.kind != "category"}
    return GeneratorRows(rows.shapes, {n: np.abs(v) if n in numbers else v for n, v in rows.values.items()})


# --- lines ----------------------------------------------------------------------------------------------------------


def compare_columns(
    readings: Readings, sampled: Mapping[str, GeneratorSample], *, why: Phrase
) -> tuple[ColumnLine, ...]:
    """Tables 1 to 4 for the data that were read, kidney as the thesis read it; `why` generators are missing."""
    reading = KidneyReading.THESIS if KidneyReading.THESIS in readings.kidney else KidneyReading.CLEAN
    tables = readings.tables(reading)
    return tuple(
        _line(printed, tables[printed.dataset], sampled.get(printed.dataset), why)
        for printed in PRINTED_COLUMNS
        if printed.dataset in tables
    )


def _line(printed: PrintedColumn, table: ThesisTable, sampled: GeneratorSample | None, why: Phrase) -> ColumnLine:
    there = printed.column in table.arrow.column_names
    real = _real(printed, table) if there else ""
    nothing = ("",) * len(printed.generated)
    if not there:
        return ColumnLine(printed, real, nothing, _NO_COLUMN)
    if sampled is None:
        return ColumnLine(printed, real, nothing, why)
    inspected = {item.name: item.facts for item in sampled.inspection.columns}
    if printed.column not in inspected:
        return ColumnLine(printed, real, nothing, _NO_CODES)
    facts = [item for name, item in inspected[printed.column].items() if name not in {REAL, INDEPENDENT}]
    return ColumnLine(printed, real, tuple(_generated(printed, item) for item in facts))


def _real(printed: PrintedColumn, table: ThesisTable) -> str:
    distinct, unknown = table.as_written(printed.column)
    match printed.measure:
        case "cardinality":
            return f"{distinct:,}"
        case "uniqueness":
            return _percent(distinct / table.rows, printed.real)
    return _percent(unknown / table.rows, printed.real)


def _generated(printed: PrintedColumn, facts: ColumnFacts) -> str:
    match printed.measure:
        case "cardinality":
            return f"{facts.cardinality + (facts.missing > 0):,}"
        case "uniqueness":
            return _percent(facts.uniqueness)
    return _percent(facts.missing)


def _percent(share: float, like: str = "0.0%") -> str:
    """With the decimals of the printed figure, and none in 0% and 100%."""
    if share in {0, 1}:
        return f"{share:.0%}"
    return f"{share:.{len(like.rstrip('%').partition('.')[2])}%}"


# --- every column ---------------------------------------------------------------------------------------------------


def list_columns(readings: Readings, sampled: Mapping[str, GeneratorSample]) -> Iterator[dict[str, Any]]:
    """Cardinality, uniqueness and missing share of every column: of the real rows, and of each generated set."""
    for dataset, table in readings.tables(KidneyReading.CLEAN).items():
        for column in table.arrow.column_names:
            distinct, missing = len(table.arrow.column(column).drop_null().unique()), table.missing(column)
            yield _column_row(dataset, column, REAL, table.rows, distinct, missing / table.rows)
        if dataset not in sampled:
            continue
        found = sampled[dataset].inspection
        for item in found.columns:
            for name, facts in item.facts.items():
                if name not in {REAL, INDEPENDENT}:
                    yield _column_row(dataset, item.name, name, found.rows[name], facts.cardinality, facts.missing)


def _column_row(dataset: str, column: str, rows_of: str, rows: int, distinct: int, missing: float) -> dict[str, Any]:
    return {
        "dataset": dataset,
        "column": column,
        "of": rows_of,
        "rows": rows,
        "cardinality": distinct,
        "uniqueness": distinct / rows,
        "missing": missing,
    }
