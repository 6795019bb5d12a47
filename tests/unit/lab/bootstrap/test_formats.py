"""A bootstrap table says in every format that it is not differentially private, and its noise in none."""

from __future__ import annotations

import csv
import io
import re
import zipfile
from collections.abc import Callable
from typing import Any

import pytest

from discreet.present.note_list import list_notes
from discreet.present.release_files import FORMATS, save
from tests.releases import render_text


@pytest.mark.parametrize("format", [name for name in FORMATS if name not in ("png", "pdf")])
def test_every_format_says_what_it_is(build: Callable[..., Any], format: str) -> None:
    """PNG and PDF are drawn from the SVG, whose words they show."""
    house = build()
    file = house.folder / "written"
    save(house.release(), file, format=format, language="en")
    content = file.read_bytes()
    if format == "xlsx":
        with zipfile.ZipFile(file) as parts:
            content = b"".join(parts.read(name) for name in parts.namelist())
    assert b"not differentially private" in content.lower()
    assert b"sensitivity" not in content.lower()


@pytest.mark.parametrize(("value", "unit"), [(None, "NUMBER"), ("output", "_U")])
def test_counts_are_numbers_and_totals_are_of_no_known_unit(
    build: Callable[..., Any], value: str | None, unit: str
) -> None:
    house = build()
    table = house.release(house.form(value=value))
    rows = list(csv.DictReader(io.StringIO(render_text(table, "sdmx-csv", "en"))))
    assert {row["UNIT_MEASURE"] for row in rows} == {unit}
    assert set(table.to_dict()["table"]) == {"title", "statistic", "keys", "step", "method"}


def test_what_is_ours_is_said_in_french(build: Callable[..., Any]) -> None:
    for heading, said in list_notes(build().release(), "fr"):
        assert not re.search(r"\b(the|rows|interval|epsilon no longer|noise)\b", said), f"{heading}: {said}"
