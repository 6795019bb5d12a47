"""What a request costs each unit of a sample, in whole parts of ε, and how many of them an account holds.

Guarantee: no answer loses more about a unit's property than the charge for it says.
Requires:  every cell has discrete Laplace noise of the request's scale; `members` are all ids of the unit in the
           sample by the public map, registered or not.
Proof:     docs/proofs/linked.md
Refs:      [L] Section 3, with an account for every unit.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from fractions import Fraction
from math import lcm
from typing import Final

from discreet.catalogue import say
from discreet.errors import ParameterInvalid
from discreet.guarantees import ExactLike, solve

__all__ = ["MOST_PARTS", "LinkedKind", "Tariff"]

MOST_PARTS: Final = 65_535
"""What the counter of an account can hold."""


class LinkedKind(StrEnum):
    """What may be asked about a sample."""

    COUNT = "count"
    COUNT_AND_SIZE = "count-and-size"
    HISTOGRAM = "histogram"


@dataclass(frozen=True, slots=True)
class Tariff:
    """A menu of scales. One ε is `parts` parts, so that each of them costs a whole number; `cap` is an account."""

    scales: tuple[int, ...]
    epsilon: Decimal
    parts: int
    cap: int

    @classmethod
    def of(
        cls,
        *,
        scales: tuple[int, ...],
        prior: ExactLike,
        belief: ExactLike | None = None,
        epsilon: ExactLike | None = None,
    ) -> Tariff:
        """From the highest belief that the policy allows, or from ε."""
        if not scales or any(isinstance(scale, bool) or scale < 1 for scale in scales):
            raise ParameterInvalid(
                parameter="scales", rule=say("must be whole numbers of at least 1"), given=str(scales)
            )
        parts = lcm(*scales)
        found = solve(prior=prior, belief=belief, epsilon=epsilon, scale=parts)
        assert found.queries is not None  # ⌊parts·ε⌋: as many queries of so large a scale
        if not 0 < found.queries <= MOST_PARTS:
            raise ParameterInvalid(
                parameter="scales",
                rule=say(
                    "must divide epsilon into 1 to {most:,} parts (choose a smaller common multiple)",
                    most=MOST_PARTS,
                ),
                given=say("{queries:,} parts", queries=found.queries),
            )
        return cls(tuple(sorted(set(scales))), found.epsilon, parts, found.queries)

    def charge(self, kind: LinkedKind, scale: int, *, cells: int = 1, answers: int = 1, exchange: bool = True) -> int:
        """What one member of a unit pays. `exchange`: neighbours differ by a changed value, not by a row alone.

        A person has at most `answers` of the `cells` values of a histogram; one where values exclude each other.
        """
        if scale not in self.scales:
            raise ParameterInvalid(
                parameter="scale", rule=say("must be one of {scales}", scales=_listed(self.scales)), given=str(scale)
            )
        return self.parts // scale * _moved(kind, cells, answers, exchange=exchange)

    def allowed(self, scale: int, *, members: int = 1) -> int:
        """How many counts of a scale an account holds, if every sample has so many members of the unit."""
        return self.cap // (self.charge(LinkedKind.COUNT, scale) * members)

    def spent(self, parts: int) -> Fraction:
        """A number of parts as ε."""
        return Fraction(parts, self.parts)


def _moved(kind: LinkedKind, cells: int, answers: int, *, exchange: bool) -> int:
    """How far one member moves all cells together."""
    if kind is LinkedKind.COUNT:
        return 1
    if kind is LinkedKind.COUNT_AND_SIZE:
        return 2
    if not 1 <= answers <= cells:
        raise ParameterInvalid(
            parameter="answers", rule=say("must be 1 to {cells}, as many as cells", cells=cells), given=str(answers)
        )
    return min(2 * answers if exchange else answers, cells if answers > 1 else 2)


def _listed(scales: tuple[int, ...]) -> str:
    return ", ".join(map(str, scales))
