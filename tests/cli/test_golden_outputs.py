"""What users see, word by word: every command in every format and language, and what Python gives.

`python -m tests.golden.outputs.write` writes the golden files anew. A line that changes there changes for somebody.
"""

from __future__ import annotations

from collections.abc import Iterator
from difflib import unified_diff
from pathlib import Path

import pytest

from tests.golden.outputs.recording import Scene, record, still
from tests.golden.outputs.scenes import list_scenes

GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "outputs"


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


def test_every_golden_file_belongs_to_a_scene() -> None:
    names = [scene.name for scene in list_scenes()]
    assert len(set(names)) == len(names)
    assert {path.stem for path in GOLDEN.glob("*.txt")} == set(names)
