"""The workspace folder: made, opened, found; versions that survive a crash; paths that stay inside."""

from __future__ import annotations

import json
import os
import stat
from dataclasses import replace
from pathlib import Path

import pytest

from discreet.cards.card import Card
from discreet.errors import PathInvalid, Refused, UnknownName, UsageError, WorkspaceMissing
from discreet.paths import allowed_roots, resolve_inside
from discreet.workspace import ingest
from discreet.workspace.folder import LedgerSettings, Workspace, WorkspaceSettings, find_workspace

ROW = "person_id,province,age,weight,height,diagnosis\n1,10,40,5,1.7,flu\n"


def add(workspace: Workspace, card: Card, *, replace: bool = False) -> None:
    file = workspace.path.parent / "rows.csv"
    file.write_text(ROW)
    ingest.add_file(workspace, file, card, replace=replace)


def test_made_and_opened_again(workspace: Workspace) -> None:
    again = Workspace.open(workspace.path)
    assert again == workspace
    assert len(bytes.fromhex(again.salt)) == 16
    assert again.ledger == LedgerSettings("sqlite", None)
    assert stat.S_IMODE(workspace.path.stat().st_mode) == 0o700
    assert not workspace.key.exists()
    assert not workspace.key.is_relative_to(workspace.path)
    assert workspace.anchor.parent == workspace.key.parent


def test_two_workspaces_differ_in_id_and_salt(workspace: Workspace, tmp_path: Path) -> None:
    other = Workspace.create(tmp_path / "other")
    assert other.id != workspace.id
    assert other.salt != workspace.salt


def test_keys_live_in_the_state_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DISCREET_KEYS", raising=False)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    made = Workspace.create(tmp_path / "w")
    assert made.key == tmp_path / "state" / "discreet" / "keys" / f"{made.id}.key"


def test_settings_are_kept(tmp_path: Path) -> None:
    settings = WorkspaceSettings(
        ledger=LedgerSettings("postgres", "DISCREET_DSN"),
        key=tmp_path / "k",
        anchor=tmp_path / "a",
        roots=(tmp_path,),
    )
    made = Workspace.create(tmp_path / "w", settings=settings)
    again = Workspace.open(made.path)
    assert (again.ledger.dsn_env, again.key, again.anchor) == ("DISCREET_DSN", tmp_path / "k", tmp_path / "a")
    assert again.roots == (tmp_path.resolve(),)


@pytest.mark.parametrize(
    ("store", "variable"),
    [("mysql", None), ("postgres", None), ("sqlite", "X"), ("postgres", "postgresql://user:secret@host/db")],
)
def test_ledger_settings_are_checked(store: str, variable: str | None) -> None:
    with pytest.raises(UsageError) as refused:
        LedgerSettings(store, variable)
    assert "secret" not in str(refused.value)


def test_only_an_empty_folder_becomes_one(workspace: Workspace, tmp_path: Path) -> None:
    with pytest.raises(Refused, match="already"):
        Workspace.create(workspace.path)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "x").touch()
    with pytest.raises(PathInvalid, match="not an empty folder"):
        Workspace.create(tmp_path / "full")


def test_missing_says_the_next_step(tmp_path: Path) -> None:
    with pytest.raises(WorkspaceMissing, match="discreet init"):
        Workspace.open(tmp_path / "nowhere")


@pytest.mark.parametrize("text", ["{", "[]", '{"schema": 1}', '{"schema": 2, "id": "x"}'])
def test_a_damaged_or_later_workspace_is_refused(workspace: Workspace, text: str) -> None:
    (workspace.path / "workspace.json").write_text(text)
    with pytest.raises(Refused):
        Workspace.open(workspace.path)


def test_found_by_option_variable_or_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DISCREET_WORKSPACE", raising=False)
    assert find_workspace(None) == Path()
    monkeypatch.setenv("DISCREET_WORKSPACE", "there")
    assert find_workspace(None) == Path("there")
    assert find_workspace(Path("here")) == Path("here")


def test_versions_are_numbers(workspace: Workspace, card: Card) -> None:
    add(workspace, card)
    first = workspace.dataset("survey")
    add(workspace, card, replace=True)
    second = workspace.dataset("survey")
    assert (first.version, second.version) == (1, 2)
    assert first.data.is_file()
    assert second.data.parent.name == "v2"
    assert second.card == card
    assert [dataset.name for dataset in workspace.datasets()] == ["survey"]
    assert not any((workspace.path / "staging").iterdir())


