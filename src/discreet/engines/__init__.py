"""Engines run a plan and give back exact integers; they draw no noise and are never heard when they fail.

`engine_for` finds the engine that holds a plan's datasets: DuckDB, embedded, over prepared files, or PostgreSQL and
Spark, where raw tables stay. What an `Engine` measures is confidential until a mechanism has run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.doors import open_door

if TYPE_CHECKING:
    from discreet.engines.cell_order import in_order, take_margin
    from discreet.engines.embedded import EmbeddedEngine
    from discreet.engines.engine import (
        Cell,
        Engine,
        Histogram,
        HistogramArrays,
        Holding,
        Measured,
        Prepared,
        Tabulating,
    )
    from discreet.engines.engine_choice import engine_for
    from discreet.engines.engine_shelf import EngineShelf
    from discreet.engines.in_place.incomplete_rows import count_incomplete
    from discreet.engines.in_place.tables_in_place import add_table, open_rows
    from discreet.engines.resources import read_resources, size_words
else:
    __getattr__, __dir__ = open_door(__name__)

__all__ = [
    "Cell",
    "EmbeddedEngine",
    "Engine",
    "EngineShelf",
    "Histogram",
    "HistogramArrays",
    "Holding",
    "Measured",
    "Prepared",
    "Tabulating",
    "add_table",
    "count_incomplete",
    "engine_for",
    "in_order",
    "open_rows",
    "read_resources",
    "size_words",
    "take_margin",
]
