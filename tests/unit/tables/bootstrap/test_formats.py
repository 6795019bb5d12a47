"""A bootstrap table says in every format that it is not differentially private, and its noise in none."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Callable
from typing import Any

import pytest

from discreet.tables.files import FORMATS, write_table
from discreet.tables.notes import list_notes


@pytest.mark.parametrize("format", FORMATS)
def test_every_format_says_what_it_is(build: Callable[..., Any], format: str) -> None:
    house = build()
    file = house.folder / "written"
    write_table(house.release(), file, format=format, language="en")
    content = file.read_bytes()
    if format == "xlsx":
        with zipfile.ZipFile(file) as parts:
            content = b"".join(parts.read(name) for name in parts.namelist())
    assert b"not differentially private" in content.lower()
    assert b"sensitivity" not in content.lower()


def test_what_is_ours_is_said_in_french(build: Callable[..., Any]) -> None:
    for heading, said in list_notes(build().release(), "fr"):
        assert not re.search(r"\b(the|rows|interval|epsilon no longer|noise)\b", said), f"{heading}: {said}"
