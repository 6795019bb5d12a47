"""Public tables: typed from their values, keyed, stored in versions; what is refused, and why."""

from __future__ import annotations

import gzip
import json
import stat
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discreet.cards.columns import ColumnKind
from discreet.errors import FileRefused, PathInvalid, Refused, UnknownName, UsageError
from discreet.workspace.folder import Workspace
from discreet.workspace.public_tables import (
    PublicColumn,
    PublicTable,
    add_public_file,
    list_public_tables,
    read_public_table,
)

Add = Callable[..., PublicTable]

REGIONS = "region,name,people,rate\n10,North,1200,0.25\n24,South,800,1.5\n35,North,,NA\n"


@pytest.fixture
def add(workspace: Workspace, tmp_path: Path) -> Add:
    """Add CSV text as a public table."""

    def run(content: str | bytes, *, key: str = "region", file: str = "regions.csv", **options: Any) -> PublicTable:
        path = tmp_path / file
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return add_public_file(workspace, path, key=key, **options)

    return run


def one_column(add: Add, *values: str) -> tuple[PublicColumn, tuple[int | None, ...]]:
    """A table of a running key and one column of these values."""
    lines = "".join(f'{row},"{value}"\n' for row, value in enumerate(values))
    table = add("region,x\n" + lines)
    return table.column("x"), table.values("x")


def test_columns_are_typed_from_their_values(add: Add) -> None:
    table = add(REGIONS)
    assert (table.name, table.version, table.key) == ("regions", 1, "region")
    assert table.columns == (
        PublicColumn("region", ColumnKind.INTEGER, Decimal(1), (), 10, 35),
        PublicColumn("name", ColumnKind.CATEGORY, None, ("North", "South"), 0, 1),
        PublicColumn("people", ColumnKind.INTEGER, Decimal(1), (), 800, 1200, absent=True),
        PublicColumn("rate", ColumnKind.NUMBER, Decimal("0.01"), (), 25, 150, absent=True),
    )
    assert table.rows == ((10, 0, 1200, 25), (24, 1, 800, 150), (35, 0, None, None))


@pytest.mark.parametrize(
    ("written", "step", "units"),
    [
        (("1", "-2", "+3"), "1", (1, -2, 3)),
        (("1.0", "2.", "30"), "1", (1, 2, 30)),
        (("1,234", "1,234,567"), "1", (1234, 1234567)),
        (("1.50", "2.5"), "0.1", (15, 25)),
        ((".5", "-0.0", "0"), "0.1", (5, 0, 0)),
        (("1e3", "25e-1"), "0.1", (10000, 25)),
        (("0.000000001", "999999"), "0.000000001", (1, 999999 * 10**9)),
        (("1e15", "-1e15"), "1", (10**15, -(10**15))),
        (("7", "n/a", "?", "NaN", " "), "1", (7, None, None, None, None)),
        (("0.1", "0.2", "0.30000000"), "0.1", (1, 2, 3)),
    ],
)
def test_numbers_are_exact_on_the_finest_decimal(
    add: Add, written: tuple[str, ...], step: str, units: tuple[int | None, ...]
) -> None:
    column, values = one_column(add, *written)
    assert column.kind is (ColumnKind.INTEGER if step == "1" else ColumnKind.NUMBER)
    assert column.step == Decimal(step)
    assert values == units
    present = [unit for unit in units if unit is not None]
    assert (column.low_units, column.high_units) == (min(present), max(present))
    assert column.absent == (None in units)


