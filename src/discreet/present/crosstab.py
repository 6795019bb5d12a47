"""A release as people lay it out: of a table the last key across, the others down, "All" after what it sums.

One key stands down, with its figures in a single column. Lines come in the order of the cells; every block of lines
ends with its margin, the last block is that of the margins. An answer has its rows down and its statistics across.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from discreet.results import ALL, Figure, Heading, Release, ReleaseKind, Shown, Statistic

__all__ = ["Grid", "Stand", "arrange", "name_stand"]

Stand = tuple[bool, Shown]
"""Where a figure stands along one key: whether the key is summed over, and the code if not."""

_SUMMED: Stand = (True, None)


@dataclass(frozen=True, slots=True)
class Grid:
    """Places of the keys down and across, the lines and columns in order, and the figure at (line, column).

    Without a key across there is a column for each statistic.
    """

    down: tuple[int, ...]
    across: Heading | None
    lines: Sequence[tuple[Stand, ...]]
    columns: Sequence[Stand]
    figures: Mapping[tuple[int, int], Figure]
    statistics: Sequence[Statistic]

    def statistic(self, column: int) -> Statistic:
        return self.statistics[0 if self.across is not None else column]

    def tops(self, language: str) -> list[str]:
        """The words above the columns."""
        if self.across is None:
            return [item.title.text(language) for item in self.statistics]
        return [name_stand(self.across, stand, language) for stand in self.columns]


def arrange(release: Release) -> Grid:
    """Lay every figure out; a margin that is not published leaves its place empty."""
    if release.kind not in (ReleaseKind.TABLE, ReleaseKind.BOOTSTRAP):
        return _list_rows(release)
    keys = len(release.headings)
    across = keys - 1 if keys > 1 else None
    down = tuple(range(keys - 1)) if keys > 1 else tuple(range(keys))
    orders = [_order(release, index) for index in range(keys)]
    stands = [tuple(_stand(figure, index) for index in range(keys)) for figure in release.entries()]
    lines = sorted(
        {tuple(stand[index] for index in down) for stand in stands},
        key=lambda line: [orders[index][item] for index, item in zip(down, line, strict=True)],
    )
    columns = (
        [_SUMMED] if across is None else sorted({stand[across] for stand in stands}, key=orders[across].__getitem__)
    )
    line_at = {line: number for number, line in enumerate(lines)}
    column_at = {column: number for number, column in enumerate(columns)}
    figures = {
        (
            line_at[tuple(stand[index] for index in down)],
            0 if across is None else column_at[stand[across]],
        ): figure
        for figure, stand in zip(release.entries(), stands, strict=True)
    }
    return Grid(down, None if across is None else release.headings[across], lines, columns, figures, release.statistics)


def _list_rows(release: Release) -> Grid:
    """Rows as they are: their keys may not tell them apart, and their order was asked for."""
    names = [heading.name for heading in release.headings]
    lines = [tuple((False, row[name]) for name in names) for row in release.rows]
    figures = {
        (row, column): figure
        for column, statistic in enumerate(release.statistics)
        for row, figure in enumerate(statistic.figures)
    }
    indices = tuple(range(len(names)))
    return Grid(indices, None, lines, [_SUMMED] * len(release.statistics), figures, release.statistics)


def name_stand(heading: Heading, stand: Stand, language: str) -> str:
    """The words above a column or before a line."""
    summed, code = stand
    return ALL.text(language) if summed else heading.label(code, language)


def _stand(figure: Figure, index: int) -> Stand:
    return _SUMMED if index in figure.over else (False, figure.codes[index])


def _order(release: Release, index: int) -> dict[Stand, int]:
    """Codes as they first come, "All" last."""
    order: dict[Stand, int] = {}
    for figure in release.entries():
        stand = _stand(figure, index)
        if stand != _SUMMED:
            order.setdefault(stand, len(order))
    return {**order, _SUMMED: len(order)}
