"""Files without ids: every row is a unit, numbered as it comes, from the card to the ledger."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discreet.cards.card import Card, parse_card
from discreet.cards.draft import draft_card
from discreet.engines.in_place.tables_in_place import add_table
from discreet.errors import CardInvalid, CardUndecided, FileRefused, PopulationConflict, QueryRefused
from discreet.guarantees.budget import PopulationTerms
from discreet.ledger.events import decode_terms, encode_terms
from discreet.session import Session
from discreet.sql.reader.questions import read_statement
from discreet.workspace.folder import Workspace
from discreet.workspace.ingest import add_file
from discreet.workspace.ingest_report import read_report
from discreet.workspace.row_source import RowSource
from tests.unit.sql.catalogue import shelf

TEXT = """\
dataset: flowers
unit: {column: row_id, rows: 1}
neighbours: replace-one
size: public
budget: {epsilon: 3}
columns:
  row_id: {kind: id, type: row}
  petal: {kind: integer, bounds: [0, 100]}
"""
OTHER = TEXT.replace("flowers", "leaves").replace("petal", "vein").replace("size:", "population: flowers\nsize:")


@pytest.fixture
def card() -> Card:
    return parse_card(TEXT, file="flowers.yaml")


def prepared(workspace: Workspace, file: Path, card: Card, *, replace: bool = False) -> list[dict[str, int]]:
    dataset = add_file(workspace, file, card, replace=replace)
    rows: list[dict[str, int]] = pq.read_table(dataset.data).to_pylist()
    return sorted(rows, key=lambda row: row["row_id"])


# --- the card -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("rows: 1", "rows: 2", "2: where every row is a unit of its own (type: row of column 'row_id'), rows must be "),
        ("type: row", "type: rows", "7: type of column 'row_id' must be integer, text or row; received 'rows'"),
        ("type: row", "type: row, source: id", "7: 'source' does not go with type row"),
        ("type: row", "type: row, missing: [9]", "7: 'missing' does not go with type row"),
        ("  petal:", "  other: {kind: id, type: row}\n  petal:", "8: type: row is for the unit's column, 'row_id'"),
    ],
)
def test_every_rule_is_told_with_its_line(old: str, new: str, told: str) -> None:
    with pytest.raises(CardInvalid) as refused:
        parse_card(TEXT.replace(old, new, 1), file="flowers.yaml")
    assert any(f"flowers.yaml:{told}" in problem for problem in refused.value.problems), refused.value.problems


def test_the_terms_survive_the_ledger(card: Card) -> None:
    terms = card.terms()
    assert terms == PopulationTerms("flowers", card.budget, card.neighbours, "row_id", "row")
    assert decode_terms(encode_terms(terms)) == terms


# --- the rows -------------------------------------------------------------------------------------------------------


def test_rows_of_a_text_file_are_numbered_as_they_come(workspace: Workspace, card: Card, tmp_path: Path) -> None:
    file = tmp_path / "flowers.csv"
    file.write_text("petal\n3\n3\n\n?\n500\n")
    rows = prepared(workspace, file, card)
    assert [row["petal"] for row in rows] == [3, 3, None, 100]
    assert [row["row_id"] for row in rows] == [1, 2, 3, 4]
    assert {row["ord"] for row in rows} == {1}


def test_numbers_go_on_from_batch_to_batch(workspace: Workspace, card: Card, tmp_path: Path) -> None:
    """More rows than any batch has, in row groups of their own."""
    count = 200_001
    file = tmp_path / "flowers.parquet"
    pq.write_table(pa.table({"petal": pa.array([number % 101 for number in range(count)])}), file, row_group_size=7_000)
    dataset = add_file(workspace, file, card, replace=False)
    table = pq.read_table(dataset.data).sort_by("row_id")
    assert table.column("row_id").to_pylist() == list(range(1, count + 1))
    assert table.column("petal").to_pylist() == [number % 101 for number in range(count)]
    report = read_report(dataset.report)
    assert (report.rows, report.units, report.most_rows, report.rows_without_id) == (count, count, 1, 0)


def test_a_column_of_that_name_is_left_alone(workspace: Workspace, card: Card, tmp_path: Path) -> None:
    file = tmp_path / "flowers.csv"
    file.write_text("row_id,petal,row_number\n9,1,7\n9,2,7\n,3,7\n")
    dataset = add_file(workspace, file, card, replace=False)
    rows = pq.read_table(dataset.data).sort_by("row_id").to_pylist()
    assert [(row["row_id"], row["petal"]) for row in rows] == [(1, 1), (2, 2), (3, 3)]
    assert read_report(dataset.report).unused == ("row_id", "row_number")


def test_another_version_numbers_its_own_rows(workspace: Workspace, card: Card, tmp_path: Path) -> None:
    file = tmp_path / "flowers.csv"
    file.write_text("petal\n1\n2\n")
    prepared(workspace, file, card)
    file.write_text("petal\n7\n")
    assert prepared(workspace, file, card, replace=True) == [{"row_id": 1, "petal": 7, "ord": 1}]


def test_a_file_without_rows_is_a_data_set(workspace: Workspace, card: Card, tmp_path: Path) -> None:
    file = tmp_path / "flowers.csv"
    file.write_text("petal\n")
    assert prepared(workspace, file, card) == []


def test_a_table_of_a_server_has_no_order_to_number(
    workspace: Workspace, card: Card, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Reader:
        def close(self) -> None:
            """Nothing is open."""

    monkeypatch.setattr("discreet.engines.in_place.tables_in_place.open_rows", lambda _: Reader())
    source = RowSource("postgres", dsn_env="DATABASE", table="flowers")
    with pytest.raises(FileRefused, match="no order of rows"):
        add_table(workspace, source, card, replace=False)


# --- a session ------------------------------------------------------------------------------------------------------


@pytest.fixture
def session(tmp_path: Path) -> Session:
    for name, text, head in (("flowers", TEXT, "petal"), ("leaves", OTHER, "vein")):
        (tmp_path / f"{name}.csv").write_text("\n".join([head, *map(str, range(50)), ""]))
        (tmp_path / f"{name}.yaml").write_text(text)
    session = Session.create(tmp_path / "w")
    for name in ("flowers", "leaves"):
        session.add(tmp_path / f"{name}.csv", confirm=lambda _: True)
    return session


def test_questions_are_answered_per_row(session: Session) -> None:
    answer = session.query("SELECT SUM(petal) AS s FROM flowers", epsilon=1)
    assert answer.to_dict()["unit"] == "row_id (at most 1 row each)"
    assert answer.guarantee.differentially_private
    explained = session.explain("SELECT SUM(petal) AS s FROM flowers", epsilon=1)
    assert explained.unit == "row_id, at most 1 row each"


def test_a_card_with_ids_is_of_another_population(session: Session, tmp_path: Path) -> None:
    (tmp_path / "stems.csv").write_text("row_id,petal\n1,2\n")
    text = OTHER.replace("leaves", "stems").replace("type: row", "type: integer").replace("vein", "petal")
    (tmp_path / "stems.yaml").write_text(text)
    with pytest.raises(PopulationConflict):
        session.add(tmp_path / "stems.csv", confirm=lambda _: True)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT COUNT(*) FROM flowers JOIN leaves ON flowers.row_id = leaves.row_id",
        "SELECT SUM(n) FROM flowers AS f JOIN (SELECT row_id, SUM(vein) AS n FROM leaves GROUP BY row_id) q "
        "ON f.row_id = q.row_id",
    ],
)
def test_rows_of_two_files_are_not_joined_by_their_numbers(sql: str) -> None:
    with pytest.raises(QueryRefused, match="each row for a unit of its own"):
        read_statement(sql, shelf(TEXT, OTHER))


def test_a_table_per_row_is_read() -> None:
    sql = "SELECT AVG(n) FROM (SELECT row_id, SUM(petal) AS n FROM flowers GROUP BY row_id) q"
    assert read_statement(sql, shelf(TEXT))[0].plan.measures


# --- the draft ------------------------------------------------------------------------------------------------------


def test_a_draft_proposes_rows_where_no_column_looks_like_an_id(tmp_path: Path) -> None:
    file = tmp_path / "flowers.csv"
    file.write_text("petal\n1\n2\n")
    text = draft_card(file, from_rows=False)
    assert "row_id if nobody has two rows" in text
    with pytest.raises(CardUndecided) as refused:
        parse_card(text, file="draft.yaml")
    assert len(refused.value.problems) == text.count(" DECIDE ")
    for place, decision in (
        ("column: DECIDE", "column: row_id"),
        ("rows: DECIDE", "rows: 1"),
        ("epsilon: DECIDE", "epsilon: 1"),
    ):
        text = text.replace(place, decision)
    card = parse_card(text.replace("bounds: DECIDE", "bounds: [0, 9]"), file="draft.yaml")
    assert (card.unit_type, card.unit.rows) == ("row", 1)


def test_a_draft_with_an_id_proposes_no_rows(tmp_path: Path) -> None:
    file = tmp_path / "people.csv"
    file.write_text("person_id,petal\n1,1\n2,2\n")
    assert "row_id" not in draft_card(file, from_rows=False)


def test_a_proposal_left_beside_another_unit_is_told(tmp_path: Path) -> None:
    text = TEXT.replace("column: row_id", "column: name").replace(
        "  petal:", "  name: {kind: id, type: text}\n  petal:"
    )
    with pytest.raises(CardInvalid, match="leave out column 'row_id'"):
        parse_card(text, file="c.yaml")
