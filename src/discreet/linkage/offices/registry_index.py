"""Whom a pseudonym stands for: found among ten million in a moment, by sorted numbers in files that are mapped.

first.npy, last.npy   the halves of every pseudonym, ascending
people.npy            for each, the number of the person in the registry, or -1 for nobody there
units.npy             for each, the number of the unit that pays; without it the person is the unit
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from discreet.catalogue import say
from discreet.errors import Refused
from discreet.files import staged_file

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["RegistryIndex", "load_array", "save_array"]

_NAMES: Final = ("first", "last", "people")


@dataclass(frozen=True, slots=True)
class RegistryIndex:
    """The columns, in the order of the pseudonyms."""

    first: NDArray[np.uint64]
    last: NDArray[np.uint64]
    people: NDArray[np.int32]
    units: NDArray[np.int32] | None = None

    @classmethod
    def build(
        cls, pseudonyms: NDArray[np.uint64], people: NDArray[np.int32], units: NDArray[np.int32] | None
    ) -> RegistryIndex:
        order = np.argsort(pseudonyms[:, 0], kind="stable")
        return cls(
            np.ascontiguousarray(pseudonyms[order, 0]),
            np.ascontiguousarray(pseudonyms[order, 1]),
            people[order],
            None if units is None else units[order],
        )

    def save(self, folder: Path) -> None:
        for name in (*_NAMES, *(() if self.units is None else ("units",))):
            save_array(folder / f"{name}.npy", getattr(self, name))

    @classmethod
    def load(cls, folder: Path) -> RegistryIndex:
        first, last, people = (load_array(folder / f"{name}.npy") for name in _NAMES)
        units = load_array(folder / "units.npy") if (folder / "units.npy").exists() else None
        return cls(first, last, people, units)

    def find(self, pseudonyms: NDArray[np.uint64]) -> NDArray[np.int64]:
        """The place of each pseudonym; -1 for one that is not there."""
        size = len(self.first)
        places = np.full(len(pseudonyms), -1, dtype=np.int64)
        if not size:
            return places
        at = np.searchsorted(self.first, pseudonyms[:, 0])
        looking = np.arange(len(pseudonyms))
        # Two with the same first half are beyond belief, and followed all the same.
        while len(looking):
            inside = at[looking] < size
            looking = looking[inside]
            same = self.first[at[looking]] == pseudonyms[looking, 0]
            looking = looking[same]
            hit = self.last[at[looking]] == pseudonyms[looking, 1]
            places[looking[hit]] = at[looking[hit]]
            looking = looking[~hit]
            at[looking] += 1
        return places

    def payers(self, places: NDArray[np.int64]) -> NDArray[np.int64]:
        """The unit of each place; -1 where nobody pays."""
        column = self.people if self.units is None else self.units
        return column[places].astype(np.int64)


def save_array(path: Path, values: NDArray[Any]) -> None:
    """Whole or not at all."""
    with staged_file(path, mode=0o600) as staged, staged.open("wb") as stream:
        np.save(stream, values, allow_pickle=False)


def load_array(path: Path) -> NDArray[Any]:
    """Mapped into memory and not read; nothing in it is code."""
    try:
        values: NDArray[Any] = np.load(path, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError, EOFError):
        raise Refused(
            say("'{name}' of this study is missing or damaged. Restore the office folder from a copy.", name=path.name),
            file=path.name,
        ) from None
    return values
