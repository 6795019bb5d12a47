"""Help screens: who uses what, on one screen; examples that work; few options a command."""

from __future__ import annotations

import json
import shlex
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from discreet.cli.app import _whole, root
from discreet.cli.help_screens import AUDIENCES, SHARED, walk_commands
from discreet.samples import write_survey
from discreet.session import Session
from tests.cli.clinic import Run
from tests.workspaces import fill

LINES = 60
MOST_OPTIONS = 14
SLOW = {"reproduce"}  # replications/tests/test_reproduce_report.py runs it
GROUPS = {name: command for name, command in root().commands.items() if hasattr(command, "commands")}


def make_office(folder: Path) -> None:
    write_survey(folder / "data", rows=2_000, seed=1)
    with Session.create(folder / "w") as session:
        session.add(folder / "data" / "survey.parquet", confirm=lambda _: True)
        session.query("SELECT COUNT(*) AS people FROM survey", epsilon="0.1")


@pytest.fixture
def office(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    fill(tmp_path, "an office with the sample survey", make_office)
    (tmp_path / "office").symlink_to(tmp_path / "w", target_is_directory=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_whole_house_stands_on_one_screen(run: Run) -> None:
    shown = run("--help").out
    assert len(shown.splitlines()) <= LINES
    assert all(f"\n{audience}:\n" in shown for audience in AUDIENCES)
    assert all(len(line) <= 80 for line in shown.splitlines())
    assert "…" not in shown
    assert "..." not in shown.split("\n", 1)[1]


def test_every_command_has_an_audience() -> None:
    assert {command.rich_help_panel for command in root().commands.values() if not command.hidden} == set(AUDIENCES)


def test_the_core_does_without_a_wing(monkeypatch: pytest.MonkeyPatch, run: Run) -> None:
    whole = set(root().commands)
    monkeypatch.setattr("discreet.cli.app._wings", lambda: iter(()))
    _whole.cache_clear()
    try:
        assert whole - set(root().commands) == {
            "local",
            "linked",
            "study",
            "sensitivity",
            "lab",
            "gan",
            "serve",
            "work",
        }
        assert "Laboratory:\n  reproduce" in run("--help").out
        assert "No such command 'study'" in run("study", "--help", code=2).err
    finally:
        monkeypatch.undo()
        _whole.cache_clear()


@pytest.mark.parametrize("name", GROUPS)
def test_the_help_of_a_group_begins_with_an_example_that_works(run: Run, office: Path, name: str) -> None:
    usage, _, example, *_ = run(name, "--help").out.splitlines()
    assert usage.startswith(f"Usage: discreet {name}")
    assert example.startswith("  Example: discreet ")
    words = shlex.split(GROUPS[name].epilog.removeprefix("Example: "))
    assert words[:2] == ["discreet", name]
    if name == "sample":
        shutil.rmtree(office / "data")
    if name == "answers":  # by the number that the history gives to what was asked
        words[words.index("17")] = str(json.loads(run("history", "-w", "office", "--format", "json").out)[0]["answer"])
    if name not in SLOW:
        run(*words[1:])


def own_options(command: Any) -> list[str]:
    """The options that belong to this command: neither shared by all nor hidden."""
    return [
        option.name
        for option in command.params
        if option.param_type_name == "option"
        and not option.hidden
        and getattr(option, "rich_help_panel", None) != SHARED
    ]


def test_no_command_has_many_options() -> None:
    counted = {name: len(own_options(command)) for name, command in walk_commands(root())}
    assert {name: number for name, number in counted.items() if number > MOST_OPTIONS} == {}


def test_shared_options_are_explained_in_one_paragraph(run: Run) -> None:
    shown = run("query", "--help").out
    own, _, shared = shown.partition("Shared options:")
    for option in ("--analyst", "--request-id", "--level", "--fresh", "--yes", "--workspace", "--format", "--lang"):
        assert f"\n  {option}" not in own
        assert option in " ".join(shared.split())


def test_a_missing_package_of_replications_says_how_to_install_it(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    _whole.cache_clear()
    monkeypatch.setitem(sys.modules, "discreet_replications", None)
    for name in [name for name in sys.modules if name.startswith("discreet_replications.")]:
        monkeypatch.delitem(sys.modules, name)
    try:
        said = [run("reproduce", "report", "--out", "x", code=1).err, run("reproduce", "--help").out]
    finally:
        _whole.cache_clear()
    for text in said:
        assert "pip install . ./replications" in text
