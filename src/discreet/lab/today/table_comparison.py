"""A table of the workspace beside what agencies do today, for its custodian: logged, marked, never a release.

Everything that can be refused is refused before the view and the marker are written, and both before a row is read.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import cast

import numpy as np

from discreet.catalogue import Phrase, language, say
from discreet.engines import Engine, Histogram, Measured, take_margin
from discreet.errors import ParameterInvalid, QueryRefused
from discreet.guarantees import ExactLike, Guarantee, Neighbours, PureDP, Unproven, exact
from discreet.lab.today.controlled_rounding import require_scipy
from discreet.lab.today.holdings import Figures, Holdings, require_whole
from discreet.lab.today.methods_comparison import MOST_RELEASES, MOST_TRIALS, MethodsComparison, compare
from discreet.lab.today.private_release import Draw, PrivateRelease, Seen
from discreet.ledger import Ledger
from discreet.mechanisms import DiscreteLaplace
from discreet.release import NoisyMeasure, OpenEngine, check_terms, draw, unproven_reason
from discreet.sql import Plan, Quantile, Total, plan_hash
from discreet.tables import (
    Design,
    EstimatedMeasure,
    Formed,
    Layout,
    TableRequest,
    design_table,
    form_table,
    may_be_negative,
)
from discreet.workspace import Workspace

__all__ = ["TableRelease", "compare_table"]

_MOST_CELLS = 20_000
_REASON = Phrase(
    "the exact table was compared with suppression, rounding, restricted queries, swapping and perturbation"
).en  # as the ledger keeps it


def compare_table(
    request: TableRequest,
    workspace: Workspace,
    ledger: Ledger,
    *,
    epsilons: Sequence[ExactLike],
    open_engine: OpenEngine,
    analyst: str,
    trials: int = 200,
    progress: Callable[[str, int, int], None] | None = None,
) -> MethodsComparison:
    """Today's methods and differential privacy on one exact table. For the custodian: it leaves a view and a marker."""
    formed = form_table(request, workspace)
    _require_comparable(formed)
    require_whole(trials, parameter="trials", least=1, most=MOST_TRIALS)
    if not 1 <= len(epsilons) <= MOST_RELEASES:
        raise ParameterInvalid(
            parameter="epsilons",
            rule=say("must be 1 to {most_releases}", most_releases=MOST_RELEASES),
            given=str(len(epsilons)),
        )
    require_scipy()
    check_terms(list(formed.cards.values()), ledger)
    ledger.require_analyst(analyst)
    budget = ledger.terms(formed.card.population).budget
    spent = [exact(epsilon, parameter="epsilon") for epsilon in epsilons]
    releases = [TableRelease(design_table(formed, epsilon=item, budget=budget, noise="laplace")) for item in spent]
    engine = open_engine(formed.datasets)
    dataset = formed.dataset
    ledger.record_view(f"comparison of methods on {dataset.name} version {dataset.version}", who=analyst)
    ledger.mark(
        formed.card.population,
        guarantee=Unproven(_REASON),
        analyst=analyst,
        plan_hash=plan_hash(formed.plan),
        dataset=dataset.name,
        version=dataset.version,
    )
    target, public = _find_target(formed)
    return compare(
        _hold(formed, engine),
        private=releases,
        trials=trials,
        target=target,
        neighbours=formed.card.neighbours,
        bounded=not public or formed.card.neighbours is Neighbours.ADD_REMOVE,
        title=formed.title.text(language()),
        notes=_notes(formed),
        progress=progress,
    )


def _require_comparable(formed: Formed) -> None:
    if len(formed.plan.measures) != 1:
        raise QueryRefused(
            say("tables of one count or total are compared. Ask without a mean and without --sampling."), part="compare"
        )
    if formed.plan.cell_count > _MOST_CELLS:
        raise QueryRefused(
            say(
                "the table has {cell_count:,} cells; at most {most_cells:,} are compared. Cut keys.",
                cell_count=formed.plan.cell_count,
                most_cells=_MOST_CELLS,
            ),
            part="compare",
        )


def _find_target(formed: Formed) -> tuple[int, bool]:
    """The last key that is not public, else the last; and whether it is public."""
    public = [formed.card.column(name).public for name in formed.request.by]
    hidden = [index for index, known in enumerate(public) if not known]
    return (hidden[-1], False) if hidden else (len(public) - 1, True)


def _notes(formed: Formed) -> tuple[str, ...]:
    rows = formed.card.unit.rows
    if rows == 1:
        return ()
    return (
        say(
            "Today's methods and the attack take each row for a person; here one may have up to {rows}, which "
            "differential privacy hides together.",
            rows=rows,
        ),
    )


def _hold(formed: Formed, engine: Engine) -> Holdings:
    """The exact table; for totals also what each row adds."""
    measure, margins = formed.plan.measures[0], formed.request.kept()
    if not isinstance(measure, Total):
        counts = np.array(engine.measure(formed.plan).columns[0], dtype=np.int64)
        held = Holdings.of_counts(counts.reshape(formed.sizes), margins=margins)
    else:
        spread = Plan(formed.plan.source, formed.plan.keys, (Quantile(measure.value, Fraction(1, 2)),))
        histograms = cast("Sequence[Histogram]", engine.measure(spread).columns[0])
        rows = [(cell, value, people) for cell, values in enumerate(histograms) for value, people in values]
        held = Holdings.of_contributions(formed.sizes, np.array(rows, dtype=np.int64).reshape(-1, 3), margins=margins)
    return held.called(formed.request.by, step=formed.statement.measures[0].step)


class TableRelease(PrivateRelease):
    """The table as it would be released at one epsilon, drawn from given cells. Never leaves the custodian's view."""

    def __init__(self, design: Design) -> None:
        reason = unproven_reason(design.statement, design.formed.cards)
        self.epsilon: Decimal = design.epsilon
        self.guarantee: Guarantee = PureDP(epsilon=design.epsilon) if reason is None else Unproven(reason)
        self._design = design
        self._price = design.price()

    def draw(self, figures: Figures) -> Draw:
        """Every margin that the design measures, with fresh noise."""
        plan, component = self._design.statement.plan, self._design.components[0]
        column = [int(value) for value in np.ravel(figures)]
        measured = Measured(tuple(take_margin(plan, measure, column) for measure in plan.measures))
        noisy = draw(plan, self._price, measured).in_order_of(self._design.statement)
        estimated = EstimatedMeasure(component.layout, component.chosen.measured, noisy)
        seen = (_see(component.layout, item.kept, drawn) for item, drawn in zip(estimated.measured, noisy, strict=True))
        return Draw(tuple(seen), lambda: self._publish(estimated))

    def _publish(self, estimated: EstimatedMeasure) -> Figures:
        formed = self._design.formed
        return estimated.published(nonnegative=not may_be_negative(formed), fold=formed.fold) * formed.fold


def _see(layout: Layout, kept: tuple[int, ...], noisy: NoisyMeasure) -> Seen:
    """The noisy figures in the shape of their margin, each with the scale of its noise."""
    scales = []
    for mechanism in noisy.mechanisms:
        assert isinstance(mechanism, DiscreteLaplace), "comparisons are made with Laplace noise"
        scales.append(float(mechanism.scale))
    shape = [1] * len(kept)
    if len(scales) > 1:
        assert layout.slicing is not None
        shape[kept.index(layout.slicing)] = len(scales)
    return Seen(kept, np.array(noisy.values).reshape(layout.shape(kept)), np.array(scales).reshape(shape))
