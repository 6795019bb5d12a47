"""Strategies compared on one query of a workspace: what anyone may know of each, and what the custodian may see.

What an analyst gets follows from the statement, the card and epsilon alone, and no row is looked at. With the
custodian's leave each strategy is drawn many times against the exact answer. Nothing of that leaves the machine and
nothing is charged; the look is written into the ledger, and strategies without proof leave their marker.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property, partial
from typing import TYPE_CHECKING, Final

from discreet.catalogue import Phrase, say
from discreet.engines import engine_for
from discreet.errors import DatasetSuspended, ParameterInvalid, QueryRefused, Refused
from discreet.guarantees import ApproxDP, ExactLike, Guarantee, PureDP, Unproven, exact, text
from discreet.lab.generator.shelf import DEFAULT_NAME, find_model
from discreet.lab.strategies import generated_strategy as generated
from discreet.lab.strategies import local_strategy as local
from discreet.lab.strategies import replacement
from discreet.lab.strategies.contest import UNPROVEN, Contest, ContestLine, choose_strategies, draw_trials
from discreet.lab.strategies.elastic_strategy import Elastic, JoinSubject, hold_join, join_subject
from discreet.lab.strategies.generated_columns import DEFAULT_SAMPLE, GeneratedColumns, check_sample_size
from discreet.lab.strategies.global_type import WIDTH, GlobalType
from discreet.lab.strategies.released_strategies import (
    PrivateBounds,
    PrivateCatalogue,
    RememberingEngine,
    public_strategy,
)
from discreet.lab.strategies.smooth_strategy import Smooth, require_smooth
from discreet.lab.strategies.subject import AggregateKind, HeldValues, SensitivityStrategy, Subject, hold, subject_of
from discreet.release import (
    Shelf,
    assume,
    check_terms,
    figure_outputs,
    price,
    price_searching,
    read_amounts,
    unproven_reason,
)
from discreet.sql import KeyJoin, Plan, Rows, facts_of, plan_hash, read_statement, scans, span_of

if TYPE_CHECKING:
    from discreet.cards import Card
    from discreet.engines import Engine
    from discreet.lab.generator.shelf import Shelved
    from discreet.ledger import Ledger
    from discreet.sql import Statement
    from discreet.workspace import Dataset, Workspace

__all__ = ["DEFAULT_DELTA", "ComparedQuery", "StrategyBench", "compare_query", "compare_strategies"]

DEFAULT_DELTA: Final = "1e-6"
MOST_RUNS: Final = 100_000

_REASON: Final = Phrase("strategies without proof were compared with the exact answer").en
_SCALED: Final = Phrase("its scale follows the rows: for custodians' comparisons")


@dataclass(frozen=True, slots=True)
class ComparedQuery:
    """One statement on one version of its datasets, at one epsilon, with what decides how strategies answer it."""

    sql: str
    statement: Statement
    datasets: Mapping[str, Dataset]
    subject: Subject | JoinSubject
    shelf: Shelf
    epsilon: Decimal
    delta: Decimal

    @classmethod
    def read(
        cls, sql: str, workspace: Workspace, *, epsilon: ExactLike, delta: ExactLike = DEFAULT_DELTA
    ) -> ComparedQuery:
        """The statement as strategies are compared on it, or QueryRefused."""
        shelf = Shelf(workspace)
        statement, datasets = shelf.read(sql, admit=frozenset({"elastic", "smooth"}))
        cards = {name: dataset.card for name, dataset in datasets.items()}
        joined = isinstance(statement.plan.source, KeyJoin)
        return cls(
            sql,
            statement,
            datasets,
            join_subject(statement, cards) if joined else subject_of(statement, cards),
            shelf,
            exact(epsilon, parameter="epsilon"),
            exact(delta, parameter="delta", below=1),
        )

    @property
    def cards(self) -> dict[str, Card]:
        return {name: dataset.card for name, dataset in self.datasets.items()}

    @property
    def card(self) -> Card:
        return self.cards[self.statement.plan.dataset]

    @property
    def plain(self) -> Subject:
        """The subject where it is one aggregate of one relation, or QueryRefused."""
        if isinstance(self.subject, JoinSubject):
            raise QueryRefused(say("counts over a join on a key are for `elastic` alone."))
        return self.subject

    def private(self) -> PrivateCatalogue:
        """The datasets as they would be if nobody knew the bounds of what is summed or ranked."""
        subject = self.plain
        if subject.value is None or subject.aggregate is AggregateKind.COUNT:
            raise QueryRefused(say("a count has no values whose bounds could be looked for."))
        columns = span_of(subject.value, facts_of(subject.source, self.cards)).lineage
        return PrivateCatalogue(self.shelf, columns)


# --- what anyone may know -------------------------------------------------------------------------------------------


def _foresee(name: str, query: ComparedQuery, assumed: Mapping[str, ExactLike] | str | int | None) -> ContestLine:
    """Guarantee and expected error of a strategy from public facts; where it does not apply, why not."""
    try:
        guarantee = _promise(name, query)
    except (Refused, ParameterInvalid) as refusal:
        _require_own(refusal)
        why = refusal.message.partition(say(", as in"))[0].partition(". ")[0].rstrip(".")
        return ContestLine(name, None, told=why)
    if name == "public":
        return _foresee_public(query, guarantee, assumed)
    if name == "global-type":
        rows = query.plain.unit_rows if query.plain.aggregate in {AggregateKind.COUNT, AggregateKind.SUM} else 1
        return ContestLine(name, guarantee, expected=float(WIDTH * rows / Fraction(query.epsilon)))
    if name == "private-bounds":
        return ContestLine(
            name, guarantee, told=say("its noise follows from the bounds found, which are given with the answer")
        )
    return ContestLine(name, guarantee, told=str(_SCALED) if name in {"smooth", "elastic"} else _opt_in(query))


def _require_own(refusal: Refused | ParameterInvalid) -> None:
    """An epsilon may be too small for the noise of one strategy; other parameters are the caller's to mend."""
    if isinstance(refusal, ParameterInvalid) and refusal.fields["parameter"] not in {"scale", "epsilon"}:
        raise refusal


