"""Engines run a plan and give back exact integers; they draw no noise and are never heard when they fail.

DuckDB, embedded, reads the prepared Parquet of a workspace; PostgreSQL and Spark read raw tables where they are.
A plan becomes SQL in `statements`, in the words of `dialects`; `choice` finds the engine of a plan's datasets.
"""

from __future__ import annotations

from discreet.engines.base import Cell, Engine, Histogram, Measured

__all__ = ["Cell", "Engine", "Histogram", "Measured"]
