"""Answers with a generator that was trained for real, and kept figures that spare loading it."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("torch")

from discreet.lab.generator.generator_rows import read_rows
from discreet.lab.generator.shelf import Shelved, find_model, shelve
from discreet.lab.generator.training import train
from discreet.lab.generator.training_settings import Settings
from discreet.lab.laboratory import Laboratory
from tests.unit.lab.strategies.test_unproven_question import ALLOWED, SQL
from tests.unit.tables.office import open_office

pytestmark = pytest.mark.long


def test_a_trained_model_answers_and_is_loaded_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with open_office(tmp_path, ALLOWED) as office:
        workspace, ledger = office.session.workspace, office.session.ledger
        dataset = workspace.dataset("people")
        shelve(workspace, dataset, train(read_rows(dataset), Settings(epochs=2, seed=1)))

        def ask(sql: str, strategy: str) -> float:
            epsilon = None if strategy == "replace" else "1"
            return Laboratory(office.session).ask_unproven(sql, strategy=strategy, epsilon=epsilon, analyst="ana").value  # type: ignore[return-value]

        replaced = ask(SQL, "replace")
        assert 0 <= replaced <= 99  # generated ages lie within the card's bounds
        ask(SQL, "generated")
        assert (find_model(workspace, "people").folder / "generated.json").is_file()

        def fail(_: Shelved) -> object:
            raise AssertionError("loaded again")

        monkeypatch.setattr(Shelved, "load", fail)
        ask("SELECT SUM(height) FROM people", "generated")
        assert len(ledger.state("everyone").markers) == 3
