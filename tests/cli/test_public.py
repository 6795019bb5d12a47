"""Public tables, as a user adds and looks at them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import discreet
from tests.cli.clinic import CARD, Run

TOWNS = "town,region,people,rate\nN,Coast,1200,0.25\nS,Inland,800,\n"


@pytest.fixture
def towns(clinic: Path, tmp_path: Path, run: Run) -> Path:
    """The clinic's workspace with a public table 'towns'."""
    (tmp_path / "towns.csv").write_text(TOWNS, encoding="utf-8")
    run("public", "add", "-w", "w", "towns.csv", "--key", "town")
    return clinic


def test_add_says_what_was_read(towns: Path, run: Run) -> None:
    out = run("public", "add", "-w", "w", "towns.csv", "--key", "town", "--name", "places").out
    assert out == "Added public table 'places' version 1: 2 rows, 4 columns, key 'town'.\n"
    words = ("public", "add", "-w", "w", "towns.csv", "--key", "town", "--replace", "--format", "json")
    added = run(*words).json()
    assert added == {"table": "towns", "version": 2, "key": "town", "row_count": 2, "column_count": 4}


def test_list_names_every_table(towns: Path, run: Run) -> None:
    run("public", "add", "-w", "w", "towns.csv", "--key", "town", "--name", "places")
    listed = run("public", "list", "-w", "w", "--format", "json").json()["public_tables"]
    assert [entry["table"] for entry in listed] == ["places", "towns"]
    table = run("public", "list", "-w", "w").out
    for word in ("places", "towns", "town", "version"):
        assert word in table


def test_a_workspace_without_public_tables_lists_none(clinic: Path, run: Run) -> None:
    assert run("public", "list", "-w", "w", "--format", "json").json() == {"public_tables": []}
    assert "Public tables" in run("public", "list", "-w", "w").out


def test_show_gives_kinds_and_rows(towns: Path, run: Run) -> None:
    shown = run("public", "show", "-w", "w", "towns", "--format", "json").json()
    assert shown["columns"] == [
        {"name": "town", "kind": "category", "absent": False, "categories": ["N", "S"]},
        {"name": "region", "kind": "category", "absent": False, "categories": ["Coast", "Inland"]},
        {"name": "people", "kind": "integer", "absent": False, "step": "1", "range": ["800", "1200"]},
        {"name": "rate", "kind": "number", "absent": True, "step": "0.01", "range": ["0.25", "0.25"]},
    ]
    assert shown["rows"] == [
        {"town": "N", "region": "Coast", "people": 1200, "rate": "0.25"},
        {"town": "S", "region": "Inland", "people": 800, "rate": None},
    ]
    table = run("public", "show", "-w", "w", "towns").out
    for word in ("key      town", "800 to 1200", "steps of 0.01; some absent", "Coast, Inland"):
        assert word in table
    assert "more rows" not in table


def test_a_long_table_is_shown_in_part(clinic: Path, tmp_path: Path, run: Run) -> None:
    rows = "".join(f"{number},c{number}\n" for number in range(25))
    (tmp_path / "long.csv").write_text("n,c\n" + rows, encoding="utf-8")
    run("public", "add", "-w", "w", "long.csv", "--key", "n")
    table = run("public", "show", "-w", "w", "long").out
    assert "5 more rows: --format json" in table
    assert "and 17 more" in table
    assert len(run("public", "show", "-w", "w", "long", "--format", "json").json()["rows"]) == 25


def test_wrong_calls_are_told_what_to_do(towns: Path, tmp_path: Path, run: Run) -> None:
    assert "--replace" in run("public", "add", "-w", "w", "towns.csv", "--key", "town", code=1).err
    assert "--key" in run("public", "add", "-w", "w", "towns.csv", code=2).err
    assert "'town'" in run("public", "add", "-w", "w", "towns.csv", "--key", "twon", "--replace", code=1).err
    assert run("public", "add", "-w", "w", "absent.csv", "--key", "town", code=2).err.startswith("PathInvalid")
    unknown = run("public", "show", "-w", "w", "town", "--format", "json", code=1)
    assert json.loads(unknown.err)["fields"]["nearest"] == "towns"
    (tmp_path / "twice.csv").write_text("town,x\nN,1\nN,2\n", encoding="utf-8")
    assert "key 'N' in rows 1 and 2" in run("public", "add", "-w", "w", "twice.csv", "--key", "town", code=1).err


def test_datasets_and_public_tables_have_names_of_their_own(towns: Path, tmp_path: Path, run: Run) -> None:
    refused = run("public", "add", "-w", "w", "towns.csv", "--key", "town", "--name", "clinic", code=1)
    assert "'clinic' is a dataset" in refused.err
    (tmp_path / "other.yaml").write_text(CARD.replace("dataset: clinic", "dataset: towns"), encoding="utf-8")
    refused = run("add", "-w", "w", "clinic.csv", "--card", "other.yaml", code=1)
    assert "'towns' is a public table" in refused.err
    assert [d["dataset"] for d in run("datasets", "-w", "w", "--format", "json").json()["datasets"]] == ["clinic"]


def test_python_gives_the_same_tables(towns: Path, tmp_path: Path) -> None:
    with discreet.open(towns) as house:
        assert [table.name for table in house.public_tables()] == ["towns"]
        assert house.public_table("towns").rows == ((0, 0, 1200, 25), (1, 1, 800, None))
        again = house.add_public_table(tmp_path / "towns.csv", key="town", replace=True)
        assert again == house.public_table("towns")
        assert again.version == 2


def test_a_question_groups_by_a_public_column(towns: Path, run: Run) -> None:
    sql = "SELECT region, COUNT(*) AS visits FROM clinic JOIN towns ON clinic.town = towns.town GROUP BY region"
    answer = run("query", "-w", "w", sql, "--epsilon", "1", "--format", "json").json()
    assert [row["region"] for row in answer["rows"]] == ["Coast", "Inland"]
    # Noise of scale 2 goes beyond 60 with probability below 1e-12.
    for row, true in zip(answer["rows"], (2000, 1000), strict=True):
        assert abs(row["visits"] - true) <= 60
