"""One question: its price, what is found in its place, its draw, and the answer as an analyst gets it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

from discreet.catalogue import say
from discreet.engines import Engine
from discreet.errors import Refused
from discreet.guarantees import CentralGuarantee
from discreet.ledger import Ledger, Receipt, StoredAnswer
from discreet.release.ask import Ask
from discreet.release.forecast.outlook import amount_of, left_for
from discreet.release.measurement.descriptions import ledger_mechanisms
from discreet.release.measurement.noisy_measures import Noisy, draw, load_noise
from discreet.release.measurement.pricing import Pricing, price, price_gaussian
from discreet.release.measurement.searched_bounds import Searching, answer_bounded, ends_of, price_searching
from discreet.release.pipeline import (
    Charge,
    OpenEngine,
    Passage,
    check_terms,
    ready_engine,
    release,
    require_active,
)
from discreet.release.stored_answer import Answer, warn_of
from discreet.results import Charged
from discreet.sql import bound_statement

__all__ = [
    "Question",
    "answer",
    "dress",
    "find_stored",
    "open_for",
    "price_ask",
    "settled",
]

Priced = Pricing | Searching


def answer(asked: Ask, ledger: Ledger, open_engine: OpenEngine) -> Answer:
    """Answer within the budget, or raise."""
    return release(Question(asked, open_engine), ledger)


@dataclass(frozen=True)
class Question(Passage[Receipt, Noisy, bytes, Answer]):
    """One statement on its way through."""

    ask: Ask
    open_engine: OpenEngine

    def check(self, ledger: Ledger) -> None:
        check_terms(list(self.ask.cards.values()), ledger)

    @cached_property
    def priced(self) -> Priced:
        return price_ask(self.ask)

    def account(self) -> Charge[Noisy]:
        request, priced = self.ask.request, self.priced
        if isinstance(priced, Searching):
            used = priced.ledger_mechanisms()
        else:
            used = ledger_mechanisms(self.ask.statement, priced)
        charge = request.charge(priced.guarantee, used)
        return Charge(
            request=request,
            ways=[replace(charge, plan_hash=known_by) for known_by in self.ask.hashes],
            keep=lambda ledger, receipt, drawn: ledger.commit_answer(receipt, drawn.to_bytes()),
            find=self._replay,
            unproven=self.ask.marks,
        )

    def _replay(self, ledger: Ledger) -> Receipt | None:
        found = None if self.ask.fresh else find_stored(self.ask, ledger, charged=self.priced.guarantee, retried=True)
        if found is None:
            return None
        request = self.ask.request
        return ledger.replay(
            found,
            analyst=request.analyst,
            request_id=request.request_id,
            question=request.question,
            who=request.who,
        )

    def prepare(self, ledger: Ledger) -> Callable[[], Noisy]:
        require_active(self.ask.datasets, ledger, beside=self.ask.dataset.name)
        return open_for(self.ask, self.priced, self.open_engine)

    def leave(self, ledger: Ledger, paid: Receipt, stored: bytes) -> Answer:
        return dress(self.ask, ledger, paid, Noisy.from_bytes(stored))


# --- before the charge ----------------------------------------------------------------------------------------------


def price_ask(asked: Ask) -> Priced:
    """What a question costs, and the noise that it buys."""
    statement, cards = asked.statement, asked.cards
    if statement.searched and asked.shares is None:
        return price_searching(statement, cards, epsilon=asked.epsilon)
    if asked.rho is not None:
        assert asked.shares is not None, "a split of rho is chosen, never guessed"
        return price_gaussian(statement, cards, rho=asked.rho, shares=asked.shares)
    return price(statement, cards, epsilon=asked.epsilon, delta=asked.delta, shares=asked.shares)


def find_stored(asked: Ask, ledger: Ledger, *, charged: CentralGuarantee, retried: bool = False) -> StoredAnswer | None:
    """What is given again in place of a new answer: to the same plan on the same version, at least as accurate.

    Where it is `retried`, what the request id stands for already goes first.
    """
    for known_by in asked.hashes:
        result = ledger.find_answer(
            population=asked.population,
            dataset=asked.dataset.name,
            version=asked.dataset.version,
            plan_hash=known_by,
            at_least=charged,
            analyst=asked.analyst,
            request_id=asked.request_id if retried else None,
        )
        if result is not None:
            return result
    return None


def open_for(asked: Ask, priced: Priced, open_engine: OpenEngine) -> Callable[[], Noisy]:
    """The draw, with an engine that is ready and all that its noise needs; what fails here costs nothing."""
    _load(asked, priced)
    engine = ready_engine(open_engine, asked.datasets, asked.statement.plan, undone="charged")
    return lambda: _draw(asked, priced, engine)


def _load(asked: Ask, priced: Priced) -> None:
    """Import what the noise needs; where that is missing, nothing has been charged."""
    try:
        if isinstance(priced, Searching):
            for search in priced.searches:
                search.mechanism.load(search.plan.cell_count)
            load_noise(priced.farthest.plan, priced.pricing)
        else:
            load_noise(asked.statement.plan, priced)
    except (ImportError, OSError) as error:
        missing = error.name if isinstance(error, ImportError) else say("a file")
        raise Refused(
            say(
                "the noise cannot be drawn here: {name} cannot be loaded. Nothing was charged; install Discreet "
                "again, then look with: discreet doctor",
                name=missing,
            )
        ) from None


# --- after the charge -----------------------------------------------------------------------------------------------


def _draw(asked: Ask, priced: Priced, engine: Engine) -> Noisy:
    """Measure and add noise."""
    unproven = asked.unproven
    if isinstance(priced, Searching):
        return replace(answer_bounded(asked.cards, priced, engine), unproven=unproven)
    plan = asked.statement.plan
    return draw(plan, priced, engine.measure(plan), unproven=unproven)


def dress(asked: Ask, ledger: Ledger, receipt: Receipt, noisy: Noisy) -> Answer:
    """The answer as this analyst gets it now."""
    clamped = asked.statement
    if noisy.bounds:
        clamped = bound_statement(clamped, asked.cards, ends_of(noisy.bounds_of(clamped)))
    return Answer(
        statement=clamped.widened if noisy.widened(clamped) else clamped,
        asked_hash=asked.statement.hash,
        cards=asked.cards,
        versions={name: dataset.version for name, dataset in asked.datasets.items()},
        noisy=noisy,
        level=asked.level,
        settlement=settled(receipt),
        request_id=asked.request_id,
        warnings=warn_of(asked.population, ledger),
    )


def settled(receipt: Receipt) -> Charged:
    """What a charge or replay cost the population now, what it cost each holder, and what it left.

    A replay costs an analyst who did not have it yet what it was drawn with.
    """
    rho = not receipt.population_cap.pure
    again = receipt.replayed and (receipt.debited_population or not receipt.debited_analyst)
    before, after = receipt.population_before, receipt.population_after
    charge = amount_of(None if receipt.replayed else receipt.charge, rho=rho)
    return Charged(
        charge=charge,
        left=left_for(receipt.population_after, receipt.analyst_after, receipt.more_like_this),
        replayed=receipt.replayed,
        cost=amount_of(receipt.charge, rho=rho),
        population=charge,
        analyst=amount_of(None if again else receipt.charge, rho=rho),
        before=(after if receipt.replayed else before).epsilon_spent if rho else None,
        after=after.epsilon_spent if rho else None,
    )
