"""A published table as a file: which format, what it holds, and a write that leaves the old file or the new one.

Text that a spreadsheet could run as a formula is neutralised in CSV and kept as text in XLSX; numbers stay numbers. A
release that is not differentially private says so in every format.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from discreet.errors import ExtraMissing, ParameterInvalid
from discreet.files import check_path, replace_file
from discreet.pages.lettering import clean, screen_width
from discreet.pages.spreadsheets import csv_columns
from discreet.tables.crosstab import arrange, name_stand
from discreet.tables.figurewords import Writing, tell_marks
from discreet.tables.layout import Layout
from discreet.tables.listing import Column, Sort, list_columns
from discreet.tables.notes import list_notes, warn_reader
from discreet.tables.table import Heading, Number, Shown, Table

if TYPE_CHECKING:
    import pyarrow

__all__ = ["FORMATS", "check_output", "infer_format", "render_text", "to_arrow", "write_table"]

FORMATS: Final = ("table", "json", "csv", "xlsx", "parquet", "sdmx-csv", "html")

_SUFFIXES: Final = {
    ".sdmx.csv": "sdmx-csv",
    ".csv": "csv",
    ".xlsx": "xlsx",
    ".parquet": "parquet",
    ".json": "json",
    ".html": "html",
    ".htm": "html",
    ".txt": "table",
}
_BINARY: Final = frozenset({"xlsx", "parquet"})
_NEEDED: Final = {"xlsx": ("xlsxwriter",), "sdmx-csv": ("pysdmx", "pandas")}
_WIDEST_INTEGER: Final = 1 << 63


def infer_format(path: Path) -> str:
    """The format that the end of a file's name stands for."""
    name = path.name.lower()
    for suffix, format in _SUFFIXES.items():
        if name.endswith(suffix):
            return format
    raise ParameterInvalid(
        parameter="the file's name",
        rule=f"must end in {', '.join(_SUFFIXES)}, or the format be named ({', '.join(FORMATS)})",
        came=f"'{path.name}'",
    )


def check_output(
    path: Path | None, *, format: str, layout: Layout | None = None, headings: Sequence[Heading] = ()
) -> None:
    """Say what would stop the file from being written, before anything is charged."""
    _check_format(format)
    for module in _NEEDED.get(format, ()):
        if find_spec(module) is None:
            raise ExtraMissing(needed_for=f"the format {format}", extra="tables")
    if path is None:
        if format in _BINARY:
            raise _file_needed(format)
    else:
        check_path(path)
    if format == "sdmx-csv":
        from discreet.tables.sdmx import require_codes

        require_codes(headings)
    if format == "xlsx" and layout is not None:
        from discreet.tables.xlsx import check_size

        figures = sum(layout.count(margin) for margin in layout.margins)
        keys = len(layout.sizes)
        check_size(figures=figures, columns=layout.sizes[-1] + keys if keys > 1 else keys + 1)


def write_table(table: Table, path: Path, *, format: str, language: str) -> None:
    """Write the whole file, or leave what was there."""
    _check_format(format)
    check_path(path)
    replace_file(path, _content(table, format, language))


def render_text(table: Table, format: str, language: str) -> str:
    """The table as text, for the formats that are text."""
    _check_format(format)
    if format == "table":
        return _render_grid(table, language)
    if format == "json":
        return json.dumps(table.to_dict(language), indent=2, ensure_ascii=False) + "\n"
    if format == "csv":
        return _render_csv(table, language)
    if format == "sdmx-csv":
        from discreet.tables.sdmx import to_sdmx_csv

        return to_sdmx_csv(table, language)
    if format == "html":
        from discreet.tables.tablepage import write_table_page

        return write_table_page(table, language)
    raise _file_needed(format)


def _content(table: Table, format: str, language: str) -> bytes:
    if format == "xlsx":
        from discreet.tables.xlsx import to_xlsx

        return to_xlsx(table, language)
    if format == "parquet":
        return _to_parquet(table, language)
    return render_text(table, format, language).encode("utf-8", errors="replace")


def _check_format(format: str) -> None:
    if format not in FORMATS:
        raise ParameterInvalid(parameter="format", rule=f"must be one of {', '.join(FORMATS)}", came=f"'{format}'")


def _file_needed(format: str) -> ParameterInvalid:
    return ParameterInvalid(parameter="the format", rule="is no text and needs a file to be written to", came=format)


# --- CSV -------------------------------------------------------------------------------------------------------------


