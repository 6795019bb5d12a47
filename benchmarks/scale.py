"""Questions at scale, on every engine, against the plain statement on the raw rows of the same engine.

    python -m benchmarks scale                              everything, some 25 minutes on two quiet cores
    python -m benchmarks scale --engine spark --rows 10000000 --rounds 1
    python -m benchmarks scale --folder DIR --keep          again after a stop: what was measured there is not repeated

The plain statement and the question take turns in one run; noise, charge and stored answer are in the question's time.
What is found is kept in benchmarks/scale.json, from which the tables and the figure of the pages are written.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from argparse import ArgumentParser
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from benchmarks.memory import peak_mb
from benchmarks.page import PAGE
from benchmarks.scale_cases import CASES, IN_PLACE, MATERIALISED, PREPARED, ScaleCase
from benchmarks.scale_figures import (
    AFTER,
    BEFORE,
    FIGURES,
    AddedRows,
    Measured,
    ScaleFigure,
    read_figures,
    write_figures,
)
from benchmarks.scale_page import SCALE_PAGE, TUMULT, write_pages
from benchmarks.scale_places import PLACES, Place, worker
from benchmarks.scale_rows import write_cards
from benchmarks.turns import Figures, WorkerFailed, take_turns

__all__ = ["Stage", "main", "run"]

ENGINES: Final = ("duckdb", "postgres", "spark", "tumult")
TUMULT_PYTHON: Final = Path(__file__).parents[1] / ".venv-tumult" / "bin" / "python"
_PEER_CASES: Final = {"13 keys": 1, "13 keys, five rows a unit, three count": 3}  # rows per unit that count


@dataclass(frozen=True, slots=True)
class Stage:
    """An engine at a number of rows; `every` question, or those alone that are timed in place too."""

    engine: str
    rows: int
    rounds: int
    every: bool = True

    @property
    def server(self) -> str:
        return "spark" if self.engine == "tumult" else self.engine

    def cases(self, cases: Sequence[ScaleCase]) -> list[ScaleCase]:
        fitting = [case for case in cases if self.server in case.engines and (self.every or case.timed_in_place)]
        return [case for case in fitting if case.title in _PEER_CASES] if self.engine == "tumult" else fitting


STAGES: Final = (
    Stage("duckdb", 1_000_000, 7),
    Stage("duckdb", 10_000_000, 7),
    Stage("duckdb", 100_000_000, 3),
    Stage("postgres", 1_000_000, 3),
    Stage("postgres", 10_000_000, 3),
    Stage("spark", 10_000_000, 3),
    Stage("spark", 50_000_000, 3, every=False),
    Stage("tumult", 10_000_000, 1),
)


def run(
    stages: Sequence[Stage] = STAGES,
    *,
    folder: Path | None = None,
    keep: bool = False,
    state: str = AFTER,
    cases: Sequence[ScaleCase] = CASES,
    file: Path = FIGURES,
    page: Path = PAGE,
    scale_page: Path = SCALE_PAGE,
) -> dict[str, float]:
    """Measure, keep what was found after every question, and write the pages."""
    text: dict[str, float] = {}
    with _rows_folder(folder, keep=keep) as place:
        os.environ["DISCREET_KEYS"] = str(place / "keys")
        os.environ["DISCREET_ANALYST"] = "bench"
        done = read_figures(place / "found.json").get(state, Measured())
        for stage in stages:
            for figure in _measure(
                stage, place, cases, done, lambda: write_figures(place / "found.json", {state: done})
            ):
                text |= _told(figure)
            states = read_figures(file)
            states.setdefault(state, Measured()).update(done)
            write_figures(file, states)
            write_pages(states, page=page, scale_page=scale_page)
    return text


def _measure(
    stage: Stage, place: Path, cases: Sequence[ScaleCase], done: Measured, save: Callable[[], None]
) -> Iterator[ScaleFigure]:
    """Every figure of a stage that is not there yet; an engine is started only where one is missing."""
    ways = _ways(stage)
    todo = {
        case: missing
        for case in stage.cases(cases)
        if (missing := [way for way in ways(case) if (stage.server, stage.rows, case.title, way) not in done.figures])
    }
    if not todo:
        return
    folder = place / str(stage.rows)
    folder.mkdir(exist_ok=True)
    write_cards(folder)
    datasets = tuple(dict.fromkeys(name for case in todo for name in case.datasets))
    with PLACES[stage.server](folder, datasets, stage.rows) as engine:
        for way in engine.ways:
            wanted = [name for case, missing in todo.items() if way in missing for name in case.datasets]
            for added in _add(engine, folder, way, tuple(dict.fromkeys(wanted)), stage.rows):
                done.added[added.key] = added
                save()
        for case, missing in todo.items():
            for figure in _compare(stage, engine, folder, case, missing):
                done.figures[figure.key] = figure
                yield figure
            save()


def _ways(stage: Stage) -> Callable[[ScaleCase], list[str]]:
    """The ways in which a stage's questions are timed; what this version cannot do is left out."""
    if stage.engine == "tumult":
        return lambda _: [TUMULT]
    if stage.engine == "duckdb":
        return lambda _: [PREPARED]
    materialised = [MATERIALISED] if "--materialise" in _discreet("add", "--help") else []
    return lambda case: [*([IN_PLACE] if case.timed_in_place else []), *materialised]


