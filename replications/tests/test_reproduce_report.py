"""The founding report's study from the command line."""

from __future__ import annotations

import gzip
import sys
from pathlib import Path

import pytest

from tests.cli.clinic import Run

pytestmark = pytest.mark.long

HEADER = "epsilon,model,statistic,province,column,code,original,protected,abs_error\n"


def test_wrong_calls_are_told(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run("reproduce", "report", "--theirs", "none.csv", code=2).err.startswith("PathInvalid")
    assert "rows" in run("reproduce", "report", "--rows", "12", code=1).err
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "letter.txt").write_text("mine")
    assert run("reproduce", "report", "--out", "taken", code=2).err.startswith("PathInvalid: 'taken' holds something")
    monkeypatch.setitem(sys.modules, "resvg_py", None)
    assert run("reproduce", "report", "--png", code=2).err.startswith("ExtraMissing: A figure as PNG")
    assert not (tmp_path / "reproduction-report").exists()


def test_the_whole_command_on_a_small_sample(run: Run, tmp_path: Path) -> None:
    row = "3,local,mean,ON,HWTDGHTM,,2.18,3.71,1.53181\n"
    (tmp_path / "theirs.csv.gz").write_bytes(gzip.compress((HEADER + row).encode()))
    words = ("reproduce", "report", "--theirs", "theirs.csv.gz", "--rows", "1000", "--runs", "1", "--jobs", "2")
    first = run(*words)
    assert "Not a release" in (tmp_path / "reproduction-report" / "reproduction.html").read_text(encoding="utf-8")
    assert "The recipe is not differentially private" in first.out
    assert "is off by 0.431 / 1.53 / 6.93 / 9.1 / 12.6 m in the report" in first.out
    again = run(*words, "--format", "json").json()
    assert Path(tmp_path, again["report"]).is_file()
    assert len(again["lines"]) == 6 * 5 * 4 * 14
    assert again["agreement"]["ontario_height"][1]["theirs"] == 1.53181
