"""Preparing equals a slow twin written in fractions, whatever the rows hold and in any order."""

from __future__ import annotations

import csv
import hashlib
import io
import math
import random
import re
import tempfile
import unicodedata
from collections import Counter
from fractions import Fraction
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from discreet.cards.card import Card, Column, ColumnKind, parse_card
from discreet.errors import FileRefused
from discreet.sources.blanks import BLANK_TOKENS, WHITE_SPACE
from discreet.sources.source import open_source
from discreet.workspace.preparation import prepare

SALT = "00ff"
CARD = """
dataset: nasty
unit: {column: who, rows: 2}
neighbours: add-remove
weight: {column: w, cap: {by: place, values: {1: 10, NA: 2.5, "é": 40}}}
budget: {epsilon: 1}
columns:
  who: {kind: id, type: TYPE, missing: [99]}
  place: {kind: category, categories: [1, NA, "é", 010], public: PUBLIC, missing: [9]}
  x: {kind: number, bounds: [-3, 7.5], step: 0.25, missing: [7.125, -1]}
  n: {kind: integer, bounds: [-5, 300]}
  free: {kind: number, step: 0.001}
  w: {kind: number, bounds: [0, 50], step: 0.5}
  note: {kind: text, missing: [none]}
"""

GRAMMAR = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|[0-9]{1,3}(,[0-9]{3})+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,5})?")


def make_card(*, unit_type: str = "integer") -> Card:
    text = CARD.replace("TYPE", unit_type).replace("PUBLIC", "true")
    return parse_card(text.replace('"é": 40}', '"é": 40, 010: 3}'), file="nasty.yaml")


# The slow twin.


def trimmed(text: str) -> str:
    return unicodedata.normalize("NFC", text.strip(WHITE_SPACE))


def whole_code(text: str) -> str:
    found = re.fullmatch(r"\+?(-?[0-9]+)(\.0*)?", text)
    return found[1] if found else text


def twin_value(column: Column, raw: str | None) -> int | str | None:
    if raw is None:
        return None
    text = trimmed(raw)
    if column.kind is ColumnKind.CATEGORY:
        codes = [whole_code(category.code) for category in column.categories]
        return codes.index(whole_code(text)) if whole_code(text) in codes else None
    if text.lower() in BLANK_TOKENS:
        return None
    if column.kind is ColumnKind.TEXT or column.type == "text":
        return None if text in column.missing or "\0" in text else text
    if column.kind is ColumnKind.ID:
        if not re.fullmatch(r"[+-]?[0-9]+(\.0*)?", text):
            return None
        number = int(text.split(".")[0])
        return None if abs(number) >= 10**18 or str(number) in column.missing else number
    return twin_steps(column, text)


def twin_steps(column: Column, text: str) -> int | None:
    if not GRAMMAR.fullmatch(text):
        return None
    number = Fraction(text.replace(",", ""))
    if number in {Fraction(code) for code in column.missing}:
        return None
    step = Fraction(column.step or 1)
    units = math.floor(abs(number) / step + Fraction(1, 2)) * (1 if number >= 0 else -1)
    return max(column.low_units, min(column.high_units, units))


def twin(card: Card, rows: list[list[str | None]]) -> Counter[tuple[object, ...]]:
    names = [column.name for column in card.columns]
    units: dict[object, list[tuple[str, tuple[object, ...]]]] = {}
    for row in rows:
        values = [twin_value(column, raw) for column, raw in zip(card.columns, row, strict=True)]
        place, weight = values[names.index("place")], values[names.index("w")]
        caps = [20, 5, 80, 6]
        if isinstance(weight, int):
            values[names.index("w")] = min(weight, max(caps) if place is None else caps[int(place)])
        if values[0] is None:
            continue
        parts = [
            "~" if value is None else f"{len(value)}:{value}" if isinstance(value, str) else str(value)
            for value in values
        ]
        digest = hashlib.md5("|".join([SALT, *parts]).encode(), usedforsecurity=False).hexdigest()
        units.setdefault(values[0], []).append((digest, tuple(values)))
    found: Counter[tuple[object, ...]] = Counter()
    for members in units.values():
        for order, (_, kept) in enumerate(sorted(members, key=lambda member: member[0]), start=1):
            found[(*kept, order)] += 1
    return found


def public_varies(card: Card, rows: list[list[str | None]]) -> bool:
    places: dict[object, set[object]] = {}
    for row in rows:
        who, place = (twin_value(card.columns[i], row[i]) for i in (0, 1))
        if who is not None:
            places.setdefault(who, set()).add(place)
    return any(len(seen) > 1 for seen in places.values())


# The real thing.


def prepared(card: Card, file: Path) -> Counter[tuple[object, ...]]:
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "data.parquet"
        report = prepare(open_source(file), card, salt=SALT, data=data, work=Path(folder))
        table = pq.read_table(data)
    assert report.rows - report.rows_without_id == table.num_rows
    return Counter(tuple(row.values()) for row in table.to_pylist())


