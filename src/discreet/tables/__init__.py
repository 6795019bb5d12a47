"""Protected tables: margins that add up, an interval on every figure, and quality that reads noisy values alone.

A `TableRequest` becomes a plan like any other; this room chooses which margins are measured (`design_table`), estimates
every cell and margin from them, and publishes the result. `TableDesk` is where people ask.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.doors import open_door

if TYPE_CHECKING:
    from discreet.tables.asked_table import AskedTable
    from discreet.tables.calibrated_figures import CalibratedTable
    from discreet.tables.calibration import Target
    from discreet.tables.calibration_targets import card_targets
    from discreet.tables.desk import TableDesk
    from discreet.tables.formation import Formed, form_dataset, form_table, may_be_negative
    from discreet.tables.linear.layout import Layout, Margin, every_margin, keep_keys
    from discreet.tables.request import TableRequest, read_codes, read_edges, table_request
    from discreet.tables.table_design import Design, NoiseChoice, design_table, gaussian_weight
    from discreet.tables.table_explanation import TableExplanation, estimate_unseen
    from discreet.tables.table_figures import EstimatedMeasure, MarginFigures
    from discreet.tables.table_reading import calibrate_estimated, estimate_drawn, figure_drawn
else:
    __getattr__, __dir__ = open_door(__name__)

__all__ = [
    "AskedTable",
    "CalibratedTable",
    "Design",
    "EstimatedMeasure",
    "Formed",
    "Layout",
    "Margin",
    "MarginFigures",
    "NoiseChoice",
    "TableDesk",
    "TableExplanation",
    "TableRequest",
    "Target",
    "calibrate_estimated",
    "card_targets",
    "design_table",
    "estimate_drawn",
    "estimate_unseen",
    "every_margin",
    "figure_drawn",
    "form_dataset",
    "form_table",
    "gaussian_weight",
    "keep_keys",
    "may_be_negative",
    "read_codes",
    "read_edges",
    "table_request",
]
