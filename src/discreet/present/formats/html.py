"""A release as one HTML page: what it is, figures with intervals and quality, pictures, what it promises.

Everything in it comes from the release; nothing is fetched and nothing runs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Final

from discreet.catalogue import Phrase, say, say_count, speaking
from discreet.present.charts.chart_panels import SUMMED
from discreet.present.charts.lettering import clean, tell_number
from discreet.present.charts.pictures import draw_all
from discreet.present.crosstab import Grid, Stand, arrange, name_stand
from discreet.present.note_list import list_details, list_facts, list_messages, list_warnings, warn_reader
from discreet.present.pages.html_page import show_figure, write_page
from discreet.present.pages.markup import Markup, bullets, element, join
from discreet.present.protection import tell_protection, tell_strength
from discreet.present.table_words import MARKS, MEANINGS, Owner, Writing, small_print, tell_marks
from discreet.present.words import NOT_PRIVATE, tell_level
from discreet.results import Figure, Labels, Release, ReleaseKind

__all__ = ["fragment", "write_release_page"]

_MOST_LINES: Final = 2000
_MOST_COLUMNS: Final = 40
# Above this many figures a cross-tabulation would be mostly cut away.
_MOST_ARRANGED: Final = 50_000

_WORDS: Final = {
    "figures": Phrase("Figures"),
    "pictures": Phrase("Pictures"),
    "notes": Phrase("What these figures are"),
    "record": Phrase("Record of the release"),
    "details": Phrase("Details for verification"),
    "warnings": Phrase("Warnings"),
    "value": Phrase("Value"),
    "interval": Phrase("Interval"),
    "quality": Phrase("Quality"),
    "uncalibrated": Phrase("Before calibration"),
}


def write_release_page(release: Release, language: str) -> str:
    """The whole page in one language."""
    title = clean(release.title.text(language))
    body = [
        *_notice(release, language),
        element("header", element("h1", title, dir="auto"), *_lead(release, language)),
        element("main", *_sections(release, language)),
    ]
    return write_page(title, *body, language=language)


def _notice(release: Release, language: str) -> list[Markup]:
    if (warning := warn_reader(release, language)) is None:
        return []
    first = NOT_PRIVATE.text(language)
    return [element("p", element("strong", first), clean(warning).removeprefix(first), class_="notice alarm")]


def _lead(release: Release, language: str) -> list[Markup]:
    """What is promised, in one line that does not break within an equation; the notice says what is not."""
    if not release.guarantee.differentially_private:
        return []
    with speaking(language):
        strength = say("Differential privacy, {strength}.", strength=tell_strength(release, language))
    said = [tell_protection(release, language), strength]
    return [element("p", clean(item).replace(" = ", "\u00a0=\u00a0"), class_="lead") for item in said]


def _sections(release: Release, language: str) -> Iterator[Markup]:
    pages = release.parts or {"": release}
    figures = [part for name, page in pages.items() for part in _page_figures(name, page, language)]
    yield element("section", _heading("figures", language), *figures, id="figures")
    drawn = [show_figure(item) for page in pages.values() for item in draw_all(page, language)]
    if drawn:
        yield element("section", _heading("pictures", language), *drawn, id="pictures")
    yield element("section", _heading("notes", language), *_notes(release, language), id="notes")


def _page_figures(name: str, page: Release, language: str) -> Iterator[Markup]:
    if name:
        yield element("h3", clean(name))
    yield from _figures(page, language)


def fragment(release: Release, language: str) -> str:
    """The figures and what is promised, for a notebook: no page around them."""
    pages = release.parts or {"": release}
    shown = [part for name, page in pages.items() for part in _page_figures(name, page, language)]
    notice = warn_reader(release, language)
    said = element("p", element("small", clean(notice or small_print(release, language))))
    return str(element("div", element("p", element("strong", clean(release.title.text(language)))), *shown, said))


def _heading(word: str, language: str) -> Markup:
    return element("h2", _WORDS[word].text(language))


# --- figures ----------------------------------------------------------------------------------------------------------


def _figures(release: Release, language: str) -> Iterator[Markup]:
    if reading := _tell_reading(release, language):
        yield element("p", reading, class_="caption")
    number, tabular = len(release), release.kind in (ReleaseKind.TABLE, ReleaseKind.BOOTSTRAP)
    across = len({figure.codes[-1] for figure in release.cells}) if tabular and len(release.headings) > 1 else 1
    if number <= _MOST_ARRANGED and across <= _MOST_COLUMNS:
        grid = arrange(release)
        yield _cross_table(release, grid, language)
        left = len(grid.lines) - _MOST_LINES
    else:
        yield _long_table(release, language)
        left = number - _MOST_LINES
    if left > 0:
        yield element("p", _tell_left(left, language))


def _tell_reading(release: Release, language: str) -> str:
    """How to read a cell: the interval below it, and the letters that occur."""
    said = []
    if level := tell_level(release, language):
        said.append(_say_reading(Owner.of(release), level).text(language))
    if marks := tell_marks(release, language):
        said.append(f"{marks}.")
    return " ".join(said)


def _say_reading(owner: Owner, level: str) -> Labels:
    match owner:
        case Owner.FIGURE:
            return Phrase("Below each figure, its {level} interval (privacy noise only).", level=level)
        case Owner.RAW:
            return Phrase(
                "Below each figure, the {level} interval of its raw estimate (privacy noise only).", level=level
            )
        case Owner.CALIBRATED:
            return Phrase(
                "Below each figure, the {level} interval of its calibrated figure (privacy noise only).", level=level
            )


def _tell_left(left: int, language: str) -> str:
    with speaking(language):
        return say_count(
            "{count:,} more line is not shown here; the CSV, Parquet and JSON files have all of them.",
            "{count:,} more lines are not shown here; the CSV, Parquet and JSON files have all of them.",
            left,
        )


def _cross_table(release: Release, grid: Grid, language: str) -> Markup:
    """The last key across, the others down; a line's names are written once for all lines that share them."""
    heads = [
        element("th", _title(release, index, language), scope="col", dir="auto", class_="key") for index in grid.down
    ]
    if grid.across is None:
        tops = [element("th", clean(top), scope="col") for top in grid.tops(language)]
    else:
        tops = [
            _name(top, "col", summed=item == SUMMED)
            for top, item in zip(grid.tops(language), grid.columns, strict=True)
        ]
    top = [element("tr", *heads, *tops)]
    if grid.across is not None:
        title = clean(grid.across.title.text(language))
        across = element("th", title, scope="colgroup", colspan=str(len(tops)))
        top.insert(0, element("tr", element("td", colspan=str(len(heads))), across))
    lines = grid.lines[:_MOST_LINES]
    writings = [Writing.of(grid.statistic(column), language) for column in range(len(grid.columns))]
    body = [element("tr", *_cross_line(release, grid, row, lines, writings, language)) for row in range(len(lines))]
    return _scrolling(element("thead", *top), element("tbody", *body))


