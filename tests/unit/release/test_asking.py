"""The way of an answer: what holds when the ledger, its anchor or the terms fail on the way."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from discreet.data.workspace import Dataset, Workspace
from discreet.errors import ChargedNotAnswered, LedgerUnavailable, PopulationConflict
from discreet.ledger import Ledger
from discreet.ledger.seal import Anchor
from discreet.session import Session
from tests.unit.release.conftest import CARD

SQL = "SELECT COUNT(*) AS n FROM t"


def refuse(*_: object, **__: object) -> Any:
    raise LedgerUnavailable("The anchor cannot be used.")


def test_a_charge_whose_anchor_fails_is_told_as_charged_and_healed_by_its_id(
    house: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(Anchor, "cover", refuse)
        with pytest.raises(ChargedNotAnswered) as caught:
            house.query(SQL, epsilon=1)
    assert house.budget("t").charges == 1
    answer = house.query(SQL, epsilon=1, request_id=str(caught.value.fields["request_id"]))
    assert answer.charge["epsilon"] == "0"
    assert house.budget("t").charges == 1


@pytest.mark.parametrize("step", ["commit_answer", "state"])
def test_a_ledger_that_fails_after_the_charge_is_told_as_charged(
    house: Session, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(Ledger, step, refuse)
        with pytest.raises(ChargedNotAnswered) as caught:
            house.query(SQL, epsilon=1, request_id="r")
    assert "--request-id r" in caught.value.message
    assert not house.ledger.suspended("t")
    assert house.query(SQL, epsilon=1, request_id="r").rows
    assert house.budget("t").charges == 1


def test_an_interrupt_after_the_charge_tells_the_request_id(house: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> list[int]:
        raise KeyboardInterrupt

    monkeypatch.setattr("discreet.release.asking.count_cells", interrupted)
    with pytest.raises(ChargedNotAnswered, match="--request-id r"):
        house.query(SQL, epsilon=1, request_id="r")


def test_a_refused_charge_tells_the_request_id_and_charges_nothing(
    house: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(Anchor, "require_writable", refuse)
        with pytest.raises(LedgerUnavailable, match="The request id was r"):
            house.query(SQL, epsilon=1, request_id="r")
    assert house.budget("t").charges == 0


def test_card_and_rows_of_a_question_are_of_one_version(house: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    original = Workspace.dataset

    def counted(self: Workspace, name: str) -> Dataset:
        read.append(name)
        return original(self, name)

    monkeypatch.setattr(Workspace, "dataset", counted)
    house.query(SQL, epsilon=1)
    assert read == ["t"]


def test_neighbours_are_fixed_by_the_first_charge(house: Session, tmp_path: Path) -> None:
    later = tmp_path / "later.yaml"
    later.write_text(CARD.replace("add-remove", "replace-one"), encoding="utf-8")
    more = tmp_path / "more.yaml"
    more.write_text(CARD.replace("epsilon: 100", "epsilon: 200"), encoding="utf-8")
    house.query(SQL, epsilon=1)
    with pytest.raises(PopulationConflict, match="neighbours and unit are fixed"):
        house.change_population(later, custodian=True)
    house.change_population(more, custodian=True)
    assert str(house.budget("t").population.epsilon_remaining) == "199"
    assert house.query(SQL, epsilon=2).rows


def test_a_card_that_no_longer_agrees_is_not_asked(house: Session, tmp_path: Path) -> None:
    later = tmp_path / "later.yaml"
    later.write_text(CARD.replace("add-remove", "replace-one"), encoding="utf-8")
    house.change_population(later, custodian=True)
    with pytest.raises(PopulationConflict, match="--replace"):
        house.query(SQL, epsilon=1)
    house.add(tmp_path / "t.csv", card=later, replace=True)
    assert house.query(SQL, epsilon=1).card.neighbours == "replace-one"
