"""Larger pools of neighbours: a declared sub-population, or the data with synthetic individuals added.

Refs: [P] Section 7, the variants in between.

A pool is a file with the card's columns, prepared as the card says and read for the one table asked. Neighbouring data
sets then draw their rows from the data and the file together, so more people may claim to be in the data, and the
sensitivities are never smaller than over the data alone. It is still not differential privacy: whoever is in neither
has no promise, and the noise still follows from rows.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from discreet.cards import Card
from discreet.catalogue import say
from discreet.engines import EmbeddedEngine
from discreet.errors import FileRefused
from discreet.lab.bootstrap.observed_cells import Observed, observe
from discreet.paths import allowed_roots, open_regular, resolve_inside
from discreet.sources import open_source
from discreet.sql import Plan
from discreet.workspace import Workspace

__all__ = ["Pool", "PoolKind", "read_pool"]

_CHUNK = 1 << 20


class PoolKind(StrEnum):
    """Who is in the file: people who may be in the data, or individuals that were made up."""

    SUB_POPULATION = "sub-population"
    SYNTHETIC = "synthetic"


@dataclass(frozen=True, slots=True)
class Pool:
    """The rows of a file, cell by cell, for one plan. `digest` names its content in the log."""

    kind: PoolKind
    digest: str
    observed: Observed

    @property
    def name(self) -> str:
        """What the log keeps: kind and content."""
        return f"{self.kind} {self.digest}"


def read_pool(file: Path, card: Card, plan: Plan, workspace: Workspace, *, kind: PoolKind) -> Pool:
    """Prepare a file by the card, in a folder that is gone afterwards, and summarise it for the plan."""
    from discreet.workspace import prepare

    real = resolve_inside(resolve_inside(file, workspace.roots), allowed_roots())
    source = open_source(real)
    with workspace.stage() as folder:
        data, work = folder / "data.parquet", folder / "work"
        work.mkdir(mode=0o700)
        report = prepare(source, card, salt=workspace.salt, data=data, work=work)
        if report.rows_without_id or report.rows_beyond:
            raise FileRefused(
                say(
                    "'{name}' needs one row for each individual, each with its own '{column}': some have none or "
                    "share one. Number them. Nothing was released.",
                    name=file.name,
                    column=card.unit.column,
                ),
                file=file.name,
            )
        engine = EmbeddedEngine({card.dataset: (data, card)})
        try:
            return Pool(kind, _digest(real), observe(plan, engine))
        finally:
            engine.close()


def _digest(file: Path) -> str:
    digest = hashlib.sha256()
    with open_regular(file) as stream:
        while chunk := stream.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()
