"""What a command does before anything else. For the command line only, whose process is ours alone.

Importing takes most of a query's time, and the collector need not search for cycles while thousands of classes are
made. What is shown was paid for: a screen that lacks a letter gets its number instead, never a fault.
"""

from __future__ import annotations

import gc
import io
import sys

__all__ = ["start"]

_RARELY = 200_000


def start() -> None:
    """Called first of all."""
    gc.set_threshold(_RARELY)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
