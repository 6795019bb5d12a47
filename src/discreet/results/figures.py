"""Figures by column: a million cells are arrays, and become objects when somebody asks for one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property, partial
from itertools import chain, islice, repeat
from typing import Generic, NamedTuple, TypeVar, overload

from discreet.results.headings import Shown
from discreet.results.labels import Labels

__all__ = ["Figure", "Figures", "Later", "Margin", "Number", "Quality", "Statistic"]

T = TypeVar("T")

Number = int | float


class Later(Generic[T]):
    """A value that is worked out when it is first looked at, once."""

    def __init__(self, work_out: Callable[[], T]) -> None:
        self._work_out = work_out

    @cached_property
    def value(self) -> T:
        return self._work_out()


class Quality(StrEnum):
    """How far to trust a figure: its error, or that it is left out, or a public total and no estimate.

    A mean whose group is so small that it may be nobody is not shown, and has no grade.
    """

    GOOD = "good"
    CAUTION = "caution"
    UNRELIABLE = "unreliable"
    SUPPRESSED = "suppressed"
    TOO_SMALL = "too small"
    NOT_RATED = "not rated"
    PUBLIC = "public"


class Figure(NamedTuple):
    """One figure. `codes` has one entry for each key: a code, or None for no value and for keys summed over.

    `over` are the places of the keys summed over: empty for a cell. `value` is published; `raw` is the estimate behind
    it, to which the interval belongs unless figures are calibrated. Of counts and totals in a table, values add up and
    raw estimates are unbiased; a mean is its own raw estimate. A suppressed figure, or one of a group that is too
    small, has none of them; a figure that is not differentially private has no interval.
    In a calibrated table the value meets public totals, and interval and quality are its own; `uncalibrated` is what
    would have been published without.
    """

    codes: tuple[Shown, ...]
    over: tuple[int, ...]
    value: Number | None
    raw: Number | None
    low: Number | None
    high: Number | None
    quality: Quality
    uncalibrated: Number | None = None


@dataclass(frozen=True)
class Margin:
    """Figures that sum over the same keys, as columns of one length; the cells sum over none.

    `codes` has a column for each key. Columns that are None hold nothing: no interval, no grade, no calibration.
    """

    over: tuple[int, ...]
    codes: tuple[Sequence[Shown], ...]
    values: Sequence[Number | None]
    raw: Sequence[Number | None] | None = None
    low: Sequence[Number | None] | None = None
    high: Sequence[Number | None] | None = None
    quality: Sequence[Quality] | None = None
    uncalibrated: Sequence[Number | None] | None = None

    def __len__(self) -> int:
        return len(self.values)

    def __iter__(self) -> Iterator[Figure]:
        count = len(self)
        codes = zip(*map(_plain, self.codes), strict=True) if self.codes else repeat((), count)
        values = _plain(self.values)
        nothing: Sequence[None] = [None] * count
        columns = (
            codes,
            repeat(self.over, count),
            values,
            values if self.raw is None else _plain(self.raw),
            nothing if self.low is None else _plain(self.low),
            nothing if self.high is None else _plain(self.high),
            [Quality.NOT_RATED] * count if self.quality is None else self.quality,
            nothing if self.uncalibrated is None else _plain(self.uncalibrated),
        )
        # A tuple of all fields is made a figure without calling it: a large table has very many.
        return map(partial(tuple.__new__, Figure), zip(*columns, strict=True))


def _plain(column: Sequence[T]) -> Sequence[T]:
    """A column in Python's own numbers."""
    listed: Sequence[T] = column.tolist() if hasattr(column, "tolist") else column
    return listed


class Figures(Sequence[Figure]):
    """The figures of one statistic: cells first, then margins. Columns are worked out when they are first looked at."""

    def __init__(self, count: int, margins: Callable[[], Sequence[Margin]]) -> None:
        self._count = count
        self._margins = Later(margins)

    @property
    def margins(self) -> Sequence[Margin]:
        """The figures by what they sum over, as columns."""
        return self._margins.value

    @cached_property
    def _figures(self) -> list[Figure]:
        figures = list(chain.from_iterable(self.margins))
        assert len(figures) == self._count, "there are as many figures as was said"
        return figures

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[Figure]:
        # One after the other: nobody who reads on needs a million at once.
        return chain.from_iterable(self.margins)

    @overload
    def __getitem__(self, index: int) -> Figure: ...

    @overload
    def __getitem__(self, index: slice) -> list[Figure]: ...

    def __getitem__(self, index: int | slice) -> Figure | list[Figure]:
        return self._figures[index]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

    def __repr__(self) -> str:
        first = ", ".join(map(repr, islice(self, 3)))
        return f"[{first}, … {self._count - 3:,} more]" if self._count > 3 else f"[{first}]"

    __hash__ = None  # type: ignore[assignment]


@dataclass(frozen=True)
class Statistic:
    """One column of figures: its name, what it is for readers, and the figures.

    `step` is the decimal step on which values are published, as text ("1", "0.01"); what has none, such as a mean, has
    None. `whole` figures are whole numbers whatever noise gave.
    """

    name: str
    title: Labels
    figures: Figures
    step: str | None = None
    whole: bool = False
