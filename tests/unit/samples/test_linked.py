"""The files to link: their bytes, their shares, who is in which, their cards, and what is refused."""

from __future__ import annotations

import csv
import hashlib
import subprocess
import sys
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from numpy.typing import NDArray

from discreet.cards.card import Card, ColumnKind
from discreet.cards.card_reader import read_card_file
from discreet.errors import PathInvalid, UsageError
from discreet.guarantees.types import Neighbours
from discreet.samples import write_linked
from discreet.samples.linked_offices.census_figures import load_census
from discreet.samples.linked_offices.linked_people import LARGEST, TONGUES, draw_linked
from discreet.workspace.folder import Workspace
from discreet.workspace.ingest import add_file
from discreet.workspace.ingest_report import read_report

pytestmark = pytest.mark.slow

NAMES = [
    "health.parquet",
    "health.yaml",
    "registry.parquet",
    "registry.yaml",
    "registry-people.yaml",
    "households.csv",
    "crosswalk.csv",
]
PEOPLE = 20_000
CENSUS = load_census()


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return {path.name: path for path in write_linked(tmp_path_factory.mktemp("linked"), people=PEOPLE, seed=4)}


@pytest.fixture(scope="module")
def health(files: dict[str, Path]) -> dict[str, NDArray[Any]]:
    return read_columns(files["health.parquet"])


@pytest.fixture(scope="module")
def registry(files: dict[str, Path]) -> dict[str, NDArray[Any]]:
    return read_columns(files["registry.parquet"])


@pytest.fixture(scope="module")
def million() -> Mapping[str, NDArray[Any]]:
    return draw_linked(people=1_000_000, seed=9)


def read_columns(file: Path) -> dict[str, NDArray[Any]]:
    table = pq.read_table(file)
    return {name: table[name].to_numpy() for name in table.column_names}


def read_pairs(file: Path) -> dict[int, str]:
    with file.open(encoding="utf-8", newline="") as stream:
        return {int(row[0]): row[1] for row in list(csv.reader(stream))[1:]}


def compare(ranks: NDArray[Any], published: NDArray[np.float64], *, groups: int | None = None) -> None:
    """Shares lie within four standard deviations of drawing as many people, or as many of what is drawn whole."""
    drawn = len(ranks) if groups is None else groups
    shares = np.bincount(ranks, minlength=len(published)) / len(ranks)
    published = published / published.sum()
    assert (np.abs(shares - published) < 4 * np.sqrt(published * (1 - published) / drawn) + 1e-5).all()


@pytest.mark.parametrize("people", [1_000, 20_000])
def test_the_same_seed_gives_the_same_bytes(tmp_path: Path, people: int) -> None:
    first, second, other = (
        write_linked(tmp_path / name, people=people, seed=seed) for name, seed in (("a", 4), ("b", 4), ("c", 5))
    )
    assert [path.name for path in first] == NAMES
    digests = [[hashlib.sha256(path.read_bytes()).hexdigest() for path in paths] for paths in (first, second, other)]
    assert digests[0] == digests[1]
    assert not set(digests[0]) & set(digests[2])


def test_languages_have_the_published_shares(million: Mapping[str, NDArray[Any]]) -> None:
    tongue = million["tongue"]
    for word, share in CENSUS.mother_tongue.items():
        counted = sum((tongue == rank).mean() / len(words) for rank, words in enumerate(TONGUES) if word in words)
        assert counted == pytest.approx(share, abs=1e-5)
    assert CENSUS.mother_tongue["french"] == pytest.approx(0.0396, abs=1e-4)
    compare(million["first_official"], np.array(list(CENSUS.first_official.values()), dtype=float))
    asked = million["asked"]
    households = len(np.unique(million["household"][asked]))
    compare(
        million["home_language"][asked], np.array(list(CENSUS.home_language.values()), dtype=float), groups=households
    )


