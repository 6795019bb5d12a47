"""The tabular generator: seconds of an epoch of training and of sampling 100,000 rows, and how like the real ones.

Breast is there without data; `python -m benchmarks generator --data DIR` adds diabetes, every column but the id of the
encounter. Needs the extras `gan` and `study`. Wall time, and the time of all threads.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pyarrow.compute as pc
from discreet_replications.thesis.data.arff import KidneyReading
from discreet_replications.thesis.data.public_ranges import COLUMNS, Range
from discreet_replications.thesis.data.readings import ThesisTable, read_data

from discreet.lab.generator.generator_rows import GeneratorRows, Shape
from discreet.lab.generator.inspection import INDEPENDENT, inspect
from discreet.lab.generator.training import Settings, train

EPOCHS = {"breast": 300, "diabetes": 1}
LEFT_OUT = {"encounter_id"}
CODED = {"diag_1", "diag_2", "diag_3"}
ROWS = 100_000


def run(data: Path | None = None) -> dict[str, float]:
    tables = read_data(data).tables(KidneyReading.CLEAN)
    figures: dict[str, float] = {}
    for name, epochs in EPOCHS.items():
        if name in tables:
            rows = _rows(tables[name])
            with _clock(figures, f"{name}: an epoch", share=epochs):
                model = train(rows, Settings(epochs=epochs))
            with _clock(figures, f"{name}: {ROWS:,} rows sampled"):
                made = model.sample(ROWS)
            seen = inspect(rows, {"generated": made})
            for who in ("generated", INDEPENDENT):
                figures[f"{name}: correlations, {who}"] = seen.correlations[who] or 0.0
            figures[f"{name}: shapes of columns, generated"] = seen.shapes["generated"] or 0.0
    return figures


@contextmanager
def _clock(figures: dict[str, float], what: str, share: int = 1) -> Iterator[None]:
    wall, work = time.perf_counter(), time.process_time()
    yield
    figures[f"{what}, s"] = (time.perf_counter() - wall) / share
    figures[f"{what}, s of all threads"] = (time.process_time() - work) / share


def _rows(table: ThesisTable) -> GeneratorRows:
    """Columns that have a range are numbers, all others categories, and so are diagnoses: some 700 codes each."""
    steps = {
        item.column: float(item.step)
        for item in COLUMNS[table.dataset]
        if isinstance(item, Range) and item.column not in CODED
    }
    shapes, values = [], {}
    for name in table.arrow.column_names:
        if name in LEFT_OUT:
            continue
        column = table.arrow.column(name)
        if name in steps:
            shapes.append(Shape(name, "number", step=f"{steps[name]:f}"))
            values[name] = np.rint(pc.cast(column, "float64").to_numpy() / steps[name])
        else:
            coded = column.combine_chunks().dictionary_encode()
            shapes.append(Shape(name, "category", categories=tuple(coded.dictionary.to_pylist())))
            values[name] = pc.cast(coded.indices, "float64").to_numpy(zero_copy_only=False)
    return GeneratorRows(tuple(shapes), values)
