"""How much memory this process has held at most.

`ru_maxrss` will not do: a process starts with what the one that started it held.
"""

from __future__ import annotations

import re
import resource
import sys
from pathlib import Path

__all__ = ["peak_mb"]

_STATUS = Path("/proc/self/status")


def peak_mb() -> float:
    """Megabytes resident at the highest point since this program began."""
    if _STATUS.exists():
        (kilobytes,) = re.findall(r"^VmHWM:\s*(\d+) kB", _STATUS.read_text(), flags=re.MULTILINE)
        return int(kilobytes) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)
