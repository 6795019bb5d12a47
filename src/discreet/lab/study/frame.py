"""The rows of a study in memory: whole numbers by column, groups, weights. The true data, for the custodian's eyes.

A frame is made from prepared rows, so identifiers, missing codes, bounds and weight caps are those of the card and of
every release. Answers are positions: of a category in its list, or of a number on its grid; -1 is absent.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import numpy as np

from discreet.cards import Card, Column, ColumnKind
from discreet.catalogue import Phrase, say
from discreet.errors import Refused, UnknownName
from discreet.lab.study.inquiry import Inquiry
from discreet.workspace import ORDER_COLUMN

if TYPE_CHECKING:
    from numpy import bool_, int64
    from numpy.typing import NDArray

__all__ = ["ABSENT", "AnswerColumn", "StudyFrame", "load_frame"]

ABSENT = -1
_EVERYBODY: Final = Phrase("All")

Made = TypeVar("Made")


@dataclass(frozen=True, slots=True, eq=False)
class AnswerColumn:
    """One column: its card, every respondent's position, and whether a study leaves it as it is.

    Only the very same object is equal: comparing rows would cost more than it saves.
    """

    column: Column
    positions: NDArray[int64]
    static: bool

    @property
    def name(self) -> str:
        return self.column.name

    @property
    def categorical(self) -> bool:
        return self.column.kind is ColumnKind.CATEGORY

    @property
    def size(self) -> int:
        """How many categories there are, or the last position of the grid."""
        return len(self.column.categories) if self.categorical else self.column.high_units - self.column.low_units

    @property
    def step(self) -> float:
        """What one position of a number is worth."""
        return float(self.column.step or 1)

    @property
    def low(self) -> float:
        """What position 0 of a number stands for."""
        return float(Fraction(self.column.low_units) * Fraction(self.column.step or 1))

    def present(self) -> NDArray[bool_]:
        """Who has an answer."""
        there: NDArray[bool_] = self.positions != ABSENT
        return there


@dataclass(frozen=True, slots=True)
class StudyFrame:
    """The respondents: columns, the group of each (ABSENT where a stratum is), and weights in whole steps.

    `inquiry` says what may be asked of them. `weights` are capped; `caps` is the cap of each group in the same steps,
    and one step is worth `weight_step`, the study's multiplier included. Where few were drawn from all, each `stands`
    for so many.
    """

    inquiry: Inquiry
    columns: Mapping[str, AnswerColumn]
    groups: tuple[str, ...]
    cells: NDArray[int64]
    weights: NDArray[int64]
    weight_step: float
    caps: NDArray[int64]
    stands: float = 1.0
    _made: dict[Hashable, Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    @property
    def size(self) -> int:
        return int(self.cells.size)

    def once(self, key: Hashable, make: Callable[[], Made]) -> Made:
        """What `make` gives, made once for each key: for what every run of every model asks of the same rows."""
        if key not in self._made:
            self._made[key] = make()
        made: Made = self._made[key]
        return made

    def column(self, name: str) -> AnswerColumn:
        if name not in self.columns:
            raise UnknownName(sort=Phrase("column"), name=name, where=say("the study"), known=self.columns)
        return self.columns[name]

    def sample(self, rows: NDArray[int64]) -> StudyFrame:
        """These respondents alone, who then stand for everyone: their weights are worth so much more."""
        columns = {
            name: AnswerColumn(item.column, item.positions[rows], item.static) for name, item in self.columns.items()
        }
        stands = self.size / max(rows.size, 1)
        step = self.weight_step * stands
        chosen = replace(self, columns=columns, cells=self.cells[rows], weights=self.weights[rows])
        return replace(chosen, weight_step=step, stands=stands)

    @property
    def raised(self) -> float:
        """How many times a weight counts: the study's multiplier, and more where few stand for everyone."""
        weight = self.inquiry.card.weight
        step = self.inquiry.card.column(weight.column).step if weight else None
        return self.weight_step / float(step or 1)

    def groups_in_french(self) -> tuple[str, ...]:
        """The labels of the groups for readers of French; two may be alike."""
        card = self.inquiry.card
        chosen = (zip(self.inquiry.strata, positions, strict=True) for positions in self.inquiry.groups)
        labels = ([card.column(name).categories[at].label.fr for name, at in item] for item in chosen)
        return tuple(" · ".join(label) or _EVERYBODY.fr for label in labels)

    def members(self, group: int) -> NDArray[Any]:
        """The respondents of a group, as row numbers."""
        return np.flatnonzero(self.cells == group)