@pytest.mark.parametrize(
    ("written", "categories", "positions"),
    [
        (("North", " South ", "North"), ("North", "South"), (0, 1, 0)),
        (("01", "02"), ("01", "02"), (0, 1)),
        (("1", "2.0", "all", "+2"), ("1", "2", "all"), (0, 1, 2, 1)),
        (("NA", "AO", ""), ("NA", "AO"), (0, 1, None)),
        (("e\u0301", "é", "\u00a0é"), ("é",), (0, 0, 0)),
        (("1,23", "4"), ("1,23", "4"), (0, 1)),
        (("1 000", "5"), ("1 000", "5"), (0, 1)),
        (("inf", "1"), ("inf", "1"), (0, 1)),
        (("?", "."), ("?", "."), (0, 1)),
    ],
)
def test_other_values_are_categories_in_order_of_appearance(
    add: Add, written: tuple[str, ...], categories: tuple[str, ...], positions: tuple[int | None, ...]
) -> None:
    column, values = one_column(add, *written)
    assert column.kind is ColumnKind.CATEGORY
    assert column.step is None
    assert column.categories == categories
    assert (column.low_units, column.high_units) == (0, len(categories) - 1)
    assert values == positions


def test_values_are_written_as_they_were_meant(add: Add) -> None:
    table = add(REGIONS)
    rate, name = table.column("rate"), table.column("name")
    assert [rate.text(units) for units in (25, 150, -7, 0)] == ["0.25", "1.5", "-0.07", "0"]
    assert (rate.value(25), rate.value(None)) == ("0.25", None)
    assert (name.text(1), name.value(1)) == ("South", "South")
    assert (name.position("South"), name.position("West")) == (1, None)


def test_parquet_types_are_read_by_their_values(workspace: Workspace, tmp_path: Path) -> None:
    file = tmp_path / "typed.parquet"
    columns = {
        "code": pa.array([1, 2, 3], pa.uint8()),
        "share": pa.array([0.1, float("nan"), float("inf")]),
        "single": pa.array([0.1, 1e-07, None], pa.float32()),
        "whole": pa.array([10.0, 20.0, 1e6]),
        "flag": pa.array([True, False, None]),
        "money": pa.array([Decimal("1.20"), Decimal("3.45"), None]),
        "name": pa.array(["a", "b", "a"]).dictionary_encode(),
    }
    pq.write_table(pa.table(columns), file)
    table = add_public_file(workspace, file, key="code")
    assert table.name == "typed"
    assert table.values("share") == (1, None, None)
    assert (table.column("single").step, table.values("single")) == (Decimal("1E-7"), (1000000, 1, None))
    assert (table.column("whole").kind, table.values("whole")) == (ColumnKind.INTEGER, (10, 20, 10**6))
    assert table.column("flag").categories == ("true", "false")
    assert table.values("money") == (120, 345, None)
    assert table.values("name") == (0, 1, 0)


