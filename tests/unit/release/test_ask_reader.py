"""From words to a question: every name stands for one version while a question is asked."""

from __future__ import annotations

from pathlib import Path

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
