"""The nine cells of the rice farms as the paper's Table 1 summarises them, its misprint corrected."""

from __future__ import annotations

import pytest

from discreet.tables.bootstrap.sensitivity import CellSummary

FarmCells = dict[tuple[str, str], CellSummary]


@pytest.fixture
def farms() -> FarmCells:
    return {
        ("mixed", "high"): CellSummary(33, 56965, 234, 9000),
        ("mixed", "mixed"): CellSummary(7, 11187, 800, 3400),
        ("mixed", "trad"): CellSummary(171, 189528, 180, 3200),
        ("owner", "high"): CellSummary(227, 416820, 82, 17610),
        ("owner", "mixed"): CellSummary(41, 76917, 200, 12000),
        ("owner", "trad"): CellSummary(468, 436757, 42, 8100),
        ("share", "high"): CellSummary(34, 58669, 184, 14520),
        ("share", "mixed"): CellSummary(2, 1105, 400, 705),
        ("share", "trad"): CellSummary(43, 25236, 100, 2000),
    }
