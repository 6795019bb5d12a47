"""How much memory a process has held at most.

`ru_maxrss` will not do: a process starts with what the one that started it held.
"""

from __future__ import annotations

import re
import resource
import sys
from pathlib import Path

__all__ = ["peak_mb"]


def peak_mb(process: int | None = None) -> float:
    """Megabytes resident at the highest point since this program began, or that of another process that runs."""
    try:
        status = Path(f"/proc/{process or 'self'}/status").read_text(encoding="utf-8")
    except OSError:
        status = ""
    for kilobytes in re.findall(r"^VmHWM:\s*(\d+) kB", status, flags=re.MULTILINE):
        return int(kilobytes) / 1024
    if process is not None:
        return 0.0
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)
