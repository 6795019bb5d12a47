"""`discreet gan` as a user runs it: trained, sampled, inspected, paid for; and what is refused, and how."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Sequence
from pathlib import Path

import pytest
from typer.testing import CliRunner

from discreet.cli.gan import gan
from discreet.errors import DiscreetError
from discreet.session import open_session
from tests.cli.clinic import Run

CARD = """
dataset: farms
unit: {column: farm, rows: 1}
neighbours: add-remove
budget: {epsilon: 3, per_analyst: 3}
allow: [generated]
columns:
  farm: {kind: id, type: integer}
  status: {kind: category, categories: [owner, share]}
  output: {kind: integer, bounds: [0, 1000], missing: [9999]}
  area: {kind: number, bounds: [0, 50], step: 0.1}
"""
CLOSED = CARD.replace("allow: [generated]\n", "")
WITH_DELTA = CLOSED.replace("{epsilon: 3, per_analyst: 3}", "{epsilon: 3, delta: 1e-6}")
ROWS = "farm,status,output,area\n" + "".join(
    f"{farm},{'owner' if farm % 3 else 'share'},{9999 if farm % 7 == 0 else farm},{farm / 10}\n"
    for farm in range(1, 301)
)
TRAIN = ("gan", "train", "-w", "w", "farms")


def _office(run: Run, folder: Path, card: str) -> None:
    (folder / "farms.yaml").write_text(card)
    (folder / "farms.csv").write_text(ROWS)
    run("init", "w")
    run("add", "-w", "w", "farms.csv")


def _state(run: Run) -> dict[str, object]:
    (state,) = run("budget", "-w", "w", "--format", "json").json()["populations"]
    found: dict[str, object] = state
    return found


def _head(folder: Path) -> tuple[int, str]:
    with open_session(folder / "w") as session:
        return session.ledger.head()


# --- without torch --------------------------------------------------------------------------------------------------


def test_help_shows_examples_and_no_model_is_no_error(run: Run, tmp_path: Path) -> None:
    for command in ("train", "sample", "inspect", "list"):
        assert "Example" in run("gan", command, "--help").out
    _office(run, tmp_path, CARD)
    assert "There is no model yet" in run("gan", "list", "-w", "w").out
    assert run("gan", "list", "-w", "w", "--format", "json").json() == {"models": []}


OFF: Sequence[tuple[tuple[str, ...], int, str]] = [
    (("train", "farm"), 1, "Did you mean 'farms'?"),
    (("train", "farms", "--epochs", "-3"), 2, "epochs must"),
    (("train", "farms", "--epochs", "0"), 2, "epochs must"),
    (("train", "farms", "--name", "../x"), 2, "model name must be"),
    (("train", "farms", "--rho", "1"), 2, "--rho goes with --private only"),
    (("train", "farms", "--private"), 2, "--rho R"),
    (("train", "farms", "--private", "--rho", "1", "--epsilon", "1"), 2, "--rho R"),
    (("train", "farms", "--private", "--rho", "1", "--seed", "1"), 2, "--seed does not go with --private"),
    (("train", "farms", "--private", "--rho", "1"), 1, "has a pure budget"),
    (("sample", "farms", "--rows", "0", "--out", "a.csv"), 2, "rows must lie between 1"),
    (("sample", "farms", "--rows", "5", "--out", "a.xlsx"), 2, ".csv or .parquet"),
    (("sample", "farms", "--rows", "5", "--out", "farms.csv"), 2, "--overwrite"),
    (("sample", "farms", "--rows", "5", "--out", "a.csv"), 1, "Train one with: discreet gan train farms"),
    (("inspect", "farms"), 1, "CustodianOnly"),
    (("inspect", "farms", "--custodian"), 1, "Model 'default' is not in the models of 'farms'"),
    (("list", "frams"), 1, "Did you mean 'farms'?"),
]


def test_what_is_off_is_told_and_leaves_nothing(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _office(run, tmp_path, CARD)
    before = _head(tmp_path)
    monkeypatch.chdir(tmp_path)
    for words, code, told in OFF:
        # In this process: sixteen processes would take most of the time that the other tests have.
        error = CliRunner().invoke(gan, [words[0], "-w", "w", *words[1:]]).exception
        assert isinstance(error, DiscreetError), words
        assert (error.exit_code, told in f"{error.name}: {error.message}") == (code, True), (words, error.message)
        assert _head(tmp_path) == before, words
    assert not (tmp_path / "w" / "models").exists()
    assert not (tmp_path / "a.csv").exists()


def test_without_the_extra_one_is_told_what_to_install(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "none").mkdir()
    for module in ("torch", "opacus", "safetensors"):
        (tmp_path / "none" / f"{module}.py").write_text(f"raise ModuleNotFoundError(name='{module}')\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "none"), prepend=os.pathsep)
    _office(run, tmp_path, CARD)
    missing = run(*TRAIN, "--epochs", "1", code=2)
    assert "ExtraMissing" in missing.err
    assert "pip install 'discreet[gan]'" in missing.err
    assert "There is no model yet" in run("gan", "list", "-w", "w").out


# --- with torch -----------------------------------------------------------------------------------------------------


@pytest.mark.long
def test_a_model_is_trained_sampled_and_inspected(run: Run, tmp_path: Path) -> None:
    pytest.importorskip("torch")
    _office(run, tmp_path, CARD)
    trained = run(*TRAIN, "--epochs", "2")
    assert "losses" in trained.err
    assert "epoch 2 of 2" in trained.err
    assert "CUSTODIAN VIEW" in trained.err
    assert "not differentially private" in trained.out
    (model,) = run("gan", "list", "-w", "w", "--format", "json").json()["models"]
    assert (model["dataset"], model["version"], model["differentially_private"]) == ("farms", 1, False)
    assert _state(run)["markers"] == []

    sampled = run("gan", "sample", "-w", "w", "farms", "--rows", "200", "--out", "made.csv")
    assert "not differentially private" in sampled.out
    assert "no longer bounds everything" in sampled.out
    with (tmp_path / "made.csv").open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert len(rows) == 200
    assert set(rows[0]) == {"status", "output", "area", "guarantee"}
    assert {row["status"] for row in rows} <= {"owner", "share", ""}
    assert all("not differentially private" in row["guarantee"] for row in rows)
    assert all(0 <= float(row["area"]) <= 50 for row in rows if row["area"])
    assert len(_state(run)["markers"]) == 1  # type: ignore[arg-type]

    seen = run("gan", "inspect", "-w", "w", "farms", "--custodian", "--rows", "300")
    assert "CUSTODIAN VIEW" in seen.err
    assert "independent columns" in seen.out
    found = run("gan", "inspect", "-w", "w", "farms", "--custodian", "--format", "json").json()
    assert list(found["rows"].values()) == [300, 300, 10_000, 100_000, 300]
    assert found["columns"][1]["sets"]["real"]["cardinality"] == 258
    assert found["columns"][2]["sets"]["real"]["range"] == ["0.1", "30"]
    assert found["correlated_pairs"]["independent columns"] == 1


@pytest.mark.long
def test_without_the_opt_in_rows_stay_inside(run: Run, tmp_path: Path) -> None:
    pytest.importorskip("torch")
    _office(run, tmp_path, CLOSED)
    run(*TRAIN, "--epochs", "1")
    refused = run("gan", "sample", "-w", "w", "farms", "--rows", "5", "--out", "made.csv", code=1)
    assert "allow: [generated]" in refused.err
    assert not (tmp_path / "made.csv").exists()
    assert _state(run)["markers"] == []


@pytest.mark.long
def test_a_changed_model_is_refused(run: Run, tmp_path: Path) -> None:
    pytest.importorskip("torch")
    _office(run, tmp_path, CARD)
    run(*TRAIN, "--epochs", "1")
    (tensors,) = (tmp_path / "w" / "models").rglob("*.safetensors")
    content = bytearray(tensors.read_bytes())
    content[-1] ^= 1
    tensors.write_bytes(content)
    assert "FileRefused" in run("gan", "sample", "-w", "w", "farms", "--rows", "5", "--out", "a.csv", code=1).err
    assert _state(run)["markers"] == []


@pytest.mark.long
def test_private_training_is_charged_once_and_its_rows_are_proven(run: Run, tmp_path: Path) -> None:
    pytest.importorskip("opacus")
    _office(run, tmp_path, WITH_DELTA)
    private = (*TRAIN, "--private", "--epochs", "2", "--rho", "0.05")
    trained = run(*private, "--request-id", "once")
    assert "losses" not in trained.err
    assert "epoch 2 of 2" in trained.err
    assert "zCDP, rho = " in trained.out
    state = _state(run)
    assert (state["charges"], state["markers"]) == (1, [])
    again = run(*private, "--request-id", "once", "--format", "json").json()
    assert again["model"]["differentially_private"] is True
    assert _state(run)["charges"] == 1

    done = run("gan", "sample", "-w", "w", "farms", "--rows", "50", "--out", "made.csv", "--format", "json").json()
    assert (done["differentially_private"], done["warnings"]) == (True, [])
    assert (tmp_path / "made.csv").read_text().splitlines()[0] == "status,output,area"
    after = _state(run)
    assert (after["charges"], after["markers"]) == (1, [])

    assert "paid for" in run(*TRAIN, "--epochs", "1", code=1).err
    assert "RequestConflict" in run(*private[:-1], "0.06", "--request-id", "once", code=1).err
    run(*TRAIN, "--epochs", "1", "--replace")
    assert "no longer kept" in run(*private, "--request-id", "once", code=1).err
    (model,) = json.loads(run("gan", "list", "-w", "w", "--format", "json").out)["models"]
    assert model["differentially_private"] is False


@pytest.mark.long
def test_private_training_beyond_the_budget_is_refused(run: Run, tmp_path: Path) -> None:
    pytest.importorskip("opacus")
    _office(run, tmp_path, WITH_DELTA)
    refused = run(*TRAIN, "--private", "--epochs", "1", "--rho", "5", code=1)
    assert "BudgetExceeded" in refused.err
    assert _state(run)["charges"] == 0
    assert not (tmp_path / "w" / "models").exists()
    run(*TRAIN, "--private", "--epochs", "1", "--epsilon", "1")
    assert _state(run)["charges"] == 1
