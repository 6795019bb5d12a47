"""What users see, word by word: every command in every format and language, and what Python gives.

`python -m tests.golden.outputs.write` writes the golden files anew. A line that changes there changes for somebody.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import unified_diff
from pathlib import Path
from typing import Any

import pytest

from discreet import errors
from discreet.cli.app import root
from discreet.cli.help_screens import walk_commands
from tests.golden.outputs.recording import Scene, record, still
from tests.golden.outputs.refusals import LEFT_OUT_ERRORS, REFUSALS
from tests.golden.outputs.scenes import LEFT_OUT, SCENES, list_scenes
from tests.places import GOLDEN as _GOLDEN

GOLDEN = _GOLDEN / "outputs"


@pytest.fixture
def _still() -> Iterator[None]:
    with still():
        yield


@pytest.mark.usefixtures("_still")
@pytest.mark.parametrize("scene", list_scenes(), ids=lambda scene: scene.name)
def test_the_output_is_the_golden_one(scene: Scene, tmp_path: Path) -> None:
    golden = GOLDEN / f"{scene.name}.txt"
    kept, now = (text.split("\n") for text in (golden.read_bytes().decode(), record(scene, tmp_path)))
    changed = "\n".join(unified_diff(kept, now, golden.name, "now", n=1, lineterm=""))
    if changed:
        pytest.fail(changed, pytrace=False)


def list_commands() -> dict[str, Any]:
    """Every command by the words that call it."""
    return dict(walk_commands(root()))


def test_every_command_has_a_scene_or_a_reason() -> None:
    assert set(SCENES) | set(LEFT_OUT) == set(list_commands())
    assert not set(SCENES) & set(LEFT_OUT)
    for command, scenes in SCENES.items():
        assert scenes, command
        assert all(any(shown.startswith(f"{command} ") for shown in scene.shown) for scene in scenes), command


def test_every_format_that_a_command_offers_is_shown() -> None:
    for command, scenes in SCENES.items():
        choices = [one.type.choices for one in list_commands()[command].params if "--format" in one.opts]
        shown = " ".join(line for scene in scenes for line in scene.shown) + " "
        for choice in choices[0] if choices else ():
            word = str(getattr(choice, "value", choice))
            given = f"--format {word} " in shown or f"--out t.{word} " in shown
            # PNG and PDF are drawn with a font of the machine; tests/cli/test_table_files.py writes them.
            assert given or word in ("table", "png", "pdf"), (command, word)


def test_every_error_is_shown_or_has_a_reason() -> None:
    known = {name for name in errors.__all__ if isinstance(getattr(errors, name), type)}
    golden = "\n".join((GOLDEN / f"{scene.name}.txt").read_text(encoding="utf-8") for scene in REFUSALS)
    shown = {name for name in known if re.search(rf"^{name}: ", golden, re.MULTILINE)}
    assert shown | set(LEFT_OUT_ERRORS) == known
    assert not shown & set(LEFT_OUT_ERRORS)


def test_every_golden_file_belongs_to_a_scene() -> None:
    names = [scene.name for scene in list_scenes()]
    assert len(set(names)) == len(names)
    assert {path.stem for path in GOLDEN.glob("*.txt")} == set(names)
