"""A published table as one HTML page: what it is, figures with intervals and quality, pictures, what it promises.

Everything in it comes from the published table; nothing is fetched and nothing runs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final

from discreet.data.columns import Labels
from discreet.pages.lettering import begin, clean, tell_number
from discreet.pages.markup import Markup, bullets, element, join
from discreet.pages.page import show_figure, write_page
from discreet.tables.crosstab import Grid, Stand, arrange, name_stand
from discreet.tables.factwords import NOT_PRIVATE, tell_guarantee, tell_level, tell_neighbours
from discreet.tables.figurewords import MARKS, MEANINGS, Writing, tell_marks, tell_owner
from discreet.tables.notes import list_facts, list_warnings, warn_reader
from discreet.tables.panels import SUMMED
from discreet.tables.pictures import draw_bars, draw_heat_map
from discreet.tables.table import Entry, Table

__all__ = ["write_table_page"]

_MOST_LINES: Final = 2000
_MOST_COLUMNS: Final = 40
# Above this many figures a cross-tabulation would be mostly cut away.
_MOST_ARRANGED: Final = 50_000

_WORDS: Final = {
    "figures": Labels("Figures", "Chiffres"),
    "pictures": Labels("Pictures", "Images"),
    "notes": Labels("What these figures are", "Ce que sont ces chiffres"),
    "record": Labels("Record of the release", "Fiche de la diffusion"),
    "warnings": Labels("Warnings", "Avertissements"),
    "value": Labels("Value", "Valeur"),
    "interval": Labels("Interval", "Intervalle"),
    "quality": Labels("Quality", "Qualité"),
    "uncalibrated": Labels("Before calibration", "Avant calage"),
}


def write_table_page(table: Table, language: str) -> str:
    """The whole page in one language."""
    title = clean(table.title.text(language))
    body = [
        *_notice(table, language),
        element("header", element("h1", title, dir="auto"), *_lead(table, language)),
        element("main", *_sections(table, language)),
    ]
    return write_page(title, *body, language=language)


def _notice(table: Table, language: str) -> list[Markup]:
    if (warning := warn_reader(table, language)) is None:
        return []
    first = NOT_PRIVATE.text(language)
    return [element("p", element("strong", first), clean(warning).removeprefix(first), class_="notice alarm")]


def _lead(table: Table, language: str) -> list[Markup]:
    """What is promised, in one line that does not break within an equation; the notice says what is not."""
    if not table.guarantee.differentially_private:
        return []
    guarantee, neighbours = clean(tell_guarantee(table, language)), clean(tell_neighbours(table, language))
    said = f"{begin(guarantee)}; {neighbours}."
    return [element("p", said.replace(" = ", "\u00a0=\u00a0"), class_="lead")]


def _sections(table: Table, language: str) -> Iterator[Markup]:
    yield element("section", _heading("figures", language), *_figures(table, language), id="figures")
    yield element(
        "section",
        _heading("pictures", language),
        show_figure(draw_heat_map(table, language)),
        show_figure(draw_bars(table, language)),
        id="pictures",
    )
    yield element("section", _heading("notes", language), *_notes(table, language), id="notes")


def _heading(word: str, language: str) -> Markup:
    return element("h2", _WORDS[word].text(language))


# --- figures ----------------------------------------------------------------------------------------------------------


def _figures(table: Table, language: str) -> Iterator[Markup]:
    writing = Writing.of(table, language)
    if reading := _tell_reading(table, language):
        yield element("p", reading, class_="caption")
    number = len(table.cells) + len(table.margins)
    across = len({entry.codes[-1] for entry in table.cells}) if len(table.headings) > 1 else 1
    if number <= _MOST_ARRANGED and across <= _MOST_COLUMNS:
        grid = arrange(table)
        yield _cross_table(table, grid, writing)
        left = len(grid.lines) - _MOST_LINES
    else:
        yield _long_table(table, writing)
        left = number - _MOST_LINES
    if left > 0:
        yield element("p", _tell_left(left, language))


def _tell_reading(table: Table, language: str) -> str:
    """How to read a cell: the interval below it, and the letters that occur."""
    said = []
    if level := tell_level(table, language):
        owner = tell_owner(table, language)
        said.append(
            f"Sous chaque valeur, l’intervalle à {level} {owner} (bruit de confidentialité seul)."
            if language == "fr"
            else f"Below each figure, the {level} interval of its {owner} (privacy noise only)."
        )
    if marks := tell_marks(table, language):
        said.append(f"{marks}.")
    return " ".join(said)


def _tell_left(left: int, language: str) -> str:
    number = tell_number(left, language)
    if language == "fr":
        return f"{number} lignes de plus ne sont pas montrées ici; les fichiers CSV, Parquet et JSON les ont toutes."
    return f"{number} more lines are not shown here; the CSV, Parquet and JSON files have all of them."


def _cross_table(table: Table, grid: Grid, writing: Writing) -> Markup:
    """The last key across, the others down; a line's names are written once for all lines that share them."""
    language = writing.language
    heads = [
        element("th", _title(table, place, language), scope="col", dir="auto", class_="key") for place in grid.down
    ]
    if grid.across is None:
        tops = [element("th", clean(table.statistic.text(language)), scope="col")]
    else:
        heading = table.headings[grid.across]
        tops = [_name(name_stand(heading, one, language), "col", summed=one == SUMMED) for one in grid.columns]
        across = element("th", _title(table, grid.across, language), scope="colgroup", colspan=str(len(tops)))
    top = [element("tr", *heads, *tops)]
    if grid.across is not None:
        top.insert(0, element("tr", element("td", colspan=str(len(heads))), across))
    lines = grid.lines[:_MOST_LINES]
    body = [element("tr", *_cross_line(table, grid, row, lines, writing)) for row in range(len(lines))]
    return _scrolling(element("thead", *top), element("tbody", *body))


