"""Folders of Parquet files as one source: order, folders key=value, the same columns everywhere, hostile folders."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discreet.cards.card import parse_card
from discreet.errors import FileRefused, PathInvalid
from discreet.sources.source import DataSource, FileLimits, choose_columns, open_source
from discreet.workspace.folder import Workspace
from discreet.workspace.ingest import add_file


def write(file: Path, **columns: Any) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table(columns or {"a": [1]}), file)


def columns(opened: DataSource, *names: str) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {name: [] for name in names}
    for batch in opened.batches(list(names)):
        for name in names:
            found[name] += batch.column(name).to_pylist()
    return found


def refused(folder: Path, why: str, **limits: int) -> None:
    with pytest.raises(FileRefused, match=why):
        open_source(folder, limits=FileLimits(**limits))


def test_files_are_read_in_the_order_of_their_paths(tmp_path: Path) -> None:
    for name, number in (("b.parquet", 3), ("a/z.parquet", 1), ("a/zz/y.PARQUET", 2), ("c.parquet", 4)):
        write(tmp_path / name, a=[number])
    assert columns(open_source(tmp_path), "a") == {"a": [1, 2, 3, 4]}


def test_what_others_pass_over_is_passed_over(tmp_path: Path) -> None:
    write(tmp_path / "a.parquet")
    write(tmp_path / "_temporary" / "b.parquet")
    write(tmp_path / ".hidden.parquet")
    (tmp_path / "_SUCCESS").touch()
    (tmp_path / "_loop").symlink_to(tmp_path)
    (tmp_path / "README.txt").write_text("about")
    assert columns(open_source(tmp_path), "a") == {"a": [1]}


def test_other_data_is_not_lost_silently(tmp_path: Path) -> None:
    write(tmp_path / "a.parquet")
    (tmp_path / "more.csv").write_text("a\n2\n")
    refused(tmp_path, r"'more\.csv' is not a Parquet file")


def test_the_order_of_columns_and_the_form_of_texts_are_free(tmp_path: Path) -> None:
    write(tmp_path / "1.parquet", a=[1], b=["x"])
    write(tmp_path / "2.parquet", b=pa.array(["y"], pa.large_string()), a=[2])
    write(tmp_path / "3.parquet", b=pa.array(["z"]).dictionary_encode(), a=[3])
    opened = open_source(tmp_path)
    assert opened.names == ("a", "b")
    assert columns(opened, "b", "a") == {"b": ["x", "y", "z"], "a": [1, 2, 3]}
    assert len({str(batch.schema) for batch in opened.batches(["a", "b"])}) == 1


def test_parts_of_the_path_are_columns(tmp_path: Path) -> None:
    write(tmp_path / "year=2024" / "r%C3%A9gion=Qu%C3%A9bec%2F1" / "x.parquet", a=[1, 2])
    write(tmp_path / "year=2025" / "r%C3%A9gion=__HIVE_DEFAULT_PARTITION__" / "x.parquet", a=[3])
    opened = open_source(tmp_path)
    assert opened.names == ("a", "year", "région")
    assert columns(opened, "région", "a") == {"région": ["Québec/1", "Québec/1", None], "a": [1, 2, 3]}
    assert columns(opened, "year") == {"year": ["2024", "2024", "2025"]}


def test_a_key_that_is_also_a_column_is_refused_where_it_is_used(tmp_path: Path) -> None:
    write(tmp_path / "a=1" / "x.parquet", a=[1], b=[2])
    opened = open_source(tmp_path)
    assert choose_columns(opened, ["b"]) == ("a", "a")
    with pytest.raises(FileRefused, match="more than one column named 'a'"):
        choose_columns(opened, ["a"])


@pytest.mark.parametrize("other", ["y.parquet", "year=1/month=2/y.parquet", "month=1/y.parquet"])
def test_every_file_has_the_same_keys(tmp_path: Path, other: str) -> None:
    write(tmp_path / "year=0" / "x.parquet")
    write(tmp_path / other)
    refused(tmp_path, "lies in other key=value folders")


def test_a_key_that_is_not_utf8_is_refused(tmp_path: Path) -> None:
    write(tmp_path / "k=%FF" / "x.parquet")
    refused(tmp_path, "not UTF-8 once decoded")


@pytest.mark.parametrize(
    ("second", "why"),
    [
        ({"a": [1]}, r"/2\.parquet' lacks column 'b', which '1\.parquet' has"),
        ({"a": [1], "b": ["x"], "c": [1]}, r"/2\.parquet' has column 'c', which '1\.parquet' lacks"),
        ({"a": [1.5], "b": ["x"]}, r"/2\.parquet' has column 'a' as double and '1\.parquet' as int64"),
        ({"a": pa.array([1], pa.int32()), "b": ["x"]}, "column 'a' as int32"),
        ({"a": [1], "b": pa.nulls(1)}, "column 'b' as null"),
    ],
)
def test_every_file_has_the_same_columns(tmp_path: Path, second: dict[str, Any], why: str) -> None:
    write(tmp_path / "1.parquet", a=[1], b=["x"])
    write(tmp_path / "2.parquet", **second)
    refused(tmp_path, why)


def test_a_file_that_changes_its_type_meanwhile_is_refused(tmp_path: Path) -> None:
    write(tmp_path / "1.parquet", a=[1])
    write(tmp_path / "2.parquet", a=[2])
    opened = open_source(tmp_path)
    write(tmp_path / "2.parquet", a=["2"])
    with pytest.raises(FileRefused, match="column 'a' as string"):
        columns(opened, "a")


def test_two_spellings_of_one_name_are_one_column(tmp_path: Path) -> None:
    write(tmp_path / "1.parquet", **{"é": [1]})
    write(tmp_path / "2.parquet", **{" e\u0301 ": [2]})
    assert columns(open_source(tmp_path), "é") == {"é": [1, 2]}
    write(tmp_path / "3.parquet", **{"e\u0301": [2], "é": [2]})
    refused(tmp_path, r"/3\.parquet' has column 'é'")


def test_a_folder_may_be_named_as_a_file(tmp_path: Path) -> None:
    write(tmp_path / "x.parquet" / "part.parquet")
    assert columns(open_source(tmp_path), "a") == columns(open_source(tmp_path / "x.parquet"), "a") == {"a": [1]}


@pytest.mark.parametrize("content", [b"", b"PAR1 and no more"])
def test_what_cannot_be_read_is_named(tmp_path: Path, content: bytes) -> None:
    write(tmp_path / "1.parquet")
    (tmp_path / "2.parquet").write_bytes(content)
    refused(tmp_path, r"/2\.parquet' cannot be read as Parquet")


def test_pipes_and_broken_links_are_refused(tmp_path: Path) -> None:
    (tmp_path / "broken.parquet").symlink_to(tmp_path / "absent")
    refused(tmp_path, r"'broken\.parquet' is not a regular file")
    (tmp_path / "broken.parquet").unlink()
    os.mkfifo(tmp_path / "pipe.parquet")
    refused(tmp_path, r"'pipe\.parquet' is not a regular file")


def test_links_lead_neither_out_nor_round(tmp_path: Path) -> None:
    inside = tmp_path / "inside"
    write(inside / "a.parquet")
    write(tmp_path / "outside.parquet")
    link = inside / "link.parquet"
    link.symlink_to(tmp_path / "outside.parquet")
    refused(inside, r"'link\.parquet' is a link that leads out of the folder")
    link.unlink()
    link.symlink_to(inside / "a.parquet")
    refused(inside, r"'link\.parquet' is a link to 'a\.parquet', whose rows would count twice")
    link.unlink()
    link.symlink_to(link)
    refused(inside, r"'link\.parquet' is not a regular file")
    link.unlink()
    (inside / "round").symlink_to(inside)
    refused(inside, "'round' is a link to a folder")


def test_empty_folders_are_refused(tmp_path: Path) -> None:
    refused(tmp_path, "holds no Parquet file")
    write(tmp_path / "_only.parquet")
    refused(tmp_path, "holds no Parquet file")


def test_limits_hold_for_the_sum(tmp_path: Path) -> None:
    for index in range(3):
        write(tmp_path / f"{index}.parquet", a=[1, 2])
    size = (tmp_path / "0.parquet").stat().st_size
    refused(tmp_path, "more than 5 rows in all", rows=5)
    refused(tmp_path, "bytes in all", file_bytes=3 * size - 1)
    expanded = pq.read_metadata(tmp_path / "0.parquet").row_group(0).total_byte_size
    refused(tmp_path, "bytes unpacked in all", expanded_bytes=3 * expanded - 1)
    refused(tmp_path, "more than 2 files", files=2)
    assert open_source(tmp_path, limits=FileLimits(rows=6, file_bytes=3 * size, files=3)).names == ("a",)


@pytest.mark.slow
def test_ten_thousand_small_files(tmp_path: Path) -> None:
    write(tmp_path / "0" / "0.parquet", a=[1, 2])
    data = (tmp_path / "0" / "0.parquet").read_bytes()
    for index in range(1, 10_000):
        folder = tmp_path / str(index % 100)
        folder.mkdir(exist_ok=True)
        (folder / f"{index}.parquet").write_bytes(data)
    assert sum(batch.num_rows for batch in open_source(tmp_path).batches(["a"])) == 20_000


CARD = """\
dataset: visits
unit: {column: row, rows: 1}
neighbours: add-remove
budget: {epsilon: 1}
columns:
  row: {kind: id, type: row}
  year: {kind: category, categories: [2024, 2025]}
  a: {kind: integer, bounds: [0, 9]}
"""


def test_a_folder_is_added_as_one_dataset(tmp_path: Path, workspace: Workspace) -> None:
    write(tmp_path / "data" / "year=2025" / "x.parquet", a=[3])
    write(tmp_path / "data" / "year=2024" / "x.parquet", a=[1, 2])
    dataset = add_file(workspace, tmp_path / "data", parse_card(CARD, file="visits.yaml"), replace=False)
    rows = sorted(pq.read_table(dataset.data).to_pylist(), key=lambda row: row["row"])
    assert [(row["row"], row["year"], row["a"]) for row in rows] == [(1, 0, 1), (2, 0, 2), (3, 1, 3)]


def test_a_folder_outside_the_roots_is_refused(
    tmp_path: Path, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "data" / "x.parquet")
    (tmp_path / "allowed").mkdir()
    monkeypatch.setenv("DISCREET_ROOTS", str(tmp_path / "allowed"))
    with pytest.raises(PathInvalid, match="outside the allowed folders"):
        add_file(workspace, tmp_path / "data", parse_card(CARD, file="visits.yaml"), replace=False)
