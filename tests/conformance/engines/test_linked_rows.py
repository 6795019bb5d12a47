"""What a registry or a holder reads of its rows before it links them: the same in DuckDB and in PostgreSQL."""

from __future__ import annotations

import csv
import io
import uuid
from pathlib import Path

import psycopg
import pytest

from discreet.linkage.offices.linked_rows import MarkedIds, mark_ids, plan_marks
from discreet.session import Session
from discreet.workspace import RowSource
from tests.unit.linkage.three_offices import PEOPLE_CARD, make_workspace, people_rows

CARD = PEOPLE_CARD.replace("column: person, rows: 1", "column: household, rows: 8")
ROWS = (
    people_rows()[1]
    + "".join(f"{person},H{person},yes,no,F,\n" for person in (4, 5))
    + ",H9,yes,no,F,1\n 12 ,H3,no,no,E,99\nabc,H3,yes,no,F,1\n77,,yes,no,F,1\n+88, H22 ,yes,yes,O,-4\n"
)
CONDITIONS = ["french = 'yes' AND english = 'no'", "first = 'E' OR weight > 3", None]


def marked(session: Session, **asked: object) -> MarkedIds:
    dataset = session.workspace.dataset("people")
    plan = plan_marks(dataset.card, "person", CONDITIONS, **asked)  # type: ignore[arg-type]
    return mark_ids(session, dataset, plan)


@pytest.mark.parametrize("prepared", [False, True], ids=["in place", "materialised"])
def test_ids_units_and_marks_are_the_same(
    tmp_path: Path, postgres_dsn: str, monkeypatch: pytest.MonkeyPatch, prepared: bool
) -> None:
    name = f"linked_{uuid.uuid4().hex[:12]}"
    with psycopg.connect(postgres_dsn) as connection:
        connection.execute(f"CREATE SCHEMA {name}")
        columns = ", ".join(f"{column} text" for column in ROWS.splitlines()[0].split(","))
        connection.execute(f"CREATE TABLE {name}.people ({columns})")
        rows = [[value or None for value in row] for row in list(csv.reader(io.StringIO(ROWS)))[1:]]
        with connection.cursor() as cursor:
            cursor.executemany(f"INSERT INTO {name}.people VALUES (%s, %s, %s, %s, %s, %s)", rows)
    monkeypatch.setenv("PEOPLE_DSN", postgres_dsn)
    here = make_workspace(tmp_path / "h" / "workspace", CARD, ROWS)
    there = Session.create(tmp_path / "workspace")
    source = RowSource(
        engine="postgres", table=f"{name}.people", dsn_env="PEOPLE_DSN", materialise=name if prepared else None
    )
    there.add_table(source, card=tmp_path / "h" / "people.yaml", confirm=lambda _: True)
    for asked in ({}, {"by_unit": True}, {"weight": "weight", "by_unit": True}, {"where": "weight >= 2"}):
        one, other = marked(here, **asked), marked(there, **asked)
        assert one.ids.to_pylist() == other.ids.to_pylist()
        assert len(one.ids) > 50
        assert [marks.tolist() for marks in one.marks] == [marks.tolist() for marks in other.marks]
        assert (one.units is None) == (other.units is None)
        if one.units is not None:
            assert one.units.to_pylist() == other.units.to_pylist()
    for session in (here, there):
        session.close()
    with psycopg.connect(postgres_dsn) as connection:
        connection.execute(f"DROP SCHEMA {name} CASCADE")
