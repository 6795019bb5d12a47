"""A release as a workbook: the cross-tabulation, the long list of figures, and notes that say what they mean.

Every text is written as a string under a style with `quotePrefix`, so that `=`, `+`, `-`, `@`, a tab or a carriage
return never make a formula of it, even after somebody edits the cell. The same table gives the same bytes.
"""

from __future__ import annotations

import io
import re
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from math import ceil, isfinite
from typing import Any, Final

from discreet.catalogue import FRENCH, Phrase, say
from discreet.errors import ExtraMissing, ParameterInvalid
from discreet.present.crosstab import Grid, Stand, arrange, name_stand
from discreet.present.long_list import ColumnSort, ListColumn, list_columns
from discreet.present.note_list import list_details, list_notes, warn_reader
from discreet.present.table_words import MARKS, MEANINGS, Writing, small_print, tell_marks, tell_source
from discreet.present.words import NOISE_ONLY, tell_level, titles_of
from discreet.results import Figure, Quality, Release, Shown, SizeTooSmall

__all__ = ["check_size", "to_xlsx"]

_MOST_ROWS: Final = 1_048_576
_MOST_COLUMNS: Final = 16_384
_TOP_ROWS: Final = 6  # warning, title, guarantee and headings above the figures; legend below them
_MOST_INTERVALS: Final = 20_000  # figures up to which a cross-tabulation has its intervals below it
_WIDEST: Final = 48
_WIDEST_SAID: Final = 26  # words of the long list are broken beyond
_NOT_IN_NAMES: Final = re.compile(r"[\[\]:*?/\\\x00-\x1f]")
_FORBIDDEN: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_OPTIONS: Final = {"strings_to_formulas": False, "strings_to_numbers": False, "strings_to_urls": False}
_LARGE: Final = 100_000  # figures from which rows go to the disk at once
_EPOCH: Final = datetime(1980, 1, 1, tzinfo=UTC)

_NOTE_WIDTHS: Final = (30, 100)
_FULL_LINE: Final = 90  # characters that a sentence above a table may run
_SPREAD: Final = 120  # characters that intervals side by side may run
_PAGE: Final = 185  # widths that a landscape page holds in type of 8 points
_SMALLEST: Final = 75  # per cent: 8 points for what has 11
_FOOTER: Final = 90
_LETTERS: Final = 1.05  # letters in the room of a digit
_LINE: Final = 1.36  # height of a line over the size of its font
_DEFAULT_SIZE: Final = 11
_DEFAULT_WIDTH: Final = 9

_SHEETS: Final = (Phrase("Table"), Phrase("Figures"), Phrase("Notes"))
_DETAILS: Final = Phrase("Details for verification")
_UNMARKED: Final = "_ _E"  # as wide as a mark, so that digits stand below digits
_NUMBERS_IN: Final = {FRENCH: "[$-C0C]"}  # a French workbook has French numbers wherever it is opened
_STATUS: Final = {SizeTooSmall.code: MEANINGS[Quality.TOO_SMALL]}


def check_size(*, figures: int, columns: int) -> None:
    """Refuse what no sheet can hold: so many figures in a list, so many columns side by side."""
    if figures + _TOP_ROWS > _MOST_ROWS or columns > _MOST_COLUMNS:
        raise ParameterInvalid(
            parameter=Phrase("a table for XLSX"),
            rule=say(
                "has at most {most_rows:,} figures and {most_columns:,} columns (Parquet and CSV have no such limit)",
                most_rows=_MOST_ROWS - _TOP_ROWS,
                most_columns=_MOST_COLUMNS,
            ),
            given=say("one with {figures:,} figures and {columns:,} columns", figures=figures, columns=columns),
        )


