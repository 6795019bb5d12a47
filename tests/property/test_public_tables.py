"""Public tables keep every value exactly, from the file to the store and back."""

from __future__ import annotations

import csv
import tempfile
import unicodedata
from decimal import Decimal
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from discreet.cards.columns import ColumnKind, canonical_code
from discreet.sources.blanks import WHITE_SPACE
from discreet.sources.source import open_source
from discreet.workspace.folder import Workspace
from discreet.workspace.public_file import read_public_file
from discreet.workspace.public_tables import PublicTable, add_public_file, read_public_table

DECIMALS = st.builds(
    lambda units, places: Decimal(units).scaleb(-places), st.integers(-(10**10), 10**10), st.integers(0, 5)
)
TEXTS = st.text(st.characters(exclude_categories=("Cc", "Cs", "Cf")), max_size=8)


def read(values: list[str]) -> PublicTable:
    """A table with a running key and these values in a column x."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "t.csv"
        with file.open("w", encoding="utf-8", newline="") as stream:
            csv.writer(stream).writerows([("k", "x"), *((f"r{row}", value) for row, value in enumerate(values))])
        return read_public_file(open_source(file, delimiter=","), name="t", key="k")


@given(st.lists(st.none() | DECIMALS, min_size=1, max_size=20).filter(any))
def test_decimals_come_back_exactly(values: list[Decimal | None]) -> None:
    table = read(["" if value is None else format(value, "f") for value in values])
    column = table.column("x")
    told = [None if stored is None else Decimal(column.text(stored)) for stored in table.values("x")]
    assert told == values
    assert column.step is not None
    assert (column.kind is ColumnKind.INTEGER) == all(value is None or value % 1 == 0 for value in values)
    # The step is the finest present: at least one value needs it.
    assert column.step == 1 or any(value is not None and value % (10 * column.step) for value in values)


@given(st.lists(TEXTS, min_size=1, max_size=20))
def test_texts_come_back_trimmed_and_composed(values: list[str]) -> None:
    table = read([*values, "not a number"])
    column = table.column("x")
    expected = [canonical_code(unicodedata.normalize("NFC", value.strip(WHITE_SPACE))) or None for value in values]
    told = [None if stored is None else column.text(stored) for stored in table.values("x")]
    assert told == [*expected, "not a number"]
    assert column.categories == tuple(dict.fromkeys(text for text in told if text is not None))


@given(st.lists(st.none() | DECIMALS, min_size=1, max_size=10).filter(any), st.lists(TEXTS, min_size=10, max_size=10))
def test_the_store_gives_back_what_was_added(numbers: list[Decimal | None], texts: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        workspace = Workspace.create(Path(folder) / "w")
        file = Path(folder) / "t.csv"
        rows = [(row, "" if value is None else value, f"t{texts[row]}") for row, value in enumerate(numbers)]
        with file.open("w", encoding="utf-8", newline="") as stream:
            csv.writer(stream).writerows([("k", "x", "y"), *rows])
        added = add_public_file(workspace, file, key="k", delimiter=",")
        assert read_public_table(workspace, "t") == added
