"""A table asked for from beginning to end: formed, designed, checked, charged and read; or compared by its custodian.

Everything that can be refused is refused before the charge: columns, bounds, sizes, files, public totals.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from discreet.data.publictables import read_public_table
from discreet.data.workspace import Workspace
from discreet.engines.base import Engine, Histogram, Measured
from discreet.engines.cells import take_margin
from discreet.errors import DatasetSuspended, ParameterInvalid, QueryRefused, Refused
from discreet.guarantees.numbers import ExactLike, exact
from discreet.guarantees.types import Unproven
from discreet.ledger import Ledger
from discreet.plan.algebra import Plan, Quantile, Total
from discreet.release.answers import interval_level
from discreet.release.asking import Question, ask, check_terms
from discreet.release.noising import draw
from discreet.tables.calibration import Target, read_totals
from discreet.tables.explaining import TableExplanation, explain_table
from discreet.tables.figures import Estimated
from discreet.tables.forming import Formed, form_table, may_be_negative
from discreet.tables.measuring import NOISES, Design, NoiseChoice, design_table
from discreet.tables.releasing import read_table
from discreet.tables.request import TableRequest
from discreet.tables.table import Table

if TYPE_CHECKING:
    from discreet.tables.today.comparison import Comparison

__all__ = ["AskedTable", "ask_table", "compare_table", "explain_asked_table", "read_asked_table"]

OpenEngine = Callable[[Formed], Engine]


@dataclass(frozen=True)
class AskedTable:
    """A table with everything that decides its price and how it is shown."""

    design: Design
    targets: tuple[Target, ...]
    analyst: str
    level: Decimal
    suppress_above: Decimal | None

    @property
    def formed(self) -> Formed:
        return self.design.formed


def read_asked_table(
    request: TableRequest,
    workspace: Workspace,
    ledger: Ledger,
    *,
    analyst: str,
    epsilon: ExactLike,
    level: ExactLike = "0.95",
    noise: str = "auto",
    suppress_above: ExactLike | None = None,
    calibrate: Sequence[str] = (),
) -> AskedTable:
    """The request read against the card, the public tables and the terms of the budget. Nothing is charged."""
    spent = exact(epsilon, parameter="epsilon")
    formed = form_table(request, workspace)
    budget = ledger.terms(formed.card.population).budget
    return AskedTable(
        design=design_table(formed, epsilon=spent, budget=budget, noise=_noise(noise)),
        targets=tuple(_target(name, formed, workspace) for name in calibrate),
        analyst=analyst,
        level=interval_level(level),
        suppress_above=None if suppress_above is None else exact(suppress_above, parameter="suppress above"),
    )


def _noise(given: str) -> NoiseChoice:
    for one in NOISES:
        if given == one:
            return one
    raise ParameterInvalid(parameter="noise", rule=f"must be one of {', '.join(NOISES)}", came=f"'{given[:20]}'")


def _target(name: str, formed: Formed, workspace: Workspace) -> Target:
    """`TABLE.COLUMN`: a stored public table whose key is one of the table's keys, and its column of totals."""
    table, dot, column = name.partition(".")
    if not dot or not table or not column:
        raise ParameterInvalid(
            parameter="calibrate", rule="must read TABLE.COLUMN, a stored public table and its totals", came=f"'{name}'"
        )
    if formed.step is None or may_be_negative(formed):
        raise QueryRefused(
            "only counts, and totals of a value that cannot be negative, are calibrated to public totals.",
            part="calibrate",
        )
    found = read_public_table(workspace, table)
    if found.key not in formed.request.by:
        raise ParameterInvalid(
            parameter="calibrate",
            rule="needs a public table whose key is a column of the table",
            came=f"'{table}', whose key is '{found.key}'",
        )
    place = formed.request.by.index(found.key)
    totals = read_totals(found, column, formed.headings[place], formed.plan.keys[place].cells or ())
    return Target((place,), totals, name)


def explain_asked_table(asked: AskedTable, ledger: Ledger) -> TableExplanation:
    """What asking would do; refused where asking would be, but for a budget that is too small."""
    check_terms(list(asked.formed.cards.values()), ledger)
    ledger.require_analyst(asked.analyst)
    for name in asked.formed.datasets:
        if ledger.suspended(name):
            raise DatasetSuspended(dataset=name)
    standing = ledger.standing(asked.formed.card.population)
    return explain_table(asked.design, level=asked.level, standing=standing, analyst=asked.analyst)


