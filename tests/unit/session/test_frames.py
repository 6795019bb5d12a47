"""Tables in memory are added as files are: the same prepared rows, refusals in our words."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet
from discreet.errors import FileRefused, ParameterInvalid, PopulationConflict
from discreet.workspace import PublicTable

CARD = """
dataset: people
population: all
unit: {column: pid, rows: 2}
neighbours: add-remove
budget: {epsilon: 100000}
columns:
  pid: {kind: id, type: text}
  town: {kind: category, categories: [A, B, "1"]}
  age: {kind: integer, bounds: [0, 100]}
  pay: {kind: number, bounds: [0, 500], step: 0.01}
"""
COLUMNS: dict[str, list[Any]] = {
    "pid": ["p1", "p2", "p2", "p3", None, "p4"],
    "town": ["A", "B", "A", None, "A", "Z"],
    "age": [5, 7, 9, 11, 13, 400],
    "pay": [1.25, None, 499.99, 0.0, 3.0, 600.0],
}


def _pandas(columns: dict[str, list[Any]]) -> Any:
    return pytest.importorskip("pandas").DataFrame(columns)


def _categorical(columns: dict[str, list[Any]]) -> Any:
    return _pandas(columns).astype({"town": "category"})


def _indexed(columns: dict[str, list[Any]]) -> Any:
    return _pandas(columns).set_index("pid")


def _polars(columns: dict[str, list[Any]]) -> Any:
    return pytest.importorskip("polars").DataFrame(columns)


def _chunks(columns: dict[str, list[Any]]) -> Any:
    table = pa.table(columns)
    return pa.concat_tables([table.slice(0, 2), table.slice(2, 0), table.slice(2)])


def _reader(columns: dict[str, list[Any]]) -> Any:
    return pa.table(columns).to_reader()


MAKERS = [_pandas, _categorical, _indexed, _polars, pa.table, _chunks, _reader]


@pytest.fixture
def office(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> discreet.Session:
    monkeypatch.setenv("DISCREET_KEYS", str(tmp_path / "keys"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "people.yaml").write_text(CARD, encoding="utf-8")
    pq.write_table(pa.table(COLUMNS), tmp_path / "people.parquet")
    return discreet.create("office")


def _version(office: discreet.Session, version: int) -> Path:
    return office.workspace.path / "datasets" / "people" / f"v{version}"


def _rows(office: discreet.Session, version: int) -> list[dict[str, object]]:
    return sorted(pq.ParquetFile(_version(office, version) / "data.parquet").read().to_pylist(), key=repr)


@pytest.mark.parametrize("make", MAKERS)
def test_a_frame_gives_the_rows_that_its_file_gives(
    office: discreet.Session, make: Callable[[dict[str, list[Any]]], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("discreet.sources.frame_source._BATCH_ROWS", 4)
    with office:
        office.add("people.parquet")
        added = office.add(make(COLUMNS), card="people.yaml", replace=True)
        assert added.version == 2
        assert _rows(office, 2) == _rows(office, 1)
        one, two = ((_version(office, version) / "report.json").read_text(encoding="utf-8") for version in (1, 2))
        assert one == two


def test_values_of_other_types_are_read_as_in_files(office: discreet.Session) -> None:
    columns = {"pid": [1, 2], "town": [1, None], "age": [True, False], "pay": [Decimal("1.20"), Decimal("0E-2")]}
    with office:
        office.add(pa.table(columns), card="people.yaml")
        assert [(row["pid"], row["pay"]) for row in _rows(office, 1)] == [("1", 120), ("2", 0)]


@pytest.mark.parametrize(
    ("columns", "says"),
    [
        ({**COLUMNS, "age": [[1]] * 6}, "nested column, 'age'"),
        ({name: values for name, values in COLUMNS.items() if name != "pay"}, "lacks column 'pay'"),
        ({}, "has no columns"),
    ],
)
def test_what_is_no_such_table_is_refused(office: discreet.Session, columns: dict[str, Any], says: str) -> None:
    with office:
        with pytest.raises(FileRefused, match=says):
            office.add(pa.table(columns), card="people.yaml")
        assert not list((office.workspace.path / "datasets").glob("*"))


def test_a_column_of_mixed_values_is_refused(office: discreet.Session) -> None:
    with office, pytest.raises(FileRefused, match="'DataFrame' cannot be read as a table"):
        office.add(_pandas({**COLUMNS, "town": ["A", 5, date(2000, 1, 1), None, {}, "B"]}), card="people.yaml")


def test_two_columns_of_one_name_are_refused(office: discreet.Session) -> None:
    frame = _pandas(COLUMNS).rename(columns={"pay": "age"})
    double = pa.table(COLUMNS).append_column("age", pa.array([1] * 6))
    with office:
        with pytest.raises(FileRefused, match="two columns share a name"):
            office.add(frame, card="people.yaml")
        with pytest.raises(FileRefused, match="more than one column named 'age'"):
            office.add(double, card="people.yaml")


def test_a_frame_without_a_card_is_told_so(office: discreet.Session) -> None:
    with office, pytest.raises(ParameterInvalid, match="card must be named for a table in memory"):
        office.add(pa.table(COLUMNS))
    with pytest.raises(ParameterInvalid, match="encoding goes with text files only"):
        office.add(pa.table(COLUMNS), card="people.yaml", encoding="latin-1")
    with pytest.raises(ParameterInvalid, match="a table of pandas, polars or Arrow"):
        office.add(COLUMNS, card="people.yaml")  # type: ignore[arg-type]


def test_the_first_population_is_taken_and_the_second_confirmed(office: discreet.Session, tmp_path: Path) -> None:
    (tmp_path / "others.yaml").write_text(CARD.replace("all", "others").replace("people", "others"), encoding="utf-8")
    with office:
        office.add("people.parquet")
        with pytest.raises(PopulationConflict, match="confirm=lambda"):
            office.add(pa.table(COLUMNS), card="others.yaml")
        office.add(pa.table(COLUMNS), card="others.yaml", confirm=lambda _: True)
    with discreet.create("second") as second, pytest.raises(PopulationConflict, match="has a population of this name"):
        second.add("people.parquet")


TOWNS: dict[str, list[Any]] = {
    "town": ["A", "B", "01"],
    "size": [1.5, None, 20.25],
    "people": [5, 7, 9],
    "part": ["north", None, "north"],
}


def _part(columns: dict[str, list[Any]]) -> Any:
    return _pandas(columns).astype({"part": "category"})


def _town(columns: dict[str, list[Any]]) -> Any:
    return _pandas(columns).set_index("town")


def _by_column(table: PublicTable) -> dict[str, tuple[object, ...]]:
    """An index comes after the columns, so their order is not looked at."""
    return {column.name: (column, *table.values(column.name)) for column in table.columns}


@pytest.mark.parametrize("make", [_pandas, _part, _town, _polars, pa.table, _chunks, _reader])
def test_a_public_frame_gives_the_table_that_its_files_give(
    office: discreet.Session, make: Callable[[dict[str, list[Any]]], Any], tmp_path: Path
) -> None:
    pq.write_table(pa.table(TOWNS), tmp_path / "parquet_towns.parquet")
    lines = ["town,size,people,part", "A,1.5,5,north", "B,,7,", "01,20.25,9,north"]
    (tmp_path / "csv_towns.csv").write_text("\n".join(lines), encoding="utf-8")
    with office:
        files = [office.add_public_table(name, key="town") for name in ("parquet_towns.parquet", "csv_towns.csv")]
        table = office.add_public_table(make(TOWNS), key="town", name="towns")
        assert [_by_column(file) for file in files] == [_by_column(table)] * 2
        assert {file.key for file in files} == {table.key}
        assert office.public_table("towns") == table
        assert office.add_public_table(make(TOWNS), key="town", name="towns", replace=True).version == 2


@pytest.mark.parametrize(
    ("columns", "says"),
    [
        ({**TOWNS, "town": ["A", "A", "B"]}, "has the key 'A' in rows 1 and 2"),
        ({**TOWNS, "town": ["A", None, "B"]}, "has no key 'town' in row 2"),
        ({**TOWNS, "part": [[1]] * 3}, "nested column, 'part'"),
        ({name: [] for name in TOWNS}, "has no rows"),
        ({name: values * 7_000 for name, values in TOWNS.items()}, "more rows than the 20,000"),
    ],
)
def test_a_public_frame_keeps_the_rules_of_files(
    office: discreet.Session, columns: dict[str, list[Any]], says: str
) -> None:
    with office:
        with pytest.raises(FileRefused, match=says):
            office.add_public_table(pa.table(columns), key="town", name="towns")
        assert office.public_tables() == ()


def test_a_public_frame_is_named_and_is_no_text(office: discreet.Session) -> None:
    frame = pa.table(TOWNS)
    with office:
        office.add("people.parquet")
        with pytest.raises(ParameterInvalid, match="name must be given for a table in memory"):
            office.add_public_table(frame, key="town")
        with pytest.raises(ParameterInvalid, match="delimiter goes with text files only"):
            office.add_public_table(frame, key="town", name="towns", delimiter=";")
        with pytest.raises(ParameterInvalid, match="a table of pandas, polars or Arrow"):
            office.add_public_table(TOWNS, key="town", name="towns")  # type: ignore[arg-type]
        with pytest.raises(discreet.Refused, match="is a dataset of this workspace"):
            office.add_public_table(frame, key="town", name="people")
        with pytest.raises(discreet.UnknownName, match="Did you mean 'town'"):
            office.add_public_table(frame, key="twon", name="towns")
        assert office.public_tables() == ()
