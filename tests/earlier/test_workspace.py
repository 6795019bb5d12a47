"""A workspace that main 88c9f79 made: it opens, verifies, and gives every answer again at no charge.

`answers.json` holds the commands that were given then and what they printed. Restored at another path, the ledger
comes from a dump and the paths of key and anchor are put in place of @KEYS@.
"""

from __future__ import annotations

import json
import re
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from discreet.cli import main
from tests.earlier.shelf import HOME

ASKED: Final[list[dict[str, Any]]] = json.loads((HOME / "answers.json").read_text("utf-8"))

VARIES: Final = frozenset({"charge", "remaining", "replayed", "request_id", "warnings", "created", "id", "plan_hash"})
"""What depends on when and under which id one asks, and what the plan is known by now."""

SINCE: Final = frozenset(
    {"cost", "debited", "history", "holds", "questions_left", "weights", "absent", "schema", "kind", "claim", "notes"}
)
"""What was not told then."""

OF_ONE_ANSWER: Final = frozenset(
    {"dataset", "datasets", "differentially_private", "neighbours", "population", "unit", "version"}
)
"""What was told of single answers alone, and is told of a workload too now."""

READ_ANEW: Final = re.compile(r"\.(low|high)|\.intervals\[\d+\]\.\w+\[[01]\]")
"""Ends of intervals, which later rules make of the same values: of means, and of figures that cannot be negative."""

REWORDED: Final = {
    "none: an interval would tell the noise, and the noise tells single rows": (
        "none: an interval would reveal the noise, and the noise reveals single rows"
    ),
    "and the rank is told under mechanisms": "and the rank is given under mechanisms",
}
"""Passages of what intervals mean that are said otherwise today."""

Call = Callable[[list[str]], Any]


def restore(house: Path, keys: Path) -> None:
    shutil.copytree(HOME / "workspace", house, ignore=shutil.ignore_patterns("ledger.sql"))
    shutil.copytree(HOME / "keys", keys)
    for file in keys.glob("*.key"):
        file.chmod(0o600)
    for folder in (house, keys, house / "datasets", house / "public"):
        folder.chmod(0o700)
    settings = house / "workspace.json"
    settings.write_text(settings.read_text("utf-8").replace("@KEYS@", keys.as_posix()), "utf-8")
    store = sqlite3.connect(house / "ledger.sqlite")
    store.executescript((HOME / "workspace" / "ledger.sql").read_text("ascii"))
    store.execute("PRAGMA journal_mode = WAL")
    store.close()


@pytest.fixture
def call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Call:
    """A command in the restored workspace, as JSON."""
    restore(tmp_path / "house", tmp_path / "own keys")
    monkeypatch.setenv("DISCREET_WORKSPACE", str(tmp_path / "house"))
    monkeypatch.setenv("DISCREET_KEYS", str(tmp_path / "own keys"))

    def run(words: list[str]) -> Any:
        given = [word.replace("@SOURCES@", str(HOME / "sources")) for word in words]
        monkeypatch.setattr("sys.argv", ["discreet", *given])
        with pytest.raises(SystemExit) as left:
            main()
        printed = capsys.readouterr()
        assert left.value.code == 0, printed.err
        return json.loads(printed.out)

    return run


def differing(old: object, new: object, path: str = "") -> Iterator[str]:
    if isinstance(old, dict) and isinstance(new, dict):
        for key in sorted({*old, *new} - VARIES - SINCE):
            yield from differing(old.get(key), new.get(key), f"{path}.{key}")
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for place, (one, two) in enumerate(zip(old, new, strict=True)):
            yield from differing(one, two, f"{path}[{place}]")
    elif reworded(old) != new and not (path and READ_ANEW.search(path)) and not not_shown_since(path, new):
        yield path


def reworded(old: object) -> object:
    """A text of then as it reads today."""
    if isinstance(old, str):
        for then, now in REWORDED.items():
            old = old.replace(then, now)
    return old


def not_shown_since(path: str, new: object) -> bool:
    """Whether a mean is absent now: its group may be nobody."""
    return new is None and re.fullmatch(r"\.rows\[\d+\]\.m", path) is not None


def told(answer: dict[str, Any]) -> dict[str, Any]:
    """An answer without the names of columns whose bounds were found: `income:1` was the planner's word, not a name.

    Of a workload as a whole only its answers, its charge and its guarantee were told, and the figures of a table once.
    """
    if "answers" in answer:
        return {name: fact for name, fact in answer.items() if name not in OF_ONE_ANSWER}
    if "cells" in answer:
        return {name: fact for name, fact in answer.items() if name not in ("rows", "intervals")}
    return {**answer, "bounds": [*answer["bounds"].values()]} if "bounds" in answer else answer


def under_another_id(words: list[str]) -> list[str]:
    place = words.index("--request-id") + 1
    return [*words[:place], f"{words[place]}-other", *words[place + 1 :]]


def test_it_opens_verifies_and_replays_everything_at_no_charge(call: Call) -> None:
    budget = call(["budget", "--format", "json"])
    assert list(differing(json.loads((HOME / "budget.json").read_text("utf-8")), budget)) == []
    assert call(["ledger", "verify", "--format", "json"])["charges"] == 43
    for row in ASKED:
        if row["kind"] == "standing":
            continue
        again = [call(row["arguments"])]
        if row["name"] != "workload":  # a workload is met under its own id alone
            again.append(call(under_another_id(row["arguments"])))
        for answer in again:
            assert list(differing(told(row["answer"]), told(answer))) == [], row["name"]
    assert call(["ledger", "verify", "--format", "json"])["charges"] == 43
    assert list(differing(budget, call(["budget", "--format", "json"]))) == []


def test_a_charge_without_an_answer_is_met_under_its_id(call: Call) -> None:
    budget = call(["budget", "--format", "json"])
    standing = [row for row in ASKED if row["kind"] == "standing"]
    assert len(standing) == 6
    for row in standing:
        first, second = call(row["arguments"]), call(row["arguments"])
        assert list(differing(first, second)) == [], row["name"]
    assert list(differing(budget, call(["budget", "--format", "json"]))) == []
