"""Generated rows as files: the card's own codes, no formulas, and what is unproven says so on every line."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from discreet.errors import ParameterInvalid, PathInvalid
from discreet.guarantees.types import ZCDP, Unproven
from discreet.lab.generator.generated_files import check_file, write_rows
from discreet.lab.generator.generator_rows import GeneratorRows, Shape

SHAPES = (
    Shape("town", "category", categories=("N", "=cmd()", 'a "b", c')),
    Shape("age", "integer"),
    Shape("height", "number", step="0.01"),
)
NAN = float("nan")
ROWS = GeneratorRows(
    SHAPES,
    {
        "town": np.array([0.0, 1.0, 2.0, NAN]),
        "age": np.array([20.0, NAN, -7.0, 0.0]),
        "height": np.array([181.0, 1.0, NAN, -150.0]),
    },
)
UNPROVEN = Unproven("it was generated")


def _lines(path: Path) -> list[list[str]]:
    with path.open(newline="", encoding="utf-8") as stream:
        return list(csv.reader(stream))


def test_a_csv_file_in_the_terms_of_the_card_that_says_what_it_is_not(tmp_path: Path) -> None:
    write_rows(ROWS, tmp_path / "made.csv", guarantee=UNPROVEN, facts={})
    head, *lines = _lines(tmp_path / "made.csv")
    assert head == ["town", "age", "height", "guarantee"]
    assert [line[:3] for line in lines] == [
        ["N", "20", "1.81"],
        ["'=cmd()", "", "0.01"],
        ['a "b", c', "-7", ""],
        ["", "0", "-1.50"],
    ]
    assert {line[3] for line in lines} == {"not differentially private: it was generated"}


def test_proven_rows_need_no_such_column(tmp_path: Path) -> None:
    write_rows(ROWS, tmp_path / "made.csv", guarantee=ZCDP(rho="0.5"), facts={})
    assert _lines(tmp_path / "made.csv")[0] == ["town", "age", "height"]


def test_a_parquet_file_names_its_guarantee_in_the_schema(tmp_path: Path) -> None:
    for guarantee in (UNPROVEN, ZCDP(rho="0.5")):
        write_rows(ROWS, tmp_path / "made.parquet", guarantee=guarantee, facts={"model": "default"})
        table = pq.read_table(tmp_path / "made.parquet")
        told = table.schema.metadata
        assert told[b"discreet.guarantee"].decode() == str(guarantee)
        assert told[b"discreet.differentially_private"] == (b"true" if guarantee is not UNPROVEN else b"false")
        assert told[b"discreet.model"] == b"default"
        assert ("guarantee" in table.column_names) == (guarantee is UNPROVEN)
        assert table.column("town").to_pylist() == ["N", "=cmd()", 'a "b", c', None]


def test_a_column_of_that_name_is_kept(tmp_path: Path) -> None:
    rows = GeneratorRows((Shape("Guarantee", "integer"),), {"Guarantee": np.array([1.0, NAN])})
    write_rows(rows, tmp_path / "made.csv", guarantee=UNPROVEN, facts={})
    head, first, second = _lines(tmp_path / "made.csv")
    assert head == ["Guarantee", "_discreet_guarantee"]
    assert (first[0], second[0], "not differentially private" in second[1]) == ("1", "", True)


def test_files_that_cannot_be_written_are_refused_first(tmp_path: Path) -> None:
    with pytest.raises(ParameterInvalid, match=r"\.csv or \.parquet"):
        check_file(tmp_path / "made.xlsx", overwrite=False)
    with pytest.raises(PathInvalid, match="no folder"):
        check_file(tmp_path / "none" / "made.csv", overwrite=False)
    (tmp_path / "made.csv").write_text("mine")
    with pytest.raises(PathInvalid, match="--overwrite"):
        check_file(tmp_path / "made.csv", overwrite=False)
    check_file(tmp_path / "made.csv", overwrite=True)
