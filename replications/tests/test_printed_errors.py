"""The report's printed errors, and the file of all of them."""

from __future__ import annotations

import gzip
import json
from decimal import Decimal
from importlib.resources import files
from pathlib import Path

import pytest
from discreet_replications.report.printed_errors import printed_source, printed_tables, read_theirs

from discreet.errors import FileRefused, PathInvalid
from tests.places import SHARED

FULL = SHARED / "phac_results.csv.gz"
HEADER = "epsilon,model,statistic,province,column,code,original,protected,abs_error\n"


def test_six_tables_of_four_epsilons_thirteen_provinces_and_three_models() -> None:
    tables = printed_tables()
    assert [table.table for table in tables] == ["7.1", "7.2", "7.3", "7.4", "7.5", "7.6"]
    assert all(len(table.errors) == 4 * 13 * 3 for table in tables)
    assert "2017-2018" in str(printed_source())
    written = files("discreet_replications.report") / "resources" / "report_tables.json"
    assert json.loads(written.read_text(encoding="utf-8"))["source"] == printed_source().en
    assert tables[0].errors["mean of height", Decimal("0.6"), "local", "35"] == 12.6278


def test_the_full_file_gives_every_epsilon(tmp_path: Path) -> None:
    file = tmp_path / "theirs.csv.gz"
    row = (
        "3,local,mean,ON,HWTDGHTM,,2.18,3.71,1.53181\n3,local,sum,ON,HWTDGHTM,,1,2,9\n3,local,sum,XX,SMK_005,0,1,2,9\n"
    )
    file.write_bytes(gzip.compress((HEADER + row).encode()))
    assert read_theirs(file) == {("mean of height", Decimal(3), "local", "35"): 1.53181}


@pytest.mark.parametrize("text", ["a,b\n1,2\n", HEADER, HEADER + "1,local,sum,ON,OTHER,0,1,2,3\n"])
def test_another_file_is_refused(tmp_path: Path, text: str) -> None:
    file = tmp_path / "other.csv"
    file.write_text(text)
    with pytest.raises(FileRefused):
        read_theirs(file)


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PathInvalid):
        read_theirs(tmp_path / "nothing.csv")


@pytest.mark.skipif(not FULL.is_file(), reason="the report's result tables are not at hand")
def test_printed_errors_are_those_of_the_result_tables() -> None:
    full = read_theirs(FULL)
    assert len({epsilon for _, epsilon, _, _ in full}) == 5
    for table in printed_tables():
        for key, error in table.errors.items():
            assert full[key] == pytest.approx(error, rel=1e-4)
