"""`discreet gan` as a user runs it: trained, sampled, inspected, paid for; and what is refused, and how."""

from __future__ import annotations

import csv
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner

import discreet
from discreet.errors import DiscreetError, Refused
from discreet.lab.generator.protected.private_training import PrivateEpoch
from discreet.lab.lab_commands import training_progress as progress
from discreet.lab.lab_commands.generator_commands import gan
from discreet.ledger import BudgetState
from tests.cli.clinic import Result, Run

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


def _state(folder: Path) -> BudgetState:
    with discreet.open(folder / "w") as session:
        return session.budget("farms")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """`discreet gan` in this process: each process of its own would load torch again."""
    monkeypatch.chdir(tmp_path)

    def call(*words: str, code: int = 0) -> Result:
        done = CliRunner().invoke(gan, words[1:])
        error = done.exception
        told = f"{error.name}: {error.message}" if isinstance(error, DiscreetError) else ""
        assert (error.exit_code if isinstance(error, DiscreetError) else done.exit_code) == code, (words, done.output)
        return Result(code, done.stdout, done.stderr + told)

    return call


def _head(folder: Path) -> tuple[int, str]:
    with discreet.open(folder / "w") as session:
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


def test_what_is_off_is_told_and_leaves_nothing(run: Run, here: Run, tmp_path: Path) -> None:
    _office(run, tmp_path, CARD)
    before = _head(tmp_path)
    for words, code, told in OFF:
        assert told in here("gan", words[0], "-w", "w", *words[1:], code=code).err, words
        assert _head(tmp_path) == before, words
    assert not (tmp_path / "w" / "models").exists()
    assert not (tmp_path / "a.csv").exists()


