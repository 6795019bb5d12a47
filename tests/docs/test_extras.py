"""Every extra of the package is known to the doctor and named in the readme."""

from __future__ import annotations

import tomllib
from pathlib import Path

from discreet.cli.examination import EXTRAS

ROOT = Path(__file__).resolve().parents[2]


def test_every_extra_is_examined_and_named() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = set(project["optional-dependencies"])
    assert set(EXTRAS) == extras
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert [name for name in sorted(extras - {"gan"}) if f"`{name}`" not in readme] == []
