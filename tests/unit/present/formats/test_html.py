"""The page of a table: every figure with its interval and quality, pictures, notes, and nothing that runs."""

from __future__ import annotations

from dataclasses import replace
from html.parser import HTMLParser

import pytest

from discreet.guarantees.types import BootstrapDP
from discreet.present.formats.html import write_release_page
from discreet.present.messages import say_message
from discreet.results import Calibration, Quality, Release
from tests.releases import change_cells, make_table
from tests.unit.present.conftest import WARNING

EVIL = '<script>alert("x")</script>'


class Outline(HTMLParser):
    """Tags, attributes and the text of every table cell, in order."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.cells: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.within = False
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs
        if tag in {"td", "th"}:
            self.cells.append("")
            self.within = True

    def handle_endtag(self, tag: str) -> None:
        self.within = self.within and tag not in {"td", "th"}

    def handle_data(self, data: str) -> None:
        if self.within:
            self.cells[-1] += data


def test_every_figure_is_there_with_its_interval_and_quality(counted: Release) -> None:
    page = write_release_page(counted, "en")
    cells = Outline(page).cells
    assert "57,30057,264 to 57,358" in cells
    assert "12F−27 to 67" in cells
    assert "41E5 to 99" in cells
    assert "–" in cells
    assert {"Newfoundland and Labrador", "(no value)", "All", "Type of smoker"} <= set(cells)
    assert page.count("<svg ") == 2
    assert '<html lang="en">' in page


def test_it_says_what_is_promised(counted: Release) -> None:
    page = write_release_page(counted, "fr")
    for said in (
        "Protège chaque personne\u00a0: les chiffres seraient presque les mêmes qu’une personne donnée ait participé",
        "Confidentialité différentielle, epsilon\u00a0=\u00a00,5\u00a0: les données d’un seul participant ne rendent",
        "plus de 1,65 fois plus probable.",
        "<dt>Marges</dt>",
        "Chaque marge est exactement la somme des cellules publiées.",
        "ajout-retrait\u00a0: une unité de plus ou de moins",
        "epsilon 0,5",
        "bruit de confidentialité seul",
        say_message(WARNING)[1].fr,
        "2026-03-01T12:00:00+00:00",
    ):
        assert said in page
    assert 'class="notice alarm"' not in page
    assert "person_id" not in page
    assert "a" * 64 not in page, "hashes are in workbooks and JSON"


@pytest.mark.parametrize(
    ("language", "said"), [("en", "Not differentially private."), ("fr", "Sans confidentialité différentielle.")]
)
def test_what_is_not_private_says_so_first(bootstrapped: Release, language: str, said: str) -> None:
    page = write_release_page(bootstrapped, language)
    assert isinstance(bootstrapped.guarantee, BootstrapDP)
    body = page.split("<body>")[1]
    assert body.startswith(f'<p class="notice alarm"><strong>{said}</strong>')
    assert "<small>" not in body


def test_labels_are_text_and_nothing_runs() -> None:
    table = make_table({EVIL.replace("/", ""): [EVIL, "a\x00\ud800b"], "b": ['" onload="x', "&amp;"]}, lambda _: 3)
    page = write_release_page(table, "en")
    page.encode("utf-8")
    outline = Outline(page)
    assert "script" not in outline.tags
    assert not [name for name, _ in outline.attributes if name.startswith("on")]
    assert EVIL in outline.cells


def test_lines_that_share_names_say_them_once() -> None:
    table = make_table({"a": ["r", "s"], "b": ["t", "u"], "c": ["v", "w"]}, lambda _: 1)
    cells = Outline(write_release_page(table, "en").split("<svg")[0]).cells
    assert cells.count("r") == 1
    assert cells.count("t") == 3
    assert cells.count("1−9 to 11") == 8


def test_a_long_table_says_how_much_is_left_out() -> None:
    page = write_release_page(make_table({"a": 2101, "b": 2}, lambda _: 1, margins=()), "en")
    assert "101 more lines are not shown here; the CSV, Parquet and JSON files have all of them." in page
    assert page.split("<svg")[0].count("<tr>") == 2 + 2000


def test_many_columns_become_a_list() -> None:
    page = write_release_page(make_table({"a": 3, "b": 41}, lambda _: 1, quality=Quality.UNRELIABLE), "fr")
    cells = Outline(page.split("<svg")[0]).cells
    assert cells[:5] == ["a", "b", "Valeur", "Intervalle", "Qualité"]
    assert cells.count("peu fiable") == 3 * 41 + 3 + 41 + 1


def test_a_long_list_shows_what_calibration_changed() -> None:
    table = make_table({"a": 3, "b": 41}, lambda _: 1)
    fitted = change_cells(replace(table, calibration=Calibration(())), uncalibrated=777.4)
    page = write_release_page(fitted, "fr")
    shown = Outline(page.split("<svg")[0]).cells
    assert shown[:6] == ["a", "b", "Valeur", "Intervalle", "Qualité", "Avant calage"]
    assert shown.count("777") == 3 * 41
