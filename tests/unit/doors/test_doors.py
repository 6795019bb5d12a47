"""Rooms are entered by their doors, which say what is there and load no more than is asked for."""

from __future__ import annotations

import ast
import posixpath
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import discreet
from discreet.doors import open_door
from tests.places import GOLDEN

HOUSE = Path(discreet.__file__).parent
ROOMS = sorted(path.parent.name for path in HOUSE.glob("*/__init__.py"))
LOADED = GOLDEN / "loaded"


@pytest.mark.parametrize("room", ROOMS)
def test_a_door_names_what_is_behind_it_and_explains_itself(room: str) -> None:
    door = import_module(f"discreet.{room}")
    assert len((door.__doc__ or "").strip().splitlines()) >= 3
    children = {path.stem for path in (HOUSE / room).iterdir()}
    assert not children & set(door.__all__), "a module that is loaded would hide the name"
    assert set(dir(door)) <= set(door.__all__)
    for name in door.__all__:
        assert getattr(door, name) is not None


def test_a_name_that_is_not_there_is_an_error() -> None:
    with pytest.raises(AttributeError, match=r"module 'discreet\.ledger' has no attribute 'absent'"):
        import_module("discreet.ledger").absent  # noqa: B018
    with pytest.raises(ImportError):
        exec("from discreet.ledger import absent")


def test_names_may_stand_under_another_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = ["from typing import TYPE_CHECKING", "if TYPE_CHECKING:", "    from posixpath import join as unite"]
    (tmp_path / "odd_room.py").write_text("\n".join(lines), encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setitem(sys.modules, "odd_room", import_module("odd_room"))
    load, names = open_door("odd_room")
    assert load("unite") is posixpath.join
    assert names() == ["unite"]


def test_a_door_loads_nothing_but_the_module_that_is_asked_for() -> None:
    script = "import sys, discreet.ledger; discreet.ledger.LogFilter; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True).stdout.split()
    assert "discreet.ledger.event_log" in loaded
    assert "discreet.ledger.chain_stores.sqlite_store" not in loaded


def test_every_room_says_what_it_is() -> None:
    for path in HOUSE.rglob("__init__.py"):
        assert len(ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or "") > 40, path


@pytest.mark.parametrize("name", ["help", "query"])
def test_a_cold_command_loads_these_modules(name: str, tmp_path: Path) -> None:
    """What a newcomer waits for. `python -m tests.golden.loaded.write` writes the lists anew; each line costs time."""
    from tests.golden.loaded.write import list_loaded

    assert list_loaded(name, tmp_path) == (LOADED / f"{name}.txt").read_text(encoding="utf-8").splitlines()
