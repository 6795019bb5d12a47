"""Which engine answers a plan: the one that holds all its datasets. Decided without opening any."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from discreet.catalogue import say
from discreet.errors import QueryRefused
from discreet.workspace import Dataset, RowSource

if TYPE_CHECKING:
    from discreet.engines.embedded import EmbeddedEngine
    from discreet.engines.in_place.tabular_engine import TabularEngine

__all__ = ["engine_for"]


def engine_for(datasets: Mapping[str, Dataset], *, salt: str) -> EmbeddedEngine | TabularEngine:
    """An engine for plans over these datasets, or QueryRefused where no single one holds them all.

    Nothing is opened or connected yet, and an engine may answer many plans. `prepare` finds out, before a charge,
    whether a plan can be run.
    """
    source = _one_place(datasets)
    if source.engine == "duckdb":
        from discreet.engines.embedded import EmbeddedEngine

        files = {name: (dataset.data, dataset.card) for name, dataset in datasets.items()}
        return EmbeddedEngine(files, staging=next(iter(datasets.values())).staging)
    from discreet.engines.in_place.tables_in_place import dialect_of, find_rows, open_rows
    from discreet.engines.in_place.tabular_engine import TabularEngine

    return TabularEngine(
        {name: find_rows(item.source, item.card, salt=salt) for name, item in datasets.items()},
        dialect=dialect_of(source.engine),
        connect=lambda: open_rows(source),
    )


def _one_place(datasets: Mapping[str, Dataset]) -> RowSource:
    """The source of the first dataset, when all are read through the same engine and the same connection."""
    first, *others = datasets.values()
    for other in others:
        if other.source.place != first.source.place:
            raise QueryRefused(
                say(
                    "'{one}' and '{other}' are kept in different places ({place}; {elsewhere}), and a statement is "
                    "answered where all its rows are. Ask about them separately, or add both in one place.",
                    one=first.name,
                    other=other.name,
                    place=_words(first.source),
                    elsewhere=_words(other.source),
                ),
                part="engine",
            )
    return first.source


def _words(source: RowSource) -> str:
    if source.engine == "duckdb":
        return say("files of the workspace")
    if source.engine == "postgres":
        return say("PostgreSQL through {variable}", variable=source.dsn_env)
    return say("Spark at {remote}", remote=source.remote)
