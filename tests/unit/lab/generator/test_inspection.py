"""What an inspection says of a column and of pairs, against counting by hand and against SDMetrics."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from decimal import Decimal
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
import pytest

from discreet.errors import Refused
from discreet.lab.generator.generator_rows import GeneratorRows, Shape
from discreet.lab.generator.inspection import INDEPENDENT, REAL, draw_independently, inspect

SHAPES = (
    Shape("town", "category", categories=("N", "S", "E", "W")),
    Shape("age", "integer", low=0, high=110),
    Shape("height", "number", step="0.01", low=100, high=250),
    Shape("weight", "number", step="0.5"),
)


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(7)


def _rows(rng: np.random.Generator, count: int, *, shift: int = 0) -> GeneratorRows:
    height = rng.normal(170 + shift, 10, count).round()
    values = {
        "town": rng.choice(4, count, p=[0.4, 0.3, 0.2, 0.1]).astype(float),
        "age": rng.integers(18, 90, count).astype(float),
        "height": height,
        "weight": (height - 100 + rng.normal(0, 4, count)).round(),
    }
    for column in ("town", "age"):
        values[column][rng.random(count) < 0.1] = np.nan
    return GeneratorRows(SHAPES, values)


def test_what_a_column_holds_is_counted_in_the_units_of_the_card() -> None:
    real = GeneratorRows(
        SHAPES[:3], {"town": _of(0, 0, 2, None), "age": _of(20, 30, 30, 40), "height": _of(151, 199, None, 160)}
    )
    made = GeneratorRows(SHAPES[:3], {"town": _of(1, None), "age": _of(None, None), "height": _of(-5, 163)})
    town, age, height = inspect(real, {"model": made}).columns
    assert (town.facts[REAL].cardinality, town.facts[REAL].uniqueness, town.facts[REAL].missing) == (2, 0.5, 0.25)
    assert (town.facts[REAL].low, town.facts[REAL].shape) == (None, None)
    assert town.facts["model"].shape == pytest.approx(0.0)
    assert (age.facts[REAL].cardinality, age.facts[REAL].low, age.facts[REAL].high) == (3, Decimal(20), Decimal(40))
    assert (age.facts["model"].missing, age.facts["model"].low, age.facts["model"].shape) == (1.0, None, None)
    assert (height.facts[REAL].low, height.facts[REAL].high) == (Decimal("1.51"), Decimal("1.99"))
    assert height.facts["model"].to_dict()["range"] == ["-0.05", "1.63"]


@pytest.mark.slow
def test_shapes_and_correlations_are_those_of_sdmetrics(rng: np.random.Generator) -> None:
    from sdmetrics.column_pairs import CorrelationSimilarity
    from sdmetrics.single_column import KSComplement, TVComplement

    real, made = _rows(rng, 800), _rows(rng, 300, shift=8)
    found = inspect(real, {"model": made})
    frames = [pd.DataFrame(dict(rows.values)) for rows in (real, made)]
    for column in found.columns:
        metric = TVComplement if column.kind == "category" else KSComplement
        expected = metric.compute(*(frame[column.name] for frame in frames))
        assert column.facts["model"].shape == pytest.approx(expected, abs=1e-6)
    pairs = [list(pair) for pair in combinations(["age", "height", "weight"], 2)]
    scores = [CorrelationSimilarity.compute(*(frame[pair] for frame in frames)) for pair in pairs]
    assert found.correlations["model"] == pytest.approx(np.mean(scores), abs=1e-9)
    assert found.pairs["model"] == 3
    shapes = [column.facts["model"].shape for column in found.columns]
    assert found.shapes["model"] == pytest.approx(np.mean([shape for shape in shapes if shape is not None]))


def test_independent_columns_keep_shapes_and_lose_correlations(rng: np.random.Generator) -> None:
    real = _rows(rng, 4000)
    found = inspect(real, {"model": _rows(rng, 4000)}, random=rng)
    assert list(found.rows) == [REAL, "model", INDEPENDENT]
    shape, correlation = found.shapes[INDEPENDENT], found.correlations[INDEPENDENT]
    assert shape is not None
    assert shape > 0.95
    true = np.corrcoef(real.values["height"], real.values["weight"])[0, 1]
    assert correlation == pytest.approx(1 - true / 6, abs=0.03)
    assert found.beats_independence is True
    again = inspect(real, {"model": draw_independently(real, 4000, rng)}, random=rng)
    assert again.correlations["model"] == pytest.approx(correlation, abs=0.05)


def test_pairs_with_a_constant_column_are_left_out_and_counted(rng: np.random.Generator) -> None:
    real, made = _rows(rng, 200), _rows(rng, 200)
    flat = GeneratorRows(SHAPES, {**made.values, "age": np.full(200, 40.0)})
    found = inspect(real, {"varied": made, "flat": flat})
    assert (found.pairs["varied"], found.pairs["flat"]) == (3, 1)
    nothing = GeneratorRows(SHAPES, {name: np.full(200, 1.0) for name in real.values})
    empty = inspect(nothing, {"model": made})
    assert (empty.pairs["model"], empty.correlations["model"], empty.beats_independence) == (0, None, None)


@pytest.mark.parametrize("change", [{"categories": ("S", "N", "E", "W")}, {"categories": ("N", "S", "E")}])
def test_rows_in_other_codes_are_not_compared(change: dict[str, Any]) -> None:
    rows = GeneratorRows(SHAPES[:1], {"town": _of(0, 1)})
    other = GeneratorRows((replace(SHAPES[0], **change),), rows.values)
    with pytest.raises(Refused, match="have changed since"):
        inspect(rows, {"model": other})


def test_rows_in_other_steps_are_not_compared() -> None:
    rows = GeneratorRows(SHAPES[2:3], {"height": _of(150, 160)})
    with pytest.raises(Refused, match="have changed since"):
        inspect(rows, {"model": GeneratorRows((replace(SHAPES[2], step="0.1"),), rows.values)})


def test_categories_alone_have_no_correlations() -> None:
    rows = GeneratorRows(SHAPES[:1], {"town": _of(0, 1)})
    found = inspect(rows, {"model": rows})
    assert (found.correlations["model"], found.pairs["model"]) == (None, 0)


def test_machines_get_plain_values(rng: np.random.Generator) -> None:
    made = _rows(rng, 50)
    missing = GeneratorRows(SHAPES, {**made.values, "age": np.full(50, np.nan)})
    told = json.loads(json.dumps(inspect(_rows(rng, 50), {"model": missing}).to_dict(), allow_nan=False))
    assert told["custodian_only"] is True
    assert told["columns"][1]["sets"]["model"] == {
        "cardinality": 0,
        "uniqueness": 0.0,
        "missing": 1.0,
        "range": None,
        "shape": None,
    }
    assert set(told["correlation_similarity"]) == {"model", INDEPENDENT}
    assert not any(math.isnan(score) for score in told["column_shapes"].values())


def test_rows_that_cannot_be_compared_are_refused(rng: np.random.Generator) -> None:
    real = _rows(rng, 20)
    with pytest.raises(Refused, match="at least one"):
        inspect(real, {"model": _rows(rng, 0)})
    other = GeneratorRows(SHAPES[:1], {"town": _of(1)})
    with pytest.raises(Refused, match="have changed since"):
        inspect(real, {"model": other})
    with pytest.raises(ValueError, match="name other rows"):
        inspect(real, {REAL: real})


def _of(*values: float | None) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    return np.array([np.nan if value is None else value for value in values], dtype=np.float64)
