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
from typing import Any, Final

from discreet.guarantees.numbers import ceil_to_grid
from discreet.plan.algebra import walk
from discreet.plan.outputs import KeyShown, Mean, Output, Presentation, Spread
from discreet.plan.statement import Statement
from discreet.release.columns import Margin

__all__ = ["CODE", "REASON", "describe_absent", "find_thin", "presence_level", "sizes_in", "word_absent"]

CODE: Final = "size-too-small"
REASON: Final = (
    "a mean or a variance is shown only where the noisy size of its group is so large that, with a probability of 95%, "
    "no group of nobody shows one"
)

_CHANCE: Final = Fraction(1, 20)


def presence_level(figures: int) -> Decimal:
    """The level at which noise of both signs must stay within the bound, for that of one sign to do so for all."""
    return ceil_to_grid(1 - 2 * _CHANCE / max(figures, 1))


def sizes_in(shown: Presentation | Output | KeyShown) -> list[int]:
    """The places of the measures that something is averaged over, each once."""
    return sorted({node.size for node in walk(shown) if isinstance(node, Mean | Spread)})


def describe_absent(statement: Statement, floors: Mapping[int, Margin]) -> list[dict[str, Any]]:
    """The outputs with means or variances, the code and the reason of their NULLs, and what sizes must exceed.

    Where noise differs by the cells of a key, so does the bound: from the smallest to the largest.
    """
    found: list[dict[str, Any]] = []
    for column in statement.presentation.columns:
        sizes = [
            {"size": statement.measures[size].text, "above": [_plain(end, statement, size) for end in ends]}
            for size in sizes_in(column.shows)
            if (ends := (min(floors[size].halves), max(floors[size].halves)))
        ]
        if sizes:
            found.append({"output": column.name, "code": CODE, "sizes": sizes, "reason": REASON})
    return found


def _plain(end: int, statement: Statement, size: int) -> int | float:
    value = end * statement.measures[size].step
    return int(value) if value.denominator == 1 else float(value)


def word_absent(absent: Sequence[Mapping[str, Any]]) -> list[str]:
    """The same for people, a line for each output."""
    lines = []
    for one in absent:
        bounds = [" to ".join(f"{end:,}" for end in dict.fromkeys(size["above"])) for size in one["sizes"]]
        lines.append(f"{one['output']} is – where the noisy size is not above {' and '.join(bounds)}: {REASON}")
    return lines


def find_thin(floors: Mapping[int, Margin], measures: Sequence[Sequence[int]]) -> dict[int, list[bool]]:
    """For every size the cells in which it does not exceed its bound."""
    return {
        size: [value <= floor.at(place) for place, value in enumerate(measures[size])] for size, floor in floors.items()
    }
