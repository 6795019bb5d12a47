"""Programs of Debian that a few tests need: installed by the first of them, where whoever runs it may do that."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

__all__ = ["require_packages"]

_LOCK: Final = Path(tempfile.gettempdir()) / "discreet-tests-debian.lock"
_APT: Final = ("apt-get", "-qq", "-o", "DPkg::Lock::Timeout=300")


def require_packages(*names: str, works: Callable[[], bool]) -> None:
    """Go on once they work; the test is skipped where they are missing and cannot be installed, and fails under CI."""
    with _LOCK.open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        if works():
            return
        why = _install(names)
    if why is None and works():
        return
    refuse = pytest.fail if os.environ.get("CI") == "true" else pytest.skip
    refuse(f"of Debian's packages this needs {' '.join(names)}: {why or 'they are installed, and do not work'}")


def _install(names: tuple[str, ...]) -> str | None:
    """Why they are not installed; None where they are."""
    if shutil.which("apt-get") is None or os.geteuid() != 0:
        return f"install it with: sudo apt-get install {' '.join(names)}"
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for words in (("update",), ("install", "--yes", "--no-install-recommends", *names)):
        done = subprocess.run(
            [*_APT, *words],
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        if done.returncode:
            return f"apt-get {words[0]} failed: {done.stdout[-500:]}"
    return None
