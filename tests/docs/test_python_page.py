"""docs/python.md: its examples run one after the other, as a reader would type them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from discreet.samples.survey import write_survey
from tests.places import DOCS

PAGE = DOCS / "python.md"


def test_the_examples_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pandas")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DISCREET_KEYS", str(tmp_path / "keys"))
    monkeypatch.setenv("DISCREET_ANALYST", "ana")
    write_survey(tmp_path / "data", rows=2_000)
    examples = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL)
    assert len(examples) > 5
    names: dict[str, object] = {}
    for example in examples:
        exec(compile(example, str(PAGE), "exec"), names)
    assert {file.name for file in tmp_path.glob("*.*")} == {"people.xlsx", "smoking.html"}