def _cross_line(
    release: Release,
    grid: Grid,
    row: int,
    lines: Sequence[tuple[Stand, ...]],
    writings: Sequence[Writing],
    language: str,
) -> Iterator[Markup]:
    line = lines[row]
    for depth, (index, stand) in enumerate(zip(grid.down, line, strict=True)):
        if row == 0 or lines[row - 1][: depth + 1] != line[: depth + 1]:
            name = name_stand(release.headings[index], stand, language)
            yield _name(name, "row", summed=stand == SUMMED, span=_count_alike(lines, row, depth + 1))
    summed = SUMMED in line
    for column, stand in enumerate(grid.columns):
        aside = summed or (grid.across is not None and stand == SUMMED)
        yield _figure(grid.figures.get((row, column)), writings[column], summed=aside)


def _count_alike(lines: Sequence[tuple[Stand, ...]], row: int, keys: int) -> int:
    """How many lines from this one on agree in their first keys."""
    after = row + 1
    while after < len(lines) and lines[after][:keys] == lines[row][:keys]:
        after += 1
    return after - row


def _figure(figure: Figure | None, writing: Writing, *, summed: bool) -> Markup:
    classes = {"class_": "margin"} if summed else {}
    if figure is None:
        return element("td", **classes)
    if figure.value is None:
        return element("td", "–", title=MEANINGS[figure.quality].text(writing.language), **classes)
    mark = MARKS.get(figure.quality, "")
    interval = writing.interval(figure)
    below = [interval] if interval else []
    return element(
        "td",
        writing.value(figure),
        *([element("sup", mark, title=MEANINGS[figure.quality].text(writing.language))] if mark else []),
        *(part for words in below for part in (element("br"), element("small", words))),
        **classes,
    )


