"""A raw table of everything that goes wrong, in every type, and what the embedded ingest makes of it."""

from __future__ import annotations

import random
import struct
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from discreet.cards.card import Card, parse_card
from discreet.sources.source import open_source
from discreet.workspace.preparation import prepare

SALT = "00ff00ff00ff00ff00ff00ff00ff00ff"
Prepared = Counter[tuple[object, ...]]

LONG = "7" * 3000 + "." + "3" * 3000
COMMAS = "1" + ",234" * 20000


def single(value: float) -> float:
    return float(struct.unpack("f", struct.pack("f", value))[0])


BIG = [None, 0, 1, -1, 7, 10, 12, 13, 99, 300, 2**53, 2**53 + 1, 10**18 - 1, 10**18, -(10**18), 2**63 - 1, -(2**63)]
FLOATS = [None, float("nan"), float("inf"), float("-inf"), 0.0, -0.0, 0.1, 0.005, -0.015, 0.125, -0.125, 2.5, 3.5, -2.5]
FLOATS += [7.1, 7.125, 1.0, 10.0, -1.0, 9.5, 12.5, 1e15, 1e16, 1.5e17, 1e-4, 1e-5, 1.5e-7, 1e308, 2.0**53, 2.0**53 + 2]
FLOATS += [
    2.0**24,
    2.0**24 + 2,
    2.0**60,
    2e23,
    2.0**-44,
    8.41e21,
    1e23,
    1.7976931348623157e308,
    -9007199254740996.0,
    134217704.0,
    134217696.0,
    0.1 + 0.2,
    123456.789,
    99.0,
    7.4999999999999,
]
NUMBERS = ["7.125", "7.1250", "7.12500000001", "-1.0", "0.125", "-0.125", "0.1249999999999999999999", "-2.875", "1e2"]
NUMBERS += ["1.5E-3", "1,234.50", "12,34", "1,2345", "+5", ".5", "5.", ".", "1e-99999", "-1e99999", "1_000", "0x1F"]
NUMBERS += ["12:30", "nan", "NaN", "inf", "-inf", "Infinity", "1e400", "0e9", "00012.50", "١", "1,000,000", "9" * 22]
NUMBERS += ["0.00049999999999999999", "0.0005", "-0.0005", "1e15", "1000000000000001", "--1", "1e", "7.5", "7.51", "?"]
NUMBERS += ["1e+05", "1e-5", "-0", "-0.0", "1e99999", "1e100000", "e5", "1e5e5", "", "NA", "n/a", "#N/A", "null", LONG]
NUMBERS += ["0" * 30 + "4", "0." + "0" * 60 + "1", "1\n2", "+", "-", "1-2", "+1,000.5e1", "99", "9.996", COMMAS]
TEXTS = [
    "",
    "?",
    ".",
    "NA",
    "nan",
    "none",
    " none ",
    "a|b",
    "~",
    "1:x",
    "3:flu",
    ":",
    "e\u0301",
    "é",
    "two\nlines",
    "İ",
]
TEXTS += [
    'quo"te',
    "it's",
    "back\\slash",
    "\\u0041",
    "${spark.app.name}",
    "$1",
    "%s",
    ":name",
    "?1",
    "😀",
    "a\U0001f600b",
]
TEXTS += [
    "\u1e9b\u0323",
    "\uac00",
    "\u1100\u1161\u11a8",
    "\u212b",
    "\u0344",
    "\u2126",
    "ﬁ",
    "\u0958",
    "a\u200bb",
    "\u200b",
]
TEXTS += [
    "a\u0315\u0300\u05ae\u0300b",
    "10",
    "+10",
    "10.0",
    "010",
    "1",
    "-0",
    "x" * 5000,
    "a\u00a0b",
    "N/A",
    "\u3000 y\ufeff",
]
CODES = [
    "1",
    "1.0",
    "+1",
    "1.",
    "1.00",
    "+-1",
    "-1",
    "NA",
    "na",
    "é",
    "e\u0301",
    "010",
    "10",
    "9",
    "z",
    "",
    "it's",
    "a\\b",
]
CODES += ["$1", "true", "false", "2.5", "1e16", "1e+16", "0", "-0", "00", "${x}"]
IDS = [
    "1",
    " 1",
    "1.0",
    "+1",
    "01",
    "2.000",
    "-3",
    "99",
    "1.5",
    "7e2",
    "",
    "x",
    "9" * 18,
    "9" * 19,
    "-" + "9" * 18,
    "0" * 40,
]
IDS += ["+", "-", "1.0.0", "--1", "-0", ".0", "1\n", "１"]
PADS = ["", "", "", "", " ", "\t", "\u00a0 ", "\ufeff", "\u2003", "\r\n", "\x85", "\u180e"]
CENTS = [
    None,
    *(Decimal(text) for text in ("0.00", "1.00", "-1.00", "10.00", "7.50", "99.00", "0.01", "-0.05", "12.35")),
]
NANOS = [
    None,
    *(Decimal(text) for text in ("0", "0.125", "7.125", "7.1", "-0.125", "0.000000001", "123456789012345678")),
]
BOOLEANS = [None, True, False]

