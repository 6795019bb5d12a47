"""Models in a workspace: named, whole or not there, bound to their dataset and version."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from discreet.errors import FileRefused, ParameterInvalid, UnknownName
from discreet.guarantees.types import ZCDP, Guarantee, Unproven
from discreet.lab.generator.shelf import Shelved, check_model_name, find_model, hash_rows, list_models, shelve
from discreet.session import Session
from discreet.workspace.folder import Dataset, Workspace
from tests.unit.tables.office import HEADER, open_office

pytestmark = pytest.mark.slow

UNPROVEN = Unproven("a stand-in for a model")


@dataclass(frozen=True)
class Stand:
    """In place of a trained model: it writes a file, and may fail while it does."""

    words: str = "first"
    guarantee: Guarantee = UNPROVEN
    fails: bool = False

    def save(self, folder: Path) -> None:
        (folder / "model.json").write_text(json.dumps(self.words))
        if self.fails:
            raise OSError("the disk is full")


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    with open_office(tmp_path) as office:
        yield office.session


@pytest.fixture
def workspace(session: Session) -> Workspace:
    return session.workspace


@pytest.fixture
def people(workspace: Workspace) -> Dataset:
    return workspace.dataset("people")


def _shelve(workspace: Workspace, model: Stand, **options: Any) -> Shelved:
    return shelve(workspace, workspace.dataset("people"), model, **options)  # type: ignore[arg-type]


def _words(shelved: Shelved) -> str:
    return str(json.loads((shelved.folder / "model.json").read_text()))


def test_a_model_remembers_what_it_was_trained_on(workspace: Workspace, people: Dataset) -> None:
    _shelve(workspace, Stand(guarantee=ZCDP(rho="0.5")), name="open")
    found = find_model(workspace, "people", "open")
    origin = found.origin
    assert (origin.dataset, origin.version, origin.rows_sha256) == ("people", 1, hash_rows(people))
    assert (origin.guarantee, origin.differentially_private) == ("zCDP, rho = 0.5", True)
    assert (origin.unit, origin.neighbours) == (str(people.card.unit), "add-remove")
    assert found.tell_age(people) is None
    told = json.dumps(found.to_dict())
    assert json.loads(told)["name"] == "open"
    assert origin.rows_sha256 not in told
    assert origin.model_sha256 not in told


def test_a_model_of_an_older_version_is_usable_and_says_so(session: Session, tmp_path: Path) -> None:
    _shelve(session.workspace, Stand())
    (tmp_path / "people.csv").write_text(HEADER + "\n1,N,1,20,1,1.8,0,1,1,A,a,2\n")
    session.add(tmp_path / "people.csv", replace=True)
    found = find_model(session.workspace, "people")
    told = found.tell_age(session.workspace.dataset("people"))
    assert told == "model 'default' was trained on version 1 of 'people'; version 2 is current."
    assert found.origin.rows_sha256 != hash_rows(session.workspace.dataset("people"))


def test_training_again_replaces_the_model_and_keeps_no_copy(workspace: Workspace) -> None:
    _shelve(workspace, Stand("first"))
    second = _shelve(workspace, Stand("second"))
    assert _words(find_model(workspace, "people")) == "second"
    home = second.folder.parent
    assert sorted(f.name for f in home.iterdir()) == ["current.json", "v2"]


def test_a_failed_write_leaves_the_model_before_it(workspace: Workspace) -> None:
    _shelve(workspace, Stand("first"))
    with pytest.raises(OSError, match="full"):
        _shelve(workspace, Stand("second", fails=True))

    def refuse(digest: str) -> None:
        raise RuntimeError("the ledger does not commit it")

    with pytest.raises(RuntimeError):
        _shelve(workspace, Stand("third"), before=refuse)
    assert _words(find_model(workspace, "people")) == "first"
    assert not any(f.is_dir() for f in (workspace.path / "staging").iterdir())


def test_the_hash_is_told_before_the_model_can_be_found(workspace: Workspace) -> None:
    seen: list[tuple[str, tuple[str, ...]]] = []
    made = _shelve(workspace, Stand(), before=lambda digest: seen.append((digest, workspace.models("people"))))
    assert seen == [(made.origin.model_sha256, ())]


def test_models_are_listed_by_dataset_and_name(workspace: Workspace) -> None:
    assert list_models(workspace) == ()
    for name in ("wide", "narrow"):
        _shelve(workspace, Stand(name), name=name)
    assert [model.name for model in list_models(workspace)] == ["narrow", "wide"]
    assert [model.name for model in list_models(workspace, "people")] == ["narrow", "wide"]
    with pytest.raises(UnknownName, match="Did you mean 'people'"):
        list_models(workspace, "peple")


def test_an_unknown_model_is_told_with_the_nearest(workspace: Workspace) -> None:
    with pytest.raises(UnknownName, match="Train one with: discreet gan train people"):
        find_model(workspace, "people")
    _shelve(workspace, Stand(), name="narrow")
    with pytest.raises(UnknownName, match="Did you mean 'narrow'"):
        find_model(workspace, "people", "narow")
    with pytest.raises(UnknownName, match="Dataset 'persons'"):
        find_model(workspace, "persons")
    with pytest.raises(UnknownName):
        find_model(workspace, "people", "../people/narrow")


@pytest.mark.parametrize("name", ["", "a b", "../x", ".x", "-x", "X", "a/b", "ä", "x" * 41, "a\n"])
def test_names_that_are_no_folder_are_refused(workspace: Workspace, name: str) -> None:
    with pytest.raises(ParameterInvalid, match="model name"):
        check_model_name(name)
    with pytest.raises(ParameterInvalid):
        _shelve(workspace, Stand(), name=name)


def test_a_model_that_was_changed_by_hand_is_refused(workspace: Workspace) -> None:
    made = _shelve(workspace, Stand())
    (made.folder / "model.json").write_text(json.dumps("forged"))
    with pytest.raises(FileRefused, match="damaged"):
        find_model(workspace, "people").load()


@pytest.mark.parametrize(
    "change",
    [
        {"dataset": "others"},
        {"version": 0},
        {"version": True},
        {"model_sha256": ""},
        {"differentially_private": "yes"},
        {"differentially_private": True, "neighbours": ""},
        {"plan_sha256": None},
        {"more": 1},
    ],
)
def test_a_damaged_origin_is_refused_and_hides_no_other(workspace: Workspace, change: dict[str, object]) -> None:
    made = _shelve(workspace, Stand(), name="bad")
    _shelve(workspace, Stand(), name="good")
    origin = made.folder / "origin.json"
    origin.write_text(json.dumps({**json.loads(origin.read_text()), **change}))
    with pytest.raises(FileRefused, match="Train it again"):
        find_model(workspace, "people", "bad")
    assert [model.name for model in list_models(workspace)] == ["good"]


@pytest.mark.parametrize("text", ["", "{", '{"version": 9}', '{"version": "1"}', "[]"])
def test_a_damaged_pointer_is_refused(workspace: Workspace, text: str) -> None:
    made = _shelve(workspace, Stand())
    (made.folder.parent / "current.json").write_text(text)
    with pytest.raises(FileRefused):
        find_model(workspace, "people")
    assert list_models(workspace) == ()
    _shelve(workspace, Stand("again"))
    assert _words(find_model(workspace, "people")) == "again"


def test_models_are_closed_to_others(workspace: Workspace) -> None:
    made = _shelve(workspace, Stand())
    for folder in (made.folder, made.folder.parent, made.folder.parents[1], made.folder.parents[2]):
        assert folder.stat().st_mode & 0o077 == 0, folder
