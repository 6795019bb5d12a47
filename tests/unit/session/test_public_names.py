"""`import discreet`: some forty names, found where they are said to be, and loaded when they are used."""

from __future__ import annotations

import inspect
import pydoc
import re
import subprocess
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

import pytest

import discreet
from discreet import errors
from discreet.guarantees import types


def test_every_name_is_there() -> None:
    assert len(discreet.__all__) == len(set(discreet.__all__)) <= 40
    assert {*dir(discreet), "__version__"} == set(discreet.__all__)
    for name in discreet.__all__:
        assert getattr(discreet, name) is not None
    with pytest.raises(AttributeError, match="has no attribute 'answer'"):
        import_module("discreet").answer  # noqa: B018


def test_guarantees_and_what_is_caught_are_among_them() -> None:
    assert {name for name in types.__all__ if name.endswith(("DP", "Unproven"))} <= set(discreet.__all__)
    caught = {name for name in discreet.__all__ if inspect.isclass(one := getattr(discreet, name)) and _is_error(one)}
    assert {"DiscreetError", "Refused", "UsageError", "ChargedNotAnswered", "BudgetExceeded"} <= caught
    for one in vars(errors).values():  # whatever is raised can be caught by a name that is there
        if inspect.isclass(one) and _is_error(one):
            assert {parent.__name__ for parent in one.__mro__} & caught


def _is_error(one: type) -> bool:
    return issubclass(one, errors.DiscreetError)


def test_importing_it_loads_nothing() -> None:
    told = subprocess.run(
        [sys.executable, "-c", "import sys, discreet; print(*sorted(n for n in sys.modules if 'discreet' in n))"],
        check=True,
        capture_output=True,
        text=True,
    )
    assert [name for name in told.stdout.split() if "__editable__" not in name] == ["discreet", "discreet.doors"]


def test_help_begins_with_an_example() -> None:
    described = discreet.__doc__ or ""
    for name in ("create", "open", "connect", "query", "Release", "DiscreetError"):
        assert name in described


def test_help_reads_well() -> None:
    shown = pydoc.plain(pydoc.render_doc(discreet))
    assert re.search(r"^    create\(path: ", shown, re.MULTILINE)
    assert re.search(r"^    open\(path: ", shown, re.MULTILINE)
    assert re.search(r"^    connect\(url: ", shown, re.MULTILINE)
    assert "_session(" not in shown
    assert " at 0x" not in shown


def test_a_session_says_where_it_is_and_for_whom(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DISCREET_KEYS", str(tmp_path / "keys"))
    monkeypatch.setenv("DISCREET_ANALYST", "ana")
    with discreet.create(tmp_path / "office") as office:
        assert repr(office) == f"<Session of '{tmp_path / 'office'}', analyst 'ana'>"
    assert repr(office) == f"<Session of '{tmp_path / 'office'}', analyst 'ana', closed>"


CALLS: dict[str, Callable[[discreet.Session], object]] = {
    "query": lambda office: office.query("SELECT COUNT(*) FROM people", epsilon="1"),
    "explain": lambda office: office.explain("SELECT COUNT(*) FROM people", epsilon="1"),
    "tables": lambda office: office.tables,
    "add": lambda office: office.add("people.csv"),
    "add_public_table": lambda office: office.add_public_table("towns.csv", key="town"),
    "add_analyst": lambda office: office.add_analyst("bob"),
    "budget": lambda office: office.budget("all"),
    "datasets": lambda office: office.datasets(),
    "public_tables": lambda office: office.public_tables(),
    "populations": lambda office: office.populations(),
    "verify": lambda office: office.verify(),
    "open_engine": lambda office: office.open_engine({}),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_a_closed_session_answers_nothing(
    call: Callable[[discreet.Session], object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DISCREET_KEYS", str(tmp_path / "keys"))
    monkeypatch.chdir(tmp_path)
    Path("people.csv").write_text("pid\n1\n", encoding="utf-8")
    Path("towns.csv").write_text("town,name\n1,N\n", encoding="utf-8")
    Path("people.yaml").write_text(
        "dataset: people\npopulation: all\nunit: {column: pid, rows: 1}\nneighbours: add-remove\n"
        "budget: {epsilon: 1}\ncolumns:\n  pid: {kind: id, type: integer}\n",
        encoding="utf-8",
    )
    office = discreet.create("office")
    office.close()
    office.close()  # twice is once
    with pytest.raises(discreet.Refused, match=r"is closed\. Open the workspace again with discreet\.open"):
        call(office)
    with discreet.open("office") as again:
        assert (again.datasets(), again.public_tables(), again.populations()) == ((), (), ())


def test_create_makes_a_workspace_that_open_opens(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DISCREET_KEYS", str(tmp_path / "keys"))
    with discreet.create(str(tmp_path / "office")) as made:
        assert isinstance(made, discreet.Session)
    with discreet.open(tmp_path / "office") as again:
        assert again.datasets() == ()
    with pytest.raises(discreet.UsageError):
        discreet.create("")