def load_frame(
    data: Path,
    card: Card,
    *,
    strata: Sequence[str],
    static: Sequence[str],
    columns: Sequence[str],
    multiplier: Fraction,
) -> StudyFrame:
    """The frame of a prepared file: the strata, the static columns and those that a study protects, sorted by unit."""
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    if card.unit.rows != 1:
        raise Refused(
            say(
                "A study needs one row per {column}; the card of '{dataset}' counts up to {rows}. Study a table "
                "with one row per unit.",
                column=card.unit.column,
                dataset=card.dataset,
                rows=card.unit.rows,
            )
        )
    wanted = dict.fromkeys((*strata, *static, *columns))
    wanted.pop(card.unit.column, None)
    weight = card.weight.column if card.weight else None
    names = [*wanted, card.unit.column, ORDER_COLUMN, *([weight] if weight else [])]
    table = pq.ParquetFile(data).read(columns=list(dict.fromkeys(names)))
    table = table.filter(pc.equal(table.column(ORDER_COLUMN), 1)).sort_by(card.unit.column)
    read = {name: _positions(table.column(name), card.column(name)) for name in wanted}
    answers = {
        name: AnswerColumn(card.column(name), values, name in {*static, *strata}) for name, values in read.items()
    }
    groups, cells, indices = _group([answers[name] for name in strata], table.num_rows)
    weights, step = _weights(table, card)
    caps = np.array([_cap(card, strata, index, step) for index in indices], dtype=np.int64)
    inquiry = Inquiry(card, tuple(strata), indices, tuple(static))
    return StudyFrame(inquiry, answers, groups, cells, weights, float(step * multiplier), caps)


def _positions(values: Any, column: Column) -> NDArray[int64]:
    """The stored whole numbers, counted from the lower bound for numbers; ABSENT for NULL."""
    import pyarrow.compute as pc

    first = 0 if column.kind is ColumnKind.CATEGORY else column.low_units
    stored: NDArray[int64] = pc.fill_null(values.cast("int64"), ABSENT + first).to_numpy()
    return stored - first


def _weights(table: Any, card: Card) -> tuple[NDArray[int64], Fraction]:
    if card.weight is None:
        return np.ones(table.num_rows, dtype=np.int64), Fraction(1)
    import pyarrow.compute as pc

    column = card.column(card.weight.column)
    stored: NDArray[int64] = pc.fill_null(table.column(column.name).cast("int64"), 0).to_numpy()
    return stored, Fraction(column.step or 1)


def _cap(card: Card, strata: Sequence[str], index: tuple[int, ...], step: Fraction) -> int:
    """The cap that holds in a group, in steps: of its category where caps go by a stratum, else the largest."""
    weight = card.weight
    if weight is None:
        return 1
    code = None
    if weight.by in strata:
        code = card.column(weight.by or "").categories[index[strata.index(weight.by or "")]].code
    return int(Fraction(weight.cap_for(code)) / step)


def _group(
    strata: Sequence[AnswerColumn], size: int
) -> tuple[tuple[str, ...], NDArray[int64], tuple[tuple[int, ...], ...]]:
    """Labels, everybody's cell, and positions by stratum, for the combinations that occur, in the card's order."""
    for stratum in strata:
        if not stratum.categorical:
            raise Refused(say("Stratum '{name}' must be a category column.", name=stratum.name))
    if not strata:
        return (_EVERYBODY.en,), np.zeros(size, dtype=np.int64), ((),)
    shape = tuple(stratum.size for stratum in strata)
    absent = np.zeros(size, dtype=bool)
    for stratum in strata:
        absent |= ~stratum.present()
    flat = np.ravel_multi_index([np.where(absent, 0, stratum.positions) for stratum in strata], shape)
    occurring = np.unique(flat[~absent])
    cells = np.where(absent, ABSENT, np.searchsorted(occurring, flat)).astype(np.int64)
    indices = tuple(tuple(int(axis) for axis in np.unravel_index(index, shape)) for index in occurring)
    chosen = [[s.column.categories[at] for s, at in zip(strata, position, strict=True)] for position in indices]
    labels = tuple(" · ".join(category.label.en for category in item) for item in chosen)
    if len(set(labels)) < len(labels):
        # Results know groups by their labels; where two are alike, codes tell them apart.
        labels = tuple(" · ".join(f"{category.label.en} ({category.code})" for category in item) for item in chosen)
    return labels, cells, indices