def _render_csv(table: Table, language: str) -> str:
    columns = list_columns(table, language)
    return "".join(csv_columns((column.name for column in columns), [[column.values for column in columns]]))


# --- Parquet ---------------------------------------------------------------------------------------------------------


def to_arrow(table: Table, language: str) -> pyarrow.Table:
    """The columns of the CSV with types; what the release promises is in the schema's metadata."""
    import pyarrow

    arrays = {column.name: _array(column, whole=table.whole) for column in list_columns(table, language)}
    return pyarrow.table(arrays, metadata=_metadata(table, language))


def _to_parquet(table: Table, language: str) -> bytes:
    import pyarrow
    from pyarrow import parquet

    sink = pyarrow.BufferOutputStream()
    parquet.write_table(to_arrow(table, language), sink)
    content: bytes = sink.getvalue().to_pybytes()
    return content


def _array(column: Column, *, whole: bool) -> Any:
    """Types follow from the key, the step and the column, never from what noise happened to give."""
    import pyarrow

    if column.sort is Sort.WORDS:
        return pyarrow.array(column.values, type=pyarrow.string())
    if column.sort is Sort.CODE:
        return _code_array(column)
    fits = all(value is None or abs(_number(value)) < _WIDEST_INTEGER for value in column.values)
    if column.sort is Sort.VALUE and whole and fits:
        return pyarrow.array(column.values, type=pyarrow.int64())
    return pyarrow.array([None if value is None else float(value) for value in column.values], type=pyarrow.float64())


def _code_array(column: Column) -> Any:
    import pyarrow

    step = None if column.heading is None or column.heading.face.codes else column.heading.face.step
    if step is None or any(isinstance(value, str) for value in column.values):
        texts = [None if value is None else str(value) for value in column.values]
        return pyarrow.array(texts, type=pyarrow.string())
    return pyarrow.array(column.values, type=pyarrow.int64() if step.denominator == 1 else pyarrow.float64())


def _number(value: Shown) -> Number:
    assert isinstance(value, (int, float))
    return value


def _metadata(table: Table, language: str) -> dict[str, str]:
    facts = {
        "title": table.title.text(language),
        "statistic": table.statistic.text(language),
        "quality_basis": table.quality_basis,
        "created": table.created,
        **({} if table.calibration is None else {"calibration": dict(table.calibration)}),
        **table.release,
        "guarantee": str(table.guarantee),
        "differentially_private": table.guarantee.differentially_private,
    }
    return {
        f"discreet.{name}": fact if isinstance(fact, str) else json.dumps(fact, ensure_ascii=False)
        for name, fact in facts.items()
    }


# --- plain text ------------------------------------------------------------------------------------------------------


def _render_grid(table: Table, language: str) -> str:
    """A cross-tabulation in a fixed pitch: numbers to the right with the marks of their quality, notes below."""
    grid, writing = arrange(table), Writing.of(table, language)
    heads = [table.headings[place].title.text(language) for place in grid.down]
    if grid.across is None:
        tops = [table.statistic.text(language)]
    else:
        tops = [name_stand(table.headings[grid.across], column, language) for column in grid.columns]
    rows = [[*map(clean, heads), *map(clean, tops)]]
    for number, line in enumerate(grid.lines):
        names = [
            name_stand(table.headings[place], stand, language) for place, stand in zip(grid.down, line, strict=True)
        ]
        figures = [writing.marked(grid.figures.get((number, column))) for column in range(len(grid.columns))]
        rows.append([*map(clean, names), *figures])
    warning, marks = warn_reader(table, language), tell_marks(table, language)
    notes = [f"{clean(heading)}: {clean(sentence)}" for heading, sentence in list_notes(table, language)]
    lines = [
        *([clean(warning), ""] if warning else []),
        clean(table.title.text(language)),
        "",
        *_align(rows, left=len(heads)),
        "",
        *([marks, ""] if marks else []),
        *notes,
        "",
    ]
    return "\n".join(lines)


def _align(rows: Sequence[Sequence[str]], *, left: int) -> list[str]:
    widths = [max(map(screen_width, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        spaces = [" " * (width - screen_width(cell)) for cell, width in zip(row, widths, strict=True)]
        cells = [
            cell + space if place < left else space + cell
            for place, (cell, space) in enumerate(zip(row, spaces, strict=True))
        ]
        lines.append("  ".join(cells).rstrip())
    return lines
