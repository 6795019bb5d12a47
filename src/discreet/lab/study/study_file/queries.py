"""A study fitted to its card: which columns stay, which are protected, what is asked, in which order.

Custom queries become columns of their own, derived from the true answers before any model sees them: a yes or no for
each respondent, or a number that is absent where static conditions do not hold.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np

from discreet.cards import Card, Category, Column, ColumnKind, unknown_code
from discreet.catalogue import Phrase, say
from discreet.errors import StudyInvalid, nearest
from discreet.lab.study.execution.outcomes import StudyQuery
from discreet.lab.study.frame import ABSENT, AnswerColumn, StudyFrame
from discreet.lab.study.inquiry import COUNT, MEAN, SUM, Derived
from discreet.lab.study.study_file.study_config import Custom, Named, StudyConfig
from discreet.results import Labels

if TYPE_CHECKING:
    from numpy import bool_
    from numpy.typing import NDArray

__all__ = ["StudyDesign", "derive", "design_study", "varies"]

_FIGURES: Final = 6
_YES: Final = Category("yes", Phrase("Yes"))
_NO: Final = Category("no", Phrase("No"))


@dataclass(frozen=True, slots=True)
class StudyDesign:
    """What a study does with the columns of a card. `columns` are protected; each is asked at least once."""

    strata: tuple[str, ...]
    static: tuple[str, ...]
    columns: tuple[str, ...]
    derived: tuple[Derived, ...]
    queries: tuple[StudyQuery, ...]
    figures: tuple[str, ...]

    @property
    def every_static(self) -> tuple[str, ...]:
        """The strata and the static columns, each once."""
        return tuple(dict.fromkeys((*self.strata, *self.static)))

    @property
    def needed(self) -> tuple[str, ...]:
        """The columns of the card that must be read: those protected, and those that derived ones are made from."""
        made = {item.column.name for item in self.derived}
        sources = [name for item in self.derived for name in item.needs]
        return tuple(dict.fromkeys(name for name in (*self.columns, *sources) if name not in made))


def design_study(config: StudyConfig, card: Card) -> StudyDesign:
    """The study on this card, or StudyInvalid with every name that does not fit, each with its line."""
    designer = _Designer(config, card)
    design = designer.design()
    if designer.problems or design is None:
        problems = [f"{config.file}:{line}: {what}" for line, what in sorted(designer.problems)]
        raise StudyInvalid(file=config.file, problems=problems)
    return design


def derive(frame: StudyFrame, design: StudyDesign) -> StudyFrame:
    """The frame with the derived columns, and without those that were read only to derive them."""
    columns = dict(frame.columns)
    for item in design.derived:
        meets = _meets(frame, item)
        if item.source is None:
            positions = np.where(meets, 0, 1).astype(np.int64)
        else:
            positions = np.where(meets, frame.column(item.source).positions, ABSENT)
        columns[item.column.name] = AnswerColumn(item.column, positions, static=False)
    kept = (*design.every_static, *design.columns)
    inquiry = replace(frame.inquiry, derived=design.derived)
    return replace(frame, inquiry=inquiry, columns={name: columns[name] for name in kept})


def _meets(frame: StudyFrame, derived: Derived) -> NDArray[bool_]:
    meets = np.ones(frame.size, dtype=bool)
    for name, positions in derived.where:
        meets &= np.isin(frame.column(name).positions, positions)
    return meets


class _Designer:
    """Reads names against a card and keeps every problem beside its line."""

    def __init__(self, config: StudyConfig, card: Card) -> None:
        self.problems: list[tuple[int, str]] = []
        self._config = config
        self._card = card
        self._known = {column.name: column for column in card.columns}

    def design(self) -> StudyDesign | None:
        config = self._config
        strata = [name for name in config.strata if self._column(f"strata.{name}", name, category=True)]
        static = [name for name in config.static if self._column(f"static.{name}", name)]
        fixed = {*strata, *static}
        protected = self._protected(fixed)
        derived = [
            item for index, custom in enumerate(config.queries.custom) if (item := self._derive(index, custom, fixed))
        ]
        asked = self._ask(protected, derived)
        if self.problems:
            return None
        queries = tuple(dict.fromkeys(asked))
        if not queries:
            self._note("queries", say("the study asks nothing: no protected column has a query"))
            return None
        columns = tuple(dict.fromkeys(query.column for query in queries))
        self._check_selections({*fixed, *columns})
        figures = self._figures(queries, derived)
        return StudyDesign(tuple(strata), tuple(static), columns, tuple(derived), queries, figures)

    def _protected(self, fixed: set[str]) -> dict[str, Column]:
        named = self._config.columns
        if named is None:
            fitting = (column for column in self._known.values() if self._fit(column) and varies(column))
            return {column.name: column for column in fitting if column.name not in fixed}
        chosen = {}
        for name in named:
            if name in fixed:
                self._note(
                    f"columns.{name}", say("column '{name}' cannot be both protected and left as it is", name=name)
                )
            elif (column := self._column(f"columns.{name}", name)) is not None:
                if not varies(column):
                    self._note(
                        f"columns.{name}", say("column '{name}' can take one value only; leave it out", name=name)
                    )
                chosen[name] = column
        return chosen

    def _fit(self, column: Column) -> bool:
        """Whether a column can be studied: a category, or a number with bounds; never the id or the weight."""
        return not self._card.is_weight(column) and (
            column.kind is ColumnKind.CATEGORY or (column.numeric and column.bounds is not None)
        )

    def _ask(self, protected: dict[str, Column], derived: list[Derived]) -> Iterator[StudyQuery]:
        questions = self._config.queries
        for column in protected.values():
            if column.kind is ColumnKind.CATEGORY and questions.categories:
                yield from (_count(column, category) for category in column.categories)
            elif column.kind is not ColumnKind.CATEGORY:
                wanted = ((MEAN, questions.means), (SUM, questions.sums))
                yield from (_number(statistic, column) for statistic, asked in wanted if asked)
        for index, named in enumerate(questions.named):
            if (query := self._named(index, named, protected)) is not None:
                yield query
        for item in derived:
            number = item.source is not None
            yield _number(item.statistic, item.column, own=True) if number else _count(item.column, _YES, own=True)

    def _named(self, index: int, named: Named, protected: dict[str, Column]) -> StudyQuery | None:
        path = f"queries.named.{index}"
        column = self._column(path, named.column)
        if column is None:
            return None
        if named.column not in protected:
            self._note(
                path, say("column '{name}' is not protected, so there is nothing to ask of it", name=named.column)
            )
        elif (named.category is None) == (column.kind is ColumnKind.CATEGORY):
            facts = {"name": named.column, "kind": str(column.kind)}
            if column.kind is ColumnKind.CATEGORY:
                self._note(path, say("column '{name}' is asked for a category: it is of kind {kind}", **facts))
            else:
                self._note(path, say("column '{name}' is asked for a mean or a sum: it is of kind {kind}", **facts))
        elif named.category is None:
            return _number(named.statistic, column)
        elif (found := self._position(path, column, named.category)) is not None:
            return _count(column, column.categories[found])
        return None

    def _derive(self, index: int, custom: Custom, fixed: set[str]) -> Derived | None:
        path = f"queries.custom.{index}"
        others = [item.name for item in self._config.queries.custom[:index]]
        if custom.name in self._known or custom.name in others:
            self._note(path, say("name '{name}' is taken by a column or another query", name=custom.name))
            return None
        where = []
        for name, codes in custom.where:
            column = self._column(path, name, category=True)
            if column is None:
                continue
            if custom.number is not None and name not in fixed:
                self._note(path, _tell_unfixed(custom.statistic, name))
            positions = [self._position(path, column, code) for code in codes]
            where.append((name, tuple(found for found in positions if found is not None)))
        label = custom.label or custom.name
        if custom.number is None:
            made = Column(custom.name, ColumnKind.CATEGORY, Labels(label, label), categories=(_YES, _NO))
            return Derived(made, tuple(where), None, COUNT)
        source = self._column(path, custom.number)
        if source is None or source.kind is ColumnKind.CATEGORY:
            if custom.statistic == MEAN:
                self._note(path, say("the mean of '{name}' needs a number with bounds", name=custom.number))
            else:
                self._note(path, say("the sum of '{name}' needs a number with bounds", name=custom.number))
            return None
        made = replace(source, name=custom.name, source=custom.name, label=Labels(label, label), public=False)
        return Derived(made, tuple(where), custom.number, custom.statistic)

    def _check_selections(self, known: set[str]) -> None:
        """Whether hybrid models choose by a column that the study reads, and by what it can hold."""
        for selection in dict.fromkeys(choice.selection for choice in self._config.models if choice.selection):
            column = self._known.get(selection.column)
            if column is None or selection.column not in known:
                fault = say(
                    "selection by '{name}': it must be a static column or a protected one of which something is asked",
                    name=selection.column,
                )
                self._note("models", _add_guess(fault, selection.column, known))
            elif bool(selection.codes) != (column.kind is ColumnKind.CATEGORY):
                fault = say(
                    "selection by '{name}', of kind {kind}, takes {key}",
                    name=column.name,
                    kind=str(column.kind),
                    key="codes" if column.kind is ColumnKind.CATEGORY else "above",
                )
                self._note("models", fault)
            else:
                for code in selection.codes:
                    self._position("models", column, code)

    def _figures(self, queries: tuple[StudyQuery, ...], derived: list[Derived]) -> tuple[str, ...]:
        names = {query.name: query.name for query in queries}
        names |= {
            query.column: query.name for query in queries if query.column in {item.column.name for item in derived}
        }
        if self._config.figures is None:
            own = [_name_of(named, self._card) for named in self._config.queries.named]
            own += [names[item.column.name] for item in derived]
            return tuple(dict.fromkeys(own)) or tuple(list(names.values())[:_FIGURES])
        for wanted in self._config.figures:
            if wanted not in names:
                fault = say("'{name}' is none of the queries", name=wanted)
                self._note(f"figures.{wanted}", _add_guess(fault, wanted, names))
        return tuple(dict.fromkeys(names[wanted] for wanted in self._config.figures if wanted in names))

    def _column(self, path: str, name: str, *, category: bool = False) -> Column | None:
        column = self._known.get(name)
        if column is None:
            fault = say("column '{name}' is not in '{dataset}'", name=name, dataset=self._card.dataset)
            self._note(path, _add_guess(fault, name, self._known))
            return None
        if not self._fit(column) or (category and column.kind is not ColumnKind.CATEGORY):
            if category:
                self._note(path, say("column '{name}' must be a category column", name=name))
            else:
                self._note(
                    path,
                    say("column '{name}' must be a category, or a number with bounds, and not the weight", name=name),
                )
            return None
        return column

    def _position(self, path: str, column: Column, code: str) -> int | None:
        result = column.position(code)
        if result is None:
            codes, labels = zip(*((item.code, item.label) for item in column.categories), strict=True)
            where = say("the categories of '{name}'", name=column.name)
            self._note(path, unknown_code(code, codes, labels, where=where).message)
        return result

    def _note(self, path: str, text: str) -> None:
        """Beside the part, or the nearest part around it that the file holds."""
        lines = self._config.lines
        while path and path not in lines:
            path = path.rpartition(".")[0]
        self.problems.append((lines.get(path, 1), text))


def varies(column: Column) -> bool:
    """Whether a column can take two values."""
    return len(column.categories) > 1 if column.kind is ColumnKind.CATEGORY else column.high_units > column.low_units


def _count(column: Column, category: Category, *, own: bool = False) -> StudyQuery:
    label = column.label.en if own else f"{column.label.en}: {category.label.en}"
    return StudyQuery(COUNT, column.name, category.code, label)


def _number(statistic: str, column: Column, *, own: bool = False) -> StudyQuery:
    label = column.label.en if own else f"{statistic.capitalize()} of {column.label.en}"
    return StudyQuery(statistic, column.name, None, label)


def _name_of(named: Named, card: Card) -> str:
    column = card.column(named.column)
    index = None if named.category is None else column.position(named.category)
    return (_number(named.statistic, column) if index is None else _count(column, column.categories[index])).name


def _tell_unfixed(statistic: str, name: str) -> str:
    if statistic == MEAN:
        return say("a mean goes with conditions on static columns only; '{name}' is not static", name=name)
    return say("a sum goes with conditions on static columns only; '{name}' is not static", name=name)


def _add_guess(fault: str, word: str, known: Iterable[str]) -> str:
    guess = nearest(word, known)
    return say("{fault}; did you mean '{guess}'?", fault=fault, guess=guess) if guess else fault
