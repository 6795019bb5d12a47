"""What training, sampling and inspecting leave on the ledger, with a stand-in for the trained model."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
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
from discreet.guarantees.types import ZCDP, Guarantee, Unproven
from discreet.lab.generator import generation
from discreet.lab.generator.generation import check_replacing, check_rows_here, inspect_model, sample_model, word_answer
from discreet.lab.generator.generator_rows import GeneratorRows, read_rows
from discreet.lab.generator.inspection import draw_independently
from discreet.lab.generator.shelf import Shelved, shelve
from discreet.ledger import SpendRequest
from discreet.workspace.row_source import RowSource
from tests.unit.tables.office import POPULATION, WITH_DELTA, Office, open_office

UNPROVEN = Unproven("a stand-in for a model")
OPEN = WITH_DELTA.replace("\ncolumns:", "\nallow: [generated]\ncolumns:")


@dataclass(frozen=True)
class Stand:
    """In place of a trained model: it draws columns independently from the rows it was given."""

    rows: GeneratorRows
    guarantee: Guarantee = UNPROVEN

    def save(self, folder: Path) -> None:
        (folder / "model.json").write_text("{}")

    def sample(self, count: int, *, seed: int | None = None) -> GeneratorRows:
        return draw_independently(self.rows, count, np.random.default_rng(seed))


Shelve = Callable[..., None]
PLAN = "f" * 64


@pytest.fixture
def office(tmp_path: Path) -> Iterator[Office]:
    with open_office(tmp_path, OPEN) as office:
        yield office


@pytest.fixture
def closed(tmp_path: Path) -> Iterator[Office]:
    """Its card does not permit generated releases."""
    with open_office(tmp_path / "closed", WITH_DELTA) as office:
        yield office


def _charge(office: Office, guarantee: ZCDP, digest: str) -> None:
    """As a private training would: paid for under a plan of its own, and the model's hash committed."""
    what: dict[str, Any] = {"population": POPULATION, "dataset": "people", "version": 1, "analyst": "ana"}
    request = SpendRequest(**what, request_id=PLAN, plan_hash=PLAN, mechanisms=({"what": "x"},), guarantee=guarantee)
    ledger = office.session.ledger
    ledger.commit_answer(ledger.spend(request), word_answer(digest))


@pytest.fixture
def train(monkeypatch: pytest.MonkeyPatch) -> Shelve:
    def put(office: Office, guarantee: Guarantee = UNPROVEN, name: str = "default", charged: bool = True) -> None:
        workspace = office.session.workspace
        dataset = workspace.dataset("people")
        model: Any = Stand(read_rows(dataset), guarantee)
        made = shelve(workspace, dataset, model, name=name, plan_hash=PLAN)
        if charged and isinstance(guarantee, ZCDP):
            _charge(office, guarantee, made.origin.model_sha256)
        monkeypatch.setattr(Shelved, "load", lambda _: model)

    return put


def _sample(office: Office, out: Path, **options: Any) -> generation.SampledRows:
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


def test_the_marker_names_the_rows_that_the_model_has_seen(office: Office, train: Shelve, tmp_path: Path) -> None:
    train(office)
    office.session.add(tmp_path / "people.csv", replace=True)
    done = _sample(office, tmp_path / "made.csv")
    (marker,) = office.session.budget(POPULATION).markers
    assert marker.version == 1
    assert "was trained on version 1 of 'people'; version 2 is current" in done.warnings[0]


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
    told = done.to_dict()
    assert (told["unit"], told["neighbours"]) == ("pid (at most 1 row each)", "add-remove")


@pytest.mark.parametrize("charge", ["none", "of another model"])
def test_a_model_that_this_ledger_has_not_paid_for_proves_nothing(
    closed: Office, train: Shelve, tmp_path: Path, charge: str
) -> None:
    train(closed, ZCDP(rho="0.1"), charged=False)
    if charge != "none":
        _charge(closed, ZCDP(rho="0.1"), "0" * 64)
    before = closed.head
    with pytest.raises(Refused, match="the ledger has no charge for model 'default'"):
        _sample(closed, tmp_path / "made.csv")
    assert closed.head == before
    assert not (tmp_path / "made.csv").exists()


def test_the_marker_stands_before_the_rows_are_made(
    office: Office, train: Shelve, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    train(office)
    seen: list[int] = []
    sample = Stand.sample

    def watch(self: Stand, count: int, *, seed: int | None = None) -> GeneratorRows:
        seen.append(_markers(office))
        return sample(self, count, seed=seed)

    monkeypatch.setattr(Stand, "sample", watch)
    _sample(office, tmp_path / "made.csv")
    assert seen == [1]


def test_a_file_that_cannot_be_written_is_told_with_its_marker(
    office: Office, train: Shelve, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise PathInvalid("the disk is full.", file="made.csv")

    train(office)
    monkeypatch.setattr(generation, "write_rows", fail)
    with pytest.raises(PathInvalid, match=r"full\. The marker on the ledger stays\."):
        _sample(office, tmp_path / "made.csv")
    assert _markers(office) == 1


def test_rows_that_stay_elsewhere_are_refused_by_the_card(office: Office) -> None:
    people = office.session.workspace.dataset("people")
    check_rows_here(people)
    away = replace(people, source=RowSource("postgres", dsn_env="DSN", table="people"))
    with pytest.raises(Refused, match="stay in postgres"):
        check_rows_here(away)


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
    for name, replacing in (("open", True), ("plain", False), ("new", False)):
        check_replacing(people, workspace, name=name, replace=replacing)
    (workspace.model_folder("people", "open") / "origin.json").write_text("{")
    check_replacing(people, workspace, name="open", replace=False)
