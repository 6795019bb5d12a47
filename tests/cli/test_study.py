"""Studies from the command line, as a custodian runs them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.cli.clinic import Run, heed_interrupts
from tests.unit.lab.study.honest import CARD, STUDY, rows, write

CENTRAL = "\n".join("models: [central]" if line.startswith("models") else line for line in STUDY.splitlines()) + "\n"


def test_init_run_and_run_again(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("discreet.cli.progress.SECONDS_APART", 0)
    (tmp_path / "clinic.yaml").write_text(CARD, encoding="utf-8")
    (tmp_path / "clinic.csv").write_text(rows(), encoding="utf-8")
    assert "discreet study run s.yaml" in run("study", "init", "s.yaml", "--dataset", "clinic.yaml", "clinic.csv").out
    text = (tmp_path / "s.yaml").read_text(encoding="utf-8")
    start, end = text.index("models:\n"), text.index("# The privacy parameters")
    (tmp_path / "s.yaml").write_text(f"{text[:start]}models: [central]\n{text[end:]}", encoding="utf-8")
    first = run("study", "run", "s.yaml", "--out", "out", "--no-report", "--jobs", "1")
    assert "The study is complete" in first.out
    assert "Not a release" in first.out
    assert "running: 9 of 9 tasks" in first.err
    again = run("study", "run", "s.yaml", "--out", "out", "--no-report", "--format", "json").json()
    assert (again["tasks"], again["ran"], again["report"]) == (9, 0, None)
    assert pq.read_metadata(tmp_path / "out" / "results.parquet").num_rows == 9 * 5 * 2


@pytest.mark.long
def test_the_report_is_made_and_made_anew(run: Run, tmp_path: Path) -> None:
    write(tmp_path, CENTRAL)
    done = run("study", "run", "study.yaml", "--out", "out", "--format", "json").json()
    report = tmp_path / done["report"]
    assert report.name == "report.html"
    assert any("central gives counts" in line for line in done["verdict"])
    report.unlink()
    assert run("study", "report", "out").out == f"wrote {Path('out', 'report.html')}\n"
    assert report.is_file()


def test_a_png_that_cannot_be_drawn_is_told_before_the_run(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, CENTRAL)
    monkeypatch.setitem(sys.modules, "resvg_py", None)
    wrong = run("study", "run", "study.yaml", "--out", "out", "--png", code=2)
    assert wrong.err.startswith("ExtraMissing: A figure as PNG needs the extra 'png'.")
    assert not (tmp_path / "out").exists()


def test_wrong_calls_are_told(run: Run, tmp_path: Path) -> None:
    write(tmp_path, CENTRAL.replace("runs: 3", "run: 3"))
    wrong = run("study", "run", "study.yaml", "--out", "out", code=1)
    assert wrong.err.startswith("StudyInvalid: study.yaml:8: unknown key 'run' in the study; did you mean 'runs'?")
    assert not (tmp_path / "out").exists()
    write(tmp_path, CENTRAL.replace("[town]", "[twon]"))
    assert "did you mean 'town'?" in run("study", "run", "study.yaml", "--out", "out", code=1).err
    assert run("study", "run", "none.yaml", "--out", "out", code=2).err.startswith("PathInvalid")
    assert run("study", "report", "out", code=2).err.startswith("PathInvalid")
    assert run("study", "init", "study.yaml", code=2).err.startswith("PathInvalid: 'study.yaml' exists")
    run("study", "init", "study.yaml", "--overwrite")
    assert run("study", "init", "x.yaml", "--sample", "--dataset", "clinic.yaml", "clinic.csv", code=2).err
    assert "clinic.ymal" in run("study", "init", "x.yaml", "--dataset", "clinic.ymal", "clinic.csv", code=2).err


@pytest.mark.skipif(not hasattr(os, "killpg"), reason="needs process groups")
def test_ctrl_c_leaves_a_study_that_goes_on(run: Run, tmp_path: Path) -> None:
    write(tmp_path, CENTRAL.replace("runs: 3", "runs: 3000"))
    words = [
        sys.executable,
        "-m",
        "discreet",
        "study",
        "run",
        "study.yaml",
        "--out",
        "out",
        "--no-report",
        "--jobs",
        "1",
    ]
    with subprocess.Popen(
        words,
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=heed_interrupts,  # noqa: PLW1509
    ) as process:
        parts = tmp_path / "out" / ".parts"
        until = time.monotonic() + 60
        while len(list(parts.glob("*.arrow"))) < 3 and time.monotonic() < until:
            time.sleep(0.05)
        os.killpg(process.pid, signal.SIGINT)
        try:
            _, told = process.communicate(timeout=60)
        finally:
            process.kill()
    assert process.returncode == 130
    assert "run the same command again to go on" in told
    assert "Traceback" not in told
    assert 3 <= len(list(parts.glob("*.arrow"))) < 6000
    assert not list((tmp_path / "out").glob(".rows-*"))
    assert json.loads((parts / "key.json").read_text("utf-8"))["config_hash"]
