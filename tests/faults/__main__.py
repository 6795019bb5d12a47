"""`make faults`: plant every fault in a copy of the source, one by one, and see which test finds it.

The working tree is not touched. A fault is found when a test fails that passes without it; an import that breaks or a
test that cannot be collected does not count. Ends with 1 when a fault was not found.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue

from tests.faults.planting import Fault, FaultUnplantable, read_faults
from tests.places import ROOT

COPIED = ("src", "tests", "benchmarks", "docs", "examples")
FILES = (
    "pyproject.toml",
    "constraints.txt",
    "mkdocs.yml",
    "Makefile",
    "README.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
)
PATIENCE = 600  # seconds for one fault
_FAILED = re.compile(r"^(?:FAILED|ERROR) (tests/\S+?\.py(?:::.*?)?)(?: - .*)?$", re.MULTILINE)


@dataclass(frozen=True)
class Finding:
    """What became of one fault: the test that found it, or why none did."""

    fault: Fault
    test: str
    seconds: float
    why: str = ""

    @property
    def found(self) -> bool:
        return bool(self.test)


def main(words: Sequence[str] | None = None) -> int:
    options = _options().parse_args(words)
    try:
        faults = [fault for fault in read_faults() if _chosen(fault, options.only)]
        for fault in faults:
            fault.plant(ROOT)
    except FaultUnplantable as error:
        print(error)
        return 2
    if not faults:
        print(f"No fault is called {' or '.join(options.only)}.")
        return 2
    began = time.monotonic()
    with _copies(options.workers) as copies:
        findings = []
        for finding in _search(faults, copies):
            findings.append(finding)
            print(_line(finding, len(findings), len(faults)), flush=True)
        false = _failing_anyway([finding.test for finding in findings if finding.found], copies[0])
    missed = [finding for finding in findings if not finding.found]
    minutes = (time.monotonic() - began) / 60
    print(f"\n{len(faults) - len(missed)} of {len(faults)} faults were found, in {minutes:.1f} minutes.")
    for finding in missed:
        print(f"  not found: {finding.fault.room}/{finding.fault.name}: {finding.fault.breaks} {finding.why}")
    for test in false:
        print(f"  fails without any fault: {test}")
    return 1 if missed or false else 0


def _options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="make faults",
        description="Plant every fault of tests/faults/*.toml and see which test finds it.",
        epilog="Example: python -m tests.faults ledger plan/cap-of-another-cell",
    )
    parser.add_argument("only", nargs="*", help="rooms, or room/name; everything if none is given")
    parser.add_argument("--workers", type=int, default=2, help="how many faults are tried at once")
    return parser


def _chosen(fault: Fault, only: Sequence[str]) -> bool:
    return not only or fault.room in only or f"{fault.room}/{fault.name}" in only


@contextmanager
def _copies(workers: int) -> Iterator[list[Path]]:
    """Trees of their own, so that a fault is never planted where somebody works."""
    with tempfile.TemporaryDirectory(prefix="discreet-faults-") as folder:
        copies = [Path(folder) / str(number) / ROOT.name for number in range(workers)]
        for copy in copies:
            copy.mkdir(parents=True)
            for name in COPIED:
                shutil.copytree(ROOT / name, copy / name)
            for name in FILES:
                shutil.copy(ROOT / name, copy / name)
        yield copies


def _search(faults: Sequence[Fault], copies: Sequence[Path]) -> Iterator[Finding]:
    free: SimpleQueue[Path] = SimpleQueue()
    for copy in copies:
        free.put(copy)

    def one(fault: Fault) -> Finding:
        copy = free.get()
        try:
            return _look_for(fault, copy)
        finally:
            free.put(copy)

    with ThreadPoolExecutor(len(copies)) as pool:
        for done in as_completed([pool.submit(one, fault) for fault in faults]):
            yield done.result()


def _look_for(fault: Fault, copy: Path) -> Finding:
    file = copy / fault.file
    sound = file.read_text(encoding="utf-8")
    began = time.monotonic()
    try:
        _write(file, fault.plant(copy))
        marks = "long" if fault.long else "not long"
        code, output = _pytest(copy, ["-x", "-m", marks, *fault.tests])
    except subprocess.TimeoutExpired:
        return Finding(fault, "", time.monotonic() - began, f"The tests ran for {PATIENCE} s.")
    finally:
        _write(file, sound)
    seconds = time.monotonic() - began
    failed = _FAILED.search(output)
    if code == 1 and failed:
        return Finding(fault, failed[1], seconds)
    why = "" if code == 0 else f"The tests did not run (code {code}): {output.strip()[-600:]}"
    return Finding(fault, "", seconds, why)


def _write(file: Path, text: str) -> None:
    """The compiled file goes too: two edits within a second and of one length would look the same to Python."""
    file.write_text(text, encoding="utf-8")
    Path(importlib.util.cache_from_source(str(file))).unlink(missing_ok=True)


def _pytest(copy: Path, words: Sequence[str]) -> tuple[int, str]:
    environment = {**os.environ, "PYTHONPATH": f"{copy / 'src'}{os.pathsep}{copy}"}
    own = f"--basetemp={copy.parent / 'tmp'}"  # runs beside each other would clear away each other's folders
    command = [sys.executable, "-m", "pytest", "-q", "--no-header", "--tb=no", "-p", "no:cacheprovider", own, *words]
    done = subprocess.run(command, cwd=copy, env=environment, capture_output=True, text=True, timeout=PATIENCE)
    return done.returncode, done.stdout + done.stderr


def _failing_anyway(tests: Sequence[str], copy: Path) -> list[str]:
    """The control: the tests that found something, once more on the sound source."""
    if not tests:
        return []
    code, output = _pytest(copy, sorted(set(tests)))
    failed = [match[1] for match in _FAILED.finditer(output)]
    return failed or ([] if code == 0 else [output.strip()[-600:]])


def _line(finding: Finding, number: int, of: int) -> str:
    fault = finding.fault
    how = f"{finding.seconds:5.1f} s  {finding.test}" if finding.found else "NOT FOUND"
    where = " (make test-all)" if fault.long else ""
    return f"[{number:{len(str(of))}}/{of}] {fault.room}/{fault.name}: {fault.breaks}\n        {how}{where}"


if __name__ == "__main__":
    sys.exit(main())
