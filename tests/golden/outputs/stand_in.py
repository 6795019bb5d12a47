"""A model that repeats the rows it was made from, in the place of one that torch would have to train."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import discreet
from discreet.guarantees.types import Unproven
from discreet.lab.generator.generator_rows import GeneratorRows, read_rows
from discreet.lab.generator.shelf import Shelved, shelve
from discreet.workspace.folder import Workspace

__all__ = ["load_model", "shelve_model"]


@dataclass
class StandIn:
    """What the shelf and the strategies ask of a model."""

    rows: GeneratorRows
    guarantee: Unproven

    @property
    def shapes(self) -> Any:
        return self.rows.shapes

    def save(self, folder: Path) -> None:
        (folder / "model.json").write_text('"a stand-in"')

    def sample(self, count: int, seed: int | None = None) -> GeneratorRows:
        places = np.arange(count) % len(self.rows)
        return GeneratorRows(self.rows.shapes, {name: values[places] for name, values in self.rows.values.items()})


def load_model(_: Shelved) -> StandIn:
    """Commands run in the folder that holds the workspace."""
    return StandIn(read_rows(Workspace.open(Path("w")).dataset("farms")), Unproven("a stand-in for a model"))


def shelve_model(folder: Path) -> None:
    with discreet.open(folder / "w") as house:
        found = house.workspace.dataset("farms")
        made = StandIn(read_rows(found), Unproven("a stand-in for a model"))
        shelve(house.workspace, found, made)  # type: ignore[arg-type]
