"""The sample of consumer units: the textbook's figures for every seed, its card, and what is refused."""

from __future__ import annotations

import csv
import hashlib
import subprocess
import sys
from collections import Counter
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest

from discreet.cards.card import Card, ColumnKind, SizeRule
from discreet.cards.card_reader import read_card_file
from discreet.errors import PathInvalid, UsageError
from discreet.guarantees.types import Neighbours
from discreet.samples import write_ce
from discreet.workspace.folder import Workspace
from discreet.workspace.ingest import add_file
from discreet.workspace.ingest_report import read_report

EARLIER = "17e11c90c2938c29a0259e7db82bb1fd6c2d92ffdcfea1ff4debd79176da4ae8"


def read_rows(file: Path) -> list[dict[str, int]]:
    with file.open(encoding="utf-8", newline="") as stream:
        return [{name: int(value) for name, value in row.items()} for row in csv.DictReader(stream)]


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return write_ce(tmp_path_factory.mktemp("ce"))


@pytest.fixture(scope="module")
def ce_card(sample: tuple[Path, Path]) -> Card:
    return read_card_file(sample[1])


@pytest.mark.parametrize("seed", [0, 1, 2, 77, 2**63 - 1])
def test_the_textbooks_figures_hold_for_every_seed(tmp_path: Path, seed: int) -> None:
    rows = read_rows(write_ce(tmp_path, seed=seed)[0])
    assert sorted(row["unit_id"] for row in rows) == list(range(1, 995))
    assert Counter(row["urban_rural"] for row in rows) == {1: 943, 2: 51}
    mean = sum(row["income"] for row in rows) / len(rows)
    assert round(mean) == 67_593
    assert round(mean, 2) == 67_593.21
    assert round(sum(row["expenditure"] for row in rows) / len(rows), 2) == 9_421.97
    assert all(0 < row["expenditure"] < 100_000 for row in rows)


def test_the_rest_is_plausible(sample: tuple[Path, Path]) -> None:
    rows = read_rows(sample[0])
    incomes = sorted(row["income"] for row in rows)
    assert incomes[0] == 0
    assert 35_000 < incomes[len(incomes) // 2] < 60_000
    assert 250_000 < incomes[-1] < 1_000_000
    assert set(Counter(row["region"] for row in rows)) == {1, 2, 3, 4}
    assert Counter(row["family_size"] for row in rows).most_common(1)[0][0] == 2


def test_a_seed_keeps_the_columns_it_had_before_race_and_expenditure(sample: tuple[Path, Path]) -> None:
    lines = sample[0].read_text(encoding="utf-8").splitlines()
    assert lines[0] == "unit_id,urban_rural,region,family_size,income,race,expenditure"
    before = "\n".join(line.rsplit(",", 2)[0] for line in lines) + "\n"
    assert hashlib.sha256(before.encode()).hexdigest() == EARLIER


def test_who_earns_more_spends_more_and_race_goes_with_income(sample: tuple[Path, Path]) -> None:
    rows = read_rows(sample[0])
    income = np.log([max(row["income"], 8_000) for row in rows])
    slope, _ = np.polyfit(income, np.log([row["expenditure"] for row in rows]), 1)
    assert 0.3 < slope < 0.55
    counts = Counter(row["race"] for row in rows)
    assert set(counts) <= {1, 2, 3, 4, 5, 6}
    assert 0.75 < counts[1] / len(rows) < 0.88
    mean = {race: sum(row["income"] for row in rows if row["race"] == race) / counts[race] for race in (1, 2)}
    assert mean[2] < mean[1]


def test_the_same_seed_gives_the_same_bytes(tmp_path: Path, sample: tuple[Path, Path]) -> None:
    again = write_ce(tmp_path / "again")
    other = write_ce(tmp_path / "other", seed=2)
    assert [path.name for path in again] == ["ce.csv", "ce.yaml"]
    assert [path.read_bytes() for path in again] == [path.read_bytes() for path in sample]
    assert other[0].read_bytes() != sample[0].read_bytes()


def test_the_card_has_the_textbooks_bounds(ce_card: Card) -> None:
    assert (ce_card.dataset, ce_card.population) == ("ce", "ce-example")
    assert (ce_card.neighbours, ce_card.size) == (Neighbours.ADD_REMOVE, SizeRule.PRIVATE)
    assert (ce_card.unit.column, ce_card.unit.rows) == ("unit_id", 1)
    assert ce_card.budget.epsilon == 3
    assert ce_card.column("income").kind is ColumnKind.INTEGER
    assert ce_card.column("income").bounds == (Decimal(0), Decimal(1_000_000))
    codes = {category.code: category.label.en for category in ce_card.column("urban_rural").categories}
    assert codes == {"1": "Urban", "2": "Rural"}
    assert ce_card.from_rows == ()


def test_the_file_goes_in_without_a_change(workspace: Workspace, sample: tuple[Path, Path], ce_card: Card) -> None:
    report = read_report(add_file(workspace, sample[0], ce_card, replace=False).report)
    assert (report.rows, report.units, report.most_rows, report.rows_without_id) == (994, 994, 1, 0)
    assert report.unused == ()
    for column in report.columns:
        counts = (column.null, column.not_listed, column.unparsable, column.clamped_low, column.clamped_high)
        assert counts == (0, 0, 0, 0, 0), column.name


@pytest.mark.parametrize("seed", [-1, 2**63, True])
def test_seeds_out_of_range_are_refused(tmp_path: Path, seed: int) -> None:
    with pytest.raises(UsageError, match="seed must be"):
        write_ce(tmp_path / "none", seed=seed)
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize("name", ["ce.csv", "ce.yaml"])
def test_nothing_is_overwritten_unasked(tmp_path: Path, name: str) -> None:
    kept = tmp_path / name
    kept.write_text("mine", encoding="utf-8")
    with pytest.raises(PathInvalid, match="exists"):
        write_ce(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [name]
    assert kept.read_text(encoding="utf-8") == "mine"
    write_ce(tmp_path, overwrite=True)
    assert kept.read_text(encoding="utf-8") != "mine"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["ce.csv", "ce.yaml"]


def test_the_command_writes_both_files(tmp_path: Path) -> None:
    words = [sys.executable, "-m", "discreet", "sample", "ce", "data", "--seed", "5"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert sorted(path.name for path in (tmp_path / "data").iterdir()) == ["ce.csv", "ce.yaml"]
    again = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True)
    assert again.returncode == 2
    assert again.stderr.startswith("PathInvalid")
