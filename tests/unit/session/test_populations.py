"""Populations that another workspace has: workspaces whose keys share a folder know of each other and ask."""

from __future__ import annotations

import errno
import json
import os
import shutil
from pathlib import Path

import pytest

import discreet
from discreet.errors import PathInvalid, PopulationConflict
from discreet.session import Session
from discreet.workspace.populations import NewPopulation, find_elsewhere

CARD = """
dataset: people
population: residents
unit: {column: pid, rows: 1}
neighbours: add-remove
budget: {epsilon: 2}
columns:
  pid: {kind: id, type: integer}
  age: {kind: integer, bounds: [0, 100]}
"""


@pytest.fixture
def keys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DISCREET_KEYS", str(tmp_path / "keys"))
    (tmp_path / "people.csv").write_text("pid,age\n1,20\n2,30\n", encoding="utf-8")
    return tmp_path / "keys"


def add(folder: Path, name: str, *, population: str = "residents", answer: bool = True) -> list[NewPopulation]:
    """Add the file to a workspace, which is made if it is not there; returns what had to be confirmed."""
    (folder / "people.yaml").write_text(CARD.replace("residents", population), encoding="utf-8")
    asked: list[NewPopulation] = []

    def confirm(new: NewPopulation) -> bool:
        asked.append(new)
        return answer

    with discreet.open(folder / name) if (folder / name).exists() else Session.create(folder / name) as session:
        session.add(folder / "people.csv", replace=bool(session.datasets()), confirm=confirm)
    return asked


def note_of(folder: Path, name: str) -> Path:
    with discreet.open(folder / name) as session:
        return session.workspace.key.with_name(f"{session.workspace.id}.populations")


def test_the_first_workspace_hears_of_no_other(keys: Path, tmp_path: Path) -> None:
    [asked] = add(tmp_path, "one")
    assert (asked.first, asked.elsewhere) == (True, ())
    note = json.loads(note_of(tmp_path, "one").read_text(encoding="utf-8"))
    assert note.pop("workspace") in {path.stem for path in keys.glob("*.key")}
    assert note == {
        "schema": 1,
        "path": str(tmp_path / "one"),
        "populations": [
            {
                "population": "residents",
                "unit": "pid",
                "type": "integer",
                "neighbours": "add-remove",
                "budget": "epsilon 2; per analyst epsilon 2",
            }
        ],
    }
    assert add(tmp_path, "one") == []  # a new version of what is known asks nothing


@pytest.mark.parametrize("gone", [False, True])
def test_a_second_workspace_is_asked_about_the_same_name(keys: Path, tmp_path: Path, gone: bool) -> None:
    add(tmp_path, "one")
    if gone:
        shutil.rmtree(tmp_path / "one")  # what was answered there stays answered
    with pytest.raises(PopulationConflict) as refused:
        add(tmp_path, "two", answer=False)
    for words in (f"'{tmp_path / 'one'}'", "epsilon 2;", "add up", "to that workspace", "--yes"):
        assert words in refused.value.message
    with discreet.open(tmp_path / "two") as session:
        assert session.populations() == ()
        assert not note_of(tmp_path, "two").exists()
    [asked] = add(tmp_path, "two")
    assert asked.first
    assert [(found.place, found.budget) for found in asked.elsewhere] == [
        (str(tmp_path / "one"), "epsilon 2; per analyst epsilon 2")
    ]
    assert str(tmp_path / "one") in asked.question
    assert [found.place for found in add(tmp_path, "three")[0].elsewhere] == [
        str(tmp_path / "one"),
        str(tmp_path / "two"),
    ]


