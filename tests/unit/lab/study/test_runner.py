"""The runner: equal tables for any number of processes, resumption, refusals, and what every file says of itself."""

from __future__ import annotations

import csv
import json
import os
import shutil
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from discreet.catalogue import speaking
from discreet.errors import PathInvalid, Refused, UsageError
from discreet.lab.study.execution.parts import StudyTask, has_part
from discreet.lab.study.execution.runner import MODELS, Finished, list_tasks, run_study
from discreet.lab.study.execution.study_folder import hold_folder
from discreet.lab.study.findings.tidy_tables import NOTICE, TABLES
from discreet.lab.study.study_file.study_reader import read_study
from tests.unit.lab.study.honest import PEOPLE, STUDY, rows, write

pytestmark = pytest.mark.slow

BUILD = "tests.unit.lab.study.honest:build"
COUNTING = "tests.unit.lab.study.honest:build_counting"


def run(folder: Path, out: str = "out", *, study: str = STUDY, **more: Any) -> Finished:
    file = write(folder, study) if not (folder / "study.yaml").exists() else folder / "study.yaml"
    return run_study(read_study(file), folder / out, base=folder, **{"jobs": 1, "build": BUILD, **more})


@pytest.fixture(scope="module")
def once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study that was run with one process."""
    folder = tmp_path_factory.mktemp("once")
    run(folder)
    return folder / "out"


@pytest.fixture
def diary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where a model of the tests notes what was run."""
    monkeypatch.setenv("HONEST_DIARY", str(tmp_path / "diary.txt"))
    return tmp_path / "diary.txt"


def test_results_have_exactly_their_columns(once: Path) -> None:
    assert pq.read_schema(once / "results.parquet").names == [
        *("model", "mechanism", "epsilon", "delta", "run", "group", "column", "category", "statistic"),
        *("truth", "estimate", "error", "low", "high"),
    ]
    found = pq.read_table(once / "results.parquet").to_pylist()
    assert len(found) == 3 * 2 * 3 * 3 * 2  # models, ε, runs, queries, groups
    assert all(row["error"] == abs(row["estimate"] - row["truth"]) for row in found)
    listed = ["laplace", "single-message", "multi-message"]
    order = [(listed.index(row["mechanism"]), -row["epsilon"], row["run"]) for row in found]
    assert order == sorted(order)
    smokers = sum(5 + p % 7 for p in range(1, PEOPLE + 1) if p % 2 == 0 and p % 3)
    first = next(row for row in found if (row["group"], row["category"]) == ("North", "1"))
    assert first["truth"] == pytest.approx(smokers)


def test_runs_differ_and_epsilons_differ(once: Path) -> None:
    found = pq.read_table(once / "results.parquet").to_pylist()
    keys = ("model", "mechanism", "epsilon", "run")
    drawn = {tuple(row[key] for key in keys): [] for row in found}  # type: ignore[var-annotated]
    for row in found:
        drawn[tuple(row[key] for key in keys)].append(row["estimate"])
    assert len({tuple(values) for values in drawn.values()}) == len(drawn)


def test_every_file_says_what_it_is(once: Path) -> None:
    for name in TABLES:
        assert pq.read_schema(once / f"{name}.parquet").metadata[b"notice"].decode() == NOTICE.en
    assert json.loads((once / "study.json").read_text("utf-8"))["notice"] == NOTICE.en
    assert (once / "tables" / "README.txt").read_text("utf-8").startswith(NOTICE.en)
    for file in (once / "tables").glob("*.csv"):
        with file.open(encoding="utf-8", newline="") as stream:
            read = list(csv.DictReader(stream))
        assert read
        assert {row["notice"] for row in read} == {"study on true data; not a release"}


def test_the_folder_is_closed_and_holds_no_rows(once: Path) -> None:
    assert stat.S_IMODE(once.stat().st_mode) == 0o700
    names = {found.name for found in once.iterdir()}
    assert names == {"study.yaml", "study.json", "tables", *(f"{name}.parquet" for name in TABLES)}


