"""A release as a file: which format, what it holds, and a write that leaves the old file or the new one.

Text that a spreadsheet could run as a formula is neutralised in CSV and kept as text in XLSX; numbers stay numbers. A
release that is not differentially private says so in every format.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from discreet.catalogue import Phrase, say
from discreet.errors import ExtraMissing, ParameterInvalid
from discreet.files import check_path, replace_file
from discreet.paths import AnyPath, as_path
from discreet.results import Heading, Release

__all__ = ["FORMATS", "check_output", "file_parts", "infer_format", "save", "text_parts"]

FORMATS: Final = ("table", "json", "csv", "xlsx", "parquet", "sdmx-csv", "html", "svg", "png", "pdf")

_SUFFIXES: Final = {
    ".sdmx.csv": "sdmx-csv",
    ".csv": "csv",
    ".xlsx": "xlsx",
    ".parquet": "parquet",
    ".json": "json",
    ".html": "html",
    ".htm": "html",
    ".svg": "svg",
    ".png": "png",
    ".pdf": "pdf",
    ".txt": "table",
}
_BINARY: Final = frozenset({"xlsx", "parquet", "png", "pdf"})
_NEEDED: Final = {"xlsx": ("xlsxwriter",), "sdmx-csv": ("pysdmx", "pandas")}


def infer_format(path: AnyPath) -> str:
    """The format that the end of a file's name stands for."""
    path = as_path(path)
    name = path.name.lower()
    for suffix, format in _SUFFIXES.items():
        if name.endswith(suffix):
            return format
    raise ParameterInvalid(
        parameter=Phrase("the file's name"),
        rule=say(
            "must end in {suffixes}, or its format must be named ({formats})",
            suffixes=", ".join(_SUFFIXES),
            formats=", ".join(FORMATS),
        ),
        given=f"'{path.name}'",
    )


def check_output(
    path: AnyPath | None, *, format: str, sizes: Sequence[int] = (), figures: int = 0, headings: Sequence[Heading] = ()
) -> None:
    """Say what would stop the file from being written, before anything is charged.

    `sizes` are how many cells each key of a table has, and `figures` how many figures it will have.
    """
    _check_format(format)
    for module in _NEEDED.get(format, ()):
        if find_spec(module) is None:
            raise ExtraMissing(needed_for=Phrase("the format {format}", format=format), extra="tables")
    if format in ("png", "pdf"):
        from discreet.present.charts.raster import require_pdf, require_png

        require_png() if format == "png" else require_pdf()
    if path is None:
        if format in _BINARY:
            raise _file_needed(format)
    else:
        check_path(as_path(path))
    if format == "sdmx-csv":
        from discreet.present.formats.sdmx import require_codes

        require_codes(headings)
    if format == "xlsx" and figures:
        from discreet.present.formats.xlsx import check_size

        keys = len(sizes)
        check_size(figures=figures, columns=sizes[-1] + keys if keys > 1 else keys + 1)


def save(release: Release, path: AnyPath, *, format: str | None = None, language: str = "en") -> Path:
    """Write the whole file, or leave what was there."""
    path = as_path(path)
    chosen = infer_format(path) if format is None else format
    check_output(path, format=chosen, headings=release.headings)
    replace_file(path, file_parts(release, chosen, language))
    return path


def file_parts(release: Release, format: str, language: str) -> Iterator[bytes]:
    """The release as the bytes of a file, in parts."""
    _check_format(format)
    if format == "xlsx":
        from discreet.present.formats.xlsx import to_xlsx

        yield to_xlsx(release, language)
    elif format == "parquet":
        from discreet.present.formats.arrow import to_parquet

        yield to_parquet(release, language)
    elif format in ("png", "pdf"):
        from discreet.present.charts.pictures import plot
        from discreet.present.charts.raster import draw_pdf, draw_png

        yield (draw_png if format == "png" else draw_pdf)(plot(release, language))
    else:
        for part in text_parts(release, format, language):
            # A card may hold what no encoding has: half of a surrogate pair.
            yield part.encode("utf-8", errors="replace")


def text_parts(release: Release, format: str, language: str) -> Iterator[str]:
    """The release as text, for the formats that are text; in parts, so that a million rows are never held as one."""
    _check_format(format)
    if format in _BINARY:
        raise _file_needed(format)
    if format == "json":
        from discreet.present.formats.json import json_parts

        yield from json_parts(release, language)
    elif format == "csv":
        from discreet.present.formats.csv import csv_parts

        yield from csv_parts(release, language)
    elif format == "sdmx-csv":
        from discreet.present.formats.sdmx import to_sdmx_csv

        yield to_sdmx_csv(release, language)
    elif format == "html":
        from discreet.present.formats.html import write_release_page

        yield write_release_page(release, language)
    elif format == "svg":
        from discreet.present.charts.pictures import picture_file, plot

        yield picture_file(plot(release, language))
    else:
        from discreet.present.formats.plain_text import to_plain

        yield to_plain(release, language)


def _check_format(format: str) -> None:
    if format not in FORMATS:
        raise ParameterInvalid(
            parameter="format", rule=say("must be one of {formats}", formats=", ".join(FORMATS)), given=f"'{format}'"
        )


def _file_needed(format: str) -> ParameterInvalid:
    return ParameterInvalid(
        parameter=Phrase("the format"), rule=say("is not text, and needs a file to be written to"), given=format
    )
