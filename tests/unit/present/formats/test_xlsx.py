"""The workbook: golden parts, no formula anywhere, numbers that are numbers, notes that say what they mean."""

from __future__ import annotations

import dataclasses
import io
import sys
import zipfile
from typing import Any

import openpyxl
import pytest

from discreet.errors import ExtraMissing, ParameterInvalid
from discreet.present.formats import xlsx
from discreet.present.formats.xlsx import check_size, to_xlsx
from discreet.present.messages import say_message
from discreet.results import Labels, Release
from discreet.results.notes import NotInTable
from tests.places import GOLDEN as _GOLDEN
from tests.releases import change_cells, put_figures, put_step
from tests.unit.present.conftest import STRATEGY, WARNING

GOLDEN = _GOLDEN / "tables"
RED = "FFC00000"


def open_book(table: Release, language: str = "en") -> Any:
    return openpyxl.load_workbook(io.BytesIO(to_xlsx(table, language)))


def read_parts(content: bytes) -> str:
    """The parts that hold cells and their looks, one element on a line."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        names = ["xl/sharedStrings.xml", "xl/styles.xml", *(f"xl/worksheets/sheet{place}.xml" for place in (1, 2, 3))]
        return "".join(f"=== {name}\n{archive.read(name).decode().replace('><', f'>{chr(10)}<')}\n" for name in names)


def find_cells(sheet: Any, **where: object) -> list[Any]:
    cells = [cell for row in sheet.iter_rows() for cell in row if cell.value is not None]
    return [cell for cell in cells if all(getattr(cell, name) == value for name, value in where.items())]


def make_smaller(table: Release) -> Release:
    """Two provinces, three types of smoker: enough for every look, and a golden file one can read."""
    kept = [entry for entry in table.cells if entry.codes[0] != "24" and entry.codes[1] in ("1", "@4", None)]
    margins = [entry for entry in table.margins if entry.codes[0] != "24" and entry.codes[1] in ("@4", None)]
    return put_figures(table, cells=kept, margins=margins)


def test_the_parts_are_the_golden_ones(counted: Release) -> None:
    assert read_parts(to_xlsx(make_smaller(counted), "en")) == (GOLDEN / "counted.xlsx.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize("language", ["en", "fr"])
def test_no_cell_is_a_formula_and_every_text_is_quoted(counted: Release, language: str) -> None:
    for sheet in open_book(counted, language):
        assert not find_cells(sheet, data_type="f")
        texts = find_cells(sheet, data_type="s")
        assert len(texts) > 10
        assert all(cell.quotePrefix for cell in texts)
        assert all(isinstance(cell.value, (int, float)) for cell in find_cells(sheet, data_type="n"))


def test_numbers_of_a_french_workbook_are_french_wherever_it_is_opened(counted: Release) -> None:
    patterns = {cell.number_format for sheet in open_book(counted, "fr") for cell in find_cells(sheet, data_type="n")}
    assert patterns
    assert all(pattern.startswith("[$-C0C]#,##0") for pattern in patterns)


def test_words_of_the_long_list_are_broken_so_that_a_page_holds_it(counted: Release) -> None:
    sheet = open_book(counted)["Figures"]
    assert sum(column.width for column in sheet.column_dimensions.values()) <= 190
    assert all(cell.alignment.wrap_text for cell in find_cells(sheet, data_type="s"))


def test_the_cross_tabulation_ends_with_its_margins(counted: Release) -> None:
    sheet = open_book(counted)["Table"]
    assert sheet.freeze_panes == "B5"
    assert [cell.value for cell in sheet[4]][0::6] == ["Province", "All"]
    assert [cell.value for cell in sheet[8]] == ["All", 961303, 313600, 2254891, 3521807, 12, 7051613]
    assert sheet["B7"].value == "–"
    assert sheet["B5"].number_format == "#,##0_ _E"
    assert sheet["C7"].number_format == '#,##0" F"'
    assert sheet["D7"].number_format == '#,##0" E"'
    marks, promised, source = sheet["A10"].value.split("\n")
    assert marks == "E use with caution; F unreliable; – suppressed"
    assert promised.startswith("Protects each person: the figures would look almost the same whether or not")
    assert source == "Source: survey, version 1. Released on 2026-03-01."


@pytest.mark.parametrize(
    ("language", "title", "measured", "interval"),
    [
        ("en", "95% intervals: privacy noise only", "Weighted count", "57,264 to\n57,358"),
        ("fr", "Intervalles à 95\u00a0%\u00a0: bruit de confidentialité seulement", "Effectif pondéré", None),
    ],
)
def test_the_table_says_what_it_measures_and_carries_its_intervals(
    counted: Release, language: str, title: str, measured: str, interval: str | None
) -> None:
    sheet = next(iter(open_book(counted, language)))
    assert sheet["A2"].value == measured
    assert sheet["A12"].value == title
    assert [cell.value for cell in sheet[14]] == [cell.value for cell in sheet[4]]
    assert [sheet.cell(row, 1).value for row in range(15, 19)] == [sheet.cell(row, 1).value for row in range(5, 9)]
    assert interval is None or sheet["B15"].value == interval
    assert sheet["B17"].value is None, "what is suppressed has no interval"
    assert all(sheet.cell(row, column).value for row in (15, 16, 18) for column in range(2, 8))


def test_a_single_column_has_its_intervals_beside_it(counted: Release) -> None:
    cells = [figure._replace(codes=figure.codes[:1]) for figure in counted.cells[:10:5]]
    table = put_figures(dataclasses.replace(counted, headings=counted.headings[:1]), cells=cells, margins=[])
    sheet = open_book(table)["Table"]
    assert [cell.value for cell in sheet[3]][:3] == ["Province", "Weighted count", "95% interval"]
    assert [sheet.cell(row, 3).value for row in (4, 5)] == ["57,264 to 57,358", "903,955 to 904,049"]


def test_without_intervals_there_is_no_block_of_them(bootstrapped: Release) -> None:
    sheet = open_book(bootstrapped)["Table"]
    assert not any("interval" in str(cell.value) for cell in find_cells(sheet, data_type="s"))
    assert "Not differentially private" in sheet["A11"].value


@pytest.mark.parametrize("language", ["en", "fr"])
def test_every_row_is_as_high_as_what_is_broken_in_it(counted: Release, language: str) -> None:
    """A letter takes at most a digit's room and a line at least 14 points; joined cells count together."""
    long = " ".join(["interval"] * 60)
    said = Labels(long, long)
    noted = dataclasses.replace(counted, notes=(NotInTable(said), *counted.notes), title=said)
    for sheet in open_book(noted, language):
        groups = sheet.column_dimensions.values()
        wide = {place: group.width for group in groups for place in range(group.min, group.max + 1)}
        joined = {str(area).partition(":")[0]: area for area in sheet.merged_cells.ranges}
        broken = [cell for cell in find_cells(sheet, data_type="s") if cell.alignment.wrap_text]
        assert broken
        for cell in broken:
            area = joined.get(cell.coordinate)
            columns = range(cell.column, (area.max_col if area else cell.column) + 1)
            room = sum(wide.get(one, 9) for one in columns) * 1.05 * 11 / cell.font.size
            lines = sum(max(1, -(-len(part) // room)) for part in cell.value.split("\n"))
            height = sheet.row_dimensions[cell.row].height or 15
            assert height >= lines * cell.font.size * 1.25, cell.coordinate


def test_the_figures_are_a_list_with_a_filter(counted: Release) -> None:
    sheet = open_book(counted)["Figures"]
    assert sheet.auto_filter.ref == "A3:J27"
    assert sheet.freeze_panes == "A4"
    first = [cell.value for cell in sheet[4]]
    assert first == ["10", "Newfoundland and Labrador", "1", "+Daily", None, 57300, 57311, 57264, 57358, "good"]
    assert sheet["G8"].value == -13
    assert sheet["G8"].number_format == "#,##0.0"
    assert sheet["F8"].number_format == "#,##0"
    assert open_book(counted, "fr")["Chiffres"]["J8"].value == "peu fiable"


@pytest.mark.parametrize(
    ("step", "pattern"), [("1", "#,##0"), ("0.01", "#,##0.00"), ("0.5", "#,##0.0"), (None, "#,##0")]
)
def test_number_formats_follow_the_step(counted: Release, step: str | None, pattern: str) -> None:
    assert open_book(put_step(counted, step))["Figures"]["F4"].number_format == pattern


def test_means_show_as_many_decimals_as_their_intervals_bear(counted: Release) -> None:
    means = put_step(change_cells(counted, value=1.76093, low=1.7602, high=1.7615), None)
    assert open_book(means)["Table"]["B5"].number_format == "#,##0.0000_ _E"


def test_the_notes_say_what_the_figures_mean(counted: Release) -> None:
    sheet = open_book(counted)["Notes"]
    notes = {row[0].value: row[1].value for row in sheet.iter_rows(min_row=3)}
    assert notes["Guarantee"] == "pure DP, epsilon = 0.5"
    assert notes["Protection"].startswith("Protects each person: ")
    assert notes["Strength of the protection"].startswith("epsilon = 0.5: no result is more than 1.65 times as likely")
    assert notes["Protected unit"] == "each person"
    assert notes["Neighbours"] == "add-remove: one unit more or less"
    assert notes["Charged"] == "epsilon 0.5"
    assert notes["Date"] == "2026-03-01"
    assert notes["Time"] == "2026-03-01T12:00:00+00:00"
    assert notes["Plan hash"] == "a" * 64
    assert notes["What an interval covers"].startswith("privacy noise only: each interval belongs to the raw estimate")
    assert notes["Quality counts"] == "privacy noise only"
    assert notes["Warning"] == say_message(WARNING)[1].en
    assert notes["Strategy"] == say_message(STRATEGY)[1].en
    assert notes["Strategy"].startswith("=SUM(weight)")


@pytest.mark.parametrize(("language", "words"), [("en", "Not differentially"), ("fr", "Sans confidentialité")])
def test_a_release_without_proof_says_so_in_red_on_every_sheet(
    bootstrapped: Release, language: str, words: str
) -> None:
    book = open_book(bootstrapped, language)
    assert len(book.sheetnames) == 3
    for sheet in book:
        assert sheet["A1"].value.startswith(words)
        assert sheet["A1"].font.color.rgb == RED


def test_a_private_release_has_no_red_line(counted: Release) -> None:
    assert open_book(counted)["Table"]["A1"].value == counted.title.en


def test_the_bytes_follow_from_the_table_alone(counted: Release) -> None:
    assert to_xlsx(counted, "en") == to_xlsx(counted, "en")
    undated = dataclasses.replace(counted, source=dataclasses.replace(counted.source, created=""))
    assert to_xlsx(undated, "en") == to_xlsx(undated, "en")
    assert open_book(counted).properties.created.isoformat() == "2026-03-01T12:00:00"


def test_a_large_workbook_holds_the_same(counted: Release, monkeypatch: pytest.MonkeyPatch) -> None:
    small = open_book(counted)
    monkeypatch.setattr(xlsx, "_LARGE", 10)
    assert to_xlsx(counted, "en") == to_xlsx(counted, "en")
    for sheet, other in zip(small, open_book(counted), strict=True):
        cells = [[(cell.value or None, cell.quotePrefix) for cell in row] for row in sheet.iter_rows()]
        assert cells == [[(cell.value or None, cell.quotePrefix) for cell in row] for row in other.iter_rows()]
        assert not find_cells(other, data_type="f")


def test_columns_are_as_wide_as_what_they_hold(counted: Release) -> None:
    sheet = open_book(counted)["Figures"]
    assert sheet.column_dimensions["B"].width > len("Newfoundland and Labrador")


def test_one_key_stands_down(counted: Release) -> None:
    cells = [figure._replace(codes=figure.codes[:1]) for figure in counted.cells[::5]]
    total = counted.margins[-1]._replace(codes=(None,), over=(0,))
    table = put_figures(dataclasses.replace(counted, headings=counted.headings[:1]), cells=cells, margins=[total])
    sheet = open_book(table)["Table"]
    assert [cell.value for cell in sheet[3]][:3] == ["Province", "Weighted count", "95% interval"]
    assert [cell.value for cell in sheet[7]][:2] == ["All", 7051613]


def test_what_no_sheet_can_hold_is_refused() -> None:
    check_size(figures=1_048_570, columns=16_384)
    with pytest.raises(ParameterInvalid, match="received one with 1,048,571 figures"):
        check_size(figures=1_048_571, columns=2)
    with pytest.raises(ParameterInvalid, match="16,385 columns"):
        check_size(figures=10, columns=16_385)


def test_without_the_extra_it_says_which(counted: Release, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "xlsxwriter", None)
    with pytest.raises(ExtraMissing, match=r"discreet\[tables\]"):
        to_xlsx(counted, "en")
