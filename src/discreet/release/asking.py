"""One way through: lease and durable charge, exact cells, noise, stored answer, and only then the answer leaves.

What can go wrong before the charge depends on the text, the cards and the ledger alone. What goes wrong after it is
told in a fixed sentence, and the charge stays.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from discreet.data.card import Card
from discreet.data.workspace import Dataset
from discreet.engines.base import Engine, Prepared
from discreet.errors import (
    ChargedNotAnswered,
    DatasetSuspended,
    DiscreetError,
    LedgerDamaged,
    LedgerUnanchored,
    LedgerUnavailable,
    PopulationConflict,
    Refused,
    RequestConflict,
)
from discreet.guarantees.numbers import text
from discreet.guarantees.types import CentralGuarantee, Unproven
from discreet.ledger import Ledger, Receipt, SpendRequest, StoredAnswer
from discreet.plan.algebra import Plan
from discreet.plan.calculus import lineage_of
from discreet.plan.first_form import first_hash
from discreet.plan.statement import Statement
from discreet.release.answers import Answer, Remaining
from discreet.release.bounding import Bounded, Searching, answer_bounded, ends_of, price_searching
from discreet.release.describing import ledger_mechanisms
from discreet.release.noising import Noisy, draw, load_noise
from discreet.release.outlook import amounts, debits
from discreet.release.pricing import Pricing, price, price_gaussian

__all__ = [
    "Question",
    "ask",
    "check_suspension",
    "check_terms",
    "describe_charge",
    "describe_debits",
    "draw_noisy",
    "dress",
    "find_stored",
    "open_for",
    "remaining_after",
    "spend",
    "unproven_reason",
]


@dataclass(frozen=True, slots=True)
class Question:
    """A statement with everything that decides its price: who asks, under which id, at which epsilon.

    `shares` say how epsilon is split over the measures, when not evenly; with `rho` instead, noise is Gaussian and
    they split that. `datasets` holds every dataset of the plan by name. `open_engine` is called before the charge and
    may refuse from what the workspace says; whoever opens engines closes them. `bounded` reads the statement again
    when private bounds have been found.
    """

    statement: Statement
    datasets: Mapping[str, Dataset]
    open_engine: Callable[[], Engine]
    analyst: str
    request_id: str
    epsilon: Decimal
    level: Decimal
    delta: Decimal = Decimal(0)
    fresh: bool = False
    shares: tuple[Decimal, ...] | None = None
    rho: Decimal | None = None
    bounded: Bounded | None = None

    @property
    def dataset(self) -> Dataset:
        """The first dataset: the one whose name and version stand on the ledger."""
        return self.datasets[self.statement.plan.dataset]

    @property
    def cards(self) -> dict[str, Card]:
        return {name: dataset.card for name, dataset in self.datasets.items()}

    @property
    def population(self) -> str:
        return self.dataset.card.population


def ask(question: Question, ledger: Ledger) -> Answer:
    """Answer within the budget, or raise; never both charge and stay silent about it."""
    check_terms(list(question.cards.values()), ledger)
    priced = _price(question)
    receipt = _replay(question, ledger, priced.guarantee)
    engine = None
    if receipt is None:
        check_suspension([question], ledger)
        engine = open_for(question, priced)
        receipt = _charge(question, priced, ledger)
    try:
        stored = receipt.answer
        if stored is None:
            assert engine is not None, "only a charge comes without an answer"
            noisy = draw_noisy(question, ledger, priced, engine)
            stored = ledger.commit_answer(receipt, noisy.to_bytes())
        return dress(question, ledger, receipt, Noisy.from_bytes(stored))
    except (Refused, KeyboardInterrupt):
        raise _unanswered(question, suspended=False) from None


def _price(question: Question) -> Pricing | Searching:
    statement, cards = question.statement, question.cards
    if statement.searched and question.bounded is not None:
        return price_searching(statement, cards, question.bounded, epsilon=question.epsilon)
    if question.rho is not None:
        assert question.shares is not None, "a split of rho is chosen, never guessed"
        return price_gaussian(statement, cards, rho=question.rho, shares=question.shares)
    return price(statement, cards, epsilon=question.epsilon, delta=question.delta, shares=question.shares)


# --- before the charge ----------------------------------------------------------------------------------------------


def check_terms(cards: Sequence[Card], ledger: Ledger) -> None:
    """A card added before its population's terms changed would price for other neighbours than it is charged for."""
    population = cards[0].population
    terms = ledger.terms(population)
    for card in cards:
        assert card.population == population, "a plan is about one population"
        if not terms.protects_as(card.terms()):
            raise PopulationConflict(
                f"The terms of population '{card.population}' have changed since '{card.dataset}' was "
                "added. The custodian adds it again, with a card that agrees and --replace.",
                population=card.population,
                dataset=card.dataset,
            )


