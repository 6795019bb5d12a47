"""Runs a study: rows prepared once, tasks in parallel, finished ones kept, tables at the end.

The order of the tables is that of the study's file (model, ε, run, query, group), whoever ran what when, so the same
study gives the same bytes for any number of processes.
"""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import metadata
from itertools import product
from pathlib import Path
from typing import Any, Final

from discreet.catalogue import language, say
from discreet.errors import Refused, UsageError
from discreet.files import write_whole
from discreet.guarantees import text as plain_text
from discreet.lab.study.execution.lanes import Lane, open_lanes, run_in_lanes
from discreet.lab.study.execution.parts import StudyTask, has_part, read_part
from discreet.lab.study.execution.study_folder import SCHEMA, StudyFolder, hold_folder
from discreet.lab.study.execution.worker import Assignment, accept, average, describe
from discreet.lab.study.findings.tidy_tables import NOTICE, SIZES, TABLES, join_parts, write_table
from discreet.lab.study.study_file.queries import StudyDesign, design_study
from discreet.lab.study.study_file.study_config import StudyConfig
from discreet.lab.study.study_rows import StudyRows, digest_data, prepare_rows, study_card

__all__ = ["MODELS", "Finished", "default_jobs", "list_tasks", "run_study"]

MODELS: Final = "discreet.lab.study.study_file.variants:build_models"
_MOST_JOBS: Final = 256
_PACKAGES: Final = ("discreet", "numpy", "pyarrow", "duckdb", "scipy")
# What is likely to take longest goes first, so that no process is left with a long task at the end.
_LENGTH: Final = {"single-message": 0, "local": 1, "vector-sum": 2}

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class Finished:
    """A complete study in its folder; `ran` tasks were run now, the others were there."""

    folder: Path
    tasks: int
    ran: int
    seconds: float


def run_study(
    config: StudyConfig,
    out: Path,
    *,
    base: Path,
    jobs: int | None = None,
    overwrite: bool = False,
    progress: Progress | None = None,
    build: str = MODELS,
) -> Finished:
    """Run what is not there yet and write the tables into `out`; paths of the study start at `base`.

    `progress` is told a stage, tasks done and tasks in all. KeyboardInterrupt leaves finished tasks behind: called
    again, the study goes on. `build` names the function that builds the models.
    """
    began = time.monotonic()
    jobs = default_jobs() if jobs is None else jobs
    if not 1 <= jobs <= _MOST_JOBS:
        raise UsageError(say("jobs must be 1 to {most_jobs}; received {jobs}.", most_jobs=_MOST_JOBS, jobs=jobs))
    text = progress or (lambda _stage, _done, _all: None)
    design = design_study(config, study_card(config, base))
    key = {"config_hash": config.hash(digest_data(config, base)), "versions": _versions()}
    tasks = list_tasks(config)
    with hold_folder(out):
        folder = StudyFolder.claim(out, key, overwrite=overwrite)
        if folder.complete:
            return Finished(out, len(tasks), 0, time.monotonic() - began)
        open_tasks = [task for task in tasks if not has_part(folder.parts, task)]
        text(say("preparing rows"), len(tasks) - len(open_tasks), len(tasks))
        with folder.rows() as scratch, open_lanes(max(1, min(jobs, len(open_tasks)))) as lanes, _refused_when_ended():
            rows = prepare_rows(config, base, scratch)
            assignment = _assign(config, rows, folder, build)
            facts = _run(lanes, assignment, _longest_first(open_tasks, config), len(tasks), text)
            text(say("writing tables"), len(tasks), len(tasks))
            averages = lanes[0].submit(average, tasks)
            facts |= {"share_of_weight_cut": rows.share_cut, "seconds": round(time.monotonic() - began, 1)}
            about = _write(config, design, folder, tasks, facts)
            if (refusal := averages.result()) is not None:
                raise Refused(refusal)
        folder.finish(about)
    return Finished(out, len(tasks), len(open_tasks), time.monotonic() - began)


