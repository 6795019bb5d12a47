"""Formats by name, what CSV, JSON and Parquet hold, and writes that are whole or do not happen."""

from __future__ import annotations

import csv
import dataclasses
import io
import json
from fractions import Fraction
from pathlib import Path

import pyarrow
import pytest
from pyarrow import parquet

from discreet.errors import ExtraMissing, ParameterInvalid, PathInvalid
from discreet.present import release_files as files
from discreet.present.crosstab import arrange
from discreet.present.formats.arrow import to_arrow
from discreet.present.release_files import FORMATS, check_output, infer_format, save
from discreet.results import Calibration, Figure, Heading, KeyFace, Labels, Quality, Release
from tests.places import GOLDEN as _GOLDEN
from tests.releases import change_cells, put_figures, put_step, render_text
from tests.unit.present.conftest import with_plain_codes

GOLDEN = _GOLDEN / "tables"

WITHOUT_FONTS = [name for name in FORMATS if name not in ("png", "pdf")]


def read_csv(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text, newline="")))


def rename_keys(release: Release, *names: str) -> Release:
    pairs = zip(release.headings, names, strict=True)
    return dataclasses.replace(release, headings=tuple(dataclasses.replace(one, name=name) for one, name in pairs))


# --- names ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "format"),
    [
        ("a.csv", "csv"),
        ("a.sdmx.csv", "sdmx-csv"),
        ("A.XLSX", "xlsx"),
        ("a.b.parquet", "parquet"),
        ("a.json", "json"),
        ("a.htm", "html"),
        ("a.html", "html"),
        ("a.txt", "table"),
        ("a.svg", "svg"),
    ],
)
def test_the_end_of_a_name_tells_the_format(name: str, format: str) -> None:
    assert infer_format(Path(name)) == format


@pytest.mark.parametrize("name", ["table", "table.xls", "table.csv.gz"])
def test_an_unknown_end_is_refused_with_the_list(name: str) -> None:
    with pytest.raises(ParameterInvalid, match=r"\.xlsx.*sdmx-csv") as caught:
        infer_format(Path(name))
    assert name in caught.value.message


# --- what is checked before a charge ----------------------------------------------------------------------------------


def test_outputs_that_can_be_written_pass(tmp_path: Path) -> None:
    for format in WITHOUT_FONTS:
        check_output(tmp_path / "a", format=format, sizes=(13, 5), figures=84)


def test_outputs_that_cannot_be_written_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ParameterInvalid, match="must be one of table, json"):
        check_output(None, format="xls")
    with pytest.raises(ParameterInvalid, match="needs a file"):
        check_output(None, format="parquet")
    with pytest.raises(PathInvalid, match="is a folder"):
        check_output(tmp_path, format="csv")
    with pytest.raises(PathInvalid, match="there is no folder"):
        check_output(tmp_path / "no" / "a.csv", format="csv")
    with monkeypatch.context() as patched:
        patched.setattr("os.access", lambda path, mode: False)
        with pytest.raises(PathInvalid, match="may not write in"):
            check_output(tmp_path / "a.csv", format="csv")
    with pytest.raises(ParameterInvalid, match="Parquet and CSV"):
        check_output(tmp_path / "a.xlsx", format="xlsx", sizes=(2, 16_383), figures=32_766)
    with pytest.raises(ParameterInvalid, match="Parquet and CSV"):
        check_output(tmp_path / "a.xlsx", format="xlsx", sizes=(1_048_576,), figures=1_048_576)
    monkeypatch.setattr(files, "find_spec", lambda module: None)
    with pytest.raises(ExtraMissing, match=r"discreet\[tables\]"):
        check_output(tmp_path / "a.xlsx", format="xlsx")


# --- CSV and text -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("language", ["en", "fr"])
def test_the_csv_is_the_golden_one(counted: Release, language: str) -> None:
    golden = (GOLDEN / f"counted.{language}.csv").read_bytes()
    assert render_text(counted, "csv", language).encode() == golden