def _workspace(folder: Path, engine: Place, way: str) -> Path:
    return folder / f"{engine.engine} {way}"


def _add(engine: Place, folder: Path, way: str, datasets: tuple[str, ...], rows: int) -> Iterator[AddedRows]:
    """A workspace for each way; that of DuckDB is taken as it is found, as its files outlive a run."""
    workspace = _workspace(folder, engine, way)
    if engine.engine != "duckdb":
        shutil.rmtree(workspace, ignore_errors=True)
    if datasets and not workspace.exists():
        _discreet("init", str(workspace))
    for name in datasets:
        if (workspace / "datasets" / name / "current.json").exists():
            continue
        words = ["add", "-w", str(workspace), "--yes", "--card", str(folder / f"{name}.yaml"), *engine.source(name)]
        before, start = engine.stored(workspace), time.perf_counter()
        _, peak = _run(*words, *(["--materialise", engine.target] if way == MATERIALISED else []))
        seconds = time.perf_counter() - start
        yield AddedRows(engine.engine, rows, name, way, seconds, engine.stored(workspace) - before, _commit(), peak)


def _compare(stage: Stage, engine: Place, folder: Path, case: ScaleCase, ways: Sequence[str]) -> Iterator[ScaleFigure]:
    commands = {"plain": [*engine.plain, case.plain_on(engine.engine, engine.tables)]}
    for way in ways:
        if way == TUMULT:
            words = [str(folder / case.datasets[0]), "province", str(_PEER_CASES[case.title])]
            commands[way] = [str(TUMULT_PYTHON), "-m", "benchmarks.peer_work", "tumult", *words]
        else:
            commands[way] = worker("discreet", str(_workspace(folder, engine, way)), case.question(), case.delta)
    found, missing = _turns(commands, stage.rounds)
    for way in ways:
        named = (stage.server, stage.rows, case.title, way)
        if way in missing:
            yield ScaleFigure(*named, missing=missing[way], commit=_commit())
            continue
        plain, ours = found["plain"], found[way]
        yield ScaleFigure(*named, plain.whole, ours.whole, ours.peak_mb, stage.rounds, _commit())


def _turns(commands: dict[str, list[str]], rounds: int) -> tuple[Mapping[str, Figures], dict[str, str]]:
    """What each took; and why others could not."""
    missing: dict[str, str] = {}
    while True:
        try:
            return take_turns(commands, rounds=rounds), missing
        except (WorkerFailed, FileNotFoundError) as failure:
            name = failure.worker if isinstance(failure, WorkerFailed) else TUMULT
            if name not in commands or name == "plain":
                raise
            missing[name] = str(failure) if isinstance(failure, WorkerFailed) else "not installed"
            del commands[name]


