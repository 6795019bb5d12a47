"""A coding that follows from the card alone: every category has a slot, every range equal cells, and so has absence.

Nothing is read from the rows, so it costs no privacy; a row's code is a function of that row.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from discreet.catalogue import say
from discreet.errors import Refused
from discreet.lab.generator.coding import Block, Coding, Encoded

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy import float64, int64
    from numpy.typing import NDArray

    from discreet.lab.generator.generator_rows import GeneratorRows, Shape

__all__ = ["encode_public", "public_coding"]

# A coding's scalar counts four spreads.
_SPREADS: Final = 4
_CLIP: Final = 0.99


def public_coding(shapes: Sequence[Shape], *, cells: int) -> Coding:
    """Blocks by the card. A column whose bounds or categories are no public knowledge is refused."""
    for shape in shapes:
        if shape.from_rows or (shape.kind != "category" and shape.low is None):
            held = say("categories") if shape.kind == "category" else say("bounds")
            source = say("were read from the rows") if shape.from_rows else say("are not in the card")
            raise Refused(
                say(
                    "the {held} of column '{name}' {source}, and private training may not learn them from the rows. "
                    "Write {held} in the card that are known without the data, or declare the column as text, which "
                    "is left out.",
                    held=held,
                    name=shape.name,
                    source=source,
                ),
                column=shape.name,
            )
    return Coding(tuple(_block(shape, cells) for shape in shapes))


def _block(shape: Shape, cells: int) -> Block:
    if shape.kind == "category":
        return Block(shape, codes=tuple(range(len(shape.categories))), missing=True)
    assert shape.low is not None
    assert shape.high is not None
    steps = shape.high - shape.low + 1
    number = min(cells, steps)
    centres = tuple(shape.low - 0.5 + steps * (cell + 0.5) / number for cell in range(number))
    spread = steps / (2 * number * _SPREADS)
    return Block(
        shape,
        centres=centres,
        spreads=(spread,) * number,
        missing=True,
        low=float(shape.low),
        high=float(shape.high),
    )


def encode_public(coding: Coding, rows: GeneratorRows) -> Encoded:
    """The slot of each value within its block, and where a number lies within its cell, from -1 to 1."""
    coded = [_encode(block, rows.values[block.shape.name]) for block in coding.blocks]
    scalars = [found for block, (_, found) in zip(coding.blocks, coded, strict=True) if block.centres]
    return Encoded(
        np.column_stack(scalars) if scalars else np.zeros((len(rows), 0)),
        np.column_stack([slots for slots, _ in coded]),
    )


def _encode(block: Block, values: NDArray[float64]) -> tuple[NDArray[int64], NDArray[float64]]:
    there = np.isfinite(values)
    slots = np.full(len(values), block.width - 1, dtype=np.int64)
    scalars = np.zeros(len(values))
    if block.codes:
        slots[there] = np.clip(values[there], 0, len(block.codes) - 1).astype(np.int64)
        return slots, scalars
    held = np.clip(values[there], block.low, block.high)
    number, steps = len(block.centres), block.high - block.low + 1
    cells = np.minimum((held - block.low) * number // steps, number - 1).astype(np.int64)
    away = (held - np.array(block.centres)[cells]) * (2 * number / steps)
    slots[there], scalars[there] = cells, np.clip(away, -_CLIP, _CLIP)
    return slots, scalars