def _promise(name: str, query: ComparedQuery) -> Guarantee:
    """What answers of a strategy carry, or Refused where it has none for this query."""
    if name == "elastic":
        join_subject(query.statement, query.cards)
        return ApproxDP(epsilon=query.epsilon, delta=query.delta)
    subject = query.plain
    if name == "smooth":
        require_smooth(subject)
        return ApproxDP(epsilon=query.epsilon, delta=query.delta)
    if subject.aggregate is AggregateKind.TRIMMED:
        raise QueryRefused(say("a trimmed mean is for `smooth` alone."))
    match name:
        case "public":
            if query.statement.searched:
                raise QueryRefused(say("the card keeps the bounds private, so that `private-bounds` has to find some."))
            reason = unproven_reason(query.statement, query.cards)
            pricing = price(query.statement, query.cards, epsilon=query.epsilon)
            return pricing.guarantee if reason is None else Unproven(reason)
        case "private-bounds":
            return price_searching(*read_statement(query.sql, query.private()), epsilon=query.epsilon).guarantee
        case "local":
            return Unproven(local.REASON)
        case "generated":
            generated.unfiltered(subject)
            return Unproven(generated.REASON)
        case "replace":
            replacement.columns_read(subject, query.cards)
            return Unproven(replacement.REASON)
    return PureDP(epsilon=query.epsilon)


def _foresee_public(
    query: ComparedQuery, guarantee: Guarantee, assumed: Mapping[str, ExactLike] | str | int | None
) -> ContestLine:
    pricing = price(query.statement, query.cards, epsilon=query.epsilon)
    assumptions = assume(query.statement, read_amounts(assumed, option="assume"))
    [figures] = figure_outputs(query.statement, pricing, level=Decimal("0.95"), assumptions=assumptions)
    if figures.depends is not None:
        return ContestLine("public", guarantee, told=figures.depends)
    if figures.ranked:
        return ContestLine("public", guarantee, told=figures.told(Decimal("0.95")))
    return ContestLine("public", guarantee, expected=max(figures.expected))