def test_the_study_says_everything_about_itself(once: Path) -> None:
    about = json.loads((once / "study.json").read_text("utf-8"))
    assert about["schema"] == 1
    assert about["rows"] == PEOPLE
    assert about["groups"] == ["North", "South"]
    assert about["labels"]["smokes"] == "smokes"
    assert about["french"]["groups"] == {"North": "Nord", "South": "Sud"}
    assert about["french"]["categories"]["smokes"] == {"1": "oui", "2": "non"}
    assert about["queries"][0] == {
        "name": "smokes=1",
        "statistic": "count",
        "column": "smokes",
        "category": "1",
        "label": "smokes: yes",
    }
    assert [one["variant"] for one in about["variants"]] == [
        "central laplace",
        "shuffle single-message",
        "shuffle multi-message",
    ]
    assert about["variants"][0]["notes"] == {"1": {"told": "central laplace"}, "0.5": {"told": "central laplace"}}
    assert {"discreet", "python", "numpy", "pyarrow"} <= set(about["versions"])
    assert about["config"]["runs"] == 3
    assert about["share_of_weight_cut"] == 0
    assert (once / "study.yaml").read_text("utf-8") == STUDY


def test_averages_are_means_over_runs_and_groups(once: Path) -> None:
    found = pq.read_table(once / "results.parquet").to_pylist()
    mine = [
        row
        for row in found
        if (row["model"], row["epsilon"], row["column"], row["category"]) == ("central", 1, "smokes", "1")
    ]
    with (once / "tables" / "errors.csv").open(encoding="utf-8", newline="") as stream:
        first = next(csv.DictReader(stream))
    assert (first["model"], first["epsilon"], first["category"]) == ("central", "1.0", "1")
    assert float(first["mean_absolute_error"]) == pytest.approx(sum(row["error"] for row in mine) / len(mine))
    assert float(first["coverage"]) == sum(row["low"] <= row["truth"] <= row["high"] for row in mine) / len(mine)
    assert float(first["expected_error"]) == pytest.approx(100)


@pytest.mark.long
def test_any_number_of_processes_gives_the_same_bytes(once: Path, tmp_path: Path) -> None:
    run(tmp_path, jobs=2)
    for name in TABLES:
        assert (tmp_path / "out" / f"{name}.parquet").read_bytes() == (once / f"{name}.parquet").read_bytes(), name
    for file in (once / "tables").iterdir():
        assert (tmp_path / "out" / "tables" / file.name).read_bytes() == file.read_bytes()


@pytest.mark.long
def test_the_models_themselves_give_the_same_bytes(tmp_path: Path) -> None:
    every = "models: [central, local, {model: shuffle, mechanism: [single-message, multi-message]}, naive]"
    text = "\n".join(every if line.startswith("models") else line for line in STUDY.splitlines())
    for jobs in (1, 2):
        run(tmp_path, f"out{jobs}", study=text.replace("runs: 3", "runs: 2"), jobs=jobs, build=MODELS)
    for name in TABLES:
        one, two = ((tmp_path / f"out{jobs}" / f"{name}.parquet").read_bytes() for jobs in (1, 2))
        assert one == two, name
    shown = pq.read_table(tmp_path / "out1" / "results.parquet").select(["model", "mechanism"]).to_pylist()
    pairs = {(row["model"], row["mechanism"]) for row in shown}
    assert {("shuffle", "single-message"), ("shuffle", "multi-message"), ("central", "laplace")} <= pairs
    assert {model for model, _ in pairs} == {"central", "local", "shuffle", "naive"}


@pytest.mark.long
def test_the_order_of_the_file_does_not_matter(once: Path, tmp_path: Path) -> None:
    write(tmp_path, STUDY, rows(range(PEOPLE, 0, -1)))
    run(tmp_path)
    assert (tmp_path / "out" / "results.parquet").read_bytes() == (once / "results.parquet").read_bytes()


