"""The thesis' data from files as they circulate, whole and damaged."""

from __future__ import annotations

import builtins
import csv
import gzip
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from discreet_replications.thesis.data.arff import KIDNEY_COLUMNS, KidneyReading, read_arff
from discreet_replications.thesis.data.readings import BREAST_COLUMNS, read_data

from discreet.errors import ExtraMissing, FileRefused, PathInvalid
from tests.places import SHARED

RECORD = "48,80,1.020,1,0,?,normal,notpresent,notpresent,121,36,1.2,?,?,15.4,44,7800,5.2,yes,yes,no,good,no,no,ckd"
TABBED = "50,80,1.010,?,0,?, normal,notpresent,notpresent,99,40.5,2,?,?,12,\t36,\t6200,4,no, yes,\tno,good,no,no,ckd\t"
ENDING = "62,80,1.010,2,3,normal,normal,notpresent,notpresent,423,53,1.8,?,?,9.6,31,7500,?,no,yes,no,poor,no,yes,ckd\t"
PLAIN = tuple(f"@attribute {name} numeric" for name in KIDNEY_COLUMNS)
QUOTED = tuple(f"@ATTRIBUTE '{name}' {{1,2}}" for name in KIDNEY_COLUMNS)
RENAMED = tuple(line.replace("wbcc", "wc").replace("rbcc", "rc") for line in PLAIN)
DIABETES = (
    "encounter_id,patient_nbr,admission_type_id,discharge_disposition_id,time_in_hospital,num_lab_procedures,"
    "num_medications,number_emergency,diag_2"
)


def arff(records: Sequence[str], attributes: Sequence[str] = PLAIN, end: str = "\n") -> str:
    return end.join(["% a comment\twith a tab", "@relation kidney", "", *attributes, "", "@data", *records, ""])


def diabetes(codes: Sequence[str]) -> str:
    rows = (f"{place},7,1,1,3,40,9,0,{code}" for place, code in enumerate(codes, start=100))
    return "\n".join([DIABETES, *rows]) + "\n"


@pytest.mark.parametrize("attributes", [PLAIN, QUOTED, RENAMED])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_two_readings_of_stray_tabs(attributes: Sequence[str], end: str) -> None:
    text = arff([RECORD, TABBED, ENDING, "% end"], attributes, end)
    clean = read_arff(text, KidneyReading.CLEAN, file="k")
    theirs = read_arff(text, KidneyReading.THESIS, file="k")
    assert clean["wbcc"] == ["7800", "6200", "7500"]
    assert theirs["wbcc"] == ["7800", None, "7500"]
    assert clean["pc"][1] == "normal"
    assert [column[1] for column in theirs.values()][-10:] == [None] * 10
    assert clean["class"] == ["ckd"] * 3
    assert theirs["class"] == ["ckd", None, "ckd"]
    assert clean["rbcc"] == ["5.2", "4", None]
    for name in KIDNEY_COLUMNS[:15]:
        assert clean[name] == theirs[name]


def test_quotes_and_a_comma_too_many() -> None:
    quoted = RECORD.replace("normal", "'normal'").replace("7800", ' "7800" ') + ",,"
    assert read_arff(arff([quoted]), KidneyReading.CLEAN, file="k")["pc"] == ["normal"]
    assert read_arff(arff([quoted]), KidneyReading.CLEAN, file="k")["wbcc"] == ["7800"]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("age,bp\n48,80\n", "header of an ARFF"),
        ("% only a comment\n", "no @data"),
        (arff([RECORD], PLAIN[:5]), "lacks the attributes rbc, pc"),
        (arff([]), "no records"),
        (arff([RECORD, RECORD + ",more"]), "has 26 fields; 25"),
        (arff([RECORD, RECORD[:40]]), "line 32 of 'kidney_uci.arff' has"),
        (arff([RECORD, RECORD.replace("7800", "many")]), "'wbcc' of 'kidney_uci.arff' does not hold numbers"),
        (arff([RECORD]), "fewer than two"),
    ],
)
def test_a_damaged_kidney_file_is_refused(tmp_path: Path, text: str, told: str) -> None:
    (tmp_path / "kidney_uci.arff").write_text(text)
    with pytest.raises(FileRefused, match=told) as refused:
        read_data(tmp_path)
    assert "many" not in refused.value.message