def _opt_in(query: ComparedQuery) -> str:
    if "generated" in query.card.allow:
        return say("its noise follows the rows, and reveals something about them")
    return say("not permitted: the card does not say `allow: [generated]`")


# --- what the custodian may see -------------------------------------------------------------------------------------


class StrategyBench:
    """The exact side of a query: its rows read once, every strategy ready to draw."""

    def __init__(
        self, query: ComparedQuery, engine: Engine, *, model: Callable[[], Shelved], sample_size: int = DEFAULT_SAMPLE
    ) -> None:
        self.query = query
        # Several queries may share what an engine remembers, so that each plan is run once for all of them.
        self.engine = engine if isinstance(engine, RememberingEngine) else RememberingEngine(engine)
        self._model = model
        self._sample_size = check_sample_size(sample_size)

    @cached_property
    def _held(self) -> HeldValues:
        """What the rows say. Strategies that look at the rows hold them anew, and it counts as their time."""
        for scan in scans(self.query.plain.source):
            self.engine.measure(Plan(scan, (), (Rows(None),)))  # opened before anything is timed
        return hold(self.query.plain, self.engine)

    def truth(self) -> Fraction | None:
        subject = self.query.subject
        if isinstance(subject, JoinSubject):
            return Fraction(hold_join(subject, self.engine).pairs)
        return self._held.result(subject)

    def ready(self, name: str) -> SensitivityStrategy:
        """A strategy calibrated to the query and, where it looks at them, to the rows."""
        query, engine = self.query, self.engine
        epsilon, delta = query.epsilon, query.delta
        if isinstance(query.subject, JoinSubject):
            held = hold_join(query.subject, engine)
            return Elastic.calibrate(query.subject, held, epsilon=epsilon, delta=delta)
        if name == "public":
            return public_strategy(query.statement, query.cards, engine, self._held, epsilon=epsilon)
        if name == "private-bounds":
            return PrivateBounds(query.sql, query.private(), engine, self._held, epsilon=epsilon)
        subject, rows = query.subject, hold(query.subject, engine)
        match name:
            case "smooth":
                return Smooth.calibrate(subject, rows, epsilon=epsilon, delta=delta)
            case "local":
                return local.Local.calibrate(subject, rows, epsilon=epsilon)
            case "generated":
                return self._generated(subject, rows)
            case "replace":
                return self._replacement(subject)
        return GlobalType.calibrate(subject, rows, epsilon=epsilon)

    def _generated(self, subject: Subject, rows: HeldValues) -> SensitivityStrategy:
        import numpy as np

        whole = hold(generated.unfiltered(subject), self.engine)
        shelved = self._model()
        columns = GeneratedColumns(shelved.folder, shelved.load, self._sample_size)
        maximum = columns.maximum_for(subject, self.query.card)
        found = generated.calculate_sensitivity(subject.aggregate, maximum, whole.rows)
        rng = np.random.default_rng()
        return generated.Generated.calibrate(subject, rows, found, epsilon=self.query.epsilon, rng=rng, whole=whole)

    def _replacement(self, subject: Subject) -> SensitivityStrategy:
        model = self._model().load()
        count = replacement.count_rows(subject, self.engine)
        return replacement.Replacement(subject, self.query.card, lambda: model.sample(count))


def compare_query(
    sql: str,
    workspace: Workspace,
    ledger: Ledger,
    *,
    epsilon: ExactLike,
    delta: ExactLike = DEFAULT_DELTA,
    strategies: Iterable[str] | None = None,
    custodian: bool = False,
    runs: int = 100,
    model: str = DEFAULT_NAME,
    sample_size: int = DEFAULT_SAMPLE,
    assume: Mapping[str, ExactLike] | str | int | None = None,
    who: str = "custodian",
    progress: Callable[[str, int, int], None] | None = None,
) -> Contest:
    """Every strategy for the sensitivity of one query. Rows are looked at for the custodian alone, and logged."""
    query = ComparedQuery.read(sql, workspace, epsilon=epsilon, delta=delta)
    opened: list[Engine] = []

    def bench() -> StrategyBench:
        opened.append(engine_for(query.datasets, salt=workspace.salt))
        shelved = partial(find_model, workspace, query.statement.plan.dataset, model)
        return StrategyBench(query, opened[0], model=shelved, sample_size=sample_size)

    try:
        return compare_strategies(
            query,
            ledger,
            names=strategies,
            assumed=assume,
            bench=bench if custodian else None,
            runs=runs,
            who=who,
            progress=progress,
        )
    finally:
        for engine in opened:
            engine.close()


