"""Engines run a plan and give back exact integers; they draw no noise and are never heard when they fail.

DuckDB, embedded, reads the prepared Parquet of a workspace.
"""

from __future__ import annotations

from discreet.engines.embedded import count_cells

__all__ = ["count_cells"]
