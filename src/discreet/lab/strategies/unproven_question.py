"""One aggregate by a strategy without a proof: the marker first, then the draw and the journal, then the value leaves.

Guarantee: none (Unproven), whichever strategy is chosen.
Requires:  `allow: [generated]` in the card; for `generated` and `replace` a model of the dataset (discreet gan train).
Proof:     none
Refs:      [T] Chapter 4 for `generated`, Section 7.1.2 for `replace`.

Nothing is charged to the budget; the marker on the ledger says for good that epsilon no longer bounds everything. What
can be refused is refused from statement, card, model and ledger; what fails after the marker is told in one fixed
sentence. The same question by the same strategy and model returns the value it had before.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from decimal import Decimal
from enum import StrEnum
from fractions import Fraction
from typing import TYPE_CHECKING, Final

from discreet.cards import Card
from discreet.catalogue import Phrase, say
from discreet.engines import Engine
from discreet.errors import DiscreetError, ParameterInvalid, Refused, UsageError
from discreet.guarantees import ExactLike, Unproven, exact, text
from discreet.lab.strategies import generated_strategy as generated
from discreet.lab.strategies import local_strategy as local
from discreet.lab.strategies import replacement
from discreet.lab.strategies.generated_columns import DEFAULT_SAMPLE, GeneratedColumns, check_sample_size
from discreet.lab.strategies.generated_strategy import Generated, unfiltered
from discreet.lab.strategies.local_strategy import Local
from discreet.lab.strategies.replacement import Replacement, columns_read, count_rows, require_columns
from discreet.lab.strategies.subject import AggregateKind, SensitivityStrategy, Subject, hold, subject_of
from discreet.ledger import Ledger, name_request
from discreet.release import (
    Mark,
    OpenEngine,
    Passage,
    PlacedMarker,
    Request,
    Shelf,
    UnprovenEntry,
    UnprovenJournal,
    check_nominal_epsilon,
    check_terms,
    left_for_analyst,
    ready_engine,
    release,
    require_active,
    require_permission,
    warn_of,
)
from discreet.results import (
    Claim,
    Coverage,
    Figures,
    Labels,
    Later,
    Margin,
    Marked,
    MeasureNoise,
    ModelAge,
    Note,
    Release,
    ReleaseKind,
    Source,
    Statistic,
    UnprovenCaution,
)
from discreet.sql import Mean, Statement, make_first_form, plan_hash
from discreet.workspace import Dataset, Workspace

if TYPE_CHECKING:
    from discreet.lab.generator.shelf import Shelved

__all__ = ["UnprovenStrategy", "ask_unproven"]

_COUNTED_ROWS: Final = Phrase(
    "as many rows were generated as the data have, and that number was not protected"
).en  # as the ledger keeps it
_FINE: Final = 10**6


class UnprovenStrategy(StrEnum):
    """The strategies without a proof that may answer where a card permits it."""

    LOCAL = "local"
    GENERATED = "generated"
    REPLACE = "replace"


@dataclass(frozen=True, slots=True)
class _Request:
    """What decides an answer, none of it from the rows but the model."""

    statement: Statement
    subject: Subject
    datasets: Mapping[str, Dataset]
    strategy: UnprovenStrategy
    epsilon: Decimal | None
    shelved: Shelved | None
    sample_size: int
    analyst: str
    request_id: str

    @property
    def dataset(self) -> Dataset:
        return self.datasets[self.subject.dataset]

    @property
    def cards(self) -> dict[str, Card]:
        return {name: dataset.card for name, dataset in self.datasets.items()}

    @property
    def reason(self) -> str:
        if self.strategy is UnprovenStrategy.LOCAL:
            return local.REASON
        if self.strategy is UnprovenStrategy.GENERATED:
            return generated.REASON
        assert self.shelved is not None
        return _COUNTED_ROWS if self.shelved.origin.differentially_private else replacement.REASON

    @property
    def parts(self) -> int:
        """Into how many parts of a step a value is rounded: decimals must not tell how much noise there is."""
        return _FINE if self.subject.aggregate is AggregateKind.AVG else 1

    @property
    def centre(self) -> Fraction:
        """What the plan of a mean sums about: AVG(age) and AVG(age - 49) may be one plan, and so one answer."""
        [column] = self.statement.presentation.columns
        return column.shows.centre if isinstance(column.shows, Mean) else Fraction(0)

    @property
    def questions(self) -> tuple[tuple[object, ...], ...]:
        """What the journal knows the request by: now, and in the first form of plans."""
        entry = self.entry(0, Fraction(0))
        first = make_first_form(self.statement.plan, self.statement.names).plan_hash
        return entry.question, replace(entry, plan_hash=first).question

    def entry(self, marker: int, steps: Fraction) -> UnprovenEntry:
        return UnprovenEntry(
            who=self.analyst,
            when=datetime.now(UTC).isoformat(timespec="seconds"),
            population=self.dataset.card.population,
            dataset=self.dataset.name,
            version=self.dataset.version,
            plan_hash=plan_hash(self.statement.plan),
            epsilon="" if self.epsilon is None else text(self.epsilon),
            strategy=str(self.strategy),
            model="" if self.shelved is None else self.shelved.name,
            model_sha256="" if self.shelved is None else self.shelved.origin.model_sha256,
            sample_size=self.sample_size,
            reason=self.reason,
            marker=marker,
            request_id=self.request_id,
            steps=str(steps),
        )


def ask_unproven(
    sql: str,
    workspace: Workspace,
    ledger: Ledger,
    *,
    strategy: UnprovenStrategy | str,
    epsilon: ExactLike | None = None,
    model: str | None = None,
    sample_size: int | None = None,
    analyst: str,
    request_id: str | None = None,
    open_engine: OpenEngine,
) -> Release:
    """Answer one aggregate without groups, or return the answer it had before; refused without the card's opt-in.

    `epsilon` is nominal, and `replace` has none. Engines of `open_engine` are left open to whoever opened them.
    """
    request = _read(sql, workspace, _strategy(strategy), epsilon, model, sample_size, analyst, name_request(request_id))
    return release(_Unproven(request, workspace, open_engine), ledger)


@dataclass(frozen=True, slots=True)
class _Unproven(Passage[PlacedMarker, Fraction, UnprovenEntry, Release]):
    """An answer without a proof on its way through."""

    request: _Request
    workspace: Workspace
    open_engine: OpenEngine

    def check(self, ledger: Ledger) -> None:
        request = self.request
        check_terms(list(request.cards.values()), ledger)
        ledger.require_analyst(request.analyst)
        if request.epsilon is not None:
            population = request.dataset.card.population
            check_nominal_epsilon(
                request.epsilon, population=population, ledger=ledger, release=say("an unproven answer")
            )

    def account(self) -> Mark[Fraction, UnprovenEntry]:
        request = self.request
        return Mark(
            request=Request(
                datasets=request.datasets,
                first=request.dataset.name,
                analyst=request.analyst,
                request_id=request.request_id,
                plan_hash=plan_hash(request.statement.plan),
            ),
            guarantee=Unproven(request.reason),
            journal=UnprovenJournal(self.workspace.path),
            questions=request.questions,
            entry=request.entry,
            kind=say("unproven answer"),
            made=say("the answer"),
        )

    def prepare(self, ledger: Ledger) -> Callable[[], Fraction]:
        request = self.request
        require_active(request.datasets, ledger)
        plan = request.statement.plan
        engine = ready_engine(self.open_engine, request.datasets, plan, undone="released or marked")
        calibrate = _prepare(request, engine)
        return lambda: _draw(request, calibrate())

    def leave(self, ledger: Ledger, paid: PlacedMarker, stored: UnprovenEntry) -> Release:
        return _dress(self.request, stored, ledger, replayed=paid.replayed)


# --- before the marker ----------------------------------------------------------------------------------------------


def _strategy(given: str) -> UnprovenStrategy:
    try:
        return UnprovenStrategy(given)
    except ValueError:
        rule = say("must be public, {strategies}", strategies=", ".join(UnprovenStrategy))
        raise ParameterInvalid(parameter="strategy", rule=rule, given=f"'{given[:20]}'") from None


def _read(
    sql: str,
    workspace: Workspace,
    strategy: UnprovenStrategy,
    epsilon: ExactLike | None,
    model: str | None,
    sample_size: int | None,
    analyst: str,
    request_id: str,
) -> _Request:
    _check_options(strategy, epsilon, model, sample_size)
    statement, datasets = Shelf(workspace).read(sql)
    cards = {name: dataset.card for name, dataset in datasets.items()}
    for card in cards.values():
        require_permission(card, release=say("unproven"), sort="generated")
    subject = subject_of(statement, cards)
    if strategy is UnprovenStrategy.GENERATED:
        unfiltered(subject)
    shelved = None
    if strategy is not UnprovenStrategy.LOCAL:
        from discreet.lab.generator.shelf import DEFAULT_NAME, find_model

        columns_read(subject, cards)
        shelved = find_model(workspace, subject.dataset, model or DEFAULT_NAME)
    return _Request(
        statement=statement,
        subject=subject,
        datasets=datasets,
        strategy=strategy,
        epsilon=None
        if epsilon is None or strategy is UnprovenStrategy.REPLACE
        else exact(epsilon, parameter="epsilon"),
        shelved=shelved,
        sample_size=(sample_size or DEFAULT_SAMPLE) if strategy is UnprovenStrategy.GENERATED else 0,
        analyst=analyst,
        request_id=request_id,
    )


def _check_options(
    strategy: UnprovenStrategy, epsilon: ExactLike | None, model: str | None, sample_size: int | None
) -> None:
    if epsilon is None and strategy is not UnprovenStrategy.REPLACE:
        raise UsageError(say("strategy {strategy} needs a nominal --epsilon E.", strategy=strategy))
    if model is not None and strategy is UnprovenStrategy.LOCAL:
        raise UsageError(say("strategy local uses no model; leave out --model."))
    if sample_size is not None:
        if strategy is not UnprovenStrategy.GENERATED:
            raise UsageError(
                say("strategy {strategy} takes no sample to look at; leave out --sample-size.", strategy=strategy)
            )
        check_sample_size(sample_size)


def _prepare(request: _Request, engine: Engine) -> Callable[[], SensitivityStrategy]:
    """All that needs no row: the model is read, and sampled where only the sample counts.

    What is returned looks at the rows.
    """
    subject, epsilon, shelved = request.subject, request.epsilon, request.shelved
    if request.strategy is UnprovenStrategy.LOCAL:
        assert epsilon is not None
        return lambda: Local.calibrate(subject, hold(subject, engine), epsilon=epsilon)
    assert shelved is not None
    try:
        if request.strategy is UnprovenStrategy.GENERATED:
            return _prepare_generated(request, shelved, engine)
        return _prepare_replacement(request, shelved, engine)
    except DiscreetError:
        raise
    except Exception:
        raise Refused(
            say(
                "model '{name}' of '{dataset}' cannot be used. Nothing was released or marked; the custodian "
                "trains it again.",
                name=shelved.name,
                dataset=subject.dataset,
            ),
            model=shelved.name,
        ) from None


def _prepare_generated(request: _Request, shelved: Shelved, engine: Engine) -> Callable[[], SensitivityStrategy]:
    import numpy as np

    subject, epsilon = request.subject, request.epsilon
    assert epsilon is not None
    columns = GeneratedColumns(shelved.folder, shelved.load, request.sample_size)
    maximum = columns.maximum_for(subject, request.dataset.card)
    # Fresh entropy of the system: a seed has no place in a release.
    rng = np.random.default_rng()
    return lambda: Generated.measure(subject, engine, maximum, epsilon=epsilon, rng=rng)


def _prepare_replacement(request: _Request, shelved: Shelved, engine: Engine) -> Callable[[], SensitivityStrategy]:
    # What the rows made are written and read with, before the marker.
    import pyarrow.parquet  # noqa: F401

    import discreet.lab.generator.generator_rows  # noqa: F401

    subject, card = request.subject, request.dataset.card
    model = shelved.load()
    require_columns(columns_read(subject, request.cards), model.shapes, card)

    def calibrate() -> SensitivityStrategy:
        rows = count_rows(subject, engine)
        return Replacement(subject, card, lambda: model.sample(rows))

    return calibrate


# --- after the marker -----------------------------------------------------------------------------------------------


def _draw(request: _Request, strategy: SensitivityStrategy) -> Fraction:
    """What the strategy gives, in steps."""
    steps = (Fraction(strategy.draw().result) - request.centre) / request.subject.step
    return Fraction(round(steps * request.parts), request.parts)


def _dress(request: _Request, entry: UnprovenEntry, ledger: Ledger, *, replayed: bool) -> Release:
    card, [column] = request.dataset.card, request.statement.presentation.columns
    step = request.subject.step
    whole = (step / request.parts).denominator == 1
    found = request.centre + Fraction(entry.steps) * step
    value = int(found) if whole else float(found)
    return Release(
        kind=ReleaseKind.UNPROVEN,
        title=Labels(column.name, column.name),
        claim=Claim(entry.guarantee, entry.population, card.unit, card.neighbours),
        settlement=Marked(
            marker=entry.marker,
            left=left_for_analyst(ledger, population=card.population, analyst=request.analyst),
            replayed=replayed,
            nominal_epsilon=Decimal(entry.epsilon) if entry.epsilon else None,
        ),
        source=Source(
            dataset=entry.dataset,
            version=entry.version,
            datasets={name: dataset.version for name, dataset in request.datasets.items()},
            plan_hash=entry.plan_hash,
            request_id=request.request_id,
        ),
        statistics=(
            Statistic(
                name=column.name,
                title=Labels(column.name, column.name),
                figures=Figures(1, lambda: [Margin((), (), [value])]),
                whole=whole,
            ),
        ),
        notes=(*_notes(request), *warn_of(card.population, ledger)),
        mechanisms=Later(lambda: [MeasureNoise("", (), name=entry.strategy, shown=False)]),
        asked={
            "strategy": entry.strategy,
            "model": entry.model or None,
            "sample_size": entry.sample_size or None,
        },
    )


def _notes(request: _Request) -> list[Note]:
    notes: list[Note] = [Coverage("nothing"), UnprovenCaution("value"), UnprovenCaution("budget")]
    shelved, dataset = request.shelved, request.dataset
    if shelved is not None and shelved.origin.version != dataset.version:
        notes.append(ModelAge(shelved.name, shelved.origin.version, dataset.name, dataset.version))
    return notes
