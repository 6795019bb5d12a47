"""The measurements at scale on a few hundred rows: every figure is kept, the pages take them, nothing is repeated."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.page import PAGE
from benchmarks.scale import STAGES, Stage, choose_stages, run
from benchmarks.scale_cases import CASES, IN_PLACE, MATERIALISED, PREPARED, limit_of
from benchmarks.scale_figures import AFTER, BEFORE, Measured, ScaleFigure, read_figures, write_figures
from benchmarks.scale_page import SCALE_PAGE, TUMULT, write_pages

PLACES = {PAGE: ("scale",), SCALE_PAGE: ("scale curves", "scale adding")}
FIRST = CASES[0].title


@pytest.fixture
def pages(tmp_path: Path) -> tuple[Path, Path]:
    for file, names in zip(("page.md", "scale.md"), PLACES.values(), strict=True):
        marks = "\n".join(f"<!-- {side} {name} -->" for name in names for side in ("begin", "end"))
        (tmp_path / file).write_text(f"{marks}\nThe end.\n", encoding="utf-8")
    return tmp_path / "page.md", tmp_path / "scale.md"


@pytest.mark.long
def test_a_tiny_run_is_kept_and_taken_up(
    tmp_path: Path, pages: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("DISCREET_KEYS", "DISCREET_ANALYST"):
        monkeypatch.setenv(name, "set anew by the run")
    file, folder = tmp_path / "figures.json", tmp_path / "rows"
    page, scale_page = pages
    chosen = [case for case in CASES if "duckdb" in case.engines]
    small, larger = (Stage("duckdb", rows, 1) for rows in (300, 900))
    told = run([small], folder=folder, keep=True, cases=chosen, file=file, page=page, scale_page=scale_page)
    assert len(told) == len(chosen)
    assert all(ratio > 0 for ratio in told.values())
    again = run([small, larger], folder=folder, cases=chosen[:1], file=file, page=page, scale_page=scale_page)
    assert len(again) == 1
    found = read_figures(file)[AFTER]
    assert {key[2] for key in found.figures} == {case.title for case in chosen}
    assert all(item.bytes_written > 0 for item in found.added.values())
    text = page.read_text(encoding="utf-8")
    assert text.count("| DuckDB: ") == len(chosen) + 1
    assert text.endswith("The end.\n")
    assert "DuckDB, prepared: people | 900 |" in scale_page.read_text(encoding="utf-8")
    assert "<svg" in (tmp_path / "pictures" / "scale.svg").read_text(encoding="utf-8")
    assert not folder.exists()


def test_before_and_after_stand_beside_each_other(tmp_path: Path, pages: tuple[Path, Path]) -> None:
    key = ("postgres", 10_000_000, FIRST, IN_PLACE)
    states = {
        BEFORE: Measured.of([ScaleFigure(*key, 2.0, 200.0, 90, 1, "aaaaaaa")], []),
        AFTER: Measured.of(
            [
                ScaleFigure(*key, 2.0, 3.0, 90, 3, "bbbbbbb"),
                ScaleFigure("spark", 10_000_000, FIRST, IN_PLACE, 1.0, 4.0, 90, 3, "bbbbbbb"),
                ScaleFigure("spark", 10_000_000, FIRST, TUMULT, missing="not installed"),
            ],
            [],
        ),
    }
    write_figures(tmp_path / "figures.json", states)
    assert read_figures(tmp_path / "figures.json") == states
    page, scale_page = pages
    write_pages(states, page=page, scale_page=scale_page)
    text = page.read_text(encoding="utf-8")
    line = (
        "| PostgreSQL: 13 keys | 10,000,000 | in place | 2.000 | 200.000 | 100.00× | 2.000 | 3.000 | **1.50×** | 2.0× |"
    )
    assert line in text
    assert "Before is commit aaaaaaa, today bbbbbbb." in text
    assert f"| {FIRST} | 10,000,000 | {TUMULT} |  | not installed |  |  |" in text


def test_limits_are_those_of_engine_and_way() -> None:
    one, _, three, all_count, *_ = CASES
    assert [limit_of("postgres", IN_PLACE, case) for case in (one, three, all_count)] == [2.0, 6.0, 6.0]
    assert [limit_of(engine, MATERIALISED, one) for engine in ("postgres", "spark")] == [1.3, 1.5]
    assert limit_of("spark", IN_PLACE, three) == 5.0
    assert {limit_of("duckdb", PREPARED, case) for case in CASES} == {1.2}


def test_rows_and_rounds_can_be_chosen() -> None:
    assert list(choose_stages(["spark"], None, None)) == [stage for stage in STAGES if stage.engine == "spark"]
    assert list(choose_stages(["duckdb", "postgres"], [500], 2)) == [Stage("duckdb", 500, 2), Stage("postgres", 500, 2)]


def test_every_question_has_a_plain_statement_on_its_engines() -> None:
    for case in CASES:
        for engine in case.engines:
            text = case.plain_on(engine, {name: f"raw_{name}" for name in case.datasets})
            assert all(f"raw_{name}" in text for name in case.datasets)
            assert "{" not in text + case.question()


def test_the_pages_have_a_place_for_every_table() -> None:
    for page, names in PLACES.items():
        text = page.read_text(encoding="utf-8")
        assert all(text.count(f"<!-- {side} {name} -->") == 1 for name in names for side in ("begin", "end"))
