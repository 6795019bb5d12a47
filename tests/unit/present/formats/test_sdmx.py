"""SDMX-CSV: the names and codes that offices expect, read back by pysdmx itself."""

from __future__ import annotations

import csv
import dataclasses
import io
import sys
from decimal import Decimal
from pathlib import Path

import pytest
from pysdmx.io.csv.sdmx20.reader import read
from pysdmx.model.dataset import ActionType

from discreet.errors import ExtraMissing, ParameterInvalid
from discreet.present.formats.sdmx import to_sdmx_csv
from discreet.present.release_files import check_output
from discreet.results import Labels, Release
from tests.places import GOLDEN as _GOLDEN
from tests.releases import change_cells, put_figures, put_step
from tests.unit.present.conftest import with_plain_codes

GOLDEN = _GOLDEN / "tables"


@pytest.fixture
def counted(counted: Release) -> Release:
    return with_plain_codes(counted)


@pytest.fixture
def bootstrapped(bootstrapped: Release) -> Release:
    return with_plain_codes(bootstrapped)


def read_rows(table: Release) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(to_sdmx_csv(table, "en"), newline="")))


def test_the_text_is_the_golden_one(counted: Release) -> None:
    assert to_sdmx_csv(counted, "en").encode() == (GOLDEN / "counted.sdmx.csv").read_bytes()


def test_pysdmx_reads_it_back(counted: Release) -> None:
    (dataset,) = read(to_sdmx_csv(counted, "en"))
    assert dataset.structure == "DataStructure=DISCREET:SURVEY_BY_PROVINCE_SMOKING(1.0)"
    assert dataset.action == ActionType.Information
    data = dataset.data
    assert list(data["PROVINCE"].unique()) == ["10", "24", "59", "_T"]
    assert list(data["SMOKING"].unique()) == ["1", "2", "-3", "4", "_U", "_T"]
    values = ["NaN" if entry.value is None else str(entry.value) for entry in counted.entries()]
    assert list(data["OBS_VALUE"]) == values


def test_status_and_bounds(counted: Release) -> None:
    rows = read_rows(counted)
    assert [row["OBS_STATUS"] for row in rows[:15]] == list("AAAAUAAAAUQUAUU")
    assert {row["CONF_STATUS"] for row in rows} == {"F"}
    assert (rows[4]["LOWER_BOUND"], rows[4]["UPPER_BOUND"]) == ("-60.0", "34.0")
    assert (rows[10]["OBS_VALUE"], rows[10]["LOWER_BOUND"]) == ("NaN", "")
    assert {row["UNIT_MEASURE"] for row in rows} == {"NUMBER"}
    assert {row["DECIMALS"] for row in rows} == {"0"}


def test_a_release_without_proof_says_so_on_every_line(bootstrapped: Release) -> None:
    rows = read_rows(bootstrapped)
    assert all(row["GUARANTEE"].startswith("not differentially private") for row in rows)
    assert {row["LOWER_BOUND"] for row in rows} == {""}


def test_decimals_and_units_follow_the_table(counted: Release) -> None:
    table = put_step(put_figures(change_cells(counted, value=1.5), margins=[]), "0.01")
    row = read_rows(dataclasses.replace(table, asked={"value": "height"}))[0]
    assert (row["OBS_VALUE"], row["DECIMALS"], row["UNIT_MEASURE"]) == ("1.5", "2", "_U")
    means = read_rows(dataclasses.replace(put_step(table, None), asked={"unit_measure": "MTR"}))[0]
    assert (means["DECIMALS"], means["UNIT_MEASURE"]) == ("", "MTR")


def test_a_level_is_written_like_any_exact_number(counted: Release) -> None:
    for level, written in (("0.950", "0.95"), ("1e-7", "0.0000001")):
        row = read_rows(dataclasses.replace(counted, level=Decimal(level)))[0]
        assert row["INTERVAL_LEVEL"] == written


def test_names_and_codes_that_are_taken_give_way(counted: Release) -> None:
    headings = (dataclasses.replace(counted.headings[0], name="action"), counted.headings[1])
    cells = [figure._replace(codes=("_T", figure.codes[1])) for figure in counted.cells[:5]]
    rows = read_rows(put_figures(dataclasses.replace(counted, headings=headings), cells=cells))
    assert rows[0]["ACTION"] == "I"
    assert rows[0]["ACTION_"] == "_T"
    assert rows[-1]["ACTION_"] == "_T_"


@pytest.mark.parametrize("code", ["010", "NaN", "nan", "None", "#N/A", "1e5", 'a,"b"', "é", " x "])
def test_codes_are_exactly_those_of_the_card(counted: Release, code: str) -> None:
    cells = [counted.cells[0]._replace(codes=(code, "1"))]
    assert read_rows(put_figures(counted, cells=cells, margins=[]))[0]["PROVINCE"] == code


@pytest.mark.parametrize("code", ["=59", "@x", "＝1", "|calc", "+a", "-a", "\tx", " =1"])
def test_codes_that_a_spreadsheet_would_run_are_refused(counted: Release, code: str, tmp_path: Path) -> None:
    """Before a charge by `check_output`, and again where the file is written."""
    heading = counted.headings[0]
    bad = dataclasses.replace(heading, face=dataclasses.replace(heading.face, codes=("10", "24", code)))
    with pytest.raises(ParameterInvalid, match="category of 'province'"):
        check_output(tmp_path / "a.sdmx.csv", format="sdmx-csv", headings=(bad, counted.headings[1]))
    with pytest.raises(ParameterInvalid, match="keeps its exact code"):
        to_sdmx_csv(dataclasses.replace(counted, headings=(bad, counted.headings[1])), "en")
    check_output(tmp_path / "a.csv", format="csv", headings=(bad,))


def test_titles_are_neutralised(counted: Release) -> None:
    table = dataclasses.replace(counted, title=Labels("=1+1", "=1+1"))
    assert read_rows(table)[0]["TITLE"].startswith("'=1+1")


def test_without_the_extra_it_says_which(counted: Release, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pysdmx.io.csv.sdmx20.writer", None)
    with pytest.raises(ExtraMissing, match=r"discreet\[tables\]"):
        to_sdmx_csv(counted, "en")
