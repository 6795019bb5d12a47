"""How far off each output would be and which noise each measure would have, as a server tells it of a query.

The names are those of a workspace; numbers that are fractions there are what JSON has of them here.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any, Final, Self

from discreet.client.told_values import number_of, take

__all__ = ["RemoteMeasure", "RemoteOutput", "RemoteSlice", "read_width"]

_STEP: Final = re.compile(r"\d{1,60}(\.\d{1,9}|/[1-9]\d{0,59})?", re.ASCII)
_OF_SLICES: Final = frozenset(
    {"cell", "sensitivity", "sensitivity_in_steps", "derivation", "scale_in_units", "expected_error", "half_width"}
)


@dataclass(frozen=True, slots=True)
class RemoteOutput:
    """One column of the answer; `depends` says what must be assumed before a width can be told."""

    name: str
    cells: tuple[str | None, ...] = (None,)
    expected: tuple[float, ...] = ()
    half_widths: tuple[float | None, ...] = ()
    exact: bool = False
    ranked: bool = False
    depends: str | None = None

    @classmethod
    def read(cls, told: Mapping[str, Any]) -> Self:
        """The output that these facts are. ValueError and the like where they are none."""
        name = take(told, "output", str)
        if "depends" in told:
            return cls(name, depends=take(told, "depends", str))
        slices = take(told, "slices", list)
        errors = [read_width(part, "expected_error") for part in slices]
        return cls(
            name,
            cells=tuple(_cell(part) for part in slices),
            expected=tuple(math.inf if error is None else error for error in errors),
            half_widths=tuple(read_width(part, "half_width") for part in slices),
            exact=told.get("expected_error_is") == "exact",
            ranked=told.get("in") == "ranks",
        )

    @property
    def widest(self) -> float | None:
        """The largest half-width over all cells; None when one has no bound or none is known."""
        known = [width for width in self.half_widths if width is not None]
        return max(known) if known and len(known) == len(self.half_widths) else None

    @property
    def rows(self) -> list[dict[str, str | float | None]]:
        """Cell by cell; None where nothing bounds it or something must be assumed."""
        errors = self.expected if self.depends is None else (math.inf,)
        widths = self.half_widths if self.depends is None else (None,)
        return [
            {
                "output": self.name,
                "cell": cell,
                "expected_error": None if error == math.inf else error,
                "half_width": width,
            }
            for cell, error, width in zip(self.cells, errors, widths, strict=True)
        ]


@dataclass(frozen=True, slots=True)
class RemoteSlice:
    """The noise of a measure in the cells of one value of a public key, or in all cells (`cell` None)."""

    cell: str | None
    sensitivity: float
    derivation: str
    parameters: Mapping[str, str]
    scale: float | None
    expected: float
    half_width: float

    @classmethod
    def read(cls, told: Mapping[str, Any]) -> Self:
        """The slice that these facts are. ValueError and the like where they are none."""
        return cls(
            cell=_cell(told),
            sensitivity=_number(told, "sensitivity_in_steps"),
            derivation=take(told, "derivation", str),
            parameters={name: take(told, name, str) for name in told if name not in _OF_SLICES},
            scale=_number(told, "scale_in_units") if "scale_in_units" in told else None,
            expected=_number(told, "expected_error"),
            half_width=_number(told, "half_width"),
        )


@dataclass(frozen=True, slots=True)
class RemoteMeasure:
    """One measure: its words, its share of epsilon, its mechanism, and its noise slice by slice."""

    text: str
    epsilon: Decimal
    mechanism: str
    step: Fraction
    ranked: bool
    slices: tuple[RemoteSlice, ...]

    @classmethod
    def read(cls, told: Mapping[str, Any]) -> Self:
        """The measure that these facts are. ValueError and the like where they are none."""
        step, mechanism = take(told, "step", str), take(told, "mechanism", str)
        if not _STEP.fullmatch(step):
            raise ValueError("a step is no number")
        slices = tuple(map(RemoteSlice.read, take(told, "slices", list)))
        return cls(
            text=take(told, "measure", str),
            epsilon=number_of(told, "epsilon") or Decimal(0),
            mechanism=mechanism,
            step=Fraction(step),
            ranked=mechanism != "exact-public" and any(part.scale is None for part in slices),
            slices=slices,
        )


def read_width(facts: Mapping[str, Any], name: str) -> float | None:
    """A number; None where there is none."""
    found = facts[name]
    if isinstance(found, bool) or not isinstance(found, int | float | None):
        raise ValueError(f"{name} is no number")
    return None if found is None else float(found)


def _number(facts: Mapping[str, Any], name: str) -> float:
    found = read_width(facts, name)
    if found is None:
        raise ValueError(f"{name} is missing")
    return found


def _cell(facts: Mapping[str, Any]) -> str | None:
    return None if facts["cell"] is None else take(facts, "cell", str)
