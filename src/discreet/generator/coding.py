"""Rows as vectors for a network and back: mode-specific normalisation after [XSCV19], section 4.2.

Each column is a block of slots of which one is set: a slot for each category, or for each mode of a number, and one
for a missing value where there are some. A number has a scalar besides: its distance from the mode in four spreads.
Only what occurs gets a slot, so a constant column and one that is always missing have a single slot and come out as
they were. Vectors hold all scalars first, then the blocks by width, so that blocks of one width are one array.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from discreet.generator.mixture import Mixture, fit_mixture
from discreet.generator.rows import Rows, Shape

if TYPE_CHECKING:
    from numpy import float64, int64
    from numpy.typing import NDArray

__all__ = ["MISSING", "Block", "Coding", "Encoded", "Group", "fit_coding"]

MISSING: Final = -1
_REACH: Final = 4.0
_CLIP: Final = 0.99
# A spike of one repeated value then decodes to that value, wherever its scalar lies.
_NARROWEST: Final = 0.1
_FITTED_ON: Final = 10_000


@dataclass(frozen=True, slots=True)
class Block:
    """One column. `codes` are a category's positions; `centres` and `spreads` the modes of a number, in steps.

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
        if not self.width or len(self.centres) != len(self.spreads) or len(self.shares) not in {0, self.width}:
            raise ValueError("a block has a slot or more, a spread for each centre and a share for each slot")
        if (self.codes and self.shape.kind != "category") or (self.centres and self.shape.kind == "category"):
            raise ValueError("categories have codes, numbers have modes")
        if any(not 0 <= code < len(self.shape.categories) for code in self.codes):
            raise ValueError("codes are positions in the list of categories")
        if not (np.isfinite([*self.centres, *self.spreads, self.low, self.high]).all() and self.low <= self.high):
            raise ValueError("modes and ranges are finite")
        if not all(spread > 0 for spread in self.spreads) or not all(0 <= share <= 1 for share in self.shares):
            raise ValueError("spreads are positive, shares lie between 0 and 1")

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
            places = np.zeros(len(self.shape.categories), dtype=np.int64)
            places[list(self.codes)] = np.arange(len(self.codes))
            slots[there] = places[values[there].astype(np.int64)]
        elif self.centres:
            points, whose = np.unique(values[there], return_inverse=True)
            bounds = np.cumsum(self._mixture.memberships(points), axis=1)[whose]
            modes = np.minimum((bounds < rng.random(len(whose))[:, None]).sum(axis=1), len(self.centres) - 1)
            away = (values[there] - self._mixture.centres[modes]) / (_REACH * self._mixture.spreads[modes])
            slots[there], scalars[there] = modes, np.clip(away, -_CLIP, _CLIP)
        return slots, scalars

    def decode(self, slots: NDArray[int64], scalars: NDArray[float64] | None) -> NDArray[float64]:
        """Values from slots and scalars: whole steps within the range, nan where missing."""
        if scalars is None:
            known = np.array([*self.codes, *([np.nan] if self.missing else [])], dtype=np.float64)
            found: NDArray[float64] = known[slots]
            return found
        gap = [np.nan] if self.missing else []
        centres, spreads = np.array([*self.centres, *gap]), np.array([*self.spreads, *gap])
        values = centres[slots] + _REACH * spreads[slots] * scalars
        whole: NDArray[float64] = np.clip(np.rint(values), self.low, self.high)
        return whole

    @property
    def _mixture(self) -> Mixture:
        shares = self.shares[: len(self.centres)] or (1.0,) * len(self.centres)
        return Mixture(np.array(self.centres), np.array(self.spreads), np.array(shares))


class Encoded(NamedTuple):
    """Rows as a network's data: a scalar for each number, and each block's slot counted within the block."""

    scalars: NDArray[float64]
    slots: NDArray[int64]


class Group(NamedTuple):
    """Blocks of one width, side by side: the first slot, how many blocks, slots of each."""

    start: int
    blocks: int
    width: int


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

    @property
    def slots(self) -> int:
        return int(self.starts[-1])

    @cached_property
    def scalars(self) -> int:
        return sum(bool(block.centres) for block in self.blocks)

    @property
    def width(self) -> int:
        """The length of a vector."""
        return self.scalars + self.slots

    @cached_property
    def groups(self) -> tuple[Group, ...]:
        firsts = zip(self.starts.tolist(), self.blocks, strict=False)
        runs = [(width, list(run)) for width, run in groupby(firsts, key=lambda found: found[1].width)]
        return tuple(Group(run[0][0], len(run), width) for width, run in runs)

    @cached_property
    def conditions(self) -> NDArray[int64]:
        """The slots that the network can be asked for."""
        asked = [range(*self.starts[i : i + 2]) for i, block in enumerate(self.blocks) if block.conditional]
        return np.array([slot for slots in asked for slot in slots], dtype=np.int64)

    @cached_property
    def condition_shares(self) -> NDArray[float64]:
        """The share of each such slot within its block."""
        return np.array([share for block in self.blocks if block.conditional for share in block.shares])

    def encode(self, rows: Rows, rng: np.random.Generator) -> Encoded:
        coded = [block.encode(rows.values[block.shape.name], rng) for block in self.blocks]
        scalars = [found for block, (_, found) in zip(self.blocks, coded, strict=True) if block.centres]
        return Encoded(
            np.column_stack(scalars) if scalars else np.zeros((len(rows), 0)),
            np.column_stack([slots for slots, _ in coded]),
        )

    def decode(self, encoded: Encoded, shapes: Iterable[Shape]) -> Rows:
        """Rows whose columns stand in the order of `shapes`."""
        columns = iter(encoded.scalars.T)
        values = {
            block.shape.name: block.decode(slots, next(columns) if block.centres else None)
            for block, slots in zip(self.blocks, encoded.slots.T, strict=True)
        }
        ordered = tuple(shapes)
        return Rows(ordered, {shape.name: values[shape.name] for shape in ordered})


def fit_coding(rows: Rows, *, modes: int, rng: np.random.Generator) -> Coding:
    """A coding of what occurs in the rows."""
    return Coding(tuple(_fit_block(shape, rows.values[shape.name], modes, rng) for shape in rows.shapes))


def _fit_block(shape: Shape, values: NDArray[float64], modes: int, rng: np.random.Generator) -> Block:
    present = values[np.isfinite(values)]
    missing = len(present) < len(values)
    absent = [1 - len(present) / len(values)] if missing else []
    if not len(present):
        return Block(shape, missing=True, shares=(1.0,))
    if shape.kind == "category":
        codes, counts = np.unique(present.astype(np.int64), return_counts=True)
        shares = (*(counts / len(values)).tolist(), *absent)
        return Block(shape, codes=tuple(codes.tolist()), missing=missing, shares=shares)
    looked = rng.choice(present, _FITTED_ON, replace=False) if len(present) > _FITTED_ON else present
    mixture = fit_mixture(looked, most=modes, narrowest=_NARROWEST)
    return Block(
        shape,
        centres=tuple(mixture.centres.tolist()),
        spreads=tuple(mixture.spreads.tolist()),
        missing=missing,
        shares=(*(mixture.shares * len(present) / len(values)).tolist(), *absent),
        low=float(present.min() if shape.low is None else shape.low),
        high=float(present.max() if shape.high is None else shape.high),
    )