# How each raw column is typed and what it may hold; texts also get white space around them.
RAW: dict[str, tuple[pa.DataType, str, Sequence[Any]]] = {
    "big": (pa.int64(), "bigint", BIG),
    "small": (pa.int16(), "smallint", [None, 0, 1, -1, 7, 10, 99, 300]),
    "dbl": (pa.float64(), "double precision", FLOATS),
    "flt": (
        pa.float32(),
        "real",
        [None if x is None else single(x) for x in FLOATS if x is None or not 1e300 < abs(x) < 1e309],
    ),
    "cents": (pa.decimal128(12, 2), "numeric(12, 2)", CENTS),
    "nanos": (pa.decimal128(30, 9), "numeric(30, 9)", NANOS),
    "flag": (pa.bool_(), "boolean", BOOLEANS),
    "num": (pa.string(), "text", [None, *NUMBERS]),
    "txt": (pa.string(), "varchar", [None, *TEXTS]),
    "code": (pa.string(), "text", [None, *CODES]),
    "idt": (pa.string(), "text", [None, *IDS]),
}
UNITS: dict[str, tuple[pa.DataType, str]] = {
    "unit_big": (pa.int64(), "bigint"),
    "unit_dbl": (pa.float64(), "double precision"),
    "unit_txt": (pa.string(), "text"),
    "place": (pa.string(), "text"),
    "w": (pa.float64(), "double precision"),
}
SQL_TYPES = {name: kind for name, (_, kind, _) in RAW.items()} | {name: kind for name, (_, kind) in UNITS.items()}
OTHER_UNITS = [("unit_dbl", "integer"), ("unit_txt", "integer"), ("unit_txt", "text")]

HEAD = """
dataset: nasty
unit: {column: who, rows: 3}
neighbours: add-remove
weight: {column: w, cap: {by: place, values: {1: 40, "é": 2.5, "|": 10}}}
budget: {epsilon: 1}
columns:
  who: {kind: id, type: TYPE, source: SOURCE, missing: [99]}
  place: {kind: category, categories: [1, "é", "|"], public: true}
  w: {kind: number, bounds: [0, 50], step: 0.5}
"""
CATEGORIES = r"""[1, NA, "é", 010, 10, "it's", 'a\b', "$1", "true", 2.5, "0", "-0", 1e+16, "${x}"]"""


def make_card(unit: str = "unit_big", kind: str = "integer", sources: Sequence[str] = tuple(RAW)) -> Card:
    """Every kind of column over every type of source, or over some."""
    lines = [HEAD.strip().replace("TYPE", kind).replace("SOURCE", unit)]
    for source in sources:
        entries = {
            "id": "kind: id, type: integer, missing: [99, -3.0]",
            "key": "kind: id, type: text, missing: [none]",
            "cat": f"kind: category, categories: {CATEGORIES}, missing: [9]",
            "x": "kind: number, bounds: [-3, 7.5], step: 0.25, missing: [7.125, -1]",
            "c": "kind: number, bounds: [-0.3, 12.35], step: 0.01",
            "n": "kind: integer, bounds: [-5, 300], step: 5",
            "free": "kind: number, step: 0.001",
            "wide": "kind: integer",
            "t": 'kind: text, missing: [none, "é"]',
        }
        lines += [f"  {source}_{name}: {{{rest}, source: {source}}}" for name, rest in entries.items()]
    return parse_card("\n".join(lines), file="nasty.yaml")


