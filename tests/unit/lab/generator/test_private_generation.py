"""Private training is charged before a row is used, kept once, and told in fixed words when it fails."""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from discreet.errors import (
    BudgetExceeded,
    ChargedNotAnswered,
    DatasetSuspended,
    ExtraMissing,
    ParameterInvalid,
    QueryRefused,
    Refused,
    RequestConflict,
    UnknownName,
    UsageError,
)
from discreet.guarantees.numbers import text
from discreet.guarantees.types import ZCDP, Guarantee
from discreet.lab.generator.generation import sample_model
from discreet.lab.generator.generator_rows import read_rows
from discreet.lab.generator.inspection import draw_independently
from discreet.lab.generator.protected import private_generation
from discreet.lab.generator.protected.private_generation import PrivatelyTrained, choose_rho, train_privately
from discreet.lab.generator.protected.private_plan import PrivateSettings
from discreet.lab.generator.shelf import Shelved
from discreet.present.formats.json import charge_fields
from discreet.workspace.row_source import RowSource
from tests.unit.tables.office import CARD, POPULATION, WITH_DELTA, Office, open_office

# Private training refuses columns whose bounds or categories are not the card's own.
PLAIN = [line for line in WITH_DELTA.splitlines() if not line.strip().startswith(("wide:", "guessed:"))]
OPEN = "\n".join(PLAIN) + "\n"
SECRET = "a value from the rows"


@dataclass(frozen=True)
class Stand:
    """In place of a privately trained model; no two are alike."""

    guarantee: Guarantee

    def save(self, folder: Path) -> None:
        (folder / "model.json").write_text(secrets.token_hex(8))


@dataclass
class Trainer:
    """In place of the training: it counts its calls, and may do something first."""

    office: Office
    calls: int = 0
    first: Callable[[], None] = lambda: None

    def __call__(self, rows: Any, units: Any, plan: Any, *, progress: Any = None) -> Stand:
        assert len(rows) == len(units)
        assert self.office.session.budget(POPULATION).charges, "charged before a row is used"
        self.calls += 1
        self.first()
        return Stand(plan.guarantee)


@pytest.fixture
def office(tmp_path: Path) -> Iterator[Office]:
    with open_office(tmp_path, OPEN) as office:
        yield office


@pytest.fixture
def trainer(office: Office, monkeypatch: pytest.MonkeyPatch) -> Trainer:
    trainer = Trainer(office)
    monkeypatch.setattr("discreet.lab.generator.protected.private_training.train_private", trainer)
    monkeypatch.setattr(private_generation, "find_spec", lambda _: True)
    return trainer


def _train(office: Office, *, rho: str = "0.1", **options: Any) -> PrivatelyTrained:
    session = office.session
    asked = {"settings": PrivateSettings(epochs=2), "analyst": "ana", **options}
    return train_privately("people", session.workspace, session.ledger, rho=Decimal(rho), **asked)


def _charges(office: Office) -> int:
    return office.session.budget(POPULATION).charges


def test_a_training_is_charged_what_its_plan_costs(office: Office, trainer: Trainer) -> None:
    seen: list[Guarantee] = []

    def agree(cost: Guarantee) -> bool:
        seen.append(cost)
        return True

    made = _train(office, confirm=agree)
    (cost,) = seen
    assert isinstance(cost, ZCDP)
    assert 0 < cost.rho <= Decimal("0.1")
    assert made.model.origin.guarantee == str(cost)
    told = charge_fields(made.settlement)
    assert (told["rho"], told["epsilon_before"]) == (text(cost.rho), "0")
    assert Decimal(told["epsilon_after"]) > 0
    assert office.session.budget(POPULATION).population.rho_spent == cost.rho
    assert not office.session.budget(POPULATION).markers


def test_one_charge_gives_one_model(office: Office, trainer: Trainer) -> None:
    first = _train(office, request_id="once")
    again = _train(office, request_id="once")
    assert (trainer.calls, _charges(office)) == (1, 1)
    assert again.model == first.model
    with pytest.raises(RequestConflict):
        _train(office, rho="0.2", request_id="once")
    with pytest.raises(RequestConflict):
        _train(office, name="other", request_id="once")
    with pytest.raises(RequestConflict):
        _train(office, settings=PrivateSettings(epochs=2, cells=5), request_id="once")
    for request_id in (None, "twice"):
        with pytest.raises(Refused, match="paid for"):
            _train(office, request_id=request_id)
    assert _charges(office) == 1
    _train(office, replace=True)
    with pytest.raises(Refused, match="no longer kept"):
        _train(office, request_id="once")
    assert (trainer.calls, _charges(office)) == (2, 2)