def check_suspension(questions: Sequence[Question], ledger: Ledger) -> None:
    """Refuse a suspended dataset; the charge itself looks at the one that stands on it, the first."""
    names = dict.fromkeys(name for question in questions for name in question.datasets)
    for name in names:
        if name != questions[0].dataset.name and ledger.suspended(name):
            raise DatasetSuspended(dataset=name)


def open_for(question: Question, priced: Pricing | Searching) -> Engine:
    """An engine that is ready for the question, and all that its noise needs; what fails here costs nothing."""
    _load(question.statement.plan, priced)
    try:
        engine = question.open_engine()
        if isinstance(engine, Prepared):
            engine.prepare(question.statement.plan)
        return engine
    except DiscreetError:
        raise
    except Exception:
        raise Refused(
            f"the engine that holds the rows of '{question.dataset.name}' cannot be reached. Nothing was charged; ask "
            "again later, or ask the custodian.",
            dataset=question.dataset.name,
        ) from None


def _load(plan: Plan, priced: Pricing | Searching) -> None:
    """Import what the noise needs; where that is missing, nothing has been charged."""
    try:
        if isinstance(priced, Searching):
            for search in priced.searches:
                search.mechanism.load(search.plan.cell_count)
            load_noise(priced.farthest.plan, priced.pricing)
        else:
            load_noise(plan, priced)
    except (ImportError, OSError) as error:
        raise Refused(
            f"the noise cannot be drawn here: {error.name if isinstance(error, ImportError) else 'a file'} cannot be "
            "loaded. Nothing was charged; install Discreet again, then look with: discreet doctor"
        ) from None


def _replay(question: Question, ledger: Ledger, charged: CentralGuarantee) -> Receipt | None:
    if question.fresh:
        return None
    found = find_stored(
        question.statement,
        question.datasets,
        ledger,
        charged=charged,
        analyst=question.analyst,
        request_id=question.request_id,
    )
    if found is None:
        return None
    return ledger.replay(found, analyst=question.analyst, request_id=question.request_id)


def find_stored(
    statement: Statement,
    datasets: Mapping[str, Dataset],
    ledger: Ledger,
    *,
    charged: CentralGuarantee,
    analyst: str,
    request_id: str | None = None,
) -> StoredAnswer | None:
    """What is given again in place of a new answer: to the same plan on the same version, at least as accurate.

    What the request id stands for already goes first.
    """
    first = datasets[statement.plan.dataset]
    for known_by in (statement.hash, first_hash(statement)):
        found = ledger.find_answer(
            population=first.card.population,
            dataset=first.name,
            version=first.version,
            plan_hash=known_by,
            at_least=charged,
            analyst=analyst,
            request_id=request_id,
        )
        if found is not None:
            return found
    return None


def _charge(question: Question, priced: Pricing | Searching, ledger: Ledger) -> Receipt:
    """Charge, or meet the charge that stands under the request id, also when an earlier release made it."""
    request = _request(question, priced)
    try:
        return spend(request, ledger)
    except RequestConflict:
        return spend(replace(request, plan_hash=first_hash(question.statement)), ledger)


def _request(question: Question, priced: Pricing | Searching) -> SpendRequest:
    if isinstance(priced, Searching):
        used = priced.ledger_mechanisms()
    else:
        used = ledger_mechanisms(question.statement, priced)
    return SpendRequest(
        population=question.population,
        dataset=question.dataset.name,
        version=question.dataset.version,
        analyst=question.analyst,
        request_id=question.request_id,
        plan_hash=question.statement.hash,
        mechanisms=used,
        guarantee=priced.guarantee,
    )


def spend(request: SpendRequest, ledger: Ledger) -> Receipt:
    """Charge, and tell the request id wherever the ledger cannot say what became of it."""
    try:
        return ledger.spend(request)
    except LedgerUnanchored:
        raise ChargedNotAnswered(dataset=request.dataset, request_id=request.request_id, suspended=False) from None
    except LedgerUnavailable as error:
        # A connection lost while committing may have charged: the id makes asking again safe either way.
        told = f"{error.message} The request id was {request.request_id}."
        raise LedgerUnavailable(told, **{**error.fields, "request_id": request.request_id}) from None


