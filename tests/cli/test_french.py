"""Every command in French, as every scene of the golden outputs plays it: no English sentence, French numbers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from discreet.cli.app import root
from discreet.cli.help_screens import walk_commands
from tests.catalogue.english import find_english, find_english_numbers
from tests.cli.clinic import Run
from tests.golden.outputs.recording import Scene, record, still
from tests.golden.outputs.scenes import list_scenes

MACHINES = re.compile(r"--format (?:json|csv|sdmx-csv)|--lang|\.(?:parquet|csv)\b")


THEIRS = (
    "(provenance: from_rows)",
    "8 days and more",
    "1 to 7 days",
    "a stand-in for a model",
    "{en: ",
)  # what somebody wrote in English


def in_french(scene: Scene) -> Scene:
    """What a scene shows to people; cards of a sample are the same bytes in every language."""
    shown = list(dict.fromkeys(line for line in scene.shown if not MACHINES.search(line)))
    return replace(scene, shown=shown, files=() if scene.name.startswith("sample-") else scene.files)


@pytest.fixture
def _still() -> Iterator[None]:
    with still():
        yield


@pytest.mark.usefixtures("_still")
@pytest.mark.parametrize("scene", [scene for scene in list_scenes() if scene.shown], ids=lambda scene: scene.name)
def test_a_command_speaks_french(scene: Scene, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    french = in_french(scene)
    if not french.shown:
        pytest.skip("for machines alone")
    monkeypatch.setenv("DISCREET_LANG", "fr")
    shown = record(french, tmp_path)
    english = [line for line in find_english(shown) if not any(word in line for word in THEIRS)]
    english += find_english_numbers(shown)
    assert not english, "\n".join(english)


def list_commands() -> list[str]:
    return ["", *(name for name, _ in walk_commands(root())), *groups(root())]


def groups(command: Any, name: str = "") -> Iterator[str]:
    for word, child in getattr(command, "commands", {}).items():
        if hasattr(child, "commands"):
            yield f"{name} {word}".strip()
            yield from groups(child, f"{name} {word}".strip())


@pytest.mark.parametrize("name", list_commands())
def test_a_help_screen_is_french(run: Run, name: str) -> None:
    shown = run(*name.split(), "--help", "--lang", "fr").out
    assert shown.startswith("Usage\u00a0: discreet")
    assert "Afficher cette aide et terminer." in shown
    english = list(find_english(shown))
    assert not english, "\n".join(english)


def test_the_locale_chooses_and_a_word_of_the_call_prevails(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LC_ALL", raising=False)
    monkeypatch.setenv("LANG", "fr_CA.UTF-8")
    monkeypatch.delenv("LC_MESSAGES", raising=False)
    assert "Afficher cette aide" in run("query", "--help").out
    assert "Show this message" in run("query", "--help", "--lang", "en").out
    monkeypatch.setenv("DISCREET_LANG", "en")
    assert "Show this message" in run("query", "--help").out


def test_english_is_spoken_again_after_a_french_command(run: Run) -> None:
    run("query", "--help", "--lang", "fr")
    assert "Show this message" in run("query", "--help").out


def test_a_language_that_nobody_speaks_is_refused(run: Run) -> None:
    told = run("datasets", "--lang", "de", code=2).err
    assert told == "UsageError: language 'de' is not available; the languages are en, fr.\n"


def test_english_is_found() -> None:
    said = "tout est dit\nthe answer is here\n`the answer is`\nSELECT a FROM the WHERE it IS NOT"
    assert list(find_english(said)) == ["the answer is here"]


def test_english_numbers_are_found() -> None:
    said = "1 234,5 et 95 %\n1,234,567 lignes\nde 0.5 à 2\n95% sûr\nlevel: 0.95\n`--epsilon 0.5`\nversion 2.0.1"
    assert list(find_english_numbers(said)) == ["1,234,567 lignes", "de 0.5 à 2", "95% sûr"]
