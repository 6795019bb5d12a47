"""A table asked for from beginning to end: formed, designed, checked, charged and read.

Everything that can be refused is refused before the charge: columns, bounds, sizes, files, public totals.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from itertools import chain

from discreet.cards import Accounting
from discreet.catalogue import say
from discreet.errors import ParameterInvalid, QueryRefused, Refused, RequestConflict
from discreet.guarantees import Budget, ExactLike, exact, text
from discreet.ledger import Ledger, StoredAnswer
from discreet.release import (
    Answer,
    Ask,
    OpenEngine,
    answer,
    check_terms,
    find_stored,
    foresee,
    interval_level,
    require_active,
)
from discreet.results import Release
from discreet.sql import Filter, walk
from discreet.tables.calibration import Target, check_targets
from discreet.tables.calibration_targets import choose_targets
from discreet.tables.formation import Formed, form_table
from discreet.tables.request import TableRequest
from discreet.tables.table_design import NOISES, Design, NoiseChoice, design_table, widened, with_laplace
from discreet.tables.table_explanation import TableExplanation, explain_table
from discreet.tables.table_reading import read_table
from discreet.workspace import Workspace

__all__ = ["AskedTable", "ask_table", "explain_asked_table", "read_asked_table"]


@dataclass(frozen=True)
class AskedTable:
    """A table with everything that decides its price and how it is shown.

    `others` are designs that `auto` may have chosen under other terms: what was drawn by one of them is given again.
    So is what was drawn by `earlier` ones, of every cell of the keys' domains; they are looked for and never charged.
    Where the account has room for one kind of noise alone, it takes the place of the other.
    """

    design: Design
    targets: tuple[Target, ...]
    analyst: str
    level: Decimal
    suppress_above: Decimal | None
    budget: Budget
    noise: NoiseChoice
    others: tuple[Design, ...] = ()
    words: Mapping[str, object] | None = None

    @property
    def formed(self) -> Formed:
        return self.design.formed

    def ask(self, design: Design, *, request_id: str = "", fresh: bool = False, who: str | None = None) -> Ask:
        """The question that measures the table by one of its designs."""
        return Ask(
            statement=design.statement,
            datasets=self.formed.datasets,
            analyst=self.analyst,
            request_id=request_id,
            epsilon=design.epsilon,
            level=self.level,
            fresh=fresh,
            shares=design.shares,
            rho=design.rho,
            words=self.words,
            who=who,
        )

    @cached_property
    def earlier(self) -> Sequence[Design]:
        """None where the table could not have been asked then."""
        formed = self.formed.widened
        by_card = any(isinstance(node, Filter) and node.by_card for node in walk(formed.plan.source))
        if by_card or formed.plan == self.formed.plan:
            return ()
        return _designs(formed, self.design.epsilon, self.budget, self.noise)


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
    largest = None if suppress_above is None else exact(suppress_above, parameter="suppress above")
    formed = form_table(request, workspace)
    budget = ledger.terms(formed.card.population).budget
    targets = choose_targets(calibrate, formed, workspace)
    if targets:
        check_targets(formed.sizes, targets)
    design, *others = _designs(formed, spent, budget, _noise(noise))
    return AskedTable(
        design=design,
        others=tuple(others),
        budget=budget,
        noise=_noise(noise),
        targets=targets,
        analyst=analyst,
        level=interval_level(level),
        suppress_above=largest,
        words={
            "kind": "table",
            **request.words,
            "epsilon": text(spent),
            "level": text(interval_level(level)),
            "noise": noise,
            "suppress_above": None if largest is None else text(largest),
            "calibrate": list(calibrate),
        },
    )


def _designs(formed: Formed, epsilon: Decimal, budget: Budget, noise: NoiseChoice) -> Sequence[Design]:
    """What would be asked, and what `auto` might have asked under another `accounting`.

    Gaussian noise ends the adding up of epsilons, so `auto` takes it only where the card says that rho is what counts.
    That follows from terms and card, and not from what was spent: the same table asked again is the same plan.
    """
    best = design_table(formed, epsilon=epsilon, budget=budget, noise=noise)
    if noise != "auto" or best.rho is None:
        return [best]
    pure = with_laplace(best)
    return [best, pure] if formed.card.accounting is Accounting.RHO else [pure, best]


def _noise(given: str) -> NoiseChoice:
    for item in NOISES:
        if given == item:
            return item
    raise ParameterInvalid(
        parameter="noise", rule=say("must be one of {noises}", noises=", ".join(NOISES)), given=f"'{given[:20]}'"
    )


def explain_asked_table(asked: AskedTable, ledger: Ledger, *, fresh: bool = False) -> TableExplanation:
    """What asking would do; refused where asking would be, but for a budget that is too small."""
    check_terms(list(asked.formed.cards.values()), ledger)
    ledger.require_analyst(asked.analyst)
    standing = ledger.standing(asked.formed.card.population)
    design, stored = _settle(asked, ledger, fresh=fresh)
    if stored is None:
        require_active(asked.formed.datasets, ledger)
    other = next((one for one in (asked.design, *asked.others) if (one.rho is None) != (design.rho is None)), None)
    if other is None and design.rho is not None:
        other = with_laplace(design)
    return explain_table(
        design,
        level=asked.level,
        standing=standing,
        analyst=asked.analyst,
        other=other,
        stored=stored,
        targets=asked.targets,
    )


def _settle(asked: AskedTable, ledger: Ledger, *, fresh: bool) -> tuple[Design, StoredAnswer | None]:
    """The design whose answer is given again, or else the one that is charged.

    Another design's answer only where the analyst has it: it may have cost more than was asked for now.
    """
    formed = asked.formed
    for design in () if fresh else _every(asked):
        charged = design.price().guarantee
        found = find_stored(asked.ask(design), ledger, charged=charged)
        if found is not None and (found.free or design is asked.design):
            return design, found
    standing = ledger.standing(formed.card.population)

    def fits(design: Design) -> bool:
        return foresee(design.price().guarantee, standing, asked.analyst).refusal is None

    return next((item for item in (asked.design, *asked.others) if fits(item)), asked.design), None


def ask_table(
    asked: AskedTable,
    ledger: Ledger,
    *,
    open_engine: OpenEngine,
    request_id: str,
    fresh: bool = False,
    confirm: Callable[[TableExplanation], bool] | None = None,
    who: str | None = None,
) -> Release:
    """Charge, draw and read the table; or read it again from a stored answer. `confirm` may still say no.

    `who` acts, where it is not the analyst.
    """
    if confirm is not None and not confirm(explain_asked_table(asked, ledger, fresh=fresh)):
        raise Refused(say("Not asked. Nothing was released or charged."))

    settled, _ = _settle(asked, ledger, fresh=fresh)
    conflict: RequestConflict | None = None
    for design in chain((settled,), (item for item in _every(asked) if item is not settled)):
        try:
            answered = answer(asked.ask(design, request_id=request_id, fresh=fresh, who=who), ledger, open_engine)
            return _read(asked, design, answered)
        except RequestConflict as held:  # the request may be held by the charge for another of them
            conflict = held
    assert conflict is not None
    raise conflict


def _every(asked: AskedTable) -> Iterator[Design]:
    """The designs under which the table may have been charged; earlier ones are worked out when they are reached."""
    yield from (asked.design, *asked.others)
    yield from asked.earlier


def _read(asked: AskedTable, design: Design, answered: Answer) -> Release:
    if answered.noisy.widened(design.statement):
        design = widened(design)
    if asked.targets and design.formed.sizes != asked.formed.sizes:
        raise QueryRefused(
            say(
                "this table was released before with more keys than it has now, and is given again as it was: it "
                "cannot be calibrated. Leave out --calibrate, or ask for a new one with --fresh."
            ),
            part="calibrate",
        )
    return read_table(design, answered, level=asked.level, suppress_above=asked.suppress_above, targets=asked.targets)