def csv_file(folder: Path, card: Card, rows: list[list[str | None]]) -> Path:
    out = io.StringIO(newline="")
    writer = csv.writer(out, quoting=csv.QUOTE_ALL)
    writer.writerow([column.name for column in card.columns])
    writer.writerows([["" if cell is None else cell for cell in row] for row in rows])
    file = folder / "rows.csv"
    file.write_bytes(out.getvalue().encode())
    return file


pads = st.sampled_from(["", "", "", " ", "\t", "\u00a0 ", "\ufeff"])
numbers = st.one_of(
    st.integers(-400, 400).map(str),
    st.decimals(-10, 10, places=4).map(str),
    st.sampled_from(
        [
            "7.125",
            "7.1250",
            "7.12500000001",
            "-1.0",
            "0.125",
            "-0.125",
            "0.1249999999999999999999",
            "-2.875",
            "1e2",
            "1.5E-3",
            "1,234.50",
            "12,34",
            "+5",
            ".5",
            "5.",
            "1e-99999",
            "-1e99999",
            "1_000",
            "0x1F",
            "12:30",
            "nan",
            "inf",
            "-inf",
            "1e400",
            "0e9",
            "00012.50",
            "١",
            "1,000,000",
            "9999999999999999999999",
            "0.00049999999999999999",
            "0.0005",
            "-0.0005",
            "1e15",
            "1000000000000001",
            "--1",
            "1e",
            "7.5",
            "7.51",
        ]
    ),
)
texts = st.one_of(
    st.sampled_from(["", "?", "NA", "none", "a|b", "~", "1:x", "e\u0301", "é", "two\nlines", 'quo"te', "n/a", "."]),
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r"), max_size=6),
)
ids = st.sampled_from(["1", " 1", "1.0", "+1", "01", "2", "2.000", "-3", "99", "1.5", "", "x", "9" * 18, "9" * 19])
places = st.sampled_from(["1", "1.0", "+1", "NA", "é", "e\u0301", "010", "10", "9", "z", ""])


def padded(cells: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.tuples(pads, cells, pads).map("".join)


def table(*, constant: bool) -> st.SearchStrategy[list[list[str | None]]]:
    place = st.just("1") if constant else padded(places)
    row = st.tuples(padded(ids), place, *[padded(numbers)] * 4, padded(texts)).map(list)
    return st.lists(row, min_size=1, max_size=12)


calm = settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@calm
@given(rows=table(constant=True), unit_type=st.sampled_from(["integer", "text"]))
def test_rows_equal_the_twin_in_any_order(rows: list[list[str | None]], unit_type: str) -> None:
    card = make_card(unit_type=unit_type)
    expected = twin(card, rows)
    with tempfile.TemporaryDirectory() as folder:
        if not expected:
            return
        assert prepared(card, csv_file(Path(folder), card, rows)) == expected
        shuffled = random.Random(len(rows)).sample(rows, len(rows))
        assert prepared(card, csv_file(Path(folder), card, shuffled)) == expected


@calm
@given(rows=table(constant=False))
def test_public_columns_vary_within_a_unit_exactly_when_the_file_is_refused(
    rows: list[list[str | None]],
) -> None:
    card = make_card()
    expected = twin(card, rows)
    if not expected:
        return
    with tempfile.TemporaryDirectory() as folder:
        try:
            found = prepared(card, csv_file(Path(folder), card, rows))
        except FileRefused:
            assert public_varies(card, rows)
        else:
            assert not public_varies(card, rows)
            assert found == expected


FLOATS = """
dataset: floats
unit: {column: who, rows: 1}
neighbours: add-remove
budget: {epsilon: 1}
columns:
  who: {kind: id, type: integer}
  x: {kind: number, bounds: [-3, 7.5], step: 0.01, missing: [7.1]}
  n: {kind: integer, bounds: [0, 10], step: 5}
"""


@calm
@given(st.lists(st.floats() | st.floats(-10, 10) | st.sampled_from([7.1, 0.005, -0.015]), min_size=1, max_size=20))
def test_floats_are_taken_by_their_shortest_decimal(values: list[float]) -> None:
    card = parse_card(FLOATS, file="floats.yaml")
    count = len(values)
    columns = {
        "who": pa.array(range(count)),
        "x": pa.array(values),
        "n": pa.array([i % 12 for i in range(count)]),
    }
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "rows.parquet"
        pq.write_table(pa.table(columns), file)
        found = prepared(card, file)
    x, n = card.column("x"), card.column("n")
    expected = Counter(
        (i, twin_steps(x, repr(value)) if math.isfinite(value) else None, twin_steps(n, str(i % 12)), 1)
        for i, value in enumerate(values)
    )
    assert found == expected