# --- after the charge -----------------------------------------------------------------------------------------------


def draw_noisy(question: Question, ledger: Ledger, priced: Pricing | Searching, engine: Engine) -> Noisy:
    """Measure and add noise, once the charge stands. A failure suspends the datasets and is told in fixed words."""
    unproven = unproven_reason(question.statement.plan, question.cards)
    try:
        if unproven is not None:
            _mark(question, ledger, unproven)
        if isinstance(priced, Searching):
            assert question.bounded is not None, "a search was priced because the statement can be read again"
            noisy = answer_bounded(question.cards, priced, question.bounded, engine)
            return replace(noisy, unproven=unproven)
        return draw(question.statement.plan, priced, engine.measure(question.statement.plan), unproven=unproven)
    except (LedgerUnavailable, LedgerDamaged):
        raise
    except Exception:
        # The cause may follow from the rows, so neither it nor its traceback is shown or chained.
        for name in question.datasets:
            ledger.suspend(
                name,
                population=question.population,
                reason="the engine or the mechanism failed after a charge",
                who="discreet",
            )
        raise _unanswered(question, suspended=True) from None


def unproven_reason(plan: Plan, cards: Mapping[str, Card]) -> str | None:
    """Keys, bounds or categories that were read from the rows make the release unproven."""
    read = sorted(
        name if len(cards) == 1 else f"{dataset}.{name}"
        for dataset, name in lineage_of(plan, cards)
        if cards[dataset].column(name).from_rows
    )
    if not read:
        return None
    return f"the categories or bounds of {', '.join(read)} were read from the rows (provenance: from_rows)"


def _mark(question: Question, ledger: Ledger, reason: str) -> None:
    ledger.mark(
        question.population,
        guarantee=Unproven(reason),
        analyst=question.analyst,
        plan_hash=question.statement.hash,
        dataset=question.dataset.name,
        version=question.dataset.version,
    )


def _unanswered(question: Question, *, suspended: bool) -> ChargedNotAnswered:
    return ChargedNotAnswered(dataset=question.dataset.name, request_id=question.request_id, suspended=suspended)


def dress(question: Question, ledger: Ledger, receipt: Receipt, noisy: Noisy) -> Answer:
    """The answer as this analyst gets it now."""
    clamped = question.statement
    if noisy.bounds and question.bounded is not None:
        clamped = question.bounded(ends_of(noisy.bounds_of(question.statement)))
    return Answer(
        statement=clamped.widened if noisy.widened(clamped) else clamped,
        asked_hash=question.statement.hash,
        cards=question.cards,
        versions={name: dataset.version for name, dataset in question.datasets.items()},
        noisy=noisy,
        level=question.level,
        charge=describe_charge(receipt),
        debited=describe_debits(receipt),
        cost=amounts(receipt.charge, rho=not receipt.population_cap.pure),
        remaining=remaining_after(receipt),
        replayed=receipt.replayed,
        request_id=question.request_id,
        warnings=ledger.state(question.population).warnings(),
    )


def remaining_after(receipt: Receipt) -> Remaining:
    """What the charge or replay left."""
    return Remaining(population=receipt.population_after, analyst=receipt.analyst_after, more=receipt.more_like_this)


def describe_charge(receipt: Receipt) -> dict[str, str]:
    """What this answer cost the population, exactly: epsilon; under an (epsilon, delta) budget rho as well.

    Gaussian noise has no epsilon of its own, only rho.
    """
    rho = not receipt.population_cap.pure
    charge = amounts(None if receipt.replayed else receipt.charge, rho=rho)
    if not rho:
        return charge
    before, after = receipt.population_before, receipt.population_after
    return {
        **charge,
        "epsilon_before": text((after if receipt.replayed else before).epsilon_spent),
        "epsilon_after": text(after.epsilon_spent),
    }


def describe_debits(receipt: Receipt) -> dict[str, Mapping[str, str]]:
    """What this answer cost each holder: a replay, to an analyst who did not have it yet, what it was drawn with."""
    again = receipt.replayed and (receipt.debited_population or not receipt.debited_analyst)
    return debits(
        receipt.charge, population=not receipt.replayed, analyst=not again, rho=not receipt.population_cap.pure
    )
