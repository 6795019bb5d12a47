"""From words to a question: a statement read against one version of each dataset, its parameters checked.

Explanations and plans of workloads say no where the question itself would: unknown analysts, changed terms, suspended
datasets. That a budget is too small is theirs to tell, not to refuse.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import TYPE_CHECKING, Final

from discreet.catalogue import say
from discreet.errors import BudgetExceeded, DiscreetError, UsageError
from discreet.guarantees import LARGEST, CentralGuarantee, ExactLike, exact, text
from discreet.ledger import Ledger, StoredAnswer, name_request
from discreet.release.ask import Ask
from discreet.release.forecast.accuracy import read_amounts
from discreet.release.measurement.pricing import require_bounds
from discreet.release.pipeline import OpenEngine, check_terms, require_active
from discreet.release.question import answer, find_stored
from discreet.release.stored_answer import interval_level
from discreet.results import Release
from discreet.sql import Statement, read_statement
from discreet.workspace import Dataset, PublicTable, Workspace, read_public_table

if TYPE_CHECKING:
    from discreet.release.forecast.apportionment import Apportionment
    from discreet.release.forecast.explanation import Explanation
    from discreet.release.workloads.workload import Workload

__all__ = ["Shelf", "answer_ask", "explain_ask", "plan_workload", "read_ask"]


class Shelf:
    """Names of a statement, each read once: a version added meanwhile must not lend its rows to a plan made from the
    card before it."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self.datasets: dict[str, Dataset] = {}
        self._public: dict[str, PublicTable] = {}

    def find(self, name: str) -> Dataset | PublicTable:
        if name in self._public:
            return self._public[name]
        if name not in self.datasets and name in self._workspace.public_names():
            return self._public.setdefault(name, read_public_table(self._workspace, name))
        if name not in self.datasets:
            self.datasets[name] = self._workspace.dataset(name)
        return self.datasets[name]

    def read(self, sql: str, *, admit: frozenset[str] = frozenset()) -> tuple[Statement, dict[str, Dataset]]:
        """A statement and its datasets; one that was read before is planned anew where a name stands for another."""
        reading = _READINGS.get((sql, admit))
        if reading is None or not reading.agrees(self):
            names = _Names(self)
            statement, cards = read_statement(sql, names, admit=admit)
            reading = _Reading(statement, tuple(cards), names.found)
            if len(_READINGS) >= _MOST_READINGS:
                _READINGS.pop(next(iter(_READINGS)), None)
            _READINGS[sql, admit] = reading
        return reading.statement, {name: self.datasets[name] for name in reading.datasets}


class _Names:
    """What the names of one statement stand for, noted as they are looked up."""

    def __init__(self, shelf: Shelf) -> None:
        self._shelf = shelf
        self.found: dict[str, Dataset | PublicTable] = {}

    def find(self, name: str) -> Dataset | PublicTable:
        self.found[name] = self._shelf.find(name)
        return self.found[name]


@dataclass(frozen=True, slots=True)
class _Reading:
    """A statement as planned. It follows from its text and from what its names stood for, and from nothing else."""

    statement: Statement
    datasets: tuple[str, ...]
    found: Mapping[str, Dataset | PublicTable]

    def agrees(self, shelf: Shelf) -> bool:
        try:
            return all(shelf.find(name) == found for name, found in self.found.items())
        except DiscreetError:
            return False  # reading the text says what is wrong


_READINGS: Final[dict[tuple[str, frozenset[str]], _Reading]] = {}
_MOST_READINGS: Final = 32


