"""What a cap cuts: exact for the custodian, with noise and a charge for everybody else."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import discreet
from discreet.cards.card import parse_card
from discreet.errors import QueryRefused
from discreet.release.cap_share import cap_share_sql
from discreet.session import Session
from discreet.workspace.ingest_report import read_report
from tests.cli.clinic import Run
from tests.workspaces import fill

CARD = """
dataset: people
population: everyone
unit: {column: pid, rows: 1}
neighbours: add-remove
budget: {epsilon: 900000}
weight: {column: weight, cap: {by: region, values: {N: 5, S: 20}}}
totals: {by: region, values: {N: 110, S: 101}, source: {en: Register, fr: Registre}}
columns:
  pid: {kind: id, type: integer}
  region: {kind: category, public: true, categories: {N: North, S: South}}
  weight: {kind: integer, bounds: [0, 100]}
  full: {kind: integer, source: weight, bounds: [0, 100]}
"""
ROWS = "pid,region,weight\n" + "\n".join(
    f"{pid},{region},{weight}"
    for pid, (region, weight) in enumerate(
        [("N", 3), ("N", 5), ("N", 9), ("N", 90), ("S", 20), ("S", 31), ("S", 49), ("", 25), ("", 7)], start=1
    )
)


@pytest.fixture
def office(tmp_path: Path) -> Path:
    return fill(tmp_path, CARD + ROWS, _make_office)


def _make_office(folder: Path) -> None:
    (folder / "people.csv").write_text(ROWS + "\n", encoding="utf-8")
    (folder / "people.yaml").write_text(CARD, encoding="utf-8")
    with Session.create(folder / "w") as session:
        session.add(folder / "people.csv", confirm=lambda _: True)


def test_the_custodian_sees_what_is_cut_by_group(office: Path, run: Run) -> None:
    shown = run("show", "-w", "w", "people", "--custodian")
    assert "CUSTODIAN VIEW" in shown.err
    assert re.search(r"North +5 +107 +83\.18% +2\n", shown.out)  # 9 + 90 - 10 of 107
    assert re.search(r"South +20 +100 +40\.00% +2\n", shown.out)
    assert re.search(r"\(no value\) +20 +32 +15\.62% +1\n", shown.out)
    assert "discreet caps -w w people --epsilon E" in shown.out
    groups = json.loads(run("show", "-w", "w", "people", "--custodian", "--format", "json").out)["weight"]["groups"]
    assert [(one["code"], one["before"], one["after"]) for one in groups] == [
        ("N", "107", "18"),
        ("S", "100", "60"),
        (None, "32", "27"),
    ]
    assert run("ledger", "log", "-w", "w").out.count("ingest report of people version 1") == 2
    assert "83.18" not in run("show", "-w", "w", "people").out


def test_reports_of_earlier_versions_have_no_groups(office: Path) -> None:
    with discreet.open(office) as session:
        path = session.workspace.dataset("people").report
    found = json.loads(path.read_text("utf-8"))
    del found["weight"]["groups"]
    path.write_text(json.dumps(found), encoding="utf-8")
    weight = read_report(path).weight
    assert weight is not None
    assert weight.groups == ()
    assert weight.before == "239"


def test_the_share_is_released_for_epsilon(office: Path, run: Run) -> None:
    # so large an epsilon that there is no noise to speak of
    told = json.loads(run("caps", "-w", "w", "people", "--epsilon", "400000", "--format", "json").out)
    rows = {row["region"]: row for row in told["rows"]}
    assert list(rows) == ["N", "S"]
    # 9 counts as 9 and 90 as three times the cap, 15; then 31 and 49
    assert rows["N"]["weight_cut"] == pytest.approx(4 + 10, abs=1e-3)
    assert rows["N"]["share_cut"] == pytest.approx(14 / (14 + 18), abs=1e-4)
    assert rows["S"]["share_cut"] == pytest.approx(40 / 100, abs=1e-4)
    assert told["charge"]["epsilon"] == "400000"
    assert told["differentially_private"]
    assert "3 times its cap counts as that" in told["meaning"]
    assert "weight above its cap is missing" in told["weights"]
    again = run("caps", "-w", "w", "people", "--epsilon", "400000")
    assert "a stored answer" in again.out
    assert "may be larger" in again.out
    wider = json.loads(run("caps", "-w", "w", "people", "--epsilon", "400000", "--limit", "20", "--format", "json").out)
    assert wider["rows"][0]["weight_cut"] == pytest.approx(4 + 85, abs=1e-2)


@pytest.mark.parametrize(("limit", "least", "most"), [("3", 10, 40), ("1.5", 2.5, 10), ("5", 20, 80)])
def test_a_row_adds_no_more_than_the_limit_lets_it(
    office: Path, run: Run, limit: str, least: float, most: float
) -> None:
    told = run("caps", "-w", "w", "people", "--epsilon", "1", "--limit", limit, "--explain").out
    found = re.search(r"sensitivity ([\d.]+) to ([\d.]+)", told)
    assert found is not None
    assert (float(found[1]), float(found[2])) == (least, most)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (("  full: {kind: integer, source: weight, bounds: [0, 100]}\n", ""), "List it again in the card"),
        ((CARD[CARD.index("weight: {") : CARD.index("columns:")], ""), "has no weight"),
    ],
)
def test_what_the_card_must_list(change: tuple[str, str], says: str) -> None:
    with pytest.raises(QueryRefused, match=says):
        cap_share_sql(parse_card(CARD.replace(*change), file="people.yaml"))


def test_one_cap_for_all_needs_no_group() -> None:
    card = parse_card(
        re.sub(r"totals: .*\n", "", CARD).replace("{by: region, values: {N: 5, S: 20}}", "20"), file="people.yaml"
    )
    assert cap_share_sql(card, limit=2) == (
        'SELECT SUM("weight" * GREATEST(LEAST("full", 40) - 20, 0) / 20) / '
        '(SUM("weight" * GREATEST(LEAST("full", 40) - 20, 0) / 20) + SUM("weight")) AS share_cut, '
        'SUM("weight" * GREATEST(LEAST("full", 40) - 20, 0) / 20) AS weight_cut FROM "people"'
    )


@pytest.mark.parametrize("limit", ["1", "0.5", "1001"])
def test_a_limit_is_above_the_cap(office: Path, run: Run, limit: str) -> None:
    refused = run("caps", "-w", "w", "people", "--epsilon", "1", "--limit", limit, code=None)
    assert refused.code != 0
    assert "above 1, at most 1,000" in refused.err


def test_a_weighted_table_meets_the_totals_unless_told(office: Path, run: Run) -> None:
    words = ("table", "-w", "w", "people", "--by", "region", "--weighted", "--epsilon", "1")
    met = run(*words).out
    assert re.search(r"North +110 +– +public\n", met)
    assert re.search(r"All +211 +– +public\n", met)
    assert "(no value)" not in met
    assert "calibrated to people.totals.region (by region), Register" in met
    assert "Registre" in run(*words, "--lang", "fr").out
    left = run(*words, "--calibrate", "none").out
    assert "public" not in left
    assert "(no value)" in left
    assert "a stored answer" in left
    assert "211 by region: Register" in run("show", "-w", "w", "people").out


def test_one_cap_for_all_is_told_by_the_column_of_the_totals(tmp_path: Path, run: Run) -> None:
    flat = CARD.replace("{by: region, values: {N: 5, S: 20}}", "20")
    (tmp_path / "people.csv").write_text(ROWS + "\n", encoding="utf-8")
    (tmp_path / "people.yaml").write_text(flat, encoding="utf-8")
    with Session.create(tmp_path / "w") as session:
        session.add(tmp_path / "people.csv", confirm=lambda _: True)
        released = session.query(cap_share_sql(session.workspace.dataset("people").card), epsilon=80_000)
    assert {row["region"] for row in released.rows} == {"N", "S"}
    shown = run("show", "-w", "w", "people", "--custodian")
    assert re.search(r"North +20 +107 +65\.42% +1\n", shown.out)  # 90 - 20 of 107
    assert re.search(r"South +20 +100 +40\.00% +2\n", shown.out)