def test_households_and_ages_have_the_published_shares(million: Mapping[str, NDArray[Any]]) -> None:
    sizes = np.bincount(million["household"])
    compare(np.minimum(sizes, 5) - 1, np.array(CENSUS.household_sizes, dtype=float))
    mean = CENSUS.people_in_households / sum(CENSUS.household_sizes)
    assert sizes.mean() == pytest.approx(mean, abs=0.01)
    assert (sizes.min(), sizes.max()) == (1, LARGEST)
    compare(np.minimum(million["age"] // 5, 17), np.array(CENSUS.ages, dtype=float))
    assert million["age"].max() <= 110
    grown = np.zeros(len(sizes), dtype=bool)
    grown[million["household"][million["age"] >= 15]] = True
    assert grown.all()


def test_members_of_a_household_speak_alike(million: Mapping[str, NDArray[Any]]) -> None:
    for word, least in (("french", 0.55), ("other", 0.6)):
        named = np.array([word in words for words in TONGUES])[million["tongue"]]
        sizes = np.bincount(million["household"])
        speakers = np.bincount(million["household"], weights=named)
        alike = (speakers * (speakers - 1)).sum() / (speakers * (sizes - 1)).sum()
        assert alike > least > 1.5 * named.mean()


def test_health_goes_with_age_and_language(million: Mapping[str, NDArray[Any]]) -> None:
    french = million["first_official"] == 1
    old = million["age"] >= 65
    type_2 = million["diabetes"] == 2
    days, angioplasty = million["hospital_days"], million["angioplasty"]
    assert 0.01 < angioplasty.mean() < 0.03
    assert 0.05 < type_2.mean() < 0.1
    assert angioplasty[old].mean() > 4 * angioplasty[~old].mean()
    assert days[old].mean() > 2 * days[~old].mean()
    assert days[type_2 & old].mean() > 1.3 * days[~type_2 & old].mean()
    assert angioplasty[french].mean() > 1.15 * angioplasty[~french].mean()
    assert days[french & old & type_2].mean() > 1.05 * days[~french & old & type_2].mean()
    assert 0 <= days.min() <= days.max() <= 365


def test_the_files_overlap_in_part(
    files: dict[str, Path], health: dict[str, NDArray[Any]], registry: dict[str, NDArray[Any]]
) -> None:
    insured, counted = set(health["health_number"].tolist()), set(registry["person"].tolist())
    assert (len(insured), len(counted)) == (len(health["health_number"]), len(registry["person"]))
    assert len(insured & counted) / len(counted) == pytest.approx(0.95, abs=0.01)
    assert 0.002 < len(insured - counted) / len(insured) < 0.02
    units = read_pairs(files["households.csv"])
    assert len(units) == PEOPLE
    assert insured | counted <= units.keys()
    assert 1 - len(counted) / PEOPLE == pytest.approx(0.01, abs=0.003)
    assert all(units[person] == home for person, home in zip(registry["person"], registry["household"], strict=True))
    assert all(units[person] == home for person, home in zip(health["health_number"], health["address"], strict=True))


def test_the_crosswalk_names_most_of_the_registry(files: dict[str, Path], registry: dict[str, NDArray[Any]]) -> None:
    keys = read_pairs(files["crosswalk.csv"])
    known = dict(zip(registry["person"].tolist(), registry["census_id"].tolist(), strict=True))
    assert len(keys) / len(known) == pytest.approx(0.85, abs=0.01)
    assert all(known[person] == int(key) for person, key in keys.items())
    assert len(set(known.values())) == len(known)


@pytest.mark.parametrize(("file", "heads"), [("households.csv", "id,unit"), ("crosswalk.csv", "id,key")])
def test_tables_of_keys_are_in_order_of_ids(files: dict[str, Path], file: str, heads: str) -> None:
    assert files[file].read_text(encoding="utf-8").startswith(f"{heads}\n")
    ids = list(read_pairs(files[file]))
    assert ids == sorted(ids)


def test_ids_say_nothing(health: dict[str, NDArray[Any]], registry: dict[str, NDArray[Any]]) -> None:
    numbers = health["health_number"]
    assert (numbers.min() >= 10**9, numbers.max() < 10**10) == (True, True)
    near = 4 / np.sqrt(len(registry["person"]))  # four standard deviations of a correlation that is none
    place = np.arange(len(numbers))
    for column in (place, health["age"], health["hospital_days"], health["sex"] == "male"):
        assert abs(np.corrcoef(numbers, column)[0, 1]) < 1.1 * near
    assert abs(np.corrcoef(registry["person"], registry["census_id"])[0, 1]) < near
    assert abs(np.corrcoef(registry["census_id"], registry["french"] == "yes")[0, 1]) < near
    _, home = np.unique(registry["household"], return_inverse=True)
    assert abs(np.corrcoef(registry["person"], home)[0, 1]) < near
    members = registry["person"][np.argsort(home, kind="stable")]
    same = np.sort(home)[1:] == np.sort(home)[:-1]
    assert abs(np.corrcoef(members[1:][same], members[:-1][same])[0, 1]) < 1.5 * near


def test_only_who_received_the_long_form_has_a_language_at_home(registry: dict[str, NDArray[Any]]) -> None:
    asked = registry["asked"] == "yes"
    assert asked.mean() == pytest.approx(0.2, abs=0.02)
    assert [value is None for value in registry["home_language"]] == (~asked).tolist()
    assert registry["weight"].tolist() == (5 * asked).tolist()
    homes = dict(zip(registry["household"], asked, strict=True))
    assert all(homes[home] == answer for home, answer in zip(registry["household"], asked, strict=True))


@pytest.mark.parametrize(
    ("file", "dataset", "population", "unit", "rows"),
    [
        ("health.yaml", "health", "insured", "health_number", 1),
        ("registry.yaml", "registry", "residents", "household", 5),
        ("registry-people.yaml", "people", "residents-by-person", "person", 1),
    ],
)
def test_the_cards_have_room_for_linked_counts(
    files: dict[str, Path], file: str, dataset: str, population: str, unit: str, rows: int
) -> None:
    card = read_card_file(files[file])
    assert (card.dataset, card.population, card.unit.column, card.unit.rows) == (dataset, population, unit, rows)
    assert card.neighbours is Neighbours.ADD_REMOVE
    assert (card.budget.epsilon, card.budget.delta) == (Decimal(4), Decimal(0))
    assert card.from_rows == ()
    assert all(column.label.en != column.label.fr for column in card.columns)


@pytest.mark.parametrize("people", [1_000, 20_000])
@pytest.mark.parametrize(
    ("data", "yaml"),
    [
        ("health.parquet", "health.yaml"),
        ("registry.parquet", "registry.yaml"),
        ("registry.parquet", "registry-people.yaml"),
    ],
)
def test_files_go_in_without_a_change(workspace: Workspace, tmp_path: Path, people: int, data: str, yaml: str) -> None:
    files = {path.name: path for path in write_linked(tmp_path / "linked", people=people)}
    card = read_card_file(files[yaml])
    report = read_report(add_file(workspace, files[data], card, replace=False).report)
    assert (report.rows_without_id, report.unused) == (0, ())
    assert report.most_rows == (LARGEST if card.dataset == "registry" else 1)
    assert (report.rows_beyond > 0) == (card.dataset == "registry")
    for column in report.columns:
        assert (column.not_listed, column.unparsable, column.clamped_low, column.clamped_high) == (0, 0, 0, 0)
        assert (column.null > 0) == (column.name == "home_language")


def test_the_health_card_lists_what_there_is(files: dict[str, Path], health: dict[str, NDArray[Any]]) -> None:
    card: Card = read_card_file(files["health.yaml"])
    assert list(health) == [column.name for column in card.columns]
    for column in card.columns:
        if column.kind is ColumnKind.CATEGORY:
            assert {category.code for category in column.categories} == set(health[column.name])
    assert card.column("age").bounds == (Decimal(0), Decimal(110))
    assert card.column("hospital_days").bounds == (Decimal(0), Decimal(365))


@pytest.mark.parametrize("people", [0, 999, 10_000_001, -5, True])
def test_sizes_out_of_range_are_refused(tmp_path: Path, people: int) -> None:
    with pytest.raises(UsageError, match=r"people must be a whole number from 1,000 to 10,000,000; .* 100,000"):
        write_linked(tmp_path / "none", people=people)
    with pytest.raises(UsageError, match="seed must be"):
        write_linked(tmp_path / "none", seed=-1)
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_overwritten_unasked(tmp_path: Path, name: str) -> None:
    kept = tmp_path / name
    kept.write_text("mine", encoding="utf-8")
    with pytest.raises(PathInvalid, match="exists"):
        write_linked(tmp_path, people=1_000)
    assert [path.name for path in tmp_path.iterdir()] == [name]
    write_linked(tmp_path, people=1_000, overwrite=True)
    assert kept.read_bytes() != b"mine"
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(NAMES)


def test_the_command_writes_all_files_and_their_cards_are_good(tmp_path: Path) -> None:
    def run(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([sys.executable, "-m", "discreet", *words], cwd=tmp_path, capture_output=True, text=True)

    done = run("sample", "linked", "data", "--people", "1000", "--seed", "5")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [f"wrote data/{name}" for name in NAMES]
    assert run("card", "check", "data/registry-people.yaml").returncode == 0
    again = run("sample", "linked", "data", "--people", "1000")
    assert again.returncode == 2
    assert again.stderr.startswith("PathInvalid")
