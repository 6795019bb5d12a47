"""What a spreadsheet could run is neutralised, numbers stay numbers, and every CSV file is written this one way."""

from __future__ import annotations

import ast
import csv
import io
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pytest
from discreet_replications.farms import farms_files as bootstrap
from discreet_replications.report import printed_comparison as comparison
from discreet_replications.thesis.pages import thesis_files as thesis
from hypothesis import given
from hypothesis import strategies as st

import discreet
from discreet.guarantees.types import BootstrapDP, Guarantee, LocalDP, PureDP, Unproven
from discreet.lab.generator import generated_files
from discreet.lab.study.findings import averages
from discreet.present.pages.csv_text import cell, csv_columns, csv_text, is_formula, neutralise
from discreet.results import Collected, Quality, Release, ReleaseKind
from discreet.results.notes import Variance
from tests.releases import make_table, put_figures, render_text

FORMULAS = [
    "=1+1", "+cmd", "-cmd", "@x", "|calc", "\tx", "\rx", "\nx", "-", "=", " =1", "\u00a0=1", "\ufeff=1", "\u200b@x",
    "＝1", "＋1", "－1", "＠x", "｜calc", "﹢1", "=1+1,=2", '="a"', "-1+1", "+1.", "-5..x", "- 1",
]  # fmt: skip
PLAIN = [
    "-12", "+3.5", "-1e-05", "-5..3", "-2.5..-1.5", "North", "", "10", "a=b", "a|b", "_T", "é", "<15", "'=1", "a;b",
    "a; b = c", "a;-5", "a; 5;-2..3", "a\tb", "a\r\nb",
]  # fmt: skip
# Who joins by commas what is no line of a file.
OTHERS = {"people/register.py": "roles, as an event of the ledger has them"}
# A spreadsheet that splits lines here too would run what comes behind.
BEHIND = {
    "a;=1+1": "a;'=1+1",
    "a; -b": "a;' -b",
    "=1;+x;2": "'=1;'+x;2",
    "a\t@x": "a\t'@x",
    "a\r\n|x": "a\r\n'|x",
    "a;＝1": "a;'＝1",
    "\t=x": "'\t'=x",
}


@pytest.mark.parametrize("text", FORMULAS)
def test_formulas_are_neutralised(text: str) -> None:
    assert is_formula(text)
    assert neutralise(text) == f"'{text}"
    assert not is_formula(neutralise(text))


@pytest.mark.parametrize(("text", "told"), BEHIND.items())
def test_formulas_behind_what_may_split_a_line_are_neutralised(text: str, told: str) -> None:
    assert is_formula(text)
    assert neutralise(text) == told
    assert not is_formula(told)


@pytest.mark.parametrize("text", PLAIN)
def test_numbers_and_words_stay(text: str) -> None:
    assert neutralise(text) == text


def test_values_that_are_no_text() -> None:
    assert [cell(value) for value in (-3, -0.5, 1e-9, None, float("nan"), True, False)] == [
        "-3", "-0.5", "1e-09", "", "", "yes", "no",
    ]  # fmt: skip
    assert csv_text(["a"], [[None], [""], [0]]) == 'a\n""\n""\n0\n'
    assert csv_text(["a", "b"], []) == "a,b\n"


@given(st.lists(st.lists(st.text(st.characters(exclude_categories=["Cs"])), min_size=2, max_size=2)))
def test_files_are_read_back(rows: list[list[str]]) -> None:
    told = csv.reader(io.StringIO(csv_text(["a", "b"], rows), newline=""))
    assert list(told) == [["a", "b"], *([neutralise(one) for one in row] for row in rows)]


VALUES = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(), st.sampled_from(Quality))


@given(st.lists(st.tuples(VALUES, st.text(), st.one_of(st.none(), st.floats()), st.integers())), st.integers(1, 5))
def test_columns_in_parts_are_the_lines_of_their_rows(rows: list[tuple[object, ...]], size: int) -> None:
    parts = [list(zip(*rows[place : place + size], strict=True)) for place in range(0, len(rows), size)]
    lines = [[cell(value) for value in row] for row in rows]
    told = "".join(csv_columns("abcd", parts))
    assert told == csv_text("abcd", rows)
    assert list(csv.reader(io.StringIO(told, newline=""))) == [["a", "b", "c", "d"], *lines]


def test_what_a_program_reads_back_is_left_as_it_is() -> None:
    told = "".join(csv_columns(["=a"], [[["=1", None, 'a, "b"']]], verbatim=True))
    assert told == '=a\n=1\n""\n"a, ""b"""\n'


