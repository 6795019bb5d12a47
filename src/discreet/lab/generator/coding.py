"""Rows as vectors for a network and back: mode-specific normalisation after [XSCV19], section 4.2.

Each column is a block of slots of which one is set: a slot for each category, or for each mode of a number, and one
for a missing value where there are some. A number has a scalar besides: its distance from the mode in four spreads.
Only what occurs gets a slot, so a constant column and one that is always missing have a single slot and come out as
they were. Vectors hold all scalars first, then the blocks by width, so that blocks of one width are one array.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple

import numpy as np
from numpy import float64, int64
from numpy.typing import NDArray

from discreet.lab.generator.generator_rows import GeneratorRows, Shape
from discreet.lab.generator.mixture import Mixture, fit_mixture

__all__ = ["Block", "Coding", "Encoded", "fit_coding"]

_REACH: Final = 4.0
_CLIP: Final = 0.99
# A spike of one repeated value then decodes to that value, wherever its scalar lies.
_NARROWEST: Final = 0.1
_FITTED_ON: Final = 10_000


@dataclass(frozen=True, slots=True)
class Block:
    """One column. `codes` are a category's positions, rising; `centres` and `spreads` the modes of a number, in steps.

    `missing` adds a last slot. `shares` of the slots are what conditions are drawn from: none, no condition. Numbers
    are held within `low` and `high`.
    """

    shape: Shape
    codes: tuple[int, ...] = ()
    centres: tuple[float, ...] = ()
    spreads: tuple[float, ...] = ()
    missing: bool = False
    shares: tuple[float, ...] = ()
    low: float = 0.0
    high: float = 0.0

    def __post_init__(self) -> None:
        sizes = self.width > 0 and len(self.centres) == len(self.spreads) and len(self.shares) in {0, self.width}
        codes = all(0 <= code < len(self.shape.categories) for code in self.codes)
        modes = not (self.centres and self.shape.categories) and all(spread > 0 for spread in self.spreads)
        finite = np.isfinite([*self.centres, *self.spreads, self.low, self.high]).all() and self.low <= self.high
        if not (sizes and codes and modes and finite and all(0 <= share <= 1 for share in self.shares)):
            raise ValueError("a block has slots for what its column can hold, finite modes and shares up to 1")

    @property
    def width(self) -> int:
        return len(self.codes) + len(self.centres) + self.missing

    @property
    def conditional(self) -> bool:
        """Whether the network can be asked for one of its slots."""
        return self.shape.kind == "category" and len(self.shares) > 1

    def encode(self, values: NDArray[float64], rng: np.random.Generator) -> tuple[NDArray[int64], NDArray[float64]]:
        """The slot and the scalar of each value; a number's mode is drawn by its membership."""
        there = np.isfinite(values)
        slots = np.full(len(values), self.width - 1, dtype=np.int64)
        scalars = np.zeros(len(values))
        if self.codes:
            slots[there] = np.searchsorted(self.codes, values[there])
        elif self.centres:
            centres, spreads = np.array(self.centres), np.array(self.spreads)
            points, whose = np.unique(values[there], return_inverse=True)
            memberships, _ = Mixture(centres, spreads, np.array(self.shares[: len(centres)])).weigh(points)
            reached = np.cumsum(memberships, axis=1)[whose]
            modes = np.minimum((reached < rng.random((len(whose), 1))).sum(axis=1), len(centres) - 1)
            away = (values[there] - centres[modes]) / (_REACH * spreads[modes])
            slots[there], scalars[there] = modes, np.clip(away, -_CLIP, _CLIP)
        return slots, scalars

    def decode(self, slots: NDArray[int64], scalars: NDArray[float64] | None) -> NDArray[float64]:
        """Values from slots and scalars: whole steps within the range, nan where missing."""
        absent = [np.nan] * self.missing
        if scalars is None:
            return np.array([*self.codes, *absent], dtype=np.float64).take(slots)
        centres, spreads = (np.array([*found, *absent]).take(slots) for found in (self.centres, self.spreads))
        return np.clip(np.rint(centres + _REACH * spreads * scalars), self.low, self.high)


