"""Cold starts: `discreet --help`, one query, and 40 queries at once, each in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROUNDS = 7


def run() -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        os.environ["DISCREET_KEYS"] = str(root / "keys")
        os.environ["DISCREET_ANALYST"] = "bench"
        _discreet("sample", "survey", str(root / "data"), "--rows", "20000")
        card = root / "data" / "survey.yaml"
        text = card.read_text(encoding="utf-8")
        card.write_text(text.replace("epsilon: 3, per_analyst: 1", "epsilon: 900"), encoding="utf-8")
        _discreet("init", str(root / "w"))
        _discreet("add", "-w", str(root / "w"), str(root / "data" / "survey.parquet"))
        return {
            "python -c pass (s, median)": _median(lambda i: _timed(sys.executable, "-c", "pass")),
            "discreet --help (s, median)": _median(lambda i: _timed(sys.executable, "-m", "discreet", "--help")),
            "one query from cold (s, median)": _median(lambda i: _query(root, i)),
            "40 queries at once (s, total)": _at_once(root, 40),
        }


def _discreet(*words: str) -> None:
    subprocess.run([sys.executable, "-m", "discreet", *words], check=True, stdout=subprocess.DEVNULL)


def _timed(*words: str) -> float:
    start = time.perf_counter()
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


def _query(root: Path, number: int) -> float:
    sql = f"SELECT province, COUNT(*) FROM survey WHERE height > 1.{number:03d} GROUP BY province"
    words = ("query", "-w", str(root / "w"), sql, "--epsilon", "0.5")
    return _timed(sys.executable, "-m", "discreet", *words)


def _median(measure: object) -> float:
    assert callable(measure)
    return sorted(float(measure(i)) for i in range(ROUNDS))[ROUNDS // 2]


def _at_once(root: Path, processes: int) -> float:
    start = time.perf_counter()
    with ThreadPoolExecutor(processes) as pool:
        list(pool.map(lambda i: _query(root, 100 + i), range(processes)))
    return time.perf_counter() - start
