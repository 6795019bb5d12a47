"""Writes the golden outputs anew: python -m tests.golden.outputs.write [SCENE …]

Read what changed before it is committed: every line is something a user sees.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from tests.golden.outputs.recording import record, still
from tests.golden.outputs.scenes import list_scenes

HERE = Path(__file__).parent


def write(names: list[str]) -> None:
    scenes = {scene.name: scene for scene in list_scenes()}
    for name in names or scenes:
        with still(), tempfile.TemporaryDirectory() as folder:
            (HERE / f"{name}.txt").write_bytes(record(scenes[name], Path(folder)).encode())
    for file in HERE.glob("*.txt"):
        if file.stem not in scenes:
            file.unlink()


if __name__ == "__main__":
    write(sys.argv[1:])
