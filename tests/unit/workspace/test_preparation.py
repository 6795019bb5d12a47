"""Prepared rows: ids, numbers, categories, weights, order, and the custodian's report."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discreet.cards.card import Card, parse_card
from discreet.catalogue import FRENCH, speaking
from discreet.errors import FileRefused
from discreet.workspace.folder import Workspace
from discreet.workspace.ingest import add_file
from discreet.workspace.ingest_report import Report, read_report

HEADER = "person_id,province,age,weight,height,diagnosis\n"
Added = Callable[..., tuple[list[dict[str, Any]], Report]]


def one(add: Added, name: str, cells: list[str]) -> list[Any]:
    """The prepared values of one column, one person per cell, in order."""
    order = ["person_id", "province", "age", "weight", "height", "diagnosis"]
    lines = []
    for number, cell in enumerate(cells):
        row = {"person_id": str(1000 + number), "province": "10"} | {name: '"' + cell.replace('"', '""') + '"'}
        lines.append(",".join(row.get(column, "") for column in order))
    rows, _ = add(HEADER + "\n".join(lines) + "\n")
    return [row[name] for row in rows]


def test_one_unit_however_its_id_is_written(add: Added) -> None:
    ids = [
        "777",
        " 777",
        "777.0",
        "+777",
        "777.",
        "0777",
        "1.5",
        "",
        "x",
        "7e2",
        "1,777",
        "9" * 18,
        "9" * 19,
        "-5",
    ]
    rows, report = add(HEADER + "".join(f'"{unit}",10,20,,,\n' for unit in ids))
    found = [row["person_id"] for row in rows]
    assert sorted(set(found)) == [-5, 777, 10**18 - 1]
    assert found.count(777) == 6
    assert [row["ord"] for row in rows if row["person_id"] == 777] == [1, 2, 3, 4, 5, 6]
    assert (report.rows, report.rows_without_id, report.units, report.most_rows) == (14, 6, 3, 6)
    assert report.rows_beyond == 4


def test_text_ids_keep_their_zeros(add: Added, card_text: str) -> None:
    card = parse_card(card_text.replace("type: integer", "type: text"), file="c.yaml")
    rows, _ = add(
        HEADER + "".join(f"{unit},10,20,,,\n" for unit in ["007", "7", " 7\t", "e\u0301", "é", ""]), card=card
    )
    assert sorted({row["person_id"] for row in rows}) == ["007", "7", "é"]


def test_integers_beyond_a_float_stay_apart(add: Added, tmp_path: Path, card: Card) -> None:
    big = 2**53
    file = tmp_path / "x.parquet"
    columns = {name: pa.array(["10"] * 3) for name in ("province", "age", "weight", "height", "diagnosis")}
    pq.write_table(pa.table({"person_id": pa.array([big, big + 1, big + 2]), **columns}), file)
    assert len(add(file)[0]) == 3
    pq.write_table(pa.table({"person_id": pa.array([float(big), float(big) + 2, 1.5]), **columns}), file)
    assert [row["person_id"] for row in add(file)[0]] == [big]
    short = 2**24
    singles = pa.array([float(short), float(short) + 2, 7.0], pa.float32())
    pq.write_table(pa.table({"person_id": singles, **columns}), file)
    assert sorted(row["person_id"] for row in add(file)[0]) == [7, short]


def test_numbers(add: Added) -> None:
    written = ["1.7", " 1.7005 ", "1.7004999999999999999999", "17e-1", ".5e1", "+1.5", "9.996", "9.9960",
               "9.99600001",
               "?", "NA", "abc", "inf", "nan", "-3", "1_5", "0x1F", "1e99999", "1e-99999",
               "1.,5"]  # fmt: skip
    meant = [1700, 1701, 1700, 1700, 2100, 1500, None, None, 2100,
             None, None, None, None, None, 1200, None, None, 2100, 1200, None]  # fmt: skip
    assert one(add, "height", written) == meant


def test_thousands_commas_are_strict(add: Added) -> None:
    assert one(add, "weight", ["1,234.50", "1,234", "12,34", "1234,5", ",123", "1,2345"]) == [
        123450, 123400, None, None, None, None,
    ]  # fmt: skip


def test_halves_round_away_from_zero(add: Added, card_text: str) -> None:
    card = parse_card(card_text.replace("[12, 110]", "[-110, 110]"), file="c.yaml")
    rows, _ = add(HEADER + "".join(f"{i},10,{x},,,\n" for i, x in enumerate([0.5, -0.5, 1.5, -1.5, 0.4])), card=card)
    assert [row["age"] for row in rows] == [1, -1, 2, -2, 0]


def test_floats_keep_their_shortest_decimal(add: Added, tmp_path: Path) -> None:
    heights = [9.996, 1.7, 1.7005, float("nan"), float("inf"), 1e-300]
    for kind in (pa.float64(), pa.float32()):
        table = {name: pa.array(["10"] * 6) for name in ("province", "age", "weight", "diagnosis")}
        table |= {"person_id": pa.array(range(6)), "height": pa.array(heights, kind)}
        file = tmp_path / "x.parquet"
        pq.write_table(pa.table(table), file)
        rows, report = add(file)
        assert [row["height"] for row in rows] == [None, 1700, 1701, None, None, 1200]
        counts = {column.name: column for column in report.columns}["height"]
        assert (counts.missing, counts.blank, counts.clamped_low) == (1, 2, 1)


def test_categories_by_position(add: Added) -> None:
    assert one(add, "province", ["10", "24", "10.0", " 24.00 ", "+10", "010", "99", "", "?"]) == [
        0, 1, 0, 1, 0, None, None, None, None,
    ]  # fmt: skip


def test_a_listed_token_is_a_category_and_no_blank(add: Added, card_text: str) -> None:
    extra = "  country: {kind: category, categories: [CA, NA, '?', true], missing: [ZZ]}\n"
    card = parse_card(card_text + extra, file="c.yaml")
    text = HEADER.strip() + ",country\n"
    text += "".join(f"{i},10,,,,,{code}\n" for i, code in enumerate(["NA", "?", "ca", "ZZ", "", "true"]))
    rows, report = add(text, card=card)
    assert [row["country"] for row in rows] == [1, 2, None, None, None, 3]
    assert (report.columns[-1].missing, report.columns[-1].not_listed, report.columns[-1].blank) == (1, 1, 1)


def test_text_is_trimmed_and_composed(add: Added) -> None:
    written = [" flu\u00a0", "e\u0301", "", " ? ", "two\nlines", "a\0b", "é\0b", 'say "x"']
    assert one(add, "diagnosis", written) == [
        "flu", "é", None, None, "two\nlines", None, None, 'say "x"',
    ]  # fmt: skip


def test_weights_are_capped_by_the_public_column(add: Added) -> None:
    text = HEADER + "1,10,,2000,,\n2,24,,2000,,\n3,99,,2000,,\n4,24,,5,,\n5,10,,,,\n6,10,,99999,,\n"
    rows, report = add(text)
    assert [row["weight"] for row in rows] == [170000, 1250, 170000, 500, None, 170000]
    assert report.weight is not None
    assert (report.weight.before, report.weight.after, report.weight.rows_cut) == ("21005", "5117.5", 4)
    assert report.weight.share_cut == pytest.approx(1 - 5117.5 / 21005)


def test_types_on_disk(workspace: Workspace, card: Card, tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text(HEADER + "1,10,40,5,1.7,flu\n")
    dataset = add_file(workspace, tmp_path / "x.csv", card, replace=False)
    schema = pq.read_schema(dataset.data)
    assert {field.name: str(field.type) for field in schema} == {
        "person_id": "int64", "province": "int8", "age": "int8", "weight": "int32", "height": "int16",
        "diagnosis": "string", "ord": "int32",
    }  # fmt: skip


def test_order_is_the_rank_of_the_digest(add: Added, workspace: Workspace) -> None:
    rows, _ = add(HEADER + "1,10,40,5,1.7,flu\n1,10,50,,,\n1,10,60,7,,a|b\n1,10,60,7,,a|b\n")
    parts = ["1|0|40|500|1700|3:flu", "1|0|50|~|~|~", "1|0|60|700|~|3:a|b"]
    digests = {part: hashlib.md5(f"{workspace.salt}|{part}".encode()).hexdigest() for part in parts}
    ages = {parts[0]: [40], parts[1]: [50], parts[2]: [60, 60]}
    expected = [age for part in sorted(parts, key=digests.__getitem__) for age in ages[part]]
    assert [row["age"] for row in rows] == expected
    assert [row["ord"] for row in rows] == [1, 2, 3, 4]


def test_without_the_salt_nobody_foresees_the_order(add: Added, workspace: Workspace) -> None:
    ages = range(20, 60)
    rows, _ = add(HEADER + "".join(f"1,10,{age},,,\n" for age in ages))
    digests = {age: hashlib.md5(f"{workspace.salt}|1|0|{age}|~|~|~".encode()).hexdigest() for age in ages}
    assert [row["age"] for row in rows] == sorted(ages, key=digests.__getitem__)


def test_rows_that_count_stand_first_in_the_file(workspace: Workspace, card: Card, tmp_path: Path) -> None:
    people = [person for person in range(200) for _ in range(person % 5)]
    (tmp_path / "x.csv").write_text(HEADER + "".join(f"{p},10,{20 + i % 90},,,\n" for i, p in enumerate(people)))
    dataset = add_file(workspace, tmp_path / "x.csv", card, replace=False)
    orders = pq.read_table(dataset.data).column("ord").to_pylist()
    counted = sum(order <= card.unit.rows for order in orders)
    assert 0 < counted < len(orders) == len(people)
    assert max(orders[:counted]) == card.unit.rows
    assert min(orders[counted:]) == card.unit.rows + 1


def test_a_public_column_that_varies_is_refused_without_values(add: Added) -> None:
    for second in ("24", ""):
        with pytest.raises(FileRefused, match="differ in 'province'") as refused:
            add(HEADER + f"712345,10,40,5,1.7,flu\n712345,{second},40,5,1.7,flu\n")
        assert "712345" not in str(refused.value)


def test_a_refusal_leaves_nothing(add: Added, workspace: Workspace) -> None:
    with pytest.raises(FileRefused, match="no row with an id"):
        add(HEADER + "x,10,40,5,1.7,flu\n")
    with pytest.raises(FileRefused, match="another number of fields"):
        add(HEADER + "1,10,40,5,1.7,flu\n" * 5 + "1,2\n")
    assert workspace.names() == ()
    assert not any((workspace.path / "staging").iterdir())


def test_a_file_without_rows_is_a_data_set(add: Added, tmp_path: Path) -> None:
    rows, report = add(HEADER)
    assert (rows, report.rows, report.units) == ([], 0, 0)
    file = tmp_path / "x.parquet"
    pq.write_table(pa.table({name: pa.array([], pa.int64()) for name in HEADER.strip().split(",")}), file)
    assert add(file)[0] == []


def test_columns_may_have_another_name_in_the_file(add: Added, card_text: str) -> None:
    text = card_text.replace("{kind: integer, bounds", "{source: Age (years), kind: integer, bounds")
    rows, report = add(
        "person_id,province,Age (years),age,AGE,weight,height,diagnosis\n1,10,33,44,55,,,\n",
        card=parse_card(text, file="c.yaml"),
    )
    assert rows[0]["age"] == 33
    assert report.unused == ("age", "AGE")


def test_every_coercion_is_counted(add: Added) -> None:
    text = HEADER + '1,10,5,1,9.996,x\n2,24,200,2,oops,x\n3,77,40,3,,NA\n4,10,"",4,1.5,x\n'
    _, report = add(text)
    counts = {column.name: column for column in report.columns}
    age, height, province = counts["age"], counts["height"], counts["province"]
    assert (age.clamped_low, age.clamped_high, age.blank, age.null) == (1, 1, 1, 1)
    assert (height.missing, height.unparsable, height.blank, height.null) == (1, 1, 1, 3)
    assert (province.not_listed, province.null) == (1, 1)
    assert counts["diagnosis"].blank == 1


def test_rows_that_lack_what_is_complete_are_counted(add: Added, card_text: str) -> None:
    card = parse_card(re.sub(r"(\bage: \{kind: integer)", r"\1, complete: true", card_text), file="c.yaml")
    assert card.column("age").complete
    rows, report = add(HEADER + "1,10,,,,\n2,10,x,,,\n3,10,5,,,\n,10,,,,\n", card=card)
    assert len(rows) == 3  # they stay among the prepared rows: only keys leave them out
    assert report.incomplete == {"age": 2}


def test_the_report_reads_back(workspace: Workspace, card: Card, tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text(HEADER + "1,10,40,5,1.7,flu\n")
    dataset = add_file(workspace, tmp_path / "x.csv", card, replace=False)
    report = read_report(dataset.report)
    assert report.to_json() == dataset.report.read_text("utf-8")


def test_progress_counts_rows(add: Added) -> None:
    seen: list[int] = []
    add(HEADER + "1,10,40,5,1.7,flu\n" * 3, progress=seen.append)
    assert seen[-1] == 3


def test_nothing_is_printed(add: Added, capfd: pytest.CaptureFixture[str]) -> None:
    add(HEADER + "1,10,40,5,1.7,flu\n")
    assert capfd.readouterr() == ("", "")


def test_names_that_look_like_sql(add: Added, card_text: str) -> None:
    card = parse_card(card_text.replace("  diagnosis:", "  select:"), file="c.yaml")
    rows, _ = add(HEADER.replace("diagnosis", "select") + "1,10,40,5,1.7,x'; DROP TABLE staged; --\n", card=card)
    assert rows[0]["select"] == "x'; DROP TABLE staged; --"


def test_many_passes_give_what_one_gives(add: Added, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = HEADER + "".join(f"{pid % 40},10,{12 + pid % 60},5,1.7,flu\n" for pid in range(200))
    once, counted = add(lines)
    for name in ("_COUNTED_ROWS", "_ORDERED_ROWS", "_RANKED_ROWS"):
        monkeypatch.setattr(f"discreet.workspace.preparation.{name}", 7)
    again, recounted = add(lines)
    assert (again, recounted) == (once, counted)
    assert (counted.units, counted.most_rows, counted.rows_beyond) == (40, 5, 120)


def test_a_public_value_that_differs_is_found_in_any_pass(add: Added, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("discreet.workspace.preparation._COUNTED_ROWS", 2)
    for odd in range(10):
        rows = [(pid, 24 if pid == odd and part else 10) for pid in range(10) for part in range(2)]
        with pytest.raises(FileRefused, match="differ in 'province'"):
            add(HEADER + "".join(f"{pid},{province},40,5,1.7,flu\n" for pid, province in rows))


def test_more_rows_than_the_card_states_are_refused(add: Added, card_text: str) -> None:
    stated = parse_card(card_text + "rows_at_most: 2\n", file="survey.yaml")
    line = "1,10,40,5,1.7,flu\n"
    assert len(add(HEADER + 2 * line, card=stated)[0]) == 2
    with pytest.raises(FileRefused, match="more than 2 rows, which the card states as rows_at_most"):
        add(HEADER + 3 * line, card=stated)
    with speaking(FRENCH), pytest.raises(FileRefused, match="a plus de 2 lignes, la borne rows_at_most"):
        add(HEADER + 3 * line, card=stated)


@pytest.mark.long
def test_a_million_rows_in_bounded_memory() -> None:
    from benchmarks.ingest import run

    figures = run(1_000_000)
    assert all(figure < 1_000 for name, figure in figures.items() if name.endswith("peak_mb")), figures


def test_a_file_that_takes_too_much_memory_is_refused_in_our_words(
    add: Added, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("discreet.workspace.preparation._MEMORY_MB", 1)
    monkeypatch.setattr("discreet.workspace.preparation._COLUMN_MB", 0)
    with pytest.raises(FileRefused, match=r"takes more than 1 MB of memory to prepare. Describe fewer columns"):
        add(HEADER + "".join(f"{pid},10,40,5,1.7,flu\n" for pid in range(20_000)))
    assert workspace.names() == ()


@pytest.mark.long
def test_hundreds_of_columns_are_prepared(workspace: Workspace, tmp_path: Path) -> None:
    """The work grows with their number, and not with its square."""
    names = [f"x{place}" for place in range(300)]
    columns = "".join(f"  {name}: {{kind: number, bounds: [0, 9], step: 0.1}}\n" for name in names)
    text = "dataset: wide\nunit: {column: pid, rows: 1}\nneighbours: add-remove\nbudget: {epsilon: 1}\ncolumns:\n"
    card = parse_card(text + "  pid: {kind: id, type: integer}\n" + columns, file="wide.yaml")
    line = ",".join(["1.5"] * len(names))
    rows = "".join(f"{pid},{line}\n" for pid in range(1_000))
    (tmp_path / "wide.csv").write_text(f"pid,{','.join(names)}\n{rows}", encoding="utf-8")
    dataset = add_file(workspace, tmp_path / "wide.csv", card, replace=False)
    assert pq.ParquetFile(dataset.data).metadata.num_rows == 1_000
    assert {column.clamped_low for column in read_report(dataset.report).columns} == {0}