@pytest.mark.long
def test_another_seed_gives_other_noise(once: Path, tmp_path: Path) -> None:
    run(tmp_path, study=STUDY.replace("seed: 7", "seed: 8"))
    one, other = (pq.read_table(folder / "results.parquet") for folder in (once, tmp_path / "out"))
    assert one.column("truth").equals(other.column("truth"))
    assert not one.column("estimate").equals(other.column("estimate"))


@pytest.mark.long
def test_an_interrupted_study_goes_on_where_it_stopped(once: Path, tmp_path: Path, diary: Path) -> None:
    def interrupt(stage: str, done: int, _all: int) -> None:
        if stage == "running" and done >= 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(tmp_path, build=COUNTING, progress=interrupt)
    tasks = list_tasks(read_study(tmp_path / "study.yaml"))
    kept = [task for task in tasks if has_part(tmp_path / "out" / ".parts", task)]
    assert 4 <= len(kept) < len(tasks)
    assert not list((tmp_path / "out").glob(".rows-*"))
    done = run(tmp_path, build=COUNTING)
    assert done.ran == len(tasks) - len(kept)
    ran = diary.read_text("utf-8").splitlines()
    assert len(ran) == len(set(ran)) == len(tasks)
    estimates = [pq.read_table(f / "results.parquet").column("estimate") for f in (once, tmp_path / "out")]
    assert estimates[0].equals(estimates[1])