def ask_table(
    asked: AskedTable,
    ledger: Ledger,
    *,
    open_engine: OpenEngine,
    request_id: str,
    fresh: bool = False,
    confirm: Callable[[TableExplanation], bool] | None = None,
) -> Table:
    """Charge, draw and read the table; or read it again from a stored answer. `confirm` may still say no."""
    design, formed = asked.design, asked.formed
    question = Question(
        statement=design.statement,
        datasets=formed.datasets,
        open_engine=lambda: open_engine(formed),
        analyst=asked.analyst,
        request_id=request_id,
        epsilon=design.epsilon,
        level=asked.level,
        fresh=fresh,
        shares=design.shares,
        rho=design.rho,
    )
    if confirm is not None and not confirm(explain_asked_table(asked, ledger)):
        raise Refused("Not asked. Nothing was released or charged.")
    answer = ask(question, ledger)
    return read_table(design, answer, level=asked.level, suppress_above=asked.suppress_above, targets=asked.targets)


# --- beside what agencies do today ----------------------------------------------------------------------------------

_MOST_COMPARED = 20_000
_REASON = "the exact table was compared with suppression, rounding, set-size restriction and swapping"


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
) -> Comparison:
    """Today's methods and differential privacy on one exact table. For the custodian: it leaves a view and a marker."""
    from discreet.tables.today.comparison import compare

    formed = form_table(request, workspace)
    if len(formed.plan.measures) != 1:
        raise QueryRefused("tables of counts and of totals are compared; a mean is two of them.", part="compare")
    if formed.plan.cell_count > _MOST_COMPARED:
        raise QueryRefused(
            f"the table has {formed.plan.cell_count:,} cells; at most {_MOST_COMPARED:,} are compared. Cut keys.",
            part="compare",
        )
    check_terms(list(formed.cards.values()), ledger)
    ledger.require_analyst(analyst)
    budget = ledger.terms(formed.card.population).budget
    spent = [exact(epsilon, parameter="epsilon") for epsilon in epsilons]
    designs = {one: design_table(formed, epsilon=one, budget=budget, noise="laplace") for one in spent}
    engine = open_engine(formed)
    dataset = formed.dataset
    ledger.record_view(f"comparison of methods on {dataset.name} version {dataset.version}", who=analyst)
    ledger.mark(
        formed.card.population,
        guarantee=Unproven(_REASON),
        analyst=analyst,
        plan_hash=formed.plan.hash,
        dataset=dataset.name,
        version=dataset.version,
    )
    return compare(
        _holdings(formed, engine),
        epsilons=spent,
        publish_dp=lambda cells, epsilon: _published(designs[epsilon], cells),
        trials=trials,
        neighbours=formed.card.neighbours,
        progress=progress,
    )


def _holdings(formed: Formed, engine: Engine) -> Any:
    """The exact table; for totals also what each row adds."""
    from discreet.tables.today.holdings import Holdings

    measure, margins = formed.plan.measures[0], formed.request.kept()
    if not isinstance(measure, Total):
        counts = np.array(engine.measure(formed.plan).columns[0], dtype=np.int64)
        return Holdings.of_counts(counts.reshape(formed.sizes), margins=margins)
    spread = Plan(formed.plan.source, formed.plan.keys, (Quantile(measure.value, Fraction(1, 2)),))
    histograms = cast("Sequence[Histogram]", engine.measure(spread).columns[0])
    rows = [(cell, value, people) for cell, held in enumerate(histograms) for value, people in held]
    return Holdings.of_contributions(formed.sizes, np.array(rows, dtype=np.int64).reshape(-1, 3), margins=margins)


def _published(design: Design, cells: Any) -> Any:
    """One more draw of the same table, published as a release would be. Never leaves the custodian's view."""
    plan, component = design.statement.plan, design.components[0]
    column = [int(value) for value in np.ravel(cells)]
    measured = Measured(tuple(take_margin(plan, measure, column) for measure in plan.measures))
    noisy = draw(plan, design.price(), measured)
    estimated = Estimated(component.layout, component.chosen.measured, noisy.in_order_of(plan))
    return estimated.published(nonnegative=not may_be_negative(design.formed))
