"""A logged bootstrap release as the table that is published: figures without intervals, and words that say what it is.

Margins are sums of the published cells. Figures are the noisy values as drawn: to move negative ones to 0 would make
every margin too large.
"""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Final

import numpy as np
import numpy.typing as npt

from discreet.data.columns import Labels
from discreet.guarantees.numbers import text
from discreet.guarantees.types import BootstrapDP
from discreet.ledger import Ledger
from discreet.plan.algebra import Plan
from discreet.release.marking import remaining_for
from discreet.tables.bootstrap.leaks import CAUTIONS, require_silent
from discreet.tables.bootstrap.log import LogEntry
from discreet.tables.forming import Formed
from discreet.tables.layout import Layout, Margin
from discreet.tables.table import Entry, Number, Quality, Shown, Table

__all__ = ["dress"]

_QUALITY_BASIS: Final = "nothing: a bootstrap release does not show its noise"
_NO_INTERVAL: Final = "none: an interval would tell the noise, and the noise tells single rows"
_METHODS: Final = {
    "i": Labels("one noise for the whole table", "un seul bruit pour tout le tableau"),
    "ii": Labels("epsilon split over the cells", "epsilon réparti entre les cellules"),
    "iii": Labels("cell by cell, cell membership being public", "cellule par cellule, l'appartenance étant publique"),
    "pair": Labels("half of epsilon for each cell", "la moitié d'epsilon pour chaque cellule"),
}
_POOLS: Final = {
    "": Labels("rows of the observed data", "lignes des données observées"),
    "sub-population": Labels(
        "rows of the observed data and of a declared sub-population",
        "lignes des données observées et d'une sous-population déclarée",
    ),
    "synthetic": Labels(
        "rows of the observed data and of synthetic individuals",
        "lignes des données observées et d'individus synthétiques",
    ),
}

Steps = npt.NDArray[np.object_]
"""Noisy cells in whole steps, as integers of any size."""


def dress(formed: Formed, entry: LogEntry, ledger: Ledger, *, analyst: str, request_id: str, replayed: bool) -> Table:
    """The table of a log entry, as this analyst gets it now."""
    if len(entry.values) != formed.plan.cell_count:  # drawn before conditions took cells away
        formed = formed.widened
    layout = formed.layout()
    step = formed.statement.measures[0].step
    cells: Steps = np.array(entry.values, dtype=object).reshape(layout.sizes)
    release = _release(formed, entry, ledger, analyst=analyst, request_id=request_id, replayed=replayed)
    require_silent(release)
    return Table(
        dataset=formed.dataset.name,
        title=formed.title,
        statistic=formed.statistic,
        headings=formed.headings,
        cells=_entries(formed, layout, layout.cells, cells, step),
        margins=[
            figure
            for margin in layout.margins
            if margin != layout.cells
            for figure in _entries(formed, layout, margin, cells, step)
        ],
        step=text(Decimal(step.numerator) / Decimal(step.denominator)),
        level="",
        guarantee=BootstrapDP(epsilon=entry.epsilon),
        quality_basis=_QUALITY_BASIS,
        release=release,
        notes=_notes(entry),
        created=entry.when,
        description={"method": f"bootstrap ({entry.method})"},
    )


# --- figures --------------------------------------------------------------------------------------------------------


def _entries(formed: Formed, layout: Layout, margin: Margin, cells: Steps, step: Fraction) -> list[Entry]:
    over = tuple(place for place in layout.cells if place not in margin)
    summed = np.atleast_1d(cells.sum(axis=over)) if over else cells
    codes = _codes(formed, formed.plan, margin)
    return [_entry(code, over, int(value), step) for code, value in zip(codes, summed.reshape(-1), strict=True)]


def _codes(formed: Formed, plan: Plan, margin: Margin) -> list[tuple[Shown, ...]]:
    found: list[tuple[Shown, ...]] = [()]
    for place, (heading, key) in enumerate(zip(formed.headings, plan.keys, strict=True)):
        shown = [heading.code(cell) for cell in key.cells or ()] if place in margin else [None]
        found = [(*before, code) for before in found for code in shown]
    return found


def _entry(codes: tuple[Shown, ...], over: tuple[int, ...], value: int, step: Fraction) -> Entry:
    exact = value * step
    figure: Number = int(exact) if step.denominator == 1 else float(exact)
    return Entry(codes, over, value=figure, raw=figure, low=None, high=None, quality=Quality.NOT_RATED)


# --- words ----------------------------------------------------------------------------------------------------------


def _release(
    formed: Formed, entry: LogEntry, ledger: Ledger, *, analyst: str, request_id: str, replayed: bool
) -> dict[str, object]:
    """The release fields of an answer, with what bootstrap adds to them and without its noise."""
    card = formed.card
    guarantee = BootstrapDP(epsilon=entry.epsilon)
    remaining = remaining_for(ledger, population=card.population, analyst=analyst)
    warnings = [caution.en for caution in CAUTIONS]
    return {
        "level": None,
        "interval_meaning": _NO_INTERVAL,
        "charge": {"epsilon": "0", "delta": "0"},
        "remaining": remaining.to_dict(),
        "guarantee": str(guarantee),
        "differentially_private": guarantee.differentially_private,
        "unit": str(card.unit),
        "neighbours": f"replace-one, by {_pool(entry).en}",
        "population": card.population,
        "mechanisms": [{"name": "discrete-laplace", "noise": "not shown"}],
        "bootstrap": {
            "nominal_epsilon": entry.epsilon,
            "method": entry.method,
            "membership": entry.membership or None,
            "neighbours_from": _pool(entry).en,
            "marker": entry.marker,
        },
        "dataset": formed.dataset.name,
        "version": formed.dataset.version,
        "datasets": {formed.dataset.name: formed.dataset.version},
        "plan_hash": entry.plan_hash,
        "request_id": request_id,
        "replayed": replayed,
        "warnings": [*warnings, *ledger.state(card.population).warnings()],
    }


def _pool(entry: LogEntry) -> Labels:
    return _POOLS[entry.pool.split(" ")[0]]


def _notes(entry: LogEntry) -> tuple[tuple[Labels, Labels], ...]:
    method, pool = _METHODS[entry.method], _pool(entry)
    return (
        (
            Labels("Guarantee", "Garantie"),
            Labels(
                f"Not differentially private. Bootstrap differential privacy, nominal epsilon {entry.epsilon}.",
                "Sans confidentialité différentielle. Confidentialité différentielle « bootstrap », epsilon nominal "
                f"{entry.epsilon}.",
            ),
        ),
        (
            Labels("Neighbours", "Voisins"),
            Labels(f"One row replaced by another of the {pool.en}.", f"Une ligne remplacée par une autre : {pool.fr}."),
        ),
        (
            Labels("Method", "Méthode"),
            Labels(
                f"Discrete Laplace noise, method ({entry.method}): {method.en}.",
                f"Bruit de Laplace discret, méthode ({entry.method}) : {method.fr}.",
            ),
        ),
        (Labels("Margins", "Marges"), Labels("Sums of the published cells.", "Sommes des cellules publiées.")),
        (
            Labels("What an interval covers", "Ce que couvre un intervalle"),
            Labels(_NO_INTERVAL, "aucun : un intervalle dirait le bruit, et le bruit dit des lignes particulières"),
        ),
        (
            Labels("Quality counts", "La qualité tient compte de"),
            Labels(_QUALITY_BASIS, "rien : une diffusion bootstrap ne montre pas son bruit"),
        ),
        *((Labels("Caution", "Mise en garde"), caution) for caution in CAUTIONS),
    )