def compare_strategies(
    query: ComparedQuery,
    ledger: Ledger,
    *,
    names: Iterable[str] | None = None,
    assumed: Mapping[str, ExactLike] | str | int | None = None,
    bench: Callable[[], StrategyBench] | None = None,
    runs: int = 100,
    who: str = "",
    progress: Callable[[str, int, int], None] | None = None,
) -> Contest:
    """Every strategy on one query. With `bench`, for the custodian, each that applies is drawn `runs` times."""
    if not 1 <= runs <= MOST_RUNS:
        raise ParameterInvalid(
            parameter="runs", rule=say("must be from 1 to {most:,}", most=MOST_RUNS), given=str(runs)
        )
    check_terms(list(query.cards.values()), ledger)
    chosen = choose_strategies(names)
    lines = [_foresee(name, query, assumed) for name in chosen]
    truth = None
    if bench is not None:
        drawable = [line for line in lines if _may_draw(line, query)]
        _enter_look(query, ledger, who=who, marked=any(line.strategy in UNPROVEN for line in drawable))
        opened = bench()
        truth = opened.truth()
        steps = len(drawable) * runs
        lines = [
            _drawn(line, opened, truth, runs, _counter(progress, line.strategy, drawable.index(line) * runs, steps))
            if line in drawable and truth is not None
            else line
            for line in lines
        ]
    card = query.card
    return Contest(
        sql=query.sql,
        epsilon=text(query.epsilon),
        unit=str(card.unit),
        neighbours=str(card.neighbours),
        lines=tuple(lines),
        truth=None if truth is None else float(truth),
        notes=(say("no row has a value, so nothing was drawn"),) if bench is not None and truth is None else (),
    )


def _may_draw(line: ContestLine, query: ComparedQuery) -> bool:
    return line.guarantee is not None and (line.strategy not in UNPROVEN or "generated" in query.card.allow)


def _enter_look(query: ComparedQuery, ledger: Ledger, *, who: str, marked: bool) -> None:
    """Written before a row is read: who looked at what, and that answers without proof were made of it."""
    for name in query.datasets:
        if ledger.suspended(name):
            raise DatasetSuspended(dataset=name)
    ledger.record_view(f"strategies compared on {query.card.dataset}", who=who)
    if marked:
        dataset = query.datasets[query.statement.plan.dataset]
        ledger.mark(
            query.card.population,
            guarantee=Unproven(_REASON),
            analyst=who,
            plan_hash=plan_hash(query.statement.plan),
            dataset=dataset.name,
            version=dataset.version,
        )


def _counter(
    progress: Callable[[str, int, int], None] | None, stage: str, before: int, total: int
) -> Callable[[], None]:
    done = [before]

    def count() -> None:
        done[0] += 1
        if progress is not None:
            progress(stage, done[0], total)

    return count


def _drawn(
    line: ContestLine, bench: StrategyBench, truth: Fraction, runs: int, phrase: Callable[[], None]
) -> ContestLine:
    try:
        trials = draw_trials(lambda: bench.ready(line.strategy), truth, runs, bench.engine, phrase)
    except (Refused, ParameterInvalid) as refusal:  # no model, or one that lacks the column: told, and the others go on
        _require_own(refusal)
        return ContestLine(line.strategy, line.guarantee, told=refusal.message)
    words = line.told
    if trials.unfound:
        words = say(
            "no bounds stood out in {unfound:,} of {runs:,} runs, which then say next to nothing; {told}",
            unfound=trials.unfound,
            runs=runs,
            told=words,
        )
    return ContestLine(line.strategy, line.guarantee, line.expected, words, trials)
