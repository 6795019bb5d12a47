"""Rows for the generator: read from prepared data, written in the card's own terms."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest

from discreet.errors import FileRefused, ParameterInvalid, Refused
from discreet.lab.generator.generator_rows import MOST_CATEGORIES, GeneratorRows, Shape, read_rows, read_units
from discreet.lab.generator.training_settings import Settings
from discreet.workspace.folder import Dataset
from discreet.workspace.row_source import RowSource
from tests.unit.tables.office import PEOPLE, open_office


@pytest.fixture
def people(tmp_path: Path) -> Iterator[Dataset]:
    with open_office(tmp_path) as office:
        yield office.session.workspace.dataset("people")


def test_ids_and_texts_are_left_out(people: Dataset) -> None:
    rows, units = read_rows(people), read_units(people)
    names = [shape.name for shape in rows.shapes]
    assert {"region", "age", "height"} <= set(names)
    assert not {"pid", "town", "ord"} & set(names)
    assert len(rows) == len(units) == len(set(units.tolist()))
    shapes = {shape.name: shape for shape in rows.shapes}
    assert (shapes["height"].step, shapes["height"].low, shapes["height"].high) == ("0.01", 100, 250)
    assert (shapes["wide"].low, shapes["wide"].high) == (None, None)
    assert shapes["guessed"].from_rows
    assert shapes["region"].categories == ("N", "S")


def test_rows_beyond_what_a_unit_may_have_are_left_out(tmp_path: Path) -> None:
    with open_office(tmp_path, people=[*PEOPLE, PEOPLE[0], {**PEOPLE[1], "age": 98}]) as office:
        dataset = office.session.workspace.dataset("people")
        rows, units = read_rows(dataset), read_units(dataset)
    assert len(rows) == len(units) == len(PEOPLE)
    assert sorted(units.tolist()) == sorted(one["pid"] for one in PEOPLE)


def test_missing_values_are_nan_and_the_rest_whole(people: Dataset) -> None:
    rows, units = read_rows(people), read_units(people)
    np.testing.assert_array_equal(np.isnan(rows.values["region"]), units % 17 == 0)
    for values in rows.values.values():
        there = values[np.isfinite(values)]
        np.testing.assert_array_equal(there, np.rint(there))


def test_rows_are_written_in_codes_and_units() -> None:
    shapes = (Shape("c", "category", categories=("x", "y")), Shape("n", "number", step="0.25"), Shape("i", "integer"))
    rows = GeneratorRows(
        shapes, {"c": np.array([1, np.nan]), "n": np.array([np.nan, -3]), "i": np.array([10.0**15, 2])}
    )
    assert rows.to_arrow().to_pydict() == {"c": ["y", None], "n": [None, Decimal("-0.75")], "i": [10**15, 2]}


def test_rows_elsewhere_or_damaged_are_refused(people: Dataset, tmp_path: Path) -> None:
    table = RowSource("postgres", dsn_env="DSN", table="people", types=(("pid", "integer"),))
    with pytest.raises(Refused, match="stay in postgres"):
        read_rows(replace(people, source=table))
    damaged = tmp_path / "damaged.parquet"
    damaged.write_bytes(b"PAR1")
    with pytest.raises(FileRefused, match="cannot be read"):
        read_rows(replace(people, data=damaged))


def test_too_many_categories_are_refused_with_what_to_do() -> None:
    codes = tuple(str(code) for code in range(MOST_CATEGORIES + 1))
    assert Shape("codes", "category", categories=codes[1:])
    with pytest.raises(Refused, match=r"'codes' has 5001 categories.*Group its codes, or declare it as text"):
        Shape("codes", "category", categories=codes)


@pytest.mark.parametrize(
    ("name", "value"), [("epochs", 0), ("epochs", -3), ("epochs", 1.5), ("batch", 0), ("pac", -1), ("patience", 0)]
)
def test_settings_out_of_range_are_told_by_name(name: str, value: float) -> None:
    with pytest.raises(ParameterInvalid, match=f"{name} must be a whole number from 1 to"):
        Settings(**{name: value})  # type: ignore[arg-type]


def test_a_batch_is_whole_packs() -> None:
    with pytest.raises(ParameterInvalid, match="batch must be a multiple of pac, which is 10; received 25"):
        Settings(batch=25, pac=10)


@pytest.mark.parametrize(
    ("rows", "pac", "batch", "modes"), [(20, 1, 2, 1), (569, 1, 56, 5), (9_999, 1, 500, 10), (10_000, 10, 500, 10)]
)
def test_what_follows_from_the_number_of_rows(rows: int, pac: int, batch: int, modes: int) -> None:
    settings = Settings()
    assert (settings.pac_for(rows), settings.batch_for(rows), settings.modes_for(rows)) == (pac, batch, modes)


def test_a_batch_larger_than_the_data_shrinks() -> None:
    assert Settings(batch=500, pac=10).batch_for(57) == 50
    assert Settings(batch=500, pac=10).batch_for(20) == 20
