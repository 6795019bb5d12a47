"""The founding report's whole study, stage by stage and model by model; and a million answers encoded exactly.

The study runs in a process of its own with two workers. Each model is wrapped in a watch, so that the slowest part
can be seen; what the workers spend beside the models is measuring quality, the linkage attack and their tables.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from benchmarks.memory import peak_mb
from benchmarks.page import PAGE, describe_machine, table, write_block
from discreet.lab.study.execution.outcomes import Outcome, Streams, StudyModel, StudyQuery, TheoryError
from discreet.lab.study.frame import StudyFrame
from discreet.lab.study.raw_rows import RawRows
from discreet.lab.study.study_file.study_config import StudyConfig
from discreet.lab.study.study_file.variants import build_models

Made = TypeVar("Made")
ANSWERS = 1_000_000
ROUNDS = 3
JOBS = 2
MOST_SECONDS, GOAL, MOST_MEGABYTES, MOST_ENCODING = 60, 20, 1536, 3
_LOG = "DISCREET_BENCHMARK_LOG"
_MANIFEST = """\
survey: benchmark
version: 1
epsilon: 1
questions:
  answer: {{kind: category, missing: public, categories: {{{categories}}}}}
"""


def run(*, rows: int = 113_290, runs: int = 5, answers: int = ANSWERS, page: Path = PAGE) -> dict[str, float]:
    """Measure, and write what was found into `page`."""
    with tempfile.TemporaryDirectory() as folder:
        words = [sys.executable, "-m", "benchmarks.study", folder, str(rows), str(runs)]
        found: dict[str, Any] = json.loads(
            subprocess.run(words, check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()[-1]
        )
    encoded = _encode(answers)
    write_block(page, "study", _page(found, encoded, rows=rows, runs=runs, answers=answers))
    return {
        "the report's study, whole (s)": found["whole"],
        "  peak memory of all processes together, at most (MB)": found["megabytes"],
        **{f"  {stage} (s)": seconds for stage, seconds in found["stages"].items()},
        **{f"    processor, {name} (s)": seconds for name, seconds in found["models"].items()},
        **{f"encoding {answers:,} answers of 13: {name} (s)": seconds for name, seconds in encoded.items()},
    }


# --- the study, in a process of its own -----------------------------------------------------------------------------


def measure(folder: Path, *, rows: int, runs: int) -> dict[str, Any]:
    """Run the study and its report once: seconds by stage, processor seconds by model, megabytes in all."""
    from discreet_replications.report.report_reproduction import report_study

    from discreet.lab.study.execution.runner import run_study
    from discreet.lab.study.report.study_report import write_report

    log = folder / "log.jsonl"
    os.environ[_LOG] = str(log)
    watch = _Watch()
    config = report_study(rows=rows, runs=runs)
    run_study(
        config, folder / "study", base=folder, jobs=JOBS, progress=watch.tell, build="benchmarks.study:timed_models"
    )
    processor = sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2])
    watch.tell("figures and report", 0, 0)
    write_report(folder / "study")
    watch.stop()
    spent: dict[str, float] = defaultdict(float)
    memory: dict[int, float] = defaultdict(float)
    for line in log.read_text(encoding="utf-8").splitlines():
        entry = json.loads(line)
        spent[f"{entry['variant']}: {entry['part']}"] += entry["seconds"]
        memory[entry["process"]] = max(memory[entry["process"]], entry["megabytes"])
    spent["workers beside the models"] = processor - sum(spent.values())
    whole = sum(watch.stages.values())
    return {
        "whole": whole,
        "stages": watch.stages,
        "models": dict(sorted(spent.items(), key=lambda item: -item[1])),
        "megabytes": peak_mb() + sum(memory.values()),
    }


class _Watch:
    """Seconds by stage, from what a run tells of its progress."""

    def __init__(self) -> None:
        self.stages: dict[str, float] = {}
        self._stage, self._since = "starting", time.perf_counter()

    def tell(self, stage: str, _done: int, _all: int) -> None:
        if stage != self._stage:
            self.stop()
            self._stage = stage

    def stop(self) -> None:
        now = time.perf_counter()
        self.stages[self._stage] = self.stages.get(self._stage, 0.0) + now - self._since
        self._since = now


@dataclass(frozen=True, slots=True)
class TimedModel:
    """A model that notes what its work costs."""

    model: StudyModel

    @property
    def name(self) -> str:
        return self.model.name

    @property
    def variant(self) -> str:
        return self.model.variant

    @property
    def delta(self) -> Decimal:
        return Decimal(getattr(self.model, "delta", 0))

    def run(
        self,
        frame: StudyFrame,
        queries: Sequence[StudyQuery],
        *,
        epsilon: Decimal,
        streams: Streams,
        detailed: bool = True,
    ) -> Outcome:
        return self._timed(
            "runs", lambda: self.model.run(frame, queries, epsilon=epsilon, streams=streams, detailed=detailed)
        )

    def expect(self, frame: StudyFrame, queries: Sequence[StudyQuery], *, epsilon: Decimal) -> tuple[TheoryError, ...]:
        return self._timed("theory", lambda: self.model.expect(frame, queries, epsilon=epsilon))

    def _timed(self, part: str, work: Callable[[], Made]) -> Made:
        start = time.process_time()
        made = work()
        entry = {
            "variant": self.variant,
            "part": part,
            "seconds": time.process_time() - start,
            "process": os.getpid(),
            "megabytes": peak_mb(),
        }
        with Path(os.environ[_LOG]).open("a", encoding="utf-8") as stream:
            stream.write(json.dumps(entry) + "\n")
        return made


def timed_models(config: StudyConfig, raw: Callable[[], RawRows]) -> tuple[StudyModel, ...]:
    return tuple(TimedModel(model) for model in build_models(config, raw))


# --- encoding -------------------------------------------------------------------------------------------------------


def _encode(answers: int) -> dict[str, float]:
    """Seconds to randomise in memory, and from a file of answers to a file of reports."""
    import numpy as np

    from discreet.collect.randomisers.generalised_response import GeneralisedResponse
    from discreet.collect.reporting.encoding import encode_file
    from discreet.collect.reporting.manifest_reader import parse_manifest
    from discreet.collect.reporting.signing import SignedManifest
    from discreet.noise import SystemEntropy

    positions = np.arange(answers, dtype=np.int64) % 13
    response, entropy = GeneralisedResponse(epsilon=1, categories=13), SystemEntropy()
    categories = ", ".join(f"{code}: Answer {code}" for code in range(13))
    manifest = parse_manifest(_MANIFEST.format(categories=categories), file="manifest.yaml")
    signed = SignedManifest(manifest, "00" * 32, "00" * 32, trusted=True)
    files = []
    for index in range(ROUNDS):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / f"answers{index}.csv"
            file.write_text("answer\n" + "\n".join(map(str, positions.tolist())) + "\n", encoding="utf-8")
            files.append(_seconds(partial(encode_file, signed, file, out=file.with_suffix(".jsonl"))))
    return {
        "in memory": min(_seconds(lambda: response.randomise(entropy, positions)) for _ in range(ROUNDS)),
        "file to file": min(files),
    }


def _seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


# --- the page -------------------------------------------------------------------------------------------------------


def _page(found: Mapping[str, Any], encoded: Mapping[str, float], *, rows: int, runs: int, answers: int) -> list[str]:
    stages = [[stage, f"{seconds:.1f}"] for stage, seconds in found["stages"].items()]
    models = [[name, f"{seconds:.1f}"] for name, seconds in found["models"].items()]
    return [
        f"{rows:,} rows, five ε, {runs} runs, seven models, ten columns, metrics and figures included;",
        f"{JOBS} processes.",
        describe_machine(),
        "",
        *table(
            ["", "found", "at most"],
            [
                ["the whole study and its report (s)", f"{found['whole']:.1f}", f"{MOST_SECONDS} (goal {GOAL})"],
                ["peaks of all processes, added up (MB)", f"{found['megabytes']:,.0f}", f"{MOST_MEGABYTES:,}"],
                *(
                    [
                        f"{answers:,} answers of 13 categories encoded exactly, {name} (s)",
                        f"{s:.2f}",
                        f"{MOST_ENCODING}",
                    ]
                    for name, s in encoded.items()
                ),
            ],
        ),
        "",
        *table(["stage", "seconds"], stages),
        "",
        *table(["processor time of the workers", "seconds"], models),
    ]


if __name__ == "__main__":
    print(json.dumps(measure(Path(sys.argv[1]), rows=int(sys.argv[2]), runs=int(sys.argv[3]))))
