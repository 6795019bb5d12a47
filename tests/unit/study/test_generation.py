"""What training, sampling and inspecting leave on the ledger, with a stand-in for the trained model."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from discreet.errors import (
    CustodianOnly,
    DatasetSuspended,
    ParameterInvalid,
    PathInvalid,
    Refused,
    UnknownName,
)
from discreet.generator.inspection import draw_independently
from discreet.generator.rows import Rows, read_rows
from discreet.generator.shelf import Shelved, shelve
from discreet.guarantees.types import ZCDP, Guarantee, Unproven
from discreet.study import generation
from discreet.study.generation import check_replacing, inspect_model, sample_model
from tests.unit.tables.office import CARD, POPULATION, Office, open_office

UNPROVEN = Unproven("a stand-in for a model")
OPEN = CARD.replace("\ncolumns:", "\nallow: [generated]\ncolumns:")


@dataclass(frozen=True)
class Stand:
    """In place of a trained model: it draws columns independently from the rows it was given."""

    rows: Rows
    guarantee: Guarantee = UNPROVEN

    def save(self, folder: Path) -> None:
        (folder / "model.json").write_text("{}")

    def sample(self, count: int, *, seed: int | None = None) -> Rows:
        return draw_independently(self.rows, count, np.random.default_rng(seed))


Shelve = Callable[..., None]


@pytest.fixture
def office(tmp_path: Path) -> Iterator[Office]:
    with open_office(tmp_path, OPEN) as office:
        yield office


@pytest.fixture
def closed(tmp_path: Path) -> Iterator[Office]:
    """Its card does not permit generated releases."""
    with open_office(tmp_path / "closed") as office:
        yield office


@pytest.fixture
def train(monkeypatch: pytest.MonkeyPatch) -> Shelve:
    def put(office: Office, guarantee: Guarantee = UNPROVEN, name: str = "default") -> None:
        workspace = office.session.workspace
        dataset = workspace.dataset("people")
        model: Any = Stand(read_rows(dataset), guarantee)
        shelve(workspace, dataset, model, name=name)
        monkeypatch.setattr(Shelved, "load", lambda _: model)

    return put


def _sample(office: Office, out: Path, **options: Any) -> generation.Sampled:
    session = office.session
    asked = {"count": 50, "analyst": "ana", **options}
    return sample_model("people", session.workspace, session.ledger, out=out, **asked)


def _markers(office: Office) -> int:
    return len(office.session.budget(POPULATION).markers)


def test_unproven_rows_leave_a_marker_for_good(office: Office, train: Shelve, tmp_path: Path) -> None:
    train(office)
    done = _sample(office, tmp_path / "made.csv")
    assert done.rows == 50
    assert not done.guarantee.differentially_private
    (marker,) = office.session.budget(POPULATION).markers
    assert (marker.analyst, marker.dataset, marker.version) == ("ana", "people", 1)
    assert any("no longer bounds everything" in warning for warning in done.warnings)
    lines = (tmp_path / "made.csv").read_text().splitlines()
    assert len(lines) == 51
    assert all("not differentially private" in line for line in lines[1:])
    assert json.loads(json.dumps(done.to_dict()))["differentially_private"] is False
    _sample(office, tmp_path / "more.parquet")
    assert _markers(office) == 2


def test_without_the_opt_in_nothing_is_written_or_marked(closed: Office, train: Shelve, tmp_path: Path) -> None:
    train(closed)
    head = closed.head
    with pytest.raises(Refused, match=r"allow: \[generated\]"):
        _sample(closed, tmp_path / "made.csv")
    assert not (tmp_path / "made.csv").exists()
    assert closed.head == head


def test_an_origin_that_claims_a_guarantee_does_not_open_the_door(
    closed: Office, train: Shelve, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    train(closed, ZCDP(rho="0.5"))
    forged: Any = Stand(read_rows(closed.session.workspace.dataset("people")))
    monkeypatch.setattr(Shelved, "load", lambda _: forged)
    with pytest.raises(Refused, match=r"allow: \[generated\]"):
        _sample(closed, tmp_path / "made.csv")
    assert not (tmp_path / "made.csv").exists()


def test_proven_rows_leave_no_marker_and_need_no_opt_in(closed: Office, train: Shelve, tmp_path: Path) -> None:
    train(closed, ZCDP(rho="0.5"))
    before = closed.head
    done = _sample(closed, tmp_path / "made.csv")
    assert (str(done.guarantee), done.warnings, closed.head) == ("zCDP, rho = 0.5", (), before)
    head = (tmp_path / "made.csv").read_text().splitlines()[0]
    assert head == "region,smokes,age,grade,height,change,serial,wide,guessed,weight"


def test_the_marker_stands_before_the_rows_are_made(
    office: Office, train: Shelve, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    train(office)
    seen: list[int] = []
    sample = Stand.sample

    def watch(self: Stand, count: int, *, seed: int | None = None) -> Rows:
        seen.append(_markers(office))
        return sample(self, count, seed=seed)

    monkeypatch.setattr(Stand, "sample", watch)
    _sample(office, tmp_path / "made.csv")
    assert seen == [1]


def test_what_is_refused_leaves_no_mark(office: Office, train: Shelve, tmp_path: Path) -> None:
    train(office)
    (tmp_path / "there.csv").write_text("mine")
    head = office.head
    with pytest.raises(ParameterInvalid, match="rows must lie between 1"):
        _sample(office, tmp_path / "made.csv", count=0)
    with pytest.raises(ParameterInvalid, match="rows must lie between 1"):
        _sample(office, tmp_path / "made.csv", count=-5)
    with pytest.raises(ParameterInvalid, match=r"\.csv or \.parquet"):
        _sample(office, tmp_path / "made.txt")
    with pytest.raises(PathInvalid, match="--overwrite"):
        _sample(office, tmp_path / "there.csv")
    with pytest.raises(UnknownName, match="Did you mean 'default'"):
        _sample(office, tmp_path / "made.csv", name="defualt")
    with pytest.raises(UnknownName, match="analyst"):
        _sample(office, tmp_path / "made.csv", analyst="nobody")
    with pytest.raises(Refused, match="Not sampled"):
        _sample(office, tmp_path / "made.csv", confirm=lambda guarantee: guarantee.differentially_private)
    assert office.head == head
    office.session.ledger.suspend("people", population=POPULATION, reason="a test", who="ana")
    with pytest.raises(DatasetSuspended):
        _sample(office, tmp_path / "made.csv")
    assert _markers(office) == 0
    assert not (tmp_path / "made.csv").exists()
    assert (tmp_path / "there.csv").read_text() == "mine"


def test_an_inspection_is_the_custodians_and_is_logged(office: Office, train: Shelve) -> None:
    train(office)
    session, head = office.session, office.head
    with pytest.raises(CustodianOnly):
        inspect_model("people", session.workspace, session.ledger, custodian=False, who="ana")
    assert office.head == head
    found = inspect_model("people", session.workspace, session.ledger, custodian=True, who="ana", counts=[40, 60])
    assert office.head[0] == head[0] + 1
    assert list(found.rows.values()) == [240, 40, 60, 240]
    usual = inspect_model("people", session.workspace, session.ledger, custodian=True, who="ana")
    assert list(usual.rows.values()) == [240, 240, 10_000, 100_000, 240]


def test_a_model_that_was_paid_for_is_not_replaced_by_accident(office: Office, train: Shelve) -> None:
    train(office, ZCDP(rho="0.5"), name="open")
    train(office, name="plain")
    workspace = office.session.workspace
    people = workspace.dataset("people")
    with pytest.raises(Refused, match="paid for"):
        check_replacing(people, workspace, name="open", replace=False)
    for name, replace in (("open", True), ("plain", False), ("new", False)):
        check_replacing(people, workspace, name=name, replace=replace)
