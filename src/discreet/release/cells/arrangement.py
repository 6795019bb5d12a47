"""Which cells of an answer are shown, and in which order: HAVING, ORDER BY, LIMIT and OFFSET over noisy outputs.

Post-processing of what is released anyway; SQL's three-valued logic: a cell is kept when its condition is true, and
dropped when it is false or unknown.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from fractions import Fraction
from operator import eq, ge, gt, le, lt, ne
from typing import Final

from discreet.engines import Cell
from discreet.release.cells.evaluation import evaluate
from discreet.sql import All, Any, Comparison, KeyAmong, KeyShown, Negation, Order, Presentation, Selection

__all__ = ["arrange", "holds"]

_COMPARE: Final = {"=": eq, "<>": ne, "<": lt, "<=": le, ">": gt, ">=": ge}


def arrange(
    presentation: Presentation,
    cells: Sequence[Cell],
    measures: Sequence[Sequence[int]],
    thin: Mapping[int, Sequence[bool]] | None = None,
) -> Sequence[int]:
    """The places of the cells to show, in the order asked; cells that compare equal keep the order of the keys.

    `measures` holds the noisy values of every measure, each by cell; `thin` says for sizes where they are too small.
    """
    if presentation.having is None and not presentation.order:
        return _cut(range(len(cells)), presentation)
    indices = list(range(len(cells)))
    values = list(zip(*measures, strict=True))
    small = [{size for size, flags in (thin or {}).items() if flags[index]} for index in indices]
    having = presentation.having
    if having is not None:
        indices = [index for index in indices if holds(having, cells[index], values[index], small[index])]
    for order in reversed(presentation.order):
        indices = _sorted(indices, order, cells, values, small)
    return _cut(indices, presentation)


def _cut(indices: Sequence[int], presentation: Presentation) -> Sequence[int]:
    end = None if presentation.limit is None else presentation.offset + presentation.limit
    return indices[presentation.offset : end]


def holds(selection: Selection, cell: Cell, values: Sequence[int], thin: Collection[int] = ()) -> bool | None:
    """Whether a condition is true of a cell; None when it is unknown.

    A comparison of the NULL key is unknown, unless NULL is among what is asked for.
    """
    match selection:
        case Comparison(sign, left, right):
            one, other = evaluate(left, values, thin), evaluate(right, values, thin)
            return None if one is None or other is None else bool(_COMPARE[sign](one, other))
        case KeyAmong(key, among):
            return None if cell[key] is None and None not in among else cell[key] in among
        case Negation(operand):
            held = holds(operand, cell, values, thin)
            return None if held is None else not held
        case All(operands):
            found = [holds(operand, cell, values, thin) for operand in operands]
            return False if False in found else None if None in found else True
        case Any(operands):
            found = [holds(operand, cell, values, thin) for operand in operands]
            return True if True in found else None if None in found else False


def _sorted(
    indices: list[int],
    order: Order,
    cells: Sequence[Cell],
    values: Sequence[Sequence[int]],
    thin: Sequence[Collection[int]],
) -> list[int]:
    def value_at(index: int) -> int | str | Fraction | None:
        if isinstance(order.by, KeyShown):
            return cells[index][order.by.key]
        return evaluate(order.by, values[index], thin[index])

    found = {index: value_at(index) for index in indices}
    absent = [index for index in indices if found[index] is None]
    present = [index for index in indices if found[index] is not None]
    present.sort(key=lambda index: found[index], reverse=order.descending)  # type: ignore[arg-type, return-value]
    return absent + present if order.nulls_first else present + absent
