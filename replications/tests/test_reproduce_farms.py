"""Bootstrap differential privacy on the rice farms, from the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.clinic import Run

pytestmark = pytest.mark.long


def test_wrong_calls_are_told_and_nothing_is_written(run: Run, tmp_path: Path) -> None:
    assert run("reproduce", "bootstrap", "--data", "none.csv", code=2).err.startswith("PathInvalid: 'none.csv'")
    (tmp_path / "farms.csv").write_text("status,noutput\nowner,3\n")
    told = run("reproduce", "bootstrap", "--data", "farms.csv", code=1).err
    assert "FileRefused: 'farms.csv' lacks the columns varieties." in told
    assert "replicates" in run("reproduce", "bootstrap", "--replicates", "1", code=2).err
    assert not (tmp_path / "reproduction-bootstrap").exists()
    told = run("reproduce", "bootstrap", "--data", "farms.csv", "--lang", "fr", code=1).err
    assert "FileRefused: «\u00a0farms.csv\u00a0» n’a pas les colonnes varieties." in told
    told = run("reproduce", "bootstrap", "--replicates", "1", "--lang", "fr", code=2).err
    assert "doit être un nombre entier de 10 à 100\u202f000" in told
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "letter.txt").write_text("mine")
    assert run("reproduce", "bootstrap", "--out", "taken", code=2).err.startswith(
        "PathInvalid: 'taken' holds something"
    )


def test_the_published_cells_are_enough(run: Run, tmp_path: Path) -> None:
    first = run("reproduce", "bootstrap", "--replicates", "20")
    assert "27 of 27 printed figures of Tables 2 to 4" in first.out
    assert "9,000*" in first.out
    assert "is 9,000, printed as 900." in first.out
    assert "57.738" in first.out
    assert "32,130" in first.out
    assert "Not shown without the rows (--data):" in first.out
    assert "1,026 rows are 171 farms in six seasons" in first.out
    assert "so an ε for rows is up to 6·ε for the farm" in first.out
    assert "not a release" in first.out
    assert (tmp_path / "reproduction-bootstrap" / "bootstrap.html").is_file()
    again = run("reproduce", "bootstrap", "--replicates", "20", "--format", "json").json()
    assert Path(tmp_path, again["files"]["page"]).is_file()
    assert len(again["tables"]) == 63
    assert again["from_rows"] is False
