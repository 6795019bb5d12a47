"""How measures were protected: the noise of each, and why that much suffices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Literal

from discreet.results.headings import Shown

__all__ = ["MeasureNoise", "Noise", "RankAim"]


@dataclass(frozen=True, slots=True)
class RankAim:
    """How near the rank of what was chosen comes to the one aimed at.

    With the probability `level` it is off by at most so many `rows`. An extreme aims at a value with `depth` rows
    beyond it on its `side`, so as not to lie beyond the rows.
    """

    candidates: int
    rows: int
    level: Decimal
    depth: int | None = None
    side: Literal["above", "below"] | None = None


@dataclass(frozen=True, slots=True)
class Noise:
    """One mechanism with its exact parameters as text, the bound it was calibrated to, and how that was derived.

    `cell` is the cell of the key that decides which mechanism was used, where one does.
    """

    name: str
    parameters: Mapping[str, str] = field(default_factory=dict)
    bound: Mapping[str, str] = field(default_factory=dict)
    derivation: str = ""
    aim: RankAim | None = None
    cell: Shown = None


@dataclass(frozen=True, slots=True)
class MeasureNoise:
    """A measure in the words of the statement, its share of the charge, its step, and its noise.

    With `by`, the cell of that key decides which of the mechanisms was used; without, there is one. `shown` is false
    where even the amount of noise would tell about rows.
    """

    measure: str
    noise: Sequence[Noise]
    share: Mapping[str, str] = field(default_factory=dict)
    step: str = ""
    by: str | None = None
    name: str = ""
    shown: bool = True
