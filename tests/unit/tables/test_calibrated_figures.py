"""Tables that meet the totals of their card: exactly, in every format, with intervals of their own."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest
from pyarrow import parquet

from discreet.errors import ParameterInvalid, QueryRefused
from discreet.present.formats.arrow import to_arrow
from discreet.present.messages import say_message
from discreet.present.release_files import save
from discreet.present.table_words import small_print
from discreet.results import CalibrationTarget, Labels, Quality, Release
from discreet.session import Session
from discreet.tables.calibrated_figures import _Pair
from tests.releases import render_text
from tests.unit.tables.office import CARD, Office, open_office

TOTALS = """
totals:
  - {by: region, values: {N: 500, S: 1700}, source: {en: Census, fr: Recensement}}
  - {values: 2200, source: Census}
"""


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Office]:
    folder = tmp_path_factory.mktemp("known")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DISCREET_KEYS", str(folder / "keys"))
        patch.setenv("DISCREET_ANALYST", "ana")
        with open_office(folder, CARD + TOTALS) as opened:
            yield opened


def add_up(table: Release) -> None:
    """Every margin is the sum of its cells."""
    for margin in table.margins:
        kept = [place for place in range(len(table.headings)) if place not in margin.over]
        parts = [cell for cell in table.cells if all(cell.codes[place] == margin.codes[place] for place in kept)]
        assert sum(cell.value or 0 for cell in parts) == margin.value


@pytest.mark.parametrize("epsilon", ["0.001", "0.05", "1", "50"])
def test_a_weighted_table_meets_the_totals_exactly(known: Office, epsilon: str) -> None:
    table = known.table("smokes,region,age", weighted=True, epsilon=epsilon)
    by_region = {entry.codes[1]: entry for entry in table.margins if entry.over == (0, 2)}
    assert {code: entry.value for code, entry in by_region.items()} == {"N": 500, "S": 1700}
    assert all(entry.quality is Quality.PUBLIC and entry.low is None for entry in by_region.values())
    assert table.margins[-1].value == 2200
    assert None not in {cell.codes[1] for cell in table.cells}
    assert None in {cell.codes[0] for cell in table.cells}
    add_up(table)
    for entry in table.entries():
        assert isinstance(entry.value, int)
        if entry.quality is not Quality.PUBLIC:
            assert entry.low is not None and entry.high is not None  # noqa: PT018
            assert 0 <= entry.low <= entry.value <= entry.high
            assert entry.low < entry.high


def test_without_the_key_the_grand_total_is_met(known: Office) -> None:
    table = known.table("smokes,age", weighted=True, epsilon=1)
    assert table.margins[-1].value == 2200
    assert table.margins[-1].quality is Quality.PUBLIC
    assert table.calibration is not None
    assert table.calibration.targets == (CalibrationTarget("people.totals", (), Labels("Census", "Census")),)
    assert table.to_dict()["calibration"]["to"] == [
        {"totals": "people.totals", "by": [], "source": {"en": "Census", "fr": "Census"}}
    ]
    add_up(table)


@pytest.mark.parametrize("format_name", ["csv", "json", "table", "sdmx-csv"])
def test_every_format_meets_them(known: Office, format_name: str) -> None:
    table = known.table("region,smokes", weighted=True, epsilon=1)
    text = render_text(table, format_name, "fr")
    if format_name == "json":
        found = json.loads(text)
        assert found["calibration"]["estimates"].startswith("x·T/Σx")
        assert sum(cell["value"] for cell in found["cells"] if cell["keys"]["region"] == "S") == 1700
    elif format_name == "table":
        assert "x·T/Σx" in text
        assert "people.totals.region (selon Région), Recensement" in text
        assert "1 700" in text.replace("\u202f", " ").replace("\u00a0", " ")
    else:
        rows = list(csv.DictReader(io.StringIO(text)))
        region, value = ("REGION", "OBS_VALUE") if format_name == "sdmx-csv" else ("region", "value")
        whole = [row for row in rows if row[region] == "S"]
        assert sum(float(row[value]) for row in whole) == 2 * 1700
    arrow = to_arrow(table, "en")
    assert sum(arrow["value"].to_pylist()) == 4 * 2200


def test_what_is_said_beside_the_figures(known: Office) -> None:
    table = known.table("region,smokes", weighted=True, epsilon=1)
    told = {heading.en: text for heading, text in map(say_message, table.notes)}
    assert "x·T/Σx" in told["Calibration"].en
    assert "x·T/Σx" in told["Calibration"].fr
    assert "x·T/Σx" in told["What an interval covers"].en
    assert "are left out" in told["Not in the totals"].en
    assert "stays a bias" in told["Weights"].en
    assert table.to_dict()["interval_meaning"] == told["What an interval covers"].en


def test_calibration_is_a_way_of_reading_and_can_be_left(known: Office) -> None:
    first = known.table("region,smokes", weighted=True, epsilon="0.7")
    asked = known.session.tables.read(known.request("region,smokes", weighted=True), epsilon="0.7", calibrate=["none"])
    plain = known.session.tables.release(asked)
    assert plain.replayed
    assert plain.calibration is None
    assert None in {cell.codes[0] for cell in plain.cells}
    before = {entry.codes: entry.value for entry in plain.cells}
    assert all(entry.uncalibrated == before[entry.codes] for entry in first.cells)
    assert all(entry.raw == raw for entry in first.cells for raw in [_raw(plain, entry.codes)])


def _raw(table: Release, codes: tuple[object, ...]) -> object:
    return next(entry.raw for entry in table.cells if entry.codes == codes)


@pytest.mark.parametrize(
    "options", [{}, {"value": "height", "weighted": True}, {"weighted": True, "where": "age > 17"}]
)
def test_other_tables_are_left_as_they_are(known: Office, options: dict[str, object]) -> None:
    assert known.table("region,smokes", epsilon=1, **options).calibration is None
    with pytest.raises(QueryRefused, match="cannot be calibrated to the card's totals: they are totals of"):
        known.session.tables.read(known.request("region,smokes", **options), epsilon=1, calibrate=["card"])


def test_one_way_of_calibrating_at_a_time(known: Office) -> None:
    request = known.request("region,smokes", weighted=True)
    with pytest.raises(ParameterInvalid, match="must be card, none, or public tables"):
        known.session.tables.read(request, epsilon=1, calibrate=["none", "regions.people"])
    asked = known.session.tables.read(request, epsilon=1, calibrate=["regions.people"])
    assert [target.name for target in asked.targets] == ["regions.people"]


def test_a_share_is_inverted_like_fieller() -> None:
    """With one number of deviations for all shares the ends solve a quadratic equation, written out here."""
    own, joint, whole, times = 4.0, 3.0, 9.0, 1.96
    pair = _Pair((own, joint, whole), (times,) * 7)
    figures, sums = np.array([30.0, -3.0, 1.0]), np.array([100.0, 100.0, 2.0])
    _, low, high, errors = pair.invert(figures, sums)
    for end in (low[0], high[0]):
        assert abs(30 - end * 100) == pytest.approx(times * (own - 2 * end * joint + end**2 * whole) ** 0.5)
    assert low[1] == 0
    assert high[1] == pytest.approx(times * (own - 2 * high[1] * joint + high[1] ** 2 * whole) ** 0.5 / 100)
    assert (low[2], high[2], errors[2]) == (0, 1, np.inf)
    assert errors[0] == pytest.approx((own - 0.6 * joint + 0.09 * whole) ** 0.5 / 100, rel=0.01)


def test_noise_that_is_hardly_there_has_an_error_and_no_reach() -> None:
    pair = _Pair((1e-4, 1e-4, 3e-4), (0.0,) * 7)
    _, low, high, errors = pair.invert(np.array([56.0]), np.array([113.0]))
    assert low == high == pytest.approx(56 / 113)
    assert 0 < errors[0] < 1e-3


def test_levels_nest(known: Office) -> None:
    asked = {
        level: known.session.tables.read(known.request("smokes,region", weighted=True), epsilon=1, level=level)
        for level in ("0.5", "0.99")
    }
    narrow, wide = (known.session.tables.release(asked[level]) for level in ("0.5", "0.99"))
    for inner, outer in zip(narrow.entries(), wide.entries(), strict=True):
        assert inner.value == outer.value
        if inner.low is not None:
            assert outer.low <= inner.low  # type: ignore[operator]
            assert inner.high <= outer.high  # type: ignore[operator]
    assert wide.level == Decimal("0.99")


def test_files_are_written(known: Office, tmp_path: Path) -> None:
    table = known.table("region,smokes", weighted=True, epsilon=1)
    for name in ("t.xlsx", "t.html", "t.parquet"):
        save(table, tmp_path / name, language="fr")
    page = (tmp_path / "t.html").read_text("utf-8").replace("\u202f", " ").replace("\u00a0", " ")
    assert "1 700" in page
    assert "Recensement" in page
    assert "l’intervalle à 95 % du chiffre calé" in page
    assert "intervalle du chiffre calé" in page
    assert "Calé sur des totaux publics\N{NO-BREAK SPACE}: chaque chiffre estime x·T/Σx." in small_print(table, "fr")
    assert sum(parquet.read_table(tmp_path / "t.parquet")["value"].to_pylist()) == 4 * 2200


def test_the_explanation_says_so_before_anything_is_charged(known: Office) -> None:
    asked = known.session.tables.read(known.request("region,smokes", weighted=True), epsilon=1)
    told = known.session.tables.explain(asked)
    assert "Figures will meet people.totals.region (region)" in told.to_text()
    assert "asking buys nothing" not in told.to_text()
    alone = known.session.tables.read(known.request("region", weighted=True), epsilon=1)
    assert any("asking buys nothing" in note for note in known.session.tables.explain(alone).to_dict()["notes"])  # type: ignore[attr-defined]


SMALL = """
dataset: people
population: everyone
unit: {column: pid, rows: 1}
neighbours: add-remove
budget: {epsilon: 100}
weight: {column: weight, cap: 20}
totals: {by: region, values: {N: 9, S: 9000}, source: Census}
columns:
  pid: {kind: id, type: integer}
  region: {kind: category, public: true, categories: [N, S]}
  smokes: {kind: category, complete: true, categories: [1, 2]}
  weight: {kind: integer, bounds: [0, 20]}
