"""Where a mean or a variance is shown: only where its noisy size says that there are people.

A group of nobody has a size that is noise alone. For K sizes a bound t with K · P(noise > t) ≤ 0.05 lets all of them
be told from nobody but for a chance of 5%: for Laplace noise of scale b it lies at b · ln(K / 0.1), and up to a step
above where noise is whole. A size without noise is exact, and anybody in it will do. Decided from noisy values alone.

Proof: docs/proofs/mean.md
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Final

from discreet.guarantees import ceil_to_grid
from discreet.release.cells.output_columns import NoiseReach
from discreet.results import Size, SizeTooSmall
from discreet.sql import KeyShown, Mean, Output, Presentation, Spread, Statement, walk

__all__ = ["find_thin", "note_absent", "presence_level", "sizes_in"]

_CHANCE: Final = Fraction(1, 20)


def presence_level(figures: int) -> Decimal:
    """The level at which noise of both signs must stay within the bound, for that of one sign to do so for all."""
    return ceil_to_grid(1 - 2 * _CHANCE / max(figures, 1))


def sizes_in(shown: Presentation | Output | KeyShown) -> list[int]:
    """The places of the measures that something is averaged over, each once."""
    return sorted({node.size for node in walk(shown) if isinstance(node, Mean | Spread)})


def note_absent(statement: Statement, floors: Mapping[int, NoiseReach]) -> tuple[SizeTooSmall, ...]:
    """The outputs with means or variances, and what the sizes that they are over must exceed.

    Where noise differs by the cells of a key, so does the bound: from the smallest to the largest.
    """
    found = []
    for column in statement.presentation.columns:
        sizes = tuple(
            Size(
                statement.measures[size].told,
                *(_plain(end(floors[size].halves), statement, size) for end in (min, max)),
            )
            for size in sizes_in(column.shows)
        )
        if sizes:
            found.append(SizeTooSmall(column.name, sizes))
    return tuple(found)


def _plain(end: int, statement: Statement, size: int) -> int | float:
    value = end * statement.measures[size].step
    return int(value) if value.denominator == 1 else float(value)


def find_thin(floors: Mapping[int, NoiseReach], measures: Sequence[Sequence[int]]) -> dict[int, list[bool]]:
    """For every size the cells in which it does not exceed its bound."""
    return {
        size: [value <= floor.at(index) for index, value in enumerate(measures[size])] for size, floor in floors.items()
    }
