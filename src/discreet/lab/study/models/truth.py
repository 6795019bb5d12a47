"""What the rows say without protection: exact weighted counts and means by group, in whole steps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from discreet.catalogue import Phrase
from discreet.errors import Refused
from discreet.lab.study.execution.outcomes import StudyQuery
from discreet.lab.study.frame import ABSENT, AnswerColumn, StudyFrame

if TYPE_CHECKING:
    from numpy import bool_, float64, int64
    from numpy.typing import NDArray

__all__ = [
    "by_column",
    "by_statistic",
    "category_place",
    "count_squares",
    "counted",
    "mean_values",
    "multiply",
    "present_weight",
    "reporting",
    "sum_by",
    "sum_centred",
    "sum_units",
    "sum_values",
    "true_values",
]


_BITS: Final = 24
_PIECE: Final = (1 << _BITS) - 1
_TOO_LARGE: Final = Phrase(
    "The weights or numbers of the study are too fine or too large to be summed exactly. Give their columns a larger "
    "step in the card."
)


def by_column(queries: Sequence[StudyQuery]) -> dict[str, list[StudyQuery]]:
    """The queries of each column, in the order in which columns are first asked of."""
    columns: dict[str, list[StudyQuery]] = {}
    for query in queries:
        columns.setdefault(query.column, []).append(query)
    return columns


def by_statistic(queries: Sequence[StudyQuery]) -> dict[str, list[StudyQuery]]:
    """The queries of one column by what they ask, in that order."""
    asked: dict[str, list[StudyQuery]] = {}
    for query in queries:
        asked.setdefault(query.statistic, []).append(query)
    return asked


def category_place(answers: AnswerColumn, query: StudyQuery) -> int:
    """Where the query's category stands in the column's list."""
    index = answers.column.position(query.category or "")
    if index is None:
        raise ValueError(f"'{query.category}' is not a category of '{query.column}'")
    return index


def reporting(frame: StudyFrame, answers: AnswerColumn) -> NDArray[bool_]:
    """Who belongs to a group and has an answer."""
    return frame.once(("reporting", answers), lambda: answers.present() & (frame.cells != ABSENT))


def sum_by(indices: NDArray[Any], amounts: NDArray[int64], number: int) -> NDArray[int64]:
    """Sums of whole amounts by place, exact: pieces of 24 bits are summed apart, each within a float's integers.

    Refused where the sums could leave 64 bits: better none than a wrong one.
    """
    largest = amounts.size * max(abs(int(amounts.min())), abs(int(amounts.max()))) if amounts.size else 0
    if largest >= 1 << 63:
        raise Refused(str(_TOO_LARGE))
    if largest < 1 << 53:
        return np.bincount(indices, weights=amounts, minlength=number).astype(np.int64)
    sums = np.zeros(number, dtype=np.int64)
    for shift, piece in ((0, amounts & _PIECE), (_BITS, amounts >> _BITS & _PIECE), (2 * _BITS, amounts >> 2 * _BITS)):
        sums += np.bincount(indices, weights=piece, minlength=number).astype(np.int64) << shift
    return sums


def multiply(first: NDArray[int64], second: NDArray[int64]) -> NDArray[int64]:
    """Products of whole amounts; Refused where they could leave 64 bits."""
    if first.size and int(np.abs(first).max()) * int(np.abs(second).max()) >= 1 << 63:
        raise Refused(str(_TOO_LARGE))
    return first * second


def counted(frame: StudyFrame, answers: AnswerColumn) -> NDArray[int64]:
    """Groups × categories: the weight of those who gave each answer."""
    return frame.once(("counted", answers), lambda: _by_category(frame, answers, frame.weights))


def count_squares(frame: StudyFrame, answers: AnswerColumn) -> NDArray[int64]:
    """Groups × categories: the sum of their squared weights."""
    return _by_category(frame, answers, multiply(frame.weights, frame.weights))


def sum_centred(frame: StudyFrame, answers: AnswerColumn) -> tuple[NDArray[int64], NDArray[int64]]:
    """By group: the sum of weight × (2·position − last position), in half steps from the middle, and of the weight."""
    return frame.once(("centred", answers), lambda: _sum_centred(frame, answers))


def _sum_centred(frame: StudyFrame, answers: AnswerColumn) -> tuple[NDArray[int64], NDArray[int64]]:
    there = reporting(frame, answers)
    cells, weights = frame.cells[there], frame.weights[there]
    centred = 2 * answers.positions[there] - answers.size
    number = len(frame.groups)
    return sum_by(cells, multiply(weights, centred), number), sum_by(cells, weights, number)


def mean_values(frame: StudyFrame, answers: AnswerColumn) -> NDArray[float64]:
    """The weighted mean of each group, in the column's own unit; nan where nobody answered."""
    total, weight = sum_centred(frame, answers)
    middle = answers.low + answers.size * answers.step / 2
    with np.errstate(invalid="ignore", divide="ignore"):
        means: NDArray[float64] = middle + total / weight * (answers.step / 2)
    return means


def sum_units(frame: StudyFrame, answers: AnswerColumn) -> NDArray[int64]:
    """By group: the sum of weight × number, in weight steps × steps of the column."""
    there = reporting(frame, answers)
    numbers = answers.positions[there] + answers.column.low_units
    return sum_by(frame.cells[there], multiply(frame.weights[there], numbers), len(frame.groups))


def sum_values(frame: StudyFrame, answers: AnswerColumn) -> NDArray[float64]:
    """The weighted sum of each group, in the column's own unit; 0 where nobody answered."""
    return sum_units(frame, answers) * np.float64(frame.weight_step * answers.step)


def present_weight(frame: StudyFrame, answers: AnswerColumn) -> NDArray[float64]:
    """By group: what those who have an answer stand for. Times a mean it is a sum."""
    there = reporting(frame, answers)
    return sum_by(frame.cells[there], frame.weights[there], len(frame.groups)) * np.float64(frame.weight_step)


def true_values(frame: StudyFrame, query: StudyQuery) -> NDArray[float64]:
    """What a query's answer would be without protection, by group."""
    answers = frame.column(query.column)
    if answers.categorical:
        return counted(frame, answers)[:, category_place(answers, query)] * np.float64(frame.weight_step)
    return sum_values(frame, answers) if query.statistic == "sum" else mean_values(frame, answers)


def _by_category(frame: StudyFrame, answers: AnswerColumn, amounts: NDArray[int64]) -> NDArray[int64]:
    there = reporting(frame, answers)
    indices = frame.cells[there] * answers.size + answers.positions[there]
    shape = (len(frame.groups), answers.size)
    return sum_by(indices, amounts[there], shape[0] * shape[1]).reshape(shape)
