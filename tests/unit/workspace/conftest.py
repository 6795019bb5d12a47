"""A small card, and a workspace whose keys stay in the test's own folder."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from discreet.cards.card import Card, parse_card
from discreet.workspace.folder import Dataset, Workspace
from discreet.workspace.ingest import add_file
from discreet.workspace.ingest_report import Report, read_report

CARD_TEXT = """\
dataset: survey
title: {en: Health survey, fr: Enquête sur la santé}
population: cchs-2017
unit: {column: person_id, rows: 2}
neighbours: add-remove
size: private
weight: {column: weight, cap: {by: province, values: {10: 1700, 24: 12.5}}}
budget: {epsilon: 3, per_analyst: 1}
columns:
  person_id: {kind: id, type: integer}
  province: {kind: category, public: true, categories: {10: {en: Newfoundland, fr: Terre-Neuve}, 24: Québec}}
  age: {kind: integer, bounds: [12, 110]}
  weight: {kind: number, bounds: [0, 15000], step: 0.01}
  height: {kind: number, bounds: [1.2, 2.1], step: 0.001, missing: [9.996, 9.999]}
  diagnosis: {kind: text}
"""
HEADER = "person_id,province,age,weight,height,diagnosis"

Rows = list[dict[str, Any]]


@pytest.fixture
def card_text() -> str:
    return CARD_TEXT


@pytest.fixture
def card() -> Card:
    return parse_card(CARD_TEXT, file="survey.yaml")


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    monkeypatch.setenv("DISCREET_KEYS", str(tmp_path / "keys"))
    monkeypatch.delenv("DISCREET_ROOTS", raising=False)
    return Workspace.create(tmp_path / "workspace")


def rows_of(dataset: Dataset) -> Rows:
    import pyarrow.parquet as pq

    rows: Rows = pq.read_table(dataset.data).to_pylist()
    return sorted(rows, key=lambda row: (str(row["person_id"]), row["ord"]))


Added = Callable[..., tuple[Rows, Report]]


@pytest.fixture
def add(workspace: Workspace, card: Card, tmp_path: Path) -> Added:
    """Add CSV lines (or a file) under the small card; give the prepared rows and the report."""

    def run(content: str | bytes | Path, *, card: Card = card, name: str = "rows.csv", **options: Any) -> Any:
        if isinstance(content, Path):
            file = content
        else:
            file = tmp_path / name
            file.write_bytes(content.encode() if isinstance(content, str) else content)
        dataset = add_file(workspace, file, card, replace=card.dataset in workspace.names(), **options)
        return rows_of(dataset), read_report(dataset.report)

    return run