def _cross_line(
    table: Table, grid: Grid, row: int, lines: Sequence[tuple[Stand, ...]], writing: Writing
) -> Iterator[Markup]:
    line = lines[row]
    for depth, (place, stand) in enumerate(zip(grid.down, line, strict=True)):
        if row == 0 or lines[row - 1][: depth + 1] != line[: depth + 1]:
            name = name_stand(table.headings[place], stand, writing.language)
            yield _name(name, "row", summed=stand == SUMMED, span=_count_alike(lines, row, depth + 1))
    summed = SUMMED in line
    for column, stand in enumerate(grid.columns):
        aside = summed or (grid.across is not None and stand == SUMMED)
        yield _figure(grid.figures.get((row, column)), writing, summed=aside)


def _count_alike(lines: Sequence[tuple[Stand, ...]], row: int, keys: int) -> int:
    """How many lines from this one on agree in their first keys."""
    after = row + 1
    while after < len(lines) and lines[after][:keys] == lines[row][:keys]:
        after += 1
    return after - row


def _figure(entry: Entry | None, writing: Writing, *, summed: bool) -> Markup:
    classes = {"class_": "margin"} if summed else {}
    if entry is None:
        return element("td", **classes)
    if entry.value is None:
        return element("td", "–", title=MEANINGS[entry.quality].text(writing.language), **classes)
    mark = MARKS.get(entry.quality, "")
    interval = writing.interval(entry)
    below = [interval] if interval else []
    return element(
        "td",
        writing.value(entry),
        *([element("sup", mark, title=MEANINGS[entry.quality].text(writing.language))] if mark else []),
        *(part for words in below for part in (element("br"), element("small", words))),
        **classes,
    )


def _name(name: str, scope: str, *, summed: bool, span: int = 1) -> Markup:
    more = {"rowspan": str(span)} if span > 1 else {}
    return element("th", clean(name), scope=scope, dir="auto", **more, **({"class_": "margin"} if summed else {}))


def _title(table: Table, place: int, language: str) -> str:
    return clean(table.headings[place].title.text(language))


def _scrolling(*parts: Markup) -> Markup:
    return element("div", element("table", *parts, class_="figures"), class_="scroll")


def _long_table(table: Table, writing: Writing) -> Markup:
    """One line for each figure, cells first."""
    language = writing.language
    keys = [_title(table, place, language) for place in range(len(table.headings))]
    figures = ["value", "interval", "quality", *(["uncalibrated"] if table.calibration is not None else [])]
    heads = [*keys, *(_WORDS[word].text(language) for word in figures)]
    top = element("thead", element("tr", *(element("th", head, scope="col", dir="auto") for head in heads)))
    lines = []
    for entry in islice(table.entries(), _MOST_LINES):
        names = [table.label(entry, place, language) for place in range(len(keys))]
        cells = [writing.value(entry), writing.interval(entry), MEANINGS[entry.quality].text(language)]
        if table.calibration is not None:
            cells.append(_uncalibrated(entry, writing))
        headed = [_name(name, "row", summed=place in entry.over) for place, name in enumerate(names)]
        lines.append(element("tr", *headed, *(element("td", cell) for cell in cells)))
    return _scrolling(top, element("tbody", *lines))


def _uncalibrated(entry: Entry, writing: Writing) -> str:
    if entry.uncalibrated is None:
        return "–"
    return tell_number(entry.uncalibrated, writing.language, decimals=writing.decimals)


# --- notes ------------------------------------------------------------------------------------------------------------


def _notes(table: Table, language: str) -> Iterator[Markup]:
    if warnings := list_warnings(table, language):
        told = bullets(list(map(clean, warnings)))
        yield element("div", element("strong", _WORDS["warnings"].text(language)), told, class_="notice")
    terms = [
        part
        for heading, sentence in table.notes
        for part in (element("dt", heading.text(language)), element("dd", clean(sentence.text(language))))
    ]
    if terms:
        yield element("dl", *terms)
    facts = [
        element("tr", element("th", clean(name), scope="row"), element("td", clean(fact)))
        for name, fact in list_facts(table, language)
    ]
    record = element("div", element("table", element("tbody", *facts), class_="setting"), class_="scroll")
    yield join([element("h3", _WORDS["record"].text(language)), record])