def to_xlsx(release: Release, language: str) -> bytes:
    """The whole file. A release with parts has a sheet for each, the list of all of them, and the notes."""
    try:
        import xlsxwriter
    except ImportError:
        raise ExtraMissing(needed_for=Phrase("the format xlsx"), extra="tables") from None
    pages = list(release.parts.values()) if release.parts else [release]
    grids = [arrange(page) for page in pages]
    figures = sum(len(page) for page in pages)
    check_size(figures=figures, columns=max(len(grid.down) + len(grid.columns) for grid in grids))
    out = io.BytesIO()
    # Both ways give every part a fixed time stamp.
    book = xlsxwriter.Workbook(out, {**_OPTIONS, "constant_memory" if figures > _LARGE else "in_memory": True})
    book.set_properties({"title": _clean(release.title.text(language)), "created": _created(release)})
    names = list(_name_sheets([*release.parts], language)) if release.parts else [_SHEETS[0].text(language)]
    for name, page, grid in zip(names, pages, grids, strict=True):
        _Writer(book, page, language).write_cross_tabulation(grid, name)
    writer = _Writer(book, release, language)
    writer.write_list()
    writer.write_notes()
    book.close()
    return out.getvalue()


def _name_sheets(parts: Sequence[str], language: str) -> Iterator[str]:
    """The names of parts as a workbook can have them: short, without some signs, each once."""
    taken = {sheet.text(language).casefold() for sheet in _SHEETS}
    for part in parts:
        name = short = _NOT_IN_NAMES.sub(" ", part).strip("' ")[:28] or "–"
        number = 1
        while name.casefold() in taken:
            number += 1
            name = f"{short} {number}"
        taken.add(name.casefold())
        yield name


def _clean(text: str) -> str:
    """XML has no way to hold some characters."""
    return _FORBIDDEN.sub("\ufffd", text)


def _created(release: Release) -> datetime:
    """Fixed where the table does not say, so that the bytes never depend on the clock."""
    try:
        created = datetime.fromisoformat(release.source.created)
    except ValueError:
        return _EPOCH
    return created.astimezone(UTC) if created.tzinfo else created.replace(tzinfo=UTC)


# --- looks -----------------------------------------------------------------------------------------------------------


_HEAD: Final = {"bold": True, "bg_color": "#E7ECF2", "bottom": 1, "text_wrap": True, "valign": "top"}
_LOOKS: Final[Mapping[str, Mapping[str, object]]] = {
    "title": {"bold": True, "font_size": 14, "text_wrap": True, "valign": "top"},
    "block": {"bold": True, "text_wrap": True, "valign": "top"},
    "head_apart": {**_HEAD, "align": "left", "indent": 2},
    "plain": {"valign": "top", "text_wrap": True},
    "plain_apart": {"valign": "top", "text_wrap": True, "align": "left", "indent": 2},
    "small": {"font_size": 9, "font_color": "#595959", "text_wrap": True, "valign": "top"},
    "warning": {"bold": True, "font_color": "#C00000", "text_wrap": True, "valign": "top"},
    "interval": {"font_color": "#595959", "align": "right", "text_wrap": True, "valign": "top"},
    "head": _HEAD,
    "head_right": {**_HEAD, "align": "right"},
    "label": {"text_wrap": True, "valign": "top"},
    "label_margin": {"text_wrap": True, "valign": "top", "bold": True},
    "absent": {"align": "right", "valign": "top"},
}


class _Styles:
    """Cell formats, each made once. Those of texts have quotePrefix."""

    def __init__(self, book: Any) -> None:
        self._book = book
        self._made: dict[tuple[str, bool], Any] = {}

    def text(self, look: str) -> Any:
        return self._once((look, False), {**_LOOKS[look], "quote_prefix": True})

    def number(self, pattern: str, *, bold: bool = False) -> Any:
        return self._once((pattern, bold), {"num_format": pattern, "bold": bold, "valign": "top"})

    def _once(self, name: tuple[str, bool], properties: Mapping[str, object]) -> Any:
        if name not in self._made:
            self._made[name] = self._book.add_format(properties)
        return self._made[name]


