"""Private training of a workspace's generators: charged first, then trained, committed, and only then kept.

Guarantee: zCDP, as `PrivatePlan.guarantee` says, for the model and for everything generated from it.
Requires:  an (epsilon, delta) budget; what discreet.generator.private requires of the card.
Proof:     docs/proofs/private-training.md
Refs:      [ACGMMTZ16]; post-processing [DR14] Proposition 2.1.

What can be refused is refused from the card and the ledger, before the charge. What fails after it is told in fixed
sentences, and the charge stays; asking again under the same request id costs nothing more. The model's hash is
committed on the ledger before the model can be found, so one charge never gives two models.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from decimal import Decimal
from importlib.util import find_spec
from typing import TYPE_CHECKING, Final

from discreet.data.card import Card
from discreet.data.workspace import Dataset, Workspace
from discreet.errors import (
    ChargedNotAnswered,
    ExtraMissing,
    LedgerDamaged,
    LedgerUnavailable,
    QueryRefused,
    Refused,
    RequestConflict,
    UsageError,
)
from discreet.generator.privateplan import PrivatePlan, PrivateSettings, plan_private
from discreet.generator.rows import read_rows, read_units
from discreet.generator.shelf import DEFAULT_NAME, Shelved, check_model_name, find_model, shelve
from discreet.guarantees.conversions import zcdp_within
from discreet.guarantees.numbers import exact
from discreet.guarantees.types import Guarantee
from discreet.ledger import Ledger, Receipt, SpendRequest
from discreet.ledger.records import name_request
from discreet.release.asking import check_terms, describe_charge, spend
from discreet.study.generation import check_replacing, check_rows_here, hash_facts, word_answer

if TYPE_CHECKING:
    from discreet.generator.private import PrivateEpoch

__all__ = ["PrivatelyTrained", "choose_rho", "train_privately"]

_NEEDED: Final = ("torch", "opacus", "safetensors")


@dataclass(frozen=True, slots=True)
class PrivatelyTrained:
    """A model that was paid for, what it cost and the id under which it was asked for."""

    model: Shelved
    charge: dict[str, str]
    request_id: str


@dataclass(frozen=True, slots=True)
class _Training:
    """All that decides a private training, from card and call alone."""

    dataset: Dataset
    plan: PrivatePlan
    name: str
    analyst: str
    request_id: str

    @property
    def plan_hash(self) -> str:
        """Of this training alone, so that the ledger tells which model it has paid for."""
        settings = {name: str(value) for name, value in asdict(self.plan.settings).items()}
        asked = {"analyst": self.analyst, "request_id": self.request_id, "model": self.name, "settings": settings}
        return hash_facts({"what": "private training", "dataset": self.dataset.name, **asked, **self.plan.facts()})

    def request(self) -> SpendRequest:
        return SpendRequest(
            population=self.dataset.card.population,
            dataset=self.dataset.name,
            version=self.dataset.version,
            analyst=self.analyst,
            request_id=self.request_id,
            plan_hash=self.plan_hash,
            mechanisms=({"mechanism": "private training of a generator", **self.plan.facts()},),
            guarantee=self.plan.guarantee,
        )

    def unanswered(self, *, suspended: bool) -> ChargedNotAnswered:
        return ChargedNotAnswered(dataset=self.dataset.name, request_id=self.request_id, suspended=suspended)


def choose_rho(card: Card, *, rho: str | None, epsilon: str | None, delta: str | None) -> Decimal:
    """What a training may cost: rho, or the largest that is (epsilon, delta)-DP; delta is the budget's unless given."""
    if (rho is None) == (epsilon is None) or (delta is not None and epsilon is None):
        raise UsageError(
            "say what private training may cost with --rho R, or with --epsilon E and, where it is not to be the "
            "budget's, --delta D."
        )
    _require_delta(card)
    if rho is not None:
        return exact(rho, parameter="rho")
    assert epsilon is not None
    return zcdp_within(epsilon=epsilon, delta=card.budget.delta if delta is None else delta).rho


