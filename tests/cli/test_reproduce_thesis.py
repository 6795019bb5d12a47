"""The thesis' benchmark from the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.clinic import Run
from tests.conftest import SHARED


def test_breast_alone_is_checked_without_a_folder(run: Run) -> None:
    pytest.importorskip("sklearn")
    told = run("reproduce", "thesis").out
    assert "10/10 without kidney" in told
    assert "kidney is left out" in told
    assert "the thesis prints" not in told
    assert "A study, not a release." in told


def test_a_folder_that_is_not_there_is_told(run: Run) -> None:
    assert run("reproduce", "thesis", "--data", "nowhere", code=2).err.startswith("PathInvalid")


def test_a_damaged_file_is_told(run: Run, tmp_path: Path) -> None:
    (tmp_path / "kidney_uci.arff").write_text("@data\n1,2\n")
    assert "lacks the attributes" in run("reproduce", "thesis", "--data", ".", code=1).err


@pytest.mark.skipif(
    not all((SHARED / name).is_file() for name in ("kidney_uci.arff", "diabetes130.csv.gz")),
    reason="the thesis' kidney and diabetes files are not at hand",
)
def test_everything_is_checked_with_the_data(run: Run) -> None:
    told = run("reproduce", "thesis", "--data", str(SHARED)).out
    assert "26/26 as the thesis read kidney" in told
    assert "24/26 with kidney read cleanly; otherwise: AVG(wbcc), SUM(rbcc)" in told
    assert "the thesis prints 0.8372 and 0.0818, without a guarantee" in told
    found = run("reproduce", "thesis", "--data", str(SHARED), "--format", "json").json()
    assert [check["score"] for check in found["checks"]] == ["26/26", "24/26"]
    assert len(found["clipping"]) == 26
    assert found["absent"] == []