def test_another_name_or_another_folder_of_keys_is_not_known(
    keys: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(tmp_path, "one")
    assert add(tmp_path, "two", population="others")[0].elsewhere == ()
    monkeypatch.setenv("DISCREET_KEYS", str(tmp_path / "other keys"))
    assert add(tmp_path, "three")[0].elsewhere == ()


def test_names_are_compared_as_people_read_them(keys: Path, tmp_path: Path) -> None:
    add(tmp_path, "one", population="r.sidents")
    note = note_of(tmp_path, "one")
    note.write_text(note.read_text(encoding="utf-8").replace("r.sidents", " RE\\u0301SIDENTS "), encoding="utf-8")
    with Session.create(tmp_path / "two") as session:
        assert len(find_elsewhere(session.workspace, "r\u00e9sidents")) == 1
        assert find_elsewhere(session.workspace, "residents") == ()


def test_a_workspace_made_earlier_tells_of_itself_when_it_next_adds(keys: Path, tmp_path: Path) -> None:
    add(tmp_path, "one")
    note = note_of(tmp_path, "one")
    told = note.read_text(encoding="utf-8")
    for damage in (note.unlink, lambda: note.write_text("{", encoding="utf-8")):
        damage()
        add(tmp_path, "one")
        assert note.read_text(encoding="utf-8") == told


def test_changed_terms_are_told(keys: Path, tmp_path: Path) -> None:
    add(tmp_path, "one")
    (tmp_path / "people.yaml").write_text(CARD.replace("epsilon: 2", "epsilon: 5"), encoding="utf-8")
    with discreet.open(tmp_path / "one") as session:
        session.change_population(tmp_path / "people.yaml", custodian=True)
    assert add(tmp_path, "two")[0].elsewhere[0].budget == "epsilon 5; per analyst epsilon 5"


HOSTILE = {
    "garbage": "\x00\x1b]0;x\x07 not JSON",
    "empty": "",
    "list": "[]",
    "number": "7",
    "later": '{"schema": 2, "path": "p", "populations": []}',
    "no path": '{"schema": 1, "populations": []}',
    "numbers": '{"schema": 1, "path": "p", "populations": [{"population": 1, "budget": "b"}]}',
    "texts": '{"schema": 1, "path": "p", "populations": "residents"}',
    "deep": "[" * 200_000,
    "long": " " * (1 << 20) + "{}",
    "digits": "9" * 10_000,
}


def test_a_note_that_cannot_be_read_asks_and_blocks_nothing_else(keys: Path, tmp_path: Path) -> None:
    add(tmp_path, "one")
    (keys / "bad.populations").write_text(HOSTILE["garbage"], encoding="utf-8")
    assert add(tmp_path, "one") == []
    with pytest.raises(
        PopulationConflict, match=r"'bad\.populations' in the folder of the ledger's key cannot be read"
    ):
        add(tmp_path, "two", population="others", answer=False)
    add(tmp_path, "two", population="others")


def test_notes_are_read_with_care(keys: Path, tmp_path: Path) -> None:
    keys.mkdir(mode=0o700)
    for name, text in HOSTILE.items():
        (keys / f"{name}.populations").write_text(text, encoding="utf-8")
    with Session.create(tmp_path / "one") as session:
        found = find_elsewhere(session.workspace, "residents")
    assert [(one.place, one.budget) for one in found] == [(f"{name}.populations", None) for name in sorted(HOSTILE)]


def test_what_is_no_file_neither_hangs_nor_passes(keys: Path, tmp_path: Path) -> None:
    add(tmp_path, "one")
    os.mkfifo(keys / "a.populations")
    (keys / "b.populations").mkdir()
    (keys / "c.populations").symlink_to("/dev/zero")
    (keys / "d.populations").write_bytes(b"\xff\xfe")
    asked = add(tmp_path, "two")[0].elsewhere
    assert [found.place for found in asked] == [str(tmp_path / "one"), *(f"{name}.populations" for name in "abcd")]


def test_what_others_wrote_is_shown_safely(keys: Path, tmp_path: Path) -> None:
    add(tmp_path, "one")
    note = {
        "schema": 1,
        "path": "\x1b[2J\u202e" + "x" * 500,
        "populations": [{"population": "residents", "budget": "\n--yes"}] * 9,
    }
    for number in range(5):
        (keys / f"{number}.populations").write_text(json.dumps(note), encoding="utf-8")
    with pytest.raises(PopulationConflict) as refused:
        add(tmp_path, "two", answer=False)
    assert refused.value.message.isprintable()
    assert len(refused.value.message) < 1500
    assert "There are 43 more like these." in refused.value.message
    (asked,) = add(tmp_path, "three")
    assert asked.question.isprintable(), "what is asked is no error, and nobody else cleans it"


def test_of_two_that_begin_together_one_hears_of_the_other(keys: Path, tmp_path: Path) -> None:
    (tmp_path / "people.yaml").write_text(CARD, encoding="utf-8")

    def meanwhile(new: NewPopulation) -> bool:
        assert new.elsewhere == ()
        add(tmp_path, "two")
        return True

    with Session.create(tmp_path / "one") as session:
        with pytest.raises(PopulationConflict, match="has a population of this name already"):
            session.add(tmp_path / "people.csv", confirm=meanwhile)
        assert session.populations() == ()
    assert json.loads(note_of(tmp_path, "one").read_text(encoding="utf-8"))["populations"] == []
    assert [found.place for found in add(tmp_path, "one")[0].elsewhere] == [str(tmp_path / "two")]


def test_a_population_does_not_begin_untold(keys: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    add(tmp_path, "one")
    note_of(tmp_path, "one").unlink()
    monkeypatch.setattr("discreet.workspace.populations.write_whole", _refuse_to_write)
    add(tmp_path, "one")  # its population began before
    with pytest.raises(PathInvalid, match="tells other workspaces"):
        add(tmp_path, "two", population="others")
    with discreet.open(tmp_path / "two") as session:
        assert (session.populations(), session.datasets()) == ((), ())


def _refuse_to_write(*_: object) -> None:
    raise OSError(errno.EROFS, os.strerror(errno.EROFS))