def test_other_formats_and_encodings_give_the_same_table(add: Add, workspace: Workspace, tmp_path: Path) -> None:
    polars = pytest.importorskip("polars")
    pyreadstat = pytest.importorskip("pyreadstat")
    text = "region;name;rate\n1;Gaspé;0.5\n2;Sud;\n"
    plain = add(text)
    packed = add(gzip.compress(text.encode()), file="packed.csv.gz")
    latin = add(text.encode("latin-1"), file="latin.csv", encoding="latin-1")
    frame = polars.DataFrame({"region": [1.0, 2.0], "name": ["Gaspé", "Sud"], "rate": [0.5, None]})
    pyreadstat.write_sav(frame, str(tmp_path / "spss.sav"))
    spss = add_public_file(workspace, tmp_path / "spss.sav", key="region")
    for table in (packed, latin, spss):
        assert (table.columns, table.rows) == (plain.columns, plain.rows)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("region,x\n1,2\n1,3\n", "the key '1' in rows 1 and 2; a key is unique"),
        ("region,x\n1,2\n1.0,3\n", "the key '1' in rows 1 and 2"),
        ("region,x\nNord,2\n Nord,3\n", "the key 'Nord' in rows 1 and 2"),
        ("region,x\n1,2\n,3\n", "no key 'region' in row 2; a key is never absent"),
        ("region,x\n1.5,2\n2,3\n", "decimals in its key 'region'; a key holds whole numbers or texts"),
        ("region,x\n", "has no rows"),
        ("region,x\n1,\n2,\n", "no value at all in column 'x'"),
        ("region,2x\n1,2\n", "a column named '2x'"),
        ("region,ord\n1,2\n", "'ord', which is reserved"),
        ("region,_discreet_x\n1,2\n", "which is reserved"),
        ("region,x,X\n1,2,3\n", "columns 'x' and 'X'; names must differ"),
        ("region,a b\n1,2\n", "a column named 'a b'"),
        ("region,x\n1,0.0000000001\n", "more than 9 decimals in column 'x'"),
        ("region,x\n1,1e99999\n", "more than 10^15 steps from 0"),
        ("region,x\n1,1000000000000001\n", "more than 10^15 steps from 0"),
        ("region,x\n1,1000000.000000001\n", r"more than 10^15 steps (here of 0.000000001) from 0"),
        ("region,x\n1,a\u202eb\n", "control character U+202E"),
        ("region,x\n1,a\x1b[2Jb\n", "control character U+001B"),
        (f"region,x\n1,{'y' * 501}\n", "longer than 500 characters"),
        ("region,x\n1,2,3\n", "another number of fields"),
    ],
)
def test_what_breaks_a_rule_is_refused_by_its_name(add: Add, workspace: Workspace, text: str, message: str) -> None:
    with pytest.raises(FileRefused) as refused:
        add(text)
    assert message in refused.value.message
    assert workspace.public_names() == ()


def test_size_is_limited(add: Add) -> None:
    rows = "".join(f"{row}\n" for row in range(20_000))
    assert len(add("region\n" + rows).rows) == 20_000
    with pytest.raises(FileRefused, match="more rows than the 20,000"):
        add("region\n" + rows + "20000\n", replace=True)
    wide = ["region", *(f"c{number}" for number in range(49))]
    ones = ",".join("1" for _ in wide)
    assert len(add(f"{','.join(wide)}\n{ones}\n", replace=True).columns) == 50
    with pytest.raises(FileRefused, match="51 columns; a public table has at most 50"):
        add(f"{','.join([*wide, 'more'])}\n{ones},1\n", replace=True)


def test_the_key_is_a_column_of_the_file(add: Add) -> None:
    with pytest.raises(UnknownName, match="Did you mean 'region'"):
        add(REGIONS, key="regoin")


def test_a_text_may_be_the_key(add: Add) -> None:
    table = add("code,x\n01,5\n02,6\n", key="code")
    assert table.column("code").kind is ColumnKind.CATEGORY
    assert table.values("code") == (0, 1)


@pytest.mark.parametrize("name", ["Regions", "2020", "a-b", "", "x" * 64, "../regions", "zoné"])
def test_names_follow_those_of_datasets(add: Add, name: str) -> None:
    with pytest.raises(UsageError, match="lower-case letter"):
        add(REGIONS, name=name)


def test_the_name_is_the_files_unless_given(add: Add) -> None:
    assert add(REGIONS, file="Areas.csv").name == "areas"
    assert add(REGIONS, file="Areas.csv", name="zones").name == "zones"
    with pytest.raises(UsageError, match="--name"):
        add(REGIONS, file="2020 areas.csv")


def test_versions_are_added_on_request_and_stay(add: Add, workspace: Workspace) -> None:
    first = add(REGIONS)
    with pytest.raises(Refused, match="--replace"):
        add(REGIONS)
    second = add("region,x\n1,2\n", replace=True)
    assert (first.version, second.version) == (1, 2)
    assert read_public_table(workspace, "regions") == second
    assert read_public_table(workspace, "regions", 1) == first
    with pytest.raises(Refused, match="Leave out --replace"):
        add(REGIONS, name="zones", replace=True)


