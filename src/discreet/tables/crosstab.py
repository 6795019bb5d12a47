"""A table as people lay it out: the last key across, the others down, "All" after what it sums.

One key stands down, with its figures in a single column. Lines come in the order of the cells; every block of lines
ends with its margin, the last block is that of the margins.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from discreet.tables.table import ALL, Entry, Heading, Shown, Table

__all__ = ["Grid", "Stand", "arrange", "name_stand"]

Stand = tuple[bool, Shown]
"""Where a figure stands along one key: whether the key is summed over, and the code if not."""

_SUMMED: Stand = (True, None)


@dataclass(frozen=True, slots=True)
class Grid:
    """Places of the keys down and across, the lines and columns in order, and the figure at (line, column)."""

    down: tuple[int, ...]
    across: int | None
    lines: Sequence[tuple[Stand, ...]]
    columns: Sequence[Stand]
    figures: Mapping[tuple[int, int], Entry]


def arrange(table: Table) -> Grid:
    """Lay every figure out; a margin that is not published leaves its place empty."""
    keys = len(table.headings)
    across = keys - 1 if keys > 1 else None
    down = tuple(range(keys - 1)) if keys > 1 else tuple(range(keys))
    orders = [_order(table, place) for place in range(keys)]
    stands = [tuple(_stand(entry, place) for place in range(keys)) for entry in table.entries()]
    lines = sorted(
        {tuple(stand[place] for place in down) for stand in stands},
        key=lambda line: [orders[place][one] for place, one in zip(down, line, strict=True)],
    )
    columns = (
        [_SUMMED] if across is None else sorted({stand[across] for stand in stands}, key=orders[across].__getitem__)
    )
    line_at = {line: number for number, line in enumerate(lines)}
    column_at = {column: number for number, column in enumerate(columns)}
    figures = {
        (
            line_at[tuple(stand[place] for place in down)],
            0 if across is None else column_at[stand[across]],
        ): entry
        for stand, entry in zip(stands, table.entries(), strict=True)
    }
    return Grid(down, across, lines, columns, figures)


def name_stand(heading: Heading, stand: Stand, language: str) -> str:
    """The words above a column or before a line."""
    summed, code = stand
    return ALL.text(language) if summed else heading.label(code, language)


def _stand(entry: Entry, place: int) -> Stand:
    return _SUMMED if place in entry.over else (False, entry.codes[place])


def _order(table: Table, place: int) -> dict[Stand, int]:
    """Codes as they first come, "All" last."""
    order: dict[Stand, int] = {}
    for entry in table.entries():
        stand = _stand(entry, place)
        if stand != _SUMMED:
            order.setdefault(stand, len(order))
    return {**order, _SUMMED: len(order)}