def train_privately(
    dataset: str,
    workspace: Workspace,
    ledger: Ledger,
    *,
    settings: PrivateSettings,
    rho: Decimal,
    analyst: str,
    request_id: str | None = None,
    name: str = DEFAULT_NAME,
    replace: bool = False,
    confirm: Callable[[Guarantee], bool] | None = None,
    progress: Callable[[PrivateEpoch], None] | None = None,
) -> PrivatelyTrained:
    """Charge, train and keep a model. `confirm` sees what it costs and may still say no."""
    if any(find_spec(module) is None for module in _NEEDED):
        raise ExtraMissing(needed_for="private training of the tabular generator", extra="gan")
    found = workspace.dataset(dataset)
    _require_delta(found.card)
    check_rows_here(found)
    check_terms([found.card], ledger)
    plan = plan_private(found.card, settings, rho=rho)
    training = _Training(found, plan, name, analyst, name_request(request_id))
    check_model_name(name)
    # Under an id that was used before, the model of this name may be the very one that was asked for.
    known = ledger.knows_request(analyst=analyst, request_id=training.request_id)
    if not known:
        check_replacing(found, workspace, name=name, replace=replace)
    if confirm is not None and not confirm(plan.guarantee):
        raise Refused("Not trained. Nothing was charged.")
    receipt = spend(training.request(), ledger)
    if receipt.answer is not None:
        model = _find(training, workspace, receipt.answer)
    else:
        if known:
            check_replacing(found, workspace, name=name, replace=replace)
        model = _train(training, workspace, ledger, receipt, progress)
    return PrivatelyTrained(model, describe_charge(receipt), training.request_id)


def _require_delta(card: Card) -> None:
    if not card.budget.delta:
        raise QueryRefused(
            f"'{card.population}' has a pure budget, and private training is charged as zCDP. The custodian gives the "
            "budget a delta in the card and changes the population (discreet population change --card CARD "
            "--custodian). Nothing was charged.",
            population=card.population,
        )


def _train(
    training: _Training,
    workspace: Workspace,
    ledger: Ledger,
    receipt: Receipt,
    progress: Callable[[PrivateEpoch], None] | None,
) -> Shelved:
    """Train, once the charge stands. A failure suspends the dataset and is told in fixed words."""
    from discreet.generator.private import train_private

    dataset = training.dataset

    def commit(digest: str) -> None:
        if ledger.commit_answer(receipt, word_answer(digest)) != word_answer(digest):
            raise RequestConflict(
                f"another training under request id {training.request_id} was finished first, and its model holds.",
                request_id=training.request_id,
            )

    try:
        model = train_private(read_rows(dataset), read_units(dataset), training.plan, progress=progress)
        return shelve(workspace, dataset, model, name=training.name, plan_hash=training.plan_hash, before=commit)
    except RequestConflict:
        raise
    except (LedgerUnavailable, LedgerDamaged, KeyboardInterrupt):
        raise training.unanswered(suspended=False) from None
    except Exception:
        # The cause may follow from the rows, so neither it nor its traceback is shown or chained.
        ledger.suspend(
            dataset.name,
            population=dataset.card.population,
            reason="a private training failed after its charge",
            who="discreet",
        )
        raise training.unanswered(suspended=True) from None


def _find(training: _Training, workspace: Workspace, answer: bytes) -> Shelved:
    """The model that this charge has paid for, as it is kept; it is never trained a second time."""
    names = workspace.models(training.dataset.name)
    found = find_model(workspace, training.dataset.name, training.name) if training.name in names else None
    if found is None or word_answer(found.origin.model_sha256) != answer:
        raise Refused(
            f"the model of request id {training.request_id} was made and is no longer kept. Train another under a new "
            "request id; it is charged anew.",
            request_id=training.request_id,
        )
    return found
