"""Every package that is needed and every extra is known to the doctor; the extras are named in installing.md."""

from __future__ import annotations

import tomllib

from discreet.cli.doctor import CORE, EXTRAS
from tests.places import DOCS, ROOT


def test_every_extra_is_examined_and_named() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = set(project["optional-dependencies"])
    assert set(EXTRAS) == extras
    page = (DOCS / "installing.md").read_text(encoding="utf-8")
    assert [name for name in sorted(extras) if f"`{name}`" not in page] == []


def test_the_doctor_examines_what_the_core_needs() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert [dependency.split(">=")[0] for dependency in project["dependencies"]] == list(CORE)
