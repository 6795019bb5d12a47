"""A logged bootstrap release as the table that is published: figures without intervals, and notes that say what it is.

Margins are sums of the published cells. Figures are the noisy values as drawn: to move negative ones to 0 would make
every margin too large.
"""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from discreet.guarantees import BootstrapDP, Neighbours, text
from discreet.lab.bootstrap.leaks import require_silent
from discreet.ledger import Ledger
from discreet.present import facts
from discreet.release import BootstrapEntry, left_for_analyst, warn_of
from discreet.results import (
    Basis,
    BootstrapCaution,
    BootstrapGuarantee,
    BootstrapMethod,
    BootstrapNeighbours,
    Claim,
    Coverage,
    Figures,
    Later,
    MarginsAreSums,
    Marked,
    MeasureNoise,
    Note,
    NotGraded,
    Number,
    Release,
    ReleaseKind,
    Shown,
    Source,
    Statistic,
)
from discreet.results import Margin as Columns
from discreet.tables import Formed, Layout, Margin

__all__ = ["dress"]

Steps = npt.NDArray[np.object_]
"""Noisy cells in whole steps, as integers of any size."""


def dress(
    formed: Formed, entry: BootstrapEntry, ledger: Ledger, *, analyst: str, request_id: str, replayed: bool
) -> Release:
    """The table of a log entry, as this analyst gets it now."""
    if len(entry.values) != formed.plan.cell_count:  # drawn before conditions took cells away
        formed = formed.widened
    layout, card, step = formed.layout(), formed.card, formed.statement.measures[0].step
    cells: Steps = np.array(entry.values, dtype=object).reshape(layout.sizes)
    margins = [layout.cells, *(margin for margin in layout.margins if margin != layout.cells)]
    shown = text(Decimal(step.numerator) / Decimal(step.denominator))
    statistic = Statistic(
        name="value",
        title=formed.statistic,
        figures=Figures(
            sum(layout.count(margin) for margin in margins),
            lambda: [_columns(formed, layout, margin, cells, step) for margin in margins],
        ),
        step=shown,
        whole="." not in shown,
    )
    pool = entry.pool.split(" ")[0]
    made = Release(
        kind=ReleaseKind.BOOTSTRAP,
        title=formed.title,
        claim=Claim(
            BootstrapDP(epsilon=entry.epsilon), card.population, card.unit, Neighbours.REPLACE_ONE, neighbours_from=pool
        ),
        settlement=Marked(
            marker=entry.marker,
            left=left_for_analyst(ledger, population=card.population, analyst=analyst),
            replayed=replayed,
            nominal_epsilon=Decimal(entry.epsilon),
        ),
        source=Source(
            dataset=formed.dataset.name,
            version=formed.dataset.version,
            datasets={formed.dataset.name: formed.dataset.version},
            plan_hash=entry.plan_hash,
            request_id=request_id,
            created=entry.when,
        ),
        headings=formed.headings,
        statistics=(statistic,),
        notes=(*_notes(entry, pool), *warn_of(card.population, ledger)),
        # Neither a scale nor a sensitivity leaves: each would tell about single rows.
        mechanisms=Later(lambda: [MeasureNoise("", (), name="discrete-laplace", shown=False)]),
        basis=Basis.NOTHING,
        asked={
            "value": formed.request.value,
            "bootstrap_method": entry.method,
            "membership": entry.membership or None,
        },
    )
    require_silent(facts(made, "en"))
    return made


# --- figures --------------------------------------------------------------------------------------------------------


def _columns(formed: Formed, layout: Layout, margin: Margin, cells: Steps, step: Fraction) -> Columns:
    over = tuple(index for index in layout.cells if index not in margin)
    summed = np.atleast_1d(cells.sum(axis=over)) if over else cells
    values: list[Number | None] = [_value(int(steps), step) for steps in summed.reshape(-1)]
    return Columns(over, _codes(formed, margin), values)


def _codes(formed: Formed, margin: Margin) -> tuple[list[Shown], ...]:
    found: list[tuple[Shown, ...]] = [()]
    for index, (heading, key) in enumerate(zip(formed.headings, formed.plan.keys, strict=True)):
        shown = [heading.code(cell) for cell in key.cells or ()] if index in margin else [None]
        found = [(*before, code) for before in found for code in shown]
    return tuple(map(list, zip(*found, strict=True)))


def _value(steps: int, step: Fraction) -> Number:
    exact = steps * step
    return int(exact) if step.denominator == 1 else float(exact)


def _notes(entry: BootstrapEntry, pool: str) -> tuple[Note, ...]:
    return (
        BootstrapGuarantee(Decimal(entry.epsilon)),
        BootstrapNeighbours(pool),
        BootstrapMethod(entry.method),
        MarginsAreSums(),
        Coverage("nothing"),
        NotGraded(),
        BootstrapCaution("outsiders"),
        BootstrapCaution("noise"),
        BootstrapCaution("budget"),
    )