def test_without_the_extra_one_is_told_what_to_install(
    run: Run, process: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "none").mkdir()
    for module in ("torch", "opacus", "safetensors"):
        (tmp_path / "none" / f"{module}.py").write_text(f"raise ModuleNotFoundError(name='{module}')\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "none"), prepend=os.pathsep)
    _office(run, tmp_path, CARD)
    missing = process(*TRAIN, "--epochs", "1", code=2)
    assert "ExtraMissing" in missing.err
    assert "pip install 'discreet[gan]'" in missing.err
    assert "CUSTODIAN VIEW" not in missing.err + missing.out
    assert "There is no model yet" in run("gan", "list", "-w", "w").out


def test_the_view_is_announced_when_it_is_logged(
    run: Run, here: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def train(*_: object, **__: object) -> None:
        raise Refused("the training begins")

    _office(run, tmp_path, CARD)
    before, _ = _head(tmp_path)
    monkeypatch.setitem(sys.modules, "discreet.lab.generator.training", SimpleNamespace(train=train))
    begun = here(*TRAIN, code=1).err
    assert "CUSTODIAN VIEW" in begun
    assert "the training begins" in begun
    assert _head(tmp_path)[0] == before + 1


def test_no_bar_runs_over_the_question_before_the_training(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[str] = []

    @contextmanager
    def bar() -> Iterator[Callable[[str, int, int], None]]:
        shown.append("bar")
        yield lambda stage, done, total: shown.append(f"{stage} {done} of {total}")

    monkeypatch.setattr(progress, "show_progress", bar)
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    with progress.show_training() as told:
        assert shown == []
        for number in (1, 2):
            told(PrivateEpoch(number, 2, 0.0))
    assert shown == ["bar", "training privately 1 of 2", "training privately 2 of 2"]


# --- with torch -----------------------------------------------------------------------------------------------------


@pytest.mark.long
def test_a_model_is_trained_sampled_and_inspected(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torch")
    monkeypatch.setattr(progress, "SECONDS_APART", 0)
    _office(run, tmp_path, CARD)
    trained = run(*TRAIN, "--epochs", "2")
    assert "losses" in trained.err
    assert "epoch 2 of 2" in trained.err
    assert "CUSTODIAN VIEW" in trained.err
    assert "not differentially private" in trained.out
    (model,) = run("gan", "list", "-w", "w", "--format", "json").json()["models"]
    assert (model["dataset"], model["version"], model["differentially_private"]) == ("farms", 1, False)
    assert _state(tmp_path).markers == ()

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
    assert len(_state(tmp_path).markers) == 1

    seen = run("gan", "inspect", "-w", "w", "farms", "--custodian", "--rows", "300")
    assert "CUSTODIAN VIEW" in seen.err
    assert "independent columns" in seen.out
    found = run("gan", "inspect", "-w", "w", "farms", "--custodian", "--format", "json").json()
    assert list(found["rows"].values()) == [300, 300, 10_000, 100_000, 300]
    assert found["columns"][1]["sets"]["real"]["cardinality"] == 258
    assert found["columns"][2]["sets"]["real"]["range"] == ["0.1", "30"]
    assert found["correlated_pairs"]["independent columns"] == 1


@pytest.mark.long
def test_without_the_opt_in_rows_stay_inside(run: Run, here: Run, tmp_path: Path) -> None:
    pytest.importorskip("torch")
    _office(run, tmp_path, CLOSED)
    here(*TRAIN, "--epochs", "1")
    refused = here("gan", "sample", "-w", "w", "farms", "--rows", "5", "--out", "made.csv", code=1)
    assert "allow: [generated]" in refused.err
    assert not (tmp_path / "made.csv").exists()
    assert _state(tmp_path).markers == ()


@pytest.mark.long
def test_a_changed_model_is_refused(run: Run, here: Run, tmp_path: Path) -> None:
    pytest.importorskip("torch")
    _office(run, tmp_path, CARD)
    here(*TRAIN, "--epochs", "1")
    (tensors,) = (tmp_path / "w" / "models").rglob("*.safetensors")
    content = bytearray(tensors.read_bytes())
    content[-1] ^= 1
    tensors.write_bytes(content)
    assert "FileRefused" in here("gan", "sample", "-w", "w", "farms", "--rows", "5", "--out", "a.csv", code=1).err
    assert _state(tmp_path).markers == ()
    (origin,) = (tmp_path / "w" / "models").rglob("origin.json")
    origin.write_text("{")
    assert "Damaged and not listed: 1" in here("gan", "list", "-w", "w").err
    here(*TRAIN, "--epochs", "1")
    here("gan", "sample", "-w", "w", "farms", "--rows", "5", "--out", "a.csv")


@pytest.mark.long
def test_private_training_is_charged_once_and_its_rows_are_proven(
    run: Run, here: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("opacus")
    monkeypatch.setattr(progress, "SECONDS_APART", 0)
    _office(run, tmp_path, WITH_DELTA)
    private = (*TRAIN, "--private", "--epochs", "2", "--rho", "0.05")
    trained = here(*private, "--request-id", "once")
    assert "losses" not in trained.err
    assert "epoch 2 of 2" in trained.err
    assert "zCDP, rho = 0.05; protects farm (at most 1 row each); neighbours: add-remove" in trained.out
    assert "rho 0.05; epsilon spent of the population: 0 before" in trained.out
    state = _state(tmp_path)
    assert (state.charges, state.markers) == (1, ())
    again = here(*private, "--request-id", "once", "--format", "json").json()
    assert (again["model"]["differentially_private"], again["request_id"]) == (True, "once")
    assert again["charge"]["rho"] == "0"
    assert _state(tmp_path).charges == 1

    done = here("gan", "sample", "-w", "w", "farms", "--rows", "50", "--out", "made.csv", "--format", "json").json()
    assert (done["differentially_private"], done["warnings"]) == (True, [])
    assert (tmp_path / "made.csv").read_text().splitlines()[0] == "status,output,area"
    after = _state(tmp_path)
    assert (after.charges, after.markers) == (1, ())

    assert "paid for" in here(*TRAIN, "--epochs", "1", code=1).err
    assert "RequestConflict" in here(*private[:-1], "0.06", "--request-id", "once", code=1).err
    here(*TRAIN, "--epochs", "1", "--replace")
    assert "no longer kept" in here(*private, "--request-id", "once", code=1).err
    (model,) = here("gan", "list", "-w", "w", "--format", "json").json()["models"]
    assert model["differentially_private"] is False


@pytest.mark.long
def test_private_training_beyond_the_budget_is_refused(run: Run, here: Run, tmp_path: Path) -> None:
    pytest.importorskip("opacus")
    _office(run, tmp_path, WITH_DELTA)
    refused = here(*TRAIN, "--private", "--epochs", "1", "--rho", "5", code=1)
    assert "BudgetExceeded" in refused.err
    assert _state(tmp_path).charges == 0
    assert not (tmp_path / "w" / "models").exists()
    here(*TRAIN, "--private", "--epochs", "1", "--epsilon", "1")
    assert _state(tmp_path).charges == 1