def read_ask(
    sql: str,
    workspace: Workspace,
    ledger: Ledger,
    *,
    analyst: str,
    epsilon: ExactLike | None,
    delta: ExactLike = 0,
    within: Mapping[str, ExactLike] | str | None = None,
    assume: Mapping[str, ExactLike] | str | int | None = None,
    level: ExactLike = "0.95",
    request_id: str | None = None,
    fresh: bool = False,
    who: str | None = None,
) -> Ask:
    """A statement with its parameters; with `within` instead of epsilon, the least that reaches these half-widths."""
    if (epsilon is None) == (within is None):
        raise UsageError(
            say("say what the statement may cost with --epsilon E, or how close it must be with --within.")
        )
    statement, datasets = Shelf(workspace).read(sql)
    asked = Ask(
        statement=statement,
        datasets=datasets,
        analyst=analyst,
        request_id=name_request(request_id),
        fresh=fresh,
        who=who,
        epsilon=exact(epsilon, parameter="epsilon") if epsilon is not None else Decimal(0),
        delta=exact(delta, parameter="delta", zero=True, below=1),
        level=interval_level(level),
        assumed=read_amounts(assume, option="assume"),
        widths=None if within is None else read_amounts(within, option="within"),
    )
    if asked.widths is None:
        return _worded(asked, sql)
    require_bounds(statement)
    solved = replace(asked, epsilon=_solved(asked, most=Decimal(LARGEST)))
    # Held against the caps, not against what remains: a stored answer may meet the widths and cost nothing.
    budget = ledger.terms(asked.population).budget
    if solved.epsilon > min(budget.epsilon, budget.per_analyst):
        _refuse_widths(solved, ledger)
    return _worded(solved, sql)


def _worded(asked: Ask, sql: str) -> Ask:
    """With the words by which the same can be asked again."""
    exactly = {"epsilon": text(asked.epsilon), "delta": text(asked.delta), "level": text(asked.level)}
    return replace(asked, words={"kind": "query", "sql": sql, **exactly})


def answer_ask(asked: Ask, ledger: Ledger, open_engine: OpenEngine) -> Release:
    """Answer what was read within the budget, or raise; what is left is told in the terms in which it was asked."""
    try:
        return answer(asked, ledger, open_engine).release
    except BudgetExceeded:
        _refuse_widths(asked, ledger)
        raise


def _refuse_widths(asked: Ask, ledger: Ledger) -> None:
    """Where the budget does not suffice for the widths asked, say what all that remains of it would reach."""
    standing = ledger.standing(asked.population)
    left = [standing.balance(), standing.analyst_balance(asked.analyst)]
    if asked.widths is not None:
        _solved(asked, most=min(holder.epsilon_remaining for holder in left))


def _solved(asked: Ask, *, most: Decimal) -> Decimal:
    from discreet.release.forecast.accuracy_targets import epsilon_within

    assert asked.widths is not None, "only widths are solved for"
    return epsilon_within(
        asked.statement,
        asked.cards,
        asked.widths,
        delta=asked.delta,
        level=asked.level,
        assumed=asked.assumed,
        most=most,
    )


def explain_ask(asked: Ask, ledger: Ledger) -> Explanation:
    """What asking would do; refused where asking would be, but for a budget that is too small."""
    from discreet.release.forecast.explainer import explain

    def stored(charged: CentralGuarantee) -> StoredAnswer | None:
        result = None if asked.fresh else find_stored(asked, ledger, charged=charged)
        if result is None:
            require_active(asked.datasets, ledger)
        return result

    _check(asked.datasets, asked.analyst, ledger)
    return explain(
        asked.statement,
        asked.cards,
        epsilon=asked.epsilon,
        delta=asked.delta,
        level=asked.level,
        standing=ledger.standing(asked.population),
        analyst=asked.analyst,
        assumed=asked.assumed,
        stored=stored,
    )


def plan_workload(workload: Workload, workspace: Workspace, ledger: Ledger, *, analyst: str) -> Apportionment:
    """The split of a workload over the datasets as they are now; nothing is charged and no row is looked at."""
    from discreet.release.forecast.apportionment import Reading, apportion

    interval_level(workload.level)
    shelf = Shelf(workspace)
    readings = [Reading(task, *shelf.read(task.sql)) for task in workload.tasks]
    for reading in readings:
        _check(reading.datasets, analyst, ledger)
        require_active(reading.datasets, ledger)
    standing = ledger.standing(readings[0].dataset.card.population)
    planned = apportion(workload, readings, standing=standing, analyst=analyst)
    return replace(planned, words=workload.words)


def _check(datasets: Mapping[str, Dataset], analyst: str, ledger: Ledger) -> None:
    check_terms([dataset.card for dataset in datasets.values()], ledger)
    ledger.require_analyst(analyst)