@dataclass(frozen=True)
class Table:
    """Raw columns by name, all of one length."""

    columns: dict[str, list[Any]]

    def write(self, folder: Path) -> Path:
        folder.mkdir(exist_ok=True)
        file = folder / "rows.parquet"
        kinds = {name: kind for name, (kind, *_) in [*RAW.items(), *UNITS.items()]}
        arrays = {name: pa.array(values, kinds[name]) for name, values in self.columns.items()}
        pq.write_table(pa.table(arrays), file)
        return file

    def rows(self) -> list[tuple[Any, ...]]:
        return list(zip(*self.columns.values(), strict=True))


def make_table(seed: int, *, rows: int = 250, extra: Sequence[str] = ()) -> Table:
    """Every value of every pool at least once, then random ones; units have many rows, some twice."""
    draw = random.Random(seed)
    columns: dict[str, list[Any]] = {}
    for name, (kind, _, pool) in RAW.items():
        values = [*pool, *extra] if kind == pa.string() else list(pool)
        while len(values) < rows:
            values.append(draw.choice(pool) if draw.random() < 0.7 else _random(draw, kind))
        draw.shuffle(values)
        if kind == pa.string():
            values = [None if v is None else draw.choice(PADS) + v + draw.choice(PADS) for v in values]
        columns[name] = values[:rows]
    units = [draw.choice([None, 0, 1, 2, 3, 4, 99, *range(5, 40)]) for _ in range(rows)]
    columns["unit_big"] = units
    columns["unit_dbl"] = [draw.choice([None, float("nan"), 0.5]) if u is None else float(u) for u in units]
    columns["unit_txt"] = [_written(draw, u) for u in units]
    columns["place"] = [draw.choice(_places(u)) for u in units]
    columns["w"] = [draw.choice([None, float("nan"), 0.0, 0.25, 3.0, 11.0, 60.0, 1e300, -1.0]) for _ in range(rows)]
    table = Table(columns)
    copies = {name: values + values[:20] for name, values in table.columns.items()}
    return Table(copies)


def ingested(card: Card, table: Table) -> Prepared:
    """What the embedded ingest stores."""
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "data.parquet"
        prepare(open_source(table.write(Path(folder) / "raw")), card, salt=SALT, data=data, work=Path(folder))
        return Counter(tuple(row.values()) for row in pq.read_table(data).to_pylist())


def assert_same(card: Card, found: Prepared, expected: Prepared, seed: int = 0) -> None:
    """All rows with all values and `ord`; on failure the columns at fault are named first."""
    if found == expected:
        return
    names = [*(column.name for column in card.columns), "ord"]
    faults = {}
    for place, name in enumerate(names):
        ours, theirs = Counter[object](), Counter[object]()
        for kept, rows in ((ours, found), (theirs, expected)):
            for row, times in rows.items():
                kept[row[0], row[place]] += times
        if ours != theirs:
            faults[name] = [str(list(a - b)[:3])[:300] for a, b in ((ours, theirs), (theirs, ours))]
    raise AssertionError(f"prepared rows differ in {faults or 'combinations of columns'} (seed {seed})")


def _random(draw: random.Random, kind: pa.DataType) -> Any:
    if kind == pa.float64():
        return draw.choice(
            [
                draw.uniform(-10, 10),
                round(draw.uniform(-10, 10), 3),
                draw.uniform(-1, 1) * 10.0 ** draw.randint(-30, 30),
            ]
        )
    if kind == pa.float32():
        return single(draw.choice([draw.uniform(-10, 10), round(draw.uniform(-10, 10), 2), draw.uniform(-1, 1) * 1e20]))
    if kind == pa.string():
        return draw.choice(
            [str(draw.uniform(-10, 10)), str(round(draw.uniform(-10, 10), 3)), str(draw.randint(-400, 400))]
        )
    if pa.types.is_decimal(kind):
        return Decimal(draw.randint(-2000, 2000)) / 100
    return draw.choice(BOOLEANS) if kind == pa.bool_() else draw.randint(-310, 310)


def _written(draw: random.Random, unit: int | None) -> str | None:
    if unit is None:
        return draw.choice([None, "", "?", "N/A"])
    return draw.choice(PADS) + draw.choice(["{}", "{}.0", "+{}", "0{}"]).format(unit) + draw.choice(PADS)


def _places(unit: int | None) -> list[str | None]:
    if unit is None:
        return ["1", "z", None]
    renderings: list[list[str | None]] = [["1", "1.0", " +1"], ["é", "e\u0301 "], ["|"], [None, "z", "2"]]
    return renderings[unit % 4]