class Encoded(NamedTuple):
    """Rows as a network's data: a scalar for each number, and each block's slot counted within the block."""

    scalars: NDArray[float64]
    slots: NDArray[int64]


@dataclass(frozen=True)
class Coding:
    """All blocks, narrowest first, and where each lies in a vector."""

    blocks: tuple[Block, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "blocks", tuple(sorted(self.blocks, key=lambda block: block.width)))
        if not self.blocks or len({block.shape.name for block in self.blocks}) != len(self.blocks):
            raise ValueError("a coding has blocks, one for each column")

    @cached_property
    def starts(self) -> NDArray[int64]:
        """The first slot of each block, and the number of slots in all at the end."""
        return np.cumsum([0, *(block.width for block in self.blocks)])

    @cached_property
    def scalars(self) -> int:
        return sum(bool(block.centres) for block in self.blocks)

    @property
    def width(self) -> int:
        """The length of a vector."""
        return self.scalars + int(self.starts[-1])

    @cached_property
    def groups(self) -> tuple[tuple[int, int], ...]:
        """How many blocks there are of each width, and the width."""
        widths, counts = np.unique(np.diff(self.starts), return_counts=True)
        return tuple(zip(counts.tolist(), widths.tolist(), strict=True))

    @cached_property
    def conditions(self) -> NDArray[int64]:
        """The slots that the network can be asked for."""
        return np.flatnonzero(np.repeat([block.conditional for block in self.blocks], np.diff(self.starts)))

    def encode(self, rows: GeneratorRows, rng: np.random.Generator) -> Encoded:
        coded = [block.encode(rows.values[block.shape.name], rng) for block in self.blocks]
        slots, scalars = (np.column_stack(found) for found in zip(*coded, strict=True))
        return Encoded(scalars[:, [bool(block.centres) for block in self.blocks]], slots)

    def decode(self, encoded: Encoded, shapes: tuple[Shape, ...]) -> GeneratorRows:
        """Rows whose columns stand in the order of `shapes`."""
        columns = iter(encoded.scalars.T)
        values = {
            block.shape.name: block.decode(slots, next(columns) if block.centres else None)
            for block, slots in zip(self.blocks, encoded.slots.T, strict=True)
        }
        return GeneratorRows(shapes, {shape.name: values[shape.name] for shape in shapes})


def fit_coding(rows: GeneratorRows, *, modes: int, rng: np.random.Generator) -> Coding:
    """A coding of what occurs in the rows."""
    return Coding(tuple(_fit_block(shape, rows.values[shape.name], modes, rng) for shape in rows.shapes))


def _fit_block(shape: Shape, values: NDArray[float64], modes: int, rng: np.random.Generator) -> Block:
    present = values[np.isfinite(values)]
    there = len(present) / len(values)
    absent = (1 - there,) if there < 1 else ()
    if not len(present):
        return Block(shape, missing=True, shares=absent)
    if shape.kind == "category":
        codes, counts = np.unique(present.astype(np.int64), return_counts=True)
        shares = (*(counts / len(values)).tolist(), *absent)
        return Block(shape, codes=tuple(codes.tolist()), missing=there < 1, shares=shares)
    looked = rng.choice(present, _FITTED_ON, replace=False) if len(present) > _FITTED_ON else present
    mixture = fit_mixture(looked, most=modes, narrowest=_NARROWEST)
    return Block(
        shape,
        centres=tuple(mixture.centres.tolist()),
        spreads=tuple(mixture.spreads.tolist()),
        missing=there < 1,
        shares=(*(mixture.shares * there).tolist(), *absent),
        low=float(present.min() if shape.low is None else shape.low),
        high=float(present.max() if shape.high is None else shape.high),
    )
