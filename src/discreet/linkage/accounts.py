"""The account of every unit of a registry: what its samples have cost it.

Who pays depends on samples and scales alone, never on a property: so accounts may be known to anyone. A unit whose
account has no room is left out of the count without a word, and nothing is refused because of who is in a sample.

Guarantee: what a unit has paid is at most the cap, whatever is asked, in any order.
Proof:     docs/proofs/linked.md, Theorems 1 and 3.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.linkage.tariff import MOST_PARTS

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Accounts"]


class Accounts:
    """One counter for each unit, in parts of ε."""

    __slots__ = ("_counters", "cap")

    def __init__(self, units: int, *, cap: int) -> None:
        if not 0 < cap <= MOST_PARTS:
            raise ValueError("an account holds 1 to 65,535 parts")
        self.cap = cap
        self._counters: NDArray[np.uint16] = np.zeros(units, dtype=np.uint16)

    @property
    def counters(self) -> NDArray[np.uint16]:
        """A copy: only `charge` changes an account."""
        return self._counters.copy()

    def charge(self, units: NDArray[Any], charge: int, *, members: NDArray[Any] | None = None) -> NDArray[np.bool_]:
        """Charge the units of a sample that have room, and say which they are: those that may be counted.

        `units` names each unit once. `members` are the ids of each in the sample; one each where it is left out.
        """
        if len(np.unique(units)) != len(units):
            raise ValueError("a unit stands in a sample once, with all its members")
        if charge < 1 or (members is not None and (members.shape != units.shape or members.min(initial=1) < 1)):
            raise ValueError("a charge is positive, and so are members")
        due = np.int64(charge) * (np.ones(len(units), dtype=np.int64) if members is None else members.astype(np.int64))
        after = self._counters[units].astype(np.int64) + due
        counted: NDArray[np.bool_] = after <= self.cap
        self._counters[units[counted]] = after[counted].astype(np.uint16)
        return counted