def test_rows_of_a_model_are_proven_by_its_charge(
    office: Office, trainer: Trainer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two trainings of the same sort: each model stands for its own charge, and neither for the other's."""
    _train(office, name="open")
    _train(office, name="other")
    session = office.session
    rows = draw_independently(read_rows(session.workspace.dataset("people")), 5, np.random.default_rng(0))
    monkeypatch.setattr(Stand, "sample", lambda *_: rows, raising=False)
    monkeypatch.setattr(Shelved, "load", lambda found: Stand(ZCDP(rho="0.1")))

    def sample() -> None:
        asked: dict[str, Any] = {"count": 5, "out": tmp_path / "made.csv", "overwrite": True, "analyst": "ana"}
        sample_model("people", session.workspace, session.ledger, name="open", **asked)

    sample()
    folder = session.workspace.model_folder("people", "open")
    foreign = session.workspace.model_folder("people", "other") / "model.json"
    origin = json.loads((folder / "origin.json").read_text())
    origin["model_sha256"] = hashlib.sha256(foreign.read_bytes()).hexdigest()
    (folder / "origin.json").write_text(json.dumps(origin))
    with pytest.raises(Refused, match="no charge for model 'open'"):
        sample()


def test_rows_that_stay_elsewhere_are_refused_before_the_charge(
    office: Office, trainer: Trainer, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, found = office.head, office.session.workspace.dataset("people")
    away = replace(found, source=RowSource("postgres", dsn_env="DSN", table="people"))
    monkeypatch.setattr(type(office.session.workspace), "dataset", lambda *_: away)
    with pytest.raises(Refused, match="stay in postgres"):
        _train(office)
    assert office.head == before


def test_a_failed_training_keeps_its_charge_and_tells_nothing(office: Office, trainer: Trainer) -> None:
    def fail() -> None:
        raise RuntimeError(SECRET)

    trainer.first = fail
    with pytest.raises(ChargedNotAnswered) as told:
        _train(office)
    assert SECRET not in told.value.message
    assert told.value.__cause__ is None
    assert told.value.__suppress_context__
    assert _charges(office) == 1
    assert office.session.workspace.models("people") == ()
    with pytest.raises(DatasetSuspended):
        _train(office)


def test_an_interrupted_training_costs_nothing_more_under_its_id(office: Office, trainer: Trainer) -> None:
    def interrupt() -> None:
        raise KeyboardInterrupt

    trainer.first = interrupt
    with pytest.raises(ChargedNotAnswered, match="--request-id later"):
        _train(office, request_id="later")
    assert office.session.workspace.models("people") == ()
    trainer.first = lambda: None
    _train(office)
    with pytest.raises(Refused, match="paid for"):
        _train(office, request_id="later")
    _train(office, request_id="later", replace=True)
    assert (trainer.calls, _charges(office)) == (3, 2)


def test_of_two_trainings_under_one_id_the_first_that_ends_holds(office: Office, trainer: Trainer) -> None:
    def overtake() -> None:
        trainer.first = lambda: None
        _train(office, request_id="once")

    trainer.first = overtake
    with pytest.raises(RequestConflict, match="finished first"):
        _train(office, request_id="once")
    kept = _train(office, request_id="once").model
    assert (trainer.calls, _charges(office), kept.folder.name) == (2, 1, "v1")


def test_what_is_refused_is_not_charged(office: Office, trainer: Trainer, monkeypatch: pytest.MonkeyPatch) -> None:
    before = office.head
    with pytest.raises(BudgetExceeded):
        _train(office, rho="1000")
    with pytest.raises(Refused, match="Not trained"):
        _train(office, confirm=lambda _: False)
    with pytest.raises(ParameterInvalid, match="model name"):
        _train(office, name="../x")
    with pytest.raises(ParameterInvalid, match="model name"):
        _train(office, name="../x", request_id="once")
    with pytest.raises(UnknownName, match="analyst"):
        _train(office, analyst="nobody")
    with pytest.raises(ParameterInvalid, match="request id"):
        _train(office, request_id="a b")
    monkeypatch.setattr(private_generation, "find_spec", lambda _: None)
    with pytest.raises(ExtraMissing, match="gan"):
        _train(office)
    assert (office.head, trainer.calls) == (before, 0)


@pytest.mark.parametrize(("card", "told"), [(CARD, "pure budget"), (WITH_DELTA, "column 'wide'")])
def test_a_card_that_does_not_say_enough_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, card: str, told: str
) -> None:
    monkeypatch.setattr(private_generation, "find_spec", lambda _: True)
    with open_office(tmp_path / "other", card) as office:
        before = office.head
        with pytest.raises(Refused, match=told):
            _train(office)
        assert office.head == before


def test_what_it_may_cost_is_said_in_one_way(office: Office) -> None:
    card = office.session.workspace.dataset("people").card
    assert choose_rho(card, rho="0.3", epsilon=None, delta=None) == Decimal("0.3")
    usual = choose_rho(card, rho=None, epsilon="1", delta=None)
    assert usual == choose_rho(card, rho=None, epsilon="1", delta="1e-6")
    assert 0 < choose_rho(card, rho=None, epsilon="1", delta="1e-9") < usual
    for rho, epsilon, delta in ((None, None, None), ("1", "1", None), ("1", None, "1e-6"), (None, None, "1e-6")):
        with pytest.raises(UsageError, match="--rho R"):
            choose_rho(card, rho=rho, epsilon=epsilon, delta=delta)
    with pytest.raises(QueryRefused, match="pure budget"), open_office(office.session.workspace.path / "x") as pure:
        choose_rho(pure.session.workspace.dataset("people").card, rho="1", epsilon=None, delta=None)