def _name(name: str, scope: str, *, summed: bool, span: int = 1) -> Markup:
    more = {"rowspan": str(span)} if span > 1 else {}
    return element("th", clean(name), scope=scope, dir="auto", **more, **({"class_": "margin"} if summed else {}))


def _title(release: Release, index: int, language: str) -> str:
    return clean(release.headings[index].title.text(language))


def _scrolling(*parts: Markup) -> Markup:
    return element("div", element("table", *parts, class_="figures"), class_="scroll")


def _long_table(release: Release, language: str) -> Markup:
    """One line for each figure, cells first; of several statistics, one after the other."""
    keys = [_title(release, index, language) for index in range(len(release.headings))]
    figures = ["value", "interval", "quality", *(["uncalibrated"] if release.calibration is not None else [])]
    heads = [*keys, *(_WORDS[word].text(language) for word in figures)]
    top = element("thead", element("tr", *(element("th", head, scope="col", dir="auto") for head in heads)))
    lines = []
    for statistic in release.statistics:
        writing = Writing.of(statistic, language)
        for figure in islice(statistic.figures, _MOST_LINES // len(release.statistics)):
            names = [release.label(figure, index, language) for index in range(len(keys))]
            cells = [writing.value(figure), writing.interval(figure), MEANINGS[figure.quality].text(language)]
            if release.calibration is not None:
                cells.append(_uncalibrated(figure, writing))
            headed = [_name(name, "row", summed=index in figure.over) for index, name in enumerate(names)]
            lines.append(element("tr", *headed, *(element("td", cell) for cell in cells)))
    return _scrolling(top, element("tbody", *lines))


def _uncalibrated(figure: Figure, writing: Writing) -> str:
    if figure.uncalibrated is None:
        return "–"
    return tell_number(figure.uncalibrated, writing.language, decimals=writing.decimals)


# --- notes ------------------------------------------------------------------------------------------------------------


def _notes(release: Release, language: str) -> Iterator[Markup]:
    if warnings := list_warnings(release, language):
        text = bullets(list(map(clean, warnings)))
        yield element("div", element("strong", _WORDS["warnings"].text(language)), text, class_="notice")
    terms = [
        part
        for heading, sentence in list_messages(release)
        for part in (element("dt", heading.text(language)), element("dd", clean(sentence.text(language))))
    ]
    if terms:
        yield element("dl", *terms)
    yield join([element("h3", _WORDS["record"].text(language)), _record(list_facts(release, language))])
    details = list_details(release, language, hashes=False)
    yield element("details", element("summary", _WORDS["details"].text(language)), _record(details))


def _record(facts: Iterable[tuple[str, str]]) -> Markup:
    rows = [element("tr", element("th", clean(name), scope="row"), element("td", clean(fact))) for name, fact in facts]
    return element("div", element("table", element("tbody", *rows), class_="setting"), class_="scroll")
