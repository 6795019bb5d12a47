"""What `discreet doctor` looks at: packages, extras, randomness, the workspace and its ledger."""

from __future__ import annotations

import os
import platform
import shutil
import sys
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Final

from discreet.errors import DiscreetError

__all__ = ["EXTRAS", "Finding", "examine"]

CORE: Final = ("duckdb", "numpy", "opendp", "pyarrow", "pyyaml", "rich", "sqlglot", "typer")
EXTRAS: Final = {
    "collect": ("cryptography",),
    "formats": ("pyreadstat",),
    "pandas": ("pandas",),
    "postgres": ("psycopg",),
    "spark": ("pyspark",),
    "study": ("matplotlib", "scikit-learn", "scipy"),
    "tables": ("pysdmx", "scipy", "XlsxWriter"),
    "gan": ("torch", "opacus", "safetensors"),
    "testing": ("pytest", "hypothesis", "mypy", "ruff"),
}
_LITTLE_SPACE: Final = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing looked at; `good` is None where absence is no fault."""

    what: str
    found: str
    good: bool | None
    advice: str = ""

    def to_dict(self) -> dict[str, object]:
        return asdict(self)


def examine(workspace: Path | None) -> list[Finding]:
    """Everything, without changing anything."""
    return [_python(), *_packages(), *_extras(), _randomness(), *_workspace(workspace)]


def _python() -> Finding:
    good = sys.version_info >= (3, 11)
    return Finding("Python", platform.python_version(), good, "" if good else "install Python 3.11 or newer")


def _packages() -> list[Finding]:
    findings = []
    for name in ("discreet", *CORE):
        found = _version(name)
        advice = "" if found else "pip install discreet"
        findings.append(Finding(f"package {name}", found or "not installed", found is not None, advice))
    return findings


def _extras() -> list[Finding]:
    findings = []
    for extra, packages in EXTRAS.items():
        versions = [(name, _version(name)) for name in packages]
        complete = all(found for _, found in versions)
        shown = ", ".join(f"{name} {found}" for name, found in versions if found) or "not installed"
        advice = "" if complete else f"when needed: pip install 'discreet[{extra}]'"
        findings.append(Finding(f"extra {extra}", shown, True if complete else None, advice))
    return findings


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _randomness() -> Finding:
    good = len(os.urandom(32)) == 32
    return Finding("randomness", "operating system" if good else "not available", good)


def _workspace(option: Path | None) -> list[Finding]:
    from discreet.data.workspace import Workspace, find_workspace

    path = find_workspace(option)
    try:
        workspace = Workspace.open(path)
    except DiscreetError as error:
        return [Finding("workspace", error.message, False if option is not None else None, "discreet init DIR")]
    free = shutil.disk_usage(path).free
    writable = os.access(path, os.W_OK)
    return [
        Finding("workspace", f"{path}, {len(workspace.datasets())} dataset(s)", True),
        Finding("workspace writable", "yes" if writable else "no", writable, "" if writable else "check its owner"),
        Finding(
            "free space",
            f"{free / 1e9:.0f} GB",
            free > _LITTLE_SPACE,
            "" if free > _LITTLE_SPACE else "make room",
        ),
        _ledger(workspace.key, option),
    ]


def _ledger(key: Path, option: Path | None) -> Finding:
    from discreet.cli.opening import open_session

    if not key.exists():
        return Finding("ledger", f"its key {key} is missing", False, "restore the key from its copy")
    try:
        sequence, _ = open_session(option).ledger.head()
    except DiscreetError as error:
        return Finding("ledger", error.message, False, "see docs/ledger.md")
    return Finding("ledger", f"reachable, {sequence} events", True, "to check every event: discreet ledger verify")
