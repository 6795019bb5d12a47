"""Whatever behind a door takes a path takes text and other path-like objects too, and refuses the rest in our words."""

from __future__ import annotations

import inspect
import re
import secrets
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path, PurePosixPath
from typing import Any

import pytest

import discreet
from discreet.cards import draft_card, read_card, read_yaml_text
from discreet.engines import EmbeddedEngine
from discreet.errors import ParameterInvalid, PathInvalid
from discreet.ledger import Anchor, LedgerConfig, Seal, backup_ledger, replace_anchor, restore_ledger
from discreet.paths import as_path
from discreet.present import check_output, check_picture, infer_format, plot, save, write_picture
from discreet.release import BootstrapLog, UnprovenJournal
from discreet.samples import write_ce, write_linked, write_survey, write_visits
from discreet.session import Session, ledger_config
from discreet.sources import open_source
from discreet.workspace import (
    RowSource,
    Workspace,
    WorkspaceSettings,
    add_file,
    add_public_file,
    find_workspace,
    read_report,
)

HOUSE = Path(discreet.__file__).parent
# The command line's door serves the commands of wings, whose paths typer has read.
DOORS = ["discreet", *(f"discreet.{path.parent.name}" for path in HOUSE.glob("*/__init__.py") if path.parent != HOUSE)]
# Records that callers read and functions make. `LedgerConfig` takes text as well, as a test below shows.
READ = {"DataSource", "Dataset", "LedgerConfig", "Office", "Study", "Workspace", "WorkspaceView"}
PATHS = re.compile(r"\b(Path|PathLike|AnyPath)\b")
MAY_BE_NONE = ["WorkspaceSettings", "check_output", "discreet.open", "find_workspace"]
NOT_A_PATH = [None, 5, b"bytes", "", "a\0b", ["list"]]


class Named:
    """A path-like object that is no Path."""

    def __init__(self, path: str | Path) -> None:
        self._path = path

    def __fspath__(self) -> str:
        return str(self._path)


def list_parameters() -> Iterator[tuple[str, str]]:
    """Parameters of public functions, classes and methods that are annotated as paths, and how."""
    for door in DOORS:
        if door == "discreet.cli":
            continue
        module = import_module(door)
        for name in module.__all__:
            for called, function in list_callables(name, getattr(module, name)):
                for parameter in inspect.signature(function).parameters.values():
                    if PATHS.search(str(parameter.annotation)):
                        yield f"{door}.{called}({parameter.name})", str(parameter.annotation)


def list_callables(name: str, item: Any) -> Iterator[tuple[str, Callable[..., object]]]:
    if inspect.isfunction(item):
        yield name, item
    elif inspect.isclass(item) and item.__module__.startswith("discreet"):
        if name not in READ and "__init__" in vars(item):
            yield name, vars(item)["__init__"]
        for method in [method for method in vars(item) if not method.startswith("_")]:
            found = inspect.getattr_static(item, method)
            found = getattr(found, "__func__", found)
            if inspect.isfunction(found):
                yield f"{name}.{method}", found


def test_every_path_behind_a_door_is_any_path() -> None:
    found = dict(list_parameters())
    assert len(found) > 45
    for known in ("discreet.samples.write_survey(directory)", "discreet.workspace.WorkspaceSettings(key)"):
        assert known in found
    plain = {name: sort for name, sort in found.items() if PATHS.findall(sort) != ["AnyPath"]}
    assert plain == {}


@pytest.mark.parametrize("given", ["a/b", Path("a/b"), PurePosixPath("a/b"), Named("a/b")])
def test_a_path_is_text_or_stands_for_it(given: Any) -> None:
    assert as_path(given) == Path("a/b")
    assert isinstance(as_path(given), Path)


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Session, Path]]:
    folder = tmp_path_factory.mktemp("text")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DISCREET_ANALYST", "ana")
        patch.setenv("DISCREET_KEYS", str(folder / "keys"))
        write_survey(str(folder / "data"), rows=1_000)
        (folder / "towns.csv").write_text("town,name\n1,N\n", encoding="utf-8")
        with Session.create(str(folder / "w"), key=Named(folder / "k"), anchor=str(folder / "a")) as session:
            session.add(Named(folder / "data" / "survey.parquet"))
            yield session, folder