@pytest.mark.long
def test_a_process_that_dies_leaves_what_was_finished(
    tmp_path: Path, diary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HONEST_ORDERS", "die")
    with pytest.raises(Refused, match="run the study again"):
        run(tmp_path, build=COUNTING)
    monkeypatch.delenv("HONEST_ORDERS")
    done = run(tmp_path, build=COUNTING)
    assert 0 < done.ran < done.tasks


def test_refusals_of_models_are_told(tmp_path: Path, diary: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HONEST_ORDERS", "refuse")
    with pytest.raises(Refused, match=r"The model refuses this\."):
        run(tmp_path, build=COUNTING)


def test_other_processes_refuse_in_the_language_that_is_spoken_here(tmp_path: Path) -> None:
    config = read_study(write(tmp_path, STUDY + "rows: [900]\n"))
    with speaking("fr"), pytest.raises(Refused, match="900 répondants, c’est plus que les 600"):
        run_study(config, tmp_path / "out", base=tmp_path, jobs=1)


def test_a_complete_study_is_not_run_again(tmp_path: Path, diary: Path) -> None:
    run(tmp_path, build=COUNTING)
    before = diary.read_text("utf-8")
    assert run(tmp_path, build=COUNTING).ran == 0
    assert diary.read_text("utf-8") == before


def test_another_study_or_other_data_are_refused(tmp_path: Path, once: Path) -> None:
    shutil.copytree(once, tmp_path / "out")
    write(tmp_path, STUDY.replace("runs: 3", "runs: 2"))
    with pytest.raises(Refused, match="holds another study"):
        run(tmp_path)
    write(tmp_path, STUDY, rows(range(1, 500)))
    with pytest.raises(Refused, match="configuration or data differ"):
        run(tmp_path)
    write(tmp_path, STUDY.replace("runs: 3", "runs: 1"))
    assert run(tmp_path, overwrite=True).ran == 6
    assert pq.read_metadata(tmp_path / "out" / "results.parquet").num_rows == 36


def test_other_versions_start_anew(tmp_path: Path, once: Path) -> None:
    shutil.copytree(once, tmp_path / "out")
    about = json.loads((tmp_path / "out" / "study.json").read_text("utf-8"))
    about["versions"]["numpy"] = "0.1"
    (tmp_path / "out" / "study.json").write_text(json.dumps(about), encoding="utf-8")
    done = run(tmp_path)
    assert done.ran == done.tasks


def test_folders_of_others_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "thesis.txt").write_text("mine", encoding="utf-8")
    for overwrite in (False, True):
        with pytest.raises(PathInvalid, match="do not belong to a study"):
            run(tmp_path, overwrite=overwrite)
    assert (tmp_path / "out" / "thesis.txt").read_text("utf-8") == "mine"
    (tmp_path / "file").write_text("x", encoding="utf-8")
    with pytest.raises(PathInvalid, match="is a file"):
        run(tmp_path, "file")


def test_damaged_parts_are_run_again(tmp_path: Path) -> None:
    (tmp_path / "parts").mkdir()
    task = StudyTask(0, read_study(write(tmp_path)).epsilon[0], 0)
    assert not has_part(tmp_path / "parts", task)
    (tmp_path / "parts" / task.file).write_bytes(b"ARROW1 and then nothing")
    assert not has_part(tmp_path / "parts", task)


def test_metrics_are_those_asked_for(tmp_path: Path) -> None:
    run(tmp_path, study=STUDY + "metrics: [correlation-similarity]\n")
    quality = pq.read_table(tmp_path / "out" / "quality.parquet")
    assert set(quality.column("metric").to_pylist()) == {"correlation-similarity"}
    assert pq.read_metadata(tmp_path / "out" / "shapes.parquet").num_rows == 0
    assert pq.read_metadata(tmp_path / "out" / "linkage.parquet").num_rows == 0
    assert "coverage" not in (tmp_path / "out" / "tables" / "errors.csv").read_text("utf-8").splitlines()[0]


def test_variants_of_one_model_are_told_apart(tmp_path: Path) -> None:
    models = "models: [{model: local, numbers: [duchi, laplace], missing: [public, category]}]"
    text = "\n".join(models if line.startswith("models") else line for line in STUDY.splitlines())
    run(tmp_path, study=text.replace("runs: 3", "runs: 1"), build="tests.unit.lab.study.honest:build_local")
    found = pq.read_table(tmp_path / "out" / "results.parquet")
    assert list(dict.fromkeys(found.column("mechanism").to_pylist())) == [
        "duchi (duchi, missing public)",
        "duchi (duchi, missing category)",
        "laplace (laplace, missing public)",
        "laplace (laplace, missing category)",
    ]


@pytest.mark.parametrize("jobs", [0, -1, 1000])
def test_jobs_are_few_and_at_least_one(tmp_path: Path, jobs: int) -> None:
    with pytest.raises(UsageError):
        run(tmp_path, jobs=jobs)


def test_two_runs_at_once_in_one_folder_are_refused(tmp_path: Path) -> None:
    """The second would sweep away the rows of the first."""
    with hold_folder(tmp_path / "out"), pytest.raises(Refused, match="Another run is at work"):
        run(tmp_path)
    assert run(tmp_path).tasks


def test_a_folder_that_was_open_to_others_is_closed(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir(mode=0o755)
    run(tmp_path)
    assert (tmp_path / "out").stat().st_mode & 0o077 == 0


_PARENT = """\
import os, sys, time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from discreet.lab.study.execution.worker import leave_with_parent

if __name__ == "__main__":
    pool = ProcessPoolExecutor(1, get_context("spawn"), initializer=leave_with_parent)
    print(pool.submit(os.getpid).result(), flush=True)
    time.sleep(600)
"""


def test_workers_do_not_outlive_a_run_that_was_killed(tmp_path: Path) -> None:
    (tmp_path / "parent.py").write_text(_PARENT, encoding="utf-8")
    with subprocess.Popen([sys.executable, str(tmp_path / "parent.py")], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        worker = int(parent.stdout.readline())
        os.kill(worker, 0)
        parent.kill()
    for _ in range(600):
        if not _alive(worker):
            return
        time.sleep(0.1)
    os.kill(worker, signal.SIGKILL)
    pytest.fail("the worker is still there")


def _alive(process: int) -> bool:
    """Whether a process runs; one that has ended but was not yet collected does not."""
    try:
        os.kill(process, 0)
        return Path(f"/proc/{process}/stat").read_text("utf-8").rpartition(")")[2].split()[0] != "Z"
    except ProcessLookupError:
        return False
    except FileNotFoundError:
        return not Path("/proc/self").exists()
