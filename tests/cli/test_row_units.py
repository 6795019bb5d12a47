"""A file without ids, as its custodian brings it in: drafted, checked, added, shown."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.clinic import Run

pytestmark = pytest.mark.usefixtures("flowers")


@pytest.fixture
def flowers(tmp_path: Path) -> None:
    (tmp_path / "flowers.csv").write_text("petal\n" + "".join(f"{i % 9}\n" for i in range(300)), encoding="utf-8")


def test_from_draft_to_answer(run: Run, tmp_path: Path) -> None:
    run("card", "init", "flowers.csv")
    draft = tmp_path / "flowers.yaml"
    text = draft.read_text(encoding="utf-8")
    assert "type: row" in text
    assert run("card", "check", "flowers.yaml", code=None).code == 1
    for place, decision in (
        ("column: DECIDE", "column: row_id"),
        ("rows: DECIDE", "rows: 1"),
        ("epsilon: DECIDE", "epsilon: 1"),
        ("bounds: DECIDE", "bounds: private"),
    ):
        text = text.replace(place, decision)
    draft.write_text(text, encoding="utf-8")
    run("card", "check", "flowers.yaml")
    run("init", "w")
    run("add", "-w", "w", "flowers.csv")
    shown = run("show", "-w", "w", "flowers")
    assert "row_id" in shown.out
    assert "private" in shown.out
    answer = run("query", "-w", "w", "SELECT AVG(petal) AS m FROM flowers", "--epsilon", "1", "--format", "json").json()
    assert answer["unit"] == "row_id (at most 1 row each)"
    assert set(answer["bounds"]["petal"]) == {"low", "high", "found", "epsilon"}
    table = run("query", "-w", "w", "SELECT AVG(petal) AS m FROM flowers", "--epsilon", "1")
    assert "looked for with epsilon 0.5 of the charge" in table.out + table.err


def test_bounds_that_were_not_found_are_the_first_thing_said(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from discreet.mechanisms.discrete_laplace import DiscreteLaplace

    monkeypatch.setattr(DiscreteLaplace, "release", lambda self, values: [0 for _ in values])
    card = "dataset: flowers\npopulation: f\nunit: {column: row_id, rows: 1}\nneighbours: add-remove\n"
    card += "budget: {epsilon: 1}\ncolumns:\n  row_id: {kind: id, type: row}\n"
    card += "  petal: {kind: integer, bounds: private}\n"
    (tmp_path / "flowers.yaml").write_text(card, encoding="utf-8")
    run("init", "w")
    run("add", "-w", "w", "flowers.csv")
    asked = ("query", "-w", "w", "SELECT SUM(petal) AS s FROM flowers", "--epsilon", "0.1")
    assert run(*asked).out.startswith("No bounds stood out for petal")
    assert next(iter(run(*asked, "--format", "json").json())) == "notice"
    assert run(*asked, "--format", "csv").out.splitlines()[1].startswith('"No bounds stood out')
    compared = run("sensitivity", "-w", "w", asked[3], "--epsilon", "0.1", "--custodian", "--runs", "3")
    assert "private-bounds: no bounds stood out in 3 of 3 runs" in compared.out