CALLS: dict[str, Callable[[Session, Path, Any], object]] = {
    "write_survey": lambda _, folder, named: write_survey(named(folder / "new"), rows=1_000),
    "write_visits": lambda _, folder, named: write_visits(named(folder / "new"), people=1_000),
    "write_ce": lambda _, folder, named: write_ce(named(folder / "new")),
    "write_linked": lambda _, folder, named: write_linked(named(folder / "new"), people=1_000),
    "read_card": lambda _, folder, named: read_card(named(folder / "data" / "survey.yaml")),
    "read_yaml_text": lambda _, folder, named: read_yaml_text(named(folder / "data" / "survey.yaml"), sort="card"),
    "draft_card": lambda _, folder, named: draft_card(named(folder / "towns.csv"), from_rows=False),
    "open_source": lambda _, folder, named: open_source(named(folder / "towns.csv")).names,
    "Workspace.open": lambda _, folder, named: Workspace.open(named(folder / "w")),
    "Workspace.create": lambda _, folder, named: Workspace.create(named(folder / "new" / "w")),
    "find_workspace": lambda _, folder, named: find_workspace(named(folder / "w")).is_dir(),
    "settle_anchor": lambda session, folder, named: session.workspace.settle_anchor(named(folder / "a")),
    "WorkspaceSettings": lambda _, folder, named: Workspace.create(
        folder / "new" / "settings",
        settings=WorkspaceSettings(key=named(folder / "k2"), anchor=named(folder / "a2"), roots=(named(folder),)),
    ),
    "add_file": lambda session, folder, named: add_file(
        Workspace.create(folder / "new" / secrets.token_hex(4)),
        named(folder / "data" / "survey.parquet"),
        session.datasets()[0].card,
        replace=False,
    ),
    "add_public_file": lambda session, folder, named: add_public_file(
        session.workspace, named(folder / "towns.csv"), key="town", replace="towns" in session.workspace.public_names()
    ),
    "read_report": lambda session, _, named: read_report(named(session.datasets()[0].report)).rows,
    "EmbeddedEngine": lambda session, _, named: EmbeddedEngine(
        {"survey": (named(session.datasets()[0].data), session.datasets()[0].card)}
    ),
    "Anchor": lambda _, folder, named: Anchor(named(folder / "a")).newest(),
    "Seal": lambda _, folder, named: Seal(path=named(folder / "k"), workspace_id="w"),
    "backup_ledger": lambda session, folder, named: backup_ledger(
        ledger_config(session.workspace), named(folder / "new" / "b.sqlite")
    ),
    "infer_format": lambda _, folder, named: infer_format(named(folder / "x.csv")),
    "check_output": lambda _, folder, named: check_output(named(folder / "x.csv"), format="csv"),
    "check_picture": lambda _, folder, named: check_picture(named(folder / "x.svg")),
    "save": lambda session, folder, named: save(count(session), named(folder / "x.csv")),
    "Release.save": lambda session, folder, named: count(session).save(named(folder / "x.json")),
    "write_picture": lambda session, folder, named: write_picture(plot(count(session)), named(folder / "x.svg")),
    "BootstrapLog": lambda _, folder, named: BootstrapLog(named(folder / "w")).entries(),
    "UnprovenJournal": lambda _, folder, named: UnprovenJournal(named(folder / "w")).entries(),
    "discreet.open": lambda _, folder, named: discreet.open(named(folder / "w")).close(),
}


def count(session: Session) -> discreet.Release:
    return session.query("SELECT COUNT(*) AS people FROM survey", epsilon="0.1", request_id="people")


@pytest.mark.parametrize("named", [str, Named])
@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_text_is_taken_for_a_path(
    house: tuple[Session, Path], call: Callable[..., object], named: Callable[[Path], object], tmp_path: Path
) -> None:
    session, folder = house
    if (folder / "new").exists():
        (folder / "new").rename(tmp_path / "old")
    (folder / "new").mkdir()
    call(session, folder, named)


@pytest.mark.parametrize("wrong", NOT_A_PATH, ids=repr)
@pytest.mark.parametrize("name", sorted(CALLS.keys() - set(MAY_BE_NONE)))
def test_what_is_no_path_is_refused_in_our_words(house: tuple[Session, Path], name: str, wrong: object) -> None:
    with pytest.raises((ParameterInvalid, PathInvalid)):
        CALLS[name](*house, lambda _: wrong)


@pytest.mark.parametrize("wrong", NOT_A_PATH[1:], ids=repr)
@pytest.mark.parametrize("name", MAY_BE_NONE)
def test_what_may_be_left_out_is_a_path_or_none(house: tuple[Session, Path], name: str, wrong: object) -> None:
    with pytest.raises(ParameterInvalid, match=r"path of a file or folder|NUL"):
        CALLS[name](*house, lambda _: wrong)


def test_a_ledger_is_found_by_text(house: tuple[Session, Path]) -> None:
    session, folder = house
    known = ledger_config(session.workspace)
    texts: Any = {name: str(getattr(known, name)) for name in ("path", "key_path", "anchor_path")}
    config = LedgerConfig(workspace_id=known.workspace_id, store="sqlite", **texts)
    assert config == known
    with pytest.raises(discreet.Refused, match="is not a file"):
        restore_ledger(config, str(folder / "absent.sqlite"), who="ana")
    replace_anchor(config, path=str(folder / "another"), lost=False, who="ana")
    assert Anchor(folder / "another").newest().sequence > 0
    session.workspace.settle_anchor(folder / "another")
    with pytest.raises(ParameterInvalid, match="key_path must be the path"):
        LedgerConfig(workspace_id="w", store="sqlite", key_path=5, path=folder)  # type: ignore[arg-type]


def test_rows_stand_in_a_file_named_by_text(tmp_path: Path) -> None:
    assert RowSource("duckdb", path=str(tmp_path / "data.parquet")).where == "the file"