def test_cells_come_first_then_margins_that_say_what_they_sum(counted: Release) -> None:
    rows = read_csv(render_text(counted, "csv", "en"))
    assert [row["margin"] for row in rows] == [""] * 15 + ["smoking"] * 3 + ["province"] * 5 + ["province+smoking"]
    assert rows[-1]["province"] == rows[-1]["smoking"] == ""
    assert rows[-1]["province_label"] == rows[-1]["smoking_label"] == "All"
    assert (rows[4]["smoking"], rows[4]["smoking_label"]) == ("", "(no value)")
    assert rows[10]["value"] == rows[10]["low"] == ""


def test_labels_are_neutralised_and_negative_numbers_are_numbers(counted: Release) -> None:
    rows = read_csv(render_text(counted, "csv", "en"))
    assert {row["smoking_label"][:2] for row in rows[:4]} == {"'+", "'-", "'\t", "'\r"}
    assert {row["province"] for row in rows} == {"10", "24", "'=59", ""}
    assert rows[4]["raw"] == "-13"
    assert rows[2]["smoking"] == "-3"


def test_a_release_without_proof_says_so_on_every_line(counted: Release, bootstrapped: Release) -> None:
    rows = read_csv(render_text(bootstrapped, "csv", "fr"))
    assert all(row["guarantee"].startswith("not differentially private") for row in rows)
    assert "guarantee" not in read_csv(render_text(counted, "csv", "fr"))[0]
    assert render_text(bootstrapped, "table", "en").startswith("Not differentially private. ")
    assert json.loads(render_text(bootstrapped, "json", "en"))["differentially_private"] is False


def test_keys_named_like_figures_keep_columns_apart(counted: Release) -> None:
    rows = read_csv(render_text(rename_keys(counted, "value", "value_label"), "csv", "en"))
    assert list(rows[0])[:5] == ["value_", "value_label_", "value_label", "value_label_label", "margin"]
    assert rows[0]["value_"] == "10"
    assert rows[0]["value"] == "57300"


def test_what_calibration_changed_has_a_column(counted: Release) -> None:
    table = change_cells(dataclasses.replace(counted, calibration=Calibration(())), uncalibrated=1.25)
    assert read_csv(render_text(table, "csv", "en"))[0]["uncalibrated"] == "1.25"
    assert to_arrow(table, "en").schema.field("uncalibrated").type == pyarrow.float64()


def test_json_holds_the_dictionary(counted: Release) -> None:
    assert json.loads(render_text(counted, "json", "fr")) == json.loads(json.dumps(counted.to_dict("fr")))


def test_the_text_lays_the_table_out(counted: Release) -> None:
    lines = render_text(counted, "table", "en").splitlines()
    assert lines[2].split("  ")[0] == "Province"
    assert lines[2].endswith("All")
    assert lines[6].split()[-1] == "7,051,613"
    assert "–" in lines[5]
    assert lines[8] == "E use with caution; F unreliable; – suppressed"
    assert "41\u00a0E" in lines[5]
    assert "7\u202f051\u202f613" in render_text(counted, "table", "fr")


def test_the_text_shows_as_many_decimals_as_intervals_bear(counted: Release) -> None:
    means = put_step(change_cells(counted, value=1.7609343256448131, low=1.7604, high=1.7614), None)
    shown = render_text(means, "table", "fr")
    assert "1,7609" in shown
    assert "1,76093" not in shown


def test_binary_formats_are_no_text(counted: Release) -> None:
    with pytest.raises(ParameterInvalid, match="needs a file"):
        render_text(counted, "xlsx", "en")


# --- the layout of lines and columns ----------------------------------------------------------------------------------