def _pattern(decimals: int, language: str) -> str:
    """Thousands apart, and so many decimals."""
    return _NUMBERS_IN.get(language, "") + "#,##0" + ("." + "0" * decimals if decimals else "")


# --- sheets ----------------------------------------------------------------------------------------------------------


class _Writer:
    """Writes the sheets of one table, in order."""

    def __init__(self, book: Any, release: Release, language: str) -> None:
        self._book = book
        self._release = release
        self._language = language
        self._styles = _Styles(book)

    def write_cross_tabulation(self, grid: Grid, name: str) -> None:
        """The figures; their intervals beside a single column, else in the same places below them."""
        intervals = self._intervals(grid)
        widths = self._grid_widths(grid, intervals)
        beside = bool(intervals) and grid.across is None and len(grid.columns) == 1
        sheet, row = self._open(name, widths, measured=grid.across is not None)
        first = self._write_heads(sheet, row, grid, widths, beside=beside)
        sheet.freeze_panes(first, len(grid.down))
        sheet.repeat_rows(row, first - 1)
        self._fit(sheet, widths, names=len(grid.down))
        writings = self._writings(grid)
        for number, line in enumerate(grid.lines):
            self._write_names(sheet, first + number, grid, line, widths)
            for column, writing in enumerate(writings):
                if (figure := grid.figures.get((number, column))) is not None:
                    self._figure(sheet, first + number, len(grid.down) + column, figure, writing.decimals)
            if beside:
                self._text(sheet, first + number, len(grid.down) + 1, intervals.get((number, 0), ""), "interval")
        row = first + len(grid.lines) + 1
        self._sentence(sheet, row, self._footnotes(), "small", widths)
        if intervals and not beside:
            self._write_intervals(sheet, row + 2, grid, intervals, widths)

    def _footnotes(self) -> str:
        """What stands below a table: its marks, whom it protects, where it comes from."""
        release, language = self._release, self._language
        return "\n".join(
            filter(
                None, (tell_marks(release, language), small_print(release, language), tell_source(release, language))
            )
        )

    def _write_intervals(
        self, sheet: Any, row: int, grid: Grid, intervals: Mapping[tuple[int, int], str], widths: Sequence[int]
    ) -> None:
        level = tell_level(self._release, self._language)
        title = Phrase("{level} intervals: {cover}", level=level, cover=NOISE_ONLY).text(self._language)
        self._sentence(sheet, row, title, "block", widths)
        first = self._write_heads(sheet, row + 1, grid, widths)
        left = len(grid.down)
        for number, line in enumerate(grid.lines):
            lines = [intervals.get((number, column), "") for column in range(len(grid.columns))]
            self._write_names(sheet, first + number, grid, line, widths, beside=lines)
            for column, words in enumerate(lines):
                if words:
                    self._text(sheet, first + number, left + column, words, "interval")

    def _interval_title(self) -> str:
        return Phrase("{level} interval", level=tell_level(self._release, self._language)).text(self._language)

    def _write_heads(self, sheet: Any, row: int, grid: Grid, widths: Sequence[int], *, beside: bool = False) -> int:
        """The headings of the grid; returns the first row below them."""
        left = len(grid.down)
        if grid.across is not None:
            across, last = grid.across.title.text(self._language), left + len(grid.columns) - 1
            self._set_height(sheet, row, [(across, sum(widths[left:]))])
            for column in range(left):
                self._text(sheet, row, column, "", "head")
            if last > left:
                sheet.merge_range(row, left, row, last, "", self._styles.text("head"))
            self._text(sheet, row, left, across, "head")
            row += 1
        heads = [*(self._title(index) for index in grid.down), *grid.tops(self._language)]
        heads += [self._interval_title()] if beside else []
        self._set_height(sheet, row, zip(heads, widths, strict=True))
        for column, words in enumerate(heads):
            self._text(sheet, row, column, words, "head" if column < left else "head_right")
        return row + 1

    def _write_names(
        self,
        sheet: Any,
        row: int,
        grid: Grid,
        line: Sequence[Stand],
        widths: Sequence[int],
        beside: Sequence[str] = (),
    ) -> None:
        names = [
            name_stand(self._release.headings[index], stand, self._language)
            for index, stand in zip(grid.down, line, strict=True)
        ]
        self._set_height(sheet, row, zip([*names, *beside], widths, strict=False))
        for column, (words, stand) in enumerate(zip(names, line, strict=True)):
            self._text(sheet, row, column, words, "label_margin" if stand[0] else "label")

    def write_list(self) -> None:
        columns = list_columns(self._release, self._language)
        titles = [column.title.text(self._language) for column in columns]
        # Titles are broken between words, so that a long one does not make its column wide.
        widths = [
            _width([*title.split(), *self._widest_said(column)], least=9, most=_WIDEST_SAID)
            for title, column in zip(titles, columns, strict=True)
        ]
        sheet, row = self._open(_SHEETS[1].text(self._language), widths)
        styles = [self._number_style(column) for column in columns]
        # Texts right of numbers stand a little apart from them.
        apart = [before is not None for before in (None, *styles)]
        looks = [("head_apart", "plain_apart") if item else ("head", "plain") for item in apart]
        self._set_height(sheet, row, zip(titles, widths, strict=True))
        for index, (title, style) in enumerate(zip(titles, styles, strict=True)):
            self._text(sheet, row, index, title, looks[index][0] if style is None else "head_right")
        # Row by row, because a large workbook keeps only the last row in memory.
        for line, values in enumerate(zip(*(column.values for column in columns), strict=True), start=row + 1):
            said = {
                index: self._say(columns[index], value)
                for index, (value, style) in enumerate(zip(values, styles, strict=True))
                if style is None and value not in (None, "")
            }
            self._set_height(sheet, line, ((words, widths[index]) for index, words in said.items()))
            for index, (value, style) in enumerate(zip(values, styles, strict=True)):
                if style is not None:
                    _write_number(sheet, line, index, value, style)
                elif index in said:
                    self._text(sheet, line, index, said[index], looks[index][1])
        last = row + len(columns[0].values)
        sheet.freeze_panes(row + 1, 0)
        sheet.repeat_rows(row)
        self._fit(sheet, widths, names=0)
        sheet.autofilter(row, 0, last, len(columns) - 1)
        sheet.ignore_errors({"number_stored_as_text": f"A1:XFD{last + 1}"})

    def write_notes(self) -> None:
        sheet, row = self._open(_SHEETS[2].text(self._language), _NOTE_WIDTHS)
        self._fit(sheet, _NOTE_WIDTHS, names=0)
        row = self._write_facts(sheet, row, list_notes(self._release, self._language))
        self._sentence(sheet, row + 1, _DETAILS.text(self._language), "block", _NOTE_WIDTHS)
        self._write_facts(sheet, row + 2, list_details(self._release, self._language))

    def _write_facts(self, sheet: Any, row: int, facts: Iterable[tuple[str, str]]) -> int:
        """Headings and sentences, one row each; returns the first row below them."""
        for heading, sentence in facts:
            self._set_height(sheet, row, zip((heading, sentence), _NOTE_WIDTHS, strict=True))
            self._text(sheet, row, 0, heading, "label_margin")
            self._text(sheet, row, 1, sentence, "label")
            row += 1
        return row

    def _fit(self, sheet: Any, widths: Sequence[int], *, names: int) -> None:
        """On paper: one page across where its type stays legible, else several that repeat the names of lines."""
        if sum(widths) <= _PAGE:
            sheet.fit_to_pages(1, 0)
            return
        sheet.set_print_scale(_SMALLEST)
        if names:
            sheet.repeat_columns(0, names - 1)

    def _open(self, name: str, widths: Sequence[int], *, measured: bool = False) -> tuple[Any, int]:
        """A sheet with its columns and titles, and the first row below them; the figures' own says what is measured."""
        sheet = self._book.add_worksheet(name)
        sheet.set_landscape()
        sheet.set_paper(9)
        sheet.set_margins(left=0.5, right=0.5, top=0.6, bottom=0.7)
        sheet.set_footer(self._footer())
        for column, width in enumerate(widths):
            sheet.set_column(column, column, width)
        row = 0
        if (warning := warn_reader(self._release, self._language)) is not None:
            self._sentence(sheet, row, warning, "warning", widths)
            row += 1
        self._sentence(sheet, row, self._release.title.text(self._language), "title", widths)
        if measured and (said := self._tell_measured()):
            self._sentence(sheet, row + 1, said, "small", widths)
        return sheet, row + 2

    def _tell_measured(self) -> str:
        """What the figures are, unless the title begins with it."""
        if len(self._release.statistics) != 1:
            return ""
        title, said = (item.title.text(self._language) for item in (self._release, self._release.statistic))
        return "" if title.casefold().startswith(said.casefold()) else said

    def _footer(self) -> str:
        """The title and the page, on every sheet of paper."""
        title = textwrap.shorten(_clean(self._release.title.text(self._language)), _FOOTER, placeholder="…")
        page = Phrase("Page {page} of {pages}", page="&P", pages="&N").text(self._language)
        return f"&L&8{title.replace('&', '&&')}&R&8{page}"

    def _sentence(self, sheet: Any, row: int, text: str, look: str, widths: Sequence[int]) -> None:
        """A line across the columns, or as many as a sentence needs, broken between words and as high as its lines."""
        last, run = 0, 0
        for last in range(max(len(widths), _FULL_LINE // _DEFAULT_WIDTH)):
            run += widths[last] if last < len(widths) else _DEFAULT_WIDTH
            if run >= _FULL_LINE:
                break
        size = _LOOKS[look].get("font_size", _DEFAULT_SIZE)
        assert isinstance(size, int)
        self._set_height(sheet, row, [(text, run)], size=size)
        if last:
            sheet.merge_range(row, 0, row, last, "", self._styles.text(look))
        self._text(sheet, row, 0, text, look)

    def _set_height(self, sheet: Any, row: int, cells: Iterable[tuple[str, int]], *, size: int = _DEFAULT_SIZE) -> None:
        """Not every program finds the height of broken lines itself, and none does for cells that are joined."""
        lines = max((_count_lines(text, width, size) for text, width in cells), default=1)
        if lines > 1 or size != _DEFAULT_SIZE:
            sheet.set_row(row, ceil(lines * size * _LINE))

    def _text(self, sheet: Any, row: int, column: int, text: str, look: str) -> None:
        sheet.write_string(row, column, _clean(text), self._styles.text(look))

    def _writings(self, grid: Grid) -> list[Writing]:
        if grid.across is not None:
            return [Writing.of(grid.statistics[0], self._language)] * len(grid.columns)
        return [Writing.of(item, self._language) for item in grid.statistics]

    def _figure(self, sheet: Any, row: int, column: int, figure: Figure, decimals: int) -> None:
        if figure.value is None:
            self._text(sheet, row, column, "–", "absent")
            return
        mark = MARKS.get(figure.quality)
        pattern = _pattern(decimals, self._language) + (_UNMARKED if mark is None else f'" {mark}"')
        _write_number(sheet, row, column, figure.value, self._styles.number(pattern, bold=bool(figure.over)))

    def _number_style(self, column: ListColumn) -> Any:
        """How the numbers of a column are shown; None for a column of texts.

        Estimates that are not whole steps have one more decimal.
        """
        if column.sort in (ColumnSort.CODE, ColumnSort.WORDS):
            return None
        statistic = column.statistic or (self._release.statistic if self._release.statistics else None)
        decimals = 2 if statistic is None else Writing.of(statistic, self._language).decimals
        finer = column.sort is ColumnSort.ESTIMATE and statistic is not None and statistic.step is not None
        return self._styles.number(_pattern(decimals + (_finer(column) if finer else 0), self._language))

    def _say(self, column: ListColumn, value: Shown) -> str:
        """Codes that every reader of a workbook reads, in words: grades, reasons, and keys that were summed over."""
        if column.name == "quality":
            return MEANINGS[Quality(str(value))].text(self._language)
        if column.name.endswith("_status") and value in _STATUS:
            return _STATUS[str(value)].text(self._language)
        if column.name == "margin":
            titles = titles_of(self._release)
            names = str(value).split("+")
            if all(name in titles for name in names):
                return " + ".join(titles[name].text(self._language) for name in names)
        return str(value)

    def _widest_said(self, column: ListColumn) -> Iterator[str]:
        """What may be the widest of a column, as the sheet says it."""
        if column.name in ("quality", "margin"):
            return (self._say(column, value) for value in {value for value in column.values if value})
        return _widest(column.values)

    def _title(self, index: int) -> str:
        return self._release.headings[index].title.text(self._language)

    def _intervals(self, grid: Grid) -> dict[tuple[int, int], str]:
        """On two lines each where whole ones would make the sheet too wide; large tables have them in the list only."""
        if len(grid.figures) > _MOST_INTERVALS:
            return {}
        writings = self._writings(grid)
        lines = {
            (line, column): writings[column].interval(figure)
            for (line, column), figure in grid.figures.items()
            if figure.value is not None
        }
        result = {index: words for index, words in lines.items() if words}
        if max(map(len, result.values()), default=0) * len(grid.columns) <= _SPREAD:
            return result
        # "from to" of the language: broken behind its word for "to".
        middle = Phrase("{low} to {high}", low="", high="").text(self._language)
        return {index: words.replace(middle, f"{middle.rstrip()}\n") for index, words in result.items()}

    def _grid_widths(self, grid: Grid, intervals: Mapping[tuple[int, int], str]) -> list[int]:
        """Headings are broken between words, so that a long one does not make its column wide."""
        down = []
        for column, index in enumerate(grid.down):
            names = {name_stand(self._release.headings[index], line[column], self._language) for line in grid.lines}
            down.append(_width([self._title(index), *names], least=12))
        figures = max(map(len, _widest([figure.value for figure in grid.figures.values()])), default=0)
        text = max((len(line) for words in intervals.values() for line in words.split("\n")), default=0) + 2
        tops = [max(map(len, words.split()), default=0) + 2 for words in grid.tops(self._language)]
        if grid.across is None and len(grid.columns) == 1:
            return [*down, max(12, figures + 5, *tops), *([max(text, 16)] if intervals else [])]
        return [*down, *(min(max(12, figures + 5, text, longest), _WIDEST) for longest in tops)]


@lru_cache(maxsize=4096)
def _count_lines(text: str, width: int, size: int) -> int:
    """About how many lines a text takes in a column, whose width counts digits."""
    room = max(1, int(width * _LETTERS * _DEFAULT_SIZE / size))
    return sum(max(1, len(textwrap.wrap(part, room))) for part in text.split("\n"))


def _write_number(sheet: Any, row: int, column: int, value: Shown, style: Any) -> None:
    if isinstance(value, (int, float)) and isfinite(value):
        sheet.write_number(row, column, value, style)


def _finer(column: ListColumn) -> int:
    """One more decimal for estimates that are not whole steps."""
    return int(any(isinstance(value, float) and not value.is_integer() for value in column.values))


def _widest(values: Sequence[Shown]) -> Iterator[str]:
    """What may be the widest of a column: every text once, the least and the largest number."""
    yield from {value for value in values if isinstance(value, str)}
    numbers = [value for value in values if isinstance(value, (int, float))]
    if numbers:
        yield from (f"{number:,.2f}" for number in (min(numbers), max(numbers)))


def _width(texts: Iterable[str], *, least: int, most: int = _WIDEST) -> int:
    return min(max(least, max(map(len, texts)) + 2), most)
