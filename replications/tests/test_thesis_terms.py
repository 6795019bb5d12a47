"""Cards of the benchmark, what they promise, and workspaces that hold its data."""

from __future__ import annotations

import math
import re
from contextlib import closing
from fractions import Fraction
from pathlib import Path

import pytest
from discreet_replications.thesis.data.arff import KidneyReading
from discreet_replications.thesis.data.public_ranges import COLUMNS, Range
from discreet_replications.thesis.data.readings import Readings, read_data
from discreet_replications.thesis.data.thesis_cards import Variant, card_text, queries_of
from discreet_replications.thesis.data.thesis_queries import DATASETS, QUERIES, RELATIVE_ERROR
from discreet_replications.thesis.data.thesis_workspace import prepare
from discreet_replications.thesis.foresight import Foresight, foresee_all, mean_error
from discreet_replications.thesis.thesis_truth import check_readings, losses

from discreet.cards import Card, parse_card
from discreet.engines import engine_for
from discreet.errors import QueryRefused
from discreet.guarantees import Neighbours
from discreet.release import Shelf
from discreet.sql import read_statement, sensitivities
from discreet.workspace import Dataset, RowSource
from tests.places import DOCS, SHARED

pytestmark = pytest.mark.long

NEEDED = ("kidney_uci.arff", "breast_wdbc.csv", "diabetes130.csv.gz")
at_hand = pytest.mark.skipif(
    not all((SHARED / name).is_file() for name in NEEDED), reason="the thesis' three data files are not at hand"
)
RECORD = "48,80,1.020,1,0,?,normal,notpresent,notpresent,121,36,1.2,?,?,15.4,44,7800,5.2,yes,yes,no,good,no,no,ckd"


@pytest.fixture(scope="module")
def everything() -> Readings:
    return read_data(SHARED)


def cards_of(variant: Variant) -> dict[str, Card]:
    return {name: parse_card(card_text(name, variant), file=f"{name}.yaml") for name in DATASETS}


def asked_range(dataset: str, column: str) -> Range:
    return next(one for one in COLUMNS[dataset] if isinstance(one, Range) and one.column == column)


# --- cards ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("variant", Variant)
def test_no_bound_of_a_card_comes_from_the_rows(variant: Variant) -> None:
    for card in cards_of(variant).values():
        assert not any(column.from_rows for column in card.columns)
        assert card.neighbours is (Neighbours.REPLACE_ONE if variant.replaces else Neighbours.ADD_REMOVE)


@pytest.mark.parametrize("private", [Variant.PRIVATE_BOUNDS, Variant.PRIVATE_BOUNDS_ADD_REMOVE])
def test_private_bounds_are_those_of_the_columns_asked_about(private: Variant) -> None:
    found = {(name, one.name) for name, card in cards_of(private).items() for one in card.columns if one.private_bounds}
    assert found == {(query.dataset, query.column) for query in QUERIES}


def test_patients_are_units_of_forty_rows_and_their_id_is_not_summed() -> None:
    card = cards_of(Variant.PATIENT)["diabetes"]
    assert (card.unit.column, card.unit.rows) == ("patient_nbr", 40)
    assert len(queries_of(Variant.PATIENT)) == 25
    assert not any(column.public_presence for column in card.columns)


def test_standard_errors_follow_from_what_one_nucleus_may_have() -> None:
    for feature in ("radius", "area", "symmetry"):
        largest, error = (asked_range("breast", f"{feature}_{part}") for part in ("worst", "se"))
        spread = (float(largest.high) - float(largest.low)) / math.sqrt(120)
        assert spread <= float(error.high) <= 1.1 * spread


def test_every_range_is_written_down_with_its_reason() -> None:
    page = (DOCS / "thesis-cards.md").read_text(encoding="utf-8")
    for query in QUERIES:
        one = asked_range(query.dataset, query.column)
        written = re.escape(f"| `{query.column}` | {one.low} to {one.high} |")
        assert re.search(written + r" \S.{20,}\|", page), query.column


# --- plans ------------------------------------------------------------------------------------------------------------