def test_what_is_stored_is_what_was_read(add: Add, workspace: Workspace) -> None:
    tables = (add(REGIONS, name="alpha"), add("region,x\n1,é\n", name="beta"))
    again = Workspace.open(workspace.path)
    assert list_public_tables(again) == tables
    stored = json.loads((workspace.path / "public" / "alpha" / "v1.json").read_text("utf-8"))
    assert stored["schema"] == 1
    assert stored["rows"] == [[10, 0, 1200, 25], [24, 1, 800, 150], [35, 0, None, None]]
    assert stat.S_IMODE((workspace.path / "public").stat().st_mode) == 0o700


def test_a_write_that_fails_changes_nothing(add: Add, workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = add(REGIONS)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(Refused, match="No space left"):
        add("region,x\n1,2\n", replace=True)
    monkeypatch.undo()
    assert read_public_table(workspace, "regions") == kept
    assert [file.name for file in (workspace.path / "public" / "regions").iterdir()] == ["v1.json"]


@pytest.mark.parametrize(
    "damage",
    [
        lambda stored: stored.pop("rows"),
        lambda stored: stored["rows"].append([1]),
        lambda stored: stored["rows"].append([10, 0, 1, 1]),
        lambda stored: stored["rows"].append([None, 0, 1, 1]),
        lambda stored: stored["rows"].append([11, 2, 1, 1]),
        lambda stored: stored["rows"].append([11, 0, 1.5, 1]),
        lambda stored: stored["rows"].append([11, 0, "1", 1]),
        lambda stored: stored.update(key="other"),
        lambda stored: stored.update(key="rate"),
        lambda stored: stored["columns"][1].update(categories=["North", "North"]),
        lambda stored: stored["columns"][3].update(step="x"),
        lambda stored: stored["columns"][3].update(kind="text"),
    ],
)
def test_a_damaged_table_is_not_used(add: Add, workspace: Workspace, damage: Callable[[Any], None]) -> None:
    add(REGIONS)
    file = workspace.public_file("regions", 1)
    stored = json.loads(file.read_text("utf-8"))
    damage(stored)
    file.write_text(json.dumps(stored), "utf-8")
    with pytest.raises(Refused, match="cannot be read; add the file again"):
        read_public_table(workspace, "regions")


def test_another_schema_is_named(add: Add, workspace: Workspace) -> None:
    add(REGIONS)
    file = workspace.public_file("regions", 1)
    file.write_text(file.read_text("utf-8").replace('"schema":1', '"schema":2'), "utf-8")
    with pytest.raises(Refused, match="has schema 2"):
        read_public_table(workspace, "regions")


def test_unknown_names_find_the_nearest(add: Add, workspace: Workspace) -> None:
    table = add(REGIONS)
    with pytest.raises(UnknownName, match="Did you mean 'regions'"):
        read_public_table(workspace, "region")
    with pytest.raises(UnknownName, match="Did you mean 'people'"):
        table.column("poeple")


def test_only_allowed_folders_are_read(add: Add, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DISCREET_ROOTS", str(tmp_path / "elsewhere"))
    with pytest.raises(PathInvalid, match="outside the allowed folders"):
        add(REGIONS)


def test_the_folders_of_the_workspace_are_kept_to(tmp_path: Path, workspace: Workspace) -> None:
    (tmp_path / "regions.csv").write_text(REGIONS, encoding="utf-8")
    closed = replace(workspace, roots=(tmp_path / "elsewhere",))
    with pytest.raises(PathInvalid, match="outside the allowed folders"):
        add_public_file(closed, tmp_path / "regions.csv", key="region")


def test_the_tenth_version_comes_after_the_ninth(workspace: Workspace) -> None:
    versions = [workspace.publish_public("zones", f"{number}\n", replace=number > 1) for number in range(1, 13)]
    assert versions == list(range(1, 13))
    assert [workspace.public_file("zones", number).read_text() for number in versions] == [f"{n}\n" for n in versions]
