"""A look at what bootstrap would do to a table: sensitivities, gains, accuracy, advice, leaks. For the custodian alone.

Everything here follows from the rows. Nothing is released, nothing needs the card's opt-in, and the ledger records that
somebody looked before the rows are read.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal
from itertools import product

from discreet.catalogue import language
from discreet.engines import Engine
from discreet.guarantees import ExactLike, exact, text
from discreet.lab.bootstrap.bootstrap_accuracy import Advice, error_bound, gain_ratio, gamma_accuracy, recommend
from discreet.lab.bootstrap.bootstrap_sensitivity import (
    CellSummary,
    ScaleMethod,
    cell_sensitivities,
    noise_scales,
    printed_cell_sensitivities,
    printed_table_sensitivity,
    released_scales,
    table_sensitivity,
)
from discreet.lab.bootstrap.checklist import CheckItem, ExaminedOutlook, check_table
from discreet.lab.bootstrap.leaks import Leak, find_leaks
from discreet.lab.bootstrap.observed_cells import Outline, observe, outline
from discreet.lab.bootstrap.pools import Pool
from discreet.ledger import Ledger
from discreet.results import Shown
from discreet.tables import Formed

__all__ = ["CellExamination", "Examination", "TableExamination", "examine"]

_PRINTED = (ScaleMethod.MAXIMUM, ScaleMethod.SPLIT, ScaleMethod.MEMBERSHIP)


@dataclass(frozen=True, slots=True)
class CellExamination:
    """One cell alone: its rows, its sensitivity as printed and as it is, what each method adds at epsilon 1.

    `gain` is the cell's public sensitivity over its own, as it is; None where no row of the data moves it.
    """

    codes: tuple[Shown, ...]
    summary: CellSummary
    printed: int
    corrected: int
    gain: float | None
    printed_scales: dict[ScaleMethod, int]
    scales: dict[ScaleMethod, int]
    advice: str


@dataclass(frozen=True, slots=True)
class TableExamination:
    """The whole table as one output, by method (i): as printed, as it is, and by public bounds.

    With probability at least 1 - gamma no figure is off by more than `error_bound` whole steps, by the noise of a
    release; `gamma_accuracy` is one over the bound before it is rounded up.
    """

    printed: int
    corrected: int
    public: int
    gain: float | None
    gamma: Decimal
    error_bound: int
    gamma_accuracy: float


@dataclass(frozen=True, slots=True)
class Examination:
    """What the custodian sees. `names` are the keys; values are in whole steps of `step`."""

    names: tuple[str, ...]
    statistic: str
    step: str
    epsilon: Decimal
    membership_public: bool
    pool: str
    table: TableExamination
    cells: tuple[CellExamination, ...]
    advice: Advice[int]
    leaks: tuple[Leak, ...]
    checklist: tuple[CheckItem, ...]

    def to_dict(self) -> dict[str, object]:
        """Plain values; nothing in it may be published."""
        table = self.table
        return {
            "custodian_only": True,
            "statistic": self.statistic,
            "step": self.step,
            "epsilon": text(self.epsilon),
            "membership_public": self.membership_public,
            "neighbours_from": self.pool or "observed data",
            "table": {
                "sensitivity_printed": table.printed,
                "sensitivity": table.corrected,
                "sensitivity_public": table.public,
                "gain": table.gain,
                "gamma": text(table.gamma),
                "error_bound": table.error_bound,
                "gamma_accuracy": table.gamma_accuracy,
            },
            "cells": [self._cell(cell) for cell in self.cells],
            "recommended": str(self.advice.method),
            "helps": self.advice.helps,
            "leave_out": [self._keys(self.cells[index]) for index in self.advice.leave_out],
            "advice": list(self.advice.table),
            "leaks": [leak.to_dict() for leak in self.leaks],
            "checklist": [item.to_dict() for item in self.checklist],
        }

    def _keys(self, cell: CellExamination) -> dict[str, Shown]:
        return dict(zip(self.names, cell.codes, strict=True))

    def _cell(self, cell: CellExamination) -> dict[str, object]:
        return {
            "keys": self._keys(cell),
            "rows": cell.summary.n,
            "total": cell.summary.total,
            "spread": cell.summary.spread,
            "reach": cell.summary.reach,
            "sensitivity_printed": cell.printed,
            "sensitivity": cell.corrected,
            "gain": cell.gain,
            "scales_printed": {str(method): scale for method, scale in cell.printed_scales.items()},
            "scales": {str(method): scale for method, scale in cell.scales.items()},
            "advice": cell.advice,
        }


def examine(
    formed: Formed,
    engine: Engine,
    ledger: Ledger,
    *,
    epsilon: ExactLike = 1,
    gamma: ExactLike = "0.05",
    membership_public: bool = False,
    pool: Pool | None = None,
    who: str,
) -> Examination:
    """Examine a table of the data, or of the data within a larger pool; the view is recorded first."""
    table = outline(formed)
    spent = exact(epsilon, parameter="epsilon")
    chance = exact(gamma, parameter="gamma", below=1)
    dataset = formed.dataset
    ledger.record_view(f"bootstrap examination of {dataset.name} version {dataset.version}", who=who)
    observed = observe(table.plan, engine)
    if pool is not None:
        observed = observed.joined(pool.observed)
    cells = dict(enumerate(observed.cells))
    codes = _codes(formed)
    public = membership_public or table.membership_public

    def name(index: int) -> str:
        return ", ".join(
            heading.label(code, language()) for heading, code in zip(formed.headings, codes[index], strict=True)
        )

    outside = observed.outside
    advice = recommend(
        cells,
        statistic=table.statistic,
        public=table.bounds,
        name=name,
        outside=outside,
        membership_public=public,
    )
    step = formed.statement.measures[0].step
    whole = _whole(cells, table, epsilon=spent, gamma=chance, outside=outside)
    leaks = find_leaks(cells, statistic=table.statistic, outside=outside, name=name)
    outlook = ExaminedOutlook(table.statistic, table.bounds, whole.gain, spent, chance, whole.error_bound)
    return Examination(
        names=tuple(heading.name for heading in formed.headings),
        statistic=formed.statistic.text(language()),
        step=text(Decimal(step.numerator) / Decimal(step.denominator)),
        epsilon=spent,
        membership_public=public,
        pool="" if pool is None else str(pool.kind),
        table=whole,
        cells=_each(cells, table, codes, advice, outside=outside),
        advice=advice,
        leaks=tuple(leaks),
        checklist=check_table(cells, outlook, leaks),
    )


def _codes(formed: Formed) -> list[tuple[Shown, ...]]:
    shown = [
        [heading.code(cell) for cell in key.cells or ()]
        for heading, key in zip(formed.headings, formed.plan.keys, strict=True)
    ]
    return list(product(*shown))


def _whole(
    cells: dict[int, CellSummary], table: Outline, *, epsilon: Decimal, gamma: Decimal, outside: bool
) -> TableExamination:
    corrected = table_sensitivity(cells, outside=outside)
    public = table.bounds.table(len(cells))
    scales = released_scales(
        cells, method=ScaleMethod.MAXIMUM, statistic=table.statistic, public=table.bounds, outside=outside
    )
    noise = max(scales.values())
    return TableExamination(
        printed=printed_table_sensitivity(cells, statistic=table.statistic),
        corrected=corrected,
        public=public,
        gain=_ratio(public, corrected),
        gamma=gamma,
        error_bound=math.ceil(error_bound(sensitivity=noise, epsilon=epsilon, values=len(cells), gamma=gamma)),
        gamma_accuracy=gamma_accuracy(sensitivity=noise, epsilon=epsilon, values=len(cells), gamma=gamma),
    )


def _each(
    cells: dict[int, CellSummary],
    table: Outline,
    codes: list[tuple[Shown, ...]],
    advice: Advice[int],
    *,
    outside: bool,
) -> tuple[CellExamination, ...]:
    printed = printed_cell_sensitivities(cells, statistic=table.statistic, outside=outside)
    corrected = cell_sensitivities(cells, outside=outside)
    by_printed = {
        method: noise_scales(cells, method=method, statistic=table.statistic, printed=True, outside=outside)
        for method in _PRINTED
    }
    by_method = {
        method: noise_scales(cells, method=method, statistic=table.statistic, outside=outside) for method in ScaleMethod
    }
    return tuple(
        CellExamination(
            codes=codes[index],
            summary=summary,
            printed=printed[index],
            corrected=corrected[index],
            gain=_ratio(table.bounds.cell, corrected[index]),
            printed_scales={method: scales[index] for method, scales in by_printed.items()},
            scales={method: scales[index] for method, scales in by_method.items()},
            advice=advice.cells[index],
        )
        for index, summary in cells.items()
    )


def _ratio(public: int, bootstrap: int) -> float | None:
    gain = gain_ratio(public=public, bootstrap=bootstrap)
    return None if gain is None else float(gain)
