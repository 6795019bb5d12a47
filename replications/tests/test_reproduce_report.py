"""The founding report's study from the command line."""

from __future__ import annotations

import gzip
import re
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.catalogue.english import find_alike, find_english, find_english_numbers
from tests.cli.clinic import Run
from tests.golden.outputs.files import show_file

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
    refused = run("reproduce", "report", "--theirs", "none.csv", "--lang", "fr", code=2).err
    assert refused.startswith("PathInvalid: «\u00a0none.csv\u00a0» n’est pas un fichier.")


def test_the_whole_command_on_a_small_sample(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")  # so that no name is broken
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
    tell_in_french(run, words, first.out, tmp_path / "reproduction-report")


def tell_in_french(run: Run, words: Sequence[str], english: str, folder: Path) -> None:
    """The study is there already; only what people read is written anew."""
    page, lines = ((folder / name).read_bytes() for name in ("reproduction.html", "comparison.csv"))
    french = run(*words, "--lang", "fr")
    texts = find_alike(english, french.out)
    texts |= find_alike(page.decode(), (folder / "reproduction.html").read_text(encoding="utf-8"))
    provinces = {"Alberta", "Labrador", "Manitoba", "Nunavut", "Ontario", "Saskatchewan", "Yukon"}
    mechanisms = {"laplace", "piecewise-wide", "grr", "subset", "multi-message"}
    alike = {"central", "local", "correct", "Correct", "Correct, laplace", "Correct, multi-message"}
    assert texts <= provinces | mechanisms | alike | {"correct, multi-message"}
    written = [folder / "reproduction.html", folder / "study" / "report.html", *(folder / "figures").iterdir()]
    told = "\n".join([french.out, french.err, *map(show_file, written)])
    # The study's file stands in its page as it was run.
    told = re.sub("<pre>.*?</pre>", "", told, flags=re.DOTALL)
    assert [*find_english(told), *find_english_numbers(told.replace("7.1 à 7.6", ""))] == []
    assert "s’écarte de 0,431 / 1,53 / 6,93 / 9,1 / 12,6 m dans le rapport" in french.out
    assert "<h1>L’étude du rapport fondateur" in told
    assert (folder / "comparison.csv").read_bytes() == lines
