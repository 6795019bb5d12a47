"""What was measured at scale, kept as JSON: once for the code before the work on it, once for the code of today.

A figure that is measured again takes the place of the one before it; all others stay.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Final, Self

__all__ = ["AFTER", "BEFORE", "FIGURES", "AddedRows", "Measured", "ScaleFigure", "read_figures", "write_figures"]

FIGURES: Final = Path(__file__).with_name("scale.json")
BEFORE: Final = "before"
AFTER: Final = "after"


@dataclass(frozen=True, slots=True)
class ScaleFigure:
    """Median seconds of a question and of the plain statement in one run; `missing` says why there are none."""

    engine: str
    rows: int
    case: str
    way: str
    plain: float = 0.0
    seconds: float = 0.0
    peak_mb: float = 0.0
    rounds: int = 0
    commit: str = ""
    missing: str = ""

    @property
    def ratio(self) -> float:
        return self.seconds / self.plain

    @property
    def key(self) -> tuple[str, int, str, str]:
        return self.engine, self.rows, self.case, self.way


@dataclass(frozen=True, slots=True)
class AddedRows:
    """What `discreet add` took for a dataset, the bytes that it wrote, and the memory of its process at most."""

    engine: str
    rows: int
    dataset: str
    way: str
    seconds: float
    bytes_written: int
    commit: str = ""
    peak_mb: float = 0.0

    @property
    def key(self) -> tuple[str, int, str, str]:
        return self.engine, self.rows, self.dataset, self.way


@dataclass(slots=True)
class Measured:
    """All figures of one state of the code, each at its place."""

    figures: dict[tuple[str, int, str, str], ScaleFigure] = field(default_factory=dict)
    added: dict[tuple[str, int, str, str], AddedRows] = field(default_factory=dict)

    @classmethod
    def of(cls, figures: Iterable[ScaleFigure], added: Iterable[AddedRows]) -> Self:
        return cls({item.key: item for item in figures}, {item.key: item for item in added})

    def update(self, other: Measured) -> None:
        self.figures |= other.figures
        self.added |= other.added


def read_figures(file: Path) -> dict[str, Measured]:
    """By state of the code; empty where nothing was measured."""
    found = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    return {
        state: Measured.of(
            (ScaleFigure(**item) for item in lists["figures"]), (AddedRows(**item) for item in lists["added"])
        )
        for state, lists in found.items()
    }


def write_figures(file: Path, states: Mapping[str, Measured]) -> None:
    """In one step, so that a run that is stopped leaves a whole file."""
    lists = {
        state: {
            "figures": [asdict(item) for _, item in sorted(measured.figures.items())],
            "added": [asdict(item) for _, item in sorted(measured.added.items())],
        }
        for state, measured in sorted(states.items())
    }
    partial = file.with_suffix(".partial")
    partial.write_text(json.dumps(lists, indent=1) + "\n", encoding="utf-8")
    partial.replace(file)
