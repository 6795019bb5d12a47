"""Tables written to files from the command line: every ending, pictures beside them, and refusals before a charge."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.cli.clinic import CARD, ROWS, Run

TABLE = ("table", "-w", "w", "clinic", "--by", "town,smokes", "--epsilon", "0.5")
REFUSED = {
    ("--out", "t.xls"): "must end in",
    ("--out", "none/t.csv"): "there is no folder",
    ("--format", "xlsx"): "needs a file",
    ("--out", "heat-map=heat.png"): "must end in .svg",
    ("--out", "bars=none/bars.svg"): "there is no folder",
    ("--out", "bars=same.svg", "--out", "heat-map=./same.svg"): "different file",
    ("--out", "same.csv", "--out", "./same.csv"): "different file",
    ("--out", "pie=p.svg"): "received 'pie=p.svg'",
    ("--out", "t.csv", "--out", "u.csv", "--format", "csv"): "--format goes with one file",
}


def test_the_ending_tells_the_format_and_pictures_stand_beside(run: Run, clinic: Path, tmp_path: Path) -> None:
    for ending in ("txt", "json", "csv", "xlsx", "parquet", "sdmx.csv"):
        assert f"écrit\u00a0: t.{ending}" in run(*TABLE, "--out", f"t.{ending}", "--lang", "fr").out
        assert (tmp_path / f"t.{ending}").stat().st_size > 300
    run(*TABLE, "--out", "t.html", "--out", "heat-map=heat.svg", "--out", "bars=bars.svg")
    for name in ("heat.svg", "bars.svg", "t.html"):
        text = re.sub("<[^>]*>", " ", (tmp_path / name).read_text(encoding="utf-8"))
        assert "epsilon = 0.5: no result is more" in " ".join(text.split())


@pytest.mark.usefixtures("a_font")
def test_a_picture_is_drawn_as_png_and_pdf(run: Run, clinic: Path, tmp_path: Path) -> None:
    for ending, mark in (("png", b"\x89PNG"), ("pdf", b"%PDF-")):
        assert f"wrote t.{ending}" in run(*TABLE, "--out", f"t.{ending}").out
        assert (tmp_path / f"t.{ending}").read_bytes().startswith(mark)
        assert "needs a file" in run(*TABLE, "--format", ending, code=2).err


def test_a_table_may_go_to_several_files(run: Run, clinic: Path, tmp_path: Path) -> None:
    shown = run(*TABLE, "--out", "t.csv", "--out", "t.xlsx", "--out", "./a=b.csv").out
    assert [line for line in shown.splitlines() if line.startswith("wrote ")] == [
        "wrote t.csv",
        "wrote t.xlsx",
        "wrote a=b.csv",
    ]
    assert (tmp_path / "a=b.csv").read_bytes() == (tmp_path / "t.csv").read_bytes()


def test_codes_that_a_spreadsheet_would_run_are_refused_or_neutralised(run: Run, tmp_path: Path) -> None:
    """SDMX-CSV promises exact codes: refused before a charge. CSV puts an apostrophe before them."""
    towns = "{N: {en: North, fr: Nord}, S: {en: South, fr: Sud}}"
    card = CARD.replace(towns, "[N, S, '=1+1', '@x', '＝1', '|calc', -3]")
    (tmp_path / "clinic.csv").write_text(ROWS, encoding="utf-8")
    (tmp_path / "clinic.yaml").write_text(card, encoding="utf-8")
    run("init", "w")
    run("add", "-w", "w", "clinic.csv")
    refused = run(*TABLE, "--out", "t.sdmx.csv", code=2).err
    assert "received '=1+1'" in refused
    assert not (tmp_path / "t.sdmx.csv").exists()
    assert run("budget", "-w", "w", "--format", "json").json()["populations"][0]["population"]["epsilon_spent"] == "0"
    listed = run(*TABLE, "--format", "csv").out
    sql = "SELECT town, COUNT(*) FROM clinic GROUP BY town"
    for text in (listed, run("query", "-w", "w", sql, "--epsilon", "0.1", "--format", "csv").out):
        lines = text.splitlines()
        for code in ("'=1+1", "'@x", "'＝1", "'|calc", "-3"):
            assert any(line.startswith(f"{code},") for line in lines), code
        assert not any(line.startswith(("=", "@", "＝", "|")) for line in lines)


def test_a_file_that_cannot_be_written_costs_nothing(run: Run, clinic: Path, tmp_path: Path) -> None:
    before = sorted(path.name for path in tmp_path.iterdir())
    for words, said in REFUSED.items():
        refused = run(*TABLE, *words, code=None)
        assert refused.code != 0
        assert said in refused.err
    (state,) = run("budget", "-w", "w", "--format", "json").json()["populations"]
    assert state["population"]["epsilon_spent"] == "0"
    assert sorted(path.name for path in tmp_path.iterdir()) == before