# --- every writer ----------------------------------------------------------------------------------------------------


def write_table(bad: str, folder: Path) -> str:
    table = make_table({bad: ["one", bad]}, lambda places: -3, guarantee=BootstrapDP(epsilon="0.5"), half=None)
    face = replace(table.headings[0].face, codes=("1", bad))
    cells = [one._replace(codes=(bad,)) for one in table.cells]
    made = put_figures(replace(table, headings=(replace(table.headings[0], face=face),)), cells=cells)
    return render_text(made, "csv", "en")


def write_answer(bad: str, folder: Path) -> str:
    from decimal import Decimal

    from discreet.release.measurement.pricing import Threshold
    from tests.unit.release.statements import BY_TOWN, UNITS, make_statement
    from tests.unit.release.test_stored_answer import answer

    towns = ((bad, "x"),)
    statement = make_statement(UNITS, keys=(BY_TOWN,))
    return answer(statement, (-3, 4), keys=towns, threshold=Threshold(1, 3, Decimal("1e-7"))).to_csv()


def write_unproven(bad: str, folder: Path) -> str:
    return render_text(_one_figure(bad, ReleaseKind.UNPROVEN, Unproven(bad)), "csv", "en")


def write_workload(bad: str, folder: Path) -> str:
    part = _one_figure(bad, ReleaseKind.QUERY, PureDP(epsilon=1))
    return render_text(replace(part, kind=ReleaseKind.WORKLOAD, parts={bad: part}), "csv", "en")


def write_collection(bad: str, folder: Path) -> str:
    part = _one_figure(bad, ReleaseKind.LOCAL, LocalDP(epsilon=1))
    made = replace(part, settlement=Collected(60), notes=(Variance("noise"),), parts={bad: part})
    return render_text(made, "csv", "en")


def _one_figure(bad: str, kind: ReleaseKind, guarantee: Guarantee) -> Release:
    table = make_table({}, lambda places: -3, guarantee=PureDP(epsilon=1), half=None)
    named = replace(table.statistic, name=bad)
    claim = replace(table.claim, guarantee=guarantee)
    return replace(table, kind=kind, statistics=(named,), claim=claim, level=None, order=(bad,))


def write_averages(bad: str, folder: Path) -> str:
    averages._write(folder / "a.csv", [{bad: bad, "number": -3}])
    return (folder / "a.csv").read_bytes().decode()


def write_comparison(bad: str, folder: Path) -> str:
    told: Any = SimpleNamespace(lines=[SimpleNamespace(to_dict=lambda: {"a": bad, "b": -3})])
    comparison.write_lines(told, folder / "a.csv")
    return (folder / "a.csv").read_bytes().decode()


def write_thesis(bad: str, folder: Path) -> str:
    thesis._write_csv(folder / "a.csv", [{bad: bad, "number": -3}, {bad: None}])
    return (folder / "a.csv").read_bytes().decode()


def write_bootstrap(bad: str, folder: Path) -> str:
    bootstrap._write_csv(folder / "a.csv", [{bad: bad, "list": [-3, 4], "number": -3}])
    return (folder / "a.csv").read_bytes().decode()


def write_generated(bad: str, folder: Path) -> str:
    return "".join(generated_files._csv_parts(pa.table({"a": [bad, "x"], "number": [-3, 4]})))


WRITERS = [
    write_answer,
    write_table,
    write_unproven,
    write_workload,
    write_collection,
    write_averages,
    write_comparison,
    write_thesis,
    write_bootstrap,
    write_generated,
]


@pytest.mark.parametrize("write", WRITERS)
@pytest.mark.parametrize("bad", ["=1+1", "@x", "＝1", "|calc", "\t=x", "\r=x", "a;=1"])
def test_no_writer_lets_a_formula_through(write: Any, bad: str, tmp_path: Path) -> None:
    told = [field for line in csv.reader(io.StringIO(write(bad, tmp_path), newline="")) for field in line]
    assert neutralise(bad) in told
    assert not any(map(is_formula, told))
    assert any(field in ("-3", "-3.0", "-13") for field in told), "numbers stay numbers"


@pytest.mark.slow
def test_nobody_writes_csv_another_way() -> None:
    ways = {"csv.writer", "csv.DictWriter", "csv.write_csv", "','.join"}
    house = Path(discreet.__file__).parent
    found = {
        file.relative_to(house).as_posix()
        for file in house.rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute) and ast.unparse(node) in ways
    }
    assert found == {"present/pages/csv_text.py", *OTHERS}