class Housed:
    """Small files of all three data sets, in a workspace on some terms."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        header = [f"@attribute {one.column} numeric" for one in COLUMNS["kidney"]]
        records = [RECORD, RECORD.replace("48,", "?,"), RECORD]
        (folder / "kidney_uci.arff").write_text("\n".join([*header, "@data", *records]) + "\n")
        breast = [one.column for one in COLUMNS["breast"]]
        rows = [["M", *["0.1"] * 30], ["B", *["9999"] * 30]]
        (folder / "breast_wdbc.csv").write_text("\n".join(map(",".join, [breast, *rows])) + "\n")
        names = [getattr(one, "source", "") or one.column for one in COLUMNS["diabetes"]]
        encounters = [["1"] * len(names), ["2"] * len(names), ["2"] * len(names)]
        (folder / "diabetic_data.csv").write_text("\n".join(map(",".join, [names, *encounters])) + "\n")
        self.readings = read_data(folder)


@pytest.fixture(scope="module")
def housed(tmp_path_factory: pytest.TempPathFactory) -> Housed:
    return Housed(tmp_path_factory.mktemp("thesis"))


class Catalogue:
    """The cards on some terms, without rows."""

    def __init__(self, variant: Variant) -> None:
        self.cards = cards_of(variant)

    def find(self, name: str) -> Dataset:
        return Dataset(name, 1, self.cards[name], Path("none"), Path("none"), RowSource("duckdb", Path("none")))


@pytest.mark.parametrize("variant", Variant)
def test_every_query_is_planned(variant: Variant) -> None:
    catalogue = Catalogue(variant)
    for query in queries_of(variant):
        assert read_statement(query.sql, catalogue)[0].plan.dataset == query.dataset


def test_the_id_of_a_patient_cannot_be_summed() -> None:
    with pytest.raises(QueryRefused, match="patient_nbr"):
        read_statement(QUERIES[21].sql, Catalogue(Variant.PATIENT))


def test_a_workspace_holds_the_data_and_nothing_to_release_with(housed: Housed, tmp_path: Path) -> None:
    told: list[tuple[str, int]] = []
    workspace = prepare(
        tmp_path / "w", housed.readings, Variant.PATIENT, progress=lambda name, rows: told.append((name, rows))
    )
    assert told == [("kidney", 3), ("breast", 2), ("diabetes", 3)]
    assert not list(tmp_path.rglob("*.key"))
    assert not list(tmp_path.rglob("*.csv"))
    assert workspace.names() == ("breast", "diabetes", "kidney")
    statement, datasets = Shelf(workspace).read("SELECT SUM(number_emergency) FROM diabetes")
    assert datasets["diabetes"].card.unit.rows == 40
    with closing(engine_for(datasets, salt=workspace.salt)) as engine:
        assert list(engine.measure(statement.plan).columns[0]) == [5]


def test_clipping_is_foreseen(housed: Housed) -> None:
    foreseen = {one.query.number: one for one in foresee_all(housed.readings)}
    assert foreseen[0].bias == 0
    assert foreseen[0].truth.present == 2
    area = foreseen[15]
    assert area.clipped_rows == 2
    assert area.clipped_result == 5050
    assert area.bias == pytest.approx((5050 - 9999.1) / 9999.1)


def test_the_planned_noise_is_the_foreseen_one(housed: Housed) -> None:
    catalogue = Catalogue(Variant.THESIS)
    for one in foresee_all(housed.readings):
        statement, cards = read_statement(one.query.sql, catalogue)
        sums, *counts = (sensitivities(statement.plan, measure, cards) for measure in statement.plan.measures)
        step = cards[one.query.dataset].column(one.query.column).step
        assert step is not None
        parts = one.truth.present if one.query.aggregate == "AVG" else 1
        assert sums.each[0].l1 * Fraction(step) / parts == one.sensitivity
        assert all(count.each[0].l1 == 0 for count in counts)


def test_the_foreseen_error_is_the_mean_of_moved_noise(housed: Housed) -> None:
    one = next(one for one in foresee_all(housed.readings) if one.query.number == 15)
    scale, moved = float(one.sensitivity) / 0.5 / 9999.1, abs(one.bias)
    steps = [(place + 0.5) / 1000 * scale for place in range(-40_000, 40_000)]
    mean = math.fsum(abs(x + moved) * math.exp(-abs(x) / scale) / (2 * scale) for x in steps) * scale / 1000
    assert one.relative_error(epsilon=Fraction(1, 2)) == pytest.approx(mean, rel=1e-5)


# --- the data themselves ----------------------------------------------------------------------------------------------


@at_hand
def test_all_that_is_printed_comes_out_as_the_thesis_read_it(everything: Readings) -> None:
    theirs, clean = check_readings(everything)
    assert theirs.score == "26/26"
    assert theirs.tell() == "26/26 as the thesis read kidney"
    assert clean.score == "24/26"
    assert [line.query.name for line in clean.differing] == ["AVG(wbcc)", "SUM(rbcc)"]
    lost = losses(everything)
    assert lost is not None
    assert (lost.asked["wbcc"], lost.asked["rbcc"], lost.asked["age"]) == (3, 3, 0)
    assert lost.records == 13


@at_hand
@pytest.mark.parametrize("reading", KidneyReading)
def test_public_ranges_promise_less_error_than_the_thesis_printed(everything: Readings, reading: KidneyReading) -> None:
    foreseen: tuple[Foresight, ...] = foresee_all(everything, reading)
    assert len(foreseen) == 26
    for epsilon, most in (("0.01", 0.75), ("0.1", 0.078)):
        error = mean_error(foreseen, epsilon=Fraction(epsilon))
        assert error < most < RELATIVE_ERROR[epsilon, 100_000].mean


def test_breast_alone_gives_ten_of_ten() -> None:
    pytest.importorskip("sklearn")
    readings = read_data(None)
    [check] = check_readings(readings)
    assert check.tell() == "10/10 without kidney"
    assert losses(readings) is None
