"""A session on a file of which nothing is known but its card: two groups, and ages without anybody in them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from discreet.session import Session

CARD = """
dataset: t
unit: {column: pid, rows: 1}
neighbours: add-remove
budget: {epsilon: 100}
columns:
  pid: {kind: id, type: integer}
  group: {kind: category, categories: [1, 2]}
"""


@pytest.fixture
def house(tmp_path: Path) -> Iterator[Session]:
    (tmp_path / "t.csv").write_text("pid,group\n" + "".join(f"{i},{1 + i % 2}\n" for i in range(50)), encoding="utf-8")
    (tmp_path / "t.yaml").write_text(CARD, encoding="utf-8")
    with Session.create(tmp_path / "w") as session:
        session.add(tmp_path / "t.csv", confirm=lambda _: True)
        yield session
