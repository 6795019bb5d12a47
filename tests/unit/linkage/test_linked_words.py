"""A linked count in every format and both languages, read back: the same figures, and what is promised beside them."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from discreet.linkage import publish_answer
from discreet.present import fragment, text_parts
from discreet.results import Release
from tests.unit.linkage.noisy_answers import RECEIPT, REQUEST, make_agreement, make_answer

LANGUAGES = ("en", "fr")


@pytest.fixture(scope="module")
def banded() -> Release:
    """Three groups, one of them of almost nobody, with everything that a reader can add."""
    agreement = make_agreement(
        linked_share="linked_share: 0.8", title="title: {en: Care in French, fr: Soins en français}"
    )
    cells = [[400, 1_200], [150, 300], [20, -4]]
    found = make_answer(agreement, cells, scale=10, groups=("none", "some", "=many"), rates=["0.5", "1", "1"])
    return publish_answer(agreement, found, population_share="0.2", population=10_000)


@pytest.fixture(scope="module")
def single() -> Release:
    agreement = make_agreement()
    return publish_answer(agreement, make_answer(agreement, [[400, 1_200]]), population_share="0.2")


def plain(release: Release, language: str) -> str:
    return "".join(text_parts(release, "table", language))


def test_one_row_stands_upright(single: Release) -> None:
    lines = plain(single, "en").split("\n")
    assert lines[:7] == [
        "tongues: francophone",
        "",
        "                Figure    95% interval",
        "Count              400      310 to 490",
        "Effective size   1,600  1,477 to 1,723",
        "Share             0.25    0.18 to 0.32",
        "Rate ratio        1.33    0.88 to 1.88",
    ]


def test_several_rows_have_a_table_for_what_belongs_together(banded: Release) -> None:
    tables = plain(banded, "en").split("\n\n")
    assert [table.split("\n")[0].split()[:2] for table in tables[1:5]] == [
        ["Group", "Count"],
        ["Group", "Distribution"],
        ["Group", "Rate"],
        ["Group", "Scaled"],
    ]
    assert max(len(line) for table in tables[:5] for line in table.split("\n")) <= 120


def test_what_is_over_nobody_is_a_dash(banded: Release) -> None:
    rates = plain(banded, "en").split("\n\n")[3]
    assert rates.split("\n")[3].split()[1:3] == ["–", "–"]
    assert "A ratio is shown as – where the interval of its denominator reaches 0." in plain(banded, "en")


@pytest.mark.parametrize(
    ("language", "words"),
    [
        (
            "en",
            [
                "Care in French: francophone",
                "Who is counted: People whose account has room.",
                "the property has epsilon 1.386294361 against the researcher, the holder and everybody else outside",
                "a record of the holder 2.772588722 against the researcher.",
                "The registry and the researcher together learn who meets the criteria.",
                "raise a belief at most from 0.05 to 0.174; 0.25 to 0.572; 0.5 to 0.8; 0.75 to 0.924; 0.95 to 0.988.",
                f"Receipt: {RECEIPT}",
                "Protects each person",
                "60 of the 415 parts of an account, for each unit counted (300 parts are epsilon 1)",
                "none: 0.5; some: 1; =many: 1.",
                "A share of 0.2 of 10,000 people has the property.",
                "The registry knows a share of 0.8 of the holder's people",
                f"Request: {REQUEST}",
                "Study: tongues",
            ],
        ),
        (
            "fr",
            [
                "Soins en français : francophone",
                "Qui est compté : Personnes dont le compte a de la place.",
                "la propriété a epsilon 1,386294361 face au chercheur, au détenteur et à tous les autres hors du "
                "registre",
                "un enregistrement du détenteur 2,772588722 face au chercheur.",
                "Le registre et le chercheur réunis apprennent qui répond aux critères.",
                "de 0,05 à 0,174 ; de 0,25 à 0,572 ; de 0,5 à 0,8 ; de 0,75 à 0,924 ; de 0,95 à 0,988.",
                f"Reçu : {RECEIPT}",
                "Protège chaque personne",
                "60 parts sur les 415 d’un compte, pour chaque unité comptée (300 parts font epsilon 1)",
                "none : 0,5 ; some : 1 ; =many : 1.",
                "Une part de 0,2 de 10 000 personnes a la propriété.",
                "Le registre connaît une part de 0,8 des personnes du détenteur",
                f"Demande : {REQUEST}",
                "Étude : tongues",
            ],
        ),
    ],
)
def test_everything_is_said_in_both_languages(banded: Release, language: str, words: list[str]) -> None:
    said = plain(banded, language).replace("\u202f", " ").replace("\u00a0", " ").replace("\n  ", " ")
    assert [item for item in words if item not in said] == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_json_has_rows_the_account_and_notes(banded: Release, language: str) -> None:
    found = json.loads("".join(text_parts(banded, "json", language)))
    assert found["kind"] == "linked"
    assert found["rows"] == list(banded.rows)
    assert found["intervals"] == list(banded.intervals)
    assert found["account"] == {"charge": 60, "cap": 415, "parts": 300, "members": 1, "epsilon": "0.2"}
    assert (found["study"], found["request_id"], found["asked"]["scale"]) == ("tongues", REQUEST, 10)
    assert found["claim"]["guarantee"] == {"code": "pure", "epsilon": "1.386294361"}
    assert found["unit"] == "each person"
    assert [item["scale"] for item in found["mechanisms"]] == ["10"]
    codes = {note["code"] for note in found["notes"]}
    assert codes >= {"under-account", "linked-protection", "not-protected", "belief-table", "receipt"}
    assert found == banded.to_dict(language)


def test_csv_is_read_back(banded: Release) -> None:
    rows = list(csv.DictReader(io.StringIO("".join(text_parts(banded, "csv", "en")))))
    assert [row["group"] for row in rows] == ["none", "some", "'=many"]
    assert [int(row["count"]) for row in rows] == [400, 150, 20]
    assert [row["rate_ratio"] for row in rows][2] == ""
    assert float(rows[0]["share_low"]) == banded.intervals[0]["share"][0]


def test_parquet_is_read_back(banded: Release, tmp_path: Path) -> None:
    from pyarrow import parquet

    table = parquet.read_table(banded.save(tmp_path / "t.parquet"))
    assert table["count"].to_pylist() == [400, 150, 20]
    assert str(table["count"].type) == "int64"
    assert table["rate_ratio"].to_pylist()[2] is None
    assert table.schema.metadata[b"discreet.agreement"].decode() == banded.source.agreement


@pytest.mark.parametrize(
    ("language", "sheets"), [("en", ["Table", "Figures", "Notes"]), ("fr", ["Tableau", "Chiffres", "Notes"])]
)
def test_a_workbook_is_read_back(banded: Release, tmp_path: Path, language: str, sheets: list[str]) -> None:
    from openpyxl import load_workbook

    book = load_workbook(banded.save(tmp_path / "t.xlsx", language=language))
    assert book.sheetnames == sheets
    cells = {cell.value for sheet in book for row in sheet.iter_rows() for cell in row}
    assert {400, 150, "=many"} <= cells
    assert any({"en": "each person", "fr": "chaque personne"}[language] in str(cell) for cell in cells)


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_page_and_a_picture_say_what_is_promised(banded: Release, tmp_path: Path, language: str) -> None:
    page = "".join(text_parts(banded, "html", language))
    assert "1.386294361" in page or "1,386294361" in page
    assert page.count("<svg") == 5
    assert "1,386294361" in fragment(banded, "fr")
    assert banded.save(tmp_path / "t.svg").read_text("utf-8").count("<rect") >= 3


def test_sdmx_has_an_observation_for_each_figure(single: Release) -> None:
    rows = list(csv.DictReader(io.StringIO("".join(text_parts(single, "sdmx-csv", "en")))))
    assert [(row["STATISTIC"], float(row["OBS_VALUE"])) for row in rows][:2] == [("count", 400), ("size", 1600)]
    assert {row["GUARANTEE"] for row in rows} == {"pure DP, epsilon = 1.386294361"}


def test_a_name_that_a_spreadsheet_would_run_is_not_a_code_of_sdmx(banded: Release) -> None:
    with pytest.raises(Exception, match="group"):
        list(text_parts(banded, "sdmx-csv", "en"))


def test_a_data_frame_has_the_facts(single: Release) -> None:
    frame = single.to_pandas()
    assert frame["share"].tolist() == [0.25]
    assert frame.attrs["account"]["cap"] == 415