def test_replace_must_be_meant(workspace: Workspace, card: Card) -> None:
    with pytest.raises(Refused, match="Leave out --replace"):
        add(workspace, card, replace=True)
    add(workspace, card)
    with pytest.raises(Refused, match="Use --replace"):
        add(workspace, card)


def test_unknown_dataset_names_the_nearest(workspace: Workspace, card: Card) -> None:
    add(workspace, card)
    with pytest.raises(UnknownName, match="Did you mean 'survey'"):
        workspace.dataset("surwey")
    with pytest.raises(UnknownName):
        workspace.dataset("../datasets/survey")


def test_a_name_is_a_dataset_s_as_it_is_spelled(workspace: Workspace, card: Card) -> None:
    assert workspace.current_version(card.dataset) is None
    add(workspace, card)
    assert workspace.current_version(card.dataset) == 1
    (workspace.path / "datasets" / "begun").mkdir()
    for name in ("", ".", "..", f"./{card.dataset}", f"{card.dataset}/", card.dataset.upper(), "begun", "a\0b"):
        assert workspace.current_version(name) is None


@pytest.mark.parametrize("step", ["rename", "write_whole"])
def test_a_crash_leaves_the_old_version_current(
    workspace: Workspace, card: Card, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    add(workspace, card)

    def crash(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        if step == "rename":
            patched.setattr(Path, "rename", crash)
        else:
            patched.setattr("discreet.workspace.folder.write_whole", crash)
        with pytest.raises(KeyboardInterrupt):
            add(workspace, card, replace=True)
    assert workspace.dataset("survey").version == 1
    add(workspace, card, replace=True)
    assert workspace.dataset("survey").version == (2 if step == "rename" else 3)


def test_what_a_killed_process_left_is_swept(workspace: Workspace, card: Card) -> None:
    left = workspace.path / "staging" / "deadbeef"
    left.mkdir()
    (left / "half.parquet").touch()
    with workspace.stage() as held:
        add(workspace, card)
        assert held.is_dir()
    assert not left.exists()
    assert not held.exists()


def test_a_lost_version_is_told(workspace: Workspace, card: Card) -> None:
    add(workspace, card)
    current = workspace.path / "datasets" / "survey" / "current.json"
    current.write_text(json.dumps({"version": 9}))
    with pytest.raises(Refused, match="--replace"):
        workspace.dataset("survey")


def test_paths_stay_inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inside, outside = tmp_path / "in", tmp_path / "out"
    inside.mkdir()
    outside.mkdir()
    (inside / "a.csv").touch()
    (outside / "b.csv").touch()
    (inside / "link.csv").symlink_to(outside / "b.csv")
    assert resolve_inside(inside / "a.csv", [inside]) == (inside / "a.csv").resolve()
    assert resolve_inside(outside / "b.csv") == (outside / "b.csv").resolve()
    for path in (inside / "link.csv", inside / ".." / "out" / "b.csv", outside / "b.csv"):
        with pytest.raises(PathInvalid, match="outside the allowed folders"):
            resolve_inside(path, [inside])
    with pytest.raises(PathInvalid, match="not a regular file"):
        resolve_inside(inside)
    os.mkfifo(tmp_path / "pipe.csv")
    with pytest.raises(PathInvalid, match="not a regular file"):
        resolve_inside(tmp_path / "pipe.csv")
    with pytest.raises(PathInvalid, match="does not exist"):
        resolve_inside(inside / "none.csv")
    with pytest.raises(PathInvalid):
        resolve_inside(Path("a\0b"))
    monkeypatch.setenv("DISCREET_ROOTS", f"{inside}{os.pathsep}{outside}")
    assert allowed_roots() == (inside.resolve(), outside.resolve())


def test_adding_obeys_the_roots(workspace: Workspace, card: Card, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DISCREET_ROOTS", str(workspace.path))
    with pytest.raises(PathInvalid, match="DISCREET_ROOTS"):
        add(workspace, card)


def test_adding_obeys_the_roots_of_the_workspace(workspace: Workspace, card: Card) -> None:
    with pytest.raises(PathInvalid, match="outside the allowed folders"):
        add(replace(workspace, roots=(workspace.path,)), card)
    assert workspace.names() == ()
