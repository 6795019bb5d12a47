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

    def __init__(self, counters: int | NDArray[np.uint16], *, cap: int) -> None:
        """So many new accounts, or those with these counters."""
        if not 0 < cap <= MOST_PARTS:
            raise ValueError("an account holds 1 to 65,535 parts")
        self.cap = cap
        self._counters = np.zeros(counters, dtype=np.uint16) if isinstance(counters, int) else counters.copy()

    def __len__(self) -> int:
        return len(self._counters)

    @property
    def counters(self) -> NDArray[np.uint16]:
        """As they are now, to look at: only `charge` and its like change an account."""
        shown = self._counters.view()
        shown.flags.writeable = False
        return shown

    def charge(self, units: NDArray[Any], charge: int, *, members: NDArray[Any] | None = None) -> NDArray[np.bool_]:
        """Charge the units of a sample that have room, and say which they are: those that may be counted.

        `units` names each unit once. `members` are the ids of each in the sample; one each where it is left out.
        """
        counted, after = self.price(units, charge, members=members)
        self.settle(units[counted], after)
        return counted

    def price(
        self, units: NDArray[Any], charge: int, *, members: NDArray[Any] | None = None
    ) -> tuple[NDArray[np.bool_], NDArray[np.uint16]]:
        """Which units have room, and what the counters of those would be. Nothing is charged yet."""
        ascending = bool((units[1:] > units[:-1]).all())
        if not ascending and len(np.unique(units)) != len(units):
            raise ValueError("a unit stands in a sample once, with all its members")
        if charge < 1 or (members is not None and (members.shape != units.shape or members.min(initial=1) < 1)):
            raise ValueError("a charge is positive, and so are members")
        due = np.int64(charge) * (np.ones(len(units), dtype=np.int64) if members is None else members.astype(np.int64))
        after = self._counters[units].astype(np.int64) + due
        counted: NDArray[np.bool_] = after <= self.cap
        return counted, after[counted].astype(np.uint16)

    def settle(self, units: NDArray[Any], after: NDArray[np.uint16]) -> None:
        """Give units the counters that a price has told. Done twice it is the same."""
        self._counters[units] = after

    def write_off(self, charge: int) -> None:
        """Charge every unit alike, up to its cap: for uses whose samples are no longer known."""
        self._counters = np.minimum(self._counters.astype(np.int64) + charge, self.cap).astype(np.uint16)

    def exhausted(self, least: int) -> int:
        """How many units have no room for a charge of `least`."""
        return int(np.count_nonzero(self._counters > max(self.cap - least, 0))) if least <= self.cap else len(self)