def make_numbered(template: Release, *sizes: int) -> Release:
    """A table of integer keys without margins but those over the last key."""
    names = "abcdef"[: len(sizes)]
    headings = tuple(Heading(name, Labels(name, name), KeyFace(name, step=Fraction(1))) for name in names)
    cells = [Figure((), (), 1, 1, 1, 1, Quality.GOOD)]
    for size in sizes:
        cells = [figure._replace(codes=(*figure.codes, code)) for figure in cells for code in range(size, 0, -1)]
    sums = [one._replace(codes=(*one.codes[:-1], None), over=(len(sizes) - 1,)) for one in cells]
    made = dataclasses.replace(template, headings=headings)
    return put_figures(made, cells=cells, margins=dict.fromkeys(sums))


def test_one_key_stands_down(counted: Release) -> None:
    grid = arrange(make_numbered(counted, 3))
    assert (grid.down, grid.across) == ((0,), None)
    assert grid.lines == [((False, 3),), ((False, 2),), ((False, 1),), ((True, None),)]
    assert len(grid.columns) == 1


def test_three_keys_have_the_last_across_in_the_order_of_the_cells(counted: Release) -> None:
    grid = arrange(make_numbered(counted, 2, 2, 3))
    assert (grid.down, grid.across and grid.across.name) == ((0, 1), "c")
    assert [code for _, code in grid.columns] == [3, 2, 1, None]
    assert grid.lines[0] == ((False, 2), (False, 2))
    assert len(grid.figures) == 16


def test_a_margin_that_is_not_published_leaves_its_place_empty(counted: Release) -> None:
    grid = arrange(put_figures(counted, margins=counted.margins[:3]))
    assert len(grid.lines) == 3
    assert len(grid.columns) == 6


# --- Parquet ----------------------------------------------------------------------------------------------------------


def test_parquet_has_types_and_facts(counted: Release, tmp_path: Path) -> None:
    path = tmp_path / "table.parquet"
    save(counted, path, format="parquet", language="en")
    read = parquet.read_table(path)
    assert read.schema.field("value").type == pyarrow.int64()
    assert read.schema.field("raw").type == pyarrow.float64()
    assert read.schema.field("province").type == pyarrow.string()
    assert read.column("value").to_pylist() == [entry.value for entry in counted.entries()]
    assert read.column("smoking_label").to_pylist()[3] == "\r@never"
    assert read.schema.metadata[b"discreet.guarantee"] == b"pure DP, epsilon = 0.5"
    assert json.loads(read.schema.metadata[b"discreet.charge"]) == {"epsilon": "0.5", "delta": "0"}


def test_types_do_not_follow_from_the_values(counted: Release) -> None:
    assert to_arrow(put_step(counted, None), "en").schema.field("value").type == pyarrow.float64()
    assert to_arrow(make_numbered(counted, 3), "en").schema.field("a").type == pyarrow.int64()


# --- writing ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("format", FORMATS)
def test_the_same_table_gives_the_same_bytes_and_nothing_else(
    counted: Release, tmp_path: Path, format: str, request: pytest.FixtureRequest
) -> None:
    if format not in WITHOUT_FONTS:
        request.getfixturevalue("a_font")
    first, second = tmp_path / "first", tmp_path / "second"
    second.write_text("old")
    table = with_plain_codes(counted) if format == "sdmx-csv" else counted
    for path in (first, second):
        save(table, path, format=format, language="fr")
    # svg2pdf embeds fonts in an order of its own.
    same = len if format == "pdf" else bytes
    assert same(first.read_bytes()) == same(second.read_bytes())
    assert sorted(path.name for path in tmp_path.iterdir()) == ["first", "second"]


def test_a_failure_leaves_the_old_file(counted: Release, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.csv"
    path.write_text("old")

    def fail(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", fail)
    with pytest.raises(PathInvalid, match=r"No space left.*what was there before is unchanged"):
        save(counted, path, format="csv", language="en")
    assert path.read_text() == "old"
    assert [one.name for one in tmp_path.iterdir()] == ["a.csv"]