def default_jobs() -> int:
    """As many processes as there are cores for us."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def list_tasks(config: StudyConfig) -> list[StudyTask]:
    """Every task in the order of the tables.

    Naive recipes read a whole file, and hybrids are varied enough: neither is run on fewer rows.
    """
    indices, runs = range(len(config.models)), range(config.runs)
    sized = [index for index in indices if config.models[index].model not in {"naive", "hybrid"}]
    fewer = product(sized, config.epsilon, config.rows, runs)
    return [
        *(StudyTask(*item) for item in product(indices, config.epsilon, runs)),
        *(StudyTask(index, epsilon, run, rows) for index, epsilon, rows, run in fewer),
    ]


def _longest_first(tasks: Sequence[StudyTask], config: StudyConfig) -> list[StudyTask]:
    return sorted(tasks, key=lambda task: _LENGTH.get(config.models[task.place].mechanism or "local", len(_LENGTH)))


def _assign(config: StudyConfig, rows: StudyRows, folder: StudyFolder, build: str) -> Assignment:
    raw = None if rows.raw is None else str(rows.raw)
    return Assignment(
        config.text, config.file, rows.card.text, str(rows.data), raw, str(folder.parts), build, language()
    )


def _run(
    lanes: Sequence[Lane], assignment: Assignment, tasks: Sequence[StudyTask], total: int, text: Progress
) -> dict[str, Any]:
    """Run the tasks in processes of their own; give what one of them says about the study."""
    done = total - len(tasks)

    def finished(refusal: str | None) -> None:
        nonlocal done
        if refusal is not None:
            raise Refused(refusal)
        done += 1
        text(say("running"), done, total)

    for lane in lanes:
        lane.submit(accept, assignment)
    facts = lanes[0].submit(describe)
    text(say("running"), done, total)
    run_in_lanes(lanes, tasks, finished)
    described = facts.result()
    if isinstance(described, str):
        raise Refused(described)
    return described


@contextmanager
def _refused_when_ended() -> Iterator[None]:
    try:
        yield
    except BrokenProcessPool:
        raise Refused(
            say(
                "A process of the study was ended from outside, perhaps for want of memory. What was finished is "
                "kept: run the study again, with fewer --jobs, to go on."
            )
        ) from None


def _write(
    config: StudyConfig, design: StudyDesign, folder: StudyFolder, tasks: Sequence[StudyTask], facts: Mapping[str, Any]
) -> dict[str, Any]:
    """Write the tidy tables and the configuration; give what is to be said about the run."""
    parts = [read_part(folder.parts, task) for task in tasks]
    for name, table in join_parts(parts, (*TABLES, *([SIZES] if config.rows else []))).items():
        write_table(name, table, folder.path / f"{name}.parquet")
    write_whole(folder.path / "study.yaml", config.text, durable=False)
    return _about(config, design, folder, _annotate(facts, config, tasks, parts))


def _annotate(
    facts: Mapping[str, Any], config: StudyConfig, tasks: Sequence[StudyTask], parts: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """The facts, with what each model notes about itself at each ε."""
    notes: list[dict[str, dict[str, str]]] = [{} for _ in config.models]
    for task, part in zip(tasks, parts, strict=True):
        if "notes" in part and part["notes"].num_rows:
            names, texts = (part["notes"].column(field).to_pylist() for field in ("name", "text"))
            notes[task.place][plain_text(task.epsilon)] = dict(zip(names, texts, strict=True))
    variants = [{**item, "notes": lines} for item, lines in zip(facts["variants"], notes, strict=True)]
    return {**facts, "variants": variants}


def _about(config: StudyConfig, design: StudyDesign, folder: StudyFolder, facts: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "schema": SCHEMA,
        "notice": NOTICE.en,
        "study": config.study,
        "title": config.title,
        "config": config.to_dict(),
        **folder.key,
        "seed": config.seed,
        **facts,
        "strata": list(design.strata),
        "static": list(design.every_static),
        "columns": list(design.columns),
        "queries": [
            {"name": q.name, "statistic": q.statistic, "column": q.column, "category": q.category, "label": q.label}
            for q in design.queries
        ],
        "figures": list(design.figures),
    }


def _versions() -> dict[str, str]:
    """Of everything that numbers depend on."""
    result = {"python": platform.python_version()}
    for name in _PACKAGES:
        try:
            result[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return result
