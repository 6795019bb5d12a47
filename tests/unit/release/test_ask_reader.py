"""From words to a question: every name stands for one version while a question is asked."""

from __future__ import annotations

from pathlib import Path

import pytest

from discreet.errors import QueryRefused, UnknownName
from discreet.release.ask_reader import Shelf
from tests.unit.release.conftest import House


def test_a_version_added_meanwhile_is_not_mixed_into_a_question(house: House, tmp_path: Path) -> None:
    (tmp_path / "towns.csv").write_text("town,size\nA,1\nB,2\n", encoding="utf-8")
    house.session.add_public_table(tmp_path / "towns.csv", key="town")
    shelf = Shelf(house.session.workspace)
    before = {name: shelf.find(name) for name in ("t", "towns")}
    house.session.add(tmp_path / "t.csv", replace=True)
    house.session.add_public_table(tmp_path / "towns.csv", key="town", replace=True)
    assert {name: shelf.find(name) for name in ("t", "towns")} == before
    later = Shelf(house.session.workspace)
    assert [later.find(name).version for name in ("t", "towns")] == [2, 2]


def test_a_statement_is_planned_once_for_as_long_as_its_names_stand_for_the_same(house: House, tmp_path: Path) -> None:
    (tmp_path / "sizes.csv").write_text("age,size\n20,1\n21,2\n", encoding="utf-8")
    house.session.add_public_table(tmp_path / "sizes.csv", key="age")
    sql = "SELECT COUNT(*), SUM(w.size) FROM t JOIN sizes AS w ON t.age = w.age"
    workspace = house.session.workspace
    first, datasets = Shelf(workspace).read(sql)
    again, known = Shelf(workspace).read(sql)
    assert again is first
    assert known == datasets == {"t": workspace.dataset("t")}
    (tmp_path / "sizes.csv").write_text("age,size\n20,1\n21,9\n", encoding="utf-8")
    house.session.add_public_table(tmp_path / "sizes.csv", key="age", replace=True)
    wider, _ = Shelf(workspace).read(sql)
    assert wider.hash != first.hash
    house.session.add(tmp_path / "t.csv", replace=True)
    later, datasets = Shelf(workspace).read(sql)
    assert later is not wider
    assert datasets["t"].version == 2


def test_another_card_gives_another_plan(house: House, tmp_path: Path) -> None:
    sql, workspace = "SELECT SUM(age) FROM t", house.session.workspace
    before, _ = Shelf(workspace).read(sql)
    card = (tmp_path / "t.yaml").read_text("utf-8")
    (tmp_path / "t.yaml").write_text(card.replace("[0, 120]", "[0, 60]"), encoding="utf-8")
    house.session.add(tmp_path / "t.csv", card=tmp_path / "t.yaml", replace=True)
    after, _ = Shelf(workspace).read(sql)
    assert after != before


def test_what_is_refused_or_gone_is_said_each_time(house: House) -> None:
    workspace = house.session.workspace
    for _ in range(2):
        with pytest.raises(QueryRefused):
            Shelf(workspace).read("SELECT SUM(town) FROM t")
    Shelf(workspace).read("SELECT COUNT(*) FROM t")
    (workspace.path / "datasets" / "t" / "current.json").unlink()
    with pytest.raises(UnknownName):
        Shelf(workspace).read("SELECT COUNT(*) FROM t")