"""


def _tabled(folder: Path, card: str, times: int = 1) -> list[Release]:
    """403 people by region and whether they smoke, three of them in the north; so many draws of the table."""
    rows = [f"{pid},{'N' if pid < 3 else 'S'},{1 + pid % 2},{20 if pid >= 3 else 1}" for pid in range(403)]
    (folder / "people.csv").write_text("\n".join(["pid,region,smokes,weight", *rows, ""]), encoding="utf-8")
    (folder / "people.yaml").write_text(card, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DISCREET_KEYS", str(folder / "keys"))
        patch.setenv("DISCREET_ANALYST", "ana")
        with Session.create(folder / "w") as session:
            session.add(folder / "people.csv", confirm=lambda _: True)
            return [
                session.table("people", by="region,smokes", weighted=True, epsilon=2, fresh=True) for _ in range(times)
            ]


def test_a_group_too_small_to_divide_by_does_not_spoil_the_grades_of_sums(tmp_path: Path) -> None:
    """Of a group lost in noise nothing is known but that its part lies between 0 and its total; that is little."""
    lost = 0
    for table in _tabled(tmp_path, SMALL, times=5):
        qualities = {entry.codes: entry.quality for entry in table.entries() if entry.over in ((), (0,))}
        lost += qualities["N", "1"] is Quality.UNRELIABLE  # but for about one in 150
        assert qualities["S", "1"] is qualities[None, "1"] is qualities[None, "2"] is Quality.GOOD
    assert lost >= 3


def test_public_totals_have_no_interval_when_another_total_is_0(tmp_path: Path) -> None:
    """A group of which the totals say that nobody is in it adds no noise to the others."""
    totals = """totals:
  - {by: region, values: {N: 0, S: 9000}, source: Census}
  - {by: smokes, values: {1: 4000, 2: 5000}, source: Census}
"""
    card = re.sub(r"totals: .*\n", totals, SMALL).replace("complete: true", "public: true")
    for table in _tabled(tmp_path, card, times=12):  # in half of them nobody is left in the north before totals are met
        margins = {entry.codes: entry for entry in table.margins}
        assert {codes: entry.value for codes, entry in margins.items()} == {
            ("N", None): 0,
            ("S", None): 9000,
            (None, "1"): 4000,
            (None, "2"): 5000,
            (None, None): 9000,
        }
        assert {(entry.quality, entry.low) for entry in margins.values()} == {(Quality.PUBLIC, None)}
        cells = {entry.codes: entry for entry in table.cells}
        assert cells["N", "1"].quality is Quality.PUBLIC
        assert cells["S", "1"].quality is Quality.PUBLIC, "it follows from the totals"