def _discreet(*words: str) -> str:
    return _run(*words)[0]


def _run(*words: str) -> tuple[str, float]:
    """What a command says, and the most megabytes that its process held."""
    with tempfile.TemporaryFile() as said, tempfile.TemporaryFile() as complained:
        process = subprocess.Popen([sys.executable, "-m", "discreet", *words], stdout=said, stderr=complained)
        peak = 0.0
        while process.poll() is None:
            peak = max(peak, peak_mb(process.pid))
            time.sleep(0.1)
        texts = []
        for stream in (said, complained):
            stream.seek(0)
            texts.append(stream.read().decode())
    if process.returncode:
        sys.exit(f"discreet {words[0]} failed: {texts[1].strip()}")
    return texts[0], peak


def _commit() -> str:
    """The last change of the package itself."""
    words = ["git", "log", "-1", "--format=%h", "--abbrev=7", "--", "src"]
    done = subprocess.run(words, cwd=Path(__file__).parents[1], check=False, capture_output=True, text=True)
    return done.stdout.strip()


def _told(figure: ScaleFigure) -> dict[str, float]:
    named = f"{figure.engine}, {figure.rows:,} rows, {figure.way}: {figure.case}"
    if figure.missing:
        print(f"{named}: {figure.missing}", flush=True)
        return {}
    print(f"{named}: plain {figure.plain:.3f} s, {figure.seconds:.3f} s, {figure.ratio:.2f}×", flush=True)
    return {f"{named}: ratio": figure.ratio}


@contextmanager
def _rows_folder(folder: Path | None, *, keep: bool) -> Iterator[Path]:
    """A folder for rows and workspaces; one that was named stays where a run fails, so that it can be taken up."""
    if folder is None:
        with tempfile.TemporaryDirectory() as made:
            yield Path(made)
        return
    folder.mkdir(parents=True, exist_ok=True)
    yield folder.resolve()
    if not keep:
        shutil.rmtree(folder)


def main(words: Sequence[str]) -> None:
    parser = ArgumentParser(prog="python -m benchmarks scale")
    parser.add_argument("--engine", nargs="+", choices=ENGINES, default=ENGINES)
    parser.add_argument("--rows", nargs="+", type=int, help="instead of those of the whole run")
    parser.add_argument("--rounds", type=int, help="instead of those of the whole run")
    parser.add_argument("--folder", type=Path, help="where rows are made; a run that failed is taken up from there")
    parser.add_argument("--keep", action="store_true", help="leave the folder for the next run")
    parser.add_argument("--state", choices=(BEFORE, AFTER), default=AFTER, help="which column the figures go to")
    titles = [case.title for case in CASES]
    parser.add_argument("--question", nargs="+", choices=titles, default=titles, help="only these", metavar="TITLE")
    parser.add_argument("--write", action="store_true", help="measure nothing; write the pages from what was kept")
    asked = parser.parse_args(words)
    if asked.write:
        write_pages(read_figures(FIGURES))
        return
    chosen = [case for case in CASES if case.title in asked.question]
    stages = list(choose_stages(asked.engine, asked.rows, asked.rounds))
    run(stages, folder=asked.folder, keep=asked.keep, state=asked.state, cases=chosen)


def choose_stages(engines: Sequence[str], rows: Sequence[int] | None, rounds: int | None) -> Iterator[Stage]:
    """The stages of the whole run for these engines, or these engines at other numbers of rows."""
    for engine in engines:
        planned = {stage.rows: stage for stage in STAGES if stage.engine == engine}
        for number in rows or planned:
            stage = planned.get(number, Stage(engine, number, 3))
            yield Stage(engine, number, rounds or stage.rounds, stage.every)
