"""A release as a long list: one line for each figure or row; the columns that every file format shares."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from itertools import chain, repeat
from typing import Any, Final

from discreet.catalogue import Phrase
from discreet.guarantees import text
from discreet.present.messages import say_message
from discreet.present.words import tell_guarantee
from discreet.results import (
    ALL,
    BoundsUsed,
    Heading,
    Labels,
    Margin,
    Release,
    ReleaseKind,
    Shown,
    SizeTooSmall,
    Statistic,
)

__all__ = ["ColumnSort", "ListColumn", "list_columns", "name_free"]

_FIGURES: Final = ("margin", "value", "raw", "low", "high", "quality", "uncalibrated", "guarantee")
_TABLES: Final = (ReleaseKind.TABLE, ReleaseKind.BOOTSTRAP)


class ColumnSort(StrEnum):
    """What a column holds: it decides types and number formats."""

    CODE = "code"
    WORDS = "words"
    VALUE = "value"
    ESTIMATE = "estimate"


@dataclass(frozen=True, slots=True)
class ListColumn:
    """One column: its name for machines, its title for people, and a value for each line.

    A column of codes knows its key, whose face says whether codes are texts or numbers; one of figures its statistic.
    What only repeats another column in words stands `aside`, and is left out where codes are enough.
    """

    name: str
    title: Labels
    sort: ColumnSort
    values: Sequence[Shown]
    heading: Heading | None = None
    statistic: Statistic | None = None
    aside: bool = False


def list_columns(release: Release, language: str) -> list[ListColumn]:
    """Every key with its label, and the figures with their intervals.

    A release that is not differentially private says so on every line, because a line may be copied out of the file by
    itself. A key whose name is that of a figure's column gets a trailing underscore, so that no two share a name.
    """
    if release.kind is ReleaseKind.LOCAL:
        return list(_collection_columns(release, language))
    if release.parts:
        return _stack_parts({name: list_columns(part, language) for name, part in release.parts.items()})
    columns = _table_columns if release.kind in _TABLES else _query_columns
    result = list(columns(release, language))
    if not release.guarantee.differentially_private:
        said = [tell_guarantee(release, "en")] * len(release)
        result.append(_words("guarantee", Phrase("Guarantee"), said))
    return result


def name_free(wanted: str, taken: Container[str]) -> str:
    """The wanted name, with trailing underscores until nobody else has it."""
    while wanted in taken:
        wanted += "_"
    return wanted


def _words(name: str, title: Labels, values: Sequence[Shown], *, aside: bool = False) -> ListColumn:
    return ListColumn(name, title, ColumnSort.WORDS, values, aside=aside)


# --- tables ---------------------------------------------------------------------------------------------------------


def _table_columns(release: Release, language: str) -> Iterator[ListColumn]:
    statistic, level = release.statistic, "" if release.level is None else text(release.level)
    margins = statistic.figures.margins
    yield from _key_columns(release, margins, language)
    over = [repeat("+".join(release.headings[index].name for index in item.over), len(item)) for item in margins]
    yield _words("margin", Phrase("Summed over"), list(chain.from_iterable(over)))
    titles = {
        "value": statistic.title,
        "raw": Phrase("Raw estimate"),
        "low": Phrase("Low ({level})", level=level),
        "high": Phrase("High ({level})", level=level),
    }
    for name, title in titles.items():
        values = list(chain.from_iterable(_column(margin, name) for margin in margins))
        # The ends of intervals and raw estimates need not be whole where published values are.
        if name == "value":
            yield ListColumn(name, title, ColumnSort.VALUE, values, statistic=statistic)
        else:
            yield ListColumn(name, title, ColumnSort.ESTIMATE, values)
    grades = [map(str, margin.quality or repeat("not rated", len(margin))) for margin in margins]
    yield _words("quality", Phrase("Quality"), list(chain.from_iterable(grades)))
    if release.calibration is not None:
        before = list(chain.from_iterable(_column(margin, "uncalibrated") for margin in margins))
        title = Phrase("Before calibration")
        yield ListColumn("uncalibrated", title, ColumnSort.ESTIMATE, before)


def _column(margin: Margin, name: str) -> Sequence[Any]:
    column = margin.values if name == "value" else getattr(margin, name)
    if column is None:
        column = margin.values if name == "raw" else [None] * len(margin)
    return column.tolist() if hasattr(column, "tolist") else column


def _key_columns(release: Release, margins: Sequence[Margin], language: str) -> Iterator[ListColumn]:
    taken = set(_FIGURES)
    for index, heading in enumerate(release.headings):
        codes = name_free(heading.name, taken)
        # The names of the keys still to come are taken too: `sex_label` may be a column of its own.
        labels = name_free(f"{heading.name}_label", taken | {codes} | {item.name for item in release.headings})
        taken |= {codes, labels}
        titles = heading.title
        code_title = Phrase("{title} (code)", title=titles)
        values = list(chain.from_iterable(margin.codes[index] for margin in margins))
        yield ListColumn(codes, code_title, ColumnSort.CODE, values, heading)
        # Each label is looked up once: a table has a million figures, a key a few hundred codes.
        label = lru_cache(maxsize=None)(lambda code, heading=heading: heading.label(code, language))
        named = (
            repeat(ALL.text(language), len(margin)) if index in margin.over else map(label, margin.codes[index])
            for margin in margins
        )
        yield _words(labels, titles, list(chain.from_iterable(named)), aside=True)


# --- questions ------------------------------------------------------------------------------------------------------


def _query_columns(release: Release, language: str) -> Iterator[ListColumn]:
    """Keys as codes with a label column beside each category, every noisy column with its interval.

    What a search for private bounds did not find is told first; why a mean is not there beside it.
    """
    notices = [say_message(note)[1].en for note in release.notes if isinstance(note, BoundsUsed) and note.warns]
    if notices:
        yield _words("notice", Phrase("Notice"), [" ".join(notices)] * len(release))
    keys = {heading.name: heading for heading in release.headings}
    statistics = {item.name: item for item in release.statistics}
    absent = {note.output for note in release.notes if isinstance(note, SizeTooSmall)}
    for name in release.columns:
        values = release.listed_rows.columns[name]
        if name in keys:
            title, labelled = keys[name].title, keys[name].face.labels
            code_title = Phrase("{title} (code)", title=title) if labelled else title
            yield ListColumn(name, code_title, ColumnSort.CODE, values, keys[name])
            if labelled:
                labels = _Labelled(values, keys[name].labels(language))
                yield _words(f"{name}_label", title, labels, aside=True)
            continue
        statistic = statistics[name]
        yield ListColumn(name, statistic.title, ColumnSort.VALUE, values, statistic=statistic)
        if release.level is None:
            continue
        level = text(release.level)
        for side, title in (
            ("low", Phrase("{title}: low ({level})", title=statistic.title, level=level)),
            ("high", Phrase("{title}: high ({level})", title=statistic.title, level=level)),
        ):
            ends = list(chain.from_iterable(_column(margin, side) for margin in statistic.figures.margins))
            yield ListColumn(f"{name}_{side}", title, ColumnSort.ESTIMATE, ends, statistic=statistic)
        if name in absent:
            status = [SizeTooSmall.code if value is None else "" for value in _plain(values)]
            title = Phrase("{title}: status", title=statistic.title)
            yield _words(f"{name}_status", title, status, aside=True)


def _plain(values: Sequence[Any]) -> Sequence[Any]:
    return values.tolist() if hasattr(values, "tolist") else values


class _Labelled(Sequence[Shown]):
    """The labels of a column of codes, looked up when they are read."""

    def __init__(self, codes: Sequence[Shown], labels: dict[str, str]) -> None:
        self._codes = codes
        self._labels = labels

    def __len__(self) -> int:
        return len(self._codes)

    def __getitem__(self, index: Any) -> Any:
        found = self._codes[index]
        if isinstance(index, slice):
            return [self._label(code) for code in found]
        return self._label(found)

    def _label(self, code: Shown) -> str:
        return "" if code is None else self._labels.get(str(code), "")


# --- parts ----------------------------------------------------------------------------------------------------------


def _stack_parts(parts: dict[str, list[ListColumn]]) -> list[ListColumn]:
    """The lines of every part, its name first; what a part does not have stays empty."""
    lengths = {name: len(columns[0].values) for name, columns in parts.items()}
    named = [name for name, count in lengths.items() for _ in range(count)]
    first = {column.name: column for columns in parts.values() for column in reversed(columns)}
    order = dict.fromkeys(column.name for columns in parts.values() for column in columns)
    question = name_free("question", order)
    stacked = [_words(question, Phrase("Question"), named)]
    for name in order:
        values: list[Shown] = []
        for part, columns in parts.items():
            own = next((column for column in columns if column.name == name), None)
            values += [None] * lengths[part] if own is None else list(_plain(own.values))
        model = first[name]
        stacked.append(ListColumn(name, model.title, model.sort, values, model.heading, model.statistic))
    return stacked


_TITLES: Final = {
    "question": Phrase("question"),
    "statistic": Phrase("statistic"),
    "category": Phrase("category"),
    "label": Phrase("label"),
    "estimate": Phrase("estimate"),
    "low": Phrase("low"),
    "high": Phrase("high"),
    "adjusted": Phrase("adjusted"),
    "adjusted_low": Phrase("adjusted low"),
    "adjusted_high": Phrase("adjusted high"),
    "share": Phrase("share"),
    "share_low": Phrase("share low"),
    "share_high": Phrase("share high"),
    "ratio_count": Phrase("ratio count"),
    "ratio_count_low": Phrase("ratio count low"),
    "ratio_count_high": Phrase("ratio count high"),
    "adjusted_share": Phrase("adjusted share"),
    "adjusted_share_low": Phrase("adjusted share low"),
    "adjusted_share_high": Phrase("adjusted share high"),
    "survey": Phrase("survey"),
    "version": Phrase("version"),
    "manifest": Phrase("manifest"),
    "guarantee": Phrase("guarantee"),
    "accepted": Phrase("accepted"),
    "refused": Phrase("refused"),
    "answered_in_clear": Phrase("answered in clear"),
    "level": Phrase("level"),
    "variance": Phrase("variance"),
}
_FORMS: Final = ("adjusted", "share", "ratio_count", "adjusted_share")


def _collection_columns(release: Release, language: str) -> Iterator[ListColumn]:
    """One line for each estimate of a collection, with what it rests on."""
    lines = [line for name, part in release.parts.items() for line in _estimate_lines(name, part, language)]
    names = list(dict.fromkeys(name for line in lines for name in line))
    for name in names:
        number = any(isinstance(line.get(name), float) for line in lines)
        yield ListColumn(
            name, _title(name), ColumnSort.ESTIMATE if number else ColumnSort.WORDS, [line.get(name) for line in lines]
        )
    for name, fact in _about(release).items():
        yield _words(name, _title(name), [fact] * len(lines))


def _estimate_lines(name: str, part: Release, language: str) -> Iterator[dict[str, Shown]]:
    groups = [heading for heading in part.headings if heading.name != "category"]
    forms = {item.name: item for item in part.statistics}
    counted = "estimate" in forms and len(forms) > 1
    for row, first in enumerate(part.statistic.figures):
        codes = dict(zip((heading.name for heading in part.headings), first.codes, strict=True))
        category = codes.get("category")
        label = part.headings[-1].label(category, language) if counted else None
        line: dict[str, Shown] = {
            "question": name,
            "statistic": "count" if counted else "mean",
            "category": ("" if category is None else category) if counted else None,
            "label": label,
            **{heading.name: codes[heading.name] for heading in groups},
            "estimate": first.value,
            "low": first.low,
            "high": first.high,
        }
        for form in _FORMS:
            figure = forms[form].figures[row] if form in forms else None
            line |= {
                form: None if figure is None else figure.value,
                f"{form}_low": None if figure is None else figure.low,
                f"{form}_high": None if figure is None else figure.high,
            }
        yield line


def _title(name: str) -> Labels:
    plain = name.replace("_", " ")
    return _TITLES.get(name, Labels(plain, plain))


def _about(release: Release) -> dict[str, str]:
    from discreet.present.formats.json import about_collection

    return {name: str(value) for name, value in about_collection(release).items()}
