"""The sample survey: what it costs to write, and how far it lies from the published figures over several seeds."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from typing import Any

import numpy as np

from discreet.samples.published_figures import load_figures
from discreet.samples.sample_people import draw_people

_LARGE_CELL = 20_000
_WRITE = """
import json, sys, time
from pathlib import Path
from benchmarks.memory import peak_mb
from discreet.samples import write_survey
start = time.perf_counter()
write_survey(Path(sys.argv[1]))
print(json.dumps([time.perf_counter() - start, peak_mb()]))
"""


def run(seeds: int = 25) -> dict[str, float]:
    """Seconds and megabytes for the default size; the worst deviations over `seeds` seeds."""
    with tempfile.TemporaryDirectory() as folder:
        text = subprocess.run([sys.executable, "-c", _WRITE, folder], check=True, capture_output=True, text=True)
    seconds, peak = json.loads(text.stdout)
    worst: dict[str, float] = {}
    for seed in range(1, seeds + 1):
        for name, figure in _deviations(draw_people(rows=load_figures().rows, seed=seed)).items():
            worst[name] = max(worst.get(name, 0.0), figure)
    return {"writing the survey (s)": seconds, "peak memory (MB)": peak, **worst}


def _deviations(survey: Mapping[str, Any]) -> dict[str, float]:
    figures, weight = load_figures(), survey["weight"]
    provinces = figures.variables["province"].codes
    result = {"unweighted share of any code, worst (points)": 0.0}
    for name, variable in figures.variables.items():
        counts = np.array([(survey[name] == code).sum() for code in variable.codes])
        apart = 100 * np.abs(counts - variable.counts).max() / figures.rows
        share = "unweighted share of any code, worst (points)"
        result[share] = max(result[share], float(apart))
    for variable in figures.by_province:
        cells = [
            abs(weight[(survey["province"] == province) & (survey[variable.name] == category.code)].sum() / total - 1)
            for category in variable.categories
            for province, total in zip(provinces, category.by_province, strict=True)
            if total > _LARGE_CELL
        ]
        result[f"province × {variable.name}, weighted cells above 20,000, worst (%)"] = 100 * float(max(cells))
    return result
