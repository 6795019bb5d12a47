"""Private training of a workspace's generators: charged first, then trained, committed, and only then kept.

Guarantee: zCDP, as `PrivatePlan.guarantee` says, for the model and for everything generated from it.
Requires:  an (epsilon, delta) budget; what discreet.lab.generator.protected.private_training requires of the card.
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
from functools import cached_property
from importlib.util import find_spec
from typing import TYPE_CHECKING, Final

from discreet.cards import Card
from discreet.catalogue import Phrase, say
from discreet.errors import ExtraMissing, QueryRefused, Refused, RequestConflict, UsageError
from discreet.guarantees import Guarantee, exact, zcdp_within
from discreet.lab.generator.generation import check_replacing, check_rows_here, hash_facts, word_answer
from discreet.lab.generator.generator_rows import read_rows, read_units
from discreet.lab.generator.protected.private_plan import PrivatePlan, PrivateSettings, plan_private
from discreet.lab.generator.shelf import DEFAULT_NAME, Shelved, check_model_name, find_model, shelve
from discreet.ledger import Ledger, Receipt, name_request
from discreet.release import Charge, Passage, Request, check_terms, release, settled
from discreet.results import Charged
from discreet.workspace import Dataset, Workspace

if TYPE_CHECKING:
    from discreet.lab.generator.generator_model import GeneratorModel
    from discreet.lab.generator.protected.private_training import PrivateEpoch

__all__ = ["PrivatelyTrained", "choose_rho", "train_privately"]

_NEEDED: Final = ("torch", "opacus", "safetensors")
_FAILED: Final = Phrase("a private training failed after its charge").en  # as the ledger keeps it


@dataclass(frozen=True, slots=True)
class PrivatelyTrained:
    """A model that was paid for, what it cost and the id under which it was asked for."""

    model: Shelved
    settlement: Charged
    request_id: str


@dataclass(frozen=True)
class _Training(Passage[Receipt, "GeneratorModel", bytes, PrivatelyTrained]):
    """A private training on its way through: all that decides it comes from card and call alone."""

    dataset: Dataset
    plan: PrivatePlan
    name: str
    analyst: str
    request_id: str
    workspace: Workspace
    replace: bool
    progress: Callable[[PrivateEpoch], None] | None

    @cached_property
    def request(self) -> Request:
        datasets = {self.dataset.name: self.dataset}
        return Request(datasets, self.dataset.name, self.analyst, self.request_id, self._plan_hash())

    def _plan_hash(self) -> str:
        """Of this training alone, so that the ledger tells which model it has paid for."""
        settings = {name: str(value) for name, value in asdict(self.plan.settings).items()}
        asked = {"analyst": self.analyst, "request_id": self.request_id, "model": self.name, "settings": settings}
        return hash_facts({"what": "private training", "dataset": self.dataset.name, **asked, **self.plan.facts()})

    def check(self, ledger: Ledger) -> None:
        check_terms([self.dataset.card], ledger)

    def account(self) -> Charge[GeneratorModel]:
        used = {"mechanism": "private training of a generator", **self.plan.facts()}
        return Charge(
            request=self.request,
            ways=[self.request.charge(self.plan.guarantee, [used])],
            keep=self._keep,
            find=self._find,
            failure=_FAILED,
        )

    def _find(self, ledger: Ledger) -> Receipt | None:
        """The charge under this id, where its model was made: it is never trained a second time."""
        found = ledger.find_answer(
            population=self.request.population,
            dataset=self.dataset.name,
            version=self.dataset.version,
            plan_hash=self.request.plan_hash,
            at_least=self.plan.guarantee,
            analyst=self.analyst,
            request_id=self.request_id,
        )
        if found is None:
            return None
        if self._kept(found.answer) is None:
            raise Refused(
                say(
                    "the model of request id {request_id} was made and is no longer kept. Train another under a new "
                    "request id; it is charged anew.",
                    request_id=self.request_id,
                ),
                request_id=self.request_id,
            )
        return ledger.replay(found, analyst=self.analyst, request_id=self.request_id)

    def _kept(self, answer: bytes) -> Shelved | None:
        """The model that this charge has paid for, as it is kept."""
        if self.name not in self.workspace.models(self.dataset.name):
            return None
        found = find_model(self.workspace, self.dataset.name, self.name)
        return found if word_answer(found.origin.model_sha256) == answer else None

    def prepare(self, ledger: Ledger) -> Callable[[], GeneratorModel]:
        from discreet.lab.generator.protected.private_training import train_private

        dataset = self.dataset
        if ledger.requested(analyst=self.analyst, request_id=self.request_id) in (None, self.request.plan_hash):
            check_replacing(dataset, self.workspace, name=self.name, replace=self.replace)
        return lambda: train_private(read_rows(dataset), read_units(dataset), self.plan, progress=self.progress)

    def _keep(self, ledger: Ledger, receipt: Receipt, model: GeneratorModel) -> bytes:
        """The model's hash is committed before the model can be found, so one charge never gives two models."""

        def commit(digest: str) -> None:
            if ledger.commit_answer(receipt, word_answer(digest)) != word_answer(digest):
                raise RequestConflict(
                    say(
                        "another training under request id {request_id} was finished first, and its model holds.",
                        request_id=self.request_id,
                    ),
                    request_id=self.request_id,
                )

        kept = shelve(
            self.workspace, self.dataset, model, name=self.name, plan_hash=self.request.plan_hash, before=commit
        )
        return word_answer(kept.origin.model_sha256)

    def leave(self, ledger: Ledger, paid: Receipt, stored: bytes) -> PrivatelyTrained:
        model = self._kept(stored)
        assert model is not None, "what was kept a moment ago is there"
        return PrivatelyTrained(model, settled(paid), self.request_id)


def choose_rho(card: Card, *, rho: str | None, epsilon: str | None, delta: str | None) -> Decimal:
    """What a training may cost: rho, or the largest that is (epsilon, delta)-DP; delta is the budget's unless given."""
    if (rho is None) == (epsilon is None) or (delta is not None and epsilon is None):
        raise UsageError(
            say(
                "say what private training may cost with --rho R, or with --epsilon E and, where it is not to be "
                "the budget's, --delta D."
            )
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
        raise ExtraMissing(needed_for=Phrase("private training of the tabular generator"), extra="gan")
    found = workspace.dataset(dataset)
    _require_delta(found.card)
    check_rows_here(found)
    check_model_name(name)
    plan = plan_private(found.card, settings, rho=rho)
    training = _Training(found, plan, name, analyst, name_request(request_id), workspace, replace, progress)
    training.check(ledger)
    # Under an id that was used before, the model of this name may be the very one that was asked for.
    if ledger.requested(analyst=analyst, request_id=training.request_id) is None:
        check_replacing(found, workspace, name=name, replace=replace)
    if confirm is not None and not confirm(plan.guarantee):
        raise Refused(say("Not trained. Nothing was charged."))
    return release(training, ledger)


def _require_delta(card: Card) -> None:
    if not card.budget.delta:
        raise QueryRefused(
            say(
                "'{population}' has a pure budget, and private training is charged as zCDP. The custodian gives "
                "the budget a delta in the card and changes the population (discreet population change --card "
                "CARD --custodian). Nothing was charged.",
                population=card.population,
            ),
            population=card.population,
        )