def test_kidney_from_one_of_our_two_files(tmp_path: Path) -> None:
    text = ",".join(KIDNEY_COLUMNS) + "\n" + RECORD + "\n" + RECORD.replace("?", "") + "\n"
    (tmp_path / "kidney_clean.csv").write_text(text)
    found = read_data(tmp_path)
    assert list(found.kidney) == [KidneyReading.CLEAN]
    assert found.kidney[KidneyReading.CLEAN].missing("rbc") == 2
    assert str(found.absent[1]).startswith("kidney has no thesis reading")


def test_without_a_folder_breast_alone_is_there() -> None:
    pytest.importorskip("sklearn")
    found = read_data(None)
    assert found.breast.rows == 569
    assert tuple(found.breast.arrow.column_names) == BREAST_COLUMNS
    assert not found.kidney
    assert found.diabetes is None
    assert [str(line).split()[0] for line in found.absent] == ["kidney", "diabetes"]
    assert all("--data" in str(line) for line in found.absent)


def test_without_the_extra_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = builtins.__import__

    def absent(name: str, *rest: Any, **words: Any) -> Any:
        if name.startswith("sklearn"):
            raise ImportError(name)
        return plain(name, *rest, **words)

    monkeypatch.setattr(builtins, "__import__", absent)
    with pytest.raises(ExtraMissing, match=r"discreet\[study\]"):
        read_data(None)


@pytest.mark.parametrize("name", ["wdbc.data", "data.csv", "breast_wdbc.csv"])
def test_breast_under_each_of_its_names(tmp_path: Path, name: str) -> None:
    values = [str(place / 8) for place in range(30)]
    lines = [["842302", "M", *values], ["842517", "B", *values]]
    if name == "data.csv":
        header = [f'"{column.replace("concave_points", "concave points")}"' for column in BREAST_COLUMNS]
        lines = [["id", *header, ""], *([*line, ""] for line in lines)]
    elif name == "breast_wdbc.csv":
        lines = [[*BREAST_COLUMNS], *(line[1:] for line in lines)]
    (tmp_path / name).write_text("\n".join(",".join(line) for line in lines) + "\n")
    found = read_data(tmp_path).breast
    assert str(found.source) == f"'{name}'"
    assert found.arrow.column("diagnosis").to_pylist() == ["M", "B"]
    assert found.histogram("concave_points_mean") == ((Decimal("0.875"), 2),)


@pytest.mark.parametrize("name", ["diabetic_data.csv", "diabetic_data.csv.gz", "diabetes130.csv.gz"])
def test_diabetes_keeps_numeric_codes_only(tmp_path: Path, name: str) -> None:
    raw = diabetes(["250.01", "?", "V27", "E849", " 401 "]).encode()
    (tmp_path / name).write_bytes(gzip.compress(raw) if name.endswith(".gz") else raw)
    found = read_data(tmp_path).diabetes
    assert found is not None
    assert found.arrow.column("diag_2").to_pylist() == ["250.01", None, None, None, "401"]
    assert found.missing("diag_2") == 3


def test_damaged_and_foreign_files_are_refused(tmp_path: Path) -> None:
    whole = gzip.compress(diabetes(["1"] * 500).encode())
    for raw in (whole[:-20], b"not packed", gzip.compress(b"\xff\xfe,b\n1,2\n"), gzip.compress(b"a,b\n1,2\n1,2\n")):
        (tmp_path / "diabetes130.csv.gz").write_bytes(raw)
        with pytest.raises(FileRefused):
            read_data(tmp_path)
    (tmp_path / "diabetes130.csv.gz").write_bytes(gzip.compress(diabetes(["1", "2"]).encode() + b"1,2,3\n"))
    with pytest.raises(FileRefused, match="with 9 columns"):
        read_data(tmp_path)
    (tmp_path / "diabetes130.csv.gz").write_bytes(gzip.compress(b"a,a\n1,2\n"))
    with pytest.raises(FileRefused, match="twice"):
        read_data(tmp_path)


def test_a_folder_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PathInvalid, match="is not a folder"):
        read_data(tmp_path / "nothing")


@pytest.mark.skipif(not (SHARED / "kidney_uci.arff").is_file(), reason="the kidney file is not at hand")
@pytest.mark.parametrize(
    ("reading", "name"), [("clean", "kidney_clean.csv"), ("thesis", "kidney_as_read_in_thesis.csv")]
)
def test_the_arff_file_gives_both_known_readings_cell_by_cell(reading: str, name: str) -> None:
    found = read_arff((SHARED / "kidney_uci.arff").read_text(), KidneyReading(reading), file="kidney_uci.arff")
    with (SHARED / name).open(newline="") as stream:
        known = list(csv.DictReader(stream))
    for column, values in found.items():
        assert [value or "" for value in values] == [row[column].strip() for row in known]
