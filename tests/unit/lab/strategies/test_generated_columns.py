"""What generated columns reach to: worked out once, kept beside the model, never taken from another one."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from discreet.cards.card import parse_card
from discreet.errors import ParameterInvalid, UnknownName
from discreet.guarantees.types import Neighbours
from discreet.lab.generator.generator_rows import GeneratorRows, Shape
from discreet.lab.strategies.generated_columns import GeneratedColumns, reach_of
from discreet.lab.strategies.subject import AggregateKind, Subject
from discreet.sql.algebra import Clamp, Field, Value
from tests.algebra.columns import at, scan

CARD = """
dataset: t
population: people
unit: {column: pid, rows: 1}
neighbours: add-remove
budget: {epsilon: 1}
columns:
  pid: {kind: id, type: integer}
  change: {kind: number, bounds: [-10, 10], step: 0.25}
"""
CHANGE = Field(at("change"))
SOURCE = scan(parse_card(CARD, file="t.yaml"))
SUBJECT = Subject(
    aggregate=AggregateKind.SUM,
    source=SOURCE,
    value=CHANGE,
    step=Fraction(1, 4),
    unit_rows=1,
    neighbours=Neighbours.ADD_REMOVE,
    low=-40,
    high=40,
    bounded=True,
    dataset="t",
    column="change",
    text="SUM(change)",
)

SHAPES = (
    Shape("group", "category", categories=("a", "b")),
    Shape("age", "integer"),
    Shape("change", "number", step="0.25"),
    Shape("gone", "integer"),
)


@dataclass
class Stand:
    """In place of a trained model: rows that grow with the sample, and a count of the samples asked for."""

    asked: list[int] = field(default_factory=list)

    def sample(self, count: int) -> GeneratorRows:
        self.asked.append(count)
        missing = np.full(3, np.nan)
        values = {
            "group": np.array([0.0, 1.0, np.nan]),
            "age": np.array([3.0, np.nan, float(count)]),
            "change": np.array([-9.0, 2.0, np.nan]),
            "gone": missing,
        }
        return GeneratorRows(SHAPES, values)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "model.json").write_text('{"sha256": "one"}')
    return tmp_path


def columns(folder: Path, model: Any, sample_size: int = 100) -> GeneratedColumns:
    return GeneratedColumns(folder, lambda: model, sample_size)


def test_reaches_are_in_the_columns_own_units() -> None:
    reach = reach_of(Stand().sample(50))
    assert reach == {"age": (3, 50), "change": (Fraction(-9, 4), Fraction(1, 2)), "gone": None}


def test_a_question_sees_generated_values_in_its_own_units(folder: Path) -> None:
    """The largest change generated is -9 steps of 0.25; half-steps, hundreds of steps and clamps are of those steps."""
    card = parse_card(CARD, file="t.yaml")
    found = columns(folder, Stand())

    def maximum(value: Value, step: Fraction, aggregate: AggregateKind = AggregateKind.SUM) -> Fraction:
        return found.maximum_for(replace(SUBJECT, value=value, step=step, aggregate=aggregate), card)

    assert maximum(CHANGE, Fraction(1, 4)) == Fraction(9, 4)
    assert maximum(CHANGE, Fraction(25)) == 225
    assert maximum(Clamp(CHANGE, 0, 6), Fraction(1, 4)) == Fraction(6, 4)
    assert maximum(Clamp(CHANGE, -20, 6), Fraction(1, 4)) == Fraction(9, 4)
    assert maximum(CHANGE, Fraction(1), AggregateKind.COUNT) == 0


def test_a_model_is_sampled_once_for_each_size(folder: Path) -> None:
    model = Stand()
    found = columns(folder, model)
    assert found.maximum("age") == 100
    assert found.maximum("change") == Fraction(9, 4)
    assert found.maximum("gone") == 0
    assert columns(folder, model, 7).maximum("age") == 7
    assert columns(folder, model, 100).maximum("age") == 100
    assert model.asked == [100, 7]


def test_a_kept_figure_needs_no_model(folder: Path) -> None:
    columns(folder, Stand()).maximum("age")

    def fail() -> Any:
        raise AssertionError("loaded")

    assert GeneratedColumns(folder, fail, 100).maximum("age") == 100
    with pytest.raises(AssertionError):
        GeneratedColumns(folder, fail, 101).maximum("age")


@pytest.mark.parametrize(
    "stored",
    ["", "[]", '{"schema": 1}', '{"schema": 1, "model": "x", "samples": {}}', '{"schema": 9, "model": null}'],
)
def test_a_damaged_or_foreign_file_is_made_anew(folder: Path, stored: str) -> None:
    (folder / "generated.json").write_text(stored)
    model = Stand()
    assert columns(folder, model).maximum("age") == 100
    assert columns(folder, model).maximum("age") == 100
    assert model.asked == [100]


@pytest.mark.parametrize("ends", [["1"], ["1", "x"], ["1/0", "2"], 5])
def test_damaged_figures_are_made_anew(folder: Path, ends: object) -> None:
    columns(folder, Stand()).maximum("age")
    stored = json.loads((folder / "generated.json").read_text())
    stored["samples"]["100"]["age"] = ends
    (folder / "generated.json").write_text(json.dumps(stored))
    model = Stand()
    assert columns(folder, model).maximum("age") == 100
    assert model.asked == [100]


def test_another_model_in_the_folder_is_sampled_anew(folder: Path) -> None:
    columns(folder, Stand()).maximum("age")
    (folder / "model.json").write_text('{"sha256": "two"}')
    model = Stand()
    columns(folder, model).maximum("age")
    assert model.asked == [100]


def test_columns_that_are_no_numbers_are_unknown(folder: Path) -> None:
    with pytest.raises(UnknownName, match="Did you mean 'age'"):
        columns(folder, Stand()).maximum("agee")
    with pytest.raises(UnknownName):
        columns(folder, Stand()).maximum("group")


@pytest.mark.parametrize("size", [0, -1, 10**9, True, 2.5])
def test_bad_sample_sizes(folder: Path, size: Any) -> None:
    with pytest.raises(ParameterInvalid, match="sample size"):
        columns(folder, Stand(), size)
