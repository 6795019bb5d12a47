"""Figures 1 to 3 of the paper from replicates that can be repeated, and a fourth with the noise that is needed.

The noise comes from a fixed seed and in floating point: fit for a figure, and for nothing that leaves the house.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

import numpy as np

from discreet.catalogue import Phrase, language, say
from discreet.errors import ParameterInvalid
from discreet.lab.bootstrap.bootstrap_sensitivity import (
    PublicBounds,
    ScaleMethod,
    TableKind,
    noise_scales,
    printed_cell_sensitivities,
)
from discreet.present import Drawn
from discreet.present.charts.boxes import BoxPanel, draw_boxes
from discreet_replications.farms.farms_audit import PUBLIC_BOUND
from discreet_replications.farms.rice_farms import Cell, Farms, name_cell

if TYPE_CHECKING:
    from numpy import float64
    from numpy.typing import NDArray

__all__ = ["MOST_REPLICATES", "REPLICATES", "SEED", "draw_figures"]

REPLICATES: Final = 1_000
MOST_REPLICATES: Final = 100_000
SEED: Final = 2_019
_ACROSS: Final = 3
_UNIT: Final = "kg"
_TOLD: Final = Phrase("ε = 1; repeatable noise, not a release.")

Scales = Mapping[Cell, int]


def draw_figures(farms: Farms, *, replicates: int = REPLICATES) -> list[Drawn]:
    """The paper's three figures and ours; ParameterInvalid when there are too few or too many replicates."""
    if not 10 <= replicates <= MOST_REPLICATES:
        rule = say("must be a whole number from 10 to {most:,}", most=MOST_REPLICATES)
        raise ParameterInvalid(parameter="replicates", rule=rule, given=str(replicates))
    generator = np.random.default_rng(SEED)
    own = printed_cell_sensitivities(farms.cells, statistic=TableKind.TOTAL)
    alone = _replicate(farms, own, generator, replicates)
    return [
        _draw_totals(farms, alone, replicates),
        _draw_bias(farms, alone, replicates),
        _draw_methods(farms, generator, replicates),
        _draw_corrected(farms, generator, replicates),
    ]


def _replicate(
    farms: Farms, scales: Scales, generator: np.random.Generator, replicates: int
) -> dict[Cell, NDArray[float64]]:
    """Each cell's total with Laplace noise of its scale, so many times."""
    return {
        cell: summary.total + generator.laplace(scale=scales[cell], size=replicates)
        for cell, summary in farms.cells.items()
    }


def _draw_totals(farms: Farms, alone: Mapping[Cell, NDArray[float64]], replicates: int) -> Drawn:
    panels = [
        BoxPanel(
            title=str(name_cell(cell)),
            groups=[(say("V = {spread:,}", spread=summary.spread), alone[cell].tolist())],
            reference=summary.total,
        )
        for cell, summary in farms.cells.items()
    ]
    return draw_boxes(
        name="figure-1",
        words=say(
            "Figure 1. Total net output of each cell, {replicates:,} replicates, each cell by itself with the paper's "
            "sensitivity V. The dashed line is the true total; every panel has its own scale. {told}",
            replicates=replicates,
            told=_TOLD,
        ),
        title=say("Figure 1: each cell by itself"),
        panels=panels,
        across=_ACROSS,
        unit=_UNIT,
        language=language(),
    )


def _draw_bias(farms: Farms, alone: Mapping[Cell, NDArray[float64]], replicates: int) -> Drawn:
    groups = [
        (str(name_cell(cell)), (100 * (alone[cell] / summary.total - 1)).tolist())
        for cell, summary in farms.cells.items()
    ]
    return draw_boxes(
        name="figure-2",
        words=say(
            "Figure 2. Relative bias of the same {replicates:,} replicates, in percent of the true total. It is large "
            "where the sensitivity is a large part of the total (Table 3). {told}",
            replicates=replicates,
            told=_TOLD,
        ),
        title=say("Figure 2: relative bias of each cell by itself"),
        panels=[BoxPanel(title=say("All nine cells"), groups=groups, reference=0.0)],
        across=1,
        unit="%",
        language=language(),
    )


def _draw_methods(farms: Farms, generator: np.random.Generator, replicates: int) -> Drawn:
    scales = {
        f"({method})": noise_scales(farms.cells, method=method, statistic=TableKind.TOTAL, printed=True)
        for method in (ScaleMethod.MAXIMUM, ScaleMethod.SPLIT)
    }
    return draw_boxes(
        name="figure-3",
        words=say(
            "Figure 3. The whole table by methods (i) and (ii) as printed, {replicates:,} replicates. The dashed line "
            "is the true total; every panel has its own scale. {told}",
            replicates=replicates,
            told=_TOLD,
        ),
        title=say("Figure 3: the whole table, methods (i) and (ii) as printed"),
        panels=_compare(farms, scales, generator, replicates),
        across=_ACROSS,
        unit=_UNIT,
        language=language(),
    )


def _draw_corrected(farms: Farms, generator: np.random.Generator, replicates: int) -> Drawn:
    cells = farms.cells
    scales: dict[str, Scales] = {
        say("(i) printed"): noise_scales(cells, method=ScaleMethod.MAXIMUM, statistic=TableKind.TOTAL, printed=True),
        say("(i) right"): noise_scales(cells, method=ScaleMethod.MAXIMUM, statistic=TableKind.TOTAL),
        say("ε/2 a cell"): noise_scales(cells, method=ScaleMethod.PAIR, statistic=TableKind.TOTAL),
        say("public"): dict.fromkeys(cells, PublicBounds(low=0, high=PUBLIC_BOUND).table(len(cells))),
    }
    return draw_boxes(
        name="figure-4",
        words=say(
            "Figure 4, not in the paper. The whole table by (i) as printed and with the sensitivity it needs; with "
            "ε/2 for each cell, because a row touches two cells at most; and by differential privacy with public "
            "bounds of 0 to {bound:,} kg, which alone protects outsiders. {replicates:,} replicates, {told}",
            bound=PUBLIC_BOUND,
            replicates=replicates,
            told=_TOLD,
        ),
        title=say("Figure 4: the noise that the promise needs"),
        panels=_compare(farms, scales, generator, replicates),
        across=_ACROSS,
        unit=_UNIT,
        language=language(),
    )


def _compare(
    farms: Farms, scales: Mapping[str, Scales], generator: np.random.Generator, replicates: int
) -> list[BoxPanel]:
    drawn = {name: _replicate(farms, own, generator, replicates) for name, own in scales.items()}
    return [
        BoxPanel(
            title=str(name_cell(cell)),
            groups=[(name, values[cell].tolist()) for name, values in drawn.items()],
            reference=summary.total,
        )
        for cell, summary in farms.cells.items()
    ]
